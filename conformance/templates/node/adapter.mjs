#!/usr/bin/env node
// The adapter of @NAME@: answers what the conformance suite asks, over standard input and output.
// lib/ is a copy of the suite's own library for adapters: it keeps standard output for the protocol, runs packages from
// their data on a real `pi`, and carries values that JSON lacks.
import { Unsupported } from "./lib/connection.mjs";
import { serve } from "./lib/serve.mjs";

// What it can do, by the names of conformance/drivers/capabilities.py. Rules that need more are unsupported.
const CAPABILITIES = [];

await serve({
  initialize: () => ({
    protocol: 1,
    name: "@NAME@",
    version: "0.1.0",
    role: "bridge",
    capabilities: CAPABILITIES,
  }),

  // 1. Make one fresh host with the bridge on it, and return it: the methods below get it as their first argument.
  //    stage.ask("model.respond", {…}) asks for the next assistant message; stage.trace.note(kind, {…}) tells the suite
  //    what it was not asked about. docs/protocol.md describes every message.
  open: (stage, params) => lacks("stage.open"),

  // 2. End the host and all that is on it; name the process ids of the children it still had.
  close: (host) => ({ children: [] }),

  methods: {
    // 3. Run the package's factory on a real `pi`: stage.packages.run(params.package, pi, { agent: null }).
    "package.load": (host, params) => lacks("package.load"),
    // 4. Settle is answered when nothing of the agent is pending: see stage.invocations.quiet(agent).
    "agent.create": (host, params) => lacks("agent.create"),
    "agent.prompt": (host, params) => lacks("agent.prompt"),
    "agent.settle": (host, params) => lacks("agent.settle"),
    // 5. Whatever else the rules ask, as docs/protocol.md describes it.
  },
});

function lacks(capability) {
  throw new Unsupported(capability);
}
