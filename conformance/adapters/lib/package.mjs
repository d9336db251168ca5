// A real package made from data: its factory, its tools and handlers, and later calls of its `pi`.
import { decode, encode, typeName } from "./codec.mjs";
import { applyOps, hasOps } from "./ops.mjs";
import { outcomeOf, outcomeOfPromise, pause, isThenable } from "./outcome.mjs";

export class Packages {
  #stage;
  #instances = new Map();

  /** `stage` is the stage these packages live on: it asks the suite, notes, and knows open invocations and signals. */
  constructor(stage) {
    this.#stage = stage;
  }

  /**
   * Run a package's factory on `pi`: one more instance, announced when the factory ends, however it ends.
   *
   * `owner` says whom it serves: `agent` (an id or null), `role` (agent, anchor or shared), and for a shared instance
   * `agentOf(ctx)`, which finds the agent of one dispatch. Returns a promise only when a load-time call returned one;
   * throws what the package throws. The instance is handed to `owner.made` before anything else happens.
   */
  run(spec, pi, owner) {
    const instance = {
      id: this.#stage.ids.next("i"),
      package: spec.name,
      pi,
      agent: owner.agent ?? null,
      role: owner.role ?? "agent",
      agentOf: owner.agentOf ?? (() => owner.agent ?? null),
      rows: [],
    };
    this.#instances.set(instance.id, instance);
    owner.made?.(instance);
    const calls = [
      ...(spec.tools ?? []).map((tool) => ({ call: "registerTool", args: [tool] })),
      ...(spec.handlers ?? []).map((handler) => ({ call: "on", args: [handler] })),
      ...(spec.calls ?? []),
    ];
    const ended = this.#load(instance, calls, 0);
    return isThenable(ended) ? ended.then(() => this.#finish(instance, spec)) : this.#finish(instance, spec);
  }

  /** The instance of an id. Throws for one that never was. */
  get(id) {
    const instance = this.#instances.get(id);
    if (instance === undefined) throw new Error(`no package instance ${JSON.stringify(id)} on this stage`);
    return instance;
  }

  /** Say that an instance is gone. Its `pi` stays callable, so that a stale call can be observed. */
  retire(instance) {
    this.#stage.trace.note("instance.disposed", { agent: instance.agent, instance: instance.id });
  }

  /** Answer `pi.call`: with an invocation in its async context, on its own instance unless another one is named. */
  call({ call, args = [], instance: id, invocation }) {
    const record = invocation === undefined ? undefined : this.#stage.invocations.get(invocation);
    const instance = id === undefined ? record?.instance : this.get(id);
    if (instance === undefined) throw new Error("pi.call names neither an instance nor an invocation of a package");
    const agent = record?.agent ?? instance.agent;
    const announce = this.#stage.trace.apiCall({ agent, instance: instance.id, invocation, call, args });
    let value;
    const make = () => {
      value = this.#callPi(instance, call, args);
      return value;
    };
    const heard = (outcome) => {
      announce(outcome);
      spoil(value);
    };
    return outcomeOfPromise(() => (record === undefined ? make() : record.run(make)), this.#stage.signals, heard);
  }

  #load(instance, calls, from) {
    for (let at = from; at < calls.length; at += 1) {
      const { call, args = [] } = calls[at];
      const announce = this.#stage.trace.apiCall({ agent: instance.agent, instance: instance.id, call, args });
      const keep = (outcome) => {
        instance.rows.push({ call, args, outcome });
        announce(outcome);
      };
      const outcome = outcomeOf(() => this.#callPi(instance, call, args), this.#stage.signals, keep);
      // A promise of the factory is awaited before its next call, as `await` in a factory does.
      if (isThenable(outcome)) return outcome.then(() => this.#load(instance, calls, at + 1));
    }
    return undefined;
  }

  #finish(instance, spec) {
    const { signals, trace } = this.#stage;
    const error = spec.throws;
    const row = { instance: instance.id, package: instance.package, role: instance.role, calls: instance.rows };
    trace.noteWire("instance.created", { agent: instance.agent }, error === undefined ? row : { ...row, error });
    if (error !== undefined) throw decode(error, signals);
  }

  #callPi(instance, call, args) {
    const { pi } = instance;
    if (typeof pi[call] !== "function") throw new TypeError(`pi.${call} is not a function`);
    if (call === "registerTool" && isSpec(args[0])) return pi.registerTool(this.#definition(instance, args[0]));
    if (call === "on" && isSpec(args[0])) return pi.on(args[0].event, this.#handler(instance, args[0]));
    return pi[call](...args.map((arg) => decode(arg, this.#stage.signals)));
  }

  #definition(instance, spec) {
    const { signals } = this.#stage;
    const definition = {};
    for (const field of FIELDS) if (spec[field] !== undefined) definition[field] = decode(spec[field], signals);
    if (spec.prepare !== undefined) {
      const { prepare } = spec;
      definition.prepareArguments = (args) => {
        for (const moment of ["enter", "after-await"]) applyOps(args, prepare.ops, moment, signals);
        if (prepare.throws !== undefined) throw decode(prepare.throws, signals);
        return prepare.returns === undefined ? args : decode(prepare.returns, signals);
      };
    }
    if (spec.executes !== false) {
      definition.execute = (...args) => this.#execute(instance, { name: definition.name, tag: spec.tag ?? "" }, args);
    }
    return definition;
  }

  #execute(instance, { name, tag }, [toolCallId, params, signal, onUpdate, ctx]) {
    const { invocations, signals, trace } = this.#stage;
    const agent = instance.agentOf(ctx) ?? undefined;
    const record = invocations.open({ instance, agent, ctx, onUpdate, target: params });
    const place = { agent, callId: toolCallId };
    const aborted = () => trace.note("tool.aborted", { ...place, invocation: record.id });
    signal?.addEventListener?.("abort", aborted, { once: true });
    const tool = typeof name === "string" ? name : String(name);
    const who = { invocation: record.id, instance: instance.id, package: instance.package, tool };
    const request = {
      ...who,
      tag,
      callId: encode(toolCallId, signals),
      params: encode(params, signals),
      agent,
      aborted: typeof signal?.aborted === "boolean" ? signal.aborted : undefined,
      extras: { signal: typeName(signal), onUpdate: typeName(onUpdate), ctx: typeName(ctx) },
    };
    return this.#conduct(record, "package.execute", request, (threw) => {
      signal?.removeEventListener?.("abort", aborted);
      trace.noteWire("tool.exit", place, { ...who, ...threw });
    });
  }

  #handler(instance, spec) {
    if (spec.callable === false) return undefined;
    if (spec.sync !== undefined) return (event, ctx) => this.#handleNow(instance, spec, event, ctx);
    return (event, ctx) => this.#handle(instance, spec, event, ctx);
  }

  #enter(instance, spec, event, ctx) {
    const agent = instance.agentOf(ctx) ?? undefined;
    const record = this.#stage.invocations.open({ instance, agent, ctx, target: event });
    const who = { invocation: record.id, instance: instance.id, package: instance.package, handler: spec.id };
    return { record, who: { ...who, event: spec.event }, place: { agent, callId: event?.toolCallId } };
  }

