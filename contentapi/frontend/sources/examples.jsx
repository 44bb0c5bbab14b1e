// The panel of examples. The server writes them into the page: contentapi/graphql/explorer/examples.yaml.
import { useGraphiQL, useGraphiQLActions } from "@graphiql/react";
import { useState } from "react";
import { isNarrow } from "./layout.js";
import { send } from "./requests.js";

export const EXAMPLES = JSON.parse(document.getElementById("examples").textContent);

function ListIcon(attributes) {
  return (
    <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth="1.5" {...attributes}>
      <path d="M9 6h12M9 12h12M9 18h12M4 6h.01M4 12h.01M4 18h.01" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}

// Returns the first `id` in a value of JSON, or undefined. A query can select another field under this name.
function findId(value) {
  if (value === null || typeof value !== "object") return undefined;
  if (typeof value.id === "string") return value.id;
  return Object.values(value).map(findId).find(Boolean);
}

// Returns the variables of an example. Ids that depend on the content are looked up on the server.
async function findVariables({ variables, lookups }) {
  const found = structuredClone(variables);
  for (const { query, path } of lookups) {
    const id = findId((await send({ query })).data);
    const [last, ...parents] = path.split(".").reverse();
    if (id) parents.reduceRight((value, name) => value[name], found)[last] = id;
  }
  return found;
}

function Examples() {
  const { addTab, setOperationName, setVisiblePlugin } = useGraphiQLActions();
  const { queryEditor, variableEditor } = useGraphiQL(({ queryEditor, variableEditor }) => ({
    queryEditor,
    variableEditor,
  }));
  const [opened, setOpened] = useState("");

  async function open(example) {
    const variables = await findVariables(example);
    const text = queryEditor.getValue().trim();
    const isExample = EXAMPLES.some((group) => group.examples.some(({ query }) => text.endsWith(query.trim())));
    if (text && !isExample) addTab(); // the user's own operation stays in its tab
    queryEditor.setValue(example.query);
    variableEditor.setValue(Object.keys(variables).length ? JSON.stringify(variables, null, 2) : "");
    // GraphiQL finds the name 100 ms later. Until then it would send that of the previous operation.
    setOperationName(example.query.match(/(?:query|mutation) (\w+)/)[1]);
    setOpened(example.title);
    if (isNarrow()) setVisiblePlugin(null); // the panel covers the editors
    else queryEditor.focus();
  }

  return (
    <div className="panel">
      <h2>Examples</h2>
      <p>
        <kbd>Ctrl-Enter</kbd> executes, <kbd>Ctrl-Space</kbd> completes.
      </p>
      {EXAMPLES.map(({ group, examples }) => (
        <section key={group}>
          <h3>{group}</h3>
          <ul>
            {examples.map((example) => (
              <li key={example.title}>
                <button type="button" aria-pressed={opened === example.title} onClick={() => open(example)}>
                  <b>{example.title}</b>
                  <span>{example.description}</span>
                  {example.credential && <span className="needs">Needs a credential: {example.credential}</span>}
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

export const EXAMPLES_PLUGIN = { title: "Examples", icon: ListIcon, content: Examples };
