import type { CodegenConfig } from "@graphql-codegen/cli";

const config = {
  documentMode: "string",
  enumsAsTypes: true,
  scalars: { DateTime: "string" },
  strictScalars: true,
  useTypeImports: true,
} as const;

const codegen: CodegenConfig = {
  schema: process.env.GRAPHQL_URL!,
  generates: {
    "./generated/": {
      documents: "src/client.ts",
      preset: "client",
      presetConfig: { persistedDocuments: true },
      config,
    },
    "./generated/operations/": {
      documents: ["operations.graphql", process.env.CONTENT_FRAGMENTS!],
      preset: "client",
      presetConfig: { fragmentMasking: false },
      config,
    },
  },
};

export default codegen;
