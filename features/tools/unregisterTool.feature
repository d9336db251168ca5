Feature: unregisterTool
  A package takes back exactly the tool it registered, and nobody else's. Pi itself has no such method: a package looks
  for it, and believes nothing but the answer true.

  Background:
    Given a package "parcels" with the tool "manage"
    And package "parcels" registers the tool "print_label"

  @rule:unregisterTool.the-own-tool-goes
  Scenario: A package takes its tool back
    Given the tool "manage" calls unregisterTool with ["print_label"]
    When the model calls "manage"
    Then unregisterTool returned true
    And request 1 lists "print_label"
    And request 2 does not list "print_label"

  @rule:unregisterTool.the-own-tool-goes @case:odd-names
  Scenario Outline: A package takes back its tool <name>
    Given package "parcels" registers the tool "<name>"
    And the tool "manage" calls unregisterTool with ["<name>"]
    When the model calls "manage"
    Then unregisterTool returned true
    And request 1 lists "<name>"
    And request 2 does not list "<name>"

    Examples:
      | name                       |
      | print a label              |
      | päckchen/druck             |
      | constructor                |
      | __proto__                  |
      | mcp.parcels/labels:print@2 |

  @rule:unregisterTool.the-own-tool-goes @case:several
  Scenario: A package takes back two of its tools, one that it registered in between among them
    Given the tool "manage" calls registerTool with [{"name": "weigh", "description": "weighs", "parameters": {"type": "object", "properties": {}}}]
    And the tool "manage" calls unregisterTool with ["print_label"]
    And the tool "manage" calls getActiveTools with []
    And the tool "manage" calls unregisterTool with ["weigh"]
    When the model calls "manage"
    Then unregisterTool returned true
    And getActiveTools returned a list with "weigh"
    And request 2 does not list "print_label"
    And request 2 does not list "weigh"
    And request 2 lists "manage"

  @rule:unregisterTool.the-own-tool-goes @case:switched-off
  Scenario: A package takes back a tool that it switched off
    Given the tool "manage" calls setActiveTools with [["manage"]]
    And the tool "manage" calls unregisterTool with ["print_label"]
    And the tool "manage" calls setActiveTools with [["manage", "print_label"]]
    When the model calls "manage"
    Then unregisterTool returned true
    And request 2 does not list "print_label"

  @rule:unregisterTool.gone-from-the-packages-lists
  Scenario Outline: A tool that was taken back is not in <list>
    Given the tool "manage" calls unregisterTool with ["print_label"]
    And the tool "manage" calls <list> with []
    When the model calls "manage"
    Then <list> returned a list with "manage"
    And <list> returned a list without "print_label"

    Examples:
      | list           |
      | getActiveTools |
      | getAllTools    |

  @rule:unregisterTool.a-call-afterwards-is-unknown
  Scenario: A tool that was taken back cannot be called
    Given the tool "manage" calls unregisterTool with ["print_label"]
    And the model first calls "manage"
    When the model calls "print_label"
    Then the tool "print_label" does not run
    And call "2" fails and says "print_label"

  @rule:unregisterTool.the-packages-other-tools-stay
  Scenario: The package's other tools stay
    Given package "parcels" registers the tool "weigh"
    And the tool "manage" calls unregisterTool with ["print_label"]
    And the model first calls "manage"
    When the model calls "weigh"
    Then request 2 lists "manage"
    And request 2 lists "weigh"
    And call "2" succeeds

  @rule:unregisterTool.the-packages-other-tools-stay @case:a-longer-name
  Scenario: A tool whose name begins with that of the one that was taken back stays
    Given package "parcels" registers the tool "print"
    And the tool "manage" calls unregisterTool with ["print"]
    And the model first calls "manage"
    When the model calls "print_label"
    Then request 2 does not list "print"
    And request 2 lists "print_label"
    And call "2" succeeds

  @rule:unregisterTool.the-packages-other-tools-stay @case:its-handlers
  Scenario: The package's handlers stay
    Given package "parcels" listens to tool_execution_start
    And the tool "manage" calls unregisterTool with ["print_label"]
    And the model first calls "manage"
    When the model calls "manage"
    Then package "parcels" sees tool_execution_start 2 times

  @rule:unregisterTool.the-packages-other-tools-stay @case:what-is-switched-off
  Scenario: What was switched off stays off
    Given a native tool "disk_reader"
    And the tool "manage" calls setActiveTools with [["manage", "print_label"]]
    And the tool "manage" calls unregisterTool with ["print_label"]
    When the model calls "manage"
    Then request 1 lists "disk_reader"
    And request 2 does not list "disk_reader"
    And request 2 lists "manage"

  @rule:unregisterTool.the-packages-other-tools-stay @case:itself-switched-off
  Scenario: What was switched off stays off when one of it is taken back
    Given a native tool "disk_reader"
    And the tool "manage" calls setActiveTools with [["manage"]]
    And the tool "manage" calls unregisterTool with ["print_label"]
    When the model calls "manage"
    And the user says "what is left?"
    Then request 1 lists "disk_reader"
    And request 2 does not list "disk_reader"
    And request 2 does not list "print_label"
    And request 3 does not list "disk_reader"
    And request 3 lists "manage"

  @rule:unregisterTool.a-native-tool-stays
  Scenario: A native tool is not a package's to take
    Given a native tool "disk_reader"
    And the tool "manage" calls unregisterTool with ["disk_reader"]
    And the model first calls "manage"
    When the model calls "disk_reader"
    Then unregisterTool returned false
    And request 2 lists "disk_reader"
    And call "2" succeeds

  @rule:unregisterTool.another-packages-tool-stays
  Scenario: Another package's tool is not a package's to take
    Given a package "letters" with the tool "seal_letter"
    And the tool "manage" calls unregisterTool with ["seal_letter"]
    And the model first calls "manage"
    When the model calls "seal_letter"
    Then unregisterTool returned false
    And request 2 lists "seal_letter"
    And call "2" succeeds

  @rule:unregisterTool.an-unknown-name-is-false
  Scenario Outline: The name "<name>" is nobody's
    Given the tool "manage" calls unregisterTool with ["<name>"]
    When the model calls "manage"
    Then unregisterTool returned false
    And request 2 lists "print_label"

    Examples:
      | name          |
      | print_labels  |
      | Print_Label   |
      | toString      |

  @rule:unregisterTool.an-unknown-name-is-false @case:space
  Scenario: A space makes another name
    Given the tool "manage" calls unregisterTool with [" print_label"]
    When the model calls "manage"
    Then unregisterTool returned false
    And request 2 lists "print_label"

  @rule:unregisterTool.an-unknown-name-is-false @case:empty
  Scenario: The empty name is nobody's
    Given the tool "manage" calls unregisterTool with [""]
    When the model calls "manage"
    Then unregisterTool returned false
    And request 2 lists "manage"
    And request 2 lists "print_label"

  @rule:unregisterTool.a-second-call-is-false
  Scenario: A tool can be taken back once
    Given the tool "manage" calls unregisterTool with ["print_label"]
    And the tool "manage" calls unregisterTool with ["print_label"]
    When the model calls "manage"
    Then unregisterTool returned false
    And request 2 does not list "print_label"

  @rule:unregisterTool.a-refused-registration-was-never-there
  Scenario: What the host refused to register cannot be taken back
    Given the host's reserved transport tool "run_code"
    And package "parcels" registers the tool "run_code"
    And the tool "manage" calls unregisterTool with ["run_code"]
    When the model calls "manage"
    Then unregisterTool returned false
    And request 2 lists "print_label"

  @rule:unregisterTool.a-doubled-name-belongs-to-one
  Scenario: The package that came second with a name cannot take it back
    Given a package "letters" with the tool "print_label"
    And package "letters" registers the tool "seal_letter"
    And the tool "seal_letter" calls unregisterTool with ["print_label"]
    When the model calls "seal_letter"
    Then unregisterTool returned false
    And request 2 lists "print_label"

  @rule:unregisterTool.the-running-call-finishes @case:itself
  Scenario: A tool that takes itself back still answers
    Given the tool "print_label" does
      """
      acts: [{do: pi, call: unregisterTool, args: [print_label]}]
      returns: {content: [{type: text, text: the last label}], details: {}}
      """
    When the model calls "print_label"
    Then call "1" succeeds with "the last label"
    And request 2 does not list "print_label"

  @rule:unregisterTool.the-running-call-finishes @case:by-a-handler
  Scenario: A tool that is taken back while it runs still answers
    Given the tool "print_label" does
      """
      acts: [{do: update, update: {content: [], details: {}}}, {do: hold, kinds: [api.return]}]
      returns: {content: [{type: text, text: the last label}], details: {}}
      """
    And package "parcels" calls unregisterTool with ["print_label"] in tool_execution_update
    When the model calls "print_label"
    Then unregisterTool returned true
    And call "1" succeeds with "the last label"

  @rule:unregisterTool.the-running-call-finishes @case:heard
  Scenario: A call whose tool takes itself back is told and patched to its end
    Given the tool "print_label" does
      """
      acts: [{do: pi, call: unregisterTool, args: [print_label]}]
      returns: {content: [{type: text, text: the last label}], details: {}}
      """
    And package "redactor" replaces the text of results by "a label"
    And package "recorder" listens to every tool event
    When the model calls "print_label"
    Then package "recorder" sees tool_execution_end of call "1" with {"toolName": "print_label", "isError": false}
    And call "1" succeeds with "a label"

  @rule:unregisterTool.a-later-call-of-the-batch-is-unknown
  Scenario: A later call of the batch finds the tool gone
    Given the tool "manage" calls unregisterTool with ["print_label"]
    When the model calls in one message
      | tool        |
      | manage      |
      | print_label |
    Then the tool "print_label" does not run
    And call "2" fails

  @rule:unregisterTool.registering-again-is-a-fresh-entry @case:shown
  Scenario: A tool that comes back is shown as it is now
    Given the tool "manage" calls unregisterTool with ["print_label"]
    And the tool "manage" calls registerTool with [{"name": "print_label", "label": "print", "description": "prints in colour", "parameters": {"type": "object", "properties": {"copies": {"type": "number"}}}}]
    When the model calls "manage"
    Then request 2 shows "print_label" with
      """
      description: prints in colour
      properties: {copies: {type: number}}
      """

  @rule:unregisterTool.registering-again-is-a-fresh-entry @case:run
  Scenario: A tool that comes back runs as it is now
    Given the tool "manage" calls unregisterTool with ["print_label"]
    And the tool "manage" calls registerTool with [{"name": "print_label", "label": "print", "tag": "new", "description": "prints in colour", "parameters": {"type": "object", "properties": {"copies": {"type": "number"}}}}]
    And the tool "print_label" does
      """
      tag: new
      returns: {content: [{type: text, text: in colour}], details: {}}
      """
    And the model first calls "manage"
    When the model calls "print_label" with {"copies": "2"}
    Then the tool "print_label" runs with {"copies": 2}
    And call "2" succeeds with "in colour"

  @rule:unregisterTool.registering-again-is-a-fresh-entry @case:looks-the-same
  Scenario: A tool that comes back and looks as before runs as it is now
    Given package "parcels" registers the tool "weigh" with
      """
      description: weighs
      parameters: {type: object, properties: {}}
      """
    And the tool "manage" calls unregisterTool with ["weigh"]
    And the tool "manage" calls registerTool with [{"name": "weigh", "label": "weigh", "tag": "new", "description": "weighs", "parameters": {"type": "object", "properties": {}}}]
    And the tool "weigh" does
      """
      tag: new
      returns: {content: [{type: text, text: with the new scale}], details: {}}
      """
    And the model first calls "weigh"
    And the model first calls "manage"
    When the model calls "weigh"
    Then call "1" succeeds with "weigh ok"
    And call "3" succeeds with "with the new scale"

  @rule:unregisterTool.registering-again-is-a-fresh-entry @case:taken-back-again
  Scenario: A tool that comes back is taken back like any other
    Given the tool "manage" calls unregisterTool with ["print_label"]
    And the tool "manage" calls registerTool with [{"name": "print_label", "label": "print", "description": "prints in colour", "parameters": {"type": "object", "properties": {}}}]
    And the tool "manage" calls getActiveTools with []
    And the tool "manage" calls unregisterTool with ["print_label"]
    When the model calls "manage"
    Then every unregisterTool returned the same
    And unregisterTool returned true
    And getActiveTools returned a list with "print_label"
    And request 2 does not list "print_label"

  @rule:unregisterTool.a-name-given-up-is-free
  Scenario: A package registers a name that it was refused while another one had it
    Given a package "letters" with the tool "seal_letter"
    And the tool "seal_letter" calls registerTool with [{"name": "print_label", "label": "print", "description": "prints for letters", "parameters": {"type": "object", "properties": {"copies": {"type": "number"}}}}]
    And the tool "manage" calls unregisterTool with ["print_label"]
    And the model first calls "seal_letter"
    And the model first calls "manage"
    And the model first calls "seal_letter"
    When the model calls "print_label" with {"copies": "2"}
    Then request 4 shows "print_label" with
      """
      description: prints for letters
      """
    And the tool "print_label" runs with {"copies": 2}
    And call "4" succeeds

  @rule:unregisterTool.a-name-given-up-is-free @case:for-good
  Scenario: The package that had the name before can neither take the tool back nor along
    Given a package "letters" with the tool "seal_letter"
    And the tool "seal_letter" calls registerTool with [{"name": "print_label", "label": "print", "description": "prints for letters", "parameters": {"type": "object", "properties": {}}}]
    And the tool "manage" calls unregisterTool with ["print_label"]
    And the model first calls "manage"
    And the model first calls "seal_letter"
    And the model first calls "manage"
    When the user says "print it"
    And package "parcels" is unloaded
    And the model calls "print_label"
    Then unregisterTool returned false
    And request 4 lists "print_label"
    And request 5 lists "print_label"
    And call "4" succeeds

  @rule:unregisterTool.what-was-shadowed-comes-back
  Scenario: The native tool of that name answers again
    Given a native tool "shared_printer"
    And the native tool "shared_printer" answers "the native one"
    And package "parcels" registers the tool "shared_printer"
    And the tool "manage" calls unregisterTool with ["shared_printer"]
    And the model first calls "manage"
    When the model calls "shared_printer"
    Then request 2 lists "shared_printer"
    And call "2" succeeds with "the native one"

  @rule:unregisterTool.what-was-shadowed-comes-back @case:as-a-native
  Scenario: The native tool of that name is a native tool again
    Given a native tool "shared_printer"
    And package "parcels" registers the tool "shared_printer"
    And the tool "manage" calls unregisterTool with ["shared_printer"]
    And package "rewriter" changes the argument "paper" of "shared_printer" to "yellow"
    And the model first calls "manage"
    When the model calls "shared_printer" with {"paper": "white"}
    Then the tool "shared_printer" does not run
    And call "2" fails and says "shared_printer"

  @rule:unregisterTool.what-was-shadowed-comes-back-for-every-agent
  Scenario: The native tool of that name answers every agent again
    Given an agent "main"
    And an agent "other"
    And a native tool "shared_printer"
    And the native tool "shared_printer" answers "the native one"
    And package "parcels" registers the tool "shared_printer"
    And the tool "manage" calls unregisterTool with ["shared_printer"]
    When the model calls "manage"
    And the model of agent "other" calls "manage"
    And the model calls "shared_printer"
    And the model of agent "other" calls "shared_printer"
    Then request 3 lists "shared_printer"
    And request 3 of agent "other" lists "shared_printer"
    And call "3" succeeds with "the native one"
    And call "4" succeeds with "the native one"

  @rule:unregisterTool.both-of-two-registrations-go
  Scenario: A tool that was registered twice is taken back once
    Given package "parcels" registers the tool "print_label"
    And the tool "manage" calls unregisterTool with ["print_label"]
    When the model calls "manage"
    Then unregisterTool returned true
    And request 2 does not list "print_label"

  @rule:unregisterTool.works-while-loading
  Scenario: A tool that is taken back while loading is never there
    Given package "parcels" calls unregisterTool with ["print_label"] while loading
    When the model calls "manage"
    Then request 1 does not list "print_label"
    And request 1 lists "manage"

  @rule:unregisterTool.odd-values-are-false
  Scenario Outline: <value> is no tool's name
    Given the tool "manage" calls unregisterTool with [<value>]
    When the model calls "manage"
    Then unregisterTool returned false
    And request 2 lists "print_label"

    Examples:
      | value                  |
      | null                   |
      | {"$": "undefined"}     |
      | 7                      |
      | {"name": "print_label"} |
      | ["print_label"]        |

  @rule:unregisterTool.in-before-agent-start
  Scenario: A tool that is taken back before the first request is not in it
    Given package "parcels" answers before_agent_start with
      """
      acts: [{do: pi, call: unregisterTool, args: [print_label]}]
      """
    When the user says "hello"
    Then request 1 lists "manage"
    And request 1 does not list "print_label"
