Feature: arguments
  From the model's text to what listeners and bodies are given.

  @rule:arguments.the-log-has-the-text-before-any-policy
  Scenario: Text with odd blanks
    Given a native tool "look"
    And a listener "policy" of tools/pre-execute
    When the model calls "look" with the argument text
      """
      {"at" :  [1,2]}
      """
    Then this order holds
      """
      the durable call "1"
      listener "policy" of call "1"
      the body of call "1"
      """
    And the durable log holds, in this order
      | type      | data                            |
      | tool/call | {arguments: '{"at" :  [1,2]}'} |
    And listener "policy" is told [{"exec": {"arguments": {"at": [1, 2]}}}]

  @rule:arguments.listeners-cannot-change-them-in-place
  Scenario Outline: A listener writes into the arguments
    Given a native tool "look"
    And a listener "policy" of tools/pre-execute that
      """
      ops: [{op: <op>, path: <path>, value: 9}]
      """
    When the model calls "look" with {"at": 1, "deep": {"list": [1]}}
    Then call "1" fails
    And the tool "look" does not run

    Examples:
      | op     | path                      |
      | set    | [arguments, at]           |
      | set    | [arguments, deep, other]  |
      | append | [arguments, deep, list]   |

  @rule:arguments.replacing-them-whole-reaches-the-body
  Scenario: A listener puts other arguments in their place
    Given a native tool "look"
    And a listener "policy" of tools/pre-execute that
      """
      ops: [{op: assign, path: [arguments], value: {at: 2}}]
      """
    When the model calls "look" with {"at": 1}
    Then the tool "look" runs with {"at": 2}
    And the log keeps {"at": 1} as the arguments of call "1"

  @rule:arguments.another-name-runs-the-other-tool
  Scenario: A listener puts another name in its place
    Given a native tool "look"
    And a native tool "other"
    And a listener "policy" of tools/pre-execute that
      """
      ops: [{op: assign, path: [name], value: other}]
      """
    When the model calls "look"
    Then call "1" succeeds with "other ok"
    And the durable log holds, in this order
      | type      | data                      |
      | tool/call | {callId: "1", name: look} |

  @rule:arguments.text-that-is-not-json-arrives-as-a-string
  Scenario Outline: Text that is no object
    Given a native tool "look"
    When the model calls "look" with the argument text
      """
      <text>
      """
    Then the tool "look" runs with <value>

    Examples:
      | text        | value           |
      |             | {}              |
      | {bad        | "{bad"          |
      | [NaN]       | "[NaN]"         |
      | null        | null            |
      | 5           | 5               |
      | [1]         | [1]             |
      | "s"         | "s"             |

  @rule:arguments.the-host-validates-nothing
  Scenario: Arguments that the tool's parameters do not allow
    Given a native tool "look" with
      """
      parameters: {type: object, properties: {n: {type: number}}, required: [n], additionalProperties: false}
      """
    When the model calls "look" with {"n": "7", "more": true}
    Then the tool "look" runs with {"n": "7", "more": true}

  @rule:arguments.the-last-of-two-equal-keys-counts
  Scenario: Equal keys and an odd one
    Given a native tool "look"
    When the model calls "look" with the argument text
      """
      {"a": 1, "a": 2, "__proto__": {"x": 1}}
      """
    Then the tool "look" runs with {"a": 2, "__proto__": {"x": 1}}
