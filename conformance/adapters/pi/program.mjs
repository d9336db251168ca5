// The installed Pi this process runs: its modules, its version, and where releases differ for the adapter.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const SCOPES = ["@earendil-works", "@mariozechner"];

/** Milliseconds of silence before a release that hands out events beside its loop counts as settled. */
const QUIET_MS = 50;

/**
 * Import the Pi packages under `root`/node_modules.
 *
 * Returns `coding` and `ai` (their main modules), `version`, `versions` (its other packages and Node), `issuesUrl`,
 * `settle` as the handshake states it, and `namesExtensions`: whether inline extensions may carry a name (0.74 on).
 */
export async function loadPi(root) {
  const scope = SCOPES.find((name) => existsSync(join(root, "node_modules", name, "pi-coding-agent")));
  if (scope === undefined) {
    throw new Error(`no pi-coding-agent under ${root}/node_modules; run npm ci there with the adapter's package.json`);
  }
  const folder = (name) => join(root, "node_modules", scope, name);
  const manifest = (name) => JSON.parse(readFileSync(join(folder(name), "package.json"), "utf8"));
  const load = (name) => {
    const { exports, main } = manifest(name);
    return import(pathToFileURL(join(folder(name), exports?.["."]?.import ?? main)).href);
  };
  const [coding, ai] = await Promise.all([load("pi-coding-agent"), load("pi-ai")]);
  const own = manifest("pi-coding-agent");
  const [major, minor, patch] = own.version.split(".").map(Number);
  const before = (a, b, c) => major < a || (major === a && (minor < b || (minor === b && patch < c)));
  return {
    coding,
    ai,
    version: own.version,
    versions: {
      "pi-agent-core": manifest("pi-agent-core").version,
      "pi-ai": manifest("pi-ai").version,
      node: process.versions.node,
    },
    issuesUrl: own.bugs?.url ?? issuesOf(own.repository?.url ?? ""),
    settle: before(0, 75, 4) ? { mode: "quiet", quietMs: QUIET_MS } : { mode: "exact" },
    namesExtensions: !before(0, 74, 0),
  };
}

function issuesOf(repository) {
  const found = /^(?:git\+)?(https:\/\/.+?)(?:\.git)?$/.exec(repository);
  return found === null ? "" : `${found[1]}/issues`;
}
