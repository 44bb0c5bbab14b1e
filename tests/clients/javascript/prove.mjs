// What the clients of this folder share: reports of what they have proved, and a look at the requests that they send.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { promisify } from "node:util";

export { assert };
export const { API_URL, GRAPHQL_URL, STREAM_URL, TRUSTED_GRAPHQL_URL, API_KEY, ACCESS_TOKEN } = process.env;

/** Check something, and print it for the table of `make clients`. */
export async function prove(what, check) {
  try {
    await check();
  } catch (error) {
    error.message = `${what}: ${error.message}`;
    throw error;
  }
  console.log(what);
}

/** The requests that the client has sent since the last call: method, URL, body and status. */
export const takeRequests = () => requests.splice(0);

const requests = [];
const send = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const request = new Request(input, init);
  const body = request.method === "POST" ? await request.clone().text() : "";
  const response = await send(request);
  requests.push({ method: request.method, url: request.url, body, status: response.status });
  return response;
};

/** Create a post, change its title, and delete it after a while: events for a client that follows them. */
export async function changePosts(title) {
  const write = async (query, variables) => {
    const headers = { "Content-Type": "application/json", "X-API-Key": API_KEY };
    const response = await send(GRAPHQL_URL, { method: "POST", headers, body: JSON.stringify({ query, variables }) });
    return (await response.json()).data;
  };
  const create = "mutation ($input: CreatePostInput!) { createPost(input: $input) { id } }";
  const { createPost: { id } } = await write(create, { input: { title, body: "Text" } });
  await write("mutation ($input: UpdatePostInput!) { updatePost(input: $input) { id } }", { input: { id, title: `${title}!` } });
  return id;
}

/** Relay connections to the server of an address. Returns the address of the relay, and a function that cuts them. */
export async function relay(url) {
  const { hostname, port } = new URL(url);
  const sockets = new Set();
  const relayed = createServer((client) => {
    const server = connect({ host: hostname, port });
    for (const socket of [client, server]) sockets.add(socket.on("error", () => {}));
    client.pipe(server).pipe(client);
  });
  await once(relayed.listen(0).unref(), "listening");
  const cut = () => sockets.forEach((socket) => sockets.delete(socket.destroy()));
  return { url: url.replace(`:${port}`, `:${relayed.address().port}`), cut };
}

/** A `fetch` that loses the first response, as a broken connection does, and the responses of the server. */
export function loseFirstResponse() {
  const responses = [];
  const loseFirst = async (...request) => {
    const response = await fetch(...request);
    const { status, headers } = response;
    responses.push({ status, replayed: headers.get("Idempotent-Replayed"), body: await response.clone().json() });
    if (responses.length === 1) throw new TypeError("fetch failed");
    return response;
  };
  return { fetch: loseFirst, responses };
}

/**
 * Open an address as a user who logs in and consents. Returns the address to which the server sends the user.
 *
 * While it waits, Node closes connections that are idle. It would use one that the server has closed after 5 s.
 */
export async function browse(address) {
  const [program, ...words] = JSON.parse(process.env.BROWSER);
  return (await promisify(execFile)(program, [...words, String(address)])).stdout.trim();
}
