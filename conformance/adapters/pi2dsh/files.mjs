// Packages on disk, as the bridge finds them: an extension file that hands its `pi` back to the adapter.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const REACH = Symbol.for("pi-bridge-conformance.factory");
const factories = new Map();
globalThis[REACH] = (key, pi) => factories.get(key)(pi);

let written = 0;

/** Write a package's folder whose extension's factory is `factory(pi)`. Returns the function that forgets it. */
export function writePackage(folder, name, factory) {
  const key = `p${++written}`;
  factories.set(key, factory);
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name, version: "1.0.0", type: "module", pi: { extensions: ["extension.mjs"] } }),
  );
  const reach = `globalThis[Symbol.for(${JSON.stringify(REACH.description)})]`;
  writeFileSync(join(folder, "extension.mjs"), `export default (pi) => ${reach}(${JSON.stringify(key)}, pi);\n`);
  return () => factories.delete(key);
}

/** Write a profile that names packages as its dependencies, which is where the bridge's engine looks for them. */
export function writeProfile(folder, names) {
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  writeFileSync(join(folder, "cordis.yml"), "[]\n");
  const dependencies = Object.fromEntries(names.map((name) => [name, "1.0.0"]));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "profile", private: true, dependencies }));
}
