#!/usr/bin/env node
// The adapter of role host: the real DeepSeek Harness, driven over stdin and stdout. Usage: node adapter.mjs --root DIR
import { mkdtempSync, rmSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "../lib/serve.mjs";
import { observeSpawns } from "../lib/spawns.mjs";
import { CAPABILITIES, DshHost, METHODS } from "./host.mjs";
import { loadDsh } from "./program.mjs";

const PROTOCOL = 1;
const LINE_BYTES = 64 * 1024 * 1024;
const KILL_GRACE_MS = 5000;

const at = process.argv.indexOf("--root");
if (at < 0 || process.argv[at + 1] === undefined) {
  process.stderr.write("usage: node adapter.mjs --root DIR (DIR/node_modules holds the pinned packages)\n");
  process.exit(2);
}

// One scratch folder a process: the harness must not see the user's own folders.
const scratch = mkdtempSync(join(tmpdir(), "dsh-conformance-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => process.exit(143));

let stageTrace;
const children = observeSpawns((child) => stageTrace?.note("spawn", { ...child, via: "observed" }));

let shared;

await serve({
  async initialize({ mount }) {
    if (mount !== undefined && mount !== null) {
      throw new Error(`the harness has no mount ${JSON.stringify(mount)}; leave ?mount= out`);
    }
    enableCompileCache(join(process.argv[at + 1], ".compile-cache"));
    const dsh = await loadDsh(process.argv[at + 1]);
    shared = { dsh, scratch, children };
    return {
      protocol: PROTOCOL,
      name: "dsh",
      version: dsh.version,
      role: "host",
      capabilities: CAPABILITIES,
      versions: dsh.versions,
      limits: { lineBytes: LINE_BYTES, killGraceMs: KILL_GRACE_MS },
      issuesUrl: dsh.issuesUrl,
    };
  },
  open(stage, params) {
    stageTrace = stage.trace;
    return new DshHost(stage, shared).open(params);
  },
  methods: METHODS,
  close: (host) => host.close(),
});
