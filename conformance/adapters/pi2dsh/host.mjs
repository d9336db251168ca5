// One stage on the bridge: the harness, with the bridge mounted on it in one of its two ways.
import { AsyncLocalStorage } from "node:async_hooks";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { Unsupported } from "../lib/connection.mjs";
import { outcomeOfPromise, pause } from "../lib/outcome.mjs";
import { DshHost, METHODS as DSH_METHODS } from "../dsh/host.mjs";
import { writePackage, writeProfile } from "./files.mjs";
import { boundsOf, observedProvider, scriptedProvider } from "./provider.mjs";

/** Milliseconds of silence before an agent counts as settled: the bridge hands out events on chains nobody awaits. */
export const QUIET_MS = 30;

/** What the bridge leaves to the host's models is not in question here. */
const CONFIG = { visionCompanions: false };
const SERVICES = ["tools", "systemPrompt", "commands", "skills"];

/** What both mounts have; `conformance/drivers/capabilities.py` says what each means. */
const CAPABILITIES = [
  "native-tools",
  "parallel-natives",
  "late-natives",
  "scoped-natives",
  "reserved-natives",
  "multiple-agents",
  "child-agents",
  "agent-dispose",
  "unregister-tool",
  "steer",
  "follow-up",
  "cancel",
  "host-policy",
  "host-ask",
  "host-seams",
  "attachments",
  "attachments-optional",
  "exec",
  "subprocess",
  "subprocess-scripted",
  "subprocess-optional",
  "spawn-observer",
  "durable-log",
  "notices",
  "ctx",
];

/** Which agent a package's factory is being run for; follows the bridge's own promises. */
const mounting = new AsyncLocalStorage();

class BridgeHost extends DshHost {
  /** True while the host's own provider starts a child. */
  providing = false;
  #forget = [];
  #instances = [];

