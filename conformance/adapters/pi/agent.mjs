// One agent of a stage: one real Pi session with every package of the stage loaded into it.
import { outcomeOf, outcomeOfPromise, pause } from "../lib/outcome.mjs";
import { runNative } from "../lib/native.mjs";
import { noteStoredMessages } from "./log.mjs";

/** Pi's own tools. They stay away unless a package or native of the stage takes the name. */
const BUILT_IN_TOOLS = ["read", "bash", "powershell", "edit", "write", "grep", "find", "ls"];

export class PiAgent {
  #host;
  #session;
  #loader;
  #sessionManager;
  #unbind;
  #instances = [];
  #requests = 0;
  #turn = 0;
  #step = 0;

  /** `host` is the PiHost it belongs to; `cwd` is the session's working folder. */
  constructor(host, id, cwd) {
    this.#host = host;
    this.id = id;
    this.cwd = cwd;
  }

  /**
   * Load the packages and start the session, or go on with the entries of `stored`; resolves when `session_start` has
   * been handled.
   */
  async start(stored) {
    const { program, models, accounts, agentDir, stage } = this.#host;
    const { coding } = program;
    const off = { enabled: false };
    const settingsManager = coding.SettingsManager.inMemory({ compaction: off, retry: off });
    this.#loader = new coding.DefaultResourceLoader({
      cwd: this.cwd,
      agentDir,
      settingsManager,
      extensionFactories: this.#extensions(),
      noExtensions: true,
      noSkills: true,
      noPromptTemplates: true,
      noThemes: true,
      noContextFiles: true,
    });
    await this.#loader.reload();
    this.#reportLoadErrors();
    this.#sessionManager = stored ?? coding.SessionManager.inMemory(this.cwd);
    noteStoredMessages(this.#sessionManager, stage.trace, this.id);
    const { session } = await coding.createAgentSession({
      ...accounts,
      cwd: this.cwd,
      agentDir,
      model: models.model,
      thinkingLevel: "off",
      resourceLoader: this.#loader,
      sessionManager: this.#sessionManager,
      settingsManager,
      noTools: "builtin",
      excludeTools: this.#unclaimedBuiltIns(),
    });
    this.#session = session;
    this.#unbind = models.bind(this.#sessionManager.getSessionId(), (request) => this.#respond(request));
    await session.bindExtensions({ onError: (error) => this.#reportError(error) });
    stage.trace.note("agent.created", { agent: this.id });
  }

  /** Hand over a prompt; the outcome comes when Pi has accepted or refused it, the work goes on behind it. */
  prompt(text) {
    const { invocations, signals, trace } = this.#host.stage;
    return new Promise((resolve) => {
      let accepted = false;
      const accept = () => {
        accepted = true;
        resolve(outcomeOf(() => undefined, signals));
      };
      const preflightResult = (result) => result !== false && accept();
      const run = this.#session.prompt(text, { preflightResult });
      void invocations.track(this.id, run.then(accept, (error) => {
        if (accepted) trace.notice("prompt", "error", error?.message ?? error, { agent: this.id });
        else resolve(outcomeOf(() => { throw error; }, signals));
      }));
    });
  }

  /** Queue input for the running turn. */
  steer(text) {
    return outcomeOfPromise(() => this.#session.steer(text), this.#host.stage.signals);
  }

  /** Queue input for after the running turn's work. */
  followUp(text) {
    return outcomeOfPromise(() => this.#session.followUp(text), this.#host.stage.signals);
  }

  /** Abort as the user would; not awaited, since Pi's promise waits for the end of the run. */
  cancel() {
    const { invocations, signals, trace } = this.#host.stage;
    return outcomeOf(() => {
      const report = (error) => trace.notice("cancel", "error", error?.message ?? error, { agent: this.id });
      void invocations.track(this.id, this.#session.abort().catch(report));
    }, signals);
  }

  /** The `!` surface exactly as Pi's own RPC mode serves it: the event first, then its result or a run. */
  bash(command, exclude) {
    const session = this.#session;
    const run = async () => {
      const options = { excludeFromContext: exclude };
      const event = { type: "user_bash", command, ...options, cwd: this.#sessionManager.getCwd() };
      const answer = await session.extensionRunner.emitUserBash(event);
      if (answer?.result) {
        session.recordBashResult(command, answer.result, options);
        return answer.result;
      }
      return session.executeBash(command, undefined, { ...options, operations: answer?.operations });
    };
    const { invocations, signals } = this.#host.stage;
    return outcomeOfPromise(() => invocations.track(this.id, run()), signals);
  }

  /** Resolves when nothing of this agent is pending: no prompt, handler, tool or command, and the session is idle. */
  async settle() {
    const { stage, program } = this.#host;
    const quietMs = program.settle.quietMs ?? 0;
    const isSettled = () => stage.invocations.isQuiet(this.id) && !this.#session.isStreaming;
    for (;;) {
      await stage.invocations.quiet(this.id);
      await (this.#session.waitForIdle?.() ?? this.#session.agent.waitForIdle());
      await pause(0);
      if (!isSettled()) continue;
      if (stage.silence() >= quietMs) return;
      await pause(quietMs);
    }
  }

  /** Run all factories again, as Pi's own reload does. */
  reload() {
    const run = async () => {
      await this.#session.reload();
      this.#host.models.renew();
      this.#reportLoadErrors();
    };
    return outcomeOfPromise(run, this.#host.stage.signals);
  }

  /** End the session, and give what was stored of it. */
  dispose() {
    this.#unbind?.();
    this.#session?.dispose();
    this.#retireInstances();
    this.#host.stage.trace.note("agent.disposed", { agent: this.id });
    return this.#sessionManager;
  }

  #extensions() {
    const { program, packages } = this.#host;
    const named = (name, factory) => (program.namesExtensions ? { name, factory } : factory);
    return [
      named("conformance-observer", (pi) => this.#observe(pi)),
      ...packages.map((spec, at) => named(spec.name, (pi) => this.#load(at, pi))),
      named("conformance-natives", (pi) => this.#registerNatives(pi)),
    ];
  }

  #load(at, pi) {
    const spec = this.#host.packages[at];
    const made = (instance) => this.#instances.push(instance);
    return this.#host.stage.packages.run(spec, pi, { agent: this.id, role: "agent", made });
  }

  /** The first extension: it sees each boundary before any package's handler of the same event does. */
  #observe(pi) {
    this.#retireInstances();
    const { trace } = this.#host.stage;
    const note = (kind, more = {}) => trace.note(kind, { agent: this.id, turn: this.#turn, ...more });
    pi.on("agent_start", () => {
      this.#turn += 1;
      this.#step = 0;
      note("turn.start");
    });
    pi.on("turn_start", () => {
      this.#step += 1;
      note("step.start", { step: this.#step });
    });
    pi.on("turn_end", () => note("step.end", { step: this.#step }));
    pi.on("agent_end", ({ messages }) => {
      const last = (messages ?? []).findLast((message) => message.role === "assistant");
      note("turn.end", { reason: last?.stopReason ?? "unknown" });
    });
  }

  /** The last extension: the stage's native tools. First loaded wins, so a package overrides them. */
  #registerNatives(pi) {
    for (const { name, description = "", parameters, parallel } of this.#host.natives) {
      pi.registerTool({
        name,
        label: name,
        description,
        parameters: parameters ?? { type: "object", properties: {} },
        executionMode: parallel ? "parallel" : "sequential",
        execute: async (callId, args, signal, onUpdate, ctx) => {
          const run = { tool: name, callId, args, agent: this.id, ctx, onUpdate };
          const { content, conclude } = await runNative(this.#host.stage, run);
          return conclude ? { content, details: {}, terminate: true } : { content, details: {} };
        },
      });
    }
  }

  #unclaimedBuiltIns() {
    const claimed = new Set(this.#host.natives.map((native) => native.name));
    for (const { tools = [], calls = [] } of this.#host.packages) {
      for (const tool of tools) claimed.add(tool.name);
      for (const { call, args = [] } of calls) if (call === "registerTool") claimed.add(args[0]?.name);
    }
    return BUILT_IN_TOOLS.filter((name) => !claimed.has(name));
  }

  #respond(request) {
    this.#requests += 1;
    return this.#host.stage.ask("model.respond", { agent: this.id, request: this.#requests, ...request });
  }

  #retireInstances() {
    for (const instance of this.#instances.splice(0)) this.#host.stage.packages.retire(instance);
  }

  #reportLoadErrors() {
    for (const { path, error } of this.#loader.getExtensions().errors) {
      const more = { agent: this.id, instance: this.#instanceAt(path) };
      this.#host.stage.trace.notice("loader", "error", `${path}: ${error}`, more);
    }
  }

  #reportError({ extensionPath, event, error }) {
    const more = { agent: this.id, instance: this.#instanceAt(extensionPath) };
    this.#host.stage.trace.notice("onError", "error", `${event}: ${error}`, more);
  }

  /** The instance Pi means by an extension's path: `<inline:NAME>`, or its place from 1 where it has no name. */
  #instanceAt(path) {
    const label = /^<inline:(.*)>$/.exec(path ?? "")?.[1];
    const { packages, program } = this.#host;
    const name = program.namesExtensions ? label : packages[Number(label) - 2]?.name;
    return this.#instances.find((instance) => instance.package === name)?.id;
  }
}
