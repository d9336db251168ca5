#!/usr/bin/env node
// The adapter of the bridge pi2dsh on the real harness. Usage: node adapter.mjs --root DIR
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "../lib/serve.mjs";
import { observeSpawns } from "../lib/spawns.mjs";
import { METHODS, MOUNTS, QUIET_MS } from "./host.mjs";
import { loadPi2dsh } from "./program.mjs";

const PROTOCOL = 1;
const LINE_BYTES = 64 * 1024 * 1024;
const KILL_GRACE_MS = 5000;

const at = process.argv.indexOf("--root");
if (at < 0 || process.argv[at + 1] === undefined) {
  process.stderr.write("usage: node adapter.mjs --root DIR (DIR/node_modules holds pi2dsh and the harness)\n");
  process.exit(2);
}

// One scratch folder a process: neither the bridge nor the harness may see the user's own folders.
const scratch = mkdtempSync(join(tmpdir(), "pi2dsh-conformance-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => process.exit(143));
process.env.PI_CODING_AGENT_DIR = join(scratch, "pi-agent");
process.env.DSH_HOME = join(scratch, "dsh-home");

let host;
const children = observeSpawns((child) => {
  if (host !== undefined && !host.providing) host.stage.trace.note("spawn", { ...child, via: "observed" });
});

let mount;
let shared;

await serve({
  async initialize({ mount: asked }) {
    mount = asked ?? Object.keys(MOUNTS)[0];
    if (!Object.hasOwn(MOUNTS, mount)) {
      throw new Error(`no mount ${JSON.stringify(mount)}; name one of ${Object.keys(MOUNTS).join(", ")}`);
    }
    const program = await loadPi2dsh(process.argv[at + 1]);
    shared = { ...program, scratch, children };
    return {
      protocol: PROTOCOL,
      name: "pi2dsh",
      version: program.version,
      role: "bridge",
      mounts: Object.keys(MOUNTS),
      capabilities: MOUNTS[mount].capabilities,
      versions: program.versions,
      limits: { lineBytes: LINE_BYTES, killGraceMs: KILL_GRACE_MS },
      settle: { mode: "quiet", quietMs: QUIET_MS },
      issuesUrl: program.issuesUrl,
    };
  },
  async open(stage, params) {
    host = new MOUNTS[mount].Host(stage, shared);
    return host.open(params);
  },
  methods: METHODS,
  close: (closing) => closing.close(),
});
