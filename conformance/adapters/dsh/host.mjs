// One stage on the harness: a fresh context with its services, the natives and policies, and the agents.
import { Unsupported } from "../lib/connection.mjs";
import { outcomeOf, outcomeOfPromise, pause } from "../lib/outcome.mjs";
import { noteEvent } from "./log.mjs";
import { makeModel, PROVIDER } from "./model.mjs";
import { makeRuntime, nativeDefinition, Policies } from "./operator.mjs";
import { Seams } from "./seams.mjs";

/** What the harness has by itself; `conformance/drivers/capabilities.py` says what each means. */
export const CAPABILITIES = [
  "native-tools",
  "parallel-natives",
  "late-natives",
  "scoped-natives",
  "reserved-natives",
  "multiple-agents",
  "child-agents",
  "agent-dispose",
  "steer",
  "follow-up",
  "cancel",
  "host-policy",
  "host-ask",
  "attachments-optional",
  "subprocess-optional",
  "spawn-observer",
  "durable-log",
  "notices",
  "host-seams",
];

export class DshHost {
  #agents = new Map();
  #requests = new Map();
  #natives = new Map();

  /**
   * `shared` holds what outlives stages: dsh (the packages), cwd, the scratch folder and the running children.
   *
   * A bridge's adapter is a host with the bridge mounted on it; what it has to change are `provider`, `sessionOptions`,
   * `created` and `gone`.
   */
  constructor(stage, shared) {
    Object.assign(this, shared);
    this.stage = stage;
    this.policies = new Policies(this);
    this.seams = new Seams(this);
  }

