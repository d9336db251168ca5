// The installed harness this process runs: its packages and their versions.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const SCOPE = "@deepseek-ai";

/** Our short name of each package whose exports the adapter uses. */
const PACKAGES = {
  cordis: "cordis",
  llm: "dsh-llm",
  session: "dsh-session",
  scope: "dsh-scope",
  prompt: "dsh-system-prompt",
  tools: "dsh-tools",
  agent: "dsh-agent",
  loop: "dsh-agent-loop",
  approval: "dsh-user-approval",
  subprocess: "dsh-subprocess",
  subprocessLocal: "dsh-subprocess-local",
  codeRuntime: "dsh-code-runtime",
  attachmentLocal: "dsh-attachment-local",
};

/**
 * Import the harness's packages under `root`/node_modules.
 *
 * Returns them by the names above, with `version` (of the tool runtime), `versions` (of the others and Node) and
 * `issuesUrl`.
 */
export async function loadDsh(root) {
  const require = createRequire(join(root, "package.json"));
  const manifest = (name) => JSON.parse(readFileSync(join(root, "node_modules", SCOPE, name, "package.json"), "utf8"));
  const load = async ([key, name]) => {
    let path;
    try {
      path = require.resolve(`${SCOPE}/${name}`);
    } catch {
      throw new Error(`no ${name} under ${root}/node_modules; run npm ci there with the adapter's package.json`);
    }
    return [key, await import(pathToFileURL(path).href)];
  };
  const modules = Object.fromEntries(await Promise.all(Object.entries(PACKAGES).map(load)));
  const versions = { node: process.versions.node };
  for (const name of Object.values(PACKAGES)) versions[name] = manifest(name).version;
  const own = manifest("dsh-tools");
  const found = /^(?:git\+)?(https:\/\/.+?)(?:\.git)?$/.exec(own.repository?.url ?? "");
  return { ...modules, version: own.version, versions, issuesUrl: found === null ? "" : `${found[1]}/issues` };
}
