Feature: user_bash
  Pi's own command surface has no counterpart on the host: a package may subscribe, and is never called.

  Background:
    Given a package "shell_history" with the tool "recall"
    And package "shell_history" listens to user_bash

  @rule:user_bash.never-fires @on:bridge @case:prompt
  Scenario Outline: A prompt that begins with an exclamation mark is a prompt
    When the user says "<prompt>"
    Then package "shell_history" never sees user_bash
    And request 1 carries the text "<prompt>"

    Examples:
      | prompt  |
      | !ls     |
      | !!ls -a |

  @rule:user_bash.never-fires @on:bridge @case:model-call
  Scenario: A model's call of a tool named bash is a tool call
    Given a native tool "bash"
    When the model calls "bash" with {"command": "ls"}
    Then the tool "bash" runs 1 times
    And package "shell_history" never sees user_bash

  @rule:user_bash.never-fires @on:pi
  Scenario: On Pi the operator's command surface fires it
    When the operator types "!echo hello"
    Then package "shell_history" sees user_bash 1 times
