// The installed bridge this process runs: its public exports, on the harness's packages that it resolves itself.
import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { issuesOf, loadDsh, manifestOf } from "../dsh/program.mjs";

/** The harness's packages that a bridge's host needs beside those of the harness alone. */
const PACKAGES = { commands: "dsh-commands", skill: "dsh-skill" };

/**
 * Import the bridge and the harness under `root`/node_modules.
 *
 * Returns `dsh` (the harness's packages), `bridge` and `runtime` (the bridge's main export and its runtime), `version`,
 * `versions` (the harness's packages and Node) and `issuesUrl`.
 */
export async function loadPi2dsh(root) {
  const folder = join(root, "node_modules");
  if (!existsSync(join(folder, "pi2dsh", "package.json"))) throw new Error(`no pi2dsh under ${folder}`);
  const require = createRequire(join(root, "package.json"));
  const main = require.resolve("pi2dsh");
  const own = manifestOf(main);
  const range = own.peerDependencies?.["@deepseek-ai/dsh-tools"] ?? "the range it names";
  const dsh = await loadDsh(root, PACKAGES, `install them there in ${range}, beside the bridge`);
  refuseTwins(require, createRequire(realpathSync(main)));
  const load = (path) => import(pathToFileURL(path).href);
  const [bridge, runtime] = await Promise.all([main, require.resolve("pi2dsh/runtime")].map(load));
  return { dsh, bridge, runtime, version: own.version, versions: dsh.versions, issuesUrl: issuesOf(own) };
}

/** The bridge finds services and scopes by identity, so that a second copy of the harness leaves it without any. */
function refuseTwins(require, own) {
  for (const name of ["@deepseek-ai/cordis", "@deepseek-ai/dsh-scope", "@deepseek-ai/dsh-llm"]) {
    const [ours, its] = [require, own].map((from) => realpathSync(from.resolve(name)));
    if (ours === its) continue;
    throw new Error(`${name} is there twice, as ${ours} and, for the bridge, as ${its}; keep one of them`);
  }
}
