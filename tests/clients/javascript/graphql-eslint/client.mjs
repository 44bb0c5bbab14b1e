import plugin from "@graphql-eslint/eslint-plugin";
import { ESLint } from "eslint";
import { chdir } from "node:process";
import { assert, prove } from "../prove.mjs";

const EXAMPLE = "examples/recipes/schema/recipes.graphql";
chdir("../../../.."); // from var/clients/javascript/graphql-eslint

await prove("schema-recommended has no finding in the SDL that start_type writes", async () => {
  const eslint = new ESLint({
    overrideConfigFile: true,
    overrideConfig: {
      files: ["**/*.graphql"],
      languageOptions: {
        parser: plugin.parser,
        parserOptions: { graphQLConfig: { schema: ["schema/!(recipes).graphql", EXAMPLE] } },
      },
      plugins: { "@graphql-eslint": plugin },
      rules: plugin.configs["flat/schema-recommended"].rules,
    },
  });
  const [{ messages }] = await eslint.lintFiles(EXAMPLE);
  assert.deepEqual(messages, []);
});
