// The panel of operations that were executed in this browser. It stores queries and variables, never headers: they would
// contain credentials.
import { useGraphiQL, useGraphiQLActions } from "@graphiql/react";
import { isNarrow } from "./layout.js";
import { createStore, useStore } from "./store.js";

const KEPT = "contentapi:history"; // in the storage of this browser
const MOST = 50;
const executed = createStore(readKept());

function readKept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) ?? [];
  } catch {
    return [];
  }
}

function keep(operations) {
  executed.set(operations);
  try {
    localStorage.setItem(KEPT, JSON.stringify(operations));
  } catch {
    // The storage is full or forbidden. The history is then that of this page.
  }
}

// Puts an operation before all others. One that is executed again moves to the front.
export function remember({ query, variables = {}, operationName }) {
  const operation = { query, variables: Object.keys(variables).length ? JSON.stringify(variables, null, 2) : "", operationName };
  const isOther = (other) => other.query !== query || other.variables !== operation.variables;
  keep([operation, ...executed.get().filter(isOther)].slice(0, MOST));
}

function ClockIcon(attributes) {
  return (
    <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth="1.5" {...attributes}>
      <circle cx="12" cy="12" r="9" />
      <path d="M12 7v5l3.5 2" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}

function History() {
  const operations = useStore(executed);
  const { addTab, setOperationName, setVisiblePlugin } = useGraphiQLActions();
  const { queryEditor, variableEditor } = useGraphiQL(({ queryEditor, variableEditor }) => ({
    queryEditor,
    variableEditor,
  }));

  function open({ query, variables, operationName }) {
    if (queryEditor.getValue().trim()) addTab();
    queryEditor.setValue(query);
    variableEditor.setValue(variables);
    setOperationName(operationName);
    if (isNarrow()) setVisiblePlugin(null); // the panel covers the editors
    else queryEditor.focus();
  }

  return (
    <div className="panel">
      <h2>History</h2>
      {operations.length === 0 && <p>Operations that you execute appear here.</p>}
      <ul>
        {operations.map((operation) => (
          <li key={operation.query + operation.variables}>
            <button type="button" onClick={() => open(operation)}>
              <b>{operation.operationName || operation.query.replace(/\s+/g, " ").trim().slice(0, 40)}</b>
              <span>{operation.variables.replace(/\s+/g, " ").slice(0, 80)}</span>
            </button>
          </li>
        ))}
      </ul>
      {operations.length > 0 && (
        <p>
          <button type="button" onClick={() => keep([])}>
            Clear the history
          </button>
        </p>
      )}
    </div>
  );
}

export const HISTORY_PLUGIN = { title: "History", icon: ClockIcon, content: History };
