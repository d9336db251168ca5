// What the harness hands to a listener, or `next` gives, as data in the suite's names.
import { idOf } from "./operator.mjs";

const HIDDEN = new Set(["agent", "session", "signal", "execution"]);

/** Data of an execution, a result, an agent or any other payload; a value that is none of them is itself. */
export function plain(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  if (value.rootCallId !== undefined && "arguments" in value) return execution(value);
  if (typeof value.isError === "boolean" && "content" in value) return result(value);
  if (typeof value.whenIdle === "function") return { agent: idOf(value) };
  const shown = {};
  for (const [key, member] of Object.entries(value)) {
    if (!HIDDEN.has(key) && typeof member !== "function") shown[key] = member;
  }
  return shown;
}

function execution(exec) {
  return {
    callId: String(exec.callId),
    rootCallId: String(exec.rootCallId),
    name: exec.name,
    arguments: exec.arguments,
    nested: exec.parent !== undefined,
    aborted: exec.signal?.aborted === true,
  };
}

function result({ isError, content, value, meta, error }) {
  const told = { isError, content };
  if (value !== undefined) told.value = value;
  if (meta !== undefined) told.meta = meta;
  if (error !== undefined) told.error = { message: error.message, info: error.info ?? null };
  return told;
}
