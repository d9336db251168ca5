// JSON-RPC 2.0 in both directions over stdin and stdout, one JSON object a line.
import { inspect } from "node:util";

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;
const UNSUPPORTED = -32050;
const NEWLINE = 10;

/** Thrown by a method for what the implementation lacks; `capability` is a name of the suite's table. */
export class Unsupported extends Error {
  constructor(capability, message = `this implementation lacks ${capability}`) {
    super(message);
    this.capability = capability;
  }
}

/**
 * Keep stdout for the protocol: everything else that is printed goes to stderr.
 *
 * Returns the function that writes one line to the real stdout. `printed(level, text)` hears every `console.*` call.
 */
export function protectStdout(printed = () => {}) {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  for (const level of ["log", "info", "warn", "error", "debug", "trace", "dir"]) {
    console[level] = (...args) => {
      const text = args.map((arg) => (typeof arg === "string" ? arg : inspect(arg))).join(" ");
      process.stderr.write(`${text}\n`);
      printed(level, text);
    };
  }
  return (line) => write(`${line}\n`);
}

/**
 * One connection. `methods` maps a method name to a function of its params, plain or asynchronous.
 *
 * Any number of requests may be open in both directions. Every message sent carries the running number `seq`.
 */
export class Connection {
  #writeLine;
  #methods;
  #seq = 0;
  #nextId = 1;
  #waiting = new Map();
  /** Milliseconds since the process started at which the last message went out. */
  lastSent = 0;

  constructor(writeLine, methods) {
    this.#writeLine = writeLine;
    this.#methods = methods;
  }

  /** Read requests and answers from `input`; resolves at its end. */
  listen(input) {
    return new Promise((resolve, reject) => {
      let parts = [];
      input.on("data", (chunk) => {
        // Split at the byte 10 only: readline would also split at U+2028, which JSON text may hold.
        let start = 0;
        for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
          parts.push(chunk.subarray(start, end));
          const line = parts.length === 1 ? parts[0] : Buffer.concat(parts);
          parts = [];
          start = end + 1;
          if (line.length > 0) this.#receive(line.toString("utf8"));
        }
        if (start < chunk.length) parts.push(chunk.subarray(start));
      });
      input.on("end", resolve);
      input.on("error", reject);
    });
  }

  /** Ask the suite; resolves with its result, rejects with an Error when it answers one. */
  ask(method, params) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  /** Notify the suite. */
  notify(method, params) {
    this.#send({ method, params });
  }

  #send(message) {
    this.#seq += 1;
    this.lastSent = performance.now();
    this.#writeLine(JSON.stringify({ jsonrpc: "2.0", seq: this.#seq, ...message }));
  }

  #receive(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch (error) {
      this.#send({ id: null, error: { code: PARSE_ERROR, message: `not JSON: ${error.message}` } });
      return;
    }
    if (typeof message?.method === "string") {
      void this.#answer(message);
    } else if (this.#waiting.has(message?.id)) {
      this.#settle(message);
    } else {
      const error = { code: INVALID_REQUEST, message: "neither a request nor an answer to an open one" };
      this.#send({ id: message?.id ?? null, error });
    }
  }

  #settle({ id, result, error }) {
    const { resolve, reject } = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) resolve(result);
    else reject(new Error(`the suite answered an error: ${error?.message ?? JSON.stringify(error)}`));
  }

  async #answer({ id, method, params }) {
    const known = Object.hasOwn(this.#methods, method);
    let answer;
    try {
      if (known) answer = { result: (await this.#methods[method](params ?? {})) ?? {} };
      else answer = { error: { code: METHOD_NOT_FOUND, message: `no method ${method}` } };
    } catch (error) {
      answer = { error: describeFailure(error) };
    }
    if (id !== undefined) this.#send({ id, ...answer });
  }
}

function describeFailure(error) {
  if (error instanceof Unsupported) {
    return { code: UNSUPPORTED, message: error.message, data: { capability: error.capability } };
  }
  const message = String(error?.message ?? error);
  return { code: INTERNAL_ERROR, message, data: { stack: String(error?.stack ?? "") } };
}
