Feature: decisions
  What a listener before the body answers, and what the host makes of it.

  @rule:decisions.a-denial-with-a-reason-keeps-the-body-from-running
  Scenario Outline: A denial
    Given a native tool "look"
    And a listener "policy" of tools/pre-execute that
      """
      returns: {kind: deny, reason: "<reason>"}
      """
    When the model calls "look"
    Then the tool "look" does not run
    And the log keeps {"isError": true, "content": [{"type": "text", "text": "Error: <reason>"}]} as the result of call "1"
    And the result of call "1" has no error code

    Examples:
      | reason |
      | no way |
      |        |

  @rule:decisions.a-malformed-decision-without-a-reason-runs-the-tool
  Scenario Outline: A decision that is none
    Given a native tool "look"
    And the host's pipeline is watched
    And a listener "policy" of tools/pre-execute that
      """
      returns: <decision>
      """
    When the model calls "look"
    Then call "1" succeeds with "look ok"
    And call "1" passes the stages "call pre exec body post emit result"

    Examples:
      | decision        |
      | {kind: deny}    |
      | {kind: proceed} |
      | {}              |
      | true            |
      | deny            |

  @rule:decisions.any-reason-but-none-denies
  Scenario Outline: A reason that is no text
    Given a native tool "look"
    And a listener "policy" of tools/pre-execute that
      """
      returns: {kind: <kind>, reason: <reason>}
      """
    When the model calls "look"
    Then the tool "look" does not run
    And the log keeps {"isError": true, "content": [{"type": "text", "text": "Error: <text>"}]} as the result of call "1"

    Examples:
      | kind    | reason | text            |
      | deny    | null   | null            |
      | deny    | 7      | 7               |
      | deny    | {a: 1} | [object Object] |
      | proceed | r      | r               |

  @rule:decisions.nothing-is-an-error
  Scenario Outline: No decision at all
    Given a native tool "look"
    And a listener "policy" of tools/pre-execute that
      """
      returns: <nothing>
      """
    When the model calls "look"
    Then the tool "look" does not run
    And the log keeps {"isError": true, "content": [{"type": "text", "text": "Error: Cannot read properties of <name> (reading 'kind')"}]} as the result of call "1"
    And the model is asked 2 times

    Examples:
      | nothing          | name      |
      | {$: "undefined"} | undefined |
      | null             | null      |

  @rule:decisions.an-allow-cannot-rewrite-the-arguments
  Scenario: An allow with other arguments
    Given a native tool "look"
    And a listener "policy" of tools/pre-execute that
      """
      returns: {kind: allow, arguments: {at: 2}}
      """
    When the model calls "look" with {"at": 1}
    Then the tool "look" runs with {"at": 1}

  @rule:decisions.only-a-guard-cannot-be-overruled
  @case:listener
  Scenario: An outer listener allows what an inner one denies
    Given a native tool "look"
    And a listener "outer" of tools/pre-execute that
      """
      acts: [{do: next}]
      returns: {kind: allow}
      """
    And a listener "inner" of tools/pre-execute that
      """
      returns: {kind: deny, reason: inner}
      """
    When the model calls "look"
    Then next() gives listener "outer" [{"returned": {"kind": "deny", "reason": "inner"}}]
    And call "1" succeeds with "look ok"

  @rule:decisions.only-a-guard-cannot-be-overruled
  @case:guard
  Scenario: A listener allows what a guard denies
    Given a native tool "look"
    And the host guards "look" with the reason "a guard says no"
    And a listener "outer" of tools/pre-execute that
      """
      returns: {kind: allow}
      """
    When the model calls "look"
    Then the tool "look" does not run
    And the log keeps {"isError": true, "content": [{"type": "text", "text": "Error: a guard says no"}]} as the result of call "1"

  @rule:decisions.an-outer-denial-stands-beside-an-inner-ask
  Scenario Outline: An outer listener denies what an inner one would ask about
    Given a native tool "look"
    And the host's approval service is allowed-once
    And a listener "outer" of tools/pre-execute that
      """
      acts: <acts>
      returns: {kind: deny, reason: outer}
      """
    And a listener "inner" of tools/pre-execute that
      """
      returns: {kind: ask, reason: inner}
      """
    When the model calls "look"
    Then the tool "look" does not run
    And call "1" fails and says "outer"

    Examples:
      | acts         |
      | []           |
      | [{do: next}] |

  @rule:decisions.an-ask-without-an-approval-service-denies
  Scenario Outline: Nobody can be asked
    Given a native tool "look"
    And a listener "policy" of tools/pre-execute that
      """
      returns: <ask>
      """
    When the model calls "look"
    Then the tool "look" does not run
    And call "1" fails and says "<text>"

    Examples:
      | ask                       | text                                   |
      | {kind: ask, reason: why}  | why                                    |
      | {kind: ask}               | requires approval (not yet supported)  |

  @rule:decisions.an-empty-reason-is-one
  Scenario: A question whose reason is empty
    Given a native tool "look"
    And a listener "policy" of tools/pre-execute that
      """
      returns: {kind: ask, reason: ""}
      """
    When the model calls "look"
    Then the tool "look" does not run
    And the log keeps {"isError": true, "content": [{"type": "text", "text": "Error: "}]} as the result of call "1"

  @rule:decisions.an-empty-reason-is-one @case:guard
  Scenario: A guard that denies with an empty reason
    Given a native tool "look"
    And the host's pipeline is watched
    And the host guards "look" with the reason ""
    When the model calls "look"
    Then call "1" passes the stages "call pre guard post emit result"
    And the log keeps {"isError": true, "content": [{"type": "text", "text": "Error: "}]} as the result of call "1"

  @rule:decisions.an-ask-is-answered-by-the-approval-service
  Scenario: The user allows it once
    Given a native tool "look"
    And the host's approval service is allowed-once
    And the host's pipeline is watched
    And a listener "policy" of tools/pre-execute that
      """
      returns: {kind: ask, reason: why}
      """
    When the model calls "look"
    Then call "1" passes the stages "call pre guard exec body post emit result"

  @rule:decisions.an-ask-is-answered-by-the-approval-service
  @case:not-allowed
  Scenario Outline: The user does not allow it
    Given a native tool "look"
    And the host's approval service is <answer>
    And the host's pipeline is watched
    And a listener "policy" of tools/pre-execute that
      """
      returns: {kind: ask, reason: why}
      """
    When the model calls "look"
    Then call "1" passes the stages "call pre post emit result"
    And call "1" fails and says "<text>"

    Examples:
      | answer     | text                                  |
      | rejected   | the user rejected tool                |
      | cancelled  | was cancelled                         |
      | unanswered | but no approval channel is available  |

  @rule:decisions.an-ask-is-answered-by-the-approval-service
  @case:rogue
  Scenario: The answer is no word of the service
    Given a native tool "look"
    And the host's approval service is unanswered
    And a listener "user" of approval/request that
      """
      returns: yes please
      """
    And a listener "policy" of tools/pre-execute that
      """
      returns: {kind: ask}
      """
    When the model calls "look"
    Then call "1" fails and says "but no approval channel is available"

  @rule:decisions.question-and-answer-are-logged
  Scenario: A question that is rejected
    Given a native tool "look"
    And the host's approval service is rejected
    And a listener "policy" of tools/pre-execute that
      """
      returns: {kind: ask, reason: why}
      """
    When the model calls "look"
    Then the durable log holds, in this order
      | type             | data                                      |
      | tool/call        | {callId: "1", name: look}                 |
      | approval/asked   | {toolName: look, callId: "1", reason: why} |
      | approval/decided | {outcome: rejected}                       |
      | tool/result      | {turn: 1}                                 |

  @rule:decisions.each-question-is-asked-anew
  Scenario Outline: The user answers another way the second time
    Given a native tool "look"
    And the host's approval service is unanswered
    And a listener "policy" of tools/pre-execute that
      """
      returns: {kind: ask, reason: why}
      """
    And a listener "user" of approval/request that
      """
      when: {nth: 1}
      returns: <first>
      """
    And a listener "user" of approval/request that
      """
      when: {nth: 2}
      returns: <second>
      """
    And the model first calls "look"
    When the model calls "look"
    Then listener "user" is called 2 times
    And the tool "look" runs 1 times

    Examples:
      | first        | second       |
      | allowed-once | rejected     |
      | rejected     | allowed-once |

  @rule:decisions.the-policy-never-asks-nobody
  Scenario: The user would allow it
    Given a native tool "look"
    And the host's approval service is unanswered
    And a listener "user" of approval/request that
      """
      returns: allowed-once
      """
    And a listener "policy" of tools/pre-execute that
      """
      returns: {kind: ask}
      """
    And the host is called
      | call            | arguments | in   |
      | approval.policy | never     | main |
    When the model calls "look"
    Then call "1" fails and says "the user rejected tool"
    And listener "user" is called 0 times

  @rule:decisions.an-ask-of-no-agent-denies
  Scenario: A call that no agent made
    Given a native tool "look"
    And the host's approval service is allowed-once
    And a listener "policy" of tools/pre-execute that
      """
      returns: {kind: ask}
      """
    Then the host answers
      | call          | arguments                              | answer                                                                                                                          |
      | tools.execute | {callId: x, name: look, arguments: {}} | returns: {isError: true, error: {message: 'tool "look" requires approval, but the call has no agent to route it through'}} |

  @rule:decisions.any-guard-that-covers-a-call-denies
  @case:the-second
  Scenario: A guard that denies comes after one that passes
    Given a native tool "write"
    And a native tool "look"
    And the host guards "write" with the reason "nothing is written"
    And the host guards "look" with the reason "nothing is looked at"
    When the model calls "look"
    Then the tool "look" does not run
    And the log keeps {"isError": true, "content": [{"type": "text", "text": "Error: nothing is looked at"}]} as the result of call "1"

  @rule:decisions.any-guard-that-covers-a-call-denies
  @case:of-one-agent
  Scenario: A guard of one agent's scope, and a call of another agent
    Given a native tool "look"
    And an agent "main"
    And an agent "other"
    And a listener "all" of guard
    And a listener "own" of guard that
      """
      in: other
      """
    When the model of agent "main" calls "look"
    Then listener "own" is called 0 times
    When the model of agent "other" calls "look"
    Then listener "own" is called 1 times
    And listener "all" is called 2 times

  @rule:decisions.any-guard-that-covers-a-call-denies
  @case:the-first
  Scenario: Two guards deny
    Given a native tool "look"
    And the host has the policy
      """
      {id: early, tools: [look], answer: guard, reason: the early one says no}
      """
    And the host has the policy
      """
      {id: late, tools: [look], answer: guard, reason: the late one says no}
      """
    When the model calls "look"
    Then the tool "look" does not run
    And the log keeps {"isError": true, "content": [{"type": "text", "text": "Error: the early one says no"}]} as the result of call "1"
