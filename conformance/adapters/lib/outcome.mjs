// How a call into the implementation ended, in wire form: exactly one of `returned` and `threw`.
import { Unsupported } from "./connection.mjs";
import { encode } from "./codec.mjs";

export const isThenable = (value) => typeof value?.then === "function";

export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/**
 * Call `make` and tell how that ended; for a promise, a promise of how it settled. `heard` hears it first.
 *
 * An Unsupported error is no outcome: it is thrown on.
 */
export function outcomeOf(make, signals, heard = () => {}) {
  const tell = (outcome) => {
    heard(outcome);
    return outcome;
  };
  const returned = (value) => {
    const outcome = { returned: encode(value, signals) };
    spoil(value);
    return tell(outcome);
  };
  const threw = (error) => {
    if (error instanceof Unsupported) throw error;
    return tell({ threw: encode(error, signals) });
  };
  let value;
  try {
    value = make();
  } catch (error) {
    return threw(error);
  }
  return isThenable(value) ? Promise.resolve(value).then(returned, threw) : returned(value);
}

/** Change what a method returned, as a careless package does: a list that is not the caller's own shows it later. */
function spoil(value) {
  if (!Array.isArray(value) || Object.isFrozen(value)) return;
  for (const row of value) {
    if (typeof row === "object" && row !== null && !Object.isFrozen(row)) row.description = "spoiled by its reader";
  }
  value.push("spoiled by its reader");
}

/** The same as a promise in any case. */
export async function outcomeOfPromise(make, signals, heard) {
  return outcomeOf(make, signals, heard);
}
