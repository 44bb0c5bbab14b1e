import { createClient } from "graphql-sse";
import { API_KEY, GRAPHQL_URL, STREAM_URL, assert, changePosts, prove, relay, takeRequests } from "../prove.mjs";

const EVENTS = `
  subscription ($after: String) {
    events(after: $after, types: ["post.*"]) { type cursor ... on PostEvent { post { title } } }
  }
`;
const connect = (options = {}) => createClient({ url: STREAM_URL, headers: { "X-API-Key": API_KEY }, ...options });

/** The events of a subscription until that of a title. Calls `act` when the stream has begun. */
async function read(client, title, { after = null, act = () => {} } = {}) {
  const found = [];
  let acted;
  const connected = client.iterate({ query: EVENTS, variables: { after } }, { connected: () => (acted = act()) });
  for await (const { data, errors } of connected) {
    assert.equal(errors, undefined);
    found.push(data.events);
    if (data.events.type === "post.updated" && data.events.post?.title === title) break;
  }
  await acted;
  return found;
}

let cursor;

await prove("gets an event of each change, with the fields that it selects", async () => {
  const title = `By graphql-sse ${process.pid}`;
  const found = await read(connect(), `${title}!`, { act: () => changePosts(title) });
  const own = found.filter(({ post }) => post?.title?.startsWith(title)); // others change posts too
  assert.deepEqual(own.map(({ type }) => type), ["post.created", "post.updated"]);
  assert.equal(takeRequests().filter(({ url }) => url === STREAM_URL).length, 1);
  cursor = found[0].cursor;
});

await prove("goes on after the cursor of an event, without a gap", async () => {
  const title = `Later by graphql-sse ${process.pid}`;
  await changePosts(title);
  const found = await read(connect(), `${title}!`, { after: cursor });
  assert.ok(found.length >= 3);
  assert.ok(!found.some((event) => event.cursor === cursor));
});

await prove("gets the errors of a document in the stream, and does not repeat the request", async () => {
  takeRequests();
  const results = [];
  for await (const result of connect().iterate({ query: "subscription { events { unknown } }" })) results.push(result);
  assert.deepEqual(results.map(({ errors }) => errors[0].extensions.code), ["GRAPHQL_VALIDATION_FAILED"]);
  assert.deepEqual(takeRequests().map(({ status }) => status), [200]);
});

await prove("gets the status of a credential that is not valid", async () => {
  const client = connect({ headers: { "X-API-Key": "wrong" }, retryAttempts: 0 });
  const error = await client.iterate({ query: EVENTS }).next().then(assert.fail, (reason) => reason);
  assert.equal(error.response.status, 401);
});

await prove("comes back by itself when a stream was cut, and gets the present value", async () => {
  const { url, cut } = await relay(STREAM_URL);
  const api = await fetch(GRAPHQL_URL, { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"query":"{ posts(limit: 1) { id } }"}' });
  const { data: { posts: [{ id }] } } = await api.json();
  const seen = [];
  const query = "subscription ($id: ID!) { post(id: $id) { id } }";
  for await (const { data } of connect({ url }).iterate({ query, variables: { id } })) {
    seen.push(data.post.id);
    if (seen.length === 2) break;
    cut();
  }
  assert.deepEqual(seen, [id, id]);
});
