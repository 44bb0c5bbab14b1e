// GraphiQL on the endpoint of this server, with examples, a credential and the cost of the last response.
// It has no history: that would store the headers, and with them credentials.
import "./strict_policy.js";
import { DOC_EXPLORER_PLUGIN } from "@graphiql/plugin-doc-explorer";
import { useMonaco } from "@graphiql/react";
import { GraphiQL } from "graphiql";
import { useEffect } from "react";
import { createRoot } from "react-dom/client";
import { makeTabsAccessible } from "./accessible_tabs.js";
import { CREDENTIAL_PLUGIN } from "./credential.jsx";
import { EXAMPLES, EXAMPLES_PLUGIN } from "./examples.jsx";
import "./explorer.css";
import { LastResponse } from "./last_response.jsx";
import { isNarrow } from "./layout.js";
import { send } from "./requests.js";

const WORKERS = { json: "json", graphql: "graphql" };
const page = document.getElementById("explorer");

globalThis.MonacoEnvironment = {
  getWorker: (_, label) =>
    new Worker(new URL(`./${WORKERS[label] ?? "editor"}.worker.js`, import.meta.url), { type: "module" }),
};

const [FIRST] = EXAMPLES[0].examples;
const FIRST_TAB = { query: FIRST.query, variables: JSON.stringify(FIRST.variables, null, 2) };

// Makes Tab leave an editor, so that the keyboard reaches everything. Enter indents.
function useFocusableEditors() {
  const monaco = useMonaco((state) => state.monaco);
  useEffect(() => {
    if (!monaco) return undefined;
    const leaveByTab = (editor) => editor.updateOptions({ tabFocusMode: true });
    monaco.editor.getEditors().forEach(leaveByTab);
    const listener = monaco.editor.onDidCreateEditor(leaveByTab);
    return () => listener.dispose();
  }, [monaco]);
}

function StatusLine() {
  useFocusableEditors();
  return <LastResponse />;
}

function Explorer() {
  return (
    <GraphiQL
      fetcher={send}
      schema={page.dataset.introspection === "on" ? undefined : null} // null: do not request it
      inputValueDeprecation
      defaultTabs={[FIRST_TAB]}
      shouldPersistHeaders={false}
      showPersistHeadersSettings={false}
      plugins={[EXAMPLES_PLUGIN, CREDENTIAL_PLUGIN]}
      referencePlugin={DOC_EXPLORER_PLUGIN}
      visiblePlugin={isNarrow() ? undefined : EXAMPLES_PLUGIN}
      defaultEditorToolsVisibility="variables"
    >
      <GraphiQL.Logo>{" "}</GraphiQL.Logo>
      <GraphiQL.Footer>
        <StatusLine />
      </GraphiQL.Footer>
    </GraphiQL>
  );
}

makeTabsAccessible(page);
createRoot(page).render(<Explorer />);
