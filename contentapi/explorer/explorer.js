// GraphiQL on the page's own endpoint. What is typed under Headers is kept nowhere: it ends with the page.
import { createGraphiQLFetcher } from "@graphiql/toolkit";
import { setNonce } from "get-nonce";
import { GraphiQL } from "graphiql";
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
createRoot(page).render(
  createElement(GraphiQL, {
    fetcher: createGraphiQLFetcher({ url: "/graphql" }),
    schema: page.dataset.introspection === "on" ? undefined : null, // null: do not ask for it
    inputValueDeprecation: true,
    defaultQuery: FIRST_QUERY,
    shouldPersistHeaders: false,
    showPersistHeadersSettings: false,
  }),
);
