"""The reference host: session log, tool registry and scopes, waterfalls, loop, subprocess, attachments.

A model in Python of the DeepSeek Harness 0.1.0-rc.8, as it shows itself to what is mounted on it.

Read `host` for what there is and `loop` for what a prompt sets going. Then what a bridge stands on: `pipeline` (the way
of one call), `waterfall` and `decisions` (having a say in it), `registry` and `scopes` (which tools there are, and for
whom), `scheduler` (the calls of one reply), `session` (what is logged). Where JavaScript shows through, `json_values`
says how.
"""

from __future__ import annotations

from reference_bridge.host.approval import ApprovalRequest, ApprovalService
from reference_bridge.host.code_mode import CodeOutcome, CodeRuntime, SubCallError
from reference_bridge.host.decisions import accept, allow, ask, block, deny
from reference_bridge.host.definitions import ToolDefinition, define_tool
from reference_bridge.host.errors import (
    HarnessError,
    InactiveScopeError,
    JsonSchemaError,
    ModelError,
    Thrown,
    ToolArgsError,
    ToolNotFoundError,
    ToolOutputError,
    error_message,
)
from reference_bridge.host.host import Host, HostOptions
from reference_bridge.host.json_values import (
    UNDEFINED,
    FrozenDict,
    FrozenList,
    Json,
    NotLosslessError,
    clone,
    freeze,
    parse_json,
)
from reference_bridge.host.logger import Logger, Notice
from reference_bridge.host.loop import Agent, PreStep, StatusChange, TurnStopping
from reference_bridge.host.messages import Message, image_block, plugin_message, text_block, user_message
from reference_bridge.host.model import ModelAdapter, ModelFailure, ModelReply, ModelRequest, ToolCall
from reference_bridge.host.registry import RUN_CODE, View
from reference_bridge.host.results import Execution, ToolFailure, ToolResult
from reference_bridge.host.scopes import GLOBAL, Disposer, Scope
from reference_bridge.host.session import Session, Store
from reference_bridge.host.session_events import SessionEvent
from reference_bridge.host.signals import AbortController, AbortedError, AbortSignal
from reference_bridge.host.steps import Assembly, PromptContext
from reference_bridge.host.stores import JsonLinesStore, MemoryStore
from reference_bridge.host.timeouts import enforce_timeouts

__all__ = [
    "GLOBAL",
    "RUN_CODE",
    "UNDEFINED",
    "AbortController",
    "AbortSignal",
    "AbortedError",
    "Agent",
    "ApprovalRequest",
    "ApprovalService",
    "Assembly",
    "CodeOutcome",
    "CodeRuntime",
    "Disposer",
    "Execution",
    "FrozenDict",
    "FrozenList",
    "HarnessError",
    "Host",
    "HostOptions",
    "InactiveScopeError",
    "Json",
    "JsonLinesStore",
    "JsonSchemaError",
    "Logger",
    "MemoryStore",
    "Message",
    "ModelAdapter",
    "ModelError",
    "ModelFailure",
    "ModelReply",
    "ModelRequest",
    "NotLosslessError",
    "Notice",
    "PreStep",
    "PromptContext",
    "Scope",
    "Session",
    "SessionEvent",
    "StatusChange",
    "Store",
    "SubCallError",
    "Thrown",
    "ToolArgsError",
    "ToolCall",
    "ToolDefinition",
    "ToolFailure",
    "ToolNotFoundError",
    "ToolOutputError",
    "ToolResult",
    "TurnStopping",
    "View",
    "accept",
    "allow",
    "ask",
    "block",
    "clone",
    "define_tool",
    "deny",
    "enforce_timeouts",
    "error_message",
    "freeze",
    "image_block",
    "parse_json",
    "plugin_message",
    "text_block",
    "user_message",
]
