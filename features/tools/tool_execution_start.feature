Feature: tool_execution_start
  A package hears of every tool call before anybody judges it, with the arguments that the session log keeps.

  # --- what it says ---

  @rule:tool_execution_start.payload
  Scenario: A start names the call, the tool and the arguments
    Given a package "notes" with the tool "write_note"
    And package "recorder" listens to tool_execution_start
    When the model calls "write_note" with {"text": "draft"}
    Then package "recorder" sees tool_execution_start of call "1" with {"type": "tool_execution_start", "toolCallId": "1", "toolName": "write_note", "args": {"text": "draft"}}

  @rule:tool_execution_start.arguments-equal-the-durable-record @case:coerced
  Scenario Outline: Arguments that the tool gets coerced
    Given a package "scales" with the tool "weigh" and
      """
      parameters: {type: object, properties: {grams: {type: number}, label: {type: string}}}
      """
    And package "recorder" listens to tool_execution_start
    When the model calls "weigh" with <arguments>
    Then package "recorder" sees tool_execution_start of call "1" with {"args": <arguments>}
    And the log keeps <arguments> as the arguments of call "1"

    Examples:
      | arguments                            |
      | {"grams": "7"}                       |
      | {"grams": true, "label": 12}         |
      | {"grams": 7, "deep": {"list": [1]}}  |

  @rule:tool_execution_start.payload @case:odd-id
  Scenario: Ids that are long or hold odd characters
    Given a package "notes" with the tool "write_note"
    And package "recorder" listens to tool_execution_start
    When the model calls in one message
      | id                                                                          | tool       |
      | call_Ab-1.x\|fc_68a/ü=+                                                     | write_note |
      | call_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef_first  | write_note |
      | call_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef_second | write_note |
    Then package "recorder" sees tool_execution_start of call "call_Ab-1.x|fc_68a/ü=+" with {"toolName": "write_note"}
    And package "recorder" sees tool_execution_start of call "call_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef_first" with {"toolName": "write_note"}
    And package "recorder" sees tool_execution_start of call "call_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef_second" with {"toolName": "write_note"}

  @rule:tool_execution_start.payload @case:blank-id
  Scenario: Ids that are empty or differ in blanks alone
    Given a package "notes" with the tool "write_note"
    And package "recorder" listens to tool_execution_start
    When the model calls in one message
      | id   | tool       |
      | ""   | write_note |
      | " "  | write_note |
      | "1"  | write_note |
      | " 1" | write_note |
    Then package "recorder" sees tool_execution_start of call "" with {"toolCallId": ""}
    And package "recorder" sees tool_execution_start of call " " with {"toolCallId": " "}
    And package "recorder" sees tool_execution_start of call "1" with {"toolCallId": "1"}
    And package "recorder" sees tool_execution_start of call " 1" with {"toolCallId": " 1"}
    And package "recorder" sees tool_execution_start 4 times

  @rule:tool_execution_start.arguments-equal-the-durable-record @case:prepared
  Scenario: Arguments that the tool prepares for itself
    Given a package "scales" with the tool "weigh" and
      """
      parameters: {type: object, properties: {grams: {type: number}}, required: [grams]}
      prepare: {returns: {grams: 12}}
      """
    And package "recorder" listens to tool_execution_start
    When the model calls "weigh" with {"weight": 3}
    Then package "recorder" sees tool_execution_start of call "1" with {"args": {"weight": 3}}
    And the log keeps {"weight": 3} as the arguments of call "1"

  @rule:tool_execution_start.arguments-equal-the-durable-record @case:long
  Scenario: Arguments with a text of two hundred thousand characters
    Given a package "scales" with the tool "weigh"
    And package "recorder" listens to tool_execution_start
    When the model calls "weigh" with {"label": {"$": "repeat", "text": "a long one", "times": 20000}}
    Then package "recorder" sees tool_execution_start of call "1" with {"args": {"label": {"$": "repeat", "text": "a long one", "times": 20000}}}

  @rule:tool_execution_start.arguments-equal-the-durable-record @case:native
  Scenario: Arguments of a native tool
    Given a native tool "disk_cleaner"
    And package "recorder" listens to tool_execution_start
    When the model calls "disk_cleaner" with {"path": "/home", "depth": "2"}
    Then package "recorder" sees tool_execution_start of call "1" with {"args": {"path": "/home", "depth": "2"}}
    And the log keeps {"path": "/home", "depth": "2"} as the arguments of call "1"

  @rule:tool_execution_start.arguments-equal-the-durable-record @case:empty
  Scenario: Arguments that are null, false, zero or empty
    Given a package "notes" with the tool "write_note"
    And package "recorder" listens to tool_execution_start
    When the model calls "write_note" with {"a": null, "b": false, "c": 0, "d": "", "e": [], "f": {}, "g": 1}
    Then package "recorder" sees tool_execution_start of call "1" with {"args": {"a": null, "b": false, "c": 0, "d": "", "e": [], "f": {}, "g": 1}}

  @rule:tool_execution_start.arguments-equal-the-durable-record @case:odd-keys
  Scenario: Arguments with keys that every JavaScript object has
    Given a package "notes" with the tool "write_note"
    And package "recorder" listens to tool_execution_start
    When the model calls "write_note" with {"constructor": "c", "__proto__": {"p": 1}, "toString": "t", "length": 2, "": "nameless"}
    Then package "recorder" sees tool_execution_start of call "1" with {"args": {"constructor": "c", "__proto__": {"p": 1}, "toString": "t", "length": 2, "": "nameless"}}

  @rule:tool_execution_start.arguments-that-are-no-object
  Scenario Outline: Arguments that are no object
    Given a native tool "disk_cleaner"
    And package "recorder" listens to tool_execution_start
    When the model calls "disk_cleaner" with <arguments>
    Then package "recorder" sees tool_execution_start of call "1" with {"args": <arguments>}

    Examples:
      | arguments     |
      | [1, {"a": 2}] |
      | []            |
      | "/home"       |
      | 5             |
      | false         |

  @rule:tool_execution_start.empty-text-is-an-empty-object
  Scenario: A call without any argument text
    Given a package "notes" with the tool "write_note"
    And package "recorder" listens to tool_execution_start
    When the model calls "write_note" with the argument text
      """
      """
    Then package "recorder" sees tool_execution_start of call "1" with {"args": {}}

  @rule:tool_execution_start.text-that-is-no-plain-json-starts-too
  Scenario Outline: An argument text that is no JSON, or whose numbers do not fit
    Given a package "notes" with the tool "write_note"
    And package "recorder" listens to tool_execution_start
    When the model calls "write_note" with the argument text
      """
      <text>
      """
    Then package "recorder" sees tool_execution_start 1 times
    And call "1" has one result

    Examples:
      | text           |
      | {"text": "dra  |
      | write a note   |
      | {"size": 1e999}|
      | {"size": -0}   |

  # --- which calls start ---

  @rule:tool_execution_start.every-call-starts
  Scenario Outline: Calls that run and calls that never will
    Given a native tool "disk_cleaner"
    And a package "notes" with the tool "closed_notes"
    And package "notes" registers the tool "weigh" with
      """
      parameters: {type: object, properties: {grams: {type: number}}, required: [grams]}
      """
    And package "guard" blocks "closed_notes" with the reason "notes are closed"
    And package "recorder" listens to tool_execution_start
    When the model calls "<tool>"
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_start of call "1" with {"toolName": "<tool>"}

    Examples:
      | tool                  |
      | disk_cleaner          |
      | closed_notes          |
      | weigh                 |
      | no_such_tool_anywhere |

  @rule:tool_execution_start.every-call-starts @case:parallel-natives
  Scenario: Native calls that run beside each other
    Given a native tool "disk_reader" with
      """
      parallel: true
      """
    And a native tool "disk_scanner" with
      """
      parallel: true
      """
    And the body of "disk_reader" does
      """
      when: {call: "1"}
      acts: [{do: hold, kinds: [native.enter]}]
      """
    And package "recorder" listens to tool_execution_start
    When the model calls in one message
      | tool         |
      | disk_reader  |
      | disk_scanner |
      | disk_reader  |
    Then package "recorder" sees tool_execution_start of call "1" with {"toolName": "disk_reader"}
    And package "recorder" sees tool_execution_start of call "2" with {"toolName": "disk_scanner"}
    And package "recorder" sees tool_execution_start of call "3" with {"toolName": "disk_reader"}
    And package "recorder" sees tool_execution_start 3 times

  # --- when it comes ---

  @rule:tool_execution_start.follows-the-durable-record
  Scenario: The call is in the log when its start is told
    Given a package "notes" with the tool "write_note"
    And package "recorder" listens to tool_execution_start
    When the model calls "write_note"
    Then this order holds
      """
      the durable call "1"
      the tool_execution_start of call "1"
      """

  @rule:tool_execution_start.awaited-before-the-call-is-judged @case:within-a-package
  Scenario: A slow start handler keeps the package's own gate waiting
    Given a package "notes" with the tool "write_note"
    And package "notes" holds tool_execution_start until something else happens
    And package "notes" listens to tool_call
    When the model calls "write_note"
    Then this order holds
      """
      the return of tool_execution_start of call "1"
      the tool_call of call "1"
      the body of call "1"
      """

  @rule:tool_execution_start.awaited-before-the-call-is-judged @case:across-packages
  Scenario: A slow start handler keeps an earlier package's gate waiting
    Given a package "guard" with the tool "write_note"
    And package "guard" listens to tool_call
    And package "recorder" holds tool_execution_start until something else happens
    When the model calls "write_note"
    Then this order holds
      """
      the return of tool_execution_start of call "1" in package "recorder"
      the tool_call of call "1" in package "guard"
      """

  @rule:tool_execution_start.awaited-before-the-call-is-judged @case:one-of-three
  Scenario Outline: One slow start handler among quick ones
    Given a package "guard" with the tool "write_note"
    And package "guard" listens to tool_call
    And package "alpha" listens to tool_execution_start
    And package "beta" listens to tool_execution_start
    And package "gamma" listens to tool_execution_start
    And package "<slow>" holds tool_execution_start until tool_call is entered
    When the model calls "write_note"
    Then this order holds
      """
      the return of tool_execution_start of call "1" in package "<slow>"
      the tool_call of call "1" in package "guard"
      """

    Examples:
      | slow  |
      | alpha |
      | beta  |
      | gamma |

  @rule:tool_execution_start.awaited-before-the-call-is-judged @case:native
  Scenario: A slow start handler keeps the judging of a native call waiting
    Given a native tool "disk_cleaner"
    And package "recorder" holds tool_execution_start until something else happens
    And package "recorder" listens to tool_call
    When the model calls "disk_cleaner"
    Then this order holds
      """
      the return of tool_execution_start of call "1"
      the tool_call of call "1"
      the body of call "1"
      """

  @rule:tool_execution_start.awaited-before-the-call-is-judged @case:more-than-a-second
  Scenario: A start handler that needs more than a second
    Given a package "notes" with the tool "write_note"
    And package "notes" answers tool_execution_start with
      """
      delayMs: 1200
      """
    And package "notes" listens to tool_call
    When the model calls "write_note"
    Then this order holds
      """
      the return of tool_execution_start of call "1"
      the tool_call of call "1"
      the body of call "1"
      """

  @rule:tool_execution_start.awaited-before-the-end
  Scenario Outline: A slow start handler keeps the end of a call that nobody judges waiting
    Given a package "scales" with the tool "weigh" and
      """
      parameters: {type: object, properties: {grams: {type: number}}, required: [grams]}
      """
    And package "recorder" listens to tool_execution_end
    And package "slow" holds tool_execution_start until something else happens
    When the model calls "<tool>" with {"grams": "a lot"}
    Then this order holds
      """
      the return of tool_execution_start of call "1" in package "slow"
      the tool_execution_end of call "1" in package "recorder"
      the durable result of call "1"
      """

    Examples:
      | tool                  |
      | weigh                 |
      | no_such_tool_anywhere |

  @rule:tool_execution_start.handlers-are-told-in-load-order
  Scenario: Packages in load order, handlers in order of registration
    Given a package "alpha" with the tool "write_note"
    And package "alpha" listens to tool_execution_start
    And a further handler of package "alpha" listens to tool_execution_start
    And package "beta" listens to tool_execution_start
    When the model calls "write_note"
    Then this order holds
      """
      the tool_execution_start of call "1" in package "alpha"
      handler "tool_execution_start#2" of call "1"
      the tool_execution_start of call "1" in package "beta"
      """

  @rule:tool_execution_start.handlers-wait-for-each-other
  Scenario: A slow start handler keeps the next one waiting
    Given a package "alpha" with the tool "write_note"
    And package "alpha" holds tool_execution_start until something else happens
    And package "beta" listens to tool_execution_start
    When the model calls "write_note"
    Then this order holds
      """
      the return of tool_execution_start of call "1" in package "alpha"
      the tool_execution_start of call "1" in package "beta"
      """

  # --- what handlers may do to it ---

  @rule:tool_execution_start.a-throwing-handler-silences-nobody
  Scenario: A start handler that throws
    Given a package "alpha" with the tool "write_note"
    And package "alpha" throws "the recorder stumbled" from tool_execution_start
    And a further handler of package "alpha" listens to tool_execution_start
    And package "beta" listens to tool_execution_start
    When the model calls "write_note"
    Then handler "tool_execution_start#2" is entered for call "1"
    And package "beta" sees tool_execution_start 1 times
    And call "1" succeeds with "write_note ok"

  @rule:tool_execution_start.a-throwing-handler-is-reported
  Scenario: What a start handler throws is not lost
    Given a package "alpha" with the tool "write_note"
    And package "alpha" throws "the recorder stumbled over a shoe" from tool_execution_start
    When the model calls "write_note"
    Then a notice names "the recorder stumbled over a shoe"

  @rule:tool_execution_start.a-throwing-handler-silences-nobody @case:without-waiting
  Scenario: A handler that throws without ever waiting
    Given a package "notes" with the tool "write_note"
    And package "clumsy" answers tool_execution_start with
      """
      sync: true
      throws: {$: error, message: the handler stumbled}
      """
    And package "witness" listens to tool_execution_start
    When the model calls "write_note"
    Then package "witness" sees tool_execution_start 1 times
    And call "1" succeeds
    And the model is asked 2 times

  @rule:tool_execution_start.a-throwing-handler-is-reported @case:several
  Scenario: What the handlers of two packages throw
    Given a package "notes" with the tool "write_note"
    And package "clumsy" throws "the first one stumbled over its laces" from tool_execution_start
    And package "hasty" throws "the second one ran into the door" from tool_execution_start
    When the model calls "write_note"
    Then a notice names "the first one stumbled over its laces"
    And a notice names "the second one ran into the door"

  @rule:tool_execution_start.a-throwing-handler-is-reported @case:each-time
  Scenario: What it throws the second time
    Given a package "alpha" with the tool "write_note"
    And package "alpha" throws "the recorder stumbled over a shoe" from tool_execution_start
    And package "alpha" answers tool_execution_start with
      """
      when: {call: "2"}
      throws: the recorder stumbled over the cat
      """
    And the model first calls "write_note"
    When the model calls "write_note"
    Then a notice names "the recorder stumbled over a shoe"
    And a notice names "the recorder stumbled over the cat"

  @rule:tool_execution_start.answers-change-nothing
  Scenario Outline: A start handler has no say
    Given a package "notes" with the tool "write_note"
    And package "recorder" answers tool_execution_start with
      """
      returns: <answer>
      """
    When the model calls "write_note" with {"text": "draft"}
    Then the tool "write_note" runs with {"text": "draft"}
    And call "1" succeeds with "write_note ok"
    And the model is asked 2 times

    Examples:
      | answer                                           |
      | {block: true, reason: not now}                   |
      | {block: true, reason: not now, terminate: true}  |
      | {args: {text: other}, input: {text: other}}      |

  @rule:tool_execution_start.writes-leave-log-and-natives-alone @on:bridge
  Scenario: A start handler that writes into the arguments
    Given a native tool "disk_cleaner"
    And package "recorder" answers tool_execution_start with
      """
      ops: [{op: set, path: [args, path], value: /tmp}]
      """
    When the model calls "disk_cleaner" with {"path": "/home"}
    Then the tool "disk_cleaner" runs with {"path": "/home"}
    And the log keeps {"path": "/home"} as the arguments of call "1"

  @rule:tool_execution_start.writes-leave-log-and-natives-alone @on:pi
  Scenario: On Pi the tool runs with what was written
    Given a native tool "disk_cleaner"
    And package "recorder" answers tool_execution_start with
      """
      ops: [{op: set, path: [args, path], value: /tmp}]
      """
    When the model calls "disk_cleaner" with {"path": "/home"}
    Then the tool "disk_cleaner" runs with {"path": "/tmp"}

  @rule:tool_execution_start.a-handler-that-threw-is-told-again
  Scenario: A handler that failed once
    Given a package "notes" with the tool "read_note"
    And package "critic" throws "the critic stumbled" from tool_execution_start
    And the model first calls "read_note"
    When the model calls "read_note"
    Then package "critic" sees tool_execution_start 2 times

  @rule:tool_execution_start.a-handler-that-threw-is-told-again @case:many-times
  Scenario: A handler that failed six times
    Given a package "notes" with the tool "read_note"
    And package "critic" throws "the critic stumbled" from tool_execution_start
    And the model of agent "main" first calls in one message
      | tool   |
      | read_note |
      | read_note |
      | read_note |
      | read_note |
      | read_note |
      | read_note |
    When the model calls "read_note"
    Then package "critic" sees tool_execution_start 7 times

  @rule:tool_execution_start.a-resumed-session-tells-nothing-again
  Scenario: An agent that goes on with a stored session
    Given a package "notes" with the tool "write_note"
    And package "recorder" listens to every tool event
    When the model calls "write_note"
    And agent "main" is ended
    And agent "again" is created from the session of "main"
    And the model of agent "again" calls "write_note"
    Then the tool "write_note" runs 2 times
    And package "recorder" sees tool_execution_start 2 times
    And package "recorder" sees tool_call 2 times
    And package "recorder" sees tool_result 2 times
    And package "recorder" sees tool_execution_end 2 times

  @rule:tool_execution_start.a-child-agents-calls-are-its-own
  Scenario: A package that counts the calls of its agent
    Given a package "notes" with the tool "write_note"
    And the tool "write_note" sends the update "half a note"
    And package "recorder" listens to every tool event
    When an agent "helper" is created as a child of "main"
    And the model of agent "helper" calls "write_note"
    And the model calls "write_note"
    Then no handler of package "recorder" that serves agent "main" is entered for call "1"
    And package "recorder" sees tool_execution_start of call "2" with {"toolName": "write_note"}
