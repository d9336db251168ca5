// Changes a handler or tool makes to the object it was handed, described as data.
import { decode, put } from "./codec.mjs";

/**
 * Apply the ops of one moment (`enter`, `after-await` or `after-return`) to `target`.
 *
 * A step of a path that is not there, or an object that refuses the change, throws what JavaScript throws.
 */
export function applyOps(target, ops, moment, signals) {
  for (const { op, path, value, at = "after-await" } of ops ?? []) {
    if (at !== moment) continue;
    if (op === "append") walk(target, path).push(decode(value, signals));
    else if (op === "assign") put(target, path[0], decode(value, signals));
    else change(op, walk(target, path.slice(0, -1)), path.at(-1), value, signals);
  }
}

/** Whether any op belongs to a moment. */
export function hasOps(ops, moment) {
  return (ops ?? []).some(({ at = "after-await" }) => at === moment);
}

function change(op, holder, key, value, signals) {
  if (op === "set") put(holder, key, decode(value, signals));
  else if (op === "delete") delete holder[key];
  else throw new Error(`no op ${JSON.stringify(op)}`);
}

function walk(target, path) {
  return path.reduce((holder, key) => holder[key], target);
}
