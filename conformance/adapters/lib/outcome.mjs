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
  const returned = (value) => tell({ returned: encode(value, signals) });
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

/** The same as a promise in any case. */
export async function outcomeOfPromise(make, signals, heard) {
  return outcomeOf(make, signals, heard);
}
