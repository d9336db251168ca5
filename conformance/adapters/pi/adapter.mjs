#!/usr/bin/env node
// The adapter of role pi: the real Pi, driven over stdin and stdout. Usage: node adapter.mjs --root DIR
import { mkdtempSync, rmSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "../lib/serve.mjs";
import { observeSpawns } from "../lib/spawns.mjs";
import { CAPABILITIES, METHODS, PiHost } from "./host.mjs";
import { Models } from "./model.mjs";
import { loadPi } from "./program.mjs";

const PROTOCOL = 1;
const LINE_BYTES = 64 * 1024 * 1024;
const KILL_GRACE_MS = 5000;

const at = process.argv.indexOf("--root");
if (at < 0 || process.argv[at + 1] === undefined) {
  process.stderr.write("usage: node adapter.mjs --root DIR (DIR/node_modules holds the pinned Pi)\n");
  process.exit(2);
}

// One scratch folder a process: Pi keeps nothing in it, but it must not see the user's own folders.
const scratch = mkdtempSync(join(tmpdir(), "pi-conformance-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => process.exit(143));
const agentDir = join(scratch, "agent");
process.env.PI_CODING_AGENT_DIR = agentDir;
process.env.PI_OFFLINE = "1";
process.env.PI_TELEMETRY = "0";
process.env.PI_SKIP_VERSION_CHECK = "1";

let stageTrace;
const children = observeSpawns((child) => stageTrace?.note("spawn", { ...child, via: "observed" }));

let shared;
async function start() {
  // Pi is some thousand modules: compiled code beside them starts the next process a third faster.
  enableCompileCache(join(process.argv[at + 1], ".compile-cache"));
  const program = await loadPi(process.argv[at + 1]);
  const models = new Models(program);
  shared = { program, models, accounts: await models.create(agentDir), agentDir, cwd: scratch, children };
  return program;
}

await serve({
  async initialize({ mount }) {
    if (mount !== undefined && mount !== null) {
      throw new Error(`Pi has no mount ${JSON.stringify(mount)}; leave ?mount= out`);
    }
    const { version, versions, settle, issuesUrl } = await start();
    return {
      protocol: PROTOCOL,
      name: "pi",
      version,
      role: "pi",
      capabilities: CAPABILITIES,
      versions,
      limits: { lineBytes: LINE_BYTES, killGraceMs: KILL_GRACE_MS },
      settle,
      issuesUrl,
    };
  },
  open(stage, params) {
    stageTrace = stage.trace;
    return new PiHost(stage, shared, params);
  },
  methods: METHODS,
  close: (host) => host.close(),
});