  /** Boot the context in the order the harness's own launcher mounts it. */
  async open({ natives = [], policies = [], services = {} }) {
    const { attachments = true, subprocess = "local", approval = "none" } = services;
    const { dsh, stage } = this;
    const provider = this.provider(subprocess);
    const reserved = natives.find((native) => native.reserved);
    this.ctx = new dsh.cordis.Context();
    const { ctx } = this;
    await ctx.plugin(dsh.llm.default);
    await ctx.plugin(dsh.session.default);
    await ctx.plugin(dsh.prompt.default, { persona: "", includeHarnessIdentity: false });
    await ctx.plugin(dsh.tools.default, reserved === undefined ? {} : { mode: "both" });
    await ctx.plugin(dsh.agent.default);
    await ctx.plugin(dsh.loop.default, { agents: [] });
    if (approval !== "none") await ctx.plugin(dsh.approval.default, {});
    if (provider !== undefined) await ctx.plugin(provider);
    if (attachments) await ctx.plugin(dsh.attachmentLocal.default, { directory: `${this.scratch}/attachments` });
    if (reserved !== undefined) await ctx.plugin(makeRuntime(this, reserved.name));
    ctx.llm.registerAdapter([PROVIDER], makeModel(dsh, (agent, request) => this.#respond(agent, request)));
    ctx.on("session/event", (session, event) => noteEvent(stage.trace, session, event));
    if (!["none", "unanswered"].includes(approval)) ctx.on("approval/request", () => approval);
    await this.seams.open();
    for (const native of natives) if (!native.reserved) this.register(native);
    for (const policy of policies) this.policies.set(policy);
    return this;
  }

  /** The subprocess service of a stage: `local`, `scripted` or `none`. */
  provider(kind) {
    if (kind === "scripted") throw new Unsupported("subprocess-scripted");
    return kind === "local" ? this.dsh.subprocessLocal.default : undefined;
  }

  /** What an agent of `agent.create` is made with beside its id and model. */
  sessionOptions() {
    return {};
  }

  /** Called once an agent is there; a promise is awaited before its creation is answered. */
  created() {}

  /** A user's message, or with another `source` one of somebody else's. */
  message(text, source = { kind: "user" }) {
    return this.dsh.llm.createUserMessage({ content: [{ type: "text", text }], source });
  }

  /** The agent of an id, or undefined. */
  find(id) {
    return this.#agents.get(id)?.agent;
  }

  agent({ agent: id }) {
    const agent = this.find(id);
    if (agent === undefined) throw new Error(`no agent ${JSON.stringify(id)} on this stage`);
    return agent;
  }

  get agents() {
    return [...this.#agents.keys()];
  }

  create(params) {
    const { agent: id, parent, resumes } = params;
    if (resumes !== undefined && resumes !== null) throw new Unsupported("resume");
    if (this.#agents.has(id)) throw new Error(`there is an agent ${JSON.stringify(id)} already`);
    const owner = parent === undefined || parent === null ? this.ctx : this.agent({ agent: parent }).ctx;
    return outcomeOfPromise(async () => {
      const agentOptions = { provider: PROVIDER, model: id };
      const sessionId = this.dsh.session.SessionId(id);
      const handle = await owner.agents.create({ sessionId, ...this.sessionOptions(params), agentOptions });
      this.#agents.set(id, handle);
      this.stage.trace.note("agent.created", { agent: id });
      handle.agent.ctx.effect(() => () => this.#gone(id));
      await this.created(handle.agent);
    }, this.stage.signals);
  }

  #gone(id) {
    if (this.#agents.delete(id)) this.gone(id);
  }

  /** Called once an agent is gone. */
  gone(id) {
    this.stage.trace.note("agent.disposed", { agent: id });
  }

  dispose({ agent: id }) {
    this.agent({ agent: id });
    const handle = this.#agents.get(id);
    return outcomeOfPromise(async () => {
      await handle.dispose();
      this.#gone(id);
    }, this.stage.signals);
  }

  /** Say something to an agent: `followup`, `steer` or `inject`, the harness's own words. */
  say(params, how) {
    const agent = this.agent(params);
    return outcomeOf(() => void agent[how](this.message(params.text)), this.stage.signals);
  }

  cancel(params) {
    const agent = this.agent(params);
    return outcomeOf(() => void agent.cancel({ kind: "user" }), this.stage.signals);
  }

  /** Resolves when nothing of this agent is pending: no turn, native, listener or tracked work. */
  async settle(params) {
    const agent = this.agent(params);
    const { invocations } = this.stage;
    for (;;) {
      await agent.whenIdle();
      await invocations.quiet(params.agent);
      await pause(0);
      if (agent.status === "idle" && invocations.isQuiet(params.agent)) return;
    }
  }

  register(native) {
    if (native.reserved) throw new Unsupported("reserved-natives", "the reserved tool must be there when a stage opens");
    const { ctx } = native.agent === undefined || native.agent === null ? this : this.agent(native);
    this.#natives.set(keyOf(native), ctx.tools.register(nativeDefinition(this, native)));
  }

  unregister(native) {
    this.#natives.get(keyOf(native))?.();
    return this.#natives.delete(keyOf(native));
  }

  #respond(agent, request) {
    const count = (this.#requests.get(agent) ?? 0) + 1;
    this.#requests.set(agent, count);
    return this.stage.ask("model.respond", { agent, request: count, ...request });
  }

  /** End the context with everything on it, then the children that are left. */
  async close() {
    const children = [...this.children];
    await this.ctx?.fiber.dispose();
    for (const child of this.children) child.kill("SIGKILL");
    return { children: children.map((child) => child.pid) };
  }
}

const keyOf = ({ name, agent }) => JSON.stringify([name, agent ?? null]);

/** The methods of the protocol that need the harness, as functions of (host, params). */
export const METHODS = {
  "agent.create": (host, params) => host.create(params),
  "agent.prompt": (host, params) => host.say(params, "followup"),
  "agent.steer": (host, params) => host.say(params, "steer"),
  "agent.follow_up": (host, params) => host.say(params, "followup"),
  "agent.cancel": (host, params) => host.cancel(params),
  "agent.settle": (host, params) => host.settle(params),
  "agent.dispose": (host, params) => host.dispose(params),
  "operator.bash": () => {
    throw new Unsupported("operator-bash");
  },
  "native.register": (host, { native }) => outcomeOf(() => host.register(native), host.stage.signals),
  "native.unregister": (host, params) => outcomeOf(() => host.unregister(params), host.stage.signals),
  "policy.set": (host, { policy }) => host.policies.set(policy),
  "host.call": (host, params) => host.seams.call(params),
  "host.listen": (host, params) => host.seams.listen(params),
  "host.next": (host, params) => host.seams.next(params),
  "host.dispose": (host, params) => host.seams.dispose(params),
};
