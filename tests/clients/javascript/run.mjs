// Runs a script as a web application is built: esbuild bundles it with its packages. `node run.mjs FILE`
import { rmSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const [file] = process.argv.slice(2);
const outfile = resolve(`${file}.bundle.mjs`);
await build({
  entryPoints: [file],
  bundle: true,
  format: "esm",
  jsx: "automatic",
  logLevel: "error",
  mainFields: ["module", "main"],
  outfile,
  platform: "node",
  // Some packages are CommonJS modules that require modules of Node.
  banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
});
try {
  await import(pathToFileURL(outfile));
} finally {
  rmSync(outfile);
}
