Feature: registry
  Which tools there are for whom, at every moment.

  @rule:registry.a-scoped-tool-shadows-the-global-one
  Scenario: Two agents call one name, one of them has its own tool of it
    Given a native tool "look"
    And an agent "main"
    And an agent "other"
    And the host is called
      | call           | arguments                                      | in   |
      | tools.register | {name: look, description: the tool of main}    | main |
    When the model of agent "main" calls "look"
    And the model of agent "other" calls "look"
    Then request 1 shows "look" with
      """
      description: the tool of main
      """
    And request 1 of agent "other" lists "look"
    And the host answers
      | call          | in    | answer                                                     |
      | tools.schemas | other | returns: [{name: look, description: the native tool look}] |

  @rule:registry.disposing-uncovers-the-inherited-one
  Scenario: A scoped registration is taken back twice
    Given the host is called
      | call           | arguments                         | in   | as  |
      | tools.register | {name: look, description: global} |      |     |
      | tools.register | {name: look, description: own}    | main | own |
    Then the host answers
      | call          | arguments | in   | answer                                        |
      | tools.schemas |           | main | returns: [{name: look, description: own}]     |
      | dispose       | own       |      | returns                                       |
      | tools.schemas |           | main | returns: [{name: look, description: global}]  |
      | dispose       | own       |      | returns                                       |
      | tools.schemas |           | main | returns: [{name: look, description: global}]  |

  @rule:registry.a-name-is-registered-once-a-layer
  Scenario: A name is registered twice in each layer
    Given a native tool "look"
    Then the host answers
      | call           | arguments    | in   | answer                                                                |
      | tools.register | {name: look} |      | throws: tool "look" is already registered (for a per-agent variant    |
      | tools.register | {name: look} | main | returns                                                               |
      | tools.register | {name: look} | main | throws: tool "look" is already registered in this scope               |
      | tools.view     |              | main | returns: {visible: [look]}                                            |

  @rule:registry.the-nearest-scope-wins
  Scenario: A chain of three layers
    Given a native tool "far"
    And the host is called
      | call           | arguments                         | in     | as     |
      | scopes.create  | parent                            |        | parent |
      | scopes.create  | child                             | parent | child  |
      | tools.register | {name: mid, description: parents} | parent |        |
      | tools.register | {name: near}                      | child  |        |
      | tools.register | {name: mid, description: childs}  | child  |        |
    Then the host answers
      | call       | in     | answer                                |
      | tools.view | child  | returns: {visible: [far, mid, near]}  |
      | tools.view | parent | returns: {visible: [far, mid]}        |
      | tools.view |        | returns: {visible: [far]}             |
    And the host answers
      | call          | in     | answer                                                          |
      | tools.schemas | parent | returns: [{name: far}, {name: mid, description: parents}]       |
      | tools.schemas | child  | returns: [{name: far}, {name: mid, description: childs}, {name: near}] |

  @rule:registry.a-child-agent-is-no-child-scope
  Scenario: An agent whose creator has a tool of its own and a mask
    Given a native tool "look"
    And the host is called
      | call           | arguments      | in   |
      | tools.register | {name: own}    | main |
      | tools.restrict | {deny: [look]} | main |
    When an agent "child" is created as a child of "main"
    Then the host answers
      | call       | in    | answer                     |
      | tools.view | main  | returns: {visible: [own]}  |
      | tools.view | child | returns: {visible: [look]} |

  @rule:registry.the-request-is-sorted-by-name
  Scenario: Tools that were registered out of order
    Given the host is called
      | call           | arguments    | in   |
      | tools.register | {name: zeta} |      |
      | tools.register | {name: beta} |      |
      | tools.register | {name: own}  | main |
      | tools.register | {name: zeta} | main |
      | tools.register | {name: Zed}  | main |
    When the user says "go"
    Then the host answers
      | call          | in   | answer                                                                |
      | tools.schemas | main | returns: [{name: zeta}, {name: beta}, {name: own}, {name: Zed}]       |
    And request 1 names the tools ["Zed", "beta", "own", "zeta"] in this order

  @rule:registry.names-are-exact
  Scenario Outline: A call whose name is nearly right
    Given a native tool "look"
    When the model calls "<name>"
    Then the log keeps {"isError": true, "code": "UNKNOWN_TOOL", "content": [{"type": "text", "text": "Error: unknown tool \"<name>\""}]} as the result of call "1"
    And the tool "look" does not run

    Examples:
      | name     |
      | Look     |
      | look_    |
      | toString |

  @rule:registry.a-batch-sees-changes-at-once
  @case:registered
  Scenario: The first call of a batch registers the tool of the second
    Given a native tool "first"
    And the body of "first" does
      """
      acts: [{do: host, call: tools.register, args: [{name: late}]}]
      """
    When the model calls in one message
      | tool  |
      | first |
      | late  |
    Then call "2" succeeds with "late ok"
    And request 2 lists "late"

  @rule:registry.a-batch-sees-changes-at-once
  @case:taken-away
  Scenario: The first call of a batch takes away its own tool and that of the second
    Given the host is called
      | call           | arguments     | as     |
      | tools.register | {name: first} | first  |
      | tools.register | {name: next}  | next   |
    And the body of "first" does
      """
      acts: [{do: host, call: dispose, args: [first]}, {do: host, call: dispose, args: [next]}]
      text: finished
      """
    When the model calls in one message
      | tool  |
      | first |
      | next  |
    Then call "1" succeeds with "finished"
    And the log keeps {"isError": true, "code": "UNKNOWN_TOOL"} as the result of call "2"
    And request 2 does not list "next"

  @rule:registry.the-transport-name-is-reserved
  Scenario: Somebody wants the name of the transport tool
    Then the host answers
      | call           | arguments        | in   | answer                                 |
      | tools.register | {name: run_code} |      | throws: tool name "run_code" is reserved |
      | tools.register | {name: run_code} | main | throws: tool name "run_code" is reserved |

  @rule:registry.any-parameters-are-accepted
  Scenario: Parameters with keywords that few validators know
    Given a native tool "look" with
      """
      parameters: {type: object, patternProperties: {"^x": {}}, anyOf: [{}], "x-own": 7}
      """
    When the user says "go"
    Then request 1 shows "look" with
      """
      parameters: {type: object, patternProperties: {"^x": {}}, anyOf: [{}], "x-own": 7}
      """

  @rule:registry.each-change-is-told-once
  Scenario: Changes and what is none
    Given a native tool "look"
    And a listener "changes" of tools/change
    When the host is called
      | call           | arguments      | in   | as   |
      | tools.register | {name: more}   |      | more |
      | tools.restrict | {deny: [look]} | main | mask |
      | dispose        | mask           |      |      |
      | dispose        | mask           |      |      |
      | dispose        | more           |      |      |
    Then the host answers
      | call           | arguments      | in   | answer                                                    |
      | tools.restrict | {deny: [nope]} | main | throws: tools.restrict() names unknown global tool "nope" |
    And listener "changes" is called 4 times
