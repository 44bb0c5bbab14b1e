// GraphiQL on the endpoint of this server, with examples, a credential and the cost of the last response.
// Its history is not GraphiQL's own, which stores the headers, and with them credentials.
import "./strict_policy.js";
import { DOC_EXPLORER_PLUGIN } from "@graphiql/plugin-doc-explorer";
import { useMonaco } from "@graphiql/react";
import { GraphiQL } from "graphiql";
import { getOperationAST, parse } from "graphql";
import { useEffect } from "react";
import { createRoot } from "react-dom/client";
import { makeTabsAccessible } from "./accessible_tabs.js";
import { CREDENTIAL_PLUGIN } from "./credential.jsx";
import { EXAMPLES, EXAMPLES_PLUGIN } from "./examples.jsx";
import "./explorer.css";
import { HISTORY_PLUGIN, remember } from "./history.jsx";
import { LastResponse } from "./last_response.jsx";
import { isNarrow } from "./layout.js";
import { INTROSPECTION, send } from "./requests.js";

const WORKERS = { json: "json", graphql: "graphql" };
const page = document.getElementById("explorer");

globalThis.MonacoEnvironment = {
  getWorker: (_, label) =>
    new Worker(new URL(`./${WORKERS[label] ?? "editor"}.worker.js`, import.meta.url), { type: "module" }),
};

const [FIRST] = EXAMPLES[0].examples;
// The first example, unless GraphiQL has tabs of an earlier visit.
const INITIAL =
  localStorage.getItem("graphiql:tabState") === null
    ? { initialQuery: FIRST.query, initialVariables: JSON.stringify(FIRST.variables, null, 2) }
    : {};

// GraphiQL reads the names of operations 100 ms after a key: an operation that is executed before has the name of another.
function nameOperation(operation) {
  try {
    const document = parse(operation.query);
    if (getOperationAST(document, operation.operationName)) return operation;
    return { ...operation, operationName: getOperationAST(document)?.name?.value };
  } catch {
    return operation; // the server's error states what is wrong
  }
}

function execute(operation, options) {
  const named = nameOperation(operation);
  if (named.operationName !== INTROSPECTION) remember(named);
  return send(named, options);
}

let isTabFocusMode = false;

// Makes Tab leave the editors, so that the keyboard reaches everything. Enter indents, and Ctrl-M lets Tab indent, too.
// The mode is one of Monaco, not of an editor: its option `tabFocusMode` does not change what the key does.
function useTabFocusMode() {
  const monaco = useMonaco((state) => state.monaco);
  useEffect(() => {
    if (!monaco) return undefined;
    const toggle = (editor) => {
      if (!isTabFocusMode) editor.trigger("explorer", "editor.action.toggleTabFocusMode");
      isTabFocusMode = true;
    };
    monaco.editor.getEditors().slice(0, 1).forEach(toggle);
    const listener = monaco.editor.onDidCreateEditor(toggle);
    return () => listener.dispose();
  }, [monaco]);
}

function StatusLine() {
  useTabFocusMode();
  return <LastResponse />;
}

function Explorer() {
  return (
    <GraphiQL
      fetcher={execute}
      schema={page.dataset.introspection === "on" ? undefined : null} // null: do not request it
      inputValueDeprecation
      {...INITIAL}
      shouldPersistHeaders={false}
      showPersistHeadersSettings={false}
      plugins={[EXAMPLES_PLUGIN, HISTORY_PLUGIN, CREDENTIAL_PLUGIN]}
      referencePlugin={DOC_EXPLORER_PLUGIN}
      visiblePlugin={isNarrow() ? undefined : EXAMPLES_PLUGIN}
      defaultEditorToolsVisibility={isNarrow() ? false : "variables"}
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