  /** Boot the harness and what the bridge needs of it; `folder` is this stage's own. */
  async open(params) {
    this.folder = mkdtempSync(join(this.scratch, "stage-"));
    this.cwd = params.cwd ?? this.folder;
    await super.open(params);
    this.ctx.logger.exporter({ levels: { default: 3 }, export: (message) => this.#log(message) });
    await this.ctx.plugin(this.dsh.commands.default);
    await this.ctx.plugin(this.dsh.skill.default);
    return this;
  }

  provider(kind) {
    return { local: observedProvider, scripted: scriptedProvider }[kind]?.(this);
  }

  /** Say that the host's provider was asked for a child. */
  spawned({ argv, cwd, stdio }, pid) {
    this.stage.trace.note("spawn", { argv: [...argv], cwd, pid, via: "provider", maxBytes: boundsOf(stdio) });
  }

  /** A child agent is marked as the harness's own subagents are. */
  sessionOptions({ parent, cwd }) {
    const origin = parent === undefined || parent === null ? {} : { origin: "subagent" };
    return { meta: { cwd: cwd ?? this.cwd, ...origin } };
  }

  gone(id) {
    super.gone(id);
    this.retire((instance) => instance.agent === id);
  }

  /** Write a package's folder; whoever runs its extension gets one more instance, owned as `mounting` says. */
  write(spec, folder) {
    const factory = (pi) => {
      const made = (instance) => this.#instances.push(instance);
      return this.stage.packages.run(spec, pi, { ...(mounting.getStore() ?? { role: "anchor" }), made });
    };
    this.#forget.push(writePackage(folder, spec.name, factory));
    return folder;
  }

  /** Say that instances are gone. */
  retire(which) {
    const gone = this.#instances.filter(which);
    this.#instances = this.#instances.filter((instance) => !which(instance));
    for (const instance of gone) this.stage.packages.retire(instance);
  }

  /** Resolves when the agent is idle, nothing of it is open, and nothing has been said for a moment. */
  async settle(params) {
    for (;;) {
      await super.settle(params);
      if (this.stage.silence() >= QUIET_MS) return;
      await pause(QUIET_MS);
    }
  }

  async close() {
    try {
      return await super.close();
    } finally {
      for (const forget of this.#forget) forget();
      rmSync(this.folder, { recursive: true, force: true });
    }
  }

  #log({ type, args }) {
    const text = args.map((arg) => (typeof arg === "string" ? arg : inspect(arg))).join(" ");
    const level = { warn: "warn", error: "error", info: "info", success: "info" }[type];
    if (level !== undefined) this.stage.trace.notice("logger", level, text);
  }
}

/** The product's own way: one plugin that mounts the packages of a profile for each root agent, in its scope. */
class EngineHost extends BridgeHost {
  #packages = [];
  #booted;

  /** Packages are a profile's dependencies, read once: they wait for the first agent. */
  load({ package: spec }) {
    return outcomeOfPromise(() => {
      if (this.#booted !== undefined) throw new Unsupported("late-load");
      this.#packages.push(spec);
    });
  }

  async #boot() {
    const profile = join(this.folder, "profile");
    writeProfile(profile, this.#packages.map(({ name }) => name));
    for (const spec of this.#packages) this.write(spec, join(profile, "node_modules", spec.name));
    this.ctx.baseUrl = pathToFileURL(join(profile, "cordis.yml")).href;
    try {
      await mounting.run({ role: "anchor" }, () => this.ctx.plugin(this.bridge, CONFIG));
    } catch (error) {
      // A plugin that fails is the host's to report; its agents go on without it.
      this.stage.trace.notice("logger", "error", `${this.bridge.name}: ${error?.message ?? error}`);
    }
  }

  async create(params) {
    this.#booted ??= this.#boot();
    await this.#booted;
    return mounting.run({ agent: params.agent, role: "agent" }, () => super.create(params));
  }

  /** The bridge holds an agent's prompt until its packages are mounted, so an assembled prompt says that they are. */
  async created(agent) {
    await this.ctx.systemPrompt.assemble(this.dsh.agent.assembleContextFor(agent));
    this.policies.last();
  }

  unload() {
    throw new Unsupported("unload");
  }
}

/** The bridge's older way: a package mounted once, on the host, for every agent. */
class RootHost extends BridgeHost {
  #created = new Set();
  #fibers = new Map();

  load({ package: spec }) {
    return outcomeOfPromise(() => this.#mount(spec), this.stage.signals);
  }

  async #mount(spec) {
    const folder = this.write(spec, join(this.folder, "packages", spec.name));
    const found = await this.bridge.resolvePiPackage(folder);
    const manifest = await this.bridge.manifestForInstalled(found);
    const rootUrl = pathToFileURL(`${folder}/`);
    const { runtime } = this;
    const owner = { role: "shared", agentOf: (ctx) => this.#agentOf(ctx) };
    const apply = (ctx) => runtime.applyPiPackage(ctx, { rootUrl, manifest, config: CONFIG });
    const fiber = mounting.run(owner, () => this.ctx.plugin({ name: spec.name, inject: SERVICES, apply }));
    this.#fibers.set(spec.name, fiber);
    await fiber;
    this.policies.last();
  }

  create(params) {
    this.#created.add(params.agent);
    return super.create(params);
  }

  /**
   * The agent of one dispatch to an instance that serves them all.
   *
   * A package that was mounted after its agent is handed a context of no session; then it is told apart by being alone.
   */
  #agentOf(ctx) {
    const id = ctx?.sessionManager?.getSessionId?.();
    if (this.#created.has(id)) return id;
    return this.agents.length === 1 ? this.agents[0] : null;
  }

  unload({ package: name }) {
    const fiber = this.#fibers.get(name);
    if (fiber === undefined) throw new Error(`no package ${JSON.stringify(name)} on this stage`);
    this.#fibers.delete(name);
    return outcomeOfPromise(async () => {
      await fiber.dispose();
      this.retire((instance) => instance.package === name);
    }, this.stage.signals);
  }
}

/** The mounts by name, the product's first: the host of a stage, and what can be asked of it. */
export const MOUNTS = {
  engine: { Host: EngineHost, capabilities: CAPABILITIES },
  root: { Host: RootHost, capabilities: [...CAPABILITIES, "package-tools-restrictable", "late-load", "unload"] },
};

/** The methods of the protocol that need the bridge or the harness, as functions of (host, params). */
export const METHODS = {
  ...DSH_METHODS,
  "package.load": (host, params) => host.load(params),
  "package.unload": (host, params) => host.unload(params),
  "package.reload": () => {
    throw new Unsupported("reload");
  },
};
