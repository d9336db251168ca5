// Notifications of what happened that the suite was not asked about.
import { encode } from "./codec.mjs";

export class Trace {
  #connection;
  #signals;
  #open = true;
  #nextApi;

  /** `ids` hands out ids that are unique on the connection. */
  constructor(connection, signals, ids) {
    this.#connection = connection;
    this.#signals = signals;
    this.#nextApi = () => ids.next("a");
  }

  /** Say one thing. `data` holds ordinary values; a field that is undefined is left out. */
  note(kind, { agent, callId, ...data } = {}) {
    const wire = {};
    for (const [key, value] of Object.entries(data)) {
      if (value !== undefined) wire[key] = encode(value, this.#signals);
    }
    this.noteWire(kind, { agent, callId }, wire);
  }

  /** The same for data that is in wire form already. */
  noteWire(kind, { agent, callId }, data) {
    if (!this.#open) return;
    const params = { kind, data };
    if (typeof agent === "string") params.agent = agent;
    if (typeof callId === "string") params.callId = callId;
    this.#connection.notify("trace", params);
  }

  /** What the implementation reports to its operator. `level` is info, warn or error. */
  notice(channel, level, text, more = {}) {
    this.note("notice", { ...more, channel, level, text: String(text) });
  }

  /** Announce a call of a `pi.*` method; returns the function that announces its outcome. */
  apiCall({ agent, instance, invocation, call, args }) {
    const api = this.#nextApi();
    this.noteWire("api.call", { agent }, { api, instance, invocation: invocation ?? null, call, args });
    return (outcome) => this.noteWire("api.return", { agent }, { api, call, outcome });
  }

  /** Say nothing more: the stage is closed. */
  close() {
    this.#open = false;
  }
}

/** Ids that are unique on one connection: a letter and a running number. */
export class Ids {
  #last = 0;

  next(letter) {
    this.#last += 1;
    return `${letter}${this.#last}`;
  }
}
