Feature: tool_result
  Packages patch the result of a call that ran, one after another, before anybody reads it.

  Background:
    Given a package "notes" with the tool "read_note"
    And the tool "read_note" answers "KEY=abc123"

  # --- what a handler gets ---

  @rule:tool_result.payload
  Scenario: What a handler gets
    Given a package "scales" with the tool "weigh" and
      """
      parameters: {type: object, properties: {grams: {type: number}}, required: [grams]}
      """
    And the tool "weigh" does
      """
      returns: {content: [{type: text, text: heavy}], details: {unit: kg}}
      """
    And package "watcher" listens to tool_result
    When the model calls "weigh" with {"grams": "7"}
    Then package "watcher" sees tool_result of call "1" with {"type": "tool_result", "toolName": "weigh", "toolCallId": "1", "input": {"grams": 7}, "content": [{"type": "text", "text": "heavy"}], "details": {"unit": "kg"}, "isError": false}

  @rule:tool_result.payload @case:details-of-any-kind
  Scenario Outline: A handler gets the details <details> as they are
    Given the tool "read_note" does
      """
      returns: {content: [{type: text, text: read}], details: <details>}
      """
    And package "watcher" listens to tool_result
    When the model calls "read_note"
    Then package "watcher" sees tool_result of call "1" with {"details": <details>}

    Examples:
      | details                                                    |
      | 0                                                          |
      | false                                                      |
      | ""                                                         |
      | null                                                       |
      | []                                                         |
      | "42 pages"                                                 |
      | {"page": null, "pages": [null, 0, "", false], "": 1}       |
      | {"a": {"b": {"c": {"d": {"e": {"f": {"g": [[[1]]]}}}}}}}   |
      | {"type": "image", "data": "AAAA", "content": [], "$ref": 1} |
      | {"_meta": {"_page": 1}, "$ref": "#/a", "": 0, "a.b": [], "toString": "t", "constructor": {}, "Type": "x", "type": "y", "7": 7} |

  @rule:tool_result.payload @case:details-left-out
  Scenario: A result without details has not those of an update
    Given a package "scales" with the tool "weigh"
    And the tool "weigh" does
      """
      acts: [{do: update, update: {content: [{type: text, text: on the scale}], details: {progress: the needle moves}}}]
      returns: {content: [{type: text, text: heavy}]}
      """
    And package "watcher" listens to tool_result
    When the model calls "weigh"
    Then package "watcher" sees tool_result of call "1" with {"content": [{"type": "text", "text": "heavy"}], "isError": false}
    And "the needle moves" is nowhere in the log

  @rule:tool_result.payload @case:at-the-same-time
  Scenario: What a handler gets of two calls of a tool that run at the same time
    Given a package "library" with the tool "fetch_note" and
      """
      executionMode: parallel
      """
    And the tool "fetch_note" does
      """
      returns: {content: [{type: text, text: first}], details: {page: 1}}
      """
    And the tool "fetch_note" does
      """
      when: {call: "2"}
      returns: {content: [{type: text, text: second}], details: {page: 2}}
      """
    And package "watcher" listens to tool_result
    When the model calls in one message
      | tool       |
      | fetch_note |
      | fetch_note |
    Then package "watcher" sees tool_result of call "1" with {"content": [{"type": "text", "text": "first"}], "details": {"page": 1}}
    And package "watcher" sees tool_result of call "2" with {"content": [{"type": "text", "text": "second"}], "details": {"page": 2}}

  @rule:tool_result.payload @case:each-calls-own
  Scenario: What a handler gets of two calls
    Given the tool "read_note" does
      """
      returns: {content: [{type: text, text: read}], details: {page: 1}}
      """
    And the tool "read_note" does
      """
      when: {call: "2"}
      returns: {content: [{type: text, text: read on}], details: {page: 2}}
      """
    And package "watcher" listens to tool_result
    And the model first calls "read_note"
    When the model calls "read_note"
    Then package "watcher" sees tool_result of call "1" with {"details": {"page": 1}}
    And package "watcher" sees tool_result of call "2" with {"details": {"page": 2}}

  @rule:tool_result.input-is-what-the-tool-ran-with
  Scenario: Arguments that a package changed before
    Given package "notes" changes the argument "page" of "read_note" to 2
    And package "watcher" listens to tool_result
    When the model calls "read_note" with {"page": 1}
    Then the tool "read_note" runs with {"page": 2}
    And package "watcher" sees tool_result of call "1" with {"input": {"page": 2}}

  @rule:tool_result.input-is-what-the-tool-ran-with @case:long
  Scenario: Arguments with a text of two hundred thousand characters, of which a package changed another
    Given package "notes" changes the argument "page" of "read_note" to 2
    And package "watcher" listens to tool_result
    When the model calls "read_note" with {"page": 1, "label": {"$": "repeat", "text": "a long one", "times": 20000}}
    Then package "watcher" sees tool_result of call "1" with {"input": {"page": 2, "label": {"$": "repeat", "text": "a long one", "times": 20000}}}

  @rule:tool_result.input-of-a-change-that-did-not-count
  Scenario: A native tool that the host lets run all the same
    Given a native tool "disk_reader"
    And package "notes" changes the argument "page" of "disk_reader" to 2
    And the host allows "disk_reader" with the reason "office hours"
    And package "watcher" listens to tool_result
    When the model calls "disk_reader" with {"page": 1}
    Then the tool "disk_reader" runs with {"page": 1}
    And package "watcher" sees tool_result of call "1" with {"input": {"page": 1}}

  @rule:tool_result.input-has-what-the-tool-changed
  Scenario: Arguments that the tool changed
    Given the tool "read_note" does
      """
      ops: [{op: set, path: [page], value: 2}]
      returns: {content: [{type: text, text: read}], details: {}}
      """
    And package "watcher" listens to tool_result
    When the model calls "read_note" with {"page": 1}
    Then package "watcher" sees tool_result of call "1" with {"input": {"page": 2}}

  @rule:tool_result.fires-for-failed-tools
  Scenario: A tool that throws
    Given the tool "read_note" throws "the shelf is empty"
    And package "watcher" listens to tool_result
    When the model calls "read_note"
    Then package "watcher" sees tool_result of call "1" with {"isError": true}
    And package "watcher" sees tool_result of call "1" with a text that contains "the shelf is empty"

  @rule:tool_result.fires-for-tools-that-are-gone
  Scenario: A tool that switches itself off
    Given package "editor" listens to every tool event
    And the tool "read_note" does
      """
      acts: [{do: pi, call: setActiveTools, args: [[]]}]
      returns: {content: [{type: text, text: the last page}], details: {}}
      """
    When the model calls "read_note"
    Then package "editor" sees tool_result of call "1" with {"toolName": "read_note", "isError": false}
    And package "editor" sees tool_execution_end of call "1" with {"isError": false}
    And call "1" succeeds with "the last page"

  @rule:tool_result.fires-for-results-without-content
  Scenario Outline: A result that says nothing is given a text
    Given the tool "read_note" does
      """
      returns: {content: <content>, details: {}}
      """
    And package "editor" replaces the text of results by "(nothing)"
    When the model calls "read_note"
    Then package "editor" sees tool_result of call "1" with {"content": <seen>, "isError": false}
    And call "1" succeeds with "(nothing)"

    Examples:
      | content                   | seen                             |
      | []                        | []                               |
      | [{type: text, text: ""}]  | [{"type": "text", "text": ""}]   |

  @rule:tool_result.text-is-replaced @case:long
  Scenario: A long text by a handler
    Given package "editor" answers tool_result with
      """
      returns: {content: [{type: text, text: {$: repeat, text: "a long one, ", times: 20000, tail: with an end}}]}
      """
    When the model calls "read_note"
    Then the log keeps {"content": [{"type": "text", "text": {"$": "repeat", "text": "a long one, ", "times": 20000, "tail": "with an end"}}]} as the result of call "1"

  @rule:tool_result.not-for-calls-that-never-ran @case:blocked
  Scenario: A blocked call
    Given package "guard" blocks "read_note" with the reason "closed"
    And package "watcher" listens to tool_result
    When the model calls "read_note"
    Then package "watcher" never sees tool_result

  @rule:tool_result.not-for-calls-that-never-ran @case:invalid
  Scenario: A call whose arguments do not pass
    Given a package "scales" with the tool "weigh" and
      """
      parameters: {type: object, properties: {grams: {type: number}}, required: [grams]}
      """
    And package "watcher" listens to tool_result
    When the model calls "weigh" with {"grams": "a lot"}
    Then package "watcher" never sees tool_result

  @rule:tool_result.not-for-unknown-names
  Scenario: A name no tool has
    Given package "watcher" listens to tool_result
    When the model calls "no_such_tool_anywhere"
    Then package "watcher" never sees tool_result

  @rule:tool_result.not-for-refused-calls @case:denied
  Scenario: A call the host denied
    Given package "watcher" listens to tool_result
    And the host denies "read_note" with the reason "the host says no"
    When the model calls "read_note"
    Then package "watcher" never sees tool_result

  @rule:tool_result.not-for-refused-calls @case:refused
  Scenario: A native call refused for its changed arguments
    Given a native tool "disk_cleaner"
    And package "rewriter" changes the argument "path" of "disk_cleaner" to "/tmp"
    And package "watcher" listens to tool_result
    When the model calls "disk_cleaner" with {"path": "/home"}
    Then package "watcher" never sees tool_result

  # --- what a patch does ---

  @rule:tool_result.text-is-replaced
  Scenario: A replaced text
    Given package "redactor" replaces the text of results by "KEY=[R]"
    When the model calls "read_note"
    Then call "1" succeeds with "KEY=[R]"
    And request 2 carries the text "KEY=[R]"
    And "abc123" is nowhere in the log

  @rule:tool_result.text-is-replaced @case:by-less
  Scenario Outline: A result of two texts becomes one of one
    Given the tool "read_note" does
      """
      returns: {content: [{type: text, text: first line}, {type: text, text: second line}]}
      """
    And package "redactor" answers tool_result with
      """
      returns: {content: [{type: text, text: "<text>"}]}
      """
    When the model calls "read_note"
    Then call "1" succeeds with "<text>"
    And "second line" is nowhere in the log

    Examples:
      | text    |
      | one for |
      |         |

  @rule:tool_result.text-is-replaced @case:without-waiting
  Scenario: A text that a handler replaces without ever waiting
    Given package "redactor" answers tool_result with
      """
      sync: true
      returns: {content: [{type: text, text: "KEY=[R]"}]}
      """
    When the model calls "read_note"
    Then call "1" succeeds with "KEY=[R]"

  @rule:tool_result.text-is-replaced @case:after-a-while
  Scenario: A text that a handler replaces after a while
    Given package "redactor" answers tool_result with
      """
      acts: [{do: hold, kinds: [log.result]}]
      returns: {content: [{type: text, text: "KEY=[R]"}]}
      """
    When the model calls "read_note"
    Then call "1" succeeds with "KEY=[R]"

  @rule:tool_result.text-is-replaced @case:after-more-than-a-second
  Scenario: A text that a handler needs more than a second for
    Given package "redactor" answers tool_result with
      """
      delayMs: 1200
      returns: {content: [{type: text, text: "KEY=[R]"}]}
      """
    When the model calls "read_note"
    Then call "1" succeeds with "KEY=[R]"

  @rule:tool_result.text-is-replaced @case:many-blocks
  Scenario: A text becomes twenty-four
    Given package "editor" answers tool_result with
      """
      returns: {content: [{type: text, text: line 1}, {type: text, text: line 2}, {type: text, text: line 3}, {type: text, text: line 4}, {type: text, text: line 5}, {type: text, text: line 6}, {type: text, text: line 7}, {type: text, text: line 8}, {type: text, text: line 9}, {type: text, text: line 10}, {type: text, text: line 11}, {type: text, text: line 12}, {type: text, text: line 13}, {type: text, text: line 14}, {type: text, text: line 15}, {type: text, text: line 16}, {type: text, text: line 17}, {type: text, text: line 18}, {type: text, text: line 19}, {type: text, text: line 20}, {type: text, text: line 21}, {type: text, text: line 22}, {type: text, text: line 23}, {type: text, text: line 24}]}
      """
    When the model calls "read_note"
    Then the log keeps {"content": [{"type": "text", "text": "line 1"}, {"type": "text", "text": "line 2"}, {"type": "text", "text": "line 3"}, {"type": "text", "text": "line 4"}, {"type": "text", "text": "line 5"}, {"type": "text", "text": "line 6"}, {"type": "text", "text": "line 7"}, {"type": "text", "text": "line 8"}, {"type": "text", "text": "line 9"}, {"type": "text", "text": "line 10"}, {"type": "text", "text": "line 11"}, {"type": "text", "text": "line 12"}, {"type": "text", "text": "line 13"}, {"type": "text", "text": "line 14"}, {"type": "text", "text": "line 15"}, {"type": "text", "text": "line 16"}, {"type": "text", "text": "line 17"}, {"type": "text", "text": "line 18"}, {"type": "text", "text": "line 19"}, {"type": "text", "text": "line 20"}, {"type": "text", "text": "line 21"}, {"type": "text", "text": "line 22"}, {"type": "text", "text": "line 23"}, {"type": "text", "text": "line 24"}]} as the result of call "1"

  @rule:tool_result.text-is-replaced @case:to-the-letter
  Scenario Outline: A text of odd characters takes the place of another
    Given package "editor" answers tool_result with
      """
      returns: {content: [{type: text, text: <text>}]}
      """
    When the model calls "read_note"
    Then the log keeps {"content": [{"type": "text", "text": <text>}]} as the result of call "1"

    Examples:
      | text                                   |
      | "one\\u0000two\\u001b[31m three"       |
      | "one\\r\\ntwo\\n\\nthree\\r"           |
      | "  one\\n  two \\t"                    |
      | "cafe\\u0301 \\ufeff\\u200b \\ufb01 \\u212b" |
      | "$$ $& %s {0} ${x} &amp; <b>"          |

  @rule:tool_result.allowed-calls-are-patched
  Scenario: The result of a call that the user allowed
    Given the host's approval service is allowed-once
    And the host, after the bridge, asks "read_note" with the reason "may it read?"
    And package "redactor" replaces the text of results by "KEY=[R]"
    When the model calls "read_note"
    Then call "1" succeeds with "KEY=[R]"

  @rule:tool_result.native-results-are-patched-too
  Scenario: A native tool's text
    Given a native tool "disk_reader"
    And the native tool "disk_reader" answers "raw sectors"
    And package "redactor" replaces the text of results by "sectors, redacted"
    When the model calls "disk_reader"
    Then call "1" succeeds with "sectors, redacted"

  @rule:tool_result.native-results-are-patched-too @case:whole
  Scenario: A native tool's text becomes two
    Given a native tool "disk_reader"
    And the native tool "disk_reader" answers "raw sectors"
    And package "redactor" answers tool_result with
      """
      returns: {content: [{type: text, text: sectors}, {type: text, text: ", redacted"}]}
      """
    When the model calls "disk_reader"
    Then call "1" succeeds with "sectors, redacted"

  @rule:tool_result.native-results-are-patched-too @case:failure
  Scenario: The text of a native tool that throws
    Given a native tool "disk_reader"
    And the body of "disk_reader" does
      """
      throws: {$: error, message: no disk at /dev/secret}
      """
    And package "redactor" replaces the text of results by "no such disk"
    When the model calls "disk_reader"
    Then package "redactor" sees tool_result of call "1" with {"toolName": "disk_reader", "isError": true}
    And call "1" fails and says "no such disk"
    And "/dev/secret" is nowhere in the log

  @rule:tool_result.native-results-are-patched-too @case:failure-for-every-package
  Scenario: A native tool throws, and two packages are asked
    Given a native tool "disk_reader"
    And the body of "disk_reader" does
      """
      throws: {$: error, message: no disk at /dev/secret}
      """
    And package "watcher" listens to tool_result
    And package "redactor" replaces the text of results by "no such disk"
    When the model calls "disk_reader"
    Then package "watcher" sees tool_result of call "1" with {"isError": true}
    And package "redactor" sees tool_result of call "1" with {"isError": true}
    And call "1" fails and says "no such disk"

  @rule:tool_result.native-results-are-patched-too @case:made-an-error
  Scenario: A native tool's success that is none
    Given a native tool "disk_reader"
    And the native tool "disk_reader" answers "raw sectors"
    And package "judge" answers tool_result with
      """
      returns: {isError: true}
      """
    When the model calls "disk_reader"
    Then call "1" fails and says "raw sectors"

  @rule:tool_result.content-may-be-emptied
  Scenario: No content
    Given package "redactor" answers tool_result with
      """
      returns: {content: []}
      """
    When the model calls "read_note"
    Then call "1" succeeds with ""
    And the model is asked 2 times

  @rule:tool_result.content-may-be-emptied @case:made-an-error
  Scenario: No content, and an error
    Given package "redactor" answers tool_result with
      """
      returns: {content: [], isError: true}
      """
    When the model calls "read_note"
    Then call "1" fails
    And request 2 carries nothing of "KEY=abc123"

  @rule:tool_result.changed-in-place @case:text
  Scenario: A text changed in place
    Given package "redactor" answers tool_result with
      """
      ops: [{op: set, path: [content, 0, text], value: "KEY=[R]"}]
      """
    When the model calls "read_note"
    Then call "1" succeeds with "KEY=[R]"

  @rule:tool_result.changed-in-place @case:beside-an-answer
  Scenario: A text changed in place by one package, and an answer without content by the next
    Given package "redactor" answers tool_result with
      """
      ops: [{op: set, path: [content, 0, text], value: "KEY=[R]"}]
      """
    And package "judge" answers tool_result with
      """
      returns: {isError: true}
      """
    When the model calls "read_note"
    Then call "1" fails and says "KEY=[R]"

  @rule:tool_result.changed-in-place @case:native
  Scenario: The text of a native tool's result changed in place
    Given a native tool "disk_reader"
    And the native tool "disk_reader" answers "raw sectors"
    And package "redactor" answers tool_result with
      """
      ops: [{op: set, path: [content, 0, text], value: redacted sectors}]
      """
    When the model calls "disk_reader"
    Then call "1" succeeds with "redacted sectors"

  @rule:tool_result.changed-in-place @case:of-three
  Scenario: The third package sees what the second changed in place of the first one's result
    Given package "first" replaces the text of results by "by the first"
    And package "second" answers tool_result with
      """
      ops: [{op: set, path: [content, 0, text], value: by the second}]
      """
    And package "third" listens to tool_result
    When the model calls "read_note"
    Then package "third" sees tool_result of call "1" with {"content": [{"type": "text", "text": "by the second"}], "isError": false}

  @rule:tool_result.changed-in-place @case:added
  Scenario: A block added in place
    Given package "annotator" answers tool_result with
      """
      ops: [{op: append, path: [content], value: {type: text, text: " (turn 1)"}}]
      """
    When the model calls "read_note"
    Then call "1" succeeds with "KEY=abc123 (turn 1)"

  @rule:tool_result.success-becomes-an-error
  Scenario: A success that is none
    Given package "judge" answers tool_result with
      """
      returns: {isError: true}
      """
    When the model calls "read_note"
    Then call "1" fails and says "KEY=abc123"

  @rule:tool_result.success-becomes-an-error @case:with-a-text
  Scenario: A success that is none, and the text that says why
    Given the tool "read_note" does
      """
      returns: {content: [{type: text, text: first line}, {type: text, text: second line}]}
      """
    And package "judge" answers tool_result with
      """
      returns: {isError: true, content: [{type: text, text: judged}, {type: text, text: " and found wanting"}]}
      """
    When the model calls "read_note"
    Then call "1" fails and says "judged and found wanting"
    And "first line" is nowhere in the log

  @rule:tool_result.success-becomes-an-error @case:all-of-it
  Scenario: Every block of the success is in the error
    Given the tool "read_note" does
      """
      returns: {content: [{type: text, text: first line}, {type: text, text: ", second line"}]}
      """
    And package "judge" answers tool_result with
      """
      returns: {isError: true}
      """
    When the model calls "read_note"
    Then call "1" fails and says "first line, second line"

  @rule:tool_result.an-errors-text-is-replaced
  Scenario: The text of a failure
    Given the tool "read_note" throws "no file at /home/me/secret"
    And package "redactor" replaces the text of results by "no such file"
    When the model calls "read_note"
    Then call "1" fails and says "no such file"
    And "/home/me/secret" is nowhere in the log

  @rule:tool_result.an-errors-text-is-replaced @case:several
  Scenario: A failure's text becomes two
    Given the tool "read_note" throws "no file at /home/me/secret"
    And package "redactor" answers tool_result with
      """
      returns: {content: [{type: text, text: no such file}, {type: text, text: ", try another shelf"}]}
      """
    When the model calls "read_note"
    Then call "1" fails and says "no such file, try another shelf"

  @rule:tool_result.an-errors-text-is-replaced @case:by-nothing
  Scenario: The text of a failure is taken away
    Given the tool "read_note" throws "no shelf in room 4"
    And package "redactor" answers tool_result with
      """
      returns: {content: []}
      """
    When the model calls "read_note"
    Then call "1" fails
    And request 2 carries nothing of "room 4"

  @rule:tool_result.an-error-stays-an-error @on:bridge
  Scenario: A failure cannot be recovered
    Given the tool "read_note" throws "the shelf is empty"
    And package "optimist" answers tool_result with
      """
      returns: {isError: false}
      """
    When the model calls "read_note"
    Then call "1" fails and says "the shelf is empty"

  @rule:tool_result.an-error-stays-an-error @on:pi
  Scenario: On Pi it can
    Given the tool "read_note" throws "the shelf is empty"
    And package "optimist" answers tool_result with
      """
      returns: {isError: false}
      """
    When the model calls "read_note"
    Then call "1" succeeds with "the shelf is empty"

  @rule:tool_result.a-handlers-error-may-be-taken-back
  Scenario: One package finds fault with a result, a later one does not
    Given package "pessimist" answers tool_result with
      """
      returns: {isError: true}
      """
    And package "optimist" answers tool_result with
      """
      returns: {isError: false}
      """
    When the model calls "read_note"
    Then call "1" succeeds with "KEY=abc123"

  @rule:tool_result.a-vain-recovery-keeps-its-text
  Scenario: A recovery that brings a text along
    Given the tool "read_note" throws "the shelf is empty"
    And package "optimist" answers tool_result with
      """
      returns: {isError: false, content: [{type: text, text: found it elsewhere}]}
      """
    When the model calls "read_note"
    Then call "1" fails and says "found it elsewhere"

  @rule:tool_result.a-vain-recovery-is-reported
  Scenario: The optimist is told
    Given a package "lower_shelf" with the tool "lower_shelf_reader"
    And the tool "lower_shelf_reader" throws "the shelf is empty"
    And package "lower_shelf" answers tool_result with
      """
      returns: {isError: false}
      """
    When the model calls "lower_shelf_reader"
    Then a notice names "lower_shelf"

  @rule:tool_result.details-stay-the-tools-own @on:bridge
  Scenario: Details in a patch
    Given package "forger" answers tool_result with
      """
      returns: {details: {forged: a forged detail}}
      """
    When the model calls "read_note"
    Then call "1" succeeds with "KEY=abc123"
    And "a forged detail" is nowhere in the log

  @rule:tool_result.details-stay-the-tools-own @on:pi
  Scenario: On Pi they are kept
    Given package "forger" answers tool_result with
      """
      returns: {details: {forged: a forged detail}}
      """
    When the model calls "read_note"
    Then the log keeps {"details": {"forged": "a forged detail"}} as the result of call "1"

  @rule:tool_result.details-stay-the-tools-own @on:bridge @case:changed-in-place
  Scenario Outline: Details that a handler changes in place, <where>, beside a patch of the text
    Given the tool "read_note" does
      """
      returns: {content: [{type: text, text: KEY=abc123}], details: {lines: 1, author: {name: Ann}}}
      """
    And package "forger" answers tool_result with
      """
      ops: [{op: set, path: <path>, value: a forged detail}]
      returns: {content: [{type: text, text: "KEY=[R]"}]}
      """
    When the model calls "read_note"
    Then call "1" succeeds with "KEY=[R]"
    And "a forged detail" is nowhere in the log

    Examples:
      | where   | path                    |
      | added   | [details, forged]       |
      | deep in | [details, author, name] |

  @rule:tool_result.details-stay-the-tools-own @on:pi @case:changed-in-place
  Scenario: On Pi what is changed in place is kept
    Given the tool "read_note" does
      """
      returns: {content: [{type: text, text: KEY=abc123}], details: {lines: 1}}
      """
    And package "forger" answers tool_result with
      """
      ops: [{op: set, path: [details, forged], value: a forged detail}]
      returns: {content: [{type: text, text: "KEY=[R]"}]}
      """
    When the model calls "read_note"
    Then call "1" succeeds with "KEY=[R]"
    And the log keeps {"details": {"lines": 1, "forged": "a forged detail"}} as the result of call "1"

  @rule:tool_result.patches-chain @case:within-a-package
  Scenario: A further handler of the package sees what the first made of the result
    Given package "redactor" replaces the text of results by "KEY=[R]"
    And a further handler of package "redactor" listens to tool_result
    When the model calls "read_note"
    Then package "redactor" sees tool_result of call "1" with {"content": [{"type": "text", "text": "KEY=[R]"}]}
    And call "1" succeeds with "KEY=[R]"

  @rule:tool_result.changed-in-place @case:after-a-patch
  Scenario: What an earlier handler of the package made is changed in place
    Given package "redactor" replaces the text of results by "KEY=[R]"
    And a further handler of package "redactor" answers tool_result with
      """
      ops: [{op: append, path: [content], value: {type: text, text: " (turn 1)"}}]
      """
    When the model calls "read_note"
    Then call "1" succeeds with "KEY=[R] (turn 1)"

  @rule:tool_result.assigned-fields-count-beside-a-patch @case:before
  Scenario: One package assigns event.content, and the next answers with details
    Given package "redactor" answers tool_result with
      """
      ops: [{op: assign, path: [content], value: [{type: text, text: assigned}]}]
      """
    And package "annotator" answers tool_result with
      """
      returns: {details: {seen: true}}
      """
    When the model calls "read_note"
    Then call "1" succeeds with "assigned"

  @rule:tool_result.assigned-fields-count-beside-a-patch @case:after
  Scenario: One package answers with content, and the next assigns event.content
    Given package "redactor" answers tool_result with
      """
      returns: {content: [{type: text, text: answered}]}
      """
    And package "annotator" answers tool_result with
      """
      ops: [{op: assign, path: [content], value: [{type: text, text: assigned}]}]
      """
    When the model calls "read_note"
    Then call "1" succeeds with "assigned"

  @rule:tool_result.assigned-fields-count-beside-a-patch @case:error-flag
  Scenario: One package answers with content, and the next assigns event.isError
    Given package "redactor" answers tool_result with
      """
      returns: {content: [{type: text, text: answered}]}
      """
    And package "annotator" answers tool_result with
      """
      ops: [{op: assign, path: [isError], value: true}]
      """
    When the model calls "read_note"
    Then call "1" fails and says "answered"

  @rule:tool_result.assigned-fields-alone-change-nothing
  Scenario Outline: A handler assigns event.<field> and answers nothing
    Given package "redactor" answers tool_result with
      """
      ops: [{op: assign, path: [<field>], value: <value>}]
      """
    When the model calls "read_note"
    Then call "1" succeeds with "KEY=abc123"

    Examples:
      | field   | value                            |
      | content | [{type: text, text: assigned}]   |
      | isError | true                             |

  @rule:tool_result.patches-chain @case:across-packages
  Scenario: A package loaded later sees what the first one left
    Given package "redactor" replaces the text of results by "KEY=[R]"
    And package "annotator" listens to tool_result
    When the model calls "read_note"
    Then package "annotator" sees tool_result of call "1" with {"content": [{"type": "text", "text": "KEY=[R]"}]}
    And call "1" succeeds with "KEY=[R]"

  @rule:tool_result.patches-chain @case:last-word
  Scenario: The package loaded last has the last word
    Given package "first" replaces the text of results by "by the first"
    And package "second" replaces the text of results by "by the second"
    When the model calls "read_note"
    Then call "1" succeeds with "by the second"

  @rule:tool_result.patches-chain @case:error-flag
  Scenario: A package loaded later sees that a success was made an error
    Given package "judge" answers tool_result with
      """
      returns: {isError: true}
      """
    And package "watcher" listens to tool_result
    When the model calls "read_note"
    Then package "watcher" sees tool_result of call "1" with {"isError": true}

  @rule:tool_result.patches-chain @case:no-error-then-error
  Scenario: One package says that a success is no error, the next makes an error of it
    Given package "optimist" answers tool_result with
      """
      returns: {isError: false}
      """
    And package "judge" answers tool_result with
      """
      returns: {isError: true}
      """
    And package "watcher" listens to tool_result
    When the model calls "read_note"
    Then package "watcher" sees tool_result of call "1" with {"isError": true}
    And call "1" fails

  @rule:tool_result.patches-chain @case:error-then-content
  Scenario: One package makes an error of a success, the next replaces its text
    Given package "judge" answers tool_result with
      """
      returns: {isError: true}
      """
    And package "redactor" replaces the text of results by "KEY=[R]"
    When the model calls "read_note"
    Then call "1" fails and says "KEY=[R]"

  @rule:tool_result.patches-chain @case:error-flag-beside-content
  Scenario: A package loaded later sees both that it was made an error and the text that says so
    Given package "judge" answers tool_result with
      """
      returns: {isError: true, content: [{type: text, text: judged}]}
      """
    And package "watcher" listens to tool_result
    When the model calls "read_note"
    Then package "watcher" sees tool_result of call "1" with {"isError": true, "content": [{"type": "text", "text": "judged"}]}

  @rule:tool_result.patches-chain @case:in-load-order
  Scenario: Packages in load order, handlers in order of registration
    Given package "alpha" listens to tool_result
    And a further handler of package "alpha" listens to tool_result
    And package "beta" listens to tool_result
    When the model calls "read_note"
    Then this order holds
      """
      the tool_result of call "1" in package "alpha"
      handler "tool_result#2" of call "1"
      the tool_result of call "1" in package "beta"
      """

  @rule:tool_result.patches-chain @case:three
  Scenario Outline: The third package sees what the second made of the first one's result
    Given package "first" answers tool_result with
      """
      returns: {content: [{type: text, text: by the first}]}
      """
    And package "second" answers tool_result with
      """
      <second>
      """
    And package "third" listens to every tool event
    When the model calls "read_note"
    Then package "third" sees tool_result of call "1" with <seen>
    And the end of call "1" tells what the log keeps

    Examples:
      | second                                                             | seen                                                                             |
      | returns: {content: [{type: text, text: by the second}]}            | {"content": [{"type": "text", "text": "by the second"}], "isError": false}       |
      | returns: {isError: true}                                           | {"content": [{"type": "text", "text": "by the first"}], "isError": true}         |
      | returns: {}                                                        | {"content": [{"type": "text", "text": "by the first"}], "isError": false}        |
      | throws: {$: error, name: Error, message: the second stumbled}      | {"content": [{"type": "text", "text": "by the first"}], "isError": false}        |

  @rule:tool_result.input-is-what-the-tool-ran-with @case:beside-each-other
  Scenario: Arguments of two calls that run beside each other
    Given a package "runners" with the tool "run" and
      """
      executionMode: parallel
      """
    And package "runners" answers tool_call with
      """
      when: {call: "1"}
      ops: [{op: set, path: [input, lane], value: outer}]
      """
    And the tool "run" does
      """
      when: {call: "1"}
      acts: [{do: hold, kinds: [tool.exit]}]
      returns: {content: [{type: text, text: slow}]}
      """
    And package "watcher" listens to tool_result
    When the model calls in one message
      | tool | arguments   |
      | run  | {"lane": 1} |
      | run  | {"lane": 2} |
    Then package "watcher" sees tool_result of call "1" with {"input": {"lane": "outer"}}
    And package "watcher" sees tool_result of call "2" with {"input": {"lane": 2}}

  @rule:tool_result.input-is-what-the-tool-ran-with @case:prepared
  Scenario: Arguments that the tool itself prepares, each time in addition
    Given a package "library" with the tool "fetch_note" and
      """
      prepare: {ops: [{op: append, path: [pages], value: 9}]}
      """
    And package "watcher" listens to tool_call
    And package "watcher" listens to tool_result
    When the model calls "fetch_note" with {"pages": [1]}
    Then package "watcher" sees tool_call of call "1" with {"input": {"pages": [1, 9]}}
    And the tool "fetch_note" runs with {"pages": [1, 9]}
    And package "watcher" sees tool_result of call "1" with {"input": {"pages": [1, 9]}}

  @rule:tool_result.every-agents-results-are-patched
  Scenario: The results of every agent's calls are patched
    Given an agent "main"
    And an agent "other"
    And a native tool "disk_reader"
    And the native tool "disk_reader" answers "raw sectors"
    And package "redactor" replaces the text of results by "hidden by the redactor"
    When the model calls "disk_reader"
    And the model of agent "other" calls "disk_reader"
    And the model of agent "other" calls "read_note"
    Then call "1" succeeds with "hidden by the redactor"
    And call "2" succeeds with "hidden by the redactor"
    And call "3" succeeds with "hidden by the redactor"

  @rule:tool_result.every-agents-results-are-patched @case:at-the-same-time
  Scenario: A result is patched while another agent's still is
    Given an agent "main"
    And an agent "other"
    And package "redactor" answers tool_result with
      """
      when: {agent: main}
      acts: [{do: hold, kinds: [log.result]}]
      returns: {content: [{type: text, text: a page for main}]}
      """
    And package "redactor" answers tool_result with
      """
      when: {agent: other}
      returns: {content: [{type: text, text: a page for the other}]}
      """
    And the model of agent "main" first calls in one message
      | id    | tool |
      | slow  | read_note |
    And the model of agent "other" first calls in one message
      | id    | tool |
      | quick | read_note |
    When the user says "go" to ["main", "other"]
    Then call "slow" succeeds with "a page for main"
    And call "quick" succeeds with "a page for the other"

  @rule:tool_result.a-patch-is-its-calls-own
  Scenario: A further call of the same tool, which nobody patches
    Given package "redactor" answers tool_result with
      """
      when: {nth: 1}
      returns: {content: [{type: text, text: hidden by the redactor}]}
      """
    And the model first calls "read_note"
    When the model calls "read_note"
    Then call "1" succeeds with "hidden by the redactor"
    And call "2" succeeds with "KEY=abc123"

  @rule:tool_result.a-patch-is-its-calls-own @case:error
  Scenario: A further call of the same tool, which nobody makes an error
    Given package "judge" answers tool_result with
      """
      when: {nth: 1}
      returns: {isError: true}
      """
    And package "watcher" listens to tool_result
    And the model first calls "read_note"
    When the model calls "read_note"
    Then call "1" fails
    And package "watcher" sees tool_result of call "2" with {"isError": false}
    And call "2" succeeds with "KEY=abc123"

  @rule:tool_result.a-patch-is-its-calls-own @case:an-error-beside-it
  Scenario: A handler makes an error of the first of two results and gives the second another text
    Given package "redactor" answers tool_result with
      """
      when: {call: "1"}
      returns: {isError: true}
      """
    And package "redactor" answers tool_result with
      """
      when: {call: "2"}
      returns: {content: [{type: text, text: "KEY=[R]"}]}
      """
    When the model calls in one message
      | tool      |
      | read_note |
      | read_note |
    Then call "1" fails and says "KEY=abc123"
    And call "2" succeeds with "KEY=[R]"

  @rule:tool_result.payload @case:after-a-failure
  Scenario: What a handler gets of a success after a failure
    Given the tool "read_note" does
      """
      when: {call: "1"}
      throws: the shelf is empty
      """
    And package "watcher" listens to tool_result
    And the model first calls "read_note"
    When the model calls "read_note"
    Then call "1" fails and says "the shelf is empty"
    And package "watcher" sees tool_result of call "2" with {"isError": false}
    And call "2" succeeds

  @rule:tool_result.payload @case:long
  Scenario: What a handler gets of a long result
    Given the tool "read_note" does
      """
      returns: {content: [{type: text, text: {$: repeat, text: "a long one, ", times: 20000, tail: with an end}}], details: {}}
      """
    And package "watcher" listens to tool_result
    When the model calls "read_note"
    Then package "watcher" sees tool_result of call "1" with {"content": [{"type": "text", "text": {"$": "repeat", "text": "a long one, ", "times": 20000, "tail": "with an end"}}]}

  @rule:tool_result.payload @case:many-calls
  Scenario Outline: What a handler gets of a message of many calls
    Given a package "runners" with the tool "runner" and
      """
      executionMode: <mode>
      """
    And package "editor" replaces the text of results by "seen"
    When the model calls in one message
      | tool   |
      | runner |
      | runner |
      | runner |
      | runner |
      | runner |
      | runner |
      | runner |
      | runner |
      | runner |
      | runner |
      | runner |
      | runner |
    Then package "editor" sees tool_result 12 times
    And call "10" succeeds with "seen"
    And call "11" succeeds with "seen"
    And call "12" succeeds with "seen"

    Examples:
      | mode       |
      | sequential |
      | parallel   |

  @rule:tool_result.a-patch-replaces-only-its-fields @case:details
  Scenario: A patch of the details alone
    Given package "annotator" answers tool_result with
      """
      returns: {details: {noted: true}}
      """
    When the model calls "read_note"
    Then call "1" succeeds with "KEY=abc123"

  @rule:tool_result.a-patch-replaces-only-its-fields
  Scenario: A patch without content
    Given package "redactor" replaces the text of results by "KEY=[R]"
    And a further handler of package "redactor" answers tool_result with
      """
      returns: {isError: true}
      """
    When the model calls "read_note"
    Then call "1" fails and says "KEY=[R]"

  @rule:tool_result.a-patch-replaces-only-its-fields @case:details-after-a-text
  Scenario: A patch of the details alone, after one of the text
    Given package "redactor" replaces the text of results by "KEY=[R]"
    And package "annotator" answers tool_result with
      """
      returns: {details: {noted: true}}
      """
    And package "watcher" listens to tool_result
    When the model calls "read_note"
    Then call "1" succeeds with "KEY=[R]"
    And package "watcher" sees tool_result of call "1" with {"content": [{"type": "text", "text": "KEY=[R]"}]}

  @rule:tool_result.null-patches-nothing
  Scenario Outline: A field that is null
    Given package "odd" answers tool_result with
      """
      returns: <patch>
      """
    When the model calls "read_note"
    Then call "1" succeeds with "KEY=abc123"

    Examples:
      | patch           |
      | {content: null} |
      | {isError: null} |
      | {details: null} |
      | {content: null, details: null, isError: null} |
      | {content: {$: undefined}} |
      | {content: {$: undefined}, details: {$: undefined}, isError: {$: undefined}} |

  @rule:tool_result.null-patches-nothing @case:undefined-later
  Scenario Outline: A later patch has a field that is undefined
    Given package "redactor" replaces the text of results by "KEY=[R]"
    And package "odd" answers tool_result with
      """
      returns: <patch>
      """
    When the model calls "read_note"
    Then call "1" succeeds with "KEY=[R]"

    Examples:
      | patch                                      |
      | {content: {$: undefined}}                  |
      | {content: {$: undefined}, details: {a: 1}} |

  @rule:tool_result.answers-that-are-no-patch
  Scenario Outline: An answer that is no patch
    Given package "odd" answers tool_result with
      """
      returns: <answer>
      """
    When the model calls "read_note"
    Then call "1" succeeds with "KEY=abc123"

    Examples:
      | answer           |
      | {"$": undefined} |
      | {}               |
      | true             |
      | patched          |
      | []               |
      | 7                |

  @rule:tool_result.odd-content-breaks-nothing
  Scenario Outline: Content that is no list of blocks
    Given package "odd" answers tool_result with
      """
      returns: {content: <content>}
      """
    When the model calls "read_note"
    Then call "1" has one result
    And the model is asked 2 times

    Examples:
      | content     |
      | a text      |
      | 7           |
      | [a text]    |
      | {type: text}|

  @rule:tool_result.a-throwing-handler-changes-nothing
  Scenario: A handler that throws between two others
    Given package "redactor" replaces the text of results by "KEY=[R]"
    And package "clumsy" throws "the handler stumbled" from tool_result
    And package "watcher" listens to tool_result
    When the model calls "read_note"
    Then call "1" succeeds with "KEY=[R]"
    And package "watcher" sees tool_result of call "1" with {"content": [{"type": "text", "text": "KEY=[R]"}], "isError": false}

  @rule:tool_result.a-throwing-handler-changes-nothing @case:without-waiting
  Scenario: A handler that throws without ever waiting
    Given package "clumsy" answers tool_result with
      """
      sync: true
      throws: {$: error, message: the handler stumbled}
      """
    And package "redactor" replaces the text of results by "KEY=[R]"
    When the model calls "read_note"
    Then call "1" succeeds with "KEY=[R]"
    And the model is asked 2 times

  @rule:tool_result.a-throwing-handler-changes-nothing @case:wish-to-stop
  Scenario: A handler that throws about a result that asks to stop
    Given the tool "read_note" asks to stop
    And package "clumsy" throws "the handler stumbled" from tool_result
    When the model calls "read_note"
    Then call "1" succeeds
    And the model is asked 1 times

  @rule:tool_result.a-throwing-handler-is-reported
  Scenario: What it threw
    Given package "clumsy" throws "the handler stumbled over its laces" from tool_result
    When the model calls "read_note"
    Then a notice names "the handler stumbled over its laces"

  @rule:tool_result.pictures-are-shown
  Scenario: A picture as a handler sees it
    Given a package "camera" with the tool "take_picture"
    And the tool "take_picture" does
      """
      returns: {content: [{type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}]}
      """
    And package "watcher" listens to tool_result
    When the model calls "take_picture"
    Then package "watcher" sees tool_result of call "1" with {"content": [{"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg=="}]}
    And the log keeps {"isError": false, "content": [{"type": "image"}]} as the result of call "1"

  @rule:tool_result.pictures-are-shown @case:twice
  Scenario: The same picture twice
    Given a package "camera" with the tool "take_picture"
    And the tool "take_picture" does
      """
      returns:
        content:
          - {type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}
          - {type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}
      """
    And package "watcher" listens to tool_result
    When the model calls "take_picture"
    Then the log keeps {"isError": false, "content": [{"type": "image"}, {"type": "image"}]} as the result of call "1"

  @rule:tool_result.pictures-are-shown @case:each-calls-own
  Scenario: The pictures of two calls
    Given a package "camera" with the tool "take_picture"
    And the tool "take_picture" does
      """
      returns: {content: [{type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}]}
      """
    And the tool "take_picture" does
      """
      when: {call: "2"}
      returns: {content: [{type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGOQkzsBQQxwFgA5CAYZ5O3E4gAAAABJRU5ErkJggg==}]}
      """
    And package "watcher" listens to tool_result
    And the model first calls "take_picture"
    When the model calls "take_picture"
    Then package "watcher" sees tool_result of call "1" with {"content": [{"type": "image", "data": "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg=="}]}
    And package "watcher" sees tool_result of call "2" with {"content": [{"type": "image", "data": "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGOQkzsBQQxwFgA5CAYZ5O3E4gAAAABJRU5ErkJggg=="}]}

  @rule:tool_result.pictures-are-shown @case:each-its-own
  Scenario: Two pictures as a handler sees them
    Given a package "camera" with the tool "take_pictures"
    And the tool "take_pictures" does
      """
      returns:
        content:
          - {type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}
          - {type: text, text: and}
          - {type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGOQkzsBQQxwFgA5CAYZ5O3E4gAAAABJRU5ErkJggg==}
      """
    And package "watcher" listens to tool_result
    When the model calls "take_pictures"
    Then package "watcher" sees tool_result of call "1" with {"content": [{"type": "image", "data": "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg=="}, {"type": "text", "text": "and"}, {"type": "image", "data": "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGOQkzsBQQxwFgA5CAYZ5O3E4gAAAABJRU5ErkJggg=="}]}
    And the log keeps {"isError": false, "content": [{"type": "image"}, {"type": "text", "text": "and"}, {"type": "image"}]} as the result of call "1"

  @rule:tool_result.pictures-are-shown @case:alike
  Scenario: A red and a blue picture that begin alike
    Given a package "camera" with the tool "take_picture"
    And the tool "take_picture" does
      """
      returns: {content: [{type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==}]}
      """
    And the tool "take_picture" does
      """
      when: {call: "2"}
      returns: {content: [{type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAD0lEQVR4nGNgYPgPRmAKABf2A/1+6zfzAAAAAElFTkSuQmCC}, {type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==}]}
      """
    And package "watcher" listens to tool_result
    And the model first calls "take_picture"
    When the model calls "take_picture"
    Then package "watcher" sees tool_result of call "1" with {"content": [{"type": "image", "data": "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg=="}]}
    And package "watcher" sees tool_result of call "2" with {"content": [{"type": "image", "data": "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAD0lEQVR4nGNgYPgPRmAKABf2A/1+6zfzAAAAAElFTkSuQmCC"}, {"type": "image", "data": "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg=="}]}

  @rule:tool_result.pictures-are-shown @case:alike-for-long
  Scenario: Three pictures of one size that differ in their last line
    Given a package "camera" with the tool "take_pictures"
    And the tool "take_pictures" does
      """
      returns:
        content:
          - {type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAA00lEQVR4AQHIADf/AChayChayChayChayChayChayChayChayAAoWsgoWsgoWsgoWsgoWsgoWsgoWsgoWsgAKFrIKFrIKFrIKFrIKFrIKFrIKFrIKFrIAChayChayChayChayChayChayChayChayAAoWsgoWsgoWsgoWsgoWsgoWsgoWsgoWsgAKFrIKFrIKFrIKFrIKFrIKFrIKFrIKFrIAChayChayChayChayChayChayChayChayAAKFBQKFBQKFBQKFBQKFBQKFBQKFBQKFBSr6UnByObI4gAAAABJRU5ErkJggg==}
          - {type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAA00lEQVR4AQHIADf/AChayChayChayChayChayChayChayChayAAoWsgoWsgoWsgoWsgoWsgoWsgoWsgoWsgAKFrIKFrIKFrIKFrIKFrIKFrIKFrIKFrIAChayChayChayChayChayChayChayChayAAoWsgoWsgoWsgoWsgoWsgoWsgoWsgoWsgAKFrIKFrIKFrIKFrIKFrIKFrIKFrIKFrIAChayChayChayChayChayChayChayChayAAUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBSwIUoREo+eUAAAAABJRU5ErkJggg==}
          - {type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAA00lEQVR4AQHIADf/AChayChayChayChayChayChayChayChayAAoWsgoWsgoWsgoWsgoWsgoWsgoWsgoWsgAKFrIKFrIKFrIKFrIKFrIKFrIKFrIKFrIAChayChayChayChayChayChayChayChayAAoWsgoWsgoWsgoWsgoWsgoWsgoWsgoWsgAKFrIKFrIKFrIKFrIKFrIKFrIKFrIKFrIAChayChayChayChayChayChayChayChayAAeFBQeFBQeFBQeFBQeFBQeFBQeFBQeFBS0WUphshsBkgAAAABJRU5ErkJggg==}
      """
    And package "watcher" listens to tool_result
    When the model calls "take_pictures"
    Then package "watcher" sees tool_result of call "1" with {"content": [{"type": "image", "data": "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAA00lEQVR4AQHIADf/AChayChayChayChayChayChayChayChayAAoWsgoWsgoWsgoWsgoWsgoWsgoWsgoWsgAKFrIKFrIKFrIKFrIKFrIKFrIKFrIKFrIAChayChayChayChayChayChayChayChayAAoWsgoWsgoWsgoWsgoWsgoWsgoWsgoWsgAKFrIKFrIKFrIKFrIKFrIKFrIKFrIKFrIAChayChayChayChayChayChayChayChayAAKFBQKFBQKFBQKFBQKFBQKFBQKFBQKFBSr6UnByObI4gAAAABJRU5ErkJggg=="}, {"type": "image", "data": "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAA00lEQVR4AQHIADf/AChayChayChayChayChayChayChayChayAAoWsgoWsgoWsgoWsgoWsgoWsgoWsgoWsgAKFrIKFrIKFrIKFrIKFrIKFrIKFrIKFrIAChayChayChayChayChayChayChayChayAAoWsgoWsgoWsgoWsgoWsgoWsgoWsgoWsgAKFrIKFrIKFrIKFrIKFrIKFrIKFrIKFrIAChayChayChayChayChayChayChayChayAAUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBSwIUoREo+eUAAAAABJRU5ErkJggg=="}, {"type": "image", "data": "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAA00lEQVR4AQHIADf/AChayChayChayChayChayChayChayChayAAoWsgoWsgoWsgoWsgoWsgoWsgoWsgoWsgAKFrIKFrIKFrIKFrIKFrIKFrIKFrIKFrIAChayChayChayChayChayChayChayChayAAoWsgoWsgoWsgoWsgoWsgoWsgoWsgoWsgAKFrIKFrIKFrIKFrIKFrIKFrIKFrIKFrIAChayChayChayChayChayChayChayChayAAeFBQeFBQeFBQeFBQeFBQeFBQeFBQeFBS0WUphshsBkgAAAABJRU5ErkJggg=="}]}

  @rule:tool_result.pictures-survive-a-note @case:returned
  Scenario: A note beside a picture
    Given a package "camera" with the tool "take_picture"
    And the tool "take_picture" does
      """
      returns: {content: [{type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}]}
      """
    And package "annotator" answers tool_result with
      """
      returns:
        content:
          - {type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}
          - {type: text, text: a sunny day}
      """
    When the model calls "take_picture"
    Then the log keeps {"isError": false, "content": [{"type": "image"}, {"type": "text", "text": "a sunny day"}]} as the result of call "1"

  @rule:tool_result.pictures-survive-a-note @case:then-redacted
  Scenario: A second note by another package
    Given a package "camera" with the tool "take_picture"
    And the tool "take_picture" does
      """
      returns: {content: [{type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}]}
      """
    And package "annotator" answers tool_result with
      """
      returns:
        content:
          - {type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}
          - {type: text, text: a sunny day}
      """
    And package "dater" answers tool_result with
      """
      returns:
        content:
          - {type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}
          - {type: text, text: "a sunny day, in May"}
      """
    When the model calls "take_picture"
    Then the log keeps {"isError": false, "content": [{"type": "image"}, {"type": "text", "text": "a sunny day, in May"}]} as the result of call "1"

  @rule:tool_result.pictures-survive-a-note @case:written-on-it
  Scenario: A note in a field of the picture itself
    Given a package "camera" with the tool "take_picture"
    And the tool "take_picture" does
      """
      returns: {content: [{type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}]}
      """
    And package "annotator" answers tool_result with
      """
      returns:
        content:
          - {type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==, alt: a map}
          - {type: text, text: a sunny day}
      """
    When the model calls "take_picture"
    Then the log keeps {"isError": false, "content": [{"type": "image"}, {"type": "text", "text": "a sunny day"}]} as the result of call "1"

  @rule:tool_result.changed-in-place @case:beside-a-picture
  Scenario: A note added in place beside a picture
    Given a package "camera" with the tool "take_picture"
    And the tool "take_picture" does
      """
      returns: {content: [{type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}]}
      """
    And package "annotator" answers tool_result with
      """
      ops: [{op: append, path: [content], value: {type: text, text: a sunny day}}]
      """
    When the model calls "take_picture"
    Then the log keeps {"isError": false, "content": [{"type": "image"}, {"type": "text", "text": "a sunny day"}]} as the result of call "1"

  @rule:tool_result.a-picture-left-out-is-gone
  Scenario: A handler that returns the text of a result and not its picture
    Given the tool "read_note" does
      """
      returns: {content: [{type: text, text: an illustrated note}, {type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}]}
      """
    And package "censor" answers tool_result with
      """
      returns: {content: [{type: text, text: a note}]}
      """
    When the model calls "read_note"
    Then the log keeps {"isError": false, "content": [{"type": "text", "text": "a note"}]} as the result of call "1"

  @rule:tool_result.an-error-keeps-its-pictures
  Scenario: A result with a picture is made an error
    Given the tool "read_note" does
      """
      returns: {content: [{type: text, text: an illustrated note}, {type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}]}
      """
    And package "judge" answers tool_result with
      """
      returns: {isError: true}
      """
    When the model calls "read_note"
    Then the log keeps {"isError": true, "content": [{"type": "text", "text": "an illustrated note"}, {"type": "image"}]} as the result of call "1"

  # A native tool's picture is one that the host keeps already: here, one that a package's tool answered before.

  @rule:tool_result.a-natives-pictures-stay @case:looked-at
  Scenario: A native tool's picture stays when a handler looks at it
    Given the tool "read_note" does
      """
      returns: {content: [{type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}]}
      """
    And a native tool "photo_album"
    And the body of "photo_album" does
      """
      content: [{type: text, text: page one}, {type: image, attachment: {attachmentId: "sha256:805924e65dff89ccbac4046a6995a73622a878f5ff9ec17678b4bc33ca55ea12", mediaType: image/png, width: 2, height: 2, bytes: 73}}]
      """
    And package "judge" answers tool_result with
      """
      returns: {$: undefined}
      """
    And the model first calls "read_note"
    When the model calls "photo_album"
    Then the log keeps {"isError": false, "content": [{"type": "text", "text": "page one"}, {"type": "image", "attachment": {"attachmentId": "sha256:805924e65dff89ccbac4046a6995a73622a878f5ff9ec17678b4bc33ca55ea12"}}]} as the result of call "2"

  @rule:tool_result.a-natives-pictures-are-shown @case:made-an-error
  Scenario: A native tool's picture stays when a handler makes an error of the result
    Given the tool "read_note" does
      """
      returns: {content: [{type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}]}
      """
    And a native tool "photo_album"
    And the body of "photo_album" does
      """
      content: [{type: text, text: page one}, {type: image, attachment: {attachmentId: "sha256:805924e65dff89ccbac4046a6995a73622a878f5ff9ec17678b4bc33ca55ea12", mediaType: image/png, width: 2, height: 2, bytes: 73}}]
      """
    And package "judge" answers tool_result with
      """
      returns: {isError: true}
      """
    And the model first calls "read_note"
    When the model calls "photo_album"
    Then the log keeps {"isError": true, "content": [{"type": "text", "text": "page one"}, {"type": "image", "attachment": {"attachmentId": "sha256:805924e65dff89ccbac4046a6995a73622a878f5ff9ec17678b4bc33ca55ea12"}}]} as the result of call "2"

  @rule:tool_result.a-natives-pictures-are-shown @case:shown
  Scenario: A native tool's picture as a handler sees it
    Given the tool "read_note" does
      """
      returns: {content: [{type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}]}
      """
    And a native tool "photo_album"
    And the body of "photo_album" does
      """
      content: [{type: text, text: page one}, {type: image, attachment: {attachmentId: "sha256:805924e65dff89ccbac4046a6995a73622a878f5ff9ec17678b4bc33ca55ea12", mediaType: image/png, width: 2, height: 2, bytes: 73}}]
      """
    And package "watcher" listens to tool_result
    And the model first calls "read_note"
    When the model calls "photo_album"
    Then package "watcher" sees tool_result of call "2" with {"content": [{"type": "text", "text": "page one"}, {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg=="}]}

  @rule:tool_result.a-natives-pictures-are-shown @case:returned
  Scenario: A note beside a native tool's picture
    Given the tool "read_note" does
      """
      returns: {content: [{type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}]}
      """
    And a native tool "photo_album"
    And the body of "photo_album" does
      """
      content: [{type: text, text: page one}, {type: image, attachment: {attachmentId: "sha256:805924e65dff89ccbac4046a6995a73622a878f5ff9ec17678b4bc33ca55ea12", mediaType: image/png, width: 2, height: 2, bytes: 73}}]
      """
    And package "annotator" answers tool_result with
      """
      returns:
        content:
          - {type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}
          - {type: text, text: a sunny day}
      """
    And the model first calls "read_note"
    When the model calls "photo_album"
    Then the log keeps {"isError": false, "content": [{"type": "image", "attachment": {"attachmentId": "sha256:805924e65dff89ccbac4046a6995a73622a878f5ff9ec17678b4bc33ca55ea12"}}, {"type": "text", "text": "a sunny day"}]} as the result of call "2"

  @rule:tool_result.fires-for-cancelled-tools
  Scenario: A handler is asked about a tool that the user cancelled
    Given the user cancels while the tool "read_note" runs
    And package "watcher" listens to tool_result
    When the model calls "read_note"
    Then package "watcher" sees tool_result of call "1" with {"toolName": "read_note"}

  @rule:tool_result.what-the-host-makes-of-it-stands @case:refused
  Scenario: A listener of the host refuses a result that no package changes
    Given package "watcher" listens to tool_result
    And a listener "review" of tools/post-execute that
      """
      returns: {kind: block, feedback: [{type: text, text: the host will not have it}]}
      """
    When the model calls "read_note"
    Then call "1" fails and says "the host will not have it"
    And "KEY=abc123" is nowhere in the log

  @rule:tool_result.what-the-host-makes-of-it-stands @case:replaced
  Scenario: A listener of the host replaces a result that no package changes
    Given package "watcher" listens to tool_result
    And a listener "review" of tools/post-execute that
      """
      returns: {kind: accept, content: [{type: text, text: a version for the model}]}
      """
    When the model calls "read_note"
    Then call "1" succeeds with "a version for the model"
    And "KEY=abc123" is nowhere in the log

  @rule:tool_result.a-patch-is-made-of-what-the-host-left
  Scenario Outline: A listener of the host replaces a result, and a package patches it
    Given package "editor" answers tool_result with
      """
      returns: {content: [{type: text, text: the package's version}]}
      """
    And a listener "review" of tools/post-execute that
      """
      returns: {kind: accept, <replaced>}
      """
    When the model calls "read_note"
    Then call "1" succeeds
    And call "1" has one result

    Examples:
      | replaced                                             |
      | content: [{type: text, text: the host's version}]    |
      | value: {content: [{type: text, text: the host's}]}   |

  @rule:tool_result.a-patch-is-made-of-what-the-host-left @case:refused
  Scenario Outline: A listener of the host refuses a result, and a package answers
    Given package "editor" answers tool_result with
      """
      returns: <answer>
      """
    And a listener "review" of tools/post-execute that
      """
      returns: {kind: block, feedback: [{type: text, text: the host will not have it}]}
      """
    When the model calls "read_note"
    Then call "1" fails

    Examples:
      | answer                                                              |
      | {content: [{type: text, text: all is well}]}                        |
      | {isError: false}                                                    |
      | {isError: false, content: [{type: text, text: all is well}]}        |

  @rule:tool_result.what-the-host-adds-is-in-the-next-request
  Scenario Outline: A listener of the host has a word to add, and a handler answers <answer>
    Given package "redactor" answers tool_result with
      """
      returns: <answer>
      """
    And a listener "review" of tools/post-execute that
      """
      returns:
        kind: accept
        additionalContexts:
          - {id: aside, role: user, source: {kind: plugin, plugin: review}, content: [{type: text, text: "a word of the clerk's"}]}
      """
    When the model calls "read_note"
    Then request 2 carries the text "a word of the clerk's"
    And call "1" has one result

    Examples:
      | answer                                             |
      | {}                                                 |
      | {content: [{type: text, text: "KEY=[R]"}]}         |
      | {content: [{type: text, text: no}], isError: true} |

  @rule:tool_result.a-patch-may-bring-a-picture
  Scenario: A picture where there was none
    Given package "illustrator" answers tool_result with
      """
      returns:
        content:
          - {type: text, text: an illustrated note}
          - {type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGOQkzsBQQxwFgA5CAYZ5O3E4gAAAABJRU5ErkJggg==}
      """
    When the model calls "read_note"
    Then the log keeps {"isError": false, "content": [{"type": "text", "text": "an illustrated note"}, {"type": "image"}]} as the result of call "1"

  @rule:tool_result.a-new-picture-leaves-no-bytes
  Scenario: A picture where there was none, on a host that keeps no pictures
    Given the host's attachments service is missing
    And package "illustrator" answers tool_result with
      """
      returns:
        content:
          - {type: text, text: an illustrated note}
          - {type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGOQkzsBQQxwFgA5CAYZ5O3E4gAAAABJRU5ErkJggg==}
      """
    When the model calls "read_note"
    Then call "1" has one result
    And "GOQkzsBQQxwFgA5CAYZ5O3E4gAAAABJRU5ErkJggg" is nowhere in the log
    And request 2 carries nothing of "GOQkzsBQQxwFgA5CAYZ5O3E4gAAAABJRU5ErkJggg"

  @rule:tool_result.terminate-is-not-the-handlers @case:set
  Scenario: terminate in a patch does not stop the loop
    Given package "hasty" answers tool_result with
      """
      returns: {terminate: true, content: [{type: text, text: patched}]}
      """
    When the model calls "read_note"
    Then call "1" succeeds with "patched"
    And the model is asked 2 times

  @rule:tool_result.terminate-is-not-the-handlers @case:cleared
  Scenario: terminate false in a patch does not keep it going
    Given the tool "read_note" asks to stop
    And package "eager" answers tool_result with
      """
      returns: {terminate: false, content: [{type: text, text: patched}]}
      """
    When the model calls "read_note"
    Then call "1" succeeds with "patched"
    And the model is asked 1 times

  @rule:tool_result.an-error-of-a-handler-leaves-the-wish-to-stop
  Scenario: A result that asks to stop is made an error
    Given the tool "read_note" asks to stop
    And package "judge" answers tool_result with
      """
      returns: {isError: true}
      """
    When the model calls "read_note"
    Then call "1" fails
    And the model is asked 1 times

  @rule:tool_result.other-fields-are-ignored
  Scenario: Names in a patch
    Given package "odd" answers tool_result with
      """
      returns: {toolName: other_tool, toolCallId: "99", input: {forged: true}}
      """
    When the model calls "read_note"
    Then call "1" succeeds with "KEY=abc123"

  @rule:tool_result.an-id-seen-before-is-patched-again
  Scenario: Calls of two turns with the same id
    Given package "redactor" answers tool_result with
      """
      returns: {content: [{type: text, text: hidden by the redactor}]}
      """
    When the model calls in one message
      | id   | tool      |
      | same | read_note |
    And the model calls in one message
      | id   | tool      |
      | same | read_note |
    Then package "redactor" sees tool_result 2 times
    And "KEY=abc123" is nowhere in the log

  @rule:tool_result.an-id-seen-before-is-patched-again @case:as-it-is
  Scenario: What a handler gets of a later call with the same id
    Given package "watcher" listens to tool_result
    And the tool "read_note" does
      """
      when: {nth: 2}
      returns: {content: [{type: text, text: the second page}], details: {}}
      """
    When the model calls in one message
      | id   | tool      | arguments   |
      | same | read_note | {"page": 1} |
    And the model calls in one message
      | id   | tool      | arguments   |
      | same | read_note | {"page": 2} |
    Then package "watcher" sees tool_result with {"input": {"page": 2}, "content": [{"type": "text", "text": "the second page"}]}

  @rule:tool_result.an-id-seen-before-is-patched-again @case:once
  Scenario: Of two calls with the same id a handler patches the first
    Given package "redactor" answers tool_result with
      """
      when: {nth: 1}
      returns: {content: [{type: text, text: hidden by the redactor}]}
      """
    And package "watcher" listens to tool_result
    And the tool "read_note" does
      """
      when: {nth: 2}
      returns: {content: [{type: text, text: the second page}], details: {}}
      """
    When the model calls in one message
      | id   | tool      |
      | same | read_note |
    And the model calls in one message
      | id   | tool      |
      | same | read_note |
    Then request 4 carries the text "the second page"

  # --- when, and what is left of it ---

  @rule:tool_result.awaited-before-the-log
  Scenario: A handler that takes its time
    Given package "slow" holds tool_result until something else happens
    When the model calls "read_note"
    Then this order holds
      """
      the end of the body of call "1"
      the tool_result of call "1"
      the return of tool_result of call "1"
      the durable result of call "1"
      request 2
      """

  @rule:tool_result.one-durable-result-a-call
  Scenario: Calls of every kind have a result each
    Given a native tool "disk_reader"
    And a package "desk" with the tool "broken_lamp"
    And the tool "broken_lamp" throws "the bulb is gone"
    And package "desk" registers the tool "drawer"
    And package "guard" blocks "drawer" with the reason "the drawer is locked"
    When the model calls in one message
      | tool                  |
      | read_note             |
      | no_such_tool_anywhere |
      | broken_lamp           |
      | drawer                |
      | disk_reader           |
    Then call "1" has one result
    And call "2" has one result
    And call "3" has one result
    And call "4" has one result
    And call "5" has one result

  @rule:tool_result.durable-results-in-model-order
  Scenario: The second tool is done first
    Given a package "runners" with the tool "slow_runner" and
      """
      executionMode: parallel
      """
    And package "runners" registers the tool "fast_runner" with
      """
      executionMode: parallel
      """
    And the tool "slow_runner" does
      """
      acts: [{do: hold, kinds: [tool.exit]}]
      returns: {content: [{type: text, text: slow}]}
      """
    When the model calls in one message
      | tool        |
      | slow_runner |
      | fast_runner |
    Then this order holds
      """
      the end of the body of call "1"
      the durable result of call "1"
      the durable result of call "2"
      """

  @rule:tool_result.the-model-reads-the-durable-result
  Scenario: A patched result in the next request
    Given package "redactor" replaces the text of results by "KEY=[R]"
    When the model calls "read_note"
    Then request 2 shows the result of call "1" as the log keeps it

  @rule:tool_result.a-throwing-handler-is-reported @case:several
  Scenario: What the handlers of two packages throw
    Given package "clumsy" throws "the first one stumbled over its laces" from tool_result
    And package "hasty" throws "the second one ran into the door" from tool_result
    When the model calls "read_note"
    Then a notice names "the first one stumbled over its laces"
    And a notice names "the second one ran into the door"

  @rule:tool_result.a-throwing-handler-is-reported @case:each-time
  Scenario: What it threw the second time
    Given package "clumsy" throws "the handler stumbled over its laces" from tool_result
    And package "clumsy" answers tool_result with
      """
      when: {call: "2"}
      throws: the handler stumbled over the cat
      """
    And the model first calls "read_note"
    When the model calls "read_note"
    Then a notice names "the handler stumbled over its laces"
    And a notice names "the handler stumbled over the cat"

  @rule:tool_result.a-throwing-handler-is-reported @case:two-packages
  Scenario: What two packages threw in the same words
    Given package "clumsy_reader" throws "the handler stumbled over its laces" from tool_result
    And package "clumsy_writer" throws "the handler stumbled over its laces" from tool_result
    When the model calls "read_note"
    Then 2 notices of all instances name "the handler stumbled over its laces"

  @rule:tool_result.a-removed-package-patches-nothing
  Scenario: A package that the operator removed
    Given package "redactor" replaces the text of results by "KEY=[R]"
    And a package "manager" with the tool "close_shop"
    And the tool "close_shop" does
      """
      acts: [{do: unload, package: redactor}]
      returns: {content: [{type: text, text: closed}], details: {}}
      """
    And the model first calls "close_shop"
    When the model calls "read_note"
    Then package "redactor" never sees tool_result
    And call "1" succeeds with "closed"
    And call "2" succeeds with "KEY=abc123"

  @rule:tool_result.a-removed-package-patches-nothing @case:others-do
  Scenario: The packages around one that the operator removed
    Given package "first" listens to tool_result
    And package "redactor" replaces the text of results by "KEY=[R]"
    And package "last" answers tool_result with
      """
      when: {call: "2"}
      returns: {content: [{type: text, text: the last word}]}
      """
    And a package "manager" with the tool "close_shop"
    And the tool "close_shop" does
      """
      acts: [{do: unload, package: redactor}]
      returns: {content: [{type: text, text: closed}], details: {}}
      """
    And the model first calls "close_shop"
    When the model calls "read_note"
    Then call "2" succeeds with "the last word"
    And package "first" sees tool_result 2 times
    And package "last" sees tool_result 2 times

  @rule:tool_result.a-removed-package-patches-nothing @case:while-others-are-asked
  Scenario: The operator removes a package while the next one is asked
    Given package "scout" listens to tool_result
    And package "guard" answers tool_result with
      """
      acts: [{do: unload, package: scout}]
      """
    And package "redactor" replaces the text of results by "KEY=[R]"
    When the model calls "read_note"
    Then call "1" succeeds with "KEY=[R]"

  @rule:tool_result.a-handler-that-threw-is-told-again
  Scenario: A handler that failed once
    Given package "critic" throws "the critic stumbled" from tool_result
    And the model first calls "read_note"
    When the model calls "read_note"
    Then package "critic" sees tool_result 2 times

  @rule:tool_result.a-handler-that-threw-is-told-again @case:many-times
  Scenario: A handler that failed six times
    Given package "critic" throws "the critic stumbled" from tool_result
    And the model of agent "main" first calls in one message
      | tool   |
      | read_note |
      | read_note |
      | read_note |
      | read_note |
      | read_note |
      | read_note |
    When the model calls "read_note"
    Then package "critic" sees tool_result 7 times

  @rule:tool_result.a-handler-added-at-work-is-asked-from-then-on
  Scenario: A handler of another event adds one
    Given package "editor" answers tool_call with
      """
      when: {nth: 1}
      acts: [{do: pi, call: "on", args: [{id: late, event: tool_result}]}]
      """
    And the model first calls "read_note"
    And the model first calls "read_note"
    When the model calls "read_note"
    And the model calls "read_note"
    Then handler "late" is entered for call "2"
    And handler "late" is entered for call "3"
    And handler "late" is entered for call "4"

  @rule:tool_result.a-handler-added-at-work-is-asked-from-then-on @case:of-the-call-at-hand
  Scenario: A handler is added about the very call whose result comes next
    Given package "editor" answers tool_call with
      """
      acts: [{do: pi, call: "on", args: [{id: late, event: tool_result}]}]
      """
    When the model calls "read_note"
    Then handler "late" is entered for call "1"

  @rule:tool_result.a-handler-added-at-work-is-asked-from-then-on @case:by-the-tool
  Scenario: A tool adds a handler of its own result
    Given the tool "read_note" calls on with [{"id": "late", "event": "tool_result"}]
    When the model calls "read_note"
    Then handler "late" is entered for call "1"
