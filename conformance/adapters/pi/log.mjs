// Pi's durable log as trace notes: the message entries of a session, at the moment each is stored.

/** Note every message that is stored in `sessionManager` from now on, after it was stored, as `agent`'s alone. */
export function noteStoredMessages(sessionManager, trace, agent) {
  const append = Object.getPrototypeOf(sessionManager).appendMessage;
  sessionManager.appendMessage = function appendMessage(message, ...rest) {
    const entry = append.call(this, message, ...rest);
    noteMessage(message, trace, agent);
    return entry;
  };
}

function noteMessage(message, trace, agent) {
  if (message.role === "user") {
    trace.note("log.user", { agent, text: textOf(message.content) });
  } else if (message.role === "assistant") {
    const blocks = blocksOf(message.content, "toolCall");
    const calls = blocks.map(({ id, name, arguments: args }) => ({ id, name, arguments: jsonText(args) }));
    trace.note("log.assistant", { agent, text: textOf(message.content), calls, stopReason: message.stopReason });
    for (const { id, ...call } of calls) trace.note("log.call", { agent, callId: id, ...call });
  } else if (message.role === "toolResult") {
    const { toolCallId, toolName, content, details, isError } = message;
    trace.note("log.result", { agent, callId: toolCallId, name: toolName, content, details, isError });
  }
}

function blocksOf(content, type) {
  return Array.isArray(content) ? content.filter((block) => block?.type === type) : [];
}

function textOf(content) {
  return typeof content === "string" ? content : blocksOf(content, "text").map((block) => block.text).join("");
}

/** Pi stores parsed arguments; this is the JSON text of them. */
function jsonText(args) {
  try {
    return JSON.stringify(args) ?? "";
  } catch (error) {
    return `not JSON: ${error.message}`;
  }
}