  #handle(instance, spec, event, ctx) {
    const { signals, trace } = this.#stage;
    const { record, who, place } = this.#enter(instance, spec, event, ctx);
    const params = { ...who, agent: place.agent, payload: encode(event, signals) };
    const exit = (threw) => trace.noteWire("handler.exit", place, { ...who, ...threw });
    return this.#conduct(record, "package.handle", params, exit);
  }

  #handleNow(instance, spec, event, ctx) {
    const { invocations, signals, trace } = this.#stage;
    const { record, who, place } = this.#enter(instance, spec, event, ctx);
    trace.noteWire("handler.enter", place, { ...who, payload: encode(event, signals) });
    let threw = {};
    try {
      for (const moment of ["enter", "after-await"]) applyOps(event, spec.sync.ops, moment, signals);
      if (spec.sync.throws !== undefined) throw decode(spec.sync.throws, signals);
      return spec.sync.returns === undefined ? undefined : decode(spec.sync.returns, signals);
    } catch (error) {
      threw = { threw: encode(error, signals) };
      throw error;
    } finally {
      trace.noteWire("handler.exit", place, { ...who, ...threw });
      this.#afterReturn(record, spec.sync);
      invocations.close(record);
    }
  }

  /** Ask the suite what this handler or tool does, and do it. `exit` hears how it ended, just before it returns. */
  async #conduct(record, method, params, exit) {
    const { invocations, signals } = this.#stage;
    let threw = {};
    let reply = {};
    try {
      reply = await this.#stage.ask(method, params);
      applyOps(record.target, reply.ops, "enter", signals);
      if (reply.delayMs > 0) await pause(reply.delayMs);
      applyOps(record.target, reply.ops, "after-await", signals);
      if (reply.throws !== undefined) throw decode(reply.throws, signals);
      return reply.returns === undefined ? undefined : decode(reply.returns, signals);
    } catch (error) {
      threw = { threw: encode(error, signals) };
      throw error;
    } finally {
      exit(threw);
      this.#afterReturn(record, reply);
      invocations.close(record);
    }
  }

  /** Changes and updates that come too late to be awaited: a macrotask after the return, still counted as pending. */
  #afterReturn(record, reply) {
    const { invocations, signals, trace } = this.#stage;
    const updates = reply.lateUpdates ?? [];
    if (updates.length === 0 && !hasOps(reply.ops, "after-return")) return;
    const late = pause(0).then(() => {
      applyOps(record.target, reply.ops, "after-return", signals);
      for (const update of updates) record.run(() => record.onUpdate?.(decode(update, signals)));
    });
    const refused = (error) => {
      const { id, agent } = record;
      const text = `what came after the return of ${id} threw ${error?.message ?? error}`;
      trace.notice("adapter", "warn", text, { agent });
    };
    void invocations.track(record.agent, late.catch(refused));
  }
}

const FIELDS = ["name", "label", "description", "parameters", "executionMode", "promptSnippet", "promptGuidelines"];

/**
 * Change a list that a `pi` method returned, as a careless package does: one that is not its caller's own shows it.
 *
 * Only what `pi` returned: what is read from a context or a host may be the program's live state.
 */
function spoil(value) {
  if (!Array.isArray(value) || Object.isFrozen(value)) return;
  for (const row of value) {
    if (typeof row === "object" && row !== null && !Object.isFrozen(row)) row.description = "spoiled by its reader";
  }
  value.push("spoiled by its reader");
}

const isSpec = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
