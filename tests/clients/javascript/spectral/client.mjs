import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { API_URL, assert, prove } from "../prove.mjs";

await prove("the recommended rules (spectral:oas) have no finding in /openapi.json, not even a hint", async () => {
  writeFileSync("ruleset.yaml", 'extends: ["spectral:oas"]\n');
  const lint = ["lint", "--ruleset", "ruleset.yaml", "--fail-severity", "hint"];
  const printed = execFileSync("spectral", [...lint, `${API_URL}/openapi.json`], { encoding: "utf8" });
  assert.match(printed, /No results with a severity of 'hint' or higher found/);
});
