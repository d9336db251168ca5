Feature: tool_execution_update
  Packages hear of a migrated tool's partial results while it runs.

  Background:
    Given a package "digger" with the tool "dig"
    And package "digger" listens to tool_execution_update

  @rule:tool_execution_update.from-on-update
  Scenario: A partial result with details
    Given the tool "dig" does
      """
      acts: [{do: update, update: {content: [{type: text, text: halfway}], details: {progress: 0.5}}}]
      returns: {content: [{type: text, text: done}]}
      """
    When the model calls "dig"
    Then package "digger" sees tool_execution_update of call "1" with {"type": "tool_execution_update", "toolCallId": "1", "toolName": "dig", "partialResult": {"content": [{"type": "text", "text": "halfway"}], "details": {"progress": 0.5}}}

  @rule:tool_execution_update.from-on-update @case:blank-id
  Scenario: A partial result of a call whose id is empty
    Given the tool "dig" sends the update "halfway"
    When the model calls in one message
      | id  | tool |
      | ""  | dig  |
      | " " | dig  |
    Then package "digger" sees the updates ["halfway"] of call ""
    And package "digger" sees the updates ["halfway"] of call " "

  @rule:tool_execution_update.from-on-update @case:then-throws
  Scenario: A partial result of a tool that fails afterwards
    Given the tool "dig" does
      """
      acts: [{do: update, update: {content: [{type: text, text: halfway}]}}]
      throws: the shovel broke
      """
    When the model calls "dig"
    Then package "digger" sees the updates ["halfway"] of call "1"
    And call "1" fails and says "the shovel broke"

  @rule:tool_execution_update.from-on-update @case:every-call
  Scenario: Every call of a tool has partial results
    Given the tool "dig" sends the update "halfway"
    When the model calls "dig"
    And the model calls "dig"
    Then package "digger" sees the updates ["halfway"] of call "1"
    And package "digger" sees the updates ["halfway"] of call "2"

  @rule:tool_execution_update.from-on-update @case:picture
  Scenario: A partial result with a picture
    Given the tool "dig" does
      """
      acts: [{do: update, update: {content: [{type: image, mimeType: image/png, data: iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg==}]}}]
      returns: {content: [{type: text, text: done}]}
      """
    When the model calls "dig"
    Then package "digger" sees tool_execution_update of call "1" with {"partialResult": {"content": [{"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGM4IScHRAwQCgAfJgQRoo8irwAAAABJRU5ErkJggg=="}]}}

  @rule:tool_execution_update.from-on-update @case:same-id
  Scenario: Two calls of one message with the same id
    Given the tool "dig" sends the update "halfway"
    When the model calls in one message
      | id   | tool |
      | same | dig  |
      | same | dig  |
    Then package "digger" sees tool_execution_update 2 times

  @rule:tool_execution_update.from-on-update @case:after-a-cancel
  Scenario: A partial result that a tool sends after the user has cancelled
    Given the tool "dig" does
      """
      acts: [{do: cancel}, {do: update, update: {content: [{type: text, text: shovel put away}]}}]
      returns: {content: [{type: text, text: done}]}
      """
    When the model calls "dig"
    Then package "digger" sees the updates ["shovel put away"] of call "1"

  @rule:tool_execution_update.from-on-update @case:long
  Scenario: A long partial result
    Given the tool "dig" does
      """
      acts: [{do: update, update: {content: [{type: text, text: {$: repeat, text: "deeper, ", times: 20000, tail: done}}], details: {log: {$: repeat, text: "deeper, ", times: 20000, tail: done}}}}]
      """
    When the model calls "dig"
    Then package "digger" sees tool_execution_update of call "1" with {"partialResult": {"content": [{"type": "text", "text": {"$": "repeat", "text": "deeper, ", "times": 20000, "tail": "done"}}], "details": {"log": {"$": "repeat", "text": "deeper, ", "times": 20000, "tail": "done"}}}}

  @rule:tool_execution_update.from-on-update @case:equal
  Scenario: A partial result that says the same again
    Given the tool "dig" sends the update "still digging"
    And the tool "dig" sends the update "still digging"
    And the tool "dig" sends the update "done soon"
    And the tool "dig" sends the update "still digging"
    When the model calls "dig"
    Then package "digger" sees the updates ["still digging", "still digging", "done soon", "still digging"] of call "1"

  @rule:tool_execution_update.from-on-update @case:many
  Scenario: Forty partial results
    Given the tool "dig" does
      """
      acts: [{do: update, update: {content: [{type: text, text: spit 1}]}}, {do: update, update: {content: [{type: text, text: spit 2}]}}, {do: update, update: {content: [{type: text, text: spit 3}]}}, {do: update, update: {content: [{type: text, text: spit 4}]}}, {do: update, update: {content: [{type: text, text: spit 5}]}}, {do: update, update: {content: [{type: text, text: spit 6}]}}, {do: update, update: {content: [{type: text, text: spit 7}]}}, {do: update, update: {content: [{type: text, text: spit 8}]}}, {do: update, update: {content: [{type: text, text: spit 9}]}}, {do: update, update: {content: [{type: text, text: spit 10}]}}, {do: update, update: {content: [{type: text, text: spit 11}]}}, {do: update, update: {content: [{type: text, text: spit 12}]}}, {do: update, update: {content: [{type: text, text: spit 13}]}}, {do: update, update: {content: [{type: text, text: spit 14}]}}, {do: update, update: {content: [{type: text, text: spit 15}]}}, {do: update, update: {content: [{type: text, text: spit 16}]}}, {do: update, update: {content: [{type: text, text: spit 17}]}}, {do: update, update: {content: [{type: text, text: spit 18}]}}, {do: update, update: {content: [{type: text, text: spit 19}]}}, {do: update, update: {content: [{type: text, text: spit 20}]}}, {do: update, update: {content: [{type: text, text: spit 21}]}}, {do: update, update: {content: [{type: text, text: spit 22}]}}, {do: update, update: {content: [{type: text, text: spit 23}]}}, {do: update, update: {content: [{type: text, text: spit 24}]}}, {do: update, update: {content: [{type: text, text: spit 25}]}}, {do: update, update: {content: [{type: text, text: spit 26}]}}, {do: update, update: {content: [{type: text, text: spit 27}]}}, {do: update, update: {content: [{type: text, text: spit 28}]}}, {do: update, update: {content: [{type: text, text: spit 29}]}}, {do: update, update: {content: [{type: text, text: spit 30}]}}, {do: update, update: {content: [{type: text, text: spit 31}]}}, {do: update, update: {content: [{type: text, text: spit 32}]}}, {do: update, update: {content: [{type: text, text: spit 33}]}}, {do: update, update: {content: [{type: text, text: spit 34}]}}, {do: update, update: {content: [{type: text, text: spit 35}]}}, {do: update, update: {content: [{type: text, text: spit 36}]}}, {do: update, update: {content: [{type: text, text: spit 37}]}}, {do: update, update: {content: [{type: text, text: spit 38}]}}, {do: update, update: {content: [{type: text, text: spit 39}]}}, {do: update, update: {content: [{type: text, text: spit 40}]}}]
      """
    When the model calls "dig"
    Then package "digger" sees the updates ["spit 1", "spit 2", "spit 3", "spit 4", "spit 5", "spit 6", "spit 7", "spit 8", "spit 9", "spit 10", "spit 11", "spit 12", "spit 13", "spit 14", "spit 15", "spit 16", "spit 17", "spit 18", "spit 19", "spit 20", "spit 21", "spit 22", "spit 23", "spit 24", "spit 25", "spit 26", "spit 27", "spit 28", "spit 29", "spit 30", "spit 31", "spit 32", "spit 33", "spit 34", "spit 35", "spit 36", "spit 37", "spit 38", "spit 39", "spit 40"] of call "1"

  @rule:tool_execution_update.from-on-update @case:only-its-own
  Scenario: A partial result without the details of the one before it
    Given the tool "dig" does
      """
      acts:
        - {do: update, update: {content: [{type: text, text: halfway}], details: {progress: 0.5}}}
        - {do: update, update: {content: [{type: text, text: a stone}]}}
      """
    When the model calls "dig"
    Then package "digger" sees tool_execution_update of call "1" with {"partialResult": {"content": [{"type": "text", "text": "a stone"}], "details": {"$": "undefined"}}}

  @rule:tool_execution_update.handlers-wait-for-each-other
  Scenario: A slow update handler keeps the next one waiting
    Given the tool "dig" sends the update "halfway"
    And package "alpha" holds tool_execution_update until something else happens
    And package "beta" listens to tool_execution_update
    When the model calls "dig"
    Then this order holds
      """
      the return of tool_execution_update of call "1" in package "alpha"
      the tool_execution_update of call "1" in package "beta"
      """

  @rule:tool_execution_update.every-agents-updates-are-told
  Scenario: Every agent's calls have partial results
    Given an agent "main"
    And an agent "other"
    And the tool "dig" sends the update "halfway"
    When the model calls "dig"
    And the model of agent "other" calls "dig"
    Then package "digger" sees the updates ["halfway"] of call "1"
    And package "digger" sees the updates ["halfway"] of call "2"

  @rule:tool_execution_update.every-agents-updates-are-told @case:same-id
  Scenario: Two agents at work at the same time, with calls of the same id
    Given an agent "main"
    And an agent "other"
    And the tool "dig" does
      """
      when: {agent: main}
      acts: [{do: hold, kinds: [tool.enter]}, {do: update, update: {content: [{type: text, text: by main}]}}]
      """
    And the tool "dig" does
      """
      when: {agent: other}
      acts: [{do: hold, kinds: [tool.exit]}, {do: update, update: {content: [{type: text, text: by the other}]}}]
      """
    And the model of agent "main" first calls in one message
      | id   | tool | arguments    |
      | same | dig  | {"depth": 1} |
    And the model of agent "other" first calls in one message
      | id   | tool | arguments    |
      | same | dig  | {"depth": 2} |
    When the user says "go" to ["main", "other"]
    Then package "digger" sees tool_execution_update with {"args": {"depth": 1}, "partialResult": {"content": [{"type": "text", "text": "by main"}]}}
    And package "digger" sees tool_execution_update with {"args": {"depth": 2}, "partialResult": {"content": [{"type": "text", "text": "by the other"}]}}

  @rule:tool_execution_update.told-while-the-tool-runs
  Scenario: A tool that waits until its progress is heard
    Given the tool "dig" does
      """
      acts:
        - {do: update, update: {content: [{type: text, text: halfway}]}}
        - {do: hold, kinds: [handler.exit], event: tool_execution_update}
      returns: {content: [{type: text, text: done}]}
      """
    When the model calls "dig"
    Then this order holds
      """
      the tool_execution_update of call "1"
      the end of the body of call "1"
      """

  @rule:tool_execution_update.in-order
  Scenario: Three partial results
    Given the tool "dig" sends the update "first"
    And the tool "dig" sends the update "second"
    And the tool "dig" sends the update "third"
    When the model calls "dig"
    Then package "digger" sees the updates ["first", "second", "third"] of call "1"

  @rule:tool_execution_update.awaited-before-the-result
  Scenario: A handler that takes its time
    Given the tool "dig" sends the update "halfway"
    And package "digger" holds tool_execution_update until tool_result is entered
    And package "digger" listens to tool_result
    When the model calls "dig"
    Then this order holds
      """
      the tool_execution_update of call "1"
      the return of tool_execution_update of call "1"
      the tool_result of call "1"
      the durable result of call "1"
      """

  @rule:tool_execution_update.awaited-before-the-result @case:throws
  Scenario: A handler that takes its time about a tool that throws
    Given the tool "dig" does
      """
      acts: [{do: update, update: {content: [{type: text, text: halfway}]}}]
      throws: the shovel broke
      """
    And package "digger" holds tool_execution_update until tool_result is entered
    And package "digger" listens to tool_result
    When the model calls "dig"
    Then this order holds
      """
      the return of tool_execution_update of call "1"
      the tool_result of call "1"
      the durable result of call "1"
      """

  @rule:tool_execution_update.awaited-before-the-result @case:cancelled
  Scenario: A handler that takes its time about a tool that the user cancels
    Given the tool "dig" does
      """
      acts: [{do: update, update: {content: [{type: text, text: halfway}]}}, {do: cancel}]
      returns: {content: [{type: text, text: done}]}
      """
    And package "digger" holds tool_execution_update until something else happens
    And package "watcher" listens to tool_execution_end
    When the model calls "dig"
    Then this order holds
      """
      the return of tool_execution_update of call "1" in package "digger"
      the tool_execution_end of call "1" in package "watcher"
      the durable result of call "1"
      """

  @rule:tool_execution_update.awaited-before-the-result @case:one-of-three
  Scenario Outline: One slow update handler among quick ones
    Given the tool "dig" sends the update "halfway"
    And package "digger" listens to tool_result
    And package "alpha" listens to tool_execution_update
    And package "beta" listens to tool_execution_update
    And package "gamma" listens to tool_execution_update
    And package "<slow>" holds tool_execution_update until tool_result is entered
    When the model calls "dig"
    Then this order holds
      """
      the return of tool_execution_update of call "1" in package "<slow>"
      the tool_result of call "1"
      """

    Examples:
      | slow  |
      | alpha |
      | beta  |
      | gamma |

  @rule:tool_execution_update.awaited-before-the-result @case:one-of-three-updates
  Scenario Outline: A handler that takes its time about update <nth> of three
    Given the tool "dig" does
      """
      acts:
        - {do: update, update: {content: [{type: text, text: begun}]}}
        - {do: update, update: {content: [{type: text, text: halfway}]}}
        - {do: update, update: {content: [{type: text, text: nearly there}]}}
      returns: {content: [{type: text, text: done}]}
      """
    And package "digger" answers tool_execution_update with
      """
      when: {nth: <nth>}
      acts: [{do: hold, kinds: [handler.enter], event: tool_result}]
      """
    And package "digger" listens to tool_result
    And package "digger" listens to tool_execution_end
    When the model calls "dig"
    Then package "digger" sees, in this order
      | event                 | call |
      | tool_execution_update | 1    |
      | tool_execution_update | 1    |
      | tool_execution_update | 1    |
      | tool_result           | 1    |
      | tool_execution_end    | 1    |
    And the invariant "updates-are-awaited-before-the-result" holds

    Examples:
      | nth |
      | 1   |
      | 2   |
      | 3   |

  @rule:tool_execution_update.awaited-before-the-result @case:more-than-a-second
  Scenario: An update handler that needs more than a second
    Given the tool "dig" sends the update "halfway"
    And package "slow" answers tool_execution_update with
      """
      delayMs: 1200
      """
    And package "slow" listens to tool_result
    When the model calls "dig"
    Then this order holds
      """
      the return of tool_execution_update of call "1" in package "slow"
      the tool_result of call "1" in package "slow"
      """

  @rule:tool_execution_update.none-after-the-end
  Scenario: An update after the answer
    Given the tool "dig" does
      """
      acts: [{do: update, update: {content: [{type: text, text: in time}]}}]
      returns: {content: [{type: text, text: done}]}
      lateUpdates: [{content: [{type: text, text: too late}]}]
      """
    And the model first calls "dig"
    When the model calls "no_such_tool_anywhere"
    Then package "digger" sees the updates ["in time"] of call "1"

  @rule:tool_execution_update.none-after-the-end @case:throws
  Scenario: An update after the tool threw
    Given the tool "dig" does
      """
      acts: [{do: update, update: {content: [{type: text, text: in time}]}}]
      throws: the shovel broke
      lateUpdates: [{content: [{type: text, text: too late}]}]
      """
    And the model first calls "dig"
    When the model calls "no_such_tool_anywhere"
    Then package "digger" sees the updates ["in time"] of call "1"
    And call "1" fails and says "the shovel broke"

  @rule:tool_execution_update.none-after-the-end @case:beside-another-call
  Scenario: An update after the answer, while another call of the tool is at work
    Given package "digger" registers the tool "drill" with
      """
      executionMode: parallel
      """
    And the tool "drill" does
      """
      when: {call: "1"}
      acts: [{do: hold, kinds: [tool.enter]}]
      returns: {content: [{type: text, text: done}]}
      lateUpdates: [{content: [{type: text, text: too late}]}]
      """
    And the tool "drill" does
      """
      when: {call: "2"}
      delayMs: 50
      returns: {content: [{type: text, text: done}]}
      """
    When the model calls in one message
      | tool  |
      | drill |
      | drill |
    Then package "digger" sees the updates [] of call "1"
    And package "digger" sees the updates [] of call "2"

  @rule:tool_execution_update.none-for-native-tools @on:bridge
  Scenario: A native tool
    Given a native tool "disk_reader"
    When the model calls "disk_reader"
    Then call "1" succeeds
    And package "digger" never sees tool_execution_update

  @rule:tool_execution_update.none-for-native-tools @on:pi
  Scenario: On Pi any tool can report its progress
    Given a native tool "disk_reader"
    And the body of "disk_reader" does
      """
      acts: [{do: update, update: {content: [{type: text, text: halfway}]}}]
      text: done
      """
    When the model calls "disk_reader"
    Then package "digger" sees the updates ["halfway"] of call "1"

  @rule:tool_execution_update.each-call-has-its-own @case:after-the-other-began
  Scenario: A tool has a partial result when the one beside it has begun
    Given package "digger" registers the tool "drill" with
      """
      executionMode: parallel
      """
    And the tool "drill" does
      """
      when: {call: "1"}
      acts: [{do: hold, kinds: [tool.enter]}, {do: update, update: {content: [{type: text, text: first hole}]}}]
      """
    When the model calls in one message
      | tool  |
      | drill |
      | drill |
    Then package "digger" sees the updates ["first hole"] of call "1"

  @rule:tool_execution_update.each-call-has-its-own
  Scenario: Two tools at work beside each other
    Given package "digger" registers the tool "drill" with
      """
      executionMode: parallel
      """
    And the tool "drill" does
      """
      when: {call: "1"}
      acts: [{do: update, update: {content: [{type: text, text: first hole}]}}]
      """
    And the tool "drill" does
      """
      when: {call: "2"}
      acts: [{do: update, update: {content: [{type: text, text: second hole}]}}]
      """
    When the model calls in one message
      | tool  |
      | drill |
      | drill |
    Then package "digger" sees the updates ["first hole"] of call "1"
    And package "digger" sees the updates ["second hole"] of call "2"

  @rule:tool_execution_update.each-call-has-its-own @case:around-the-other
  Scenario: A tool has partial results before and after those of the one beside it
    Given package "digger" registers the tool "drill" with
      """
      executionMode: parallel
      """
    And the tool "drill" does
      """
      when: {call: "1"}
      acts:
        - {do: update, update: {content: [{type: text, text: first hole}]}}
        - {do: hold, kinds: [tool.exit]}
        - {do: update, update: {content: [{type: text, text: third hole}]}}
      """
    And the tool "drill" does
      """
      when: {call: "2"}
      acts: [{do: update, update: {content: [{type: text, text: second hole}]}}]
      """
    When the model calls in one message
      | tool  |
      | drill |
      | drill |
    Then package "digger" sees the updates ["first hole", "third hole"] of call "1"
    And package "digger" sees the updates ["second hole"] of call "2"

  @rule:tool_execution_update.each-call-has-its-own @case:id-seen-before
  Scenario: Partial results of calls whose id an earlier one had
    Given the tool "dig" does
      """
      when: {nth: 1}
      acts: [{do: update, update: {content: [{type: text, text: first hole}]}}]
      returns: {content: [{type: text, text: dug}]}
      """
    And the tool "dig" does
      """
      when: {nth: 2}
      acts: [{do: update, update: {content: [{type: text, text: second hole}]}}]
      returns: {content: [{type: text, text: dug}]}
      """
    And the tool "dig" does
      """
      when: {nth: 3}
      acts: [{do: update, update: {content: [{type: text, text: third hole}]}}]
      returns: {content: [{type: text, text: dug}]}
      """
    And the model of agent "main" first calls in one message
      | id   | tool |
      | same | dig  |
    When the model calls in one message
      | id   | tool |
      | same | dig  |
    And the model calls in one message
      | id   | tool |
      | same | dig  |
    Then package "digger" sees the updates ["first hole", "second hole", "third hole"] of call "same"

  @rule:tool_execution_update.never-in-the-log
  Scenario: Progress is not part of the result
    Given the tool "dig" sends the update "three feet down"
    When the model calls "dig"
    Then package "digger" sees the updates ["three feet down"] of call "1"
    And "three feet down" is nowhere in the log
    And call "1" succeeds with "dig ok"

  @rule:tool_execution_update.answers-change-nothing
  Scenario: A handler that answers
    Given the tool "dig" sends the update "halfway"
    And package "digger" answers tool_execution_update with
      """
      returns: {block: true, content: [{type: text, text: a forged result}], isError: true}
      """
    When the model calls "dig"
    Then call "1" succeeds with "dig ok"

  @rule:tool_execution_update.none-for-calls-that-do-not-run
  Scenario: A blocked call
    Given the tool "dig" sends the update "halfway"
    And package "guard" blocks "dig" with the reason "no digging"
    When the model calls "dig"
    Then package "digger" never sees tool_execution_update

  @rule:tool_execution_update.a-throwing-handler-silences-nobody
  Scenario: A handler that throws before another
    Given the tool "dig" sends the update "first"
    And the tool "dig" sends the update "second"
    And package "digger" throws "the digger stumbled" from tool_execution_update
    And a further handler of package "digger" listens to tool_execution_update
    And package "other" listens to tool_execution_update
    When the model calls "dig"
    Then handler "tool_execution_update#2" is entered for call "1"
    And package "other" sees the updates ["first", "second"] of call "1"
    And call "1" succeeds with "dig ok"

  @rule:tool_execution_update.a-throwing-handler-is-reported
  Scenario: What it threw
    Given the tool "dig" sends the update "first"
    And package "digger" throws "the digger stumbled over its laces" from tool_execution_update
    When the model calls "dig"
    Then a notice names "the digger stumbled over its laces"

  @rule:tool_execution_update.a-throwing-handler-silences-nobody @case:without-waiting
  Scenario: A handler that throws without ever waiting
    Given the tool "dig" sends the update "first"
    And package "clumsy" answers tool_execution_update with
      """
      sync: true
      throws: {$: error, message: the handler stumbled}
      """
    And package "witness" listens to tool_execution_update
    When the model calls "dig"
    Then package "witness" sees tool_execution_update 1 times
    And call "1" succeeds
    And the model is asked 2 times

  @rule:tool_execution_update.a-throwing-handler-is-reported @case:several
  Scenario: What the handlers of two packages throw
    Given the tool "dig" sends the update "first"
    And package "clumsy" throws "the first one stumbled over its laces" from tool_execution_update
    And package "hasty" throws "the second one ran into the door" from tool_execution_update
    When the model calls "dig"
    Then a notice names "the first one stumbled over its laces"
    And a notice names "the second one ran into the door"

  @rule:tool_execution_update.a-throwing-handler-is-reported @case:each-time
  Scenario: What it threw the second time
    Given the tool "dig" sends the update "first"
    And package "digger" throws "the digger stumbled over its laces" from tool_execution_update
    And package "digger" answers tool_execution_update with
      """
      when: {call: "2"}
      throws: the digger stumbled over the cat
      """
    And the model first calls "dig"
    When the model calls "dig"
    Then a notice names "the digger stumbled over its laces"
    And a notice names "the digger stumbled over the cat"

  @rule:tool_execution_update.a-handler-that-threw-is-told-again
  Scenario: A handler that fails each time
    Given the tool "dig" does
      """
      acts: [{do: update, update: {content: [{type: text, text: one}]}}, {do: update, update: {content: [{type: text, text: two}]}}, {do: update, update: {content: [{type: text, text: three}]}}, {do: update, update: {content: [{type: text, text: four}]}}]
      """
    And package "digger" throws "the digger stumbled" from tool_execution_update
    When the model calls "dig"
    And the model calls "dig"
    Then package "digger" sees the updates ["one", "two", "three", "four"] of call "1"
    And package "digger" sees the updates ["one", "two", "three", "four"] of call "2"

  @rule:tool_execution_update.every-package-is-told
  Scenario: The owner and another package
    Given the tool "dig" sends the update "halfway"
    And package "watcher" listens to tool_execution_update
    When the model calls "dig"
    Then package "watcher" sees the updates ["halfway"] of call "1"
    And package "digger" sees the updates ["halfway"] of call "1"

  @rule:tool_execution_update.a-package-that-goes-silences-nobody
  Scenario: The operator removes a package while the next one is told
    Given package "scout" listens to tool_execution_update
    And package "guard" answers tool_execution_update with
      """
      acts: [{do: unload, package: scout}]
      """
    And a package "keeper" with the tool "drill"
    And package "keeper" listens to tool_execution_update
    And the tool "drill" sends the update "halfway"
    And the tool "drill" sends the update "nearly there"
    When the model calls "drill"
    Then package "keeper" sees the updates ["halfway", "nearly there"] of call "1"

  @rule:tool_execution_update.handlers-are-told-in-load-order
  Scenario: Packages in load order, handlers in order of registration
    Given the tool "dig" sends the update "halfway"
    And a further handler of package "digger" listens to tool_execution_update
    And package "watcher" listens to tool_execution_update
    When the model calls "dig"
    Then this order holds
      """
      the tool_execution_update of call "1" in package "digger"
      handler "tool_execution_update#2" of call "1"
      the tool_execution_update of call "1" in package "watcher"
      """

  @rule:tool_execution_update.odd-partials-pass
  Scenario Outline: A partial result that is none
    Given the tool "dig" does
      """
      acts: [{do: update, update: <partial>}]
      returns: {content: [{type: text, text: done}]}
      """
    When the model calls "dig"
    Then package "digger" sees tool_execution_update 1 times
    And call "1" succeeds with "done"

    Examples:
      | partial            |
      | just a text        |
      | {"$": undefined}   |
      | null               |
      | 0                  |
      | false              |
      | ""                 |
      | []                 |
      | {}                 |

  @rule:tool_execution_update.odd-partials-pass @case:as-it-is
  Scenario Outline: A partial result that is <partial>, as a handler gets it
    Given the tool "dig" does
      """
      acts: [{do: update, update: <partial>}]
      returns: {content: [{type: text, text: dug}]}
      """
    When the model calls "dig"
    Then package "digger" sees tool_execution_update of call "1" with {"partialResult": <partial>}

    Examples:
      | partial                           |
      | "half"                            |
      | 0                                 |
      | false                             |
      | ""                                |
      | ["half", null]                    |
      | {"content": "half", "left": null} |

  @rule:tool_execution_update.arguments @on:bridge
  Scenario: The arguments
    Given a package "scales" with the tool "weigh" and
      """
      parameters: {type: object, properties: {grams: {type: number}}, required: [grams]}
      """
    And package "scales" listens to tool_execution_update
    And the tool "weigh" sends the update "halfway"
    When the model calls "weigh" with {"grams": 7}
    Then package "scales" sees tool_execution_update of call "1" with {"args": {"grams": 7}}

  @rule:tool_execution_update.arguments @on:pi
  Scenario: On Pi they are the model's
    Given a package "scales" with the tool "weigh" and
      """
      parameters: {type: object, properties: {grams: {type: number}}, required: [grams]}
      """
    And package "scales" listens to tool_execution_update
    And the tool "weigh" sends the update "halfway"
    When the model calls "weigh" with {"grams": "7"}
    Then package "scales" sees tool_execution_update of call "1" with {"args": {"grams": "7"}}
