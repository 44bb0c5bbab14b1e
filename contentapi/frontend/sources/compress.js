// Compresses the files of the folders that the arguments name: x.js -> x.js.br and x.js.gz.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const SMALLEST = 1000; // bytes
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

for (const folder of process.argv.slice(2)) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    const content = entry.isFile() ? readFileSync(path) : "";
    if (content.length < SMALLEST) continue;
    writeFileSync(`${path}.br`, brotliCompressSync(content, brotli));
    writeFileSync(`${path}.gz`, gzipSync(content));
  }
}
