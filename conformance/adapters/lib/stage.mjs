// What every adapter keeps for one open stage, so that nothing of it survives into the next.
import { Invocations } from "./invocations.mjs";
import { Packages } from "./package.mjs";
import { Signals } from "./signals.mjs";
import { Trace } from "./trace.mjs";

export class Stage {
  #connection;
  #pending = new Set();
  #open = true;

  constructor(connection, ids) {
    this.#connection = connection;
    this.ids = ids;
    this.signals = new Signals();
    this.trace = new Trace(connection, this.signals, ids);
    this.invocations = new Invocations(ids);
    this.packages = new Packages(this);
  }

  /** Ask the suite; rejects at once when the stage is closed, and when it closes meanwhile. */
  ask(method, params) {
    if (!this.#open) return Promise.reject(new Error(`${method} after the stage was closed`));
    return new Promise((resolve, reject) => {
      this.#pending.add(reject);
      const done = (settle) => (value) => {
        this.#pending.delete(reject);
        settle(value);
      };
      this.#connection.ask(method, params).then(done(resolve), done(reject));
    });
  }

  /** Milliseconds since anything was last said on the connection. */
  silence() {
    return performance.now() - this.#connection.lastSent;
  }

  /** Say and ask nothing more. */
  close() {
    this.#open = false;
    this.trace.close();
    for (const reject of this.#pending) reject(new Error("the stage was closed"));
    this.#pending.clear();
  }
}
