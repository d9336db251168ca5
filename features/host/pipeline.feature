Feature: pipeline
  The stages a call passes: call and result are the durable log, emit is tools/result.

  @rule:pipeline.the-stages-of-a-call-that-succeeds
  Scenario: A call that succeeds
    Given a native tool "look"
    And the host's pipeline is watched
    When the model calls "look"
    Then call "1" passes the stages "call pre guard exec body post emit result"

  @rule:pipeline.a-denial-leaves-out-wrappers-and-body
  @case:listener
  Scenario: A listener denies
    Given a native tool "look"
    And the host's pipeline is watched
    And a listener "policy" of tools/pre-execute that
      """
      returns: {kind: deny, reason: not now}
      """
    When the model calls "look"
    Then call "1" passes the stages "call pre post emit result"

  @rule:pipeline.a-denial-leaves-out-wrappers-and-body
  @case:earlier-listener
  Scenario: An earlier listener denies without asking the rest
    Given a native tool "look"
    And a listener "policy" of tools/pre-execute that
      """
      returns: {kind: deny, reason: not now}
      """
    And the host's pipeline is watched
    When the model calls "look"
    Then call "1" passes the stages "call post emit result"

  @rule:pipeline.a-denial-leaves-out-wrappers-and-body
  @case:guard
  Scenario: A guard denies
    Given a native tool "look"
    And the host's pipeline is watched
    And the host guards "look" with the reason "no"
    When the model calls "look"
    Then call "1" passes the stages "call pre guard post emit result"

  @rule:pipeline.a-throw-around-the-body-leaves-out-post-execute
  @case:listener
  Scenario Outline: A listener throws
    Given a native tool "look"
    And the host's pipeline is watched
    And a listener "broken" of <event> that
      """
      throws: {$: error, name: Error, message: boom}
      """
    When the model calls "look"
    Then call "1" passes the stages "<stages>"
    And the log keeps {"isError": true, "content": [{"type": "text", "text": "Error: boom"}]} as the result of call "1"

    Examples:
      | event             | stages                          |
      | tools/pre-execute | call pre emit result            |
      | tools/execute     | call pre guard exec emit result |

  @rule:pipeline.a-throw-around-the-body-leaves-out-post-execute
  @case:guard
  Scenario: A guard throws
    Given a native tool "look"
    And the host's pipeline is watched
    And the host's guard of "look" throws "boom"
    When the model calls "look"
    Then call "1" passes the stages "call pre guard emit result"
    And the log keeps {"isError": true, "content": [{"type": "text", "text": "Error: boom"}]} as the result of call "1"

  @rule:pipeline.a-wrapper-may-answer-for-the-body
  Scenario: A wrapper answers from its cache
    Given a native tool "look"
    And the host's pipeline is watched
    And a listener "cache" of tools/execute that
      """
      returns: {isError: false, value: [{type: text, text: cached}]}
      """
    When the model calls "look"
    Then call "1" passes the stages "call pre guard exec post emit result"
    And call "1" succeeds with "cached"

  @rule:pipeline.a-failed-body-passes-every-stage
  Scenario Outline: A body fails
    Given a native tool "look"
    And the host's pipeline is watched
    And the body of "look" does
      """
      <answer>
      """
    When the model calls "look"
    Then call "1" fails
    And call "1" passes the stages "call pre guard exec body post emit result"

    Examples:
      | answer                                         |
      | throws: {$: error, name: Error, message: boom} |
      | content: {$: "undefined"}                      |

  @rule:pipeline.an-unknown-tool-passes-every-stage-but-the-body
  Scenario: A tool that is not there
    Given the host's pipeline is watched
    When the model calls "ghost"
    Then call "1" passes the stages "call pre guard exec post emit result"
    And the log keeps {"isError": true, "code": "UNKNOWN_TOOL", "content": [{"type": "text", "text": "Error: unknown tool \"ghost\""}]} as the result of call "1"
    And the model is asked 2 times

  @rule:pipeline.arguments-that-are-not-lossless-meet-no-policy
  Scenario Outline: Numbers that JSON cannot carry back
    Given a native tool "look"
    And the host's pipeline is watched
    When the model calls "look" with the argument text
      """
      <text>
      """
    Then call "1" passes the stages "call emit result"
    And the log keeps {"isError": true, "content": [{"type": "text", "text": "Error: tool execution arguments must be losslessly JSON-serializable"}]} as the result of call "1"

    Examples:
      | text               |
      | {"n": -0}          |
      | {"a": [{"b": -0.0}]} |
      | {"n": -1e-999}     |
      | {"n": 1e999}       |

  @rule:pipeline.post-execute-may-refuse-a-success
  Scenario Outline: A listener after the body refuses
    Given a native tool "look"
    And the host's pipeline is watched
    And a listener "review" of tools/post-execute that
      """
      <reply>
      """
    When the model calls "look"
    Then call "1" passes the stages "call pre guard exec body post emit result"
    And the log keeps {"isError": true, "content": [{"type": "text", "text": "<text>"}]} as the result of call "1"

    Examples:
      | reply                                                         | text        |
      | returns: {kind: block, feedback: [{type: text, text: not so}]} | not so      |
      | throws: {$: error, name: Error, message: boom}                | Error: boom |

  @rule:pipeline.a-direct-execution-is-not-logged
  Scenario: Somebody executes a tool beside the loop
    Given a native tool "look"
    And the host's pipeline is watched
    When the host is called
      | call          | arguments                                     | in   |
      | tools.execute | {callId: aside, name: look, arguments: {}}    | main |
    Then call "aside" passes the stages "pre guard exec body post emit"
