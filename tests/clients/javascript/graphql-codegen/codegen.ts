import type { CodegenConfig } from "@graphql-codegen/cli";

const config: CodegenConfig = {
  schema: process.env.GRAPHQL_URL!,
  documents: "src/**/*.ts",
  generates: {
    "./generated/": {
      preset: "client",
      presetConfig: { persistedDocuments: true },
      config: {
        documentMode: "string",
        enumsAsTypes: true,
        scalars: { DateTime: "string" },
        strictScalars: true,
        useTypeImports: true,
      },
    },
  },
};

export default config;
