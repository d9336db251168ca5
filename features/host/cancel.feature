Feature: cancel
  What a cancel does to the calls of a batch.

  @rule:cancel.a-success-after-a-cancel-becomes-an-abort
  @case:succeeds
  Scenario: A body succeeds although its turn was cancelled
    Given a native tool "look"
    And the host's pipeline is watched
    And the body of "look" does
      """
      acts: [{do: cancel}]
      """
    When the model calls "look"
    Then the log keeps {"isError": true, "code": "ABORTED", "content": [{"type": "text", "text": "Error: tool call aborted"}]} as the result of call "1"
    And call "1" passes the stages "call pre guard exec body post emit result"
    And turn 1 ends as aborted

  @rule:cancel.a-success-after-a-cancel-becomes-an-abort
  @case:throws
  Scenario: A body throws after its turn was cancelled
    Given a native tool "look"
    And the body of "look" does
      """
      acts: [{do: cancel}]
      throws: {$: error, name: Error, message: stopped half way}
      """
    When the model calls "look"
    Then the log keeps {"isError": true, "content": [{"type": "text", "text": "Error: stopped half way"}]} as the result of call "1"
    And turn 1 ends as aborted

  @rule:cancel.a-running-body-is-waited-for
  Scenario: A body goes on until nothing else happens
    Given a native tool "look"
    And the body of "look" does
      """
      acts: [{do: cancel}, {do: hold, kinds: [log.result, turn.end]}]
      """
    When the model calls "look"
    Then this order holds
      """
      the end of the body of call "1"
      the durable result of call "1"
      the end of the turn
      """

  @rule:cancel.siblings-not-started-get-a-result-and-no-policy
  Scenario: The first of three calls is cancelled
    Given a native tool "look"
    And the host's pipeline is watched
    And the body of "look" does
      """
      acts: [{do: cancel}]
      """
    When the model calls in one message
      | tool  |
      | look  |
      | look  |
      | ghost |
    Then the tool "look" runs 1 times
    And call "2" passes the stages "call result"
    And call "3" passes the stages "call result"
    And the log keeps {"isError": true, "code": "ABORTED_BEFORE_DISPATCH"} as the result of call "2"
    And the log keeps {"isError": true, "code": "ABORTED_BEFORE_DISPATCH"} as the result of call "3"

  @rule:cancel.before-the-body-guards-still-run
  Scenario: A listener cancels and asks the rest
    Given a native tool "look"
    And the host's pipeline is watched
    And a listener "policy" of tools/pre-execute that
      """
      acts: [{do: cancel}]
      """
    When the model calls "look"
    Then call "1" passes the stages "call pre guard post emit result"
    And the log keeps {"isError": true, "code": "ABORTED_BEFORE_DISPATCH", "content": [{"type": "text", "text": "Error: tool call aborted before dispatch"}]} as the result of call "1"

  @rule:cancel.a-denial-wins-over-the-abort
  Scenario: A listener cancels and denies
    Given a native tool "look"
    And a listener "policy" of tools/pre-execute that
      """
      acts: [{do: cancel}]
      returns: {kind: deny, reason: not now}
      """
    When the model calls "look"
    Then the log keeps {"isError": true, "content": [{"type": "text", "text": "Error: not now"}]} as the result of call "1"
    And turn 1 ends as aborted

  @rule:cancel.the-inbox-is-emptied-unless-kept
  Scenario Outline: Input is queued before the cancel
    Given a native tool "look"
    And the body of "look" does
      """
      acts:
        - {do: host, call: agent.followup, args: [later], scope: main}
        - {do: host, call: agent.cancel, args: [{kind: user}, {keepInbox: <kept>}], scope: main}
      """
    When the model calls "look"
    Then turn 1 ends as aborted
    And the model is asked 1 times
    And the host answers
      | call           | in   | answer           |
      | inbox.nextTurn | main | returns: <inbox> |

    Examples:
      | kept  | inbox   |
      | false | []      |
      | true  | [later] |

  @rule:cancel.the-inbox-is-emptied-unless-kept @case:twice
  Scenario Outline: Input is queued before a cancel that keeps it and another one
    Given a native tool "look"
    And the body of "look" does
      """
      acts:
        - {do: host, call: agent.followup, args: [later], scope: main}
        - {do: host, call: agent.cancel, args: [{kind: user}, {keepInbox: true}], scope: main}
        - {do: host, call: agent.cancel, args: [{kind: user}, {keepInbox: <kept>}], scope: main}
      """
    When the model calls "look"
    Then turn 1 ends as aborted
    And the host answers
      | call           | in   | answer           |
      | inbox.nextTurn | main | returns: <inbox> |

    Examples:
      | kept  | inbox   |
      | false | []      |
      | true  | [later] |

  @rule:cancel.what-is-kept-is-answered-first
  Scenario: A prompt comes after a cancel that kept the inbox
    Given a native tool "look"
    And the body of "look" does
      """
      acts:
        - {do: host, call: agent.followup, args: [later], scope: main}
        - {do: host, call: agent.cancel, args: [{kind: user}, {keepInbox: true}], scope: main}
      """
    When the model calls "look"
    And the user says "now"
    Then the durable log holds, in this order
      | type         | data                                    |
      | turn/end     | {turn: 1}                               |
      | turn/start   | {turn: 2}                               |
      | user/message | {content: [{type: text, text: later}]}  |
      | turn/start   | {turn: 3}                               |
      | user/message | {content: [{type: text, text: now}]}    |

  @rule:cancel.input-behind-a-cancel-opens-a-turn
  Scenario Outline: Input comes after the cancel, while the body still runs
    Given a native tool "look"
    And the body of "look" does
      """
      acts:
        - {do: host, call: agent.cancel, args: [{kind: user}], scope: main}
        - {do: host, call: <call>, args: [go on], scope: main}
      """
    When the model calls "look"
    Then turn 1 ends as aborted
    And turn 2 ends as completed
    And request 2 carries the text "go on"

    Examples:
      | call           |
      | agent.followup |
      | agent.steer    |

  @rule:cancel.a-cancel-is-of-one-turn
  Scenario: An agent that rests is cancelled
    Given an agent "main"
    When the host is called
      | call         | arguments     | in   |
      | agent.cancel | {kind: user}  | main |
    And the user says "go"
    Then turn 1 ends as completed

  @rule:cancel.the-first-cause-counts
  Scenario: A body cancels its turn twice
    Given a native tool "look"
    And the body of "look" does
      """
      acts:
        - {do: host, call: agent.cancel, args: [{kind: hook, reason: the first}], scope: main}
        - {do: host, call: agent.cancel, args: [{kind: hook, reason: the second}], scope: main}
      """
    When the model calls "look"
    Then the durable log holds, in this order
      | type     | data                                                                        |
      | turn/end | {turn: 1, reason: {kind: aborted, reason: {kind: hook, reason: the first}}} |

  @rule:cancel.a-cancelled-question-aborts-the-call
  Scenario: The turn is cancelled while the user thinks
    Given a native tool "look"
    And the host's approval service is unanswered
    And a listener "policy" of tools/pre-execute that
      """
      returns: {kind: ask}
      """
    And a listener "user" of approval/request that
      """
      acts: [{do: cancel}, {do: hold, kinds: [turn.end]}]
      returns: allowed-once
      """
    When the model calls "look"
    Then the tool "look" does not run
    And the log keeps {"isError": true, "code": "ABORTED_BEFORE_DISPATCH"} as the result of call "1"
    And turn 1 ends as aborted
