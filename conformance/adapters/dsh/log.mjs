// The harness's durable log as trace notes, at the moment each event is appended.
import { textOf } from "./model.mjs";

/** Note what a session logged. */
export function noteEvent(trace, session, { type, data }) {
  const agent = String(session.id);
  const note = NOTES[type];
  if (note !== undefined) note((kind, more) => trace.note(kind, { agent, ...more }), data);
}

const boundary = (kind) => (note, { turn, step }) => note(kind, { turn, step });

const NOTES = {
  "turn/start": boundary("turn.start"),
  "turn/end": (note, { turn, reason }) =>
    note("turn.end", { turn, reason: reason.kind, message: reason.error?.message }),
  "step/start": boundary("step.start"),
  "step/end": boundary("step.end"),
  "user/message": (note, { content }) => note("log.user", { text: textOf(content) }),
  "assistant/message": (note, { message }) => {
    const calls = message.content.filter((block) => block.type === "tool-call");
    note("log.assistant", {
      text: textOf(message.content),
      calls: calls.map(({ id, name, arguments: raw }) => ({ id: String(id), name, arguments: raw })),
    });
  },
  "tool/call": (note, { callId, name, arguments: raw }) =>
    note("log.call", { callId: String(callId), name, arguments: raw }),
  "tool/result": (note, { message, error, meta }) => {
    const [{ toolCallId, content, isError }] = message.content;
    note("log.result", { callId: String(toolCallId), content, isError, code: error?.code, details: meta?.details });
  },
};
