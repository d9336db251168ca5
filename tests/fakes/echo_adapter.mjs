// A tiny adapter on the shared library: no program behind it, its `pi` only remembers. For tests of the library.
import { AsyncLocalStorage } from "node:async_hooks";
import { Unsupported } from "../../conformance/adapters/lib/connection.mjs";
import { serve } from "../../conformance/adapters/lib/serve.mjs";
import { outcomeOf } from "../../conformance/adapters/lib/outcome.mjs";

const place = new AsyncLocalStorage();

/** A `pi` that keeps tools and handlers, and never calls one by itself. */
function rememberingPi() {
  const tools = new Map();
  const handlers = [];
  const kept = [{ description: "mine" }];
  const pi = {
    registerTool: (tool) => void tools.set(tool.name, tool),
    on: (event, handler) => void handlers.push({ event, handler }),
    where: () => place.getStore() ?? "nowhere",
    later: (value) => Promise.resolve(value),
    list: () => kept,
    print: (text) => process.stdout.write(`${text}\n`),
    warn: (text) => console.warn(text),
    crash: () => void Promise.reject(new Error("nobody caught this")),
  };
  return { pi, tools, handlers, kept };
}

await serve({
  initialize: () => ({ protocol: 1, name: "echo", version: "1", role: "bridge" }),
  open: (stage) => ({ stage, ...rememberingPi() }),
  close: () => ({ children: [7] }),
  methods: {
    "package.load": ({ stage, pi }, { package: spec }) =>
      outcomeOf(() => stage.packages.run(spec, pi, { agent: "main" }), stage.signals),
    "package.unload": () => {
      throw new Unsupported("unload");
    },
    "agent.cancel": () => {
      throw new Error("this adapter is broken");
    },
    // A prompt's text is JSON: which events to dispatch one after another, or which tool to run.
    "agent.prompt": ({ stage, tools, handlers, kept }, { text }) => {
      const { dispatch, run } = JSON.parse(text);
      const execute = () => tools.get(run.tool).execute("c1", run.args, undefined, () => {}, {});
      const each = async () => {
        for (const { event, handler } of handlers) if (event === dispatch.type) await handler(dispatch, { kept });
        return dispatch;
      };
      return outcomeOf(run === undefined ? () => place.run(dispatch.place, each) : execute, stage.signals);
    },
    "agent.settle": ({ stage }, { agent }) => stage.invocations.quiet(agent),
  },
});
