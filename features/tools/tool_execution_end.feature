Feature: tool_execution_end
  Packages hear how each call ended, after every patch of its result and before anybody reads it.

  Background:
    Given a package "notes" with the tool "read_note"
    And package "recorder" listens to every tool event

  @rule:tool_execution_end.payload
  Scenario: What an end says
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_end of call "1" with {"type": "tool_execution_end", "toolCallId": "1", "toolName": "read_note", "isError": false, "result": {"content": [{"type": "text", "text": "read_note ok"}]}}

  # --- one end for every start ---

  @rule:tool_execution_end.one-end-for-every-start @case:ok
  Scenario: A call that succeeds
    When the model calls "read_note"
    Then package "recorder" sees tool_execution_start 1 times
    And package "recorder" sees tool_execution_end 1 times

  @rule:tool_execution_end.one-end-for-every-start @case:native
  Scenario: A native call
    Given a native tool "disk_reader"
    When the model calls "disk_reader"
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

  # --- when ---

  @rule:tool_execution_end.after-tool-result
  Scenario: A tool_result handler that takes its time
    Given package "slow" holds tool_result until tool_execution_end is entered
    When the model calls "read_note"
    Then this order holds
      """
      the return of tool_result of call "1" in package "slow"
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

  @rule:tool_execution_end.before-the-durable-result @case:ok
  Scenario: An end handler that takes its time
    Given package "slow" holds tool_execution_end until something else happens
    When the model calls "read_note"
    Then this order holds
      """
      the return of tool_execution_end of call "1" in package "slow"
      the durable result of call "1"
      """

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
  Scenario: Tools that run beside each other
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

  # --- handlers ---

  @rule:tool_execution_end.a-throwing-handler-silences-nobody
  Scenario: A handler that throws before another
    Given package "clumsy" throws "the handler stumbled" from tool_execution_end
    And package "second_recorder" listens to tool_execution_end
    When the model calls "read_note"
    Then package "second_recorder" sees tool_execution_end 1 times
    And call "1" succeeds with "read_note ok"

  @rule:tool_execution_end.a-throwing-handler-is-reported
  Scenario: What it threw
    Given package "clumsy" throws "the handler stumbled over its laces" from tool_execution_end
    When the model calls "read_note"
    Then a notice names "the handler stumbled over its laces"

  @rule:tool_execution_end.answers-change-nothing
  Scenario: A handler that answers
    Given package "forger" answers tool_execution_end with
      """
      returns: {content: [{type: text, text: a forged result}], isError: true, terminate: true}
      """
    When the model calls "read_note"
    Then call "1" succeeds with "read_note ok"
    And the model is asked 2 times
