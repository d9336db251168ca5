Feature: getActiveTools
  A package asks for the names of the tools that are active for its agent.

  Background:
    Given a native tool "disk_reader"

  @rule:getActiveTools.lists-native-and-migrated-alike
  Scenario: Native tools and those of every package
    Given a package "notes" with the tool "write_note"
    And a package "maps" with the tool "find_way"
    And the tool "write_note" calls getActiveTools with []
    When the model calls "write_note"
    Then getActiveTools returned a list with "disk_reader"
    And getActiveTools returned a list with "write_note"
    And getActiveTools returned a list with "find_way"

  @rule:getActiveTools.equals-the-catalogue
  Scenario: The list and the catalogue
    Given a native tool "disk_writer"
    And a package "notes" with the tool "write_note"
    And a package "modes" with the tool "narrow"
    And the tool "narrow" calls setActiveTools with [["disk_reader", "write_note", "narrow"]]
    And the tool "write_note" calls getActiveTools with []
    And the model first calls "narrow"
    When the model calls "write_note"
    Then getActiveTools returned the names of request 2

  @rule:getActiveTools.equals-the-catalogue @case:undescribed
  Scenario: A tool without a description is listed, too
    Given a package "notes" with the tool "write_note" and
      """
      description: ""
      """
    And the tool "write_note" calls getActiveTools with []
    And the model first calls "disk_reader"
    When the model calls "write_note"
    Then getActiveTools returned the names of request 2

  @rule:getActiveTools.equals-the-catalogue @case:odd-names
  Scenario: Names that differ by case, and names of other scripts
    Given a package "notes" with the tool "write_note"
    And package "notes" registers the tool "Write_Note"
    And package "notes" registers the tool "päckchen/druck"
    And the tool "write_note" calls getActiveTools with []
    When the model calls "write_note"
    Then getActiveTools returned the names of request 1

  @rule:getActiveTools.follows-the-hosts-own-tools
  Scenario: The list follows the host's own tools
    Given a package "notes" with the tool "write_note"
    And the tool "write_note" calls getActiveTools with []
    When the model calls "write_note"
    And the native tool "disk_writer" is registered with
      """
      description: writes to the disk
      """
    And the native tool "disk_reader" is removed
    And the model calls "write_note"
    Then getActiveTools returned the names of request 3
    And request 3 lists "disk_writer"
    And request 3 does not list "disk_reader"

  @rule:getActiveTools.follows-the-hosts-own-tools-at-once
  Scenario: The list follows the host's own tools while a tool runs
    Given a package "notes" with the tool "write_note"
    And the tool "write_note" does
      """
      acts:
        - {do: native, native: {name: disk_writer, description: writes to the disk, parameters: {type: object, properties: {}}}}
        - {do: drop-native, name: disk_reader}
        - {do: pi, call: getActiveTools, args: []}
      """
    When the model calls "write_note"
    Then getActiveTools returned a list with "disk_writer"
    And getActiveTools returned a list without "disk_reader"
    And getActiveTools returned the names of request 2

  @rule:getActiveTools.follows-a-restriction-at-once
  Scenario: Asked in the handler that narrowed
    Given a native tool "disk_writer"
    And a package "modes" with the tool "narrow"
    And the tool "narrow" calls setActiveTools with [["disk_reader", "narrow"]]
    And the tool "narrow" calls getActiveTools with []
    When the model calls "narrow"
    Then getActiveTools returned a list with "disk_reader"
    And getActiveTools returned a list without "disk_writer"

  @rule:getActiveTools.follows-a-restriction-at-once @case:empty
  Scenario: Asked when nothing is left
    Given a native tool "disk_writer"
    And package "modes" answers tool_call with
      """
      acts:
        - {do: pi, call: setActiveTools, args: [[]]}
        - {do: pi, call: getActiveTools, args: []}
      """
    When the model calls "disk_reader"
    Then getActiveTools returned []

  @rule:getActiveTools.lists-a-tool-registered-a-moment-ago
  Scenario: Asked in the handler that registered
    Given a package "loader" with the tool "load_more"
    And the tool "load_more" calls registerTool with [{"name": "fresh_tool", "description": "fresh", "parameters": {"type": "object", "properties": {}}}]
    And the tool "load_more" calls getActiveTools with []
    When the model calls "load_more"
    Then getActiveTools returned a list with "fresh_tool"

  @rule:getActiveTools.is-a-fresh-copy
  Scenario: Asked twice
    Given a package "notes" with the tool "write_note"
    And the tool "write_note" calls getActiveTools with []
    And the model first calls "write_note"
    When the model calls "write_note"
    Then every getActiveTools returned the same

  @rule:getActiveTools.scope-local-tools-follow-the-host
  Scenario: A tool of one agent's own scope
    Given an agent "main"
    And an agent "other"
    And a native tool "lens_of_main" in the agent's own scope
    And package "notes" listens to tool_call
    And package "notes" calls getActiveTools with [] in tool_call
    When the model calls "disk_reader"
    Then getActiveTools returned a list with "lens_of_main"
    When the model of agent "other" calls "disk_reader"
    Then getActiveTools returned a list without "lens_of_main"

  @rule:getActiveTools.what-cannot-be-switched-off-is-listed
  Scenario: A reserved name and a tool of the agent's own scope, missing from the list that was set
    Given the host's reserved transport tool "run_code"
    And a native tool "own_lens" in the agent's own scope
    And a package "modes" with the tool "narrow"
    And the tool "narrow" calls setActiveTools with [["disk_reader", "narrow"]]
    And the tool "narrow" calls getActiveTools with []
    When the model calls "narrow"
    Then getActiveTools returned a list with "run_code"
    And getActiveTools returned a list with "own_lens"
    And getActiveTools returned the names of request 2

  @rule:getActiveTools.is-per-agent
  Scenario: After another agent narrowed its own
    Given an agent "main"
    And an agent "other"
    And a native tool "disk_writer"
    And package "modes" answers tool_execution_start with
      """
      when: {agent: other}
      acts: [{do: pi, call: setActiveTools, args: [[disk_reader]]}]
      """
    And package "notes" calls getActiveTools with [] in tool_call
    When the model of agent "other" calls "disk_reader"
    And the model calls "disk_reader"
    Then getActiveTools returned a list with "disk_writer"

  @rule:getActiveTools.is-per-agent @case:in-every-handler
  Scenario Outline: Asked for in <event> by a package of an agent that narrowed its own
    Given an agent "main"
    And an agent "other"
    And a native tool "disk_writer"
    And a package "books" with the tool "read_book"
    And the tool "read_book" sends the update "halfway"
    And package "modes" answers tool_execution_start with
      """
      when: {agent: other}
      acts: [{do: pi, call: setActiveTools, args: [[read_book]]}]
      """
    And package "<package>" calls getActiveTools with [] in <event>
    When the model of agent "other" calls "read_book"
    Then getActiveTools returned a list without "disk_writer"

    Examples:
      | event                 | package |
      | tool_execution_start  | notes   |
      | tool_call             | notes   |
      | tool_execution_update | books   |
      | tool_result           | notes   |
      | tool_execution_end    | notes   |

  @rule:getActiveTools.in-a-package-loaded-later
  Scenario Outline: Asked for in <event> by a package that is loaded while its agent is there
    Given an agent "main"
    And a native tool "disk_writer"
    And package "modes" calls setActiveTools with [["disk_reader"]] in tool_call
    When the model calls "disk_reader"
    Given package "notes" calls getActiveTools with [] in <event>
    When package "notes" is loaded
    And the model calls "disk_reader"
    Then getActiveTools returned a list with "disk_reader"
    And getActiveTools returned a list without "disk_writer"

    Examples:
      | event                |
      | tool_execution_start |
      | tool_call            |
      | tool_result          |
      | tool_execution_end   |

  @rule:getActiveTools.while-loading @on:bridge
  Scenario: While the factory runs
    Given package "eager" calls getActiveTools with [] while loading
    When the user says "hello"
    Then getActiveTools, called while loading, answered

  @rule:getActiveTools.while-loading @on:pi
  Scenario: On Pi it throws while the factory runs
    Given package "eager" calls getActiveTools with [] while loading
    When the user says "hello"
    Then getActiveTools, called while loading, threw
