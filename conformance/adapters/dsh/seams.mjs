// The harness's own seams, called and listened on by the suite under the names the harness gives them.
import { Unsupported } from "../lib/connection.mjs";
import { decode, encode } from "../lib/codec.mjs";
import { applyOps } from "../lib/ops.mjs";
import { outcomeOf, outcomeOfPromise } from "../lib/outcome.mjs";
import { spawnChild } from "./children.mjs";
import { textOf } from "./model.mjs";
import { idOf, nativeDefinition } from "./operator.mjs";
import { plain } from "./plain.mjs";

/** The events whose listeners end with `next`; what they answer counts. */
const WATERFALLS = new Set([
  "tools/pre-execute",
  "tools/execute",
  "tools/post-execute",
  "approval/request",
  "system-prompt/assemble",
  "agent/pre-step",
]);

/** Where a seam is called: `ctx` to call through, `key` the scope's identity (undefined: global), `agent` if it is one. */
class Place {
  constructor(ctx, key, agent) {
    this.ctx = ctx;
    this.key = key;
    this.agent = agent;
  }

  /** The agent, for a seam that is an agent's. */
  get own() {
    if (this.agent === undefined) throw new Error("this seam is an agent's: name the agent as the scope");
    return this.agent;
  }
}

export class Seams {
  #host;
  #minter;
  #handles = new Map();
  #open = new Map();

  constructor(host) {
    this.#host = host;
  }

