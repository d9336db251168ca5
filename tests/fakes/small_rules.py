"""A handful of rules with their scenarios: one of each level and relation that a test of the suite needs."""

from __future__ import annotations

INDEX = """\
version: 1
documents:
  tools: {title: A table, anchors: [tool_call-event, user_bash-event]}
surfaces: [tools/tool_call.yaml, tools/user_bash.yaml]
seams: []
"""

TOOL_CALL = """\
surface: tool_call
kind: event
status: mapped
summary: A package judges each call.
carried_by: the tools/pre-execute waterfall
source: {document: tools, anchor: tool_call-event}
rules:
  - id: tool_call.a-block-holds
    level: must
    relation: same
    text: A blocked tool does not run.
    needs: []
    kills: []
    evidence: [{on: pi 0.84.1, how: observed}]
    since: 1
  - id: tool_call.a-block-should-hold
    level: should
    relation: bridge
    text: A blocked tool should not run.
    needs: []
    kills: []
    evidence: [{on: dsh 0.1.0-rc.8, how: observed}]
    since: 1
  - id: tool_call.a-block-may-hold
    level: may
    relation: bridge
    text: A blocked tool may not run.
    needs: []
    kills: []
    evidence: [{on: dsh 0.1.0-rc.8, how: observed}]
    since: 1
  - id: tool_call.natives-keep-their-arguments
    level: must
    relation: differs
    text: A native tool never runs with changed arguments.
    on_pi: It runs with them.
    because: The log is written before.
    needs: [native-tools]
    kills: []
    evidence: [{on: pi 0.84.1, how: observed}]
    since: 1
"""

USER_BASH = """\
surface: user_bash
kind: event
status: mapped
summary: It never fires.
carried_by: no mechanism of the host
source: {document: tools, anchor: user_bash-event}
rules:
  - id: user_bash.never-fires
    level: must
    relation: bridge
    text: It never fires.
    needs: []
    kills: []
    evidence: [{on: dsh 0.1.0-rc.8, how: observed}]
    since: 1
"""

BLOCK = """\
    Given a package "notes" with the tool "write_note"
    And package "guard" blocks "write_note" with the reason "closed"
    When the model calls "write_note"
    Then the tool "write_note" does not run
"""

TOOL_CALL_FEATURE = f"""\
Feature: tool_call

  @rule:tool_call.a-block-holds
  Scenario: it must
{BLOCK}
  @rule:tool_call.a-block-holds @case:twice
  Scenario: it must, twice
{BLOCK}
  @rule:tool_call.a-block-should-hold
  Scenario: it should
{BLOCK}
  @rule:tool_call.a-block-may-hold
  Scenario: it may
{BLOCK}
  @rule:tool_call.natives-keep-their-arguments @on:bridge
  Scenario: on a bridge
    Given a native tool "cleaner"
    And package "rewriter" changes the argument "path" of "cleaner" to "/tmp"
    When the model calls "cleaner" with {{"path": "/home"}}
    Then the tool "cleaner" does not run

  @rule:tool_call.natives-keep-their-arguments @on:pi
  Scenario: on Pi
    Given a native tool "cleaner"
    When the model calls "cleaner" with {{"path": "/home"}}
    Then the tool "cleaner" runs with {{"path": "/tmp"}}
"""

USER_BASH_FEATURE = """\
Feature: user_bash

  Background:
    Given a package "history" with the tool "recall"
    And package "history" listens to user_bash

  @rule:user_bash.never-fires
  Scenario Outline: a prompt
    When the user says "<prompt>"
    Then package "history" never sees user_bash

    Examples:
      | prompt |
      | !ls    |
      | !!ls   |
"""
