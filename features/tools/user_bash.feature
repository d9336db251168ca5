Feature: user_bash
  Pi's own command surface has no counterpart on the host: a package may subscribe, and is never called.

  Background:
    Given a package "shell_history" with the tool "recall"
    And package "shell_history" listens to user_bash

  @rule:user_bash.a-prompt-is-a-prompt
  Scenario Outline: A prompt that begins with an exclamation mark
    When the user says "<prompt>"
    Then package "shell_history" never sees user_bash
    And request 1 carries the text "<prompt>"

    Examples:
      | prompt  |
      | !ls     |
      | !!ls -a |
      | ! ls    |
      | !       |

  @rule:user_bash.a-prompt-is-a-prompt @case:while-it-works
  Scenario Outline: Input that begins with an exclamation mark, given while the agent works
    Given the tool "recall" does
      """
      acts: [{do: say, how: <how>, text: "!ls -a"}]
      returns: {content: [{type: text, text: recalled}]}
      """
    When the model calls "recall"
    Then package "shell_history" never sees user_bash
    And request 2 carries the text "recalled"
    And request <request> carries the text "!ls -a"

    Examples:
      | how       | request |
      | steer     | 2       |
      | follow_up | 3       |

  @rule:user_bash.a-prompt-is-a-prompt @case:after-blanks
  Scenario: A prompt with blanks before its exclamation mark
    When the user says "  !ls -a"
    Then package "shell_history" never sees user_bash
    And request 1 carries the text "  !ls -a"

  @rule:user_bash.a-call-named-bash-is-a-call @case:native
  Scenario: A model's call of a native tool named bash
    Given a native tool "bash"
    When the model calls "bash" with {"command": "ls"}
    Then the tool "bash" runs 1 times
    And package "shell_history" never sees user_bash

  @rule:user_bash.a-call-named-bash-is-a-call @case:migrated
  Scenario: A model's call of a package's tool named bash
    Given a package "shells" with the tool "bash"
    When the model calls "bash" with {"command": "!ls"}
    Then the tool "bash" runs 1 times
    And package "shell_history" never sees user_bash

  @rule:user_bash.never-fires @on:bridge
  Scenario: A day's work
    Given a native tool "bash"
    And the model first calls "bash" with {"command": "ls"}
    And the model first calls "recall"
    When the user says "!ls"
    And the user says "!!ls -a"
    And the user says "what is in here?"
    Then package "shell_history" never sees user_bash
    And call "2" succeeds

  @rule:user_bash.never-fires @on:pi
  Scenario: On Pi the operator's command surface fires it
    When the operator types "!echo hello"
    Then package "shell_history" sees user_bash with {"type": "user_bash", "command": "echo hello", "excludeFromContext": false}
    And the operator reads {"output": "hello\n", "exitCode": 0}

  @rule:user_bash.never-fires @on:pi @case:excluded
  Scenario: On Pi two exclamation marks keep the output from the model
    When the operator types "!!echo hello"
    And the user says "what did it print?"
    Then package "shell_history" sees user_bash with {"command": "echo hello", "excludeFromContext": true}
    And request 1 carries nothing of "hello"

  @rule:user_bash.never-fires @on:pi @case:first-answer
  Scenario: On Pi the first answer is the result
    Given package "shell_history" answers user_bash with
      """
      returns: {result: {output: fake, exitCode: 4, cancelled: false, truncated: false}}
      """
    And package "late_comer" listens to user_bash
    When the operator types "!echo hello"
    And the user says "what did it print?"
    Then package "late_comer" never sees user_bash
    And the operator reads {"output": "fake", "exitCode": 4}
    And request 1 carries the text "Command exited with code 4"

  @rule:user_bash.never-fires @on:pi @case:throws
  Scenario: On Pi a handler that throws is passed over
    Given package "shell_history" throws "the historian stumbled" from user_bash
    And package "late_comer" answers user_bash with
      """
      returns: {result: {output: fake, exitCode: 0, cancelled: false, truncated: false}}
      """
    When the operator types "!echo hello"
    Then the operator reads {"output": "fake"}
    And a notice names "the historian stumbled"

  @rule:user_bash.subscribing-is-accepted
  Scenario: A package that subscribes while it loads
    Given package "shell_history" listens to tool_call
    When the model calls "recall"
    Then on, called while loading, answered
    And call "1" succeeds with "recall ok"
    And package "shell_history" sees tool_call 1 times

  @rule:user_bash.subscribing-is-accepted @case:before-the-others
  Scenario: What a package subscribes to afterwards is heard
    Given a package "fish" with the tool "swim"
    And package "fish" listens to user_bash
    And package "fish" listens to every tool event
    And the tool "swim" sends the update "halfway"
    When the model calls "swim"
    Then package "fish" sees tool_execution_start 1 times
    And package "fish" sees tool_call 1 times
    And package "fish" sees tool_execution_update 1 times
    And package "fish" sees tool_result 1 times
    And package "fish" sees tool_execution_end 1 times

  @rule:user_bash.subscribing-is-accepted @case:no-function
  Scenario: A package subscribes with something that is no function
    Given a package "fish" with the tool "swim"
    And package "fish" calls on with [{"id": "odd", "event": "user_bash", "callable": false}] while loading
    And package "fish" listens to tool_call
    When the model calls "swim"
    Then on, called while loading, answered
    And call "1" succeeds with "swim ok"
    And package "fish" sees tool_call 1 times

  @rule:user_bash.subscribing-later-is-accepted
  Scenario: A subscription made by a running tool
    Given the tool "recall" calls on with [{"id": "late", "event": "user_bash"}]
    When the model calls "recall"
    Then on did not throw
    And call "1" succeeds

  @rule:user_bash.exec-does-not-fire-it
  Scenario: A program run by exec
    Given the tool "recall" calls exec with ["echo", ["hello"]]
    When the model calls "recall"
    Then exec resolved with {"stdout": "hello\n"}
    And package "shell_history" never sees user_bash
