// One stage on Pi: the packages and natives it opens with, and its agents.
import { Unsupported } from "../lib/connection.mjs";
import { outcomeOf } from "../lib/outcome.mjs";
import { PiAgent } from "./agent.mjs";

/** What Pi has a counterpart for; `conformance/drivers/capabilities.py` says what each means. */
export const CAPABILITIES = [
  "native-tools",
  "parallel-natives",
  "multiple-agents",
  "agent-dispose",
  "resume",
  "package-tools-restrictable",
  "reload",
  "steer",
  "follow-up",
  "cancel",
  "operator-bash",
  "attachments",
  "durable-log",
  "notices",
  "ctx",
  "exec",
  "spawn-observer",
];

export class PiHost {
  #agents = new Map();
  #sessions = new Map();

  /** `shared` holds what outlives stages: program, models, accounts, agentDir, cwd and the running children. */
  constructor(stage, shared, { natives = [], policies = [], services = {}, cwd }) {
    refuseServices(services);
    if (policies.length > 0) throw new Unsupported("host-policy");
    for (const native of natives) refuseNative(native);
    Object.assign(this, shared);
    this.stage = stage;
    this.natives = natives;
    this.packages = [];
    this.cwd = cwd ?? shared.cwd;
  }

  /** Pi loads packages with a session, so a package waits for the agents that come after it. */
  load({ package: spec }) {
    if (this.#agents.size > 0) throw new Unsupported("late-load");
    this.packages.push(spec);
    return outcomeOf(() => undefined);
  }

  /** Reload every session, after putting the package's new text in its place. */
  async reload({ package: name, replacement }) {
    const at = this.packages.findIndex((spec) => spec.name === name);
    if (at < 0) throw new Error(`no package ${JSON.stringify(name)} on this stage`);
    if (replacement !== undefined && replacement !== null) this.packages[at] = replacement;
    for (const agent of this.#agents.values()) {
      const outcome = await agent.reload();
      if ("threw" in outcome) return outcome;
    }
    return outcomeOf(() => undefined);
  }

  async create({ agent: id, parent, resumes, cwd }) {
    if (parent !== undefined && parent !== null) throw new Unsupported("child-agents");
    if (this.#agents.has(id)) throw new Error(`there is an agent ${JSON.stringify(id)} already`);
    const agent = new PiAgent(this, id, cwd ?? this.cwd);
    this.#agents.set(id, agent);
    const outcome = await outcomeOf(() => agent.start(this.#ended(resumes)), this.stage.signals);
    if ("threw" in outcome) this.dispose({ agent: id });
    return outcome;
  }

  agent({ agent: id }) {
    const agent = this.#agents.get(id);
    if (agent === undefined) throw new Error(`no agent ${JSON.stringify(id)} on this stage`);
    return agent;
  }

  dispose(params) {
    const agent = this.agent(params);
    this.#agents.delete(agent.id);
    return outcomeOf(() => void this.#sessions.set(agent.id, agent.dispose()), this.stage.signals);
  }

  /** The stored session of an agent that has ended; none for an agent that begins anew. */
  #ended(id) {
    if (id === undefined || id === null) return undefined;
    const session = this.#sessions.get(id);
    if (session === undefined) throw new Error(`no agent ${JSON.stringify(id)} has ended on this stage`);
    return session;
  }

  /** End all agents, then the children they left behind. */
  close() {
    for (const agent of this.#agents.values()) agent.dispose();
    this.#agents.clear();
    const children = [...this.children];
    for (const child of children) child.kill("SIGKILL");
    return { children: children.map((child) => child.pid) };
  }
}

function refuseServices({ attachments = true, subprocess = "local", approval = "none" }) {
  if (!attachments) throw new Unsupported("attachments-optional");
  if (subprocess === "scripted") throw new Unsupported("subprocess-scripted");
  if (subprocess === "none") throw new Unsupported("subprocess-optional");
  if (approval !== "none") throw new Unsupported("host-ask");
}

function refuseNative({ agent, reserved, timeoutMs }) {
  if (agent !== undefined && agent !== null) throw new Unsupported("scoped-natives");
  if (reserved) throw new Unsupported("reserved-natives");
  if (timeoutMs !== undefined && timeoutMs !== null) throw new Unsupported("host-seams");
}

/** The methods of the protocol that need Pi, as functions of (host, params). */
export const METHODS = {
  "package.load": (host, params) => host.load(params),
  "package.reload": (host, params) => host.reload(params),
  "package.unload": () => lacks("unload"),
  "agent.create": (host, params) => host.create(params),
  "agent.prompt": (host, params) => host.agent(params).prompt(params.text),
  "agent.steer": (host, params) => host.agent(params).steer(params.text),
  "agent.follow_up": (host, params) => host.agent(params).followUp(params.text),
  "agent.cancel": (host, params) => host.agent(params).cancel(),
  "agent.settle": (host, params) => host.agent(params).settle(),
  "agent.dispose": (host, params) => host.dispose(params),
  "operator.bash": (host, params) => host.agent(params).bash(params.command, params.exclude === true),
  "native.register": (host, { native }) => {
    refuseNative(native);
    lacks("late-natives");
  },
  "native.unregister": () => lacks("late-natives"),
  "policy.set": () => lacks("host-policy"),
  "host.call": () => lacks("host-seams"),
  "host.listen": () => lacks("host-seams"),
  "host.next": () => lacks("host-seams"),
  "host.dispose": () => lacks("host-seams"),
};

function lacks(capability) {
  throw new Unsupported(capability);
}
