// GraphiQL on the page's own endpoint, without its history: that would keep the headers, and with them credentials.
import { DOC_EXPLORER_PLUGIN, DocExplorerContextProvider } from "@graphiql/plugin-doc-explorer";
import { createGraphiQLFetcher } from "@graphiql/toolkit";
import { setNonce } from "get-nonce";
import { GraphiQLInterface, GraphiQLProvider } from "graphiql";
import { createElement } from "react";
import { createRoot } from "react-dom/client";

const FIRST_QUERY = `# Ctrl-Enter runs, Ctrl-Space completes;
# the book on the left is the documentation.
# A credential goes under Headers, below:
# {"X-API-Key": "..."} or
# {"Authorization": "Bearer ..."}

{
  posts(limit: 2) {
    title
    author {
      name
    }
  }
}
`;

const page = document.getElementById("explorer");

setNonce(page.dataset.nonce); // the dialogs add a style element, which the page's policy allows by this alone
const settings = {
  fetcher: createGraphiQLFetcher({ url: "/graphql" }),
  schema: page.dataset.introspection === "on" ? undefined : null, // null: do not ask for it
  inputValueDeprecation: true,
  defaultQuery: FIRST_QUERY,
  shouldPersistHeaders: false,
  plugins: [DOC_EXPLORER_PLUGIN],
  referencePlugin: DOC_EXPLORER_PLUGIN,
};
const screen = createElement(GraphiQLInterface, { showPersistHeadersSettings: false });

createRoot(page).render(
  createElement(GraphiQLProvider, settings, createElement(DocExplorerContextProvider, null, screen)),
);
