// Checks Python files: node check.mjs SETTINGS FILE…, where SETTINGS is JSON of what .ruff.toml says.
// Prints a line for each finding, and exits with 1 when there are any.
import { readFileSync } from "node:fs";
import { Workspace, PositionEncoding } from "@astral-sh/ruff-wasm-nodejs";

const [settings, ...files] = process.argv.slice(2);
const workspace = new Workspace(JSON.parse(settings), PositionEncoding.Utf32);
let found = 0;
for (const file of files) {
  for (const { code, message, start_location: at } of workspace.check(readFileSync(file, "utf8"))) {
    console.log(`${file}:${at.row}:${at.column}: ${code ?? "syntax"} ${message}`);
    ++found;
  }
}
process.exit(found ? 1 : 0);
