Feature: results
  What becomes of a body's answer.

  @rule:results.what-a-body-throws-is-the-text
  Scenario Outline: A body throws
    Given a native tool "look"
    And the body of "look" does
      """
      throws: <thrown>
      """
    When the model calls "look"
    Then the log keeps {"isError": true, "content": [{"type": "text", "text": "Error: <text>"}]} as the result of call "1"

    Examples:
      | thrown                                  | text      |
      | {$: error, name: Error, message: boom}  | boom      |
      | {$: error, name: Error, message: ""}    |           |
      | s                                       | s         |
      | {message: m}                            | m         |
      | {$: "undefined"}                        | undefined |
      | 3                                       | 3         |

  @rule:results.only-the-harness-own-errors-have-a-code
  Scenario: An error of the system
    Given a native tool "look"
    And the body of "look" does
      """
      throws: {$: error, name: Error, message: no such file, code: ENOENT}
      """
    When the model calls "look"
    Then call "1" fails and says "no such file"
    And the result of call "1" has no error code

  @rule:results.output-must-be-lossless-json
  Scenario Outline: A value that JSON cannot carry back
    Given a native tool "look"
    And the body of "look" does
      """
      content: <value>
      """
    When the model calls "look"
    Then the log keeps {"isError": true, "code": "INVALID_TOOL_OUTPUT"} as the result of call "1"
    And call "1" fails and says "returned invalid output: value is not lossless JSON"

    Examples:
      | value                  |
      | {$: "undefined"}       |
      | {a: {$: "undefined"}}  |
      | {$: "-0"}              |
      | {$: "NaN"}             |
      | {$: bigint, digits: "1"} |

  @rule:results.the-shape-of-content-is-not-checked
  Scenario Outline: Content of an odd shape
    Given a native tool "look"
    And the body of "look" does
      """
      content: <content>
      """
    When the model calls "look"
    Then the log keeps {"isError": false, "content": <content>} as the result of call "1"
    And request 2 shows the result of call "1" as the log keeps it

    Examples:
      | content                                                     |
      | "text"                                                      |
      | [{"type": "image", "data": "AAAA", "mimeType": "image/png"}] |
      | [{"type": "strange", "more": 1}]                            |

  @rule:results.post-execute-may-replace-the-content
  Scenario Outline: A success is given other content
    Given a native tool "look"
    And a listener "review" of tools/post-execute that
      """
      returns: {kind: accept, content: <content>}
      """
    When the model calls "look"
    Then the log keeps {"isError": false, "content": <content>} as the result of call "1"

    Examples:
      | content                                 |
      | [{"type": "text", "text": "patched"}]   |
      | []                                      |

  @rule:results.contexts-of-a-decision-reach-the-next-request
  Scenario Outline: A listener has a word to add
    Given a native tool "look"
    And a listener "review" of tools/post-execute that
      """
      returns:
        kind: <kind>
        feedback: [{type: text, text: not so}]
        additionalContexts:
          - {id: aside, role: user, source: {kind: plugin, plugin: review}, content: [{type: text, text: a word to add}]}
      """
    When the model calls "look"
    Then request 2 carries the text "a word to add"

    Examples:
      | kind   |
      | accept |
      | block  |

  @rule:results.a-failure-stays-a-failure
  Scenario Outline: A failure is decided on
    Given a native tool "look"
    And the body of "look" does
      """
      throws: {$: error, name: Error, message: boom}
      """
    And a listener "review" of tools/post-execute that
      """
      returns: <decision>
      """
    When the model calls "look"
    Then call "1" fails and says "<text>"

    Examples:
      | decision                                                | text   |
      | {kind: accept, content: [{type: text, text: softer}]}   | softer |
      | {kind: block, feedback: [{type: text, text: harder}]}   | harder |
      | {kind: accept, value: [{type: text, text: never}]}      | value  |

  @rule:results.a-block-is-the-feedback-exactly
  Scenario Outline: A success is blocked
    Given a native tool "look"
    And a listener "review" of tools/post-execute that
      """
      returns: {kind: block, feedback: <feedback>}
      """
    When the model calls "look"
    Then the log keeps {"isError": true, "content": <feedback>} as the result of call "1"
    And the result of call "1" has no error code

    Examples:
      | feedback                               |
      | [{"type": "text", "text": "not so"}]   |
      | []                                     |

  @rule:results.an-unknown-kind-after-the-body-is-an-accept
  Scenario: A decision of no known kind
    Given a native tool "look"
    And a listener "review" of tools/post-execute that
      """
      returns: {kind: whatever}
      """
    When the model calls "look"
    Then call "1" succeeds with "look ok"

  @rule:results.an-unknown-kind-after-the-body-is-an-accept
  @case:nothing
  Scenario: No decision
    Given a native tool "look"
    And a listener "review" of tools/post-execute that
      """
      returns: {$: "undefined"}
      """
    When the model calls "look"
    Then call "1" fails with a text

  @rule:results.content-and-value-cannot-both-be-replaced
  Scenario: Both are replaced
    Given a native tool "look"
    And a listener "review" of tools/post-execute that
      """
      returns: {kind: accept, content: [], value: []}
      """
    When the model calls "look"
    Then call "1" fails and says "tools/post-execute accept decision cannot replace both value and content"
