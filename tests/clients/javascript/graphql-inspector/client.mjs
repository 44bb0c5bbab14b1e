import { CriticalityLevel, diff } from "@graphql-inspector/core";
import { buildSchema } from "graphql";
import { readFileSync, readdirSync } from "node:fs";
import { assert, prove } from "../prove.mjs";

const ROOT = "../../../.."; // from var/clients/javascript/graphql-inspector
const FILE = "recipes.graphql";

await prove("the SDL that start_type writes breaks no client", async () => {
  const files = readdirSync(`${ROOT}/schema`).filter((name) => name.endsWith(".graphql") && name !== FILE);
  const sdl = files.map((name) => readFileSync(`${ROOT}/schema/${name}`, "utf8")).join("\n");
  const own = readFileSync(`${ROOT}/examples/recipes/schema/${FILE}`, "utf8");
  const changes = await diff(buildSchema(sdl), buildSchema(sdl + own));
  assert.ok(changes.some(({ path }) => path === "Query.recipes"));
  assert.deepEqual(changes.filter(({ criticality }) => criticality.level !== CriticalityLevel.NonBreaking), []);
});
