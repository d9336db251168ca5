// The installed harness this process runs: its packages and their versions.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
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
 * Import the harness's packages under `root`/node_modules, with those of `more` (our short name to the package's).
 *
 * Returns them by the names above, with `version` (of the tool runtime), `versions` (of the others and Node) and
 * `issuesUrl`. Throws an error that names every package that is missing and ends with `mend`.
 */
export async function loadDsh(root, more = {}, mend = "run npm ci there with the adapter's package.json") {
  const require = createRequire(join(root, "package.json"));
  const wanted = Object.entries({ ...PACKAGES, ...more });
  const found = new Map(wanted.map(([key, name]) => [key, resolve(require, `${SCOPE}/${name}`)]));
  const missing = wanted.filter(([key]) => found.get(key) === undefined).map(([, name]) => `${SCOPE}/${name}`);
  if (missing.length > 0) throw new Error(`no ${missing.join(", ")} under ${root}/node_modules; ${mend}`);
  const load = async ([key, path]) => [key, await import(pathToFileURL(path).href)];
  const modules = Object.fromEntries(await Promise.all([...found].map(load)));
  const versions = { node: process.versions.node };
  for (const path of found.values()) {
    const { name, version } = manifestOf(path);
    versions[name.slice(SCOPE.length + 1)] = version;
  }
  const own = manifestOf(found.get("tools"));
  return { ...modules, version: own.version, versions, issuesUrl: issuesOf(own) };
}

function resolve(require, name) {
  try {
    return require.resolve(name);
  } catch {
    return undefined;
  }
}

/** The package.json of the package that a resolved file belongs to: the nearest that has a name. */
export function manifestOf(path) {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const file = join(folder, "package.json");
    const manifest = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
    if (manifest.name !== undefined) return manifest;
    if (folder === dirname(folder)) throw new Error(`no package.json above ${path}`);
  }
}

/** Where a package wants to hear of its faults; "" where it does not say. */
export function issuesOf({ bugs, repository }) {
  const found = /^(?:git\+)?(https:\/\/.+?)(?:\.git)?$/.exec(repository?.url ?? "");
  return bugs?.url ?? (found === null ? "" : `${found[1]}/issues`);
}