  /** Scopes must be minted from a context that may read `ctx.tools`. */
  async open() {
    const { ctx } = this.#host;
    await ctx.plugin({ name: "conformance-scopes", inject: ["tools"], apply: (minter) => void (this.#minter = minter) });
  }

  call({ target, call, args = [], scope }) {
    const seam = Object.hasOwn(SEAMS, `${target}.${call}`) ? SEAMS[`${target}.${call}`] : undefined;
    if (seam === undefined) throw new Error(`the host has no ${target}.${call}`);
    const place = this.#place(scope);
    const { signals } = this.#host.stage;
    const values = args.map((arg) => decode(arg, signals));
    let kept;
    const make = () => {
      const value = seam(this.#host, place, ...values);
      if (value instanceof Handle) kept = value;
      return kept === undefined ? value : undefined;
    };
    // A handle is the suite's: it travels by id, and what the host gave stays here.
    return outcomeOfPromise(async () => make(), signals).then((outcome) =>
      kept === undefined || "threw" in outcome ? outcome : { returned: { $: "handle", id: this.#keep(kept) } },
    );
  }

  listen({ listener, event, scope, prepend = false }) {
    const place = this.#place(scope);
    const { signals } = this.#host.stage;
    const outcome = outcomeOf(() => {
      const undo =
        event === "guard"
          ? place.ctx.tools.guard((exec) => this.#passGuard(listener, exec))
          : place.ctx.on(event, (...payload) => this.#dispatch(listener, event, payload), { prepend });
      this.#handles.set(listener, { dispose: undo });
    }, signals);
    return "threw" in outcome ? outcome : { returned: { $: "handle", id: listener } };
  }

  /** Call `next()` of an open listener. */
  next({ invocation }) {
    const dispatch = this.#open.get(invocation);
    if (dispatch?.next === undefined) throw new Error(`invocation ${JSON.stringify(invocation)} has no open next()`);
    const { signals } = this.#host.stage;
    return outcomeOfPromise(async () => {
      const given = await dispatch.next();
      const told = encode(plain(given), signals);
      dispatch.answers.push({ told: JSON.stringify(told), given });
      return plain(given);
    }, signals);
  }

  dispose({ handle: id }) {
    const handle = this.#handles.get(id);
    if (handle === undefined) throw new Error(`there is no handle ${JSON.stringify(id)}`);
    return outcomeOfPromise(() => void handle.dispose(), this.#host.stage.signals);
  }

  /** Mint a scope below `parent` (undefined: below none). */
  mint(parent) {
    const key = {};
    return new ScopeHandle(this.#host.dsh.scope.createScope(this.#minter, key, parent === undefined ? {} : { parent }), key);
  }

  /** The identity of the scope of an agent's id or a handle. */
  keyOf(id) {
    return this.#place(id).key;
  }

  #keep(handle) {
    const id = this.#host.stage.ids.next("h");
    this.#handles.set(id, handle);
    return id;
  }

  #place(id) {
    const host = this.#host;
    if (id === undefined || id === null) return new Place(host.ctx, undefined);
    const agent = host.find(id);
    if (agent !== undefined) return new Place(agent.ctx, agent, agent);
    const scope = this.#handles.get(id);
    if (!(scope instanceof ScopeHandle)) throw new Error(`there is no scope ${JSON.stringify(id)}`);
    return new Place(scope.ctx, scope.key);
  }

  /** A guard answers at once and cannot wait for the suite: it passes, and is noted. */
  #passGuard(listener, exec) {
    const place = { agent: idOf(exec.agent), callId: String(exec.callId) };
    this.#host.stage.trace.note("host.event", { ...place, listener, event: "guard", exec: plain(exec) });
    return undefined;
  }

  async #dispatch(listener, event, payload) {
    const { stage } = this.#host;
    const next = WATERFALLS.has(event) ? payload.at(-1) : undefined;
    const [subject] = payload;
    const agent = idOf(subject?.agent ?? subject);
    const record = stage.invocations.open({ agent });
    const dispatch = { next, answers: [] };
    this.#open.set(record.id, dispatch);
    try {
      const result = event.startsWith("tools/") && payload[1]?.isError !== undefined ? payload[1] : undefined;
      const reply = await stage.ask("host.handle", {
        listener,
        event,
        invocation: record.id,
        exec: encode(plain(subject), stage.signals),
        result: result === undefined ? undefined : encode(plain(result), stage.signals),
        agent,
      });
      return await this.#answer(event, reply, dispatch, subject);
    } finally {
      this.#open.delete(record.id);
      stage.invocations.close(record);
    }
  }

  /** Carry out a reply; one that neither returns nor throws hands on what the rest decides. */
  async #answer(event, { ops, returns, throws }, dispatch, subject) {
    const { signals } = this.#host.stage;
    for (const moment of ["enter", "after-await"]) applyOps(subject, ops, moment, signals);
    if (throws !== undefined) throw decode(throws, signals);
    if (returns === undefined) return dispatch.next?.();
    const said = JSON.stringify(returns);
    const original = dispatch.answers.findLast(({ told }) => told === said);
    if (original !== undefined) return original.given;
    const answer = decode(returns, signals);
    return event === "tools/execute" ? resultOf(answer) : answer;
  }
}

/** Something the host gave that can be disposed. */
class Handle {
  constructor(dispose) {
    this.dispose = dispose;
  }
}

class ScopeHandle extends Handle {
  constructor(scope, key) {
    super(() => scope.dispose());
    this.ctx = scope.ctx;
    this.key = key;
  }
}

/** A whole result of an execute wrapper from the little the suite says of it. */
function resultOf(answer) {
  if (typeof answer?.isError !== "boolean") return answer;
  if (!answer.isError) return { isError: false, value: answer.value, content: [] };
  return { isError: true, error: { message: answer.message }, content: [{ type: "text", text: `Error: ${answer.message}` }] };
}

const texts = (messages) => messages.map((message) => textOf(message.content));

/** Every seam the suite can call, as a function of (host, place, …args). */
const SEAMS = {
  "tools.register": (host, { ctx }, spec) => new Handle(ctx.tools.register(nativeDefinition(host, spec))),
  "tools.restrict": (host, { ctx }, filter) => new Handle(ctx.tools.restrict(filter)),
  "tools.presentAs": (host, { ctx }, mode) => new Handle(ctx.tools.presentAs(mode)),
  "tools.schemas": (host, { key }) => host.ctx.tools.schemas(key),
  "tools.view": (host, { key }) => {
    const { visible, knownNames, restrictableNames } = host.ctx.tools.view(key);
    return {
      visible: [...visible.keys()],
      knownNames: [...knownNames].sort(),
      restrictableNames: [...restrictableNames].sort(),
    };
  },
  "tools.execute": async (host, { key }, { callId, name, arguments: args, signal }) => {
    const abort = signal ?? new AbortController().signal;
    const request = { callId: host.dsh.llm.CallId(callId), name, arguments: args, agent: key, signal: abort };
    return plain(await host.ctx.tools.execute(request));
  },
  "agents.list": (host) => host.agents,
  "agent.status": (host, place) => place.own.status,
  "agent.followup": (host, place, text) => void place.own.followup(host.message(text)),
  "agent.steer": (host, place, text) => void place.own.steer(host.message(text)),
  "agent.inject": (host, place, text) => void place.own.inject(host.message(text)),
  "agent.cancel": (host, place, cause = { kind: "user" }, options = undefined) => void place.own.cancel(cause, options),
  "inbox.nextTurn": (host, place) => texts(place.own.inbox.nextTurn),
  "inbox.nextStep": (host, place) => texts(place.own.inbox.nextStep),
  "session.events": (host, place) => [...place.own.session.events],
  "session.append": (host, place, type, data, options) => place.own.session.append(type, data, options),
  "scopes.create": (host, { key }) => host.seams.mint(key),
  "scopes.bindParent": (host, { key }, parent) => void host.dsh.scope.bindScopeParent(key, host.seams.keyOf(parent)),
  "approval.policy": (host, place, policy) => host.dsh.approval.setApprovalPolicy(place.own.session, policy),
  "attachments.saveImage": (host, place, { data, mediaType }) =>
    need(host, "attachments").saveImage({ data: Buffer.from(data, "base64"), mediaType }),
  "subprocess.resolveExecutable": (host, place, command, env) =>
    need(host, "subprocess").resolveExecutable(command, env),
  "subprocess.spawn": (host, place, spec) => spawnChild(need(host, "subprocess"), spec),
};

function need(host, service) {
  const found = host.ctx.get(service);
  if (found === undefined) throw new Unsupported(`${service}`, `this stage has no ${service} service`);
  return found;
}
