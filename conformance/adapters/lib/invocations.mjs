// Open runs of handlers, tools and native bodies: who they are, and the async context to come back to.
import { AsyncLocalStorage } from "node:async_hooks";

export class Invocations {
  #ids;
  #records = new Map();
  #busy = new Map();
  #waiting = new Set();

  constructor(ids) {
    this.#ids = ids;
  }

  /**
   * Enter an invocation. `fields` (instance, agent, ctx, onUpdate …) are kept with it; `run(fn)` calls `fn` in the
   * async context of the code that entered it, also after it has ended.
   */
  open(fields) {
    const record = { ...fields, id: this.#ids.next("v"), run: AsyncLocalStorage.snapshot(), isOpen: true };
    this.#records.set(record.id, record);
    this.occupy(record.agent, 1);
    return record;
  }

  /** Leave an invocation; it stays known, so that a late update can still be handed over. */
  close(record) {
    if (!record.isOpen) return;
    record.isOpen = false;
    this.occupy(record.agent, -1);
  }

  /** The invocation of an id. Throws for one that never was. */
  get(id) {
    const record = this.#records.get(id);
    if (record === undefined) throw new Error(`no invocation ${JSON.stringify(id)} on this stage`);
    return record;
  }

  /** Count something else that is pending for an agent: +1 when it begins, -1 when it ends. */
  occupy(agent, change) {
    const key = agent ?? null;
    this.#busy.set(key, (this.#busy.get(key) ?? 0) + change);
    if (change < 0) for (const check of [...this.#waiting]) check();
  }

  /** Count a promise as pending for an agent until it settles; returns it. */
  track(agent, promise) {
    this.occupy(agent, 1);
    const done = () => this.occupy(agent, -1);
    promise.then(done, done);
    return promise;
  }

  /** Whether nothing of this agent, and nothing without an agent, is pending. */
  isQuiet(agent) {
    return !(this.#busy.get(agent) > 0) && !(this.#busy.get(null) > 0);
  }

  /** Resolves when nothing of this agent is pending any more. */
  quiet(agent) {
    return new Promise((resolve) => {
      const check = () => {
        if (!this.isQuiet(agent)) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
      check();
    });
  }
}
