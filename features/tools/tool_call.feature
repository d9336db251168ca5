Feature: tool_call
  A package judges each call before it runs: it may block it, rewrite the arguments of migrated tools,
  and ask the loop to stop.

  # --- blocking ---

  @rule:tool_call.a-block-keeps-the-tool-from-running
  Scenario: A blocked tool does not run and the model reads the reason
    Given a package "notes" with the tool "write_note"
    And package "guard" blocks "write_note" with the reason "notes are closed"
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails and says "notes are closed"

  @rule:tool_call.a-block-keeps-the-tool-from-running @case:after-a-while
  Scenario: A handler that takes its time is waited for
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      acts: [{do: hold, kinds: [tool.enter]}]
      returns: {block: true, reason: I have thought about it}
      """
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails and says "I have thought about it"

  @rule:tool_call.a-block-keeps-the-tool-from-running @case:whole-reason
  Scenario Outline: A reason reaches the model to its last word
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      returns: {block: true, reason: <reason>}
      """
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails and says "<last words>"

    Examples:
      | reason                                          | last words                         |
      | "notes are closed.\\n\\nAsk the keeper: room 4" | Ask the keeper: room 4             |
      | "закрыто до утра ✋🏽 – ask again"              | закрыто до утра ✋🏽 – ask again   |
      | "100% of {notes} are %s, <closed> & sealed"     | 100% of {notes} are %s, <closed> & |
      | "$$5 for $& and $1, or ${reason}"               | $$5 for $& and $1, or $            |
      | "0"                                             | 0                                  |
      | "false"                                         | false                              |

  @rule:tool_call.a-block-keeps-the-tool-from-running @case:long-reason
  Scenario: A long reason reaches the model to its end
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      returns:
        block: true
        reason: >-
          The keeper of the notes has written down when nobody writes a note, and for how long, and whom to ask about it:
          at night nobody writes a note, since the light is out, and whoever does so all the same writes into the wrong book;
          at noon nobody writes a note, since the keeper is at table, and whoever does so all the same writes with the salt;
          in the rain nobody writes a note, since the ink runs, and whoever does so all the same writes a lake and three rivers;
          on the stairs nobody writes a note, since the next one falls over him, and whoever does so writes down an ambulance;
          on Sundays nobody writes a note, since it is Monday soon, and whoever does so all the same has to read it out himself;
          to the end nobody writes a note, since the next one wants to say something as well, and whoever does so has no reader.
          Who has read all of this knows the end of a long reason.
      """
    When the model calls "write_note"
    Then call "1" fails and says "the end of a long reason"

  @rule:tool_call.a-block-keeps-the-tool-from-running @case:without-waiting
  Scenario: A handler that answers without ever waiting
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      sync: true
      returns: {block: true, reason: notes are closed}
      """
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails and says "notes are closed"

  @rule:tool_call.a-block-keeps-the-tool-from-running @case:each-its-own
  Scenario: Two blocked calls, each with a reason of its own
    Given a package "notes" with the tool "write_note"
    And package "notes" registers the tool "read_note"
    And package "guard" blocks "write_note" with the reason "there is no ink"
    And package "guard" blocks "read_note" with the reason "there is no light"
    When the model calls in one message
      | tool       |
      | write_note |
      | read_note  |
    Then call "1" fails and says "there is no ink"
    And call "2" fails and says "there is no light"

  @rule:tool_call.a-block-keeps-the-tool-from-running @case:very-long-reason
  Scenario: A very long reason reaches the model to its end
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      returns: {block: true, reason: {$: repeat, text: "at night nobody writes a note. ", times: 20000, tail: "Who read this far knows the end."}}
      """
    When the model calls "write_note"
    Then call "1" fails and says "knows the end."

  @rule:tool_call.a-block-keeps-the-tool-from-running @case:again-and-again
  Scenario: Calls of one tool that are blocked again and again
    Given a package "notes" with the tool "write_note"
    And package "guard" blocks "write_note" with the reason "closed"
    And the model of agent "main" first calls in one message
      | tool       |
      | write_note |
      | write_note |
      | write_note |
      | write_note |
      | write_note |
      | write_note |
    When the model calls in one message
      | tool       |
      | write_note |
      | write_note |
      | write_note |
      | write_note |
      | write_note |
      | write_note |
    And the model calls "write_note"
    Then the tool "write_note" does not run
    And call "13" fails and says "closed"

  @rule:tool_call.a-block-keeps-the-tool-from-running @case:after-more-than-a-second
  Scenario: A handler that needs more than a second for its answer
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      delayMs: 1200
      returns: {block: true, reason: closed}
      """
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails and says "closed"

  @rule:tool_call.a-block-without-a-reason-still-says-something
  Scenario Outline: A block without a usable reason
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      returns: <answer>
      """
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails with a text

    Examples:
      | answer                      |
      | {block: true}               |
      | {block: true, reason: ""}   |

  @rule:tool_call.a-block-without-a-reason-still-says-something @case:after-one-with-a-reason
  Scenario: A block without a reason after one that had one
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      when: {call: "1"}
      returns: {block: true, reason: notes are closed on sundays}
      """
    And package "guard" answers tool_call with
      """
      when: {call: "2"}
      returns: {block: true}
      """
    And the model first calls "write_note"
    When the model calls "write_note"
    Then call "1" fails and says "notes are closed on sundays"
    And call "2" fails and says nothing of "sundays"

  @rule:tool_call.any-truthy-block-blocks
  Scenario Outline: A block that is truthy but not true
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      returns: {block: <block>, reason: notes are closed}
      """
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails and says "notes are closed"

    Examples:
      | block |
      | 1     |
      | "yes" |
      | []    |
      | {}    |

  @rule:tool_call.any-truthy-block-blocks @case:asking-to-stop
  Scenario Outline: A block that is true in another way and asks to stop
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      returns: {block: <block>, reason: closed, terminate: true}
      """
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And the model is asked 1 times

    Examples:
      | block |
      | 1     |
      | "yes" |

  @rule:tool_call.only-a-block-decides
  Scenario Outline: An answer that is no block lets the call run
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      returns: <answer>
      """
    When the model calls "write_note"
    Then the tool "write_note" runs 1 times
    And call "1" succeeds with "write_note ok"
    And the model is asked 2 times

    Examples:
      | answer                                          |
      | {"$": undefined}                                |
      | {}                                              |
      | block                                           |
      | []                                              |
      | true                                            |
      | {reason: a reason alone}                        |
      | {terminate: true}                               |
      | {block: false, reason: allowed}                 |
      | {block: false, terminate: true}                 |
      | {content: [{type: text, text: not the result}]} |

  @rule:tool_call.a-blocks-other-fields-are-ignored
  Scenario: Content beside a block is not the result
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      returns:
        block: true
        reason: notes are closed
        isError: false
        content: [{type: text, text: a forged result}]
      """
    When the model calls "write_note"
    Then call "1" fails and says "notes are closed"
    And "a forged result" is nowhere in the log

  @rule:tool_call.the-first-block-wins @case:within-a-package
  Scenario: A further handler of the same package is not asked
    Given a package "notes" with the tool "write_note"
    And package "guard" blocks "write_note" with the reason "the first reason"
    And a further handler of package "guard" answers tool_call with
      """
      returns: {block: true, reason: the second reason}
      """
    When the model calls "write_note"
    Then package "guard" sees tool_call 1 times
    And call "1" fails and says "the first reason"

  @rule:tool_call.the-first-block-wins @case:across-packages
  Scenario: A package loaded later is not asked
    Given a package "notes" with the tool "write_note"
    And package "guard" blocks "write_note" with the reason "the first reason"
    And package "second_guard" blocks "write_note" with the reason "the second reason"
    When the model calls "write_note"
    Then package "second_guard" never sees tool_call
    And call "1" fails and says "the first reason"

  @rule:tool_call.the-first-block-wins @case:a-pass-does-not-end-it
  Scenario: A package that lets the call pass leaves the word to the next
    Given a package "notes" with the tool "write_note"
    And package "watcher" listens to tool_call
    And package "guard" blocks "write_note" with the reason "the guard's reason"
    And package "auditor" listens to tool_call
    When the model calls "write_note"
    Then package "watcher" sees tool_call 1 times
    And package "auditor" never sees tool_call
    And call "1" fails and says "the guard's reason"

  @rule:tool_call.the-first-block-wins @case:an-answer-does-not-end-it
  Scenario Outline: An answer that lets the call pass leaves the word to the next
    Given a package "notes" with the tool "write_note"
    And package "watcher" answers tool_call with
      """
      returns: <answer>
      """
    And a further handler of package "watcher" answers tool_call with
      """
      returns: <answer>
      """
    And package "guard" blocks "write_note" with the reason "the guard's reason"
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails and says "the guard's reason"

    Examples:
      | answer                          |
      | {block: false, reason: allowed} |
      | {}                              |
      | true                            |
      | null                            |

  @rule:tool_call.handlers-are-asked-in-load-order
  Scenario: Packages in load order, handlers in order of registration
    Given a package "alpha" with the tool "write_note"
    And package "alpha" listens to tool_call
    And a further handler of package "alpha" listens to tool_call
    And package "beta" listens to tool_call
    When the model calls "write_note"
    Then this order holds
      """
      the tool_call of call "1" in package "alpha"
      the return of tool_call of call "1" in package "alpha"
      handler "tool_call#2" of call "1"
      the tool_call of call "1" in package "beta"
      the body of call "1"
      """

  @rule:tool_call.handlers-are-asked-in-load-order @case:one-after-another
  Scenario: A slow handler keeps the next one waiting
    Given a package "alpha" with the tool "write_note"
    And package "alpha" holds tool_call until something else happens
    And package "beta" listens to tool_call
    When the model calls "write_note"
    Then this order holds
      """
      the return of tool_call of call "1" in package "alpha"
      the tool_call of call "1" in package "beta"
      the body of call "1"
      """

  @rule:tool_call.handlers-are-asked-in-load-order @case:added-late
  Scenario: A handler that the first package adds late is asked before those of the next
    Given a package "alpha" with the tool "open_notes"
    And the tool "open_notes" calls on with [{"id": "late", "event": "tool_call"}]
    And package "beta" listens to tool_call
    And package "alpha" registers the tool "write_note"
    And the model first calls "open_notes"
    When the model calls "write_note"
    Then this order holds
      """
      handler "late" of call "2"
      the tool_call of call "2" in package "beta"
      the body of call "2"
      """

  @rule:tool_call.a-gate-that-throws-blocks
  Scenario: A handler that throws
    Given a package "notes" with the tool "write_note"
    And package "guard" throws "the guard stumbled" from tool_call
    And package "second_guard" listens to tool_call
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails and says "the guard stumbled"
    And package "second_guard" never sees tool_call
    And the model is asked 2 times

  @rule:tool_call.a-gate-that-throws-blocks @case:whatever-it-throws
  Scenario Outline: A handler that throws <what>
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      throws: <value>
      """
    And package "second_guard" listens to tool_call
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails
    And package "second_guard" never sees tool_call
    And the model is asked 2 times

    Examples:
      | what                      | value                      |
      | an error without a word   | {$: error, message: ""}    |
      | undefined                 | {$: undefined}             |
      | null                      | null                       |
      | false                     | false                      |
      | zero                      | 0                          |
      | an empty text             | ""                         |
      | an object that looks like a pass | {block: false}      |

  @rule:tool_call.a-gate-that-throws-blocks @case:without-waiting
  Scenario: A handler that throws without ever waiting
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      sync: true
      throws: {$: error, message: the guard stumbled}
      """
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails and says "the guard stumbled"

  @rule:tool_call.a-gate-that-throws-blocks @case:native
  Scenario: A handler that throws about a native tool's call
    Given a native tool "disk_cleaner"
    And package "guard" throws "the guard stumbled" from tool_call
    And package "second_guard" listens to tool_call
    When the model calls "disk_cleaner"
    Then the tool "disk_cleaner" does not run
    And call "1" fails and says "the guard stumbled"
    And package "second_guard" never sees tool_call

  @rule:tool_call.a-judge-that-is-no-function-blocks
  Scenario: A package subscribes with something that is no function
    Given a package "notes" with the tool "write_note"
    And package "guard" calls on with [{"id": "odd", "event": "tool_call", "callable": false}] while loading
    And package "watcher" listens to tool_call
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails with a text
    And package "watcher" never sees tool_call

  @rule:tool_call.a-thrown-value-is-told
  Scenario: A handler that throws a text
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      throws: the guard stumbled
      """
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails and says "the guard stumbled"

  @rule:tool_call.reasons-of-any-type-block
  Scenario Outline: A reason that is no text
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      returns: {block: true, reason: <reason>}
      """
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails

    Examples:
      | reason          |
      | 7               |
      | {code: closed}  |
      | null            |

  # --- what a handler is asked about ---

  @rule:tool_call.the-gate-sees-checked-arguments @case:coerced
  Scenario: A handler sees the coerced arguments
    Given a package "scales" with the tool "weigh" and
      """
      parameters: {type: object, properties: {grams: {type: number}}, required: [grams]}
      """
    And package "guard" listens to tool_call
    When the model calls "weigh" with {"grams": "7"}
    Then package "guard" sees tool_call of call "1" with {"toolName": "weigh", "input": {"grams": 7}}
    And the tool "weigh" runs with {"grams": 7}

  @rule:tool_call.the-gate-sees-checked-arguments @case:prepared
  Scenario: A handler sees the prepared arguments
    Given a package "scales" with the tool "weigh" and
      """
      parameters: {type: object, properties: {grams: {type: number}}, required: [grams]}
      prepare: {returns: {grams: "12"}}
      """
    And package "guard" listens to tool_call
    When the model calls "weigh" with {"weight": 3}
    Then package "guard" sees tool_call of call "1" with {"input": {"grams": 12}}

  @rule:tool_call.the-gate-sees-checked-arguments @case:long
  Scenario: A handler sees a text of two hundred thousand characters whole, beside a coerced argument
    Given a package "scales" with the tool "weigh" and
      """
      parameters: {type: object, properties: {grams: {type: number}, label: {type: string}}}
      """
    And package "guard" listens to tool_call
    When the model calls "weigh" with {"grams": "7", "label": {"$": "repeat", "text": "a long one", "times": 20000}}
    Then package "guard" sees tool_call of call "1" with {"input": {"grams": 7, "label": {"$": "repeat", "text": "a long one", "times": 20000}}}

  @rule:tool_call.invalid-calls-are-not-judged
  Scenario: A call that does not fit the schema
    Given a package "scales" with the tool "weigh" and
      """
      parameters: {type: object, properties: {grams: {type: number}}, required: [grams]}
      """
    And package "guard" blocks "weigh" with the reason "the guard's reason"
    When the model calls "weigh" with {"grams": "a lot"}
    Then package "guard" never sees tool_call
    And the tool "weigh" does not run
    And call "1" fails and says "Validation failed"

  @rule:tool_call.unknown-names-end-as-unknown @on:bridge
  Scenario: A name no tool has ends as unknown
    Given package "guard" listens to tool_call
    When the model calls "no_such_tool_anywhere"
    Then call "1" fails and says "no_such_tool_anywhere"
    And the model is asked 2 times

  @rule:tool_call.unknown-names-end-as-unknown @on:pi
  Scenario: On Pi nobody is asked about a name no tool has
    Given package "guard" listens to tool_call
    When the model calls "no_such_tool_anywhere"
    Then package "guard" never sees tool_call
    And call "1" fails and says "no_such_tool_anywhere"

  @rule:tool_call.every-call-is-judged
  Scenario: A native tool's call is judged too
    Given a native tool "disk_cleaner"
    And package "guard" blocks "disk_cleaner" with the reason "no cleaning today"
    When the model calls "disk_cleaner" with {"path": "/home"}
    Then package "guard" sees tool_call of call "1" with {"toolName": "disk_cleaner", "toolCallId": "1", "input": {"path": "/home"}}
    And the tool "disk_cleaner" does not run
    And call "1" fails and says "no cleaning today"

  @rule:tool_call.every-call-is-judged @case:again
  Scenario: The same call once more is judged once more
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      when: {nth: 1}
      returns: {block: true, reason: think again}
      """
    And the model first calls "write_note" with {"text": "draft"}
    When the model calls "write_note" with {"text": "draft"}
    Then package "guard" sees tool_call 2 times
    And the tool "write_note" runs 1 times
    And call "2" succeeds

  @rule:tool_call.every-agents-calls-are-judged
  Scenario: The calls of every agent are judged
    Given an agent "main"
    And an agent "other"
    And a package "notes" with the tool "write_note"
    And a native tool "disk_cleaner"
    And package "guard" answers tool_call with
      """
      when: {agent: other}
      returns: {block: true, reason: not for the other one}
      """
    When the model calls "write_note"
    And the model of agent "other" calls "write_note"
    And the model of agent "other" calls "disk_cleaner"
    Then package "guard" sees tool_call 3 times
    And the tool "write_note" runs 1 times
    And the tool "disk_cleaner" does not run
    And call "2" fails and says "not for the other one"

  @rule:tool_call.native-arguments-are-safe-for-every-agent
  Scenario: A handler changes the arguments of native calls of two agents
    Given an agent "main"
    And an agent "other"
    And a native tool "disk_cleaner"
    And package "rewriter" changes the argument "path" of "disk_cleaner" to "/tmp"
    When the model calls "disk_cleaner" with {"path": "/home"}
    And the model of agent "other" calls "disk_cleaner"
    And the model calls "disk_cleaner" with {"path": "/home"}
    Then the tool "disk_cleaner" does not run
    And call "1" fails and says "disk_cleaner"
    And call "2" fails and says "disk_cleaner"
    And call "3" fails and says "disk_cleaner"

  @rule:tool_call.every-call-is-judged @case:empty-arguments
  Scenario: Arguments that are null, false, zero or empty
    Given a package "notes" with the tool "write_note"
    And a native tool "disk_cleaner"
    And package "guard" listens to tool_call
    When the model calls in one message
      | tool         | arguments                                                           |
      | write_note   | {"a": null, "b": false, "c": 0, "d": "", "e": [], "f": {}, "g": 1} |
      | disk_cleaner | {"a": null, "b": false, "c": 0, "d": "", "e": [], "f": {}, "g": 1} |
    Then package "guard" sees tool_call of call "1" with {"input": {"a": null, "b": false, "c": 0, "d": "", "e": [], "f": {}, "g": 1}}
    And package "guard" sees tool_call of call "2" with {"input": {"a": null, "b": false, "c": 0, "d": "", "e": [], "f": {}, "g": 1}}
    And the tool "write_note" runs with {"a": null, "b": false, "c": 0, "d": "", "e": [], "f": {}, "g": 1}
    And the tool "disk_cleaner" runs with {"a": null, "b": false, "c": 0, "d": "", "e": [], "f": {}, "g": 1}

  @rule:tool_call.every-call-is-judged @case:unknown-before
  Scenario: A call of a name that was unknown before
    Given a package "notes" with the tool "open_notes"
    And the tool "open_notes" calls registerTool with [{"name": "write_note", "description": "writes", "parameters": {"type": "object", "properties": {}}}]
    And package "guard" blocks "write_note" with the reason "notes are closed"
    And the model first calls "write_note"
    And the model first calls "open_notes"
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "3" fails and says "notes are closed"

  @rule:tool_call.every-agents-calls-are-judged @case:at-the-same-time
  Scenario: A call is blocked while another agent's is still being judged
    Given an agent "main"
    And an agent "other"
    And a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      when: {agent: main}
      acts: [{do: hold, kinds: [log.result]}]
      """
    And package "guard" answers tool_call with
      """
      when: {agent: other}
      returns: {block: true, reason: not for the other one}
      """
    And the model of agent "main" first calls in one message
      | id    | tool |
      | slow  | write_note |
    And the model of agent "other" first calls in one message
      | id    | tool |
      | quick | write_note |
    When the user says "go" to ["main", "other"]
    Then call "slow" succeeds
    And call "quick" fails and says "not for the other one"
    And the tool "write_note" runs 1 times

  @rule:tool_call.every-call-is-judged @case:late
  Scenario: A handler that is the first of its package and comes late
    Given a package "notes" with the tool "write_note"
    And the tool "write_note" calls on with [{"id": "late", "event": "tool_call"}]
    And the model first calls "write_note"
    When the model calls "write_note"
    Then package "notes" sees tool_call 1 times
    And package "notes" sees tool_call of call "2" with {"toolName": "write_note"}

  @rule:tool_call.every-call-is-judged @case:odd-id
  Scenario: Calls whose ids are long or hold odd characters
    Given a package "notes" with the tool "write_note"
    And package "guard" listens to tool_call
    When the model calls in one message
      | id                                                                          | tool       |
      | call_Ab-1.x\|fc_68a/ü=+                                                     | write_note |
      | call_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef_first  | write_note |
      | call_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef_second | write_note |
    Then package "guard" sees tool_call of call "call_Ab-1.x|fc_68a/ü=+" with {"toolName": "write_note"}
    And package "guard" sees tool_call of call "call_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef_first" with {"toolName": "write_note"}
    And package "guard" sees tool_call of call "call_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef_second" with {"toolName": "write_note"}

  @rule:tool_call.every-call-is-judged @case:blank-id
  Scenario: Calls whose ids are empty or differ in blanks alone
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      when: {call: " 1"}
      returns: {block: true, reason: not this one}
      """
    When the model calls in one message
      | id   | tool       |
      | ""   | write_note |
      | " "  | write_note |
      | "1"  | write_note |
      | " 1" | write_note |
    Then package "guard" sees tool_call of call "" with {"toolCallId": ""}
    And package "guard" sees tool_call of call " " with {"toolCallId": " "}
    And package "guard" sees tool_call of call "1" with {"toolCallId": "1"}
    And the tool "write_note" runs 3 times
    And call "" succeeds
    And call "1" succeeds
    And call " 1" fails and says "not this one"

  @rule:tool_call.every-call-is-judged @case:override
  Scenario: A package's tool in the place of a native one is judged
    Given a native tool "disk_cleaner"
    And a package "cleaners" with the tool "disk_cleaner"
    And package "guard" blocks "disk_cleaner" with the reason "no cleaning today"
    When the model calls "disk_cleaner"
    Then package "guard" sees tool_call of call "1" with {"toolName": "disk_cleaner"}
    And the tool "disk_cleaner" does not run
    And call "1" fails and says "no cleaning today"

  @rule:tool_call.calls-that-a-tool-makes-are-judged
  Scenario: A call that another tool makes
    Given a package "notes" with the tool "write_note"
    And package "guard" blocks "write_note" with the reason "notes are closed"
    And a native tool "assistant"
    And the body of "assistant" does
      """
      acts: [{do: host, call: tools.execute, scope: main, args: [{callId: inner, name: write_note, arguments: {}}]}]
      """
    When the model calls "assistant"
    Then the tool "write_note" does not run
    And call "1" succeeds

  @rule:tool_call.calls-that-a-tool-makes-have-no-wish
  Scenario: A call that another tool makes is blocked by a package that asks to stop
    Given a package "notes" with the tool "write_note"
    And package "guard" blocks "write_note" asking to stop
    And a native tool "assistant"
    And the body of "assistant" does
      """
      acts: [{do: host, call: tools.execute, scope: main, args: [{callId: inner, name: write_note, arguments: {}}]}]
      """
    When the model calls "assistant"
    Then the tool "write_note" does not run
    And call "1" succeeds
    And the model is asked 2 times

  @rule:tool_call.a-handler-that-threw-is-asked-again
  Scenario: A gate that failed once
    Given a package "notes" with the tool "write_note"
    And package "guard" throws "the guard stumbled" from tool_call
    And the model first calls "write_note"
    When the model calls "write_note"
    Then package "guard" sees tool_call 2 times
    And the tool "write_note" does not run

  @rule:tool_call.a-handler-that-threw-is-asked-again @case:many-times
  Scenario: A gate that failed six times
    Given a package "notes" with the tool "write_note"
    And package "guard" throws "the guard stumbled" from tool_call
    And the model of agent "main" first calls in one message
      | tool   |
      | write_note |
      | write_note |
      | write_note |
      | write_note |
      | write_note |
      | write_note |
    When the model calls "write_note"
    Then package "guard" sees tool_call 7 times
    And the tool "write_note" does not run

  @rule:tool_call.a-removed-package-is-not-asked
  Scenario: A package that the operator removed
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      when: {nth: 2}
      returns: {block: true, reason: notes are closed}
      """
    And a package "manager" with the tool "close_shop"
    And the tool "close_shop" does
      """
      acts: [{do: unload, package: guard}]
      returns: {content: [{type: text, text: closed}], details: {}}
      """
    And the model first calls "close_shop"
    When the model calls "write_note"
    Then package "guard" sees tool_call 1 times
    And the tool "write_note" runs 1 times
    And call "2" succeeds

  @rule:tool_call.a-removed-package-is-not-asked @case:changes
  Scenario: Other packages change arguments when one is gone
    Given a package "guard" with the tool "open_notes"
    And a package "notes" with the tool "write_note"
    And package "notes" changes the argument "text" of "write_note" to "final"
    When the model calls "write_note" with {"text": "draft"}
    And package "guard" is unloaded
    And the model calls "write_note" with {"text": "draft"}
    Then call "2" of "write_note" runs with {"text": "final"}

  @rule:tool_call.a-removed-package-is-not-asked @case:for-every-agent
  Scenario: A package that the operator removed while another agent worked
    Given an agent "main"
    And an agent "other"
    And a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      when: {agent: other}
      returns: {block: true, reason: notes are closed}
      """
    And a package "manager" with the tool "close_shop"
    And the tool "close_shop" does
      """
      acts: [{do: unload, package: guard}]
      returns: {content: [{type: text, text: closed}], details: {}}
      """
    When the model of agent "other" calls "write_note"
    And the model calls "close_shop"
    And the model of agent "other" calls "write_note"
    Then call "1" fails and says "notes are closed"
    And call "3" succeeds
    And the tool "write_note" runs 1 times

  @rule:tool_call.a-removed-package-is-not-asked @case:others-are
  Scenario: The packages around one that the operator removed
    Given a package "notes" with the tool "write_note"
    And package "scout" listens to tool_call
    And package "guard" listens to tool_call
    And package "keeper" blocks "write_note" with the reason "notes are closed"
    And a package "manager" with the tool "close_shop"
    And the tool "close_shop" does
      """
      acts: [{do: unload, package: guard}]
      returns: {content: [{type: text, text: closed}], details: {}}
      """
    And the model first calls "close_shop"
    When the model calls "write_note"
    Then package "guard" sees tool_call 1 times
    And package "scout" sees tool_call 2 times
    And the tool "write_note" does not run
    And call "2" fails and says "notes are closed"

  @rule:tool_call.a-removed-package-is-not-asked @case:while-others-are-asked
  Scenario: The operator removes a package while the next one is asked
    Given a package "notes" with the tool "write_note"
    And package "scout" listens to tool_call
    And package "guard" answers tool_call with
      """
      acts: [{do: unload, package: scout}]
      """
    And package "keeper" blocks "write_note" with the reason "notes are closed"
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails and says "notes are closed"

  @rule:tool_call.a-package-that-failed-to-load-is-not-asked
  Scenario: A package whose factory threw after it had subscribed
    Given a package "notes" with the tool "write_note"
    And package "guard" blocks "write_note" with the reason "notes are closed"
    And the factory of package "guard" throws "the guard is not well"
    When the model calls "write_note"
    Then package "guard" never sees tool_call
    And the tool "write_note" runs 1 times
    And call "1" succeeds

  @rule:tool_call.a-reloaded-package-is-asked-once
  Scenario: A package that is reloaded twice
    Given a package "notes" with the tool "write_note"
    And package "guard" listens to tool_call
    When the model calls "write_note"
    And package "guard" is reloaded
    And the model calls "write_note"
    And package "guard" is reloaded
    And the model calls "write_note"
    Then package "guard" sees tool_call 3 times
    And call "3" succeeds

  @rule:tool_call.a-block-holds-beside-a-question
  Scenario: A package forbids what the user would allow
    Given the host's approval service is allowed-once
    And a package "notes" with the tool "write_note"
    And package "guard" blocks "write_note" with the reason "notes are closed"
    And the host, after the bridge, asks "write_note" with the reason "may it write?"
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails and says "notes are closed"

  @rule:tool_call.a-reload-keeps-the-order
  Scenario: A package that is reloaded keeps its place
    Given package "alpha" listens to tool_call
    And package "beta" listens to tool_call
    And a package "notes" with the tool "write_note"
    When package "alpha" is reloaded
    And the model calls "write_note"
    Then this order holds
      """
      the tool_call of call "1" in package "alpha"
      the tool_call of call "1" in package "beta"
      """

  @rule:tool_call.an-id-seen-before-is-judged-again @case:turn
  Scenario: A call with the id of a call of an earlier turn
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      when: {nth: 2}
      returns: {block: true, reason: one note is enough}
      """
    When the model calls in one message
      | id   | tool       |
      | same | write_note |
    And the model calls in one message
      | id   | tool       |
      | same | write_note |
    Then package "guard" sees tool_call 2 times
    And the tool "write_note" runs 1 times
    And request 4 carries the text "one note is enough"

  @rule:tool_call.an-id-seen-before-is-judged-again @case:step
  Scenario: A call with the id of a call of the same turn
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      when: {nth: 2}
      returns: {block: true, reason: one note is enough}
      """
    And the model of agent "main" first calls in one message
      | id   | tool       |
      | same | write_note |
    When the model calls in one message
      | id   | tool       |
      | same | write_note |
    Then package "guard" sees tool_call 2 times
    And the tool "write_note" runs 1 times
    And request 3 carries the text "one note is enough"

  @rule:tool_call.an-id-seen-before-is-judged-again @case:by-its-own-arguments
  Scenario: A later call with the same id is judged by its own arguments
    Given a package "notes" with the tool "write_note"
    And package "guard" listens to tool_call
    When the model calls in one message
      | id   | tool      | arguments   |
      | same | write_note | {"page": 1} |
    And the model calls in one message
      | id   | tool      | arguments   |
      | same | write_note | {"page": 2} |
    Then package "guard" sees tool_call with {"input": {"page": 1}}
    And package "guard" sees tool_call with {"input": {"page": 2}}

  @rule:tool_call.an-id-seen-before-is-judged-again @case:message
  Scenario: Two calls of one message with the same id
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      when: {nth: 2}
      returns: {block: true, reason: one note is enough}
      """
    When the model calls in one message
      | id   | tool       |
      | same | write_note |
      | same | write_note |
    Then package "guard" sees tool_call 2 times
    And the tool "write_note" runs 1 times
    And request 2 carries the text "one note is enough"

  @rule:tool_call.a-handler-added-at-work-is-asked-from-then-on
  Scenario: A tool adds the first handler there is
    Given a package "notes" with the tool "write_note"
    And the tool "write_note" does
      """
      when: {call: "1"}
      acts: [{do: pi, call: "on", args: [{id: late, event: tool_call}]}]
      """
    And the model first calls "write_note"
    And the model first calls "write_note"
    And the model first calls "write_note"
    When the model calls "write_note"
    And the model calls "write_note"
    Then handler "late" is entered for call "2"
    And handler "late" is entered for call "3"
    And handler "late" is entered for call "4"
    And handler "late" is entered for call "5"

  @rule:tool_call.a-handler-added-at-work-is-asked-from-then-on @case:beside-another
  Scenario: A handler adds a further one
    Given a package "notes" with the tool "write_note"
    And package "notes" listens to tool_call
    And package "notes" answers tool_result with
      """
      when: {nth: 1}
      acts: [{do: pi, call: "on", args: [{id: late, event: tool_call}]}]
      """
    And the model first calls "write_note"
    And the model first calls "write_note"
    When the model calls "write_note"
    And the model calls "write_note"
    Then handler "late" is entered for call "2"
    And handler "late" is entered for call "3"
    And handler "late" is entered for call "4"
    And package "notes" sees tool_call of call "4" with {"toolName": "write_note"}

  # --- mutation ---

  @rule:tool_call.mutation-reaches-the-tool
  Scenario Outline: A change in place is what the tool runs with
    Given a package "notes" with the tool "write_note"
    And package "notes" answers tool_call with
      """
      ops: <changes>
      """
    When the model calls "write_note" with {"text": "draft", "tags": ["a"], "meta": {"by": "me"}}
    Then the tool "write_note" runs with <arguments>

    Examples:
      | changes                                                     | arguments                                                      |
      | [{op: set, path: [input, text], value: final}]              | {"text": "final", "tags": ["a"], "meta": {"by": "me"}}         |
      | [{op: delete, path: [input, text]}]                         | {"tags": ["a"], "meta": {"by": "me"}}                          |
      | [{op: append, path: [input, tags], value: b}]               | {"text": "draft", "tags": ["a", "b"], "meta": {"by": "me"}}    |
      | [{op: set, path: [input, meta, by], value: you}]            | {"text": "draft", "tags": ["a"], "meta": {"by": "you"}}        |
      | [{op: set, path: [input, extra], value: true}]              | {"text": "draft", "tags": ["a"], "meta": {"by": "me"}, "extra": true} |

  @rule:tool_call.mutation-reaches-the-tool @case:empty
  Scenario: A key added to arguments that were empty
    Given a package "notes" with the tool "write_note"
    And package "notes" changes the argument "text" of "write_note" to "by the editor"
    And a further handler of package "notes" answers tool_call with
      """
      ops: [{op: set, path: [input, by], value: the signer}]
      """
    When the model calls "write_note" with {}
    Then the tool "write_note" runs with {"text": "by the editor", "by": "the signer"}

  @rule:tool_call.mutation-reaches-the-tool @case:beside-an-answer
  Scenario Outline: A change in place by a handler that answers as well
    Given a package "notes" with the tool "write_note"
    And package "notes" answers tool_call with
      """
      ops: [{op: set, path: [input, text], value: final}]
      returns: <answer>
      """
    When the model calls "write_note" with {"text": "draft"}
    Then the tool "write_note" runs with {"text": "final"}

    Examples:
      | answer         |
      | {}             |
      | {block: false} |
      | true           |

  @rule:tool_call.mutation-reaches-the-tool @case:registered-again
  Scenario: A change in the arguments of a tool that was registered again
    Given a package "notes" with the tool "write_note"
    And package "notes" changes the argument "text" of "write_note" to "final"
    And the tool "write_note" does
      """
      acts: [{do: pi, call: registerTool, args: [{name: write_note, description: writes, parameters: {type: object, properties: {text: {type: string}}}}]}]
      returns: {content: [{type: text, text: written}], details: {}}
      """
    And the model first calls "write_note" with {"text": "draft"}
    When the model calls "write_note" with {"text": "draft"}
    Then call "1" of "write_note" runs with {"text": "final"}
    And call "2" of "write_note" runs with {"text": "final"}

  @rule:tool_call.mutation-is-seen-by-later-handlers @case:within-a-package
  Scenario: A further handler of the package sees the change
    Given a package "notes" with the tool "write_note"
    And package "notes" changes the argument "text" of "write_note" to "second"
    And a further handler of package "notes" listens to tool_call
    When the model calls "write_note" with {"text": "first"}
    Then package "notes" sees tool_call of call "1" with {"input": {"text": "second"}}
    And the tool "write_note" runs with {"text": "second"}

  @rule:tool_call.mutation-is-seen-by-later-handlers @case:across-packages
  Scenario: A package loaded later sees the change
    Given a package "notes" with the tool "write_note"
    And package "notes" changes the argument "text" of "write_note" to "second"
    And package "reader" listens to tool_call
    When the model calls "write_note" with {"text": "first"}
    Then package "reader" sees tool_call of call "1" with {"input": {"text": "second"}}

  @rule:tool_call.mutation-reaches-any-packages-tool @case:owner-first
  Scenario: A package loaded after the tool's owner
    Given a package "notes" with the tool "write_note"
    And package "editor" changes the argument "text" of "write_note" to "by the editor"
    When the model calls "write_note" with {"text": "by the model"}
    Then the tool "write_note" runs with {"text": "by the editor"}
    And call "1" succeeds

  @rule:tool_call.mutation-reaches-any-packages-tool @case:of-one-name
  Scenario: A package changes the arguments of another one's tool, whose name it registered, too
    Given a package "scales" with the tool "weigh"
    And a package "editor" with the tool "weigh"
    And package "editor" changes the argument "grams" of "weigh" to 7
    When the model calls "weigh" with {"grams": 3}
    Then the tool "weigh" runs with {"grams": 7}

  @rule:tool_call.mutation-reaches-any-packages-tool @case:owner-last
  Scenario: A package loaded before the tool's owner
    Given package "editor" changes the argument "text" of "write_note" to "by the editor"
    And a package "notes" with the tool "write_note"
    When the model calls "write_note" with {"text": "by the model"}
    Then the tool "write_note" runs with {"text": "by the editor"}
    And call "1" succeeds

  @rule:tool_call.mutation-is-not-validated-again
  Scenario Outline: A change that no longer fits the schema
    Given a package "scales" with the tool "weigh" and
      """
      parameters: {type: object, properties: {grams: {type: number}}, required: [grams], additionalProperties: false}
      """
    And package "scales" answers tool_call with
      """
      ops: <changes>
      """
    When the model calls "weigh" with {"grams": 3}
    Then the tool "weigh" runs with <arguments>
    And call "1" succeeds

    Examples:
      | changes                                          | arguments                  |
      | [{op: set, path: [input, grams], value: heavy}]  | {"grams": "heavy"}         |
      | [{op: set, path: [input, grams], value: {a: 1}}] | {"grams": {"a": 1}}        |
      | [{op: delete, path: [input, grams]}]             | {}                         |
      | [{op: set, path: [input, unit], value: kg}]      | {"grams": 3, "unit": "kg"} |

  @rule:tool_call.mutation-never-reaches-the-log
  Scenario: A secret put in by a handler leaks nowhere
    Given a package "vault" with the tool "log_in"
    And package "vault" listens to every tool event
    And the tool "log_in" sends the update "working"
    And package "vault" changes the argument "password" of "log_in" to "hunter2-swordfish"
    When the model calls "log_in" with {"password": "{{secret}}"}
    Then the tool "log_in" runs with {"password": "hunter2-swordfish"}
    And the log keeps {"password": "{{secret}}"} as the arguments of call "1"
    And "hunter2-swordfish" is nowhere in the log
    And package "vault" sees tool_execution_start of call "1" with {"args": {"password": "{{secret}}"}}

  @rule:tool_call.replacing-the-input-changes-nothing @case:assigned
  Scenario: Assigning event.input
    Given a package "notes" with the tool "write_note"
    And package "notes" answers tool_call with
      """
      ops: [{op: assign, path: [input], value: {text: assigned}}]
      """
    When the model calls "write_note" with {"text": "draft"}
    Then the tool "write_note" runs with {"text": "draft"}

  @rule:tool_call.replacing-the-input-changes-nothing @case:returned
  Scenario: Returning an input
    Given a package "notes" with the tool "write_note"
    And package "notes" answers tool_call with
      """
      returns: {input: {text: returned}}
      """
    When the model calls "write_note" with {"text": "draft"}
    Then the tool "write_note" runs with {"text": "draft"}

  @rule:tool_call.replacing-the-input-changes-nothing @case:native
  Scenario Outline: A native tool whose handler is <how> another input
    Given a native tool "disk_cleaner"
    And package "rewriter" answers tool_call with
      """
      <answer>
      """
    When the model calls "disk_cleaner" with {"path": "/home"}
    Then the tool "disk_cleaner" runs with {"path": "/home"}
    And call "1" succeeds

    Examples:
      | how       | answer                                                    |
      | assigning | ops: [{op: assign, path: [input], value: {path: /tmp}}]   |
      | returning | returns: {input: {path: /tmp}}                            |

  @rule:tool_call.replacing-the-input-changes-nothing @case:and-then-changed
  Scenario: One package assigns event.input, and the next writes what was there into what it finds
    Given a package "notes" with the tool "write_note"
    And a native tool "disk_cleaner"
    And package "replacer" answers tool_call with
      """
      ops: [{op: assign, path: [input], value: {text: assigned, more: assigned as well}}]
      """
    And package "rewriter" answers tool_call with
      """
      ops: [{op: set, path: [input, text], value: draft}]
      """
    When the model calls in one message
      | tool         | arguments         |
      | write_note   | {"text": "draft"} |
      | disk_cleaner | {"text": "draft"} |
    Then the tool "write_note" runs with {"text": "draft"}
    And the tool "disk_cleaner" runs with {"text": "draft"}

  @rule:tool_call.assigned-names-rename-nothing
  Scenario Outline: A handler assigns the event's <name>
    Given a package "notes" with the tool "write_note"
    And a native tool "disk_cleaner"
    And package "recorder" listens to every tool event
    And package "renamer" answers tool_call with
      """
      ops: [{op: assign, path: [<name>], value: assigned}]
      """
    When the model calls in one message
      | tool         |
      | write_note   |
      | disk_cleaner |
    Then the tool "write_note" runs 1 times
    And the tool "disk_cleaner" runs 1 times
    And package "recorder" sees tool_result of call "1" with {"toolName": "write_note"}
    And package "recorder" sees tool_execution_end of call "1" with {"toolName": "write_note", "isError": false}
    And package "recorder" sees tool_result of call "2" with {"toolName": "disk_cleaner"}
    And package "recorder" sees tool_execution_end of call "2" with {"toolName": "disk_cleaner", "isError": false}

    Examples:
      | name       |
      | toolName   |
      | toolCallId |

  @rule:tool_call.calls-share-no-arguments
  Scenario: Two calls with equal arguments
    Given a package "notes" with the tool "write_note"
    And package "notes" answers tool_call with
      """
      when: {call: "1"}
      ops: [{op: set, path: [input, text], value: changed}]
      """
    And the tool "write_note" does
      """
      ops: [{op: set, path: [text], value: spoiled by the tool}]
      returns: {content: [{type: text, text: written}]}
      """
    When the model calls in one message
      | tool       | arguments         |
      | write_note | {"text": "draft"} |
      | write_note | {"text": "draft"} |
    Then call "2" of "write_note" runs with {"text": "draft"}
    And the log keeps {"text": "draft"} as the arguments of call "1"
    And the log keeps {"text": "draft"} as the arguments of call "2"

  @rule:tool_call.calls-share-no-arguments @case:empty
  Scenario Outline: Two calls without arguments, of which a handler changes the first
    Given a package "notes" with the tool "write_note"
    And package "notes" answers tool_call with
      """
      when: {call: "1"}
      ops: [{op: set, path: [input, text], value: by the handler}]
      """
    And package "notes" registers the tool "read_note"
    When the model calls in one message
      | tool       | arguments |
      | write_note | {}        |
      | write_note | {}        |
      | read_note  | {}        |
    And the model calls "write_note" with {}
    Then call "1" of "write_note" runs with {"text": "by the handler"}
    And call "<other>" of "<tool>" runs with {}

    Examples:
      | other | tool       |
      | 2     | write_note |
      | 3     | read_note  |
      | 4     | write_note |

  @rule:tool_call.what-json-cannot-carry-harms-no-change
  Scenario Outline: A handler changes an argument and adds a <value>
    Given a package "notes" with the tool "write_note"
    And package "notes" answers tool_call with
      """
      ops:
        - {op: set, path: [input, text], value: by the editor}
        - {op: set, path: [input, extra], value: <tag>}
      """
    When the model calls "write_note" with {"text": "by the model"}
    Then the tool "write_note" runs 1 times
    And call "1" succeeds with "write_note ok"

    Examples:
      | value    | tag                        |
      | function | {$: function}              |
      | symbol   | {$: symbol}                |
      | cycle    | {$: cycle}                 |
      | big int  | {$: bigint, digits: "123"} |

  @rule:tool_call.late-mutation-does-no-harm
  Scenario: A handler that goes on writing after it has answered
    Given a package "notes" with the tool "write_note"
    And package "notes" answers tool_call with
      """
      ops: [{op: set, path: [input, text], value: too late, at: after-return}]
      """
    When the model calls "write_note" with {"text": "draft"}
    Then call "1" succeeds
    And the log keeps {"text": "draft"} as the arguments of call "1"
    And the model is asked 2 times

  @rule:tool_call.native-arguments-are-never-rewritten @on:bridge
  Scenario: A changed argument keeps a native tool from running
    Given a native tool "disk_cleaner"
    And package "rewriter" changes the argument "path" of "disk_cleaner" to "/tmp"
    When the model calls "disk_cleaner" with {"path": "/home"}
    Then the tool "disk_cleaner" does not run
    And call "1" fails and says "disk_cleaner"
    And call "1" fails and says "argument"
    And the log keeps {"path": "/home"} as the arguments of call "1"

  @rule:tool_call.a-native-tool-is-one-whatever-its-name
  Scenario: A native tool has the name of a tool that a package has for another agent
    Given an agent "main"
    And an agent "other"
    And a native tool "lens_opener"
    And a native tool "lens_cleaner" in the agent's own scope
    And package "optics" answers tool_call with
      """
      when: {agent: other, tool: lens_opener}
      acts: [{do: pi, call: registerTool, args: [{name: lens_cleaner, description: cleans, parameters: {type: object, properties: {}}}]}]
      """
    And package "rewriter" changes the argument "path" of "lens_cleaner" to "/tmp"
    When the model of agent "other" calls "lens_opener"
    And the model calls "lens_cleaner" with {"path": "/home"}
    Then the tool "lens_cleaner" does not run
    And call "2" fails and says "lens_cleaner"
    And the log keeps {"path": "/home"} as the arguments of call "2"

  @rule:tool_call.a-native-tool-is-one-whatever-its-name @case:to-that-package
  Scenario: The package that has a tool of that name for another agent changes the native one's arguments
    Given an agent "main"
    And an agent "other"
    And a native tool "lens_opener"
    And a native tool "lens_cleaner" in the agent's own scope
    And package "optics" answers tool_call with
      """
      when: {agent: other, tool: lens_opener}
      acts: [{do: pi, call: registerTool, args: [{name: lens_cleaner, description: cleans, parameters: {type: object, properties: {}}}]}]
      """
    And package "optics" changes the argument "path" of "lens_cleaner" to "/tmp"
    When the model of agent "other" calls "lens_opener"
    And the model calls "lens_cleaner" with {"path": "/home"}
    Then the tool "lens_cleaner" does not run
    And call "2" fails and says "lens_cleaner"
    And the log keeps {"path": "/home"} as the arguments of call "2"

  @rule:tool_call.a-refused-name-is-the-hosts
  Scenario: A package changes the arguments of the host's tool whose name it was refused
    Given the host's reserved transport tool "run_code"
    And package "optics" registers the tool "run_code"
    And package "optics" changes the argument "code" of "run_code" to "return 2"
    When the model calls "run_code" with {"code": "return 1", "description": "Count"}
    Then the tool "run_code" does not run
    And call "1" fails and says "run_code"
    And the log keeps {"code": "return 1", "description": "Count"} as the arguments of call "1"

  @rule:tool_call.a-native-tool-is-one-whatever-its-name @case:in-another-case
  Scenario: A native tool has the name of a package's tool in another case
    Given a native tool "Lens_Cleaner"
    And a package "optics" with the tool "lens_cleaner"
    And package "rewriter" changes the argument "path" of "Lens_Cleaner" to "/tmp"
    And the model first calls "lens_cleaner"
    When the model calls "Lens_Cleaner" with {"path": "/home"}
    Then the tool "Lens_Cleaner" does not run
    And call "2" fails and says "Lens_Cleaner"

  @rule:tool_call.native-arguments-are-never-rewritten @on:pi
  Scenario: On Pi the changed argument reaches the tool
    Given a native tool "disk_cleaner"
    And package "rewriter" changes the argument "path" of "disk_cleaner" to "/tmp"
    When the model calls "disk_cleaner" with {"path": "/home"}
    Then the tool "disk_cleaner" runs with {"path": "/tmp"}
    And the log keeps {"path": "/home"} as the arguments of call "1"

  @rule:tool_call.only-a-different-value-is-a-mutation
  Scenario Outline: Writes that leave the value as it was
    Given a native tool "disk_cleaner"
    And package "rewriter" answers tool_call with
      """
      ops: <changes>
      """
    When the model calls "disk_cleaner" with {"path": "/home", "deep": {"a": 1, "b": 2}}
    Then the tool "disk_cleaner" runs with {"path": "/home", "deep": {"a": 1, "b": 2}}
    And call "1" succeeds

    Examples:
      | changes                                                                                  |
      | [{op: set, path: [input, path], value: /home}]                                           |
      | [{op: set, path: [input, later], value: {"$": undefined}}]                               |
      | [{op: delete, path: [input, path]}, {op: set, path: [input, path], value: /home}]        |
      | [{op: set, path: [input, deep], value: {b: 2, a: 1}}]                                    |
      | [{op: delete, path: [input, nothing]}]                                                   |

  @rule:tool_call.only-a-different-value-is-a-mutation @case:put-back
  Scenario: One package changes an argument and the next puts it back
    Given a native tool "disk_cleaner"
    And package "rewriter" changes the argument "path" of "disk_cleaner" to "/tmp"
    And package "restorer" changes the argument "path" of "disk_cleaner" to "/home"
    When the model calls "disk_cleaner" with {"path": "/home"}
    Then the tool "disk_cleaner" runs with {"path": "/home"}
    And call "1" succeeds

  @rule:tool_call.only-a-different-value-is-a-mutation @case:beside-a-changed-one
  Scenario: Of two calls of one message a handler changes the first
    Given a native tool "disk_cleaner"
    And package "rewriter" answers tool_call with
      """
      when: {call: "1"}
      ops: [{op: set, path: [input, path], value: /tmp}]
      """
    When the model calls in one message
      | tool         | arguments         |
      | disk_cleaner | {"path": "/home"} |
      | disk_cleaner | {"path": "/home"} |
    Then call "1" fails and says "disk_cleaner"
    And call "2" of "disk_cleaner" runs with {"path": "/home"}
    And call "2" succeeds

  @rule:tool_call.only-a-different-value-is-a-mutation @case:written-in-another-way
  Scenario: Arguments that the model writes in another way than a program would
    Given a native tool "disk_cleaner"
    And package "watcher" listens to tool_call
    When the model calls "disk_cleaner" with the argument text
      """
      { "count" : 1.0, "size":1e2, "name": "\u00e9", "path": "a\/b",
        "path": "c\/d" }
      """
    Then the tool "disk_cleaner" runs with {"count": 1, "size": 100, "name": "é", "path": "c/d"}
    And call "1" succeeds

  @rule:tool_call.deep-changes-are-mutations
  Scenario Outline: A change anywhere inside
    Given a native tool "disk_cleaner"
    And package "rewriter" answers tool_call with
      """
      ops: <changes>
      """
    When the model calls "disk_cleaner" with {"path": "/home", "deep": {"list": [1, 2]}, "count": 1}
    Then the tool "disk_cleaner" does not run
    And call "1" fails and says "disk_cleaner"

    Examples:
      | changes                                                  |
      | [{op: set, path: [input, deep, list, 1], value: 3}]      |
      | [{op: append, path: [input, deep, list], value: 3}]      |
      | [{op: delete, path: [input, path]}]                      |
      | [{op: set, path: [input, count], value: "1"}]            |
      | [{op: set, path: [input, count], value: true}]           |
      | [{op: set, path: [input, path], value: null}]            |
      | [{op: set, path: [input, extra], value: null}]           |
      | [{op: set, path: [input, path], value: "/home "}]        |
      | [{op: set, path: [input, path], value: /HOME}]           |
      | [{op: set, path: [input, deep, list], value: [2, 1]}]    |
      | [{op: set, path: [input, deep, list], value: [1]}]       |

  @rule:tool_call.deep-changes-are-mutations @case:by-the-last-package
  Scenario: A change by the package that is asked last
    Given a native tool "disk_cleaner"
    And package "watcher" listens to tool_call
    And package "guard" listens to tool_call
    And package "rewriter" changes the argument "path" of "disk_cleaner" to "/tmp"
    When the model calls "disk_cleaner" with {"path": "/home"}
    Then the tool "disk_cleaner" does not run
    And call "1" fails and says "disk_cleaner"

  @rule:tool_call.deep-changes-are-mutations @case:empty
  Scenario: A key added to arguments that were empty keeps a native tool from running
    Given a native tool "disk_cleaner"
    And package "rewriter" changes the argument "path" of "disk_cleaner" to "/tmp"
    When the model calls "disk_cleaner" with {}
    Then the tool "disk_cleaner" does not run
    And call "1" fails and says "disk_cleaner"

  @rule:tool_call.deep-changes-are-mutations @case:far-in
  Scenario Outline: A change far inside, or far back
    Given a native tool "disk_cleaner"
    And package "rewriter" answers tool_call with
      """
      ops: <changes>
      """
    When the model calls "disk_cleaner" with <arguments>
    Then the tool "disk_cleaner" does not run
    And call "1" fails and says "disk_cleaner"

    Examples:
      | changes                                                                   | arguments                                                             |
      | [{op: set, path: [input, a, b, c, d, e, f, g, h, 0], value: 2}]           | {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": [1]}}}}}}}}           |
      | [{op: set, path: [input, a, b, c, d], value: 2}]                          | {"a": {"b": {"c": {"d": 1}}}}                                         |
      | [{op: set, path: [input, rows, 129], value: 2}]                           | {"rows": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]} |
      | [{op: append, path: [input, rows], value: 0}]                             | {"rows": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]} |
      | [{op: set, path: [input, k39], value: 2}]                                 | {"k0": 1, "k1": 1, "k2": 1, "k3": 1, "k4": 1, "k5": 1, "k6": 1, "k7": 1, "k8": 1, "k9": 1, "k10": 1, "k11": 1, "k12": 1, "k13": 1, "k14": 1, "k15": 1, "k16": 1, "k17": 1, "k18": 1, "k19": 1, "k20": 1, "k21": 1, "k22": 1, "k23": 1, "k24": 1, "k25": 1, "k26": 1, "k27": 1, "k28": 1, "k29": 1, "k30": 1, "k31": 1, "k32": 1, "k33": 1, "k34": 1, "k35": 1, "k36": 1, "k37": 1, "k38": 1, "k39": 1} |

  @rule:tool_call.deep-changes-are-mutations @case:at-the-end-of-a-long-text
  Scenario: A long text with more behind it
    Given a native tool "disk_cleaner"
    And package "rewriter" changes the argument "path" of "disk_cleaner" to {"$": "repeat", "text": "a long one", "times": 20001}
    When the model calls "disk_cleaner" with {"path": {"$": "repeat", "text": "a long one", "times": 20000}}
    Then the tool "disk_cleaner" does not run
    And call "1" fails and says "disk_cleaner"

  @rule:tool_call.a-block-beside-a-mutation-is-a-block
  Scenario: A handler that changes and blocks
    Given a native tool "disk_cleaner"
    And package "rewriter" answers tool_call with
      """
      ops: [{op: set, path: [input, path], value: /tmp}]
      returns: {block: true, reason: the rewriter's reason}
      """
    When the model calls "disk_cleaner" with {"path": "/home"}
    Then the tool "disk_cleaner" does not run
    And call "1" fails

  @rule:tool_call.a-block-beside-a-mutation-keeps-its-reason
  Scenario: The reason of a handler that changes and blocks
    Given a native tool "disk_cleaner"
    And package "rewriter" answers tool_call with
      """
      ops: [{op: set, path: [input, path], value: /tmp}]
      returns: {block: true, reason: the rewriter's reason}
      """
    When the model calls "disk_cleaner" with {"path": "/home"}
    Then call "1" fails and says "the rewriter's reason"

  @rule:tool_call.a-block-beside-a-mutation-keeps-its-reason @case:asking-to-stop
  Scenario: The wish to stop of a handler that changes and blocks
    Given a native tool "disk_cleaner"
    And package "rewriter" answers tool_call with
      """
      ops: [{op: set, path: [input, path], value: /tmp}]
      returns: {block: true, reason: the rewriter's reason, terminate: true}
      """
    When the model calls "disk_cleaner" with {"path": "/home"}
    Then call "1" fails and says "the rewriter's reason"
    And the model is asked 1 times

  @rule:tool_call.a-rewriter-is-refused-every-time
  Scenario: Three calls of a native tool that a package always rewrites
    Given a native tool "shell_runner"
    And package "rewriter" changes the argument "command" of "shell_runner" to "time ls"
    And the model first calls "shell_runner" with {"command": "ls"}
    And the model first calls "shell_runner" with {"command": "ls"}
    When the model calls "shell_runner" with {"command": "ls"}
    Then the tool "shell_runner" does not run
    And call "1" fails and says "shell_runner"
    And call "2" fails and says "shell_runner"
    And call "3" fails and says "shell_runner"
    And the model is asked 4 times

  # --- the batch rule beyond its table ---

  @rule:tool_call.a-thrown-value-is-no-wish-to-stop
  Scenario: A tool throws an object that looks like a wish
    Given a package "notes" with the tool "write_note"
    And the tool "write_note" does
      """
      throws: {content: [], details: {}, terminate: true}
      """
    When the model calls "write_note"
    Then call "1" fails
    And the model is asked 2 times

  @rule:tool_call.the-loop-stops-only-when-every-call-asked @case:judge-threw
  Scenario: A handler throws an object that looks like a wish
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      throws: {block: true, reason: closed, terminate: true}
      """
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And the model is asked 2 times

  @rule:tool_call.the-loop-stops-only-when-every-call-asked @case:another-handlers-wish
  Scenario Outline: A wish of one handler, and the block of another that has none
    Given a package "notes" with the tool "write_note"
    And package "watcher" answers tool_call with
      """
      returns: <answer>
      """
    And package "guard" blocks "write_note" with the reason "notes are closed"
    When the model calls "write_note"
    Then call "1" fails and says "notes are closed"
    And the model is asked 2 times

    Examples:
      | answer                          |
      | {terminate: true}               |
      | {block: false, terminate: true} |

  @rule:tool_call.the-loop-stops-only-when-every-call-asked @case:judge-threw-beside-a-wish
  Scenario Outline: A judge throws at one call and blocks another, asking to stop
    Given a package "notes" with the tool "write_note"
    And package "notes" registers the tool "read_note"
    And package "guard" answers tool_call with
      """
      when: {tool: write_note}
      throws: {$: error, name: Error, message: the guard stumbled}
      """
    And package "guard" blocks "read_note" asking to stop
    When the model calls in one message
      | tool     |
      | <first>  |
      | <second> |
    Then the tool "write_note" does not run
    And the tool "read_note" does not run
    And the model is asked 2 times

    Examples:
      | first      | second     |
      | write_note | read_note  |
      | read_note  | write_note |

  @rule:tool_call.the-loop-stops-only-when-every-call-asked @case:judges-of-two-packages
  Scenario Outline: The <first> package blocks a call, and the <second> one another, asking to stop
    Given a package "notes" with the tool "write_note"
    And package "notes" registers the tool "read_note"
    And package "early" listens to tool_call
    And package "late" listens to tool_call
    And package "<first>" blocks "write_note" with the reason "notes are closed"
    And package "<second>" blocks "read_note" asking to stop
    When the model calls in one message
      | tool       |
      | write_note |
      | read_note  |
    Then call "1" fails and says "notes are closed"
    And the model is asked 2 times

    Examples:
      | first | second |
      | early | late   |
      | late  | early  |

  @rule:tool_call.the-loop-stops-only-when-every-call-asked @case:asked-by-two-packages
  Scenario Outline: The <first> package blocks a call asking to stop, and the <second> one another
    Given a package "notes" with the tool "write_note"
    And package "notes" registers the tool "read_note"
    And package "early" listens to tool_call
    And package "late" listens to tool_call
    And package "<first>" blocks "write_note" asking to stop
    And package "<second>" blocks "read_note" asking to stop
    When the model calls in one message
      | tool       |
      | write_note |
      | read_note  |
    Then the model is asked 1 times

    Examples:
      | first | second |
      | early | late   |
      | late  | early  |

  @rule:tool_call.refused-and-denied-calls-did-not-ask
  Scenario: A handler changes a native tool's arguments and wishes to stop without a block
    Given a native tool "disk_cleaner"
    And package "rewriter" answers tool_call with
      """
      ops: [{op: set, path: [input, path], value: /tmp}]
      returns: {terminate: true}
      """
    When the model calls "disk_cleaner" with {"path": "/home"}
    Then the tool "disk_cleaner" does not run
    And the model is asked 2 times

  @rule:tool_call.refused-and-denied-calls-did-not-ask @case:of-the-host
  Scenario Outline: A call that the host <does>, and one that is blocked asking to stop
    Given a package "notes" with the tool "write_note"
    And package "notes" registers the tool "read_note"
    And <host>
    And package "guard" blocks "read_note" asking to stop
    When the model calls in one message
      | tool       |
      | write_note |
      | read_note  |
    Then the tool "write_note" does not run
    And the tool "read_note" does not run
    And the model is asked 2 times

    Examples:
      | does         | host                                                           |
      | denies       | the host denies "write_note" with the reason "notes are closed" |
      | breaks off   | the host's listener of "write_note" throws "the host stumbled" |
      | forbids      | the host's guard of "write_note" throws "the host stumbled"    |

  @rule:tool_call.a-native-calls-block-may-ask
  Scenario: A native tool's call is blocked by a package that asks to stop
    Given a native tool "disk_cleaner"
    And package "guard" blocks "disk_cleaner" asking to stop
    When the model calls "disk_cleaner"
    Then the tool "disk_cleaner" does not run
    And the model is asked 1 times

  @rule:tool_call.only-true-asks @case:beside-a-block
  Scenario Outline: Terminate beside a block that is not true
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      returns: {block: true, reason: closed, terminate: <terminate>}
      """
    When the model calls "write_note"
    Then the model is asked 2 times

    Examples:
      | terminate |
      | 1         |
      | "true"    |

  @rule:tool_call.only-true-asks @case:in-a-result
  Scenario Outline: Terminate in a result that is not true
    Given a package "notes" with the tool "write_note"
    And the tool "write_note" does
      """
      returns: {content: [{type: text, text: written}], terminate: <terminate>}
      """
    When the model calls "write_note"
    Then call "1" succeeds with "written"
    And the model is asked 2 times

    Examples:
      | terminate |
      | 1         |
      | "true"    |

  @rule:tool_call.the-loop-stops-only-when-every-call-asked @case:without-a-reason
  Scenario: A block that asks to stop and gives no reason
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      returns: {block: true, terminate: true}
      """
    When the model calls "write_note"
    Then call "1" fails with a text
    And the model is asked 1 times

  @rule:tool_call.the-loop-stops-only-when-every-call-asked @case:beside-a-change
  Scenario: A block that asks to stop, of a call whose arguments were changed
    Given a package "notes" with the tool "write_note"
    And package "notes" changes the argument "text" of "write_note" to "by the editor"
    And package "guard" blocks "write_note" asking to stop
    When the model calls "write_note" with {"text": "by the model"}
    Then the tool "write_note" does not run
    And the model is asked 1 times

  @rule:tool_call.the-loop-stops-only-when-every-call-asked @case:asked-before
  Scenario: A tool that asked in one call and does not in the next
    Given a package "notes" with the tool "write_note"
    And the tool "write_note" asks to stop
    And the tool "write_note" does
      """
      when: {call: "2"}
      returns: {content: [{type: text, text: not done yet}]}
      """
    When the model calls "write_note"
    And the model calls "write_note"
    Then the model is asked 3 times

  @rule:tool_call.the-loop-stops-only-when-every-call-asked @case:later-step
  Scenario: A call that asks to stop comes after one that did not, for the same prompt
    Given a package "notes" with the tool "write_note"
    And package "notes" registers the tool "close_book"
    And the tool "close_book" asks to stop
    And the model first calls "write_note"
    When the model calls "close_book"
    Then call "2" succeeds
    And the model is asked 2 times

  @rule:tool_call.the-loop-stops-only-when-every-call-asked @case:same-tool
  Scenario Outline: Of two calls of one tool, one asks to stop
    Given a package "notes" with the tool "write_note"
    And the tool "write_note" does
      """
      when: {call: "<asks>"}
      returns: {content: [{type: text, text: that is all}], terminate: true}
      """
    When the model calls in one message
      | tool       |
      | write_note |
      | write_note |
    Then call "1" succeeds
    And call "2" succeeds
    And the model is asked 2 times

    Examples:
      | asks |
      | 1    |
      | 2    |

  @rule:tool_call.the-loop-stops-only-when-every-call-asked @case:same-tool-blocked
  Scenario Outline: Of two calls of one tool, one is blocked by a package that asks to stop
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      when: {call: "<blocked>"}
      returns: {block: true, reason: closed, terminate: true}
      """
    When the model calls in one message
      | tool       |
      | write_note |
      | write_note |
    Then call "<blocked>" fails and says "closed"
    And the tool "write_note" runs 1 times
    And the model is asked 2 times

    Examples:
      | blocked |
      | 1       |
      | 2       |

  @rule:tool_call.the-loop-stops-only-when-every-call-asked @case:same-id
  Scenario: Of two calls with one id, the second asks to stop
    Given a package "notes" with the tool "write_note"
    And package "notes" registers the tool "close_book"
    And the tool "close_book" asks to stop
    When the model calls in one message
      | id   | tool       |
      | same | write_note |
      | same | close_book |
    Then the model is asked 2 times

  @rule:tool_call.the-loop-stops-only-when-every-call-asked @case:same-id-later
  Scenario Outline: A call has the id of an earlier one that asked to stop
    Given a package "notes" with the tool "write_note"
    And package "notes" registers the tool "close_book"
    And the tool "close_book" asks to stop
    And the model of agent "main" first calls in one message
      | id   | tool       |
      | same | close_book |
      | more | write_note |
    When the model calls in one message
      | id      | tool    |
      | <later> | <again> |
    Then the model is asked <times> times

    Examples:
      | later | again      | times |
      | same  | write_note | 3     |
      | more  | close_book | 2     |

  @rule:tool_call.the-loop-stops-only-when-every-call-asked @case:same-id-blocked-before
  Scenario: A call has the id of an earlier one that was blocked by a package that asked to stop
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      when: {nth: 1}
      returns: {block: true, reason: closed, terminate: true}
      """
    And the model of agent "main" first calls in one message
      | id   | tool       |
      | same | write_note |
      | more | write_note |
    When the model calls in one message
      | id   | tool       |
      | same | write_note |
    Then the tool "write_note" runs 2 times
    And the model is asked 3 times

  @rule:tool_call.the-loop-stops-only-when-every-call-asked @case:without-content
  Scenario Outline: A result without content that asks to stop
    Given a package "notes" with the tool "write_note"
    And the tool "write_note" does
      """
      returns: {content: <content>, details: {}, terminate: true}
      """
    When the model calls "write_note"
    Then call "1" succeeds
    And the model is asked 1 times

    Examples:
      | content                  |
      | []                       |
      | [{type: text, text: ""}] |

  @rule:tool_call.input-at-the-stop-is-answered
  Scenario Outline: Input queued while the last call is judged
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      acts: [{do: say, how: <how>, text: "wait, one more thing"}]
      returns: {block: true, reason: closed, terminate: true}
      """
    When the model calls "write_note"
    Then the model is asked 2 times
    And request 2 carries the text "wait, one more thing"

    Examples:
      | how       |
      | steer     |
      | follow_up |

  @rule:tool_call.input-at-the-stop-is-answered @case:more-than-one
  Scenario Outline: Two things that the user says while the last call is judged
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      acts: [{do: say, how: <first>, text: "wait, one more thing"}, {do: say, how: <second>, text: and another one}]
      returns: {block: true, reason: closed, terminate: true}
      """
    When the model calls "write_note"
    Then the last request carries the text "and another one"
    And request 2 carries the text "wait, one more thing"

    Examples:
      | first     | second    |
      | follow_up | follow_up |
      | steer     | follow_up |
      | steer     | steer     |

  @rule:tool_call.input-at-the-stop-is-answered @case:late
  Scenario Outline: Input queued while the end of the last call is told
    Given a package "notes" with the tool "write_note"
    And the tool "write_note" asks to stop
    And package "notes" answers <event> with
      """
      acts: [{do: say, how: <how>, text: "wait, one more thing"}]
      """
    When the model calls "write_note"
    Then the model is asked 2 times
    And request 2 carries the text "wait, one more thing"

    Examples:
      | event              | how       |
      | tool_result        | steer     |
      | tool_result        | follow_up |
      | tool_execution_end | steer     |
      | tool_execution_end | follow_up |

  @rule:tool_call.input-at-the-stop-is-answered @case:early
  Scenario: A follow-up queued while an earlier call of the same prompt ran
    Given a package "notes" with the tool "write_note"
    And package "notes" registers the tool "close_book"
    And the tool "write_note" does
      """
      acts: [{do: say, how: follow_up, text: "when you are done, one more thing"}]
      """
    And the tool "close_book" asks to stop
    And the model first calls "write_note"
    When the model calls "close_book"
    Then the model is asked 3 times
    And request 3 carries the text "when you are done, one more thing"

  @rule:tool_call.input-at-the-stop-is-answered @case:again
  Scenario: Input queued at the second stop of one prompt
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      acts: [{do: say, how: steer, text: go on}]
      returns: {block: true, reason: closed, terminate: true}
      """
    And package "guard" answers tool_call with
      """
      when: {call: "3"}
      returns: {block: true, reason: closed, terminate: true}
      """
    And the model first calls "write_note"
    And the model first calls "write_note"
    When the model calls "write_note"
    Then the model is asked 3 times

  @rule:tool_call.votes-are-counted-per-agent @case:another-ends-meanwhile
  Scenario: An agent's call that did not ask still counts when another agent has ended meanwhile
    Given an agent "main"
    And an agent "other"
    And a package "notes" with the tool "write_note"
    And package "notes" registers the tool "close_book"
    And the tool "close_book" does
      """
      acts: [{do: end-agent, agent: other}]
      returns: {content: [{type: text, text: closed}], details: {}, terminate: true}
      """
    When the model calls in one message
      | tool       |
      | write_note |
      | close_book |
    Then call "1" succeeds
    And call "2" succeeds
    And the model is asked 2 times

  @rule:tool_call.input-skips-no-call
  Scenario Outline: The user says something while the first of three calls runs
    Given a package "notes" with the tool "write_note" and
      """
      executionMode: sequential
      """
    And the tool "write_note" does
      """
      when: {call: "1"}
      acts: [{do: say, how: <how>, text: "wait, one more thing"}]
      returns: {content: [{type: text, text: written}], details: {}}
      """
    When the model calls in one message
      | tool       |
      | write_note |
      | write_note |
      | write_note |
    Then the tool "write_note" runs 3 times
    And call "3" succeeds
    And the last request carries the text "wait, one more thing"

    Examples:
      | how       |
      | steer     |
      | follow_up |

  @rule:tool_call.a-vote-ends-with-its-batch @case:next-prompt
  Scenario: The prompt after a stop is answered
    Given a package "notes" with the tool "write_note"
    And package "guard" blocks "write_note" asking to stop
    When the model calls "write_note"
    And the user says "are you there?"
    Then the model is asked 2 times
    And request 2 carries the text "are you there?"

  @rule:tool_call.a-vote-ends-with-its-batch @case:next-batch
  Scenario: A later batch is judged by its own calls
    Given a package "notes" with the tool "write_note"
    And package "notes" registers the tool "read_note"
    And the tool "write_note" asks to stop
    When the model calls "write_note"
    And the model calls "read_note"
    Then the model is asked 3 times

  @rule:tool_call.a-vote-ends-with-its-batch @case:after-one-that-did-not-ask
  Scenario: A batch stops although an earlier one went on
    Given a package "notes" with the tool "write_note"
    And package "notes" registers the tool "read_note"
    And the tool "write_note" asks to stop
    When the model calls "read_note"
    And the model calls "write_note"
    Then the model is asked 3 times

  @rule:tool_call.a-vote-ends-with-its-batch @case:again
  Scenario: A batch stops once more, and a third time
    Given a package "notes" with the tool "write_note"
    And the tool "write_note" asks to stop
    When the model calls "write_note"
    And the model calls "write_note"
    And the model calls "write_note"
    Then the model is asked 3 times

  @rule:tool_call.a-vote-ends-with-its-batch @case:throws-later
  Scenario: A tool that asked to stop throws the next time
    Given a package "notes" with the tool "write_note"
    And the tool "write_note" asks to stop
    And the tool "write_note" does
      """
      when: {call: "2"}
      throws: the pen broke
      """
    When the model calls "write_note"
    And the model calls "write_note"
    Then call "2" fails and says "the pen broke"
    And the model is asked 3 times

  @rule:tool_call.a-vote-outlives-its-package @case:of-its-tool
  Scenario: The package of a tool that asked to stop is removed by the next call, which asks as well
    Given a package "notes" with the tool "write_note"
    And the tool "write_note" asks to stop
    And a package "manager" with the tool "close_shop"
    And the tool "close_shop" does
      """
      acts: [{do: unload, package: notes}]
      returns: {content: [{type: text, text: closed}], details: {}, terminate: true}
      """
    When the model calls in one message
      | tool       |
      | write_note |
      | close_shop |
    Then call "1" succeeds
    And call "2" succeeds
    And the model is asked 1 times

  @rule:tool_call.a-vote-outlives-its-package @case:of-its-judge
  Scenario: A package that blocked a call asking to stop is removed by the next call, which asks as well
    Given a package "notes" with the tool "write_note"
    And package "guard" blocks "write_note" asking to stop
    And a package "manager" with the tool "close_shop"
    And the tool "close_shop" does
      """
      acts: [{do: unload, package: guard}]
      returns: {content: [{type: text, text: closed}], details: {}, terminate: true}
      """
    When the model calls in one message
      | tool       |
      | write_note |
      | close_shop |
    Then the tool "write_note" does not run
    And the model is asked 1 times

  @rule:tool_call.a-vote-outlives-its-package @case:of-the-others
  Scenario: A call that asks to stop comes after one that did not, and loads another package anew
    Given a package "notes" with the tool "write_note"
    And a package "mail" with the tool "send_mail"
    And a package "manager" with the tool "close_shop"
    And the tool "close_shop" does
      """
      acts: [{do: reload, package: mail}]
      returns: {content: [{type: text, text: closed}], details: {}, terminate: true}
      """
    When the model calls in one message
      | tool       |
      | write_note |
      | close_shop |
    Then call "1" succeeds
    And call "2" succeeds
    And the model is asked 2 times

  @rule:tool_call.a-cancelled-vote-is-gone
  Scenario: The user cancels while a call that asks to stop is judged
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      acts: [{do: cancel}]
      returns: {block: true, reason: closed, terminate: true}
      """
    When the model calls "write_note"
    And the user says "are you there?"
    Then the model is asked 2 times
    And request 2 carries the text "are you there?"

  @rule:tool_call.votes-are-counted-per-agent
  Scenario: Another agent's stop is another agent's
    Given an agent "main"
    And an agent "other"
    And a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      when: {agent: other}
      returns: {block: true, reason: closed, terminate: true}
      """
    When the model of agent "other" calls "write_note"
    And the model calls "write_note"
    Then the tool "write_note" runs 1 times
    And the model is asked 2 times

  @rule:tool_call.votes-are-counted-per-agent @case:another-begins-meanwhile
  Scenario: An agent's call that did not ask still counts when another agent has begun meanwhile
    Given an agent "main"
    And a package "notes" with the tool "write_note"
    And package "notes" registers the tool "close_book"
    And the tool "close_book" does
      """
      acts: [{do: start-agent, agent: other}]
      returns: {content: [{type: text, text: closed}], details: {}, terminate: true}
      """
    When the model calls in one message
      | tool       |
      | write_note |
      | close_book |
    Then call "1" succeeds
    And call "2" succeeds
    And the model is asked 2 times

  @rule:tool_call.votes-are-counted-per-agent @case:at-the-same-time
  Scenario: Two agents at work at the same time, at the same place of their logs
    Given an agent "main"
    And an agent "other"
    And a package "notes" with the tool "write_note"
    And package "notes" registers the tool "close_book"
    And the tool "write_note" does
      """
      when: {agent: main}
      acts: [{do: hold, kinds: [turn.end]}]
      returns: {content: [{type: text, text: written}], details: {}}
      """
    And the tool "close_book" asks to stop
    And the model of agent "main" first calls in one message
      | tool       |
      | write_note |
      | close_book |
    And the model of agent "other" first calls in one message
      | tool       |
      | write_note |
      | write_note |
    When the user says "go" to ["main", "other"]
    Then the tool "write_note" runs 3 times
    And the tool "close_book" runs 1 times
    And the model is asked 2 times

  @rule:tool_call.votes-are-counted-per-agent @case:an-id-used-again
  Scenario: An agent's only call asks to stop, and an agent of its id that has ended had one that did not
    Given an agent "main"
    And a package "notes" with the tool "write_note"
    And package "notes" registers the tool "close_book"
    And the tool "close_book" asks to stop
    When the model calls "write_note"
    And agent "main" is ended
    And an agent "main" is created
    And the model calls "close_book"
    Then the tool "close_book" runs 1 times
    And the model is asked 3 times

  # --- the host's policy ---

  @rule:tool_call.the-rest-of-the-chain-decides @case:deny
  Scenario: A denial that comes after the bridge
    Given a package "notes" with the tool "write_note"
    And package "guard" listens to tool_call
    And the host, after the bridge, denies "write_note" with the reason "the host says no"
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails and says "the host says no"

  @rule:tool_call.the-rest-of-the-chain-decides @case:ask
  Scenario: A question the user answers with no
    Given a package "notes" with the tool "write_note"
    And package "guard" listens to tool_call
    And the host's approval service is rejected
    And the host, after the bridge, asks "write_note" with the reason "may it?"
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails

  @rule:tool_call.the-rest-of-the-chain-decides @case:native
  Scenario: A denial of a native tool that comes after the bridge
    Given a native tool "disk_cleaner"
    And package "guard" listens to tool_call
    And the host, after the bridge, denies "disk_cleaner" with the reason "the host says no"
    When the model calls "disk_cleaner"
    Then the tool "disk_cleaner" does not run
    And call "1" fails and says "the host says no"

  @rule:tool_call.the-rest-of-the-chain-decides @case:question
  Scenario: What the host's policy would ask, where nobody can be asked
    Given a package "notes" with the tool "write_note"
    And package "guard" listens to tool_call
    And the host's approval service is missing
    And the host, after the bridge, asks "write_note" with the reason "may it write a note?"
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails and says "may it write a note?"

  @rule:tool_call.the-rest-of-the-chain-decides @case:throws
  Scenario: A listener of the host that comes after the bridge and throws
    Given a package "notes" with the tool "write_note"
    And package "guard" listens to tool_call
    And the host's inner-listener of "write_note" throws "the host stumbled"
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails

  @rule:tool_call.the-rest-of-the-chain-decides @case:of-changed-arguments
  Scenario: A denial that comes after the bridge, of a call whose arguments a package changed
    Given a package "notes" with the tool "write_note"
    And package "notes" changes the argument "text" of "write_note" to "changed"
    And the host, after the bridge, denies "write_note" with the reason "the host says no"
    When the model calls "write_note" with {"text": "draft"}
    Then the tool "write_note" does not run
    And call "1" fails and says "the host says no"

  @rule:tool_call.the-hosts-decision-is-handed-on-whole
  Scenario Outline: What the host's policy decides <decision>
    Given a package "notes" with the tool "write_note"
    And package "guard" listens to tool_call
    And a listener "inner" of tools/pre-execute that
      """
      returns: <decision>
      """
    And a listener "outer" of tools/pre-execute that
      """
      prepend: true
      acts: [{do: next}]
      """
    When the model calls "write_note"
    Then next() gives listener "outer" [{"returned": <decision>}]

    Examples:
      | decision                                                           |
      | {"kind": "allow", "note": "seen by the clerk"}                     |
      | {"kind": "deny", "reason": "office hours", "note": "by the clerk"} |
      | {"kind": "deny", "reason": ""}                                     |
      | {"kind": "ask"}                                                    |

  @rule:tool_call.own-denials-are-well-formed
  Scenario Outline: The bridge's own denial as the host sees it
    Given a package "notes" with the tool "write_note"
    And the host watches the decision about "write_note"
    And package "guard" answers tool_call with
      """
      <answer>
      """
    When the model calls "write_note"
    Then the bridge denies call "1" with a reason

    Examples:
      | answer                                     |
      | returns: {block: true, reason: closed}     |
      | returns: {block: true}                     |
      | returns: {block: true, reason: ""}         |
      | returns: {block: true, reason: {code: 1}}  |
      | returns: {block: true, reason: []}         |
      | returns: {block: true, reason: 0}          |
      | returns: {block: true, reason: null}       |

  @rule:tool_call.a-denied-call-is-not-recovered
  Scenario: A denial that comes before the bridge
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      returns: {block: false}
      """
    And the host denies "write_note" with the reason "the host says no"
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails and says "the host says no"

  @rule:tool_call.policy-sees-the-models-arguments
  Scenario: The host's policy and coercion
    Given a package "scales" with the tool "weigh" and
      """
      parameters: {type: object, properties: {grams: {type: number}}, required: [grams]}
      """
    And the host watches the decision about "weigh"
    When the model calls "weigh" with {"grams": "7"}
    Then the host's policy sees {"grams": "7"} for call "1"

  @rule:tool_call.policy-sees-the-models-arguments @case:prepared
  Scenario: The host's policy and preparation
    Given a package "scales" with the tool "weigh" and
      """
      prepare: {returns: {grams: 7}}
      """
    And the host watches the decision about "weigh"
    When the model calls "weigh" with {"ounces": "1"}
    Then the host's policy sees {"ounces": "1"} for call "1"

  @rule:tool_call.a-cancel-in-a-gate-starts-nothing-more
  Scenario: A cancel while the second of three calls is judged
    Given a package "notes" with the tool "write_note" and
      """
      executionMode: sequential
      """
    And package "guard" answers tool_call with
      """
      when: {call: "2"}
      acts: [{do: cancel}]
      """
    When the model calls in one message
      | tool       | arguments |
      | write_note | {}        |
      | write_note | {}        |
      | write_note | {}        |
    Then package "guard" sees tool_call 2 times
    And the tool "write_note" runs 1 times

  @rule:tool_call.a-handler-may-cancel-the-turn
  Scenario: A handler cancels the turn while it judges the second of three calls
    Given a package "notes" with the tool "write_note" and
      """
      executionMode: sequential
      """
    And package "guard" answers tool_call with
      """
      when: {call: "2"}
      acts: [{do: ctx, call: abort}]
      """
    When the model calls in one message
      | tool       | arguments |
      | write_note | {}        |
      | write_note | {}        |
      | write_note | {}        |
    Then package "guard" sees tool_call 2 times
    And the tool "write_note" runs 1 times
    And the model is asked 1 times

  @rule:tool_call.a-gate-added-during-its-dispatch @on:bridge
  Scenario: A handler added while a call is judged
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      when: {nth: 1}
      acts: [{do: pi, call: "on", args: [{id: late, event: tool_call}]}]
      """
    And the model first calls "write_note"
    When the model calls "write_note"
    Then handler "late" is entered for call "2"
    And handler "late" is skipped for call "1"

  @rule:tool_call.a-gate-added-during-its-dispatch @on:pi
  Scenario: On Pi it is asked about the same call
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      when: {nth: 1}
      acts: [{do: pi, call: "on", args: [{id: late, event: tool_call}]}]
      """
    When the model calls "write_note"
    Then handler "late" is entered for call "1"

  @rule:tool_call.a-child-agents-calls-are-judged-by-no-other
  Scenario Outline: A judge that <does> and an agent that works for the judged one
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      <answer>
      """
    When an agent "helper" is created as a child of "main"
    And the model of agent "helper" calls "write_note"
    And the model calls "write_note"
    Then no handler of package "guard" that serves agent "main" is entered for call "1"
    And package "guard" sees tool_call of call "2" with {"toolName": "write_note"}

    Examples:
      | does                  | answer                                                |
      | blocks                | returns: {block: true, reason: notes are closed}      |
      | changes the arguments | ops: [{op: set, path: [input, text], value: changed}] |

  @rule:tool_call.an-abort-ends-the-wait-for-a-judge
  Scenario: A judge that is stuck when the user cancels
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      acts: [{do: cancel}]
      delayMs: 6000
      """
    When the model calls "write_note"
    Then the turn ends before package "guard" answers tool_call of call "1"
    And the tool "write_note" does not run

  @rule:tool_call.a-confirmation-nobody-gives
  Scenario: A judge asks for a confirmation in a session without a person
    Given a package "notes" with the tool "write_note"
    And package "guard" answers tool_call with
      """
      acts: [{do: ctx, call: ui.confirm, args: [Write a note?, It will be kept.]}]
      returns: {block: true, reason: nobody confirmed it}
      """
    When the model calls "write_note"
    Then ui.confirm returned false
    And call "1" fails and says "nobody confirmed it"
    And the tool "write_note" does not run
