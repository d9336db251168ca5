Feature: setActiveTools
  A package narrows the tools of its own agent, and hears about each one that could not be switched off.

  @rule:setActiveTools.what-cannot-be-switched-off-is-reported-once
  Scenario: A tool of the agent's own scope stays, and one notice names it
    Given a native tool "global_reader_tool"
    And a native tool "scope_local_scanner_tool" in the agent's own scope
    And package "modes" listens to tool_call
    And package "modes" calls setActiveTools with [["global_reader_tool"]] in tool_call
    When the model calls "global_reader_tool"
    Then request 2 lists "scope_local_scanner_tool"
    And exactly one notice names "scope_local_scanner_tool"
    And no notice names "global_reader_tool"
