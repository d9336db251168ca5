Feature: tool_execution_end
  Packages hear how each call ended, after every patch of its result and before anybody reads it.

  Background:
    Given a package "notes" with the tool "read_note"
    And package "recorder" listens to every tool event

  @rule:tool_execution_end.payload
  Scenario: What an end says
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_end of call "1" with {"type": "tool_execution_end", "toolCallId": "1", "toolName": "read_note", "isError": false, "result": {"content": [{"type": "text", "text": "read_note ok"}]}}

  @rule:tool_execution_end.payload @case:odd-id
  Scenario: Ids that are long or hold odd characters
    When the model calls in one message
      | id                                                                          | tool      |
      | call_Ab-1.x\|fc_68a/ü=+                                                     | read_note |
      | call_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef_first  | read_note |
      | call_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef_second | read_note |
    Then package "recorder" sees tool_execution_end of call "call_Ab-1.x|fc_68a/ü=+" with {"toolName": "read_note"}
    And package "recorder" sees tool_execution_end of call "call_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef_first" with {"toolName": "read_note"}
    And package "recorder" sees tool_execution_end of call "call_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef_second" with {"toolName": "read_note"}

  @rule:tool_execution_end.payload @case:blank-id
  Scenario: Ids that are empty or differ in blanks alone
    When the model calls in one message
      | id   | tool       |
      | ""   | read_note  |
      | " "  | read_note  |
      | "1"  | read_note  |
      | " 1" | read_note  |
    Then package "recorder" sees tool_execution_end of call "" with {"toolCallId": ""}
    And package "recorder" sees tool_execution_end of call " " with {"toolCallId": " "}
    And package "recorder" sees tool_execution_end of call "1" with {"toolCallId": "1"}
    And package "recorder" sees tool_execution_end of call " 1" with {"toolCallId": " 1"}
    And package "recorder" sees tool_execution_end 4 times

  @rule:tool_execution_end.payload-has-the-details
  Scenario: The details of a success
    Given the tool "read_note" does
      """
      returns: {content: [{type: text, text: read}], details: {pages: 2}}
      """
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_end of call "1" with {"result": {"details": {"pages": 2}}}

  @rule:tool_execution_end.payload-has-the-details @case:a-list
  Scenario: Details that are no object
    Given the tool "read_note" does
      """
      returns: {content: [{type: text, text: read}], details: [2, pages]}
      """
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_end of call "1" with {"result": {"details": [2, "pages"]}}

  @rule:tool_execution_end.payload-has-what-else-the-tool-answered
  Scenario: A success with further fields
    Given the tool "read_note" does
      """
      returns: {content: [{type: text, text: read}], details: {pages: 2}, shelf: 7, marks: [red]}
      """
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_end of call "1" with {"result": {"shelf": 7, "marks": ["red"]}}

  @rule:tool_execution_end.payload-has-what-else-the-tool-answered @case:wish
  Scenario: A success that asks to stop
    Given the tool "read_note" asks to stop
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_end of call "1" with {"result": {"terminate": true}}

  @rule:tool_execution_end.payload-has-what-else-the-tool-answered @case:patched
  Scenario: A success with further fields whose text a handler replaces
    Given the tool "read_note" does
      """
      returns: {content: [{type: text, text: read}], shelf: 7, terminate: true}
      """
    And package "recorder" replaces the text of results by "crossed out"
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_end of call "1" with {"result": {"content": [{"type": "text", "text": "crossed out"}], "shelf": 7, "terminate": true}}

  # --- one end for every start ---

  @rule:tool_execution_end.one-end-for-every-start @case:ok
  Scenario: A call that succeeds
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_end 1 times

  @rule:tool_execution_end.every-agents-calls-start-and-end
  Scenario: The calls of every agent
    Given an agent "main"
    And an agent "other"
    And a native tool "disk_reader"
    When the model calls "read_note"
    And the model of agent "other" calls "read_note"
    And the model of agent "other" calls "disk_reader"
    Then package "recorder" sees tool_execution_start 3 times
    And package "recorder" sees tool_execution_end of call "2" with {"toolName": "read_note", "isError": false}
    And package "recorder" sees tool_execution_end of call "3" with {"toolName": "disk_reader", "isError": false}
    And package "recorder" sees tool_execution_end 3 times

  @rule:tool_execution_end.every-agents-calls-start-and-end @case:same-id
  Scenario: Two agents at work at the same time, with calls of the same id
    Given an agent "main"
    And an agent "other"
    And the tool "read_note" does
      """
      when: {agent: main}
      acts: [{do: hold, kinds: [tool.exit]}]
      returns: {content: [{type: text, text: the first page}], details: {}}
      """
    And the tool "read_note" does
      """
      when: {agent: other}
      returns: {content: [{type: text, text: the last page}], details: {}}
      """
    And package "redactor" answers tool_result with
      """
      when: {agent: other}
      returns: {content: [{type: text, text: a page of the other}]}
      """
    And the model of agent "main" first calls in one message
      | id   | tool      |
      | same | read_note |
    And the model of agent "other" first calls in one message
      | id   | tool      |
      | same | read_note |
    When the user says "go" to ["main", "other"]
    Then package "recorder" sees tool_execution_start 2 times
    And package "recorder" sees tool_call 2 times
    And package "recorder" sees tool_execution_end with {"isError": false, "result": {"content": [{"type": "text", "text": "the first page"}]}}
    And package "recorder" sees tool_execution_end with {"isError": false, "result": {"content": [{"type": "text", "text": "a page of the other"}]}}
    And package "recorder" sees tool_execution_end 2 times

  @rule:tool_execution_end.every-agents-calls-start-and-end @case:created-later
  Scenario: An agent that is created after another has worked
    Given an agent "main"
    When the model calls "read_note"
    And an agent "latecomer" is created
    And the model of agent "latecomer" calls "read_note"
    Then package "recorder" sees tool_execution_start 2 times
    And package "recorder" sees tool_call of call "2" with {"toolName": "read_note"}
    And package "recorder" sees tool_result of call "2" with {"toolName": "read_note"}
    And package "recorder" sees tool_execution_end 2 times

  @rule:tool_execution_end.every-agents-calls-start-and-end @case:another-has-ended
  Scenario: An agent that works on after another has ended
    Given an agent "main"
    And an agent "other"
    When the model of agent "other" calls "read_note"
    And agent "other" is ended
    And the model calls "read_note"
    Then package "recorder" sees tool_execution_start 2 times
    And package "recorder" sees tool_call of call "2" with {"toolName": "read_note"}
    And package "recorder" sees tool_result of call "2" with {"toolName": "read_note"}
    And package "recorder" sees tool_execution_end 2 times

  @rule:tool_execution_end.every-agents-calls-start-and-end @case:another-ends-meanwhile
  Scenario: An agent whose tool is running while another one ends
    Given an agent "main"
    And an agent "other"
    And the tool "read_note" does
      """
      acts: [{do: end-agent, agent: other}]
      returns: {content: [{type: text, text: read}], details: {}}
      """
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_result of call "1" with {"toolName": "read_note"}
    And package "recorder" sees tool_execution_end 1 times
    And call "1" succeeds with "read"

  @rule:tool_execution_end.every-agents-calls-start-and-end @case:same-name
  Scenario: An agent with the id of one that has ended
    Given an agent "main"
    And an agent "other"
    When the model of agent "other" calls "read_note"
    And agent "other" is ended
    And an agent "other" is created
    And the model of agent "other" calls "read_note"
    Then package "recorder" sees tool_execution_start 2 times
    And package "recorder" sees tool_call of call "2" with {"toolName": "read_note"}
    And package "recorder" sees tool_result of call "2" with {"toolName": "read_note"}
    And package "recorder" sees tool_execution_end 2 times

  @rule:tool_execution_end.every-agents-calls-start-and-end @case:another-ends-meanwhile
  Scenario: One agent is ended while another's tool runs
    Given an agent "main"
    And an agent "other"
    And the tool "read_note" does
      """
      when: {agent: other}
      acts: [{do: end-agent, agent: main}]
      returns: {content: [{type: text, text: read all the same}], details: {}}
      """
    When the model calls "read_note"
    And the model of agent "other" calls "read_note"
    Then package "recorder" sees tool_execution_end 2 times
    And package "recorder" sees tool_execution_end of call "2" with {"isError": false}
    And call "2" succeeds

  @rule:tool_execution_end.every-agents-calls-start-and-end @case:added-for-one
  Scenario: A package begins to listen at the call of one agent, and another agent calls
    Given an agent "main"
    And an agent "other"
    And package "latecomer" answers tool_execution_start with
      """
      when: {agent: main, nth: 1}
      acts: [{do: pi, call: "on", args: [{id: late, event: tool_execution_end}]}]
      """
    When the model calls "read_note"
    And the model of agent "other" calls "read_note"
    Then handler "late" is entered for call "1"
    And package "recorder" sees tool_execution_end 2 times

  @rule:tool_execution_end.agents-do-not-wait-for-each-others-handlers
  Scenario Outline: A handler is busy with one agent's call while another agent calls
    Given an agent "main"
    And an agent "other"
    And package "notes" answers <event> with
      """
      when: {agent: main}
      acts: [{do: hold, kinds: [log.result]}]
      """
    And the model of agent "main" first calls in one message
      | id   | tool      |
      | slow | read_note |
    And the model of agent "other" first calls in one message
      | id    | tool      |
      | quick | read_note |
    When the user says "go" to ["main", "other"]
    Then this order holds
      """
      the <event> of call "slow" in package "notes"
      the durable result of call "quick"
      the return of <event> of call "slow" in package "notes"
      """

    Examples:
      | event              |
      | tool_call          |
      | tool_result        |
      | tool_execution_end |

  @rule:tool_execution_end.agents-do-not-wait-for-each-others-handlers @case:at-the-start
  Scenario: A start handler, and the tool it tells of, are busy for one agent while another agent calls
    Given an agent "main"
    And an agent "other"
    And package "notes" answers tool_execution_start with
      """
      when: {agent: main}
      acts: [{do: hold, kinds: [log.result]}]
      """
    And the tool "read_note" does
      """
      when: {agent: main}
      acts: [{do: hold, kinds: [log.result]}]
      returns: {content: [{type: text, text: read}], details: {}}
      """
    And the model of agent "main" first calls in one message
      | id   | tool      |
      | slow | read_note |
    And the model of agent "other" first calls in one message
      | id    | tool      |
      | quick | read_note |
    When the user says "go" to ["main", "other"]
    Then this order holds
      """
      the tool_execution_start of call "slow" in package "notes"
      the durable result of call "quick"
      the return of tool_execution_start of call "slow" in package "notes"
      """

  @rule:tool_execution_end.one-end-for-every-start @case:cancelled-at-the-start
  Scenario: A cancel while the start is told
    Given package "guard" answers tool_execution_start with
      """
      acts: [{do: cancel}]
      """
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_end 1 times

  @rule:tool_execution_end.a-removed-package-hears-nothing-more @case:while-others-are-told
  Scenario Outline: The operator removes a package while the next one is told
    Given package "scout" listens to <event>
    And package "guard" answers <event> with
      """
      acts: [{do: unload, package: scout}]
      """
    And package "keeper" listens to <event>
    When the model calls "read_note"
    Then package "keeper" sees <event> 1 times

    Examples:
      | event                |
      | tool_execution_start |
      | tool_execution_end   |

  @rule:tool_execution_end.one-end-for-every-start @case:native
  Scenario: A native call
    Given a native tool "disk_reader"
    When the model calls "disk_reader"
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_end 1 times

  @rule:tool_execution_end.one-end-for-every-start @case:ends-the-turn
  Scenario: A native call that ends the turn
    Given a native tool "disk_closer"
    And the body of "disk_closer" does
      """
      conclude: true
      """
    When the model calls "disk_closer"
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_end 1 times

  @rule:tool_execution_end.one-end-for-every-start @case:throws
  Scenario: A tool that throws
    Given the tool "read_note" throws "the shelf is empty"
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_end of call "1" with {"isError": true}
    And package "recorder" sees tool_execution_end 1 times

  @rule:tool_execution_end.one-end-for-every-start @case:blocked
  Scenario: A blocked call
    Given package "guard" blocks "read_note" with the reason "closed"
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_end of call "1" with {"isError": true}
    And package "recorder" sees tool_execution_end 1 times

  @rule:tool_execution_end.one-end-for-every-start @case:judge-threw
  Scenario: A judge that throws
    Given package "guard" throws "the guard stumbled" from tool_call
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_end of call "1" with {"isError": true}
    And package "recorder" sees tool_execution_end 1 times

  @rule:tool_execution_end.one-end-for-every-start @case:unknown
  Scenario: A name no tool has
    When the model calls "no_such_tool_anywhere"
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_end of call "1" with {"isError": true}
    And package "recorder" sees tool_execution_end 1 times

  @rule:tool_execution_end.one-end-for-every-start @case:masked
  Scenario: A tool that is switched off
    Given a native tool "disk_reader"
    And a native tool "disk_writer"
    And package "modes" answers tool_call with
      """
      when: {nth: 1}
      acts: [{do: pi, call: setActiveTools, args: [[disk_reader, read_note]]}]
      """
    And the model first calls "disk_reader"
    When the model calls "disk_writer"
    Then package "recorder" sees tool_execution_start 2 times
    And package "recorder" sees tool_execution_end of call "2" with {"isError": true}
    And package "recorder" sees tool_execution_end 2 times

  @rule:tool_execution_end.one-end-for-every-start @case:invalid
  Scenario: Arguments that do not pass
    Given a package "scales" with the tool "weigh" and
      """
      parameters: {type: object, properties: {grams: {type: number}}, required: [grams]}
      """
    When the model calls "weigh" with {"grams": "a lot"}
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_end of call "1" with {"isError": true}
    And package "recorder" sees tool_execution_end 1 times

  @rule:tool_execution_end.one-end-for-every-start @case:cancelled-body
  Scenario: A cancel while the tool runs
    Given the user cancels while the tool "read_note" runs
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_end 1 times

  @rule:tool_execution_end.one-end-for-every-start @case:cancelled-judge
  Scenario: A cancel while the call is judged
    Given package "guard" answers tool_call with
      """
      acts: [{do: cancel}]
      """
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_end 1 times

  @rule:tool_execution_end.one-end-for-every-start @case:cancelled-afterwards
  Scenario: A cancel while the result is patched
    Given package "guard" answers tool_result with
      """
      acts: [{do: cancel}]
      """
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_end 1 times

  @rule:tool_execution_end.one-end-for-every-start @case:cancelled-among-three
  Scenario: A cancel while the second of three calls runs
    Given the tool "read_note" does
      """
      when: {call: "2"}
      acts: [{do: update, update: {content: [{type: text, text: half a page}]}}, {do: cancel}]
      returns: {content: [{type: text, text: a page}], details: {}}
      """
    When the model calls in one message
      | tool      |
      | read_note |
      | read_note |
      | read_note |
    Then call "1" succeeds
    And package "recorder" sees tool_execution_end of call "1" with {"isError": false}
    And package "recorder" sees both start and end of call "1", or neither
    And package "recorder" sees tool_execution_end of call "2" with {"toolName": "read_note"}
    And package "recorder" sees both start and end of call "2", or neither
    And package "recorder" sees both start and end of call "3", or neither

  @rule:tool_execution_end.nothing-of-a-call-after-its-end @case:cancelled
  Scenario: The end of a call whose tool reported progress and was cancelled
    Given the tool "read_note" does
      """
      acts: [{do: update, update: {content: [{type: text, text: half a page}]}}, {do: cancel}]
      returns: {content: [{type: text, text: a page}], details: {}}
      lateUpdates: [{content: [{type: text, text: too late}]}]
      """
    And package "redactor" replaces the text of results by "a page, redacted"
    When the model calls "read_note"
    Then package "recorder" sees, in this order
      | event                 | call |
      | tool_execution_start  | 1    |
      | tool_call             | 1    |
      | tool_execution_update | 1    |
      | tool_result           | 1    |
      | tool_execution_end    | 1    |

  @rule:tool_execution_end.calls-after-a-cancel
  Scenario Outline: The call of the prompt after one that the user cancelled
    Given package "<who>" answers <event> with
      """
      when: {nth: 1}
      acts: [{do: cancel}]
      """
    And package "redactor" replaces the text of results by "a page"
    When the model calls "read_note"
    And the model calls "read_note"
    Then package "recorder" sees tool_execution_start of call "2" with {"toolName": "read_note"}
    And package "recorder" sees tool_call of call "2" with {"toolName": "read_note"}
    And call "2" succeeds with "a page"
    And package "recorder" sees tool_execution_end of call "2" with {"isError": false, "result": {"content": [{"type": "text", "text": "a page"}]}}

    Examples:
      | who   | event       |
      | guard | tool_call   |
      | clerk | tool_result |

  @rule:tool_execution_end.calls-after-a-cancel @case:body
  Scenario: The call of the prompt after one whose tool the user cancelled
    Given the tool "read_note" does
      """
      when: {call: "1"}
      acts: [{do: cancel}]
      returns: {content: [{type: text, text: half a page}], details: {}}
      """
    When the model calls "read_note"
    And the model calls "read_note"
    Then package "recorder" sees tool_execution_start of call "2" with {"toolName": "read_note"}
    And package "recorder" sees tool_call of call "2" with {"toolName": "read_note"}
    And call "2" succeeds
    And package "recorder" sees tool_execution_end of call "2" with {"isError": false}

  @rule:tool_execution_end.refused-and-denied-calls-end @case:refused
  Scenario: A native call refused for its changed arguments
    Given a native tool "disk_cleaner"
    And package "rewriter" changes the argument "path" of "disk_cleaner" to "/tmp"
    When the model calls "disk_cleaner" with {"path": "/home"}
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_end of call "1" with {"isError": true}
    And package "recorder" sees tool_execution_end 1 times

  @rule:tool_execution_end.refused-and-denied-calls-end @case:listener
  Scenario: A call the host's policy denies
    Given the host denies "read_note" with the reason "the host says no"
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_end of call "1" with {"isError": true}
    And package "recorder" sees tool_execution_end 1 times

  @rule:tool_execution_end.refused-and-denied-calls-end @case:inner-listener
  Scenario: A call the host's policy denies after the bridge
    Given the host, after the bridge, denies "read_note" with the reason "the host says no"
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_end 1 times

  @rule:tool_execution_end.refused-and-denied-calls-end @case:guard
  Scenario: A call a guard of the host denies
    Given the host guards "read_note" with the reason "the guard says no"
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_end 1 times

  @rule:tool_execution_end.refused-and-denied-calls-end @case:ask
  Scenario: A call the user rejects
    Given the host's approval service is rejected
    And the host asks "read_note" with the reason "may it?"
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_end 1 times

  @rule:tool_execution_end.allowed-calls-end-with-their-result
  Scenario: A call the user allows
    Given the host's approval service is allowed-once
    And the host, after the bridge, asks "read_note" with the reason "may it?"
    When the model calls "read_note"
    Then call "1" succeeds with "read_note ok"
    And package "recorder" sees tool_execution_end 1 times
    And package "recorder" sees tool_execution_end of call "1" with {"isError": false}

  @rule:tool_execution_end.calls-the-host-breaks-end @case:thrown
  Scenario Outline: A listener or a guard of the host that throws
    Given the host's <place> of "read_note" throws "the host stumbled"
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_end 1 times

    Examples:
      | place          |
      | listener       |
      | inner-listener |
      | guard          |

  @rule:tool_execution_end.calls-the-host-breaks-end @case:lossy-arguments
  Scenario: Arguments that are no lossless JSON
    When the model calls "read_note" with the argument text
      """
      {"n": 1e999}
      """
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_end 1 times

  @rule:tool_execution_end.calls-the-host-breaks-end-as-errors
  Scenario Outline: What the end of a call says that the host's <place> broke
    Given the host's <place> of "read_note" throws "the host stumbled"
    When the model calls "read_note"
    Then call "1" fails
    And package "recorder" sees tool_execution_end of call "1" with {"isError": true}

    Examples:
      | place          |
      | listener       |
      | inner-listener |
      | guard          |

  @rule:tool_execution_end.ends-of-broken-calls-tell-the-durable-result
  Scenario Outline: The text of the end of a call that the host's <place> broke
    Given the host's <place> of "read_note" throws "the host stumbled"
    When the model calls "read_note"
    Then call "1" fails and says "the host stumbled"
    And the end of call "1" tells what the log keeps

    Examples:
      | place          |
      | listener       |
      | inner-listener |
      | guard          |

  @rule:tool_execution_end.ends-of-calls-a-wrapper-breaks-tell-the-durable-result
  Scenario Outline: The end of a call that a listener around its body, or after it, broke
    Given a listener "broken" of <event> that
      """
      throws: {$: error, message: the wrapper broke}
      """
    When the model calls "read_note"
    Then call "1" fails and says "the wrapper broke"
    And the end of call "1" tells what the log keeps

    Examples:
      | event              |
      | tools/execute      |
      | tools/post-execute |

  @rule:tool_execution_end.calls-a-wrapper-breaks-end
  Scenario Outline: A listener around the body, or after it, that throws
    Given a listener "broken" of <event> that
      """
      throws: the wrapper broke
      """
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_end 1 times

    Examples:
      | event              |
      | tools/execute      |
      | tools/post-execute |

  @rule:tool_execution_end.calls-never-started
  Scenario: A cancel in the first of three calls
    Given the user cancels while the tool "read_note" runs
    When the model calls in one message
      | tool      |
      | read_note |
      | read_note |
      | read_note |
    Then package "recorder" sees both start and end of call "2", or neither
    And package "recorder" sees both start and end of call "3", or neither

  @rule:tool_execution_end.calls-without-a-record
  Scenario: A call that another tool makes
    Given a native tool "assistant"
    And the body of "assistant" does
      """
      acts: [{do: host, call: tools.execute, scope: main, args: [{callId: inner, name: read_note, arguments: {}}]}]
      """
    When the model calls "assistant"
    Then package "recorder" sees both start and end of call "inner", or neither
    And package "recorder" sees both start and end of call "1", or neither

  @rule:tool_execution_end.cut-calls-do-not-run @on:bridge
  Scenario: A message that its length limit cut off
    When the model calls in one message
      | tool      | finish |
      | read_note | length |
    Then the tool "read_note" does not run
    And package "recorder" sees both start and end of call "1", or neither

  @rule:tool_execution_end.cut-calls-do-not-run @on:pi
  Scenario: On Pi its calls fail and the model is asked again
    When the model calls in one message
      | tool      | finish |
      | read_note | length |
    Then the tool "read_note" does not run
    And call "1" fails
    And package "recorder" sees, in this order
      | event                | call |
      | tool_execution_start | 1    |
      | tool_execution_end   | 1    |
    And the model is asked 2 times

  @rule:tool_execution_end.a-success-after-a-cancel @on:bridge
  Scenario: A tool that succeeds although the user cancelled
    Given the user cancels while the tool "read_note" runs
    When the model calls "read_note"
    Then call "1" has one result
    And package "recorder" sees tool_execution_end 1 times

  @rule:tool_execution_end.a-success-after-a-cancel @on:pi
  Scenario: On Pi the success counts
    Given the user cancels while the tool "read_note" runs
    When the model calls "read_note"
    Then call "1" succeeds with "read_note ok"
    And the end of call "1" tells what the log keeps

  @rule:tool_execution_end.siblings-of-a-cancelled-call
  Scenario: One tool is done and the other is running when the user cancels
    Given a package "runners" with the tool "quick" and
      """
      executionMode: parallel
      """
    And package "runners" registers the tool "stalled" with
      """
      executionMode: parallel
      """
    And the tool "stalled" does
      """
      acts: [{do: hold, kinds: [tool.exit]}, {do: cancel}]
      returns: {content: [{type: text, text: stalled}]}
      """
    When the model calls in one message
      | tool    |
      | stalled |
      | quick   |
    Then call "1" has one result
    And call "2" has one result
    And package "recorder" sees tool_execution_end 2 times

  # --- when ---

  @rule:tool_execution_end.after-tool-result
  Scenario: A tool_result handler that takes its time
    Given package "recorder" holds tool_result until tool_execution_end is entered
    When the model calls "read_note"
    Then this order holds
      """
      the return of tool_result of call "1" in package "recorder"
      the tool_execution_end of call "1"
      """

  @rule:tool_execution_end.carries-the-final-result @case:patched
  Scenario: A redacted result
    Given the tool "read_note" answers "KEY=abc123"
    And package "redactor" replaces the text of results by "KEY=[R]"
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_end of call "1" with {"result": {"content": [{"type": "text", "text": "KEY=[R]"}]}, "isError": false}
    And the end of call "1" tells what the log keeps

  @rule:tool_execution_end.carries-the-final-result @case:turned-error
  Scenario: A success made an error
    Given package "judge" answers tool_result with
      """
      returns: {isError: true}
      """
    When the model calls "read_note"
    Then the end of call "1" tells what the log keeps
    And package "recorder" sees tool_execution_end of call "1" with {"isError": true}

  @rule:tool_execution_end.carries-the-final-result @case:native
  Scenario: A native tool's result as a handler left it
    Given a native tool "disk_reader"
    And the native tool "disk_reader" answers "raw sectors"
    And package "redactor" replaces the text of results by "sectors, redacted"
    When the model calls "disk_reader"
    Then package "recorder" sees tool_execution_end of call "1" with {"result": {"content": [{"type": "text", "text": "sectors, redacted"}]}}

  @rule:tool_execution_end.carries-the-final-result @case:emptied
  Scenario: A result that a handler emptied
    Given package "redactor" answers tool_result with
      """
      returns: {content: []}
      """
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_end of call "1" with {"result": {"content": []}, "isError": false}

  @rule:tool_execution_end.carries-the-final-result @case:changed-in-place
  Scenario: A result that a handler changed in place
    Given the tool "read_note" answers "KEY=abc123"
    And package "redactor" answers tool_result with
      """
      ops: [{op: set, path: [content, 0, text], value: "KEY=[R]"}]
      """
    When the model calls "read_note"
    Then the end of call "1" tells what the log keeps

  @rule:tool_execution_end.carries-the-pictures
  Scenario: A result with a picture
    Given the tool "read_note" does
      """
      returns: {content: [{type: text, text: an illustrated note}, {type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}]}
      """
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_end of call "1" with {"result": {"content": [{"type": "text", "text": "an illustrated note"}, {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg=="}]}}

  @rule:tool_execution_end.equals-the-durable-result
  Scenario Outline: The end of every kind of call
    Given a package "desk" with the tool "broken_lamp"
    And the tool "broken_lamp" throws "the bulb is gone"
    And package "desk" registers the tool "drawer"
    And package "guard" blocks "drawer" with the reason "the drawer is locked"
    And package "desk" registers the tool "weigh" with
      """
      parameters: {type: object, properties: {grams: {type: number}}, required: [grams]}
      """
    When the model calls "<tool>"
    Then the end of call "1" tells what the log keeps

    Examples:
      | tool                  |
      | read_note             |
      | broken_lamp           |
      | drawer                |
      | weigh                 |
      | no_such_tool_anywhere |

  @rule:tool_execution_end.equals-the-durable-result @case:cancelled
  Scenario: The end of a call whose tool the user cancelled
    Given the user cancels while the tool "read_note" runs
    When the model calls "read_note"
    Then the end of call "1" tells what the log keeps

  @rule:tool_execution_end.equals-the-durable-result @case:failed-again
  Scenario: The end of a tool that fails a second time, for another reason
    Given the tool "read_note" does
      """
      when: {call: "1"}
      throws: {$: error, name: Error, message: the bulb is gone}
      """
    And the tool "read_note" does
      """
      when: {call: "2"}
      throws: {$: error, name: Error, message: the cord is torn}
      """
    And the model first calls "read_note"
    When the model calls "read_note"
    Then the end of call "1" tells what the log keeps
    And the end of call "2" tells what the log keeps

  @rule:tool_execution_end.equals-the-durable-result @case:text-like-a-failures
  Scenario: A success whose text looks like a failure's
    Given a native tool "disk_reader"
    And the tool "read_note" answers "Error: none were found"
    And the native tool "disk_reader" answers "Error: none were found"
    When the model calls in one message
      | tool        |
      | read_note   |
      | disk_reader |
    Then the end of call "1" tells what the log keeps
    And the end of call "2" tells what the log keeps
    And package "recorder" sees tool_execution_end of call "1" with {"isError": false}
    And package "recorder" sees tool_execution_end of call "2" with {"isError": false}
    And package "recorder" sees tool_result of call "1" with {"isError": false}

  @rule:tool_execution_end.a-call-outlives-its-package
  Scenario: A package is removed while its tool runs
    Given a package "shop" with the tool "close_shop"
    And the tool "close_shop" does
      """
      acts: [{do: unload, package: shop}]
      returns: {content: [{type: text, text: closed}], details: {}}
      """
    When the model calls "close_shop"
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_end of call "1" with {"toolName": "close_shop"}
    And package "recorder" sees tool_execution_end 1 times

  @rule:tool_execution_end.before-the-durable-result @case:ok
  Scenario: An end handler that takes its time
    Given package "slow" holds tool_execution_end until something else happens
    When the model calls "read_note"
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "slow"
      the durable result of call "1"
      """

  @rule:tool_execution_end.before-the-durable-result @case:one-of-three
  Scenario Outline: One slow end handler among quick ones
    Given package "alpha" listens to tool_execution_end
    And package "beta" listens to tool_execution_end
    And package "gamma" listens to tool_execution_end
    And package "<slow>" holds tool_execution_end until something else happens
    When the model calls "read_note"
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "<slow>"
      the durable result of call "1"
      """

    Examples:
      | slow  |
      | alpha |
      | beta  |
      | gamma |

  @rule:tool_execution_end.before-the-durable-result @case:blocked
  Scenario: The end of a blocked call
    Given package "guard" blocks "read_note" with the reason "closed"
    And package "slow" holds tool_execution_end until something else happens
    When the model calls "read_note"
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "slow"
      the durable result of call "1"
      """

  @rule:tool_execution_end.before-the-durable-result @case:judge-threw
  Scenario: The end of a call whose judge threw
    Given package "guard" throws "the guard stumbled" from tool_call
    And package "slow" holds tool_execution_end until something else happens
    When the model calls "read_note"
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "slow"
      the durable result of call "1"
      """

  @rule:tool_execution_end.before-the-durable-result @case:unknown
  Scenario: The end of a call that no tool has
    Given package "slow" holds tool_execution_end until something else happens
    When the model calls "no_such_tool_anywhere"
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "slow"
      the durable result of call "1"
      """

  @rule:tool_execution_end.before-the-durable-result @case:throws
  Scenario: The end of a call whose tool threw
    Given the tool "read_note" throws "the shelf is empty"
    And package "slow" holds tool_execution_end until something else happens
    When the model calls "read_note"
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "slow"
      the durable result of call "1"
      """

  @rule:tool_execution_end.before-the-durable-result @case:native
  Scenario: The end of a native call
    Given a native tool "disk_reader"
    And package "slow" holds tool_execution_end until something else happens
    When the model calls "disk_reader"
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "slow"
      the durable result of call "1"
      """

  @rule:tool_execution_end.before-the-durable-result @case:natives-beside-each-other
  Scenario: The ends of two native calls that run beside each other
    Given a native tool "disk_reader" with
      """
      parallel: true
      """
    And package "slow" holds tool_execution_end until something else happens
    When the model calls in one message
      | tool        |
      | disk_reader |
      | disk_reader |
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "slow"
      the durable result of call "1"
      """
    And this order holds
      """
      the return of tool_execution_end of call "2" in package "slow"
      the durable result of call "2"
      """

  @rule:tool_execution_end.before-the-durable-result @case:invalid
  Scenario: The end of a call whose arguments did not pass
    Given a package "scales" with the tool "weigh" and
      """
      parameters: {type: object, properties: {grams: {type: number}}, required: [grams]}
      """
    And package "slow" holds tool_execution_end until something else happens
    When the model calls "weigh" with {"grams": "a lot"}
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "slow"
      the durable result of call "1"
      """

  @rule:tool_execution_end.before-the-durable-result @case:cancelled-body
  Scenario: The end of a call that was cancelled while it ran
    Given the user cancels while the tool "read_note" runs
    And package "slow" holds tool_execution_end until something else happens
    When the model calls "read_note"
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "slow"
      the durable result of call "1"
      """

  @rule:tool_execution_end.before-the-durable-result @case:cancelled-judge
  Scenario: The end of a call that was cancelled while it was judged
    Given package "guard" answers tool_call with
      """
      acts: [{do: cancel}]
      """
    And package "slow" holds tool_execution_end until something else happens
    When the model calls "read_note"
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "slow"
      the durable result of call "1"
      """

  @rule:tool_execution_end.before-the-durable-result @case:more-than-a-second
  Scenario: An end handler that needs more than a second
    Given package "slow" answers tool_execution_end with
      """
      delayMs: 1200
      """
    When the model calls "read_note"
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "slow"
      the durable result of call "1"
      """

  @rule:tool_execution_end.refused-and-denied-ends-are-awaited @case:refused
  Scenario: The end of a refused call
    Given a native tool "disk_cleaner"
    And package "rewriter" changes the argument "path" of "disk_cleaner" to "/tmp"
    And package "slow" holds tool_execution_end until something else happens
    When the model calls "disk_cleaner" with {"path": "/home"}
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "slow"
      the durable result of call "1"
      """

  @rule:tool_execution_end.refused-and-denied-ends-are-awaited @case:denied
  Scenario: The end of a denied call
    Given the host denies "read_note" with the reason "the host says no"
    And package "slow" holds tool_execution_end until something else happens
    When the model calls "read_note"
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "slow"
      the durable result of call "1"
      """

  @rule:tool_execution_end.refused-and-denied-ends-are-awaited @case:inner-listener
  Scenario: The end of a call denied after the bridge
    Given the host, after the bridge, denies "read_note" with the reason "the host says no"
    And package "slow" holds tool_execution_end until something else happens
    When the model calls "read_note"
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "slow"
      the durable result of call "1"
      """

  @rule:tool_execution_end.refused-and-denied-ends-are-awaited @case:guard
  Scenario: The end of a call a guard denied
    Given the host guards "read_note" with the reason "the guard says no"
    And package "slow" holds tool_execution_end until something else happens
    When the model calls "read_note"
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "slow"
      the durable result of call "1"
      """

  @rule:tool_execution_end.refused-and-denied-ends-are-awaited @case:ask
  Scenario: The end of a call the user rejected
    Given the host's approval service is rejected
    And the host asks "read_note" with the reason "may it?"
    And package "slow" holds tool_execution_end until something else happens
    When the model calls "read_note"
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "slow"
      the durable result of call "1"
      """

  @rule:tool_execution_end.ends-of-calls-a-listener-breaks-are-awaited
  Scenario: The end of a call that a listener after the bridge breaks
    Given the host's inner-listener of "read_note" throws "the host stumbled"
    And package "slow" holds tool_execution_end until something else happens
    When the model calls "read_note"
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "slow"
      the durable result of call "1"
      """

  @rule:tool_execution_end.ends-of-other-broken-calls-precede-the-next-request @case:guard
  Scenario: The end of a call whose guard threw
    Given the host's guard of "read_note" throws "the guard stumbled"
    And package "slow" holds tool_execution_end until something else happens
    When the model calls "read_note"
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "slow"
      request 2
      """

  @rule:tool_execution_end.ends-of-other-broken-calls-precede-the-next-request @case:lossy-arguments
  Scenario: The end of a call whose arguments no JSON can give back
    Given package "slow" holds tool_execution_end until something else happens
    When the model calls "read_note" with the argument text
      """
      {"n": 1e999}
      """
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "slow"
      request 2
      """

  @rule:tool_execution_end.before-the-next-request
  Scenario: The next request waits
    Given package "slow" holds tool_execution_end until something else happens
    When the model calls "read_note"
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "slow"
      request 2
      the end of the turn
      """

  @rule:tool_execution_end.before-the-step-ends
  Scenario: The step waits
    Given package "slow" holds tool_execution_end until something else happens
    When the model calls in one message
      | tool      |
      | read_note |
      | read_note |
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "slow"
      the return of tool_execution_end of call "2" in package "slow"
      the end of the step
      request 2
      """

  @rule:tool_execution_end.nothing-of-a-call-after-its-end
  Scenario: The end comes last
    Given a native tool "disk_reader"
    When the model calls "disk_reader"
    Then package "recorder" sees, in this order
      | event                | call |
      | tool_execution_start | 1    |
      | tool_call            | 1    |
      | tool_result          | 1    |
      | tool_execution_end   | 1    |

  @rule:tool_execution_end.nothing-of-a-call-after-its-end @case:throws
  Scenario: The end of a tool that reported progress and threw
    Given the tool "read_note" does
      """
      acts: [{do: update, update: {content: [{type: text, text: halfway}]}}]
      throws: the shelf is empty
      lateUpdates: [{content: [{type: text, text: too late}]}]
      """
    When the model calls "read_note"
    Then package "recorder" sees, in this order
      | event                 | call |
      | tool_execution_start  | 1    |
      | tool_call             | 1    |
      | tool_execution_update | 1    |
      | tool_result           | 1    |
      | tool_execution_end    | 1    |

  @rule:tool_execution_end.a-blocked-call-has-start-judge-and-end
  Scenario: A blocked call, seen by a package that is asked first
    Given package "guard" blocks "read_note" with the reason "closed"
    When the model calls "read_note"
    Then package "recorder" sees, in this order
      | event                | call |
      | tool_execution_start | 1    |
      | tool_call            | 1    |
      | tool_execution_end   | 1    |

  @rule:tool_execution_end.calls-of-a-message-end-each @case:parallel
  Scenario: Two calls that run beside each other
    Given a package "runners" with the tool "runner" and
      """
      executionMode: parallel
      """
    When the model calls in one message
      | tool   |
      | runner |
      | runner |
      | runner |
    Then package "recorder" sees tool_execution_end 3 times
    And package "recorder" sees tool_execution_end of call "3" with {"isError": false}

  @rule:tool_execution_end.calls-of-a-message-end-each @case:equal-ids
  Scenario: Two calls with the same id
    When the model calls in one message
      | id   | tool      |
      | same | read_note |
      | same | read_note |
    Then package "recorder" sees tool_execution_start 2 times
    And package "recorder" sees tool_execution_end 2 times

  @rule:tool_execution_end.calls-of-a-message-end-each @case:many
  Scenario Outline: A message of many calls
    Given package "recorder" registers the tool "runner" with
      """
      executionMode: <mode>
      """
    And the tool "runner" sends the update "halfway"
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
    Then package "recorder" sees tool_execution_start 12 times
    And package "recorder" sees tool_call 12 times
    And package "recorder" sees tool_execution_update 12 times
    And package "recorder" sees tool_result 12 times
    And package "recorder" sees tool_execution_end 12 times
    And package "recorder" sees the updates ["halfway"] of call "12"
    And package "recorder" sees tool_execution_end of call "11" with {"isError": false}

    Examples:
      | mode       |
      | sequential |
      | parallel   |

  @rule:tool_execution_end.calls-of-a-message-end-each @case:ids-alike
  Scenario: Calls of a message whose ids are much alike, or are names that objects have
    When the model calls in one message
      | id          | tool      |
      | 7           | read_note |
      | 07          | read_note |
      | 7.0         | read_note |
      | 7e0         | read_note |
      | call_a      | read_note |
      | call_A      | read_note |
      | call-a      | read_note |
      | constructor | read_note |
      | __proto__   | read_note |
    Then package "recorder" sees tool_execution_start 9 times
    And package "recorder" sees tool_result 9 times
    And package "recorder" sees tool_execution_end 9 times
    And package "recorder" sees tool_execution_end of call "07" with {"toolName": "read_note"}
    And package "recorder" sees tool_execution_end of call "call_A" with {"toolName": "read_note"}
    And package "recorder" sees tool_execution_end of call "__proto__" with {"toolName": "read_note"}

  @rule:tool_execution_end.payload-has-the-details @case:long
  Scenario: The text and the details of a long result
    Given the tool "read_note" does
      """
      returns: {content: [{type: text, text: {$: repeat, text: "a long one, ", times: 20000, tail: with an end}}], details: {note: {$: repeat, text: "a long one, ", times: 20000, tail: with an end}}}
      """
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_end of call "1" with {"result": {"content": [{"type": "text", "text": {"$": "repeat", "text": "a long one, ", "times": 20000, "tail": "with an end"}}], "details": {"note": {"$": "repeat", "text": "a long one, ", "times": 20000, "tail": "with an end"}}}}

  @rule:tool_execution_end.an-id-seen-before-starts-and-ends-again @case:turn
  Scenario: Calls of two turns with the same id
    When the model calls in one message
      | id   | tool      |
      | same | read_note |
    And the model calls in one message
      | id   | tool      |
      | same | read_note |
    Then the tool "read_note" runs 2 times
    And package "recorder" sees tool_execution_start 2 times
    And package "recorder" sees tool_execution_end 2 times

  @rule:tool_execution_end.an-id-seen-before-starts-and-ends-again @case:step
  Scenario: Calls of one turn's two messages with the same id
    Given the model of agent "main" first calls in one message
      | id   | tool      |
      | same | read_note |
    When the model calls in one message
      | id   | tool      |
      | same | read_note |
    Then the tool "read_note" runs 2 times
    And package "recorder" sees tool_execution_start 2 times
    And package "recorder" sees tool_execution_end 2 times

  @rule:tool_execution_end.an-id-seen-before-starts-and-ends-again @case:what-they-say
  Scenario: What start and end say of a later call with the same id
    Given the tool "read_note" does
      """
      when: {nth: 1}
      returns: {content: [{type: text, text: the first page}], details: {}}
      """
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
    Then package "recorder" sees tool_execution_start with {"toolCallId": "same", "args": {"page": 2}}
    And package "recorder" sees tool_execution_end with {"toolCallId": "same", "result": {"content": [{"type": "text", "text": "the second page"}]}}

  @rule:tool_execution_end.a-handler-added-at-work-is-told-from-then-on
  Scenario Outline: A package begins to listen while a tool runs
    Given the tool "read_note" sends the update "half a page"
    And the tool "read_note" does
      """
      when: {nth: 1}
      acts: [{do: pi, call: "on", args: [{id: late, event: <event>}]}]
      """
    And the model first calls "read_note"
    And the model first calls "read_note"
    When the model calls "read_note"
    And the model calls "read_note"
    Then handler "late" is entered for call "2"
    And handler "late" is entered for call "3"
    And handler "late" is entered for call "4"

    Examples:
      | event                 |
      | tool_execution_start  |
      | tool_execution_update |
      | tool_execution_end    |

  @rule:tool_execution_end.a-handler-added-at-work-is-told-from-then-on @case:of-the-call-at-hand
  Scenario Outline: A package begins to listen to <event> in the <begun> of the call at hand
    Given package "notes" answers <begun> with
      """
      acts: [{do: pi, call: "on", args: [{id: late, event: <event>}]}]
      """
    And the tool "read_note" sends the update "half a page"
    When the model calls "read_note"
    Then handler "late" is entered for call "1"

    Examples:
      | begun                | event                 |
      | tool_execution_start | tool_execution_end    |
      | tool_call            | tool_execution_update |
      | tool_call            | tool_execution_end    |
      | tool_result          | tool_execution_end    |

  @rule:tool_execution_end.a-handler-added-at-work-is-told-from-then-on @case:between-two-updates
  Scenario: A package begins to listen between two partial results
    Given the tool "read_note" does
      """
      acts:
        - {do: update, update: {content: [{type: text, text: half a page}]}}
        - {do: pi, call: "on", args: [{id: late, event: tool_execution_update}]}
        - {do: update, update: {content: [{type: text, text: a page}]}}
      returns: {content: [{type: text, text: read}]}
      """
    When the model calls "read_note"
    Then handler "late" is entered for call "1"

  @rule:tool_execution_end.calls-of-a-child-agent
  Scenario: A call of an agent that works for another
    When the model calls "read_note"
    And an agent "helper" is created as a child of "main"
    And the model of agent "helper" calls "read_note"
    Then package "recorder" sees both start and end of call "1", or neither
    And package "recorder" sees tool_execution_end of call "1" with {"isError": false}
    And package "recorder" sees both start and end of call "2", or neither

  @rule:tool_execution_end.exclusive-calls-follow-each-other
  Scenario: Tools that run one after another
    Given a package "runners" with the tool "runner" and
      """
      executionMode: sequential
      """
    And package "slow" holds tool_execution_end until something else happens
    When the model calls in one message
      | tool   |
      | runner |
      | runner |
    Then this order holds
      """
      the tool_execution_start of call "1"
      the tool_call of call "1"
      the body of call "1"
      the return of tool_execution_end of call "1" in package "slow"
      the durable result of call "1"
      the tool_execution_start of call "2"
      the tool_call of call "2"
      """

  @rule:tool_execution_end.parallel-calls-keep-their-own-order
  Scenario: Tools that run beside each other
    Given a package "runners" with the tool "runner" and
      """
      executionMode: parallel
      """
    When the model calls in one message
      | tool   |
      | runner |
      | runner |
    Then this order holds
      """
      the tool_execution_start of call "1"
      the tool_call of call "1"
      the body of call "1"
      the tool_result of call "1"
      the tool_execution_end of call "1"
      the durable result of call "1"
      """
    And this order holds
      """
      the tool_execution_start of call "2"
      the tool_call of call "2"
      the body of call "2"
      the tool_result of call "2"
      the tool_execution_end of call "2"
      the durable result of call "2"
      """

  @rule:tool_execution_end.handlers-are-told-in-load-order
  Scenario: Packages in load order, handlers in order of registration
    Given package "alpha" listens to tool_execution_end
    And a further handler of package "alpha" listens to tool_execution_end
    And package "beta" listens to tool_execution_end
    When the model calls "read_note"
    Then this order holds
      """
      the tool_execution_end of call "1" in package "alpha"
      handler "tool_execution_end#2" of call "1"
      the tool_execution_end of call "1" in package "beta"
      """

  # --- handlers ---

  @rule:tool_execution_end.handlers-wait-for-each-other
  Scenario: A slow end handler keeps the next one waiting
    Given package "alpha" holds tool_execution_end until something else happens
    And package "beta" listens to tool_execution_end
    When the model calls "read_note"
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "alpha"
      the tool_execution_end of call "1" in package "beta"
      """

  @rule:tool_execution_end.a-throwing-handler-silences-nobody
  Scenario: A handler that throws before another
    Given package "clumsy" throws "the handler stumbled" from tool_execution_end
    And a further handler of package "clumsy" listens to tool_execution_end
    And package "second_recorder" listens to tool_execution_end
    When the model calls "read_note"
    Then handler "tool_execution_end#2" is entered for call "1"
    And package "second_recorder" sees tool_execution_end 1 times
    And call "1" succeeds with "read_note ok"

  @rule:tool_execution_end.a-throwing-handler-is-reported
  Scenario: What it threw
    Given package "clumsy" throws "the handler stumbled over its laces" from tool_execution_end
    When the model calls "read_note"
    Then a notice names "the handler stumbled over its laces"

  @rule:tool_execution_end.a-throwing-handler-silences-nobody @case:without-waiting
  Scenario: A handler that throws without ever waiting
    Given package "clumsy" answers tool_execution_end with
      """
      sync: true
      throws: {$: error, message: the handler stumbled}
      """
    And package "witness" listens to tool_execution_end
    When the model calls "read_note"
    Then package "witness" sees tool_execution_end 1 times
    And call "1" succeeds
    And the model is asked 2 times

  @rule:tool_execution_end.a-throwing-handler-silences-nobody @case:no-function
  Scenario Outline: A tool subscribes to <event> with something that is no function
    Given the tool "read_note" calls on with [{"id": "odd", "event": "<event>", "callable": false}]
    And package "watcher" listens to every tool event
    And the model first calls "read_note"
    When the model calls "read_note"
    Then package "watcher" sees tool_execution_start 2 times
    And package "watcher" sees tool_result 2 times
    And package "watcher" sees tool_execution_end 2 times
    And call "2" succeeds with "read_note ok"

    Examples:
      | event                 |
      | tool_execution_start  |
      | tool_result           |
      | tool_execution_end    |

  @rule:tool_execution_end.a-throwing-handler-is-reported @case:several
  Scenario: What the handlers of two packages throw
    Given package "clumsy" throws "the first one stumbled over its laces" from tool_execution_end
    And package "hasty" throws "the second one ran into the door" from tool_execution_end
    When the model calls "read_note"
    Then a notice names "the first one stumbled over its laces"
    And a notice names "the second one ran into the door"

  @rule:tool_execution_end.a-throwing-handler-is-reported @case:each-time
  Scenario: What it threw the second time
    Given package "clumsy" throws "the handler stumbled over its laces" from tool_execution_end
    And package "clumsy" answers tool_execution_end with
      """
      when: {call: "2"}
      throws: the handler stumbled over the cat
      """
    And the model first calls "read_note"
    When the model calls "read_note"
    Then a notice names "the handler stumbled over its laces"
    And a notice names "the handler stumbled over the cat"

  @rule:tool_execution_end.a-removed-package-hears-nothing-more
  Scenario: A package that the operator removed
    Given package "gossip" listens to every tool event
    And a package "manager" with the tool "close_shop"
    And the tool "close_shop" does
      """
      acts: [{do: unload, package: gossip}]
      returns: {content: [{type: text, text: closed}], details: {}}
      """
    And the tool "read_note" sends the update "halfway"
    And the model first calls "close_shop"
    When the model calls "read_note"
    Then package "gossip" sees tool_execution_start 1 times
    And package "gossip" never sees tool_execution_update
    And package "gossip" never sees tool_execution_end
    And package "recorder" sees tool_execution_end 2 times

  @rule:tool_execution_end.a-removed-package-hears-nothing-more @case:others-do
  Scenario: The packages around one that the operator removed
    Given package "gossip" listens to every tool event
    And package "neighbour" listens to every tool event
    And a package "manager" with the tool "close_shop"
    And the tool "close_shop" does
      """
      acts: [{do: unload, package: gossip}]
      returns: {content: [{type: text, text: closed}], details: {}}
      """
    And the model first calls "close_shop"
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_start 2 times
    And package "recorder" sees tool_execution_end 2 times
    And package "neighbour" sees tool_execution_start 2 times
    And package "neighbour" sees tool_execution_end 2 times

  @rule:tool_execution_end.answers-change-nothing
  Scenario: A handler that answers
    Given package "forger" answers tool_execution_end with
      """
      returns: {content: [{type: text, text: a forged result}], isError: true, terminate: true}
      """
    When the model calls "read_note"
    Then call "1" succeeds with "read_note ok"
    And the model is asked 2 times

  @rule:tool_execution_end.writes-do-not-reach-the-log @on:bridge
  Scenario: A handler that writes into the result it is shown
    Given package "forger" answers tool_execution_end with
      """
      ops: [{op: set, path: [result, content, 0, text], value: a forged result}]
      """
    When the model calls "read_note"
    Then call "1" succeeds with "read_note ok"

  @rule:tool_execution_end.writes-do-not-reach-the-log @on:pi
  Scenario: On Pi what it writes is kept
    Given package "forger" answers tool_execution_end with
      """
      ops: [{op: set, path: [result, content, 0, text], value: a forged result}]
      """
    When the model calls "read_note"
    Then call "1" succeeds with "a forged result"

  @rule:tool_execution_end.a-handler-that-threw-is-told-again
  Scenario: A handler that failed once
    Given package "critic" throws "the critic stumbled" from tool_execution_end
    And the model first calls "read_note"
    When the model calls "read_note"
    Then package "critic" sees tool_execution_end 2 times

  @rule:tool_execution_end.a-handler-that-threw-is-told-again @case:many-times
  Scenario: A handler that failed six times
    Given package "critic" throws "the critic stumbled" from tool_execution_end
    And the model of agent "main" first calls in one message
      | tool   |
      | read_note |
      | read_note |
      | read_note |
      | read_note |
      | read_note |
      | read_note |
    When the model calls "read_note"
    Then package "critic" sees tool_execution_end 7 times
