Feature: setActiveTools
  A package narrows the tools of its own agent, and hears about each one that could not be switched off.

  Background:
    Given a native tool "global_reader_tool"
    And a native tool "global_writer_tool"

  @rule:setActiveTools.narrows-the-next-request
  Scenario: A tool missing from the list is gone
    Given package "modes" calls setActiveTools with [["global_reader_tool"]] in tool_call
    When the model calls "global_reader_tool"
    Then request 1 lists "global_writer_tool"
    And request 2 lists "global_reader_tool"
    And request 2 does not list "global_writer_tool"

  @rule:setActiveTools.narrows-the-next-request @case:later-prompts
  Scenario: It stays gone for the prompts that follow
    Given package "modes" answers tool_call with
      """
      when: {nth: 1}
      acts: [{do: pi, call: setActiveTools, args: [[global_reader_tool]]}]
      """
    When the model calls "global_reader_tool"
    And the model calls "global_reader_tool"
    And the user says "what is left?"
    Then request 3 does not list "global_writer_tool"
    And request 4 does not list "global_writer_tool"
    And request 5 lists "global_reader_tool"
    And request 5 does not list "global_writer_tool"

  @rule:setActiveTools.narrows-the-next-request @case:after-before-agent-start
  Scenario: A list set while a call is judged takes the place of one that was set before the prompt's first request
    Given package "modes" calls setActiveTools with [["global_reader_tool", "global_writer_tool"]] in before_agent_start
    And package "narrower" answers tool_call with
      """
      when: {nth: 1}
      acts: [{do: pi, call: setActiveTools, args: [[global_reader_tool]]}]
      """
    And the model first calls "global_reader_tool"
    When the model calls "global_reader_tool"
    Then request 2 does not list "global_writer_tool"
    And request 3 lists "global_reader_tool"
    And request 3 does not list "global_writer_tool"

  @rule:setActiveTools.narrows-the-next-request @case:after-a-cancel
  Scenario: It stays gone when the user cancels the turn
    Given package "modes" answers tool_call with
      """
      when: {nth: 1}
      acts:
        - {do: pi, call: setActiveTools, args: [[global_reader_tool]]}
        - {do: cancel}
      """
    When the model calls "global_reader_tool"
    And the user says "what is left?"
    Then request 2 lists "global_reader_tool"
    And request 2 does not list "global_writer_tool"

  @rule:setActiveTools.narrows-the-next-request @case:the-tool-throws
  Scenario: It stays gone when the tool that set the list throws
    Given a package "modes" with the tool "package_mode_switch"
    And the tool "package_mode_switch" does
      """
      acts: [{do: pi, call: setActiveTools, args: [[global_reader_tool, package_mode_switch]]}]
      throws: {$: error, name: Error, message: half way through}
      """
    When the model calls "package_mode_switch"
    And the user says "what is left?"
    Then call "1" fails and says "half way through"
    And request 2 does not list "global_writer_tool"
    And request 3 lists "global_reader_tool"
    And request 3 does not list "global_writer_tool"

  @rule:setActiveTools.narrows-the-next-request @case:registered-again
  Scenario: A tool of the list that is registered once more stays
    Given a package "modes" with the tool "package_painter_tool"
    And package "modes" answers tool_call with
      """
      when: {nth: 1}
      acts:
        - {do: pi, call: setActiveTools, args: [[global_reader_tool, package_painter_tool]]}
        - {do: pi, call: registerTool, args: [{name: package_painter_tool, description: paints anew, parameters: {type: object, properties: {}}}]}
      """
    And the model first calls "global_reader_tool"
    When the model calls "package_painter_tool"
    Then request 2 lists "package_painter_tool"
    And request 2 does not list "global_writer_tool"
    And call "2" succeeds

  @rule:setActiveTools.odd-names-are-names
  Scenario Outline: A tool called <name> is switched off like any other
    Given a native tool "<name>"
    And package "modes" calls setActiveTools with [["global_reader_tool"]] in tool_call
    When the model calls "global_reader_tool"
    Then request 1 lists "<name>"
    And request 2 lists "global_reader_tool"
    And request 2 does not list "<name>"

    Examples:
      | name        |
      | constructor |
      | toString    |
      | __proto__   |

  @rule:setActiveTools.a-tool-switched-off-is-unknown
  Scenario: The model calls it all the same
    Given package "modes" calls setActiveTools with [["global_reader_tool"]] in tool_call
    And the model first calls "global_reader_tool"
    When the model calls "global_writer_tool"
    Then the tool "global_writer_tool" does not run
    And call "2" fails and says "global_writer_tool"

  @rule:setActiveTools.unknown-names-are-skipped
  Scenario: Unknown names among known ones
    Given package "modes" calls setActiveTools with [["no_such_tool_anywhere", "GLOBAL_WRITER_TOOL", " global_writer_tool", "global_reader_tool"]] in tool_call
    When the model calls "global_reader_tool"
    Then setActiveTools did not throw
    And request 2 lists "global_reader_tool"
    And request 2 does not list "global_writer_tool"
    And no notice names "no_such_tool_anywhere"

  @rule:setActiveTools.unknown-names-are-skipped @case:nothing-else
  Scenario: Unknown names alone leave nothing active
    Given package "modes" calls setActiveTools with [["no_such_tool_anywhere", "GLOBAL_READER_TOOL"]] in tool_call
    When the model calls "global_reader_tool"
    Then setActiveTools did not throw
    And request 2 does not list "global_reader_tool"
    And request 2 does not list "global_writer_tool"

  @rule:setActiveTools.unknown-names-are-skipped @case:patterns-and-other-forms
  Scenario: A pattern is no name, nor is a name in another form
    Given a native tool "café_painter_tool"
    And package "modes" calls setActiveTools with [["*", ".*", "global_*", "global_writer", "cafe\u0301_painter_tool", "global_reader_tool"]] in tool_call
    When the model calls "global_reader_tool"
    Then request 2 lists "global_reader_tool"
    And request 2 does not list "global_writer_tool"
    And request 2 does not list "café_painter_tool"

  @rule:setActiveTools.entries-that-are-no-text-are-skipped
  Scenario Outline: A list with the entry <entry>
    Given a native tool "null"
    And a native tool "true"
    And package "modes" calls setActiveTools with [[<entry>, "global_reader_tool"]] in tool_call
    When the model calls "global_reader_tool"
    Then setActiveTools did not throw
    And request 2 lists "global_reader_tool"
    And request 2 does not list "global_writer_tool"
    And request 2 does not list "null"
    And request 2 does not list "true"

    Examples:
      | entry                          |
      | 7                              |
      | null                           |
      | true                           |
      | ["global_writer_tool"]         |
      | {"name": "global_writer_tool"} |

  @rule:setActiveTools.replaces-the-list-before
  Scenario: A second list brings back what the first left out
    Given package "modes" answers tool_call with
      """
      acts:
        - {do: pi, call: setActiveTools, args: [[global_reader_tool]]}
        - {do: pi, call: setActiveTools, args: [[global_writer_tool]]}
      """
    When the model calls "global_reader_tool"
    Then request 2 lists "global_writer_tool"
    And request 2 does not list "global_reader_tool"

  @rule:setActiveTools.replaces-the-list-before @case:narrower-still
  Scenario: A second list is narrower than the first
    Given a native tool "global_scanner_tool"
    And package "modes" answers tool_call with
      """
      acts:
        - {do: pi, call: setActiveTools, args: [[global_reader_tool, global_writer_tool]]}
        - {do: pi, call: setActiveTools, args: [[global_reader_tool]]}
      """
    When the model calls "global_reader_tool"
    Then request 2 lists "global_reader_tool"
    And request 2 does not list "global_writer_tool"
    And request 2 does not list "global_scanner_tool"

  @rule:setActiveTools.replaces-the-list-before @case:many-lists
  Scenario: The last of many lists counts
    Given package "modes" answers tool_call with
      """
      acts:
        - {do: pi, call: setActiveTools, args: [[global_reader_tool]]}
        - {do: pi, call: setActiveTools, args: [[global_writer_tool]]}
        - {do: pi, call: setActiveTools, args: [[]]}
        - {do: pi, call: setActiveTools, args: [[global_reader_tool]]}
      """
    When the model calls "global_reader_tool"
    Then request 2 lists "global_reader_tool"
    And request 2 does not list "global_writer_tool"

  @rule:setActiveTools.replaces-the-list-before @case:a-list-from-loading
  Scenario: A list from loading does not come back with the next prompt
    Given package "modes" calls setActiveTools with [["global_reader_tool"]] while loading
    And package "modes" answers tool_call with
      """
      when: {nth: 1}
      acts: [{do: pi, call: setActiveTools, args: [[global_reader_tool, global_writer_tool]]}]
      """
    When the model calls "global_reader_tool"
    And the user says "what is there now?"
    Then request 2 lists "global_writer_tool"
    And request 3 lists "global_writer_tool"

  @rule:setActiveTools.a-tool-that-has-gone-is-no-obstacle
  Scenario: A second list is set when a tool that the first left out has gone
    Given a native tool "global_scanner_tool"
    And package "modes" answers tool_call with
      """
      when: {nth: 1}
      acts: [{do: pi, call: setActiveTools, args: [[global_reader_tool]]}]
      """
    And package "modes" answers tool_call with
      """
      when: {nth: 2}
      acts: [{do: pi, call: setActiveTools, args: [[global_writer_tool]]}]
      """
    When the model calls "global_reader_tool"
    And the native tool "global_scanner_tool" is removed
    And the model calls "global_reader_tool"
    Then setActiveTools did not throw
    And request 4 lists "global_writer_tool"
    And request 4 does not list "global_reader_tool"

  @rule:setActiveTools.replaces-across-packages
  Scenario: A second package's list
    Given package "plan" calls setActiveTools with [["global_reader_tool"]] in tool_call
    And package "build" calls setActiveTools with [["global_reader_tool", "global_writer_tool"]] in tool_call
    When the model calls "global_reader_tool"
    Then request 2 lists "global_reader_tool"
    And request 2 lists "global_writer_tool"

  @rule:setActiveTools.replaces-across-packages @case:and-back
  Scenario: The first package's list again, after a second package's
    Given package "plan" calls setActiveTools with [["global_reader_tool"]] in tool_call
    And package "build" calls setActiveTools with [["global_reader_tool", "global_writer_tool"]] in tool_result
    When the model calls "global_reader_tool"
    And package "plan" calls setActiveTools with [["global_reader_tool"]]
    And the user says "what is left?"
    Then request 2 lists "global_writer_tool"
    And request 3 lists "global_reader_tool"
    And request 3 does not list "global_writer_tool"

  @rule:setActiveTools.an-empty-list-and-back @case:empty
  Scenario: An empty list
    Given package "modes" calls setActiveTools with [[]] in tool_call
    When the model calls "global_reader_tool"
    Then request 2 does not list "global_reader_tool"
    And request 2 does not list "global_writer_tool"

  @rule:setActiveTools.an-empty-list-and-back @case:back
  Scenario: And back
    Given package "modes" answers tool_call with
      """
      acts:
        - {do: pi, call: setActiveTools, args: [[]]}
        - {do: pi, call: setActiveTools, args: [[global_reader_tool, global_writer_tool]]}
      """
    When the model calls "global_reader_tool"
    Then request 2 lists "global_reader_tool"
    And request 2 lists "global_writer_tool"

  @rule:setActiveTools.duplicates-do-not-matter
  Scenario: A name given twice
    Given package "modes" calls setActiveTools with [["global_reader_tool", "global_reader_tool"]] in tool_call
    When the model calls "global_reader_tool"
    Then request 2 lists "global_reader_tool"
    And request 2 does not list "global_writer_tool"

  @rule:setActiveTools.the-active-list-changes-nothing
  Scenario: What is active is set again
    Given package "modes" calls setActiveTools with [["global_reader_tool", "global_writer_tool"]] in tool_call
    When the model calls "global_reader_tool"
    Then setActiveTools did not throw
    And request 2 lists "global_reader_tool"
    And request 2 lists "global_writer_tool"

  @rule:setActiveTools.agents-are-apart
  Scenario: Another agent's requests
    Given an agent "main"
    And an agent "other"
    And package "modes" answers tool_call with
      """
      when: {agent: main}
      acts: [{do: pi, call: setActiveTools, args: [[global_reader_tool]]}]
      """
    When the model calls "global_reader_tool"
    And the model of agent "other" calls "global_reader_tool"
    Then request 2 does not list "global_writer_tool"
    And request 1 of agent "other" lists "global_writer_tool"
    And request 2 of agent "other" lists "global_writer_tool"

  @rule:setActiveTools.agents-are-apart @case:in-a-tool
  Scenario: A tool that runs for one of two agents
    Given an agent "main"
    And an agent "other"
    And a package "modes" with the tool "package_narrower_tool"
    And the tool "package_narrower_tool" calls setActiveTools with [["global_reader_tool", "package_narrower_tool"]]
    And the tool "package_narrower_tool" calls getActiveTools with []
    When the model of agent "other" calls "package_narrower_tool"
    And the model calls "global_reader_tool"
    And the model of agent "other" calls "global_writer_tool"
    Then getActiveTools returned a list without "global_writer_tool"
    And request 1 lists "global_writer_tool"
    And request 2 lists "global_writer_tool"
    And the tool "global_writer_tool" does not run

  @rule:setActiveTools.agents-are-apart @case:in-any-handler
  Scenario Outline: A list that is set in <event> of one of two agents
    Given an agent "main"
    And an agent "other"
    And a package "modes" with the tool "package_worker_tool"
    And the tool "package_worker_tool" sends the update "at work"
    And package "modes" answers <event> with
      """
      when: {agent: other}
      acts:
        - {do: pi, call: setActiveTools, args: [[global_reader_tool]]}
        - {do: pi, call: getActiveTools, args: []}
      """
    When the model of agent "other" calls "package_worker_tool"
    And the model calls "global_reader_tool"
    And the model of agent "other" calls "global_writer_tool"
    Then getActiveTools returned a list without "global_writer_tool"
    And request 1 lists "global_writer_tool"
    And request 2 lists "global_writer_tool"
    And the tool "global_writer_tool" does not run

    Examples:
      | event                 |
      | before_agent_start    |
      | tool_execution_start  |
      | tool_call             |
      | tool_execution_update |
      | tool_result           |
      | tool_execution_end    |

  @rule:setActiveTools.agents-are-apart @case:at-the-same-time
  Scenario: Two agents at work at the same time
    Given an agent "main"
    And an agent "other"
    And the model of agent "main" first calls in one message
      | tool               |
      | global_reader_tool |
    And the model of agent "other" first calls in one message
      | tool               |
      | global_reader_tool |
    And package "modes" answers tool_call with
      """
      when: {agent: main}
      acts:
        - {do: hold, kinds: [model.request, handler.enter]}
        - {do: hold, kinds: [handler.enter]}
        - {do: pi, call: setActiveTools, args: [[global_reader_tool]]}
      """
    And package "modes" answers tool_call with
      """
      when: {agent: other}
      acts: [{do: hold, kinds: [api.return]}]
      """
    When the user says "go" to ["main", "other"]
    Then request 2 does not list "global_writer_tool"
    And request 2 of agent "other" lists "global_writer_tool"

  @rule:setActiveTools.later-agents-are-untouched
  Scenario: An agent created afterwards
    Given package "modes" answers tool_call with
      """
      when: {agent: main}
      acts: [{do: pi, call: setActiveTools, args: [[global_reader_tool]]}]
      """
    When the model calls "global_reader_tool"
    And an agent "latecomer" is created
    And the model of agent "latecomer" calls "global_reader_tool"
    Then request 1 of agent "latecomer" lists "global_writer_tool"

  @rule:setActiveTools.later-agents-are-untouched @case:same-name
  Scenario: An agent created with the id of one that has ended
    Given an agent "main"
    And an agent "other"
    And package "modes" answers tool_call with
      """
      when: {call: "1"}
      acts: [{do: pi, call: setActiveTools, args: [[global_reader_tool]]}]
      """
    When the model of agent "other" calls "global_reader_tool"
    And agent "other" is ended
    And an agent "other" is created
    And the model of agent "other" calls "global_writer_tool"
    Then request 3 of agent "other" lists "global_writer_tool"
    And call "2" succeeds

  @rule:setActiveTools.child-agents-are-untouched
  Scenario: An agent created to work for the one that was narrowed
    Given package "modes" answers tool_call with
      """
      when: {agent: main}
      acts: [{do: pi, call: setActiveTools, args: [[global_reader_tool]]}]
      """
    When the model calls "global_reader_tool"
    And an agent "helper" is created as a child of "main"
    And the model of agent "helper" calls "global_writer_tool"
    Then request 1 of agent "helper" lists "global_writer_tool"
    And the tool "global_writer_tool" runs 1 times

  @rule:setActiveTools.child-agents-are-untouched @case:before-the-first-request
  Scenario: A list from loading is not spent on an agent that works for another
    Given package "modes" calls setActiveTools with [["global_reader_tool"]] while loading
    And a native tool "global_scanner_tool"
    When an agent "helper" is created as a child of "main"
    And the model of agent "helper" calls "global_scanner_tool"
    And the user says "hello"
    Then request 1 lists "global_reader_tool"
    And request 1 does not list "global_writer_tool"

  @rule:setActiveTools.a-child-agents-work-narrows-nobody-else
  Scenario: A tool that runs for an agent that works for another one sets a list
    Given a package "modes" with the tool "package_narrower_tool"
    And the tool "package_narrower_tool" calls setActiveTools with [["package_narrower_tool"]]
    When an agent "helper" is created as a child of "main"
    And the model of agent "helper" calls "package_narrower_tool"
    And the model calls "global_writer_tool"
    Then request 1 lists "global_writer_tool"
    And request 2 lists "global_writer_tool"
    And the tool "global_writer_tool" runs 1 times

  @rule:setActiveTools.a-tool-registered-later-joins
  Scenario: A tool registered after the list
    Given package "modes" answers tool_call with
      """
      acts:
        - {do: pi, call: setActiveTools, args: [[global_reader_tool]]}
        - {do: pi, call: registerTool, args: [{name: latecomer_tool, description: late, parameters: {type: object, properties: {}}}]}
      """
    When the model calls "global_reader_tool"
    Then request 2 lists "latecomer_tool"
    And request 2 lists "global_reader_tool"
    And request 2 does not list "global_writer_tool"

  @rule:setActiveTools.a-tool-registered-later-joins @case:another-packages
  Scenario: A tool that another package registers after the list
    Given a package "paints" with the tool "package_mixer_tool"
    And the tool "package_mixer_tool" calls registerTool with [{"name": "latecomer_tool", "description": "late", "parameters": {"type": "object", "properties": {}}}]
    And package "modes" answers tool_call with
      """
      when: {nth: 1}
      acts: [{do: pi, call: setActiveTools, args: [[package_mixer_tool]]}]
      """
    And the model first calls "global_reader_tool"
    And the model first calls "package_mixer_tool"
    When the model calls "latecomer_tool"
    Then request 3 lists "latecomer_tool"
    And request 3 lists "package_mixer_tool"
    And request 3 does not list "global_writer_tool"
    And call "3" succeeds

  @rule:setActiveTools.a-tool-registered-later-joins @case:after-a-second-list
  Scenario: A tool registered after several lists
    Given package "modes" answers tool_call with
      """
      acts:
        - {do: pi, call: setActiveTools, args: [[global_reader_tool]]}
        - {do: pi, call: setActiveTools, args: [[global_writer_tool]]}
        - {do: pi, call: setActiveTools, args: [[global_reader_tool]]}
        - {do: pi, call: registerTool, args: [{name: latecomer_tool, description: late, parameters: {type: object, properties: {}}}]}
      """
    When the model calls "global_reader_tool"
    Then request 2 lists "latecomer_tool"
    And request 2 lists "global_reader_tool"
    And request 2 does not list "global_writer_tool"

  @rule:setActiveTools.a-tool-registered-again-stays-off
  Scenario: A tool that is switched off is registered once more
    Given a package "modes" with the tool "package_painter_tool"
    And package "modes" answers tool_call with
      """
      when: {nth: 1}
      acts:
        - {do: pi, call: setActiveTools, args: [[global_reader_tool]]}
        - {do: pi, call: registerTool, args: [{name: package_painter_tool, description: again, parameters: {type: object, properties: {}}}]}
        - {do: pi, call: getActiveTools, args: []}
      """
    And the model first calls "global_reader_tool"
    When the model calls "package_painter_tool"
    Then "package_painter_tool" is gone from request 2 and call "2", or is active and named in a notice

  @rule:setActiveTools.another-packages-end-lifts-nothing
  Scenario: The operator removes a package that set no list
    Given package "modes" answers tool_call with
      """
      when: {nth: 1}
      acts: [{do: pi, call: setActiveTools, args: [[global_reader_tool, package_closer_tool]]}]
      """
    And package "bystander" listens to tool_call
    And a package "manager" with the tool "package_closer_tool"
    And the tool "package_closer_tool" does
      """
      acts: [{do: unload, package: bystander}]
      returns: {content: [{type: text, text: closed}], details: {}}
      """
    And the model first calls "global_reader_tool"
    When the model calls "package_closer_tool"
    Then request 2 does not list "global_writer_tool"
    And request 3 does not list "global_writer_tool"
    And request 3 lists "global_reader_tool"

  @rule:setActiveTools.another-packages-end-lifts-nothing @case:after-a-list-of-its-own
  Scenario: The operator removes a package whose list had been replaced
    Given package "bystander" answers tool_call with
      """
      when: {nth: 1}
      acts: [{do: pi, call: setActiveTools, args: [[global_writer_tool, package_closer_tool]]}]
      """
    And package "modes" answers tool_call with
      """
      when: {nth: 1}
      acts: [{do: pi, call: setActiveTools, args: [[global_reader_tool, package_closer_tool]]}]
      """
    And a package "manager" with the tool "package_closer_tool"
    And the tool "package_closer_tool" does
      """
      acts: [{do: unload, package: bystander}]
      returns: {content: [{type: text, text: closed}], details: {}}
      """
    And the model first calls "global_reader_tool"
    When the model calls "package_closer_tool"
    Then request 2 does not list "global_writer_tool"
    And request 3 does not list "global_writer_tool"
    And request 3 lists "global_reader_tool"

  @rule:setActiveTools.a-removed-package-narrows-nothing
  Scenario: A tool whose package is removed while it runs sets a list
    Given a package "modes" with the tool "package_closer_tool"
    And the tool "package_closer_tool" does
      """
      acts:
        - {do: unload, package: modes}
        - {do: pi, call: setActiveTools, args: [[global_reader_tool]]}
      returns: {content: [{type: text, text: closed}], details: {}}
      """
    When the model calls "package_closer_tool"
    And the user says "what is left?"
    Then request 2 lists "global_writer_tool"
    And request 3 lists "global_writer_tool"
    And request 3 does not list "package_closer_tool"

  @rule:setActiveTools.a-failed-package-narrows-nothing
  Scenario: A package that is loaded later sets a list, and then its factory throws
    When the model calls "global_reader_tool"
    Given package "modes" calls setActiveTools with [["global_reader_tool"]] while loading
    And the factory of package "modes" throws "the modes are missing"
    When package "modes" is loaded
    And the user says "what is left?"
    Then request 3 lists "global_reader_tool"
    And request 3 lists "global_writer_tool"

  @rule:setActiveTools.a-package-loaded-later-lifts-nothing
  Scenario: A list stays in force when a further package is loaded
    Given package "modes" answers tool_call with
      """
      when: {nth: 1}
      acts: [{do: pi, call: setActiveTools, args: [[global_reader_tool]]}]
      """
    When the model calls "global_reader_tool"
    Given a package "latecomer" with the tool "package_painter_tool"
    When package "latecomer" is loaded
    And the user says "what is left?"
    Then request 2 does not list "global_writer_tool"
    And request 3 does not list "global_writer_tool"
    And request 3 lists "global_reader_tool"

  @rule:setActiveTools.by-a-package-loaded-later
  Scenario Outline: A package that is loaded while its agent is there sets a list in <event>
    When the user says "hello"
    Given package "modes" calls setActiveTools with [["global_reader_tool"]] in <event>
    And the model first calls "global_reader_tool"
    When package "modes" is loaded
    And the model calls "global_reader_tool"
    Then request 4 lists "global_reader_tool"
    And request 4 does not list "global_writer_tool"

    Examples:
      | event                |
      | tool_execution_start |
      | tool_call            |
      | tool_result          |
      | tool_execution_end   |

  @rule:setActiveTools.by-a-package-loaded-later @case:between-prompts
  Scenario: A package that is loaded while its agent is there sets a list between two prompts
    When the user says "hello"
    Given package "modes" listens to tool_call
    When package "modes" is loaded
    And package "modes" calls setActiveTools with [["global_reader_tool"]]
    And the user says "what is left?"
    Then request 2 lists "global_reader_tool"
    And request 2 does not list "global_writer_tool"

  @rule:setActiveTools.another-agents-end-lifts-nothing
  Scenario: A list stays in force when another agent ends
    Given an agent "main"
    And an agent "other"
    And package "modes" answers tool_call with
      """
      when: {nth: 1}
      acts: [{do: pi, call: setActiveTools, args: [[global_reader_tool]]}]
      """
    When the model calls "global_reader_tool"
    And the model of agent "other" calls "global_reader_tool"
    And agent "other" is ended
    And the user says "what is left?"
    Then request 3 does not list "global_writer_tool"
    And request 3 lists "global_reader_tool"

  @rule:setActiveTools.own-tools-go-or-are-named
  Scenario: A package's own tool is missing from the list
    Given a package "modes" with the tool "package_painter_tool"
    And package "modes" answers tool_call with
      """
      when: {nth: 1}
      acts:
        - {do: pi, call: setActiveTools, args: [[global_reader_tool]]}
        - {do: pi, call: getActiveTools, args: []}
      """
    And the model first calls "global_reader_tool"
    When the model calls "package_painter_tool"
    Then "package_painter_tool" is gone from request 2 and call "2", or is active and named in a notice

  @rule:setActiveTools.own-tools-go-or-are-named @case:another-packages
  Scenario: Another package's tool is missing from the list
    Given a package "paints" with the tool "package_painter_tool"
    And package "modes" answers tool_call with
      """
      when: {nth: 1}
      acts:
        - {do: pi, call: setActiveTools, args: [[global_reader_tool]]}
        - {do: pi, call: getActiveTools, args: []}
      """
    And the model first calls "global_reader_tool"
    When the model calls "package_painter_tool"
    Then "package_painter_tool" is gone from request 2 and call "2", or is active and named in a notice

  @rule:setActiveTools.own-tools-go-or-are-named @case:joined-in-between
  Scenario: The same list is set again when a tool has joined
    Given package "modes" answers tool_call with
      """
      when: {nth: 1}
      acts:
        - {do: pi, call: setActiveTools, args: [[global_reader_tool]]}
        - {do: pi, call: registerTool, args: [{name: latecomer_tool, description: late, parameters: {type: object, properties: {}}}]}
        - {do: pi, call: setActiveTools, args: [[global_reader_tool]]}
        - {do: pi, call: getActiveTools, args: []}
      """
    And the model first calls "global_reader_tool"
    When the model calls "latecomer_tool"
    Then "latecomer_tool" is gone from request 2 and call "2", or is active and named in a notice

  @rule:setActiveTools.own-tools-go-or-are-named @case:in-place-of-a-native
  Scenario: A package's tool that has a native tool's name is missing from the list
    Given a package "modes" with the tool "global_writer_tool"
    And package "modes" answers tool_call with
      """
      when: {nth: 1}
      acts:
        - {do: pi, call: setActiveTools, args: [[global_reader_tool]]}
        - {do: pi, call: getActiveTools, args: []}
      """
    And the model first calls "global_reader_tool"
    When the model calls "global_writer_tool"
    Then "global_writer_tool" is gone from request 2 and call "2", or is active and named in a notice

  @rule:setActiveTools.in-force-before-the-batch-ends @on:bridge
  Scenario: A later call of the same batch
    Given package "modes" calls setActiveTools with [["global_reader_tool"]] in tool_execution_end
    When the model calls in one message
      | tool               |
      | global_reader_tool |
      | global_writer_tool |
    Then the tool "global_writer_tool" does not run

  @rule:setActiveTools.in-force-before-the-batch-ends @on:pi
  Scenario: On Pi a batch keeps its tools
    Given package "modes" calls setActiveTools with [["global_reader_tool"]] in tool_execution_end
    When the model calls in one message
      | tool               |
      | global_reader_tool |
      | global_writer_tool |
    Then the tool "global_writer_tool" runs 1 times

  @rule:setActiveTools.what-cannot-be-switched-off-is-reported-once
  Scenario: A tool of the agent's own scope stays, and one notice names it
    Given a native tool "scope_local_scanner_tool" in the agent's own scope
    And package "modes" calls setActiveTools with [["global_reader_tool"]] in tool_call
    When the model calls "global_reader_tool"
    Then request 2 lists "scope_local_scanner_tool"
    And exactly one notice names "scope_local_scanner_tool"
    And no notice names "global_reader_tool"

  @rule:setActiveTools.what-cannot-be-switched-off-is-reported-once @case:two-tools
  Scenario: Two tools stay, and each is named
    Given a native tool "scope_local_scanner_tool" in the agent's own scope
    And a native tool "another_local_painter_tool" in the agent's own scope
    And package "modes" calls setActiveTools with [["global_reader_tool"]] in tool_call
    When the model calls "global_reader_tool"
    Then exactly one notice names "scope_local_scanner_tool"
    And exactly one notice names "another_local_painter_tool"

  @rule:setActiveTools.what-cannot-be-switched-off-is-reported-once @case:many-tools
  Scenario: Twelve tools stay, and each is named
    Given a native tool "scope_local_scanner_tool" in the agent's own scope
    And a native tool "scope_local_painter_tool" in the agent's own scope
    And a native tool "scope_local_folder_tool" in the agent's own scope
    And a native tool "scope_local_weigher_tool" in the agent's own scope
    And a native tool "scope_local_stamper_tool" in the agent's own scope
    And a native tool "scope_local_binder_tool" in the agent's own scope
    And a native tool "scope_local_sorter_tool" in the agent's own scope
    And a native tool "scope_local_counter_tool" in the agent's own scope
    And a native tool "scope_local_drier_tool" in the agent's own scope
    And a native tool "scope_local_cutter_tool" in the agent's own scope
    And a native tool "scope_local_stacker_tool" in the agent's own scope
    And a native tool "scope_local_sealer_tool" in the agent's own scope
    And package "modes" calls setActiveTools with [["global_reader_tool"]] in tool_call
    When the model calls "global_reader_tool"
    Then exactly one notice names "scope_local_scanner_tool"
    And exactly one notice names "scope_local_painter_tool"
    And exactly one notice names "scope_local_folder_tool"
    And exactly one notice names "scope_local_weigher_tool"
    And exactly one notice names "scope_local_stamper_tool"
    And exactly one notice names "scope_local_binder_tool"
    And exactly one notice names "scope_local_sorter_tool"
    And exactly one notice names "scope_local_counter_tool"
    And exactly one notice names "scope_local_drier_tool"
    And exactly one notice names "scope_local_cutter_tool"
    And exactly one notice names "scope_local_stacker_tool"
    And exactly one notice names "scope_local_sealer_tool"

  @rule:setActiveTools.what-cannot-be-switched-off-is-reported-once @case:named-in-the-list
  Scenario: A tool of the agent's own scope that the list holds is not named
    Given a native tool "scope_local_scanner_tool" in the agent's own scope
    And a native tool "another_local_painter_tool" in the agent's own scope
    And package "modes" calls setActiveTools with [["global_reader_tool", "scope_local_scanner_tool"]] in tool_call
    When the model calls "global_reader_tool"
    Then exactly one notice names "another_local_painter_tool"
    And no notice names "scope_local_scanner_tool"

  @rule:setActiveTools.what-cannot-be-switched-off-is-reported-once @case:another-list
  Scenario: It stays beside another list, too
    Given a native tool "scope_local_scanner_tool" in the agent's own scope
    And package "modes" answers tool_call with
      """
      acts:
        - {do: pi, call: setActiveTools, args: [[global_reader_tool]]}
        - {do: pi, call: setActiveTools, args: [[global_writer_tool]]}
      """
    When the model calls "global_reader_tool"
    Then 2 notices name "scope_local_scanner_tool"

  @rule:setActiveTools.each-agents-list-is-reported
  Scenario: Two agents set the same list
    Given an agent "main"
    And an agent "other"
    And the host's reserved transport tool "run_code"
    And package "modes" calls setActiveTools with [["global_reader_tool"]] in tool_call
    When the model calls "global_reader_tool"
    Then 1 notices of all instances name "run_code"
    When the model of agent "other" calls "global_reader_tool"
    Then 2 notices of all instances name "run_code"

  @rule:setActiveTools.each-agents-list-is-reported @case:same-name
  Scenario: An agent with an id that had been another one's sets the same list
    Given an agent "main"
    And an agent "other"
    And the host's reserved transport tool "run_code"
    And package "modes" calls setActiveTools with [["global_reader_tool"]] in tool_call
    When the model of agent "other" calls "global_reader_tool"
    Then 1 notices of all instances name "run_code"
    When agent "other" is ended
    And an agent "other" is created
    And the model of agent "other" calls "global_reader_tool"
    Then 2 notices of all instances name "run_code"

  @rule:setActiveTools.the-same-call-again-adds-no-notice
  Scenario: The same list again
    Given a native tool "scope_local_scanner_tool" in the agent's own scope
    And package "modes" calls setActiveTools with [["global_reader_tool"]] in tool_call
    And the model first calls "global_reader_tool"
    When the model calls "global_reader_tool"
    Then exactly one notice names "scope_local_scanner_tool"

  @rule:setActiveTools.a-reserved-name-is-reported
  Scenario: The host's reserved transport name
    Given the host's reserved transport tool "run_code"
    And package "modes" calls setActiveTools with [["global_reader_tool"]] in tool_call
    When the model calls "global_reader_tool"
    Then request 2 lists "run_code"
    And request 2 does not list "global_writer_tool"
    And exactly one notice names "run_code"

  @rule:setActiveTools.a-reserved-name-is-reported @case:from-loading
  Scenario: A list from loading lacks the host's reserved transport name
    Given the host's reserved transport tool "run_code"
    And package "modes" calls setActiveTools with [["global_reader_tool"]] while loading
    When the user says "hello"
    Then request 1 lists "run_code"
    And request 1 does not list "global_writer_tool"
    And exactly one notice names "run_code"

  @rule:setActiveTools.inside-any-handler
  Scenario Outline: Set in a handler of a call
    Given package "modes" calls setActiveTools with [["global_reader_tool"]] in <event>
    When the model calls "global_reader_tool"
    Then request 2 does not list "global_writer_tool"

    Examples:
      | event                |
      | tool_call            |
      | tool_execution_end   |
      | tool_result          |

  @rule:setActiveTools.inside-any-handler @case:at-the-start
  Scenario: Set in a start handler, while the tool waits for it
    Given package "modes" calls setActiveTools with [["global_reader_tool"]] in tool_execution_start
    And the body of "global_reader_tool" does
      """
      acts: [{do: hold, kinds: [api.return]}]
      """
    When the model calls "global_reader_tool"
    Then request 2 does not list "global_writer_tool"

  @rule:setActiveTools.a-snapshot-is-restored
  Scenario: A plan mode is left again
    Given package "plan" answers tool_call with
      """
      when: {nth: 1}
      acts: [{do: pi, call: setActiveTools, args: [[global_reader_tool]]}]
      """
    And package "plan" answers tool_call with
      """
      when: {nth: 2}
      acts:
        - {do: pi, call: registerTool, args: [{name: latecomer_tool, description: late, parameters: {type: object, properties: {}}}]}
        - {do: pi, call: setActiveTools, args: [[global_reader_tool, global_writer_tool, latecomer_tool]]}
      """
    And the model first calls "global_reader_tool"
    When the model calls "global_reader_tool"
    Then request 2 does not list "global_writer_tool"
    And request 3 lists "global_reader_tool"
    And request 3 lists "global_writer_tool"
    And request 3 lists "latecomer_tool"

  @rule:setActiveTools.while-loading @on:bridge
  Scenario: Set while the factory runs
    Given package "modes" calls setActiveTools with [["global_reader_tool"]] while loading
    When the user says "hello"
    Then request 1 lists "global_reader_tool"
    And request 1 does not list "global_writer_tool"

  @rule:setActiveTools.while-loading @on:bridge @case:empty
  Scenario: An empty list while the factory runs
    Given package "modes" calls setActiveTools with [[]] while loading
    When the user says "hello"
    Then request 1 does not list "global_reader_tool"
    And request 1 does not list "global_writer_tool"

  @rule:setActiveTools.while-loading @on:bridge @case:two-packages
  Scenario: The package loaded last has the last word
    Given package "plan" calls setActiveTools with [["global_reader_tool"]] while loading
    And package "build" calls setActiveTools with [["global_writer_tool"]] while loading
    When the user says "hello"
    Then request 1 lists "global_writer_tool"
    And request 1 does not list "global_reader_tool"

  @rule:setActiveTools.while-loading @on:bridge @case:twice
  Scenario: Of two lists of one package the last counts
    Given package "modes" calls setActiveTools with [["global_reader_tool"]] while loading
    And package "modes" calls setActiveTools with [["global_writer_tool"]] while loading
    When the user says "hello"
    Then request 1 lists "global_writer_tool"
    And request 1 does not list "global_reader_tool"

  @rule:setActiveTools.while-loading @on:bridge @case:other-calls-after-it
  Scenario: A list from loading outlives what the factory asks for after it
    Given package "modes" calls setActiveTools with [["global_reader_tool"]] while loading
    And package "modes" calls getActiveTools with [] while loading
    And package "modes" calls getAllTools with [] while loading
    When the user says "hello"
    Then request 1 lists "global_reader_tool"
    And request 1 does not list "global_writer_tool"

  @rule:setActiveTools.while-loading @on:bridge @case:without-its-own-tool
  Scenario: A list from loading leaves the package's own tool out
    Given a package "modes" with the tool "package_painter_tool"
    And package "modes" calls setActiveTools with [["global_reader_tool"]] while loading
    And package "modes" calls getActiveTools with [] in tool_call
    And the model first calls "global_reader_tool"
    When the model calls "package_painter_tool"
    Then "package_painter_tool" is gone from request 2 and call "2", or is active and named in a notice

  @rule:setActiveTools.while-loading @on:bridge @case:a-tool-to-come
  Scenario: A list from loading names the tool of a package that is loaded after
    Given package "modes" calls setActiveTools with [["global_reader_tool", "package_painter_tool"]] while loading
    And a package "paints" with the tool "package_painter_tool"
    When the model calls "package_painter_tool"
    Then request 1 lists "package_painter_tool"
    And request 1 lists "global_reader_tool"
    And request 1 does not list "global_writer_tool"
    And call "1" succeeds

  @rule:setActiveTools.while-loading @on:pi
  Scenario: On Pi it throws while the factory runs
    Given package "modes" calls setActiveTools with [["global_reader_tool"]] while loading
    When the user says "hello"
    Then setActiveTools, called while loading, threw
    And request 1 lists "global_writer_tool"

  @rule:setActiveTools.in-before-agent-start
  Scenario: Set before the first request, seen in the second
    Given package "modes" calls setActiveTools with [["global_reader_tool"]] in before_agent_start
    When the model calls "global_reader_tool"
    Then request 2 lists "global_reader_tool"
    And request 2 does not list "global_writer_tool"

  @rule:setActiveTools.in-before-agent-start @case:every-prompt
  Scenario: Set before the first request of a later prompt
    Given package "modes" answers before_agent_start with
      """
      when: {nth: 2}
      acts: [{do: pi, call: setActiveTools, args: [[global_reader_tool]]}]
      """
    When the user says "hello"
    And the model calls "global_reader_tool"
    Then request 1 lists "global_writer_tool"
    And request 3 lists "global_reader_tool"
    And request 3 does not list "global_writer_tool"

  @rule:setActiveTools.in-before-agent-start-at-once
  Scenario: Set before the first request, seen in it
    Given package "modes" calls setActiveTools with [["global_reader_tool"]] in before_agent_start
    When the user says "hello"
    Then request 1 lists "global_reader_tool"
    And request 1 does not list "global_writer_tool"

  @rule:setActiveTools.bad-values-hurt-nobody
  Scenario Outline: A value that is no list of names
    Given package "modes" calls setActiveTools with <arguments> in tool_execution_start
    When the model calls "global_reader_tool"
    Then call "1" has one result
    And the model is asked 2 times

    Examples:
      | arguments               |
      | [null]                  |
      | [7]                     |
      | [{"a": 1}]              |
      | ["global_reader_tool"]  |
      | [[7, null, {"a": 1}]]   |

  @rule:setActiveTools.returns-nothing
  Scenario: What the call returns
    Given package "modes" calls setActiveTools with [["global_reader_tool"]] in tool_call
    When the model calls "global_reader_tool"
    Then setActiveTools returned {"$": "undefined"}
