Feature: turns
  When a turn ends, and what keeps it going.

  @rule:turns.any-concluding-call-ends-the-turn-after-its-batch
  Scenario: The first of two calls concludes
    Given a native tool "finish"
    And a native tool "look"
    And the body of "finish" does
      """
      conclude: true
      """
    When the model calls in one message
      | tool   |
      | finish |
      | look   |
    Then call "2" succeeds with "look ok"
    And the model is asked 1 times
    And turn 1 ends as completed

  @rule:turns.a-blocked-result-does-not-conclude
  Scenario Outline: A listener decides on the result of a concluding call
    Given a native tool "finish"
    And the body of "finish" does
      """
      conclude: true
      """
    And a listener "review" of tools/post-execute that
      """
      returns: <decision>
      """
    When the model calls "finish"
    Then the model is asked <requests> times

    Examples:
      | decision                                           | requests |
      | {kind: block, feedback: [{type: text, text: refused}]}  | 2        |
      | {kind: accept, content: [{type: text, text: new}]} | 1        |
      | {kind: accept, value: [{type: text, text: new}]}   | 1        |

  @rule:turns.deferred-context-takes-another-step
  @case:deferred
  Scenario: The concluding call defers context
    Given a native tool "finish"
    And the body of "finish" does
      """
      conclude: true
      defer: one more thing
      """
    When the model calls "finish"
    Then request 2 carries the text "one more thing"
    And turn 1 ends as completed

  @rule:turns.deferred-context-takes-another-step
  @case:input
  Scenario Outline: Input comes while the concluding call runs
    Given a native tool "finish"
    And the body of "finish" does
      """
      acts: [{do: host, call: <call>, args: [meanwhile], scope: main}]
      conclude: true
      """
    When the model calls "finish"
    Then request 2 carries the text "meanwhile"
    And turn 1 ends as completed

    Examples:
      | call         |
      | agent.steer  |
      | agent.inject |

  @rule:turns.a-block-discards-deferred-context
  Scenario: A listener after the body blocks a call that deferred context
    Given a native tool "look"
    And the body of "look" does
      """
      defer: one more thing
      """
    And a listener "review" of tools/post-execute that
      """
      returns: {kind: block, feedback: [{type: text, text: refused}]}
      """
    When the model calls "look"
    Then call "1" fails and says "refused"
    And the model is asked 2 times
    And request 2 carries nothing of "one more thing"

  @rule:turns.a-replacement-keeps-deferred-context
  Scenario Outline: A listener after the body replaces the result of a call that deferred context
    Given a native tool "look"
    And the body of "look" does
      """
      defer: one more thing
      """
    And a listener "review" of tools/post-execute that
      """
      returns: <decision>
      """
    When the model calls "look"
    Then request 2 carries the text "one more thing"

    Examples:
      | decision                                                  |
      | {kind: accept}                                            |
      | {kind: accept, content: [{type: text, text: replaced}]}   |
      | {kind: accept, value: [{type: text, text: replaced}]}     |

  @rule:turns.a-follow-up-opens-a-turn-of-its-own
  Scenario: Input is queued while the concluding call runs
    Given a native tool "finish"
    And the body of "finish" does
      """
      acts: [{do: host, call: agent.followup, args: [later], scope: main}]
      conclude: true
      """
    When the model calls "finish"
    Then the durable log holds, in this order
      | type         | data                                    |
      | turn/end     | {turn: 1, reason: {kind: completed}}    |
      | turn/start   | {turn: 2}                               |
      | user/message | {content: [{type: text, text: later}]}  |

  @rule:turns.a-rejected-step-ends-the-turn-as-blocked
  Scenario: The step after the batch is rejected
    Given a native tool "look"
    And the body of "look" does
      """
      acts: [{do: host, call: agent.steer, args: [claimed], scope: main}]
      """
    And a listener "gate" of agent/pre-step that
      """
      when: {nth: 2}
      returns: {kind: reject}
      """
    And a listener "stopping" of agent/turn-stopping
    When the model calls "look"
    Then turn 1 ends as blocked
    And the model is asked 1 times
    And listener "stopping" is called 0 times
    And the host answers
      | call           | in   | answer      |
      | inbox.nextStep | main | returns: [] |
    And "claimed" is nowhere in the log

  @rule:turns.a-throwing-pre-step-ends-the-turn-as-an-error
  Scenario: A listener before the first step throws
    Given a listener "gate" of agent/pre-step that
      """
      throws: {$: error, name: Error, message: boom}
      """
    When the user says "go"
    Then turn 1 ends as error
    And the model is asked 0 times

  @rule:turns.turn-stopping-is-waited-for-and-may-go-on
  Scenario: A listener has something to add, once
    Given a listener "stopping" of agent/turn-stopping that
      """
      when: {nth: 1}
      acts: [{do: hold, kinds: [turn.end]}, {do: host, call: agent.steer, args: [one more], scope: main}]
      """
    When the user says "go"
    Then request 2 carries the text "one more"
    And listener "stopping" is called 2 times
    And this order holds
      """
      request 2
      the end of the turn
      """
    And turn 1 ends as completed

  @rule:turns.turn-stopping-is-waited-for-and-may-go-on @case:after-a-reply-that-was-cut
  Scenario: A listener adds something after a reply that its length limit cut off
    Given a native tool "look"
    And a listener "stopping" of agent/turn-stopping that
      """
      when: {nth: 1}
      acts: [{do: host, call: agent.steer, args: [one more], scope: main}]
      """
    When the model calls in one message
      | tool | finish |
      | look | length |
    Then request 2 carries the text "one more"
    And turn 1 ends as max-tokens

  @rule:turns.entering-messages-may-be-rewritten
  Scenario: A listener before the step lets nothing in
    Given a listener "gate" of agent/pre-step that
      """
      returns: {kind: enter, messages: []}
      """
    When the user says "a secret word"
    Then "a secret word" is nowhere in the log

  @rule:turns.what-waits-keeps-its-order
  @case:steered
  Scenario: Three things are steered while a call runs
    Given a native tool "look"
    And the body of "look" does
      """
      acts: [{do: say, how: steer, text: first}, {do: say, how: steer, text: second}, {do: say, how: steer, text: third}]
      """
    When the model calls "look"
    Then the model is asked 2 times
    And the durable log holds, in this order
      | type         | data                                    |
      | step/start   | {turn: 1, step: 2}                      |
      | user/message | {content: [{type: text, text: first}]}  |
      | user/message | {content: [{type: text, text: second}]} |
      | user/message | {content: [{type: text, text: third}]}  |
      | step/end     | {turn: 1, step: 2}                      |

  @rule:turns.what-waits-keeps-its-order
  @case:queued
  Scenario: Two prompts are queued while a call runs
    Given a native tool "look"
    And the body of "look" does
      """
      acts: [{do: say, how: follow_up, text: first}, {do: say, how: follow_up, text: second}]
      """
    When the model calls "look"
    Then the durable log holds, in this order
      | type         | data                                    |
      | turn/end     | {turn: 1}                               |
      | turn/start   | {turn: 2}                               |
      | user/message | {content: [{type: text, text: first}]}  |
      | turn/end     | {turn: 2}                               |
      | turn/start   | {turn: 3}                               |
      | user/message | {content: [{type: text, text: second}]} |
      | turn/end     | {turn: 3}                               |

  @rule:turns.what-waits-keeps-its-order
  @case:said-twice
  Scenario: One thing is steered twice while a call runs
    Given a native tool "look"
    And the body of "look" does
      """
      acts: [{do: say, how: steer, text: hurry}, {do: say, how: steer, text: hurry}]
      """
    When the model calls "look"
    Then the durable log holds, in this order
      | type         | data                                    |
      | step/start   | {turn: 1, step: 2}                      |
      | user/message | {content: [{type: text, text: hurry}]}  |
      | user/message | {content: [{type: text, text: hurry}]}  |
      | step/end     | {turn: 1, step: 2}                      |

  @rule:turns.steering-keeps-the-turn-going
  Scenario: Something is steered before the model gives its last answer
    Given a listener "gate" of agent/pre-step that
      """
      when: {nth: 1}
      acts: [{do: host, call: agent.steer, args: [one more], scope: main}]
      """
    When the user says "go"
    Then the model is asked 2 times
    And request 2 carries the text "one more"
    And the durable log holds, in this order
      | type       | data                                  |
      | step/start | {turn: 1, step: 2}                    |
      | turn/end   | {turn: 1, reason: {kind: completed}}  |

  @rule:turns.what-is-injected-wakes-nobody
  Scenario: Something is injected while the agent rests
    Given an agent "main"
    When the host is called
      | call         | arguments | in   |
      | agent.inject | aside     | main |
    And the user says "go"
    Then turn 1 ends as completed
    And request 1 carries the text "aside"
    And request 1 carries the text "go"
    And the model is asked 1 times

  @rule:turns.a-turn-has-as-many-steps-as-it-needs
  Scenario: The model calls in thirty messages for one prompt
    Given a native tool "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    And the model first calls "look"
    When the model calls "look"
    Then the model is asked 31 times
    And call "30" succeeds with "look ok"
    And turn 1 ends as completed

  @rule:turns.calls-and-results-name-their-step
  Scenario: A call in each of two steps
    Given a native tool "look"
    And the model first calls "look"
    When the model calls "look"
    Then the durable log holds, in this order
      | type        | data                                    |
      | tool/call   | {turn: 1, step: 1, callId: "1"}         |
      | tool/result | {turn: 1, step: 1}                      |
      | tool/call   | {turn: 1, step: 2, callId: "2"}         |
      | tool/result | {turn: 1, step: 2}                      |
