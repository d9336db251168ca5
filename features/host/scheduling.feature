Feature: scheduling
  Which calls of a message run at the same time.

  @rule:scheduling.calls-run-one-after-another-by-default
  Scenario: Two calls without a mark
    Given a native tool "look"
    When the model calls in one message
      | tool |
      | look |
      | look |
    Then this order holds
      """
      the durable call "1"
      the body of call "1"
      the durable result of call "1"
      the durable call "2"
      the body of call "2"
      """

  @rule:scheduling.marked-bodies-overlap
  Scenario: The first of two marked calls waits for the second
    Given a native tool "look" with
      """
      parallel: true
      """
    And the body of "look" does
      """
      when: {call: "1"}
      acts: [{do: hold, kinds: [native.exit]}]
      """
    When the model calls in one message
      | tool |
      | look |
      | look |
    Then this order holds
      """
      the body of call "1"
      the durable call "2"
      the end of the body of call "2"
      the end of the body of call "1"
      the durable result of call "1"
      """

  @rule:scheduling.only-bodies-overlap
  @case:before-the-body
  Scenario: The listener of the first call is slow
    Given a native tool "look" with
      """
      parallel: true
      """
    And a listener "policy" of tools/pre-execute that
      """
      when: {call: "1"}
      acts: [{do: hold, kinds: [host.event, native.enter]}]
      """
    When the model calls in one message
      | tool |
      | look |
      | look |
    Then this order holds
      """
      listener "policy" of call "1"
      the body of call "1"
      listener "policy" of call "2"
      the body of call "2"
      """

  @rule:scheduling.only-bodies-overlap
  @case:after-the-body
  Scenario: Three bodies end in the reverse order
    Given a native tool "look" with
      """
      parallel: true
      """
    And the body of "look" does
      """
      when: {call: "1"}
      acts: [{do: hold, kinds: [native.exit]}, {do: hold, kinds: [native.exit]}]
      """
    And the body of "look" does
      """
      when: {call: "2"}
      acts: [{do: hold, kinds: [native.exit]}]
      """
    And a listener "review" of tools/post-execute
    When the model calls in one message
      | tool |
      | look |
      | look |
      | look |
    Then this order holds
      """
      the end of the body of call "3"
      the end of the body of call "2"
      listener "review" of call "1"
      the durable result of call "1"
      listener "review" of call "2"
      the durable result of call "2"
      listener "review" of call "3"
      the durable result of call "3"
      """

  @rule:scheduling.an-exclusive-call-is-a-barrier
  Scenario: Marked, exclusive, marked
    Given a native tool "look" with
      """
      parallel: true
      """
    And a native tool "write"
    When the model calls in one message
      | tool  |
      | look  |
      | write |
      | look  |
    Then this order holds
      """
      the durable result of call "1"
      the durable call "2"
      the durable result of call "2"
      the durable call "3"
      """

  @rule:scheduling.at-most-ten-run-at-once
  Scenario: Eleven marked calls
    Given a native tool "look" with
      """
      parallel: true
      """
    And the body of "look" does
      """
      acts: [{do: hold, kinds: [native.exit]}, {do: hold, kinds: [native.exit]}]
      """
    And the body of "look" does
      """
      when: {call: "1"}
      acts: [{do: hold, kinds: [turn.end]}]
      """
    When the model calls in one message
      | tool |
      | look |
      | look |
      | look |
      | look |
      | look |
      | look |
      | look |
      | look |
      | look |
      | look |
      | look |
    Then this order holds
      """
      the body of call "1"
      the body of call "10"
      the end of the body of call "1"
      the body of call "11"
      """

  @rule:scheduling.at-most-ten-run-at-once @case:a-place-is-free
  Scenario: The eleventh marked call runs beside the tenth
    Given a native tool "look" with
      """
      parallel: true
      """
    And the body of "look" does
      """
      when: {call: "10"}
      acts: [{do: hold, kinds: [native.enter]}]
      """
    When the model calls in one message
      | tool |
      | look |
      | look |
      | look |
      | look |
      | look |
      | look |
      | look |
      | look |
      | look |
      | look |
      | look |
    Then this order holds
      """
      the body of call "10"
      the body of call "11"
      the end of the body of call "10"
      """

  @rule:scheduling.agents-do-not-wait-for-each-other
  Scenario: Two agents call an unmarked tool
    Given an agent "main"
    And an agent "other"
    And a native tool "look"
    And the body of "look" does
      """
      when: {agent: main}
      acts: [{do: hold, kinds: [native.exit]}]
      """
    And the model of agent "main" first calls in one message
      | id    | tool |
      | slow  | look |
    And the model of agent "other" first calls in one message
      | id    | tool |
      | quick | look |
    When the user says "go" to ["main", "other"]
    Then this order holds
      """
      the body of call "slow"
      the end of the body of call "quick"
      the end of the body of call "slow"
      """

  @rule:scheduling.agents-do-not-wait-for-each-other @case:before-the-body
  Scenario: The listener of one agent's call is slow
    Given an agent "main"
    And an agent "other"
    And a native tool "look"
    And a listener "policy" of tools/pre-execute that
      """
      when: {call: slow}
      acts: [{do: hold, kinds: [native.exit]}]
      """
    And the model of agent "main" first calls in one message
      | id    | tool |
      | slow  | look |
    And the model of agent "other" first calls in one message
      | id    | tool |
      | quick | look |
    When the user says "go" to ["main", "other"]
    Then this order holds
      """
      listener "policy" of call "slow"
      the end of the body of call "quick"
      the body of call "slow"
      """

  @rule:scheduling.a-failed-sibling-stops-nobody
  Scenario: Three calls go wrong before the fourth
    Given a native tool "bad"
    And a native tool "shut"
    And a native tool "look"
    And the body of "bad" does
      """
      throws: {$: error, name: Error, message: bad}
      """
    And the host denies "shut" with the reason "shut"
    When the model calls in one message
      | tool  |
      | bad   |
      | shut  |
      | ghost |
      | look  |
    Then call "1" fails and says "bad"
    And call "2" fails and says "shut"
    And call "3" fails and says "unknown tool"
    And call "4" succeeds with "look ok"
    And turn 1 ends as completed

  @rule:scheduling.equal-ids-both-run
  Scenario: Two calls of one id
    Given a native tool "look"
    When the model calls in one message
      | id   | tool |
      | same | look |
      | same | look |
    Then the tool "look" runs 2 times
    And the durable log holds, in this order
      | type        | data             |
      | tool/call   | {callId: same}   |
      | tool/result | {turn: 1}        |
      | tool/call   | {callId: same}   |
      | tool/result | {turn: 1}        |
