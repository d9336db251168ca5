// What the operator puts on a stage: native tools and policy listeners, as the harness takes them.
import { runNative } from "../lib/native.mjs";
import { textOf } from "./model.mjs";

/** The definition of a native tool whose body the suite plays; its canonical value is the content itself. */
export function nativeDefinition(host, { name, description = "", parameters, agent: scope, parallel, timeoutMs }) {
  const definition = {
    name,
    description,
    parameters: parameters ?? { type: "object", properties: {} },
    output: { schema: {}, render: (args, value) => value },
    async execute(args, exec) {
      const agent = idOf(exec.agent);
      const { content, conclude, defer } = await runNative(host.stage, { tool: name, callId: exec.callId, args, agent, scope });
      if (conclude) exec.concludeTurn();
      if (defer !== undefined) exec.deferContext(host.message(defer, { kind: "plugin", plugin: "operator" }));
      return content;
    },
  };
  if (parallel) definition.isConcurrencySafe = () => true;
  if (timeoutMs !== undefined && timeoutMs !== null) definition.timeoutMs = timeoutMs;
  return definition;
}

/** A runtime for the harness's reserved transport tool, whose programs the suite answers as a native's body. */
export function makeRuntime(host, name) {
  return class SuiteRuntime extends host.dsh.codeRuntime.default {
    language = "typescript";
    isolation = "none";

    async run({ program }) {
      const { content } = await runNative(host.stage, { tool: name, callId: name, args: { program } });
      return { logs: [], value: textOf(content) };
    }
  };
}

/** The policy listeners of a host; one that is set again answers anew in its place. */
export class Policies {
  #host;
  #specs = new Map();
  #undo = new Map();

  constructor(host) {
    this.#host = host;
  }

  set(spec) {
    const before = this.#specs.get(spec.id);
    this.#specs.set(spec.id, spec);
    if (before !== undefined && place(before) === place(spec)) return;
    this.#undo.get(spec.id)?.();
    this.#undo.set(spec.id, this.#listen(spec.id, place(spec)));
  }

  /** Put the listeners that belong after everybody else's at the end again: a package has been mounted since. */
  last() {
    for (const [id, spec] of this.#specs) {
      if (place(spec) !== "after") continue;
      this.#undo.get(id)?.();
      this.#undo.set(id, this.#listen(id, "after"));
    }
  }

  #listen(id, where) {
    const { ctx } = this.#host;
    if (where === "guard") return ctx.tools.guard((exec) => this.#guard(this.#specs.get(id), exec));
    const listener = (exec, next) => this.#decide(this.#specs.get(id), exec, next);
    return ctx.on("tools/pre-execute", listener, { prepend: where === "before" });
  }

  async #decide(spec, exec, next) {
    if (!applies(spec, exec)) return next();
    this.#note(spec, exec, "enter");
    if (spec.answer === "throw") throw new Error(spec.reason ?? "policy failed");
    const rest = spec.skip ? { kind: "allow" } : await next();
    const decision = (spec.answer ?? "next") === "next" ? rest : own(spec);
    this.#note(spec, exec, "exit", { decision });
    return decision;
  }

  #guard(spec, exec) {
    if (!applies(spec, exec)) return undefined;
    this.#note(spec, exec, "enter");
    if (spec.answer === "guard-throw") throw new Error(spec.reason ?? "a guard failed");
    const reason = spec.reason ?? "denied by a guard";
    this.#note(spec, exec, "exit", { decision: { kind: "deny", reason } });
    return reason;
  }

  #note({ id }, exec, phase, more = {}) {
    const place = { agent: idOf(exec.agent), callId: String(exec.callId) };
    const { name: tool, arguments: args } = exec;
    this.#host.stage.trace.note("policy", { ...place, id, phase, tool, arguments: args, ...more });
  }
}

function own({ answer, reason }) {
  const decision = { kind: answer };
  if (answer !== "allow" && (typeof reason === "string" || answer === "deny")) decision.reason = reason ?? "denied by policy";
  return decision;
}

/** The id of an agent, or undefined for a call of none. */
export function idOf(agent) {
  return agent?.session === undefined ? undefined : String(agent.session.id);
}

const applies = ({ tools }, exec) => tools === undefined || tools === null || tools.includes(exec.name);
const place = ({ answer, place: where }) => (answer?.startsWith("guard") ? "guard" : (where ?? "before"));
