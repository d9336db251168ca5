Feature: waterfalls
  Who is asked, in which order, and whose answer counts.

  @rule:waterfalls.listeners-run-in-order-of-registration
  Scenario: Four listeners of one event
    Given a native tool "look"
    And a listener "first" of tools/pre-execute
    And a listener "second" of tools/pre-execute
    And a listener "front" of tools/pre-execute that
      """
      prepend: true
      """
    And a listener "own" of tools/pre-execute that
      """
      in: main
      """
    When the model calls "look"
    Then this order holds
      """
      listener "front" of call "1"
      listener "first" of call "1"
      listener "second" of call "1"
      listener "own" of call "1"
      the body of call "1"
      """

  @rule:waterfalls.listeners-run-in-order-of-registration @case:two-in-front
  Scenario Outline: Two listeners that want to be the first
    Given a native tool "look"
    And a listener "first" of <event>
    And a listener "front" of <event> that
      """
      prepend: true
      """
    And a listener "before all" of <event> that
      """
      prepend: true
      """
    When the model calls "look"
    Then this order holds
      """
      listener "before all" of call "1"
      listener "front" of call "1"
      listener "first" of call "1"
      """

    Examples:
      | event              |
      | tools/pre-execute  |
      | tools/post-execute |
      | tools/result       |

  @rule:waterfalls.a-listener-that-does-not-ask-hides-the-call
  Scenario: The first of two listeners decides alone
    Given a native tool "look"
    And a listener "first" of tools/pre-execute that
      """
      returns: {kind: allow}
      """
    And a listener "second" of tools/pre-execute
    When the model calls "look"
    Then call "1" succeeds with "look ok"
    And listener "second" is called 0 times

  @rule:waterfalls.next-again-does-not-ask-the-others-again
  Scenario Outline: A listener asks the rest three times
    Given a native tool "look"
    And a listener "eager" of <event> that
      """
      acts: [{do: next}, {do: next}, {do: next}]
      """
    And a listener "inner" of <event>
    When the model calls "look"
    Then listener "inner" is called 1 times
    And the tool "look" runs <runs> times

    Examples:
      | event             | runs |
      | tools/pre-execute | 1    |
      | tools/execute     | 3    |

  @rule:waterfalls.a-scopes-listener-hears-its-scope-only
  Scenario: Two agents call
    Given a native tool "look"
    And an agent "main"
    And an agent "other"
    And a listener "all" of tools/pre-execute
    And a listener "own" of tools/pre-execute that
      """
      in: other
      """
    When the model of agent "main" calls "look"
    And the model of agent "other" calls "look"
    Then listener "all" is called 2 times
    And listener "own" is told [{"exec": {"callId": "2"}}]

  @rule:waterfalls.an-ancestor-hears-its-descendants
  Scenario: A chain of two scopes
    Given a native tool "look"
    And a listener "above" of tools/pre-execute that
      """
      in: parent
      """
    And a listener "below" of tools/pre-execute that
      """
      in: child
      """
    And the host is called
      | call                | arguments             | in     | as     |
      | scopes.create       | parent                |        | parent |
      | scopes.create       | child                 | parent | child  |
    When the host is called
      | call          | arguments                              | in     |
      | tools.execute | {callId: "1", name: look, arguments: {}} | child  |
      | tools.execute | {callId: "2", name: look, arguments: {}} | parent |
    Then listener "above" is told [{"exec": {"callId": "1"}}, {"exec": {"callId": "2"}}]
    And listener "below" is told [{"exec": {"callId": "1"}}]

  @rule:waterfalls.post-execute-listeners-see-the-original-result
  Scenario: Two listeners replace the text
    Given a native tool "look"
    And a listener "outer" of tools/post-execute that
      """
      acts: [{do: next}]
      returns: {kind: accept, content: [{type: text, text: from the outer one}]}
      """
    And a listener "inner" of tools/post-execute that
      """
      returns: {kind: accept, content: [{type: text, text: from the inner one}]}
      """
    When the model calls "look"
    Then listener "outer" is told [{"result": {"content": [{"type": "text", "text": "look ok"}]}}]
    And listener "inner" is told [{"result": {"content": [{"type": "text", "text": "look ok"}]}}]
    And call "1" succeeds with "from the outer one"

  @rule:waterfalls.a-disposed-listener-is-not-asked
  Scenario: A listener is taken back twice
    Given a native tool "look"
    And a listener "policy" of tools/pre-execute that
      """
      returns: {kind: deny, reason: not now}
      """
    When the host is called
      | call    | arguments |
      | dispose | policy    |
      | dispose | policy    |
    And the model calls "look"
    Then call "1" succeeds with "look ok"

  @rule:waterfalls.nobody-waits-for-a-result-listener
  @case:before-the-log
  Scenario: The emit and the log
    Given a native tool "look"
    And the host's pipeline is watched
    When the model calls "look"
    Then this order holds
      """
      listener "watch emit" of call "1"
      the durable result of call "1"
      """

  @rule:waterfalls.nobody-waits-for-a-result-listener
  @case:not-awaited
  Scenario: A listener of the emit works until the turn is over
    Given a native tool "look"
    And a listener "slow" of tools/result that
      """
      acts: [{do: hold, kinds: [turn.end]}, {do: say, how: steer, text: too late for turn one}]
      """
    When the model calls "look"
    Then turn 1 ends as completed
    And turn 2 ends as completed

  @rule:waterfalls.post-execute-is-waited-for
  Scenario: A listener after the body works until nothing else happens
    Given a native tool "look"
    And a listener "slow" of tools/post-execute that
      """
      acts: [{do: hold, kinds: [log.result, turn.end]}, {do: say, how: steer, text: in time}]
      """
    When the model calls "look"
    Then request 2 carries the text "in time"
    And turn 1 ends as completed
