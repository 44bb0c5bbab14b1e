// Sends operations with the user's credential, and stores what the status line shows of the last response.
import { createStore } from "./store.js";

const KEPT = "contentapi:credential"; // in the storage of this tab, if the user wants that
const NONE = { kind: "none", value: "", isKept: false };
export const INTROSPECTION = "IntrospectionQuery"; // GraphiQL's own request

export const credential = createStore(readKeptCredential());
export const lastResponse = createStore(null);

export function setCredential(changed) {
  credential.set(changed);
  if (changed.isKept && changed.kind !== "none") sessionStorage.setItem(KEPT, JSON.stringify(changed));
  else sessionStorage.removeItem(KEPT);
}

function readKeptCredential() {
  try {
    return { ...NONE, ...JSON.parse(sessionStorage.getItem(KEPT)) };
  } catch {
    return NONE;
  }
}

function buildCredentialHeaders() {
  const { kind, value } = credential.get();
  if (!value || kind === "none") return {};
  return kind === "key" ? { "X-API-Key": value } : { Authorization: `Bearer ${value}` };
}

// Sends an operation and returns the body of the response. `headers` are those of the headers editor.
export async function send(operation, { headers = {} } = {}) {
  const start = performance.now();
  const response = await fetch("/graphql", {
    method: "POST",
    credentials: "omit", // cookies are not credentials of the API
    headers: { "Content-Type": "application/json", ...buildCredentialHeaders(), ...headers },
    body: JSON.stringify({ ...operation, extensions: { cost: true } }),
  });
  const { extensions, ...result } = await response.json();
  if (operation.operationName !== INTROSPECTION) {
    lastResponse.set({
      status: response.status,
      reason: result.errors?.[0]?.message,
      milliseconds: Math.round(performance.now() - start),
      cost: extensions?.cost,
      limits: parseLimits(response.headers),
      retryAfter: response.headers.get("Retry-After"),
      requestId: response.headers.get("X-Request-ID"),
    });
  }
  return result;
}

// Returns the name, quota, window (seconds), remaining requests and seconds to the reset of each limit.
function parseLimits(headers) {
  const policies = parseItems(headers.get("RateLimit-Policy"));
  return Object.entries(parseItems(headers.get("RateLimit"))).map(([name, { r, t }]) => ({
    name,
    remaining: r,
    reset: t,
    quota: policies[name]?.q,
    window: policies[name]?.w,
  }));
}

// '"anonymous";r=299;t=60, "writes";r=600;t=60' -> {anonymous: {r: 299, t: 60}, writes: {r: 600, t: 60}}
function parseItems(header) {
  const items = (header ?? "").split(",").map((item) => item.trim().split(";"));
  return Object.fromEntries(
    items
      .filter(([name]) => name)
      .map(([name, ...parameters]) => [
        name.replaceAll('"', ""),
        Object.fromEntries(parameters.map((parameter) => parameter.split("=")).map(([key, text]) => [key, Number(text)])),
      ]),
  );
}
