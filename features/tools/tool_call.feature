Feature: tool_call
  A package judges each call before it runs: it may block it, rewrite the arguments of migrated tools,
  and ask the loop to stop.

  @rule:tool_call.a-block-keeps-the-tool-from-running
  Scenario: A blocked tool does not run and the model reads the reason
    Given a package "notes" with the tool "write_note"
    And package "guard" blocks "write_note" with the reason "notes are closed"
    When the model calls "write_note"
    Then the tool "write_note" does not run
    And call "1" fails and says "notes are closed"

  @rule:tool_call.native-arguments-are-never-rewritten @on:bridge
  Scenario: A changed argument keeps a native tool from running
    Given a native tool "disk_cleaner"
    And package "rewriter" changes the argument "path" of "disk_cleaner" to "/tmp"
    When the model calls "disk_cleaner" with {"path": "/home"}
    Then the tool "disk_cleaner" does not run
    And call "1" fails and says "disk_cleaner"
    And the log keeps {"path": "/home"} as the arguments of call "1"

  @rule:tool_call.native-arguments-are-never-rewritten @on:pi
  Scenario: On Pi the changed argument reaches the tool
    Given a native tool "disk_cleaner"
    And package "rewriter" changes the argument "path" of "disk_cleaner" to "/tmp"
    When the model calls "disk_cleaner" with {"path": "/home"}
    Then the tool "disk_cleaner" runs with {"path": "/tmp"}
    And the log keeps {"path": "/home"} as the arguments of call "1"
