Feature: restrict
  What a scope can hide from itself, and what it cannot.

  @rule:restrict.a-name-it-cannot-hide-fails-the-whole-call
  Scenario: One name of three can be hidden
    Given a native tool "look"
    And a native tool "read"
    Then the host answers
      | call           | arguments                   | in   | answer                                                                                            |
      | tools.restrict | {deny: [look, nope, other]} | main | throws: 'tools.restrict() names unknown global tools "nope", "other"; known global tools: look, read' |
      | tools.restrict | {allow: [nope]}             | main | throws: 'names unknown global tool "nope"'                                                        |
      | tools.view     |                             | main | returns: {visible: [look, read], restrictableNames: [look, read]}                                 |

  @rule:restrict.a-filter-without-lists-is-refused
  Scenario: Filters that cannot be meant
    Given a native tool "look"
    Then the host answers
      | call           | arguments      | in   | answer                                                |
      | tools.restrict | {}             | main | throws: tools.restrict({}) is a no-op                 |
      | tools.restrict | {deny: [look]} |      | throws: tools.restrict() requires a scoped context    |

  @rule:restrict.an-empty-allow-list-hides-everything-inherited
  Scenario: Two empty lists
    Given a native tool "look"
    And a native tool "own" in the agent's own scope
    Then the host answers
      | call           | arguments   | in   | as   | answer                           |
      | tools.restrict | {deny: []}  | main |      | returns                          |
      | tools.view     |             | main |      | returns: {visible: [look, own]}  |
      | tools.restrict | {allow: []} | main | mask | returns                          |
      | tools.view     |             | main |      | returns: {visible: [own]}        |
      | dispose        | mask        |      |      | returns                          |
      | tools.view     |             | main |      | returns: {visible: [look, own]}  |

  @rule:restrict.deny-wins-over-allow
  Scenario: One name in both lists
    Given a native tool "look"
    And a native tool "read"
    When the host is called
      | call           | arguments                          | in   |
      | tools.restrict | {allow: [look, read], deny: [read]} | main |
    Then the host answers
      | call       | in   | answer                     |
      | tools.view | main | returns: {visible: [look]} |

  @rule:restrict.an-own-tool-cannot-be-hidden
  Scenario: An own tool, alone and with an inherited one of its name
    Given a native tool "look"
    And the host is called
      | call           | arguments                      | in   | as  |
      | tools.register | {name: own}                    | main |     |
      | tools.register | {name: look, description: own} | main | own |
    Then the host answers
      | call           | arguments      | in   | answer                                                             |
      | tools.restrict | {deny: [own]}  | main | throws: 'names unknown global tool "own"; known global tools: look' |
      | tools.view     |                | main | returns: {restrictableNames: [look]}                               |
      | tools.restrict | {deny: [look]} | main | returns                                                            |
      | tools.schemas  |                | main | returns: [{name: own}, {name: look, description: own}]             |
      | dispose        | own            |      | returns                                                            |
      | tools.view     |                | main | returns: {visible: [own]}                                          |

  @rule:restrict.the-transport-name-cannot-be-named
  Scenario: The transport tool is not presented
    Given a native tool "look"
    Then the host answers
      | call           | arguments                | in   | answer                                                             |
      | tools.restrict | {deny: [nope, run_code]} | main | throws: cannot name reserved Code Mode presentation transport "run_code" |
      | tools.restrict | {allow: [run_code]}      | main | throws: cannot name reserved Code Mode presentation transport "run_code" |

  @rule:restrict.the-transport-name-cannot-be-named
  @case:presented
  Scenario: The transport tool is presented
    Given a native tool "look"
    And the host's reserved transport tool "program"
    Then the host answers
      | call           | arguments          | in   | answer                                                             |
      | tools.restrict | {deny: [run_code]} | main | throws: cannot name reserved Code Mode presentation transport "run_code" |
      | tools.restrict | {allow: []}        | main | returns                                                            |
      | tools.schemas  |                    | main | returns: [{name: run_code}]                                        |

  @rule:restrict.masks-intersect-and-lift-one-by-one
  Scenario: Three masks come and go
    Given the host is called
      | call           | arguments           | in   | as    |
      | tools.register | {name: a}           |      |       |
      | tools.register | {name: b}           |      |       |
      | tools.register | {name: c}           |      |       |
      | tools.restrict | {allow: [a, b]}     | main | one   |
      | tools.restrict | {allow: [b, c]}     | main | two   |
    Then the host answers
      | call           | arguments   | in   | as    | answer                        |
      | tools.view     |             | main |       | returns: {visible: [b]}       |
      | tools.restrict | {deny: [b]} | main | three | returns                       |
      | tools.view     |             | main |       | returns: {visible: []}        |
      | dispose        | one         |      |       | returns                       |
      | tools.view     |             | main |       | returns: {visible: [c]}       |
      | dispose        | three       |      |       | returns                       |
      | tools.view     |             | main |       | returns: {visible: [b, c]}    |
      | dispose        | two         |      |       | returns                       |
      | tools.view     |             | main |       | returns: {visible: [a, b, c]} |

  @rule:restrict.an-allow-list-hides-what-comes-later
  Scenario Outline: Tools are registered after the mask
    Given the host is called
      | call           | arguments    | in   | as   |
      | tools.register | {name: look} |      | look |
      | tools.register | {name: read} |      |      |
      | tools.restrict | <filter>     | main |      |
      | dispose        | look         |      |      |
      | tools.register | {name: look} |      |      |
      | tools.register | {name: late} |      |      |
    Then the host answers
      | call       | in   | answer                        |
      | tools.view | main | returns: {visible: <visible>} |

    Examples:
      | filter          | visible      |
      | {allow: [look]} | [look]       |
      | {deny: [look]}  | [read, late] |

  @rule:restrict.a-mask-covers-the-descendants
  Scenario: A mask on a parent and one on its child
    Given a native tool "look"
    And the host is called
      | call           | arguments      | in     | as     |
      | scopes.create  | parent         |        | parent |
      | scopes.create  | child          | parent | child  |
      | tools.register | {name: mid}    | parent |        |
      | tools.restrict | {deny: [look]} | parent |        |
    Then the host answers
      | call           | arguments     | in     | answer                              |
      | tools.view     |               | child  | returns: {visible: [mid]}           |
      | tools.view     |               | main   | returns: {visible: [look]}          |
      | tools.restrict | {deny: [mid]} | parent | throws: names unknown global tool   |
      | tools.restrict | {deny: [mid]} | child  | returns                             |
      | tools.view     |               | child  | returns: {visible: []}              |
      | tools.view     |               | parent | returns: {visible: [mid]}           |

  @rule:restrict.a-masked-tool-that-is-called-is-unknown
  Scenario: The model calls a hidden tool
    Given a native tool "look"
    And the host's pipeline is watched
    And the host is called
      | call           | arguments      | in   |
      | tools.restrict | {deny: [look]} | main |
    When the model calls "look"
    Then the log keeps {"isError": true, "code": "UNKNOWN_TOOL", "content": [{"type": "text", "text": "Error: unknown tool \"look\""}]} as the result of call "1"
    And call "1" passes the stages "call pre guard exec post emit result"

  @rule:restrict.it-is-in-force-within-the-batch
  Scenario: The first call of a batch hides the tool of the second
    Given a native tool "look"
    And a native tool "hide"
    And the body of "hide" does
      """
      acts: [{do: host, call: tools.restrict, args: [{deny: [look]}], scope: main}]
      """
    When the model calls in one message
      | tool |
      | hide |
      | look |
    Then the log keeps {"isError": true, "code": "UNKNOWN_TOOL"} as the result of call "2"
    And request 2 names the tools ["hide"] in this order
