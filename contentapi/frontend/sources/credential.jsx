// The panel for the credential that requests carry.
import { credential, setCredential } from "./requests.js";
import { useStore } from "./store.js";

const KINDS = { none: "None: anonymous", key: "API key", bearer: "Bearer token" };

function KeyIcon(attributes) {
  return (
    <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth="1.5" {...attributes}>
      <circle cx="8" cy="15" r="4.5" />
      <path d="M11.5 11.5 20 3M16 7l3 3M13.5 9.5l2 2" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}

function Credential() {
  const { kind, value, isKept } = useStore(credential);
  const change = (changes) => setCredential({ kind, value, isKept, ...changes });
  return (
    <form className="panel" onSubmit={(event) => event.preventDefault()}>
      <h2>Credential</h2>
      <label>
        Requests carry
        <select value={kind} onChange={(event) => change({ kind: event.target.value })}>
          {Object.entries(KINDS).map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {kind !== "none" && (
        <>
          <label>
            {KINDS[kind]}
            <input
              type="password"
              value={value}
              autoComplete="off"
              spellCheck="false"
              onChange={(event) => change({ value: event.target.value.trim() })}
            />
          </label>
          <label className="choice">
            <input
              type="checkbox"
              checked={isKept}
              onChange={(event) => change({ isKept: event.target.checked })}
            />
            Keep it in this tab until the tab is closed
          </label>
          <button type="button" onClick={() => setCredential({ kind: "none", value: "", isKept: false })}>
            Forget it
          </button>
        </>
      )}
      {kind !== "none" && (
        <p>
          Sent as <code>{kind === "bearer" ? "Authorization: Bearer …" : "X-API-Key: …"}</code>. Without “Keep it”, it is
          gone when the page is loaded again. It is never stored beyond this tab, and is sent to this server only.
        </p>
      )}
      <p>
        You create API keys in the <a href="/admin/users/apikey/">admin</a>.
      </p>
    </form>
  );
}

export const CREDENTIAL_PLUGIN = { title: "Credential", icon: KeyIcon, content: Credential };
