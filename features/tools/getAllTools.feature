Feature: getAllTools
  A package reads what is known of the tools of its agent.

  Background:
    Given a native tool "disk_reader"
    And a package "notes" with the tool "write_note" and
      """
      description: Writes a note down
      parameters: {type: object, properties: {text: {type: string, description: What to write}}, required: [text]}
      promptGuidelines: [Write short notes]
      """
    And package "notes" calls getAllTools with [] in tool_call

  @rule:getAllTools.rows-equal-the-catalogue @on:bridge
  Scenario: Rows and catalogue
    When the model calls "disk_reader"
    Then getAllTools returned the rows of request 1

  @rule:getAllTools.rows-equal-the-catalogue @on:bridge @case:undescribed
  Scenario: The row of a tool without a description
    Given a package "maps" with the tool "find_way" and
      """
      description: ""
      """
    When the model calls "disk_reader"
    Then getAllTools returned the rows of request 1
    And getAllTools returned a list with "find_way"

  @rule:getAllTools.rows-equal-the-catalogue @on:bridge @case:every-kind
  Scenario: The rows of tools with long texts, odd names, equal descriptions and schemas of their own
    Given a native tool "disk_scale" with
      """
      description: "Weighs.\n\nAnything."
      parameters: {type: object, properties: {weight: {type: number, minimum: 1}}, required: [weight]}
      """
    And a package "maps" with the tool "find_way" and
      """
      description: "Finds a way.\n\n  From door to door – über Stock und Stein."
      """
    And package "maps" registers the tool "Find_Way" with
      """
      description: "Finds a way.\n\n  From door to door – über Stock und Stein."
      parameters: {type: object, properties: {from: {type: string, minLength: 2}, to: {anyOf: [{type: string}, {type: 'null'}]}}, additionalProperties: false}
      """
    And package "maps" registers the tool "päckchen/druck"
    When the model calls "disk_reader"
    Then getAllTools returned the rows of request 1
    And getAllTools returned a list with "päckchen/druck"

  @rule:getAllTools.rows-equal-the-catalogue @on:bridge @case:as-they-are-now
  Scenario: The rows after tools came and changed
    Given a package "maps" with the tool "find_way"
    And the tool "find_way" calls registerTool with [{"name": "draw_map", "description": "draws", "parameters": {"type": "object", "properties": {}}}]
    And the tool "find_way" calls registerTool with [{"name": "find_way", "description": "finds another way", "parameters": {"type": "object", "properties": {"by": {"type": "string"}}}}]
    And the model first calls "find_way"
    When the model calls "disk_reader"
    Then getAllTools returned the rows of request 2
    And getAllTools returned a list with "draw_map"

  @rule:getAllTools.rows-equal-the-catalogue @on:bridge @case:in-place-of-a-native
  Scenario: The row of a package's tool that has a native tool's name
    Given a native tool "disk_scale" with
      """
      description: Weighs the disk
      parameters: {type: object, properties: {weight: {type: number}}}
      """
    And a package "maps" with the tool "disk_scale" and
      """
      description: Scales the map of a disk
      parameters: {type: object, properties: {scale: {type: string}}}
      """
    When the model calls "disk_reader"
    Then getAllTools returned the rows of request 1
    And getAllTools returned a list with "disk_scale"

  @rule:getAllTools.follows-the-hosts-own-tools
  Scenario: The row of a native tool that has made place for another one of its name
    Given a native tool "disk_scale" with
      """
      description: Weighs the disk
      """
    When the model calls "disk_reader"
    And the native tool "disk_scale" is removed
    And the native tool "disk_scale" is registered with
      """
      description: Weighs every disk
      parameters: {type: object, properties: {weight: {type: number}}}
      """
    And the model calls "disk_reader"
    Then getAllTools returned the rows of request 3
    And getAllTools returned a list with "disk_scale"

  @rule:getAllTools.rows-equal-the-catalogue @on:pi
  Scenario: On Pi rows and catalogue are the registered ones
    When the model calls "disk_reader"
    Then getAllTools returned the rows of request 1

  @rule:getAllTools.lists-native-and-migrated-alike
  Scenario: Native tools and those of every package
    Given a package "maps" with the tool "find_way"
    When the model calls "disk_reader"
    Then getAllTools returned a list with "disk_reader"
    And getAllTools returned a list with "write_note"
    And getAllTools returned a list with "find_way"

  @rule:getAllTools.no-invented-guidelines-on-natives
  Scenario: A native tool's row
    When the model calls "disk_reader"
    Then the row of "disk_reader" from getAllTools is without "promptGuidelines"

  @rule:getAllTools.natives-have-nothing-of-packages
  Scenario: A native tool's row where a package's tool of its name was taken back in one agent's work
    Given an agent "main"
    And an agent "other"
    And a native tool "disk_scale"
    And a package "maps" with the tool "disk_scale" and
      """
      description: Scales the map of a disk
      promptGuidelines: [Measure twice]
      """
    And package "maps" registers the tool "fold_map"
    And the tool "fold_map" calls unregisterTool with ["disk_scale"]
    And the model first calls "fold_map"
    When the model calls "disk_reader"
    Then the row of "disk_scale" from getAllTools is without "promptGuidelines"
    And getAllTools returned the rows of request 2

  @rule:getAllTools.no-guidelines-on-own-tools @on:bridge
  Scenario: A package's own tool
    When the model calls "disk_reader"
    Then the row of "write_note" from getAllTools is without "promptGuidelines"

  @rule:getAllTools.no-guidelines-on-own-tools @on:pi
  Scenario: On Pi the guidelines are in the row
    When the model calls "disk_reader"
    Then the row of "write_note" from getAllTools has {"promptGuidelines": ["Write short notes"]}

  @rule:getAllTools.rows-have-a-source
  Scenario: Where a tool comes from
    When the model calls "disk_reader"
    Then the row of "write_note" from getAllTools has {"sourceInfo": {}}
    And the row of "disk_reader" from getAllTools has {"sourceInfo": {}}

  @rule:getAllTools.rows-have-a-source @case:not-built-in
  Scenario Outline: The tool of a package does not come from "<source>"
    When the model calls "disk_reader"
    Then the row of "write_note" from getAllTools gives another source than "<source>"

    Examples:
      | source   |
      | builtin  |
      | built-in |

  @rule:getAllTools.rows-have-a-source @case:another-packages-and-a-late-one
  Scenario Outline: The tool of another package, and one registered at work, do not come from "<source>"
    Given a package "maps" with the tool "find_way"
    And the tool "find_way" calls registerTool with [{"name": "late_map", "description": "late", "parameters": {"type": "object", "properties": {}}}]
    And the model first calls "find_way"
    When the model calls "disk_reader"
    Then the row of "find_way" from getAllTools gives another source than "<source>"
    And the row of "late_map" from getAllTools gives another source than "<source>"

    Examples:
      | source   |
      | builtin  |
      | built-in |

  @rule:getAllTools.only-visible-tools @on:bridge
  Scenario: A tool that is switched off
    Given a native tool "disk_writer"
    And package "modes" calls setActiveTools with [["disk_reader"]] in tool_execution_start
    When the model calls "disk_reader"
    Then getAllTools returned a list without "disk_writer"

  @rule:getAllTools.only-visible-tools @on:pi
  Scenario: On Pi it is still listed
    Given a native tool "disk_writer"
    And package "modes" calls setActiveTools with [["disk_reader"]] in tool_execution_start
    When the model calls "disk_reader"
    Then getAllTools returned a list with "disk_writer"

  @rule:getAllTools.are-fresh-copies
  Scenario: Asked twice
    Given the model first calls "disk_reader"
    When the model calls "disk_reader"
    Then every getAllTools returned the same

  @rule:getAllTools.is-per-agent
  Scenario: A tool of one agent's own scope
    Given an agent "main"
    And an agent "other"
    And a native tool "lens_of_main" in the agent's own scope
    When the model calls "disk_reader"
    Then getAllTools returned a list with "lens_of_main"
    When the model of agent "other" calls "disk_reader"
    Then getAllTools returned a list without "lens_of_main"
