import { Window } from "happy-dom";
import { Suspense, act } from "react";
import { RelayEnvironmentProvider } from "react-relay";
import { createClient } from "graphql-sse";
import {
  Environment, Network, Observable, RecordSource, Store, commitMutation, fetchQuery, graphql, requestSubscription,
} from "relay-runtime";
import { API_KEY, GRAPHQL_URL, STREAM_URL, TRUSTED_GRAPHQL_URL, assert, changePosts, prove, takeRequests } from "../../prove.mjs";
import { Page, controls } from "./components.js";

const streams = createClient({ url: STREAM_URL, headers: { "X-API-Key": API_KEY } });
const subscribe = ({ text: query }, variables) => Observable.create((sink) => streams.subscribe({ query, variables }, sink));
const connect = (url = GRAPHQL_URL, buildBody = ({ text }) => ({ query: text }), headers = { "X-API-Key": API_KEY }) =>
  new Environment({
    store: new Store(new RecordSource()),
    network: Network.create(async (request, variables) => {
      const body = JSON.stringify({ ...buildBody(request), variables });
      const response = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body });
      return response.json();
    }, subscribe),
  });
const mutate = (environment, mutation, variables) =>
  new Promise((done, onError) => {
    const onCompleted = (data, errors) => (errors ? onError(errors) : done(data));
    commitMutation(environment, { mutation, variables, onCompleted, onError });
  });
const CREATE = graphql`
  mutation clientCreateMutation($input: CreatePostInput!) { createPost(input: $input) { id title author { id name } } }
`;
const UPDATE = graphql`
  mutation clientUpdateMutation($input: UpdatePostInput!) { updatePost(input: $input) { id title } }
`;
const DELETE = graphql`mutation clientDeleteMutation($id: ID!) { deletePost(id: $id) @deleteRecord }`;
const POST = graphql`
  query clientPostQuery($id: ID!) { node(id: $id) { id ... on Post { title author { id name } } } }
`;
const EVENTS = graphql`
  subscription clientEventsSubscription { events(types: ["post.*"]) { type ... on PostEvent { post { id title } } } }
`;
const NODES = graphql`
  query clientNodesQuery($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on Post { title } ... on Author { name } } }
`;

// React needs a document before it is imported.
const window = new Window();
Object.assign(globalThis, { window, document: window.document, IS_REACT_ACT_ENVIRONMENT: true });
Object.defineProperty(globalThis, "navigator", { value: window.navigator, configurable: true });
const { createRoot } = await import("react-dom/client");

/** What the page shows: its posts with the names of their authors, and their comments with the names of theirs. */
const read = () =>
  [...document.querySelectorAll("article")].map((article) => ({
    title: article.dataset.title,
    author: { name: article.querySelector("b").textContent },
    comments: [...article.querySelectorAll("p")].map((comment) => ({
      body: comment.dataset.comment,
      author: { name: comment.textContent },
    })),
  }));
/** Wait for a condition. React renders when `act` ends, so each look is after one. */
async function settle(condition) {
  for (let tries = 0; !condition() && tries < 6000; tries += 1) {
    await act(() => new Promise((done) => setTimeout(done, 10)));
  }
  assert.ok(condition());
}

const environment = connect();
document.body.innerHTML = "<main></main>";
await act(async () =>
  createRoot(document.querySelector("main")).render(
    <RelayEnvironmentProvider environment={environment}>
      <Suspense fallback="…"><Page /></Suspense>
    </RelayEnvironmentProvider>,
  ),
);

await prove("usePaginationFragment follows cursors; posts, authors and comments do not overwrite each other", async () => {
  await settle(() => document.querySelector("article"));
  while (controls.hasNext) {
    await act(async () => void controls.loadNext(3));
    await settle(() => !controls.isLoadingNext);
  }
  const query = `{ posts(limit: 100, status: published) { title author { name } comments { body author { name } } } }`;
  const headers = { "Content-Type": "application/json", "X-API-Key": API_KEY };
  const response = await fetch(GRAPHQL_URL, { method: "POST", headers, body: JSON.stringify({ query }) });
  const { data } = await response.json();
  const shown = read();
  assert.ok(shown.length >= 6);
  assert.deepEqual(shown, data.posts.filter(({ title }) => shown.some((post) => post.title === title)));
});

await prove("@refetchable on Post reads a changed post again by its id", async () => {
  const { id, title } = document.querySelector("article:last-child").dataset;
  const query = `mutation { updatePost(input: {id: "${id}", title: "${title}!"}) { id } }`;
  const headers = { "Content-Type": "application/json", "X-API-Key": API_KEY };
  assert.equal((await fetch(GRAPHQL_URL, { method: "POST", headers, body: JSON.stringify({ query }) })).status, 200);
  await act(async () => void controls[`refetch ${id}`]());
  await settle(() => document.querySelector("article:last-child")?.dataset.title === `${title}!`);
});

await prove("mutations change the store, and @deleteRecord removes a post from it", async () => {
  const { createPost } = await mutate(environment, CREATE, { input: { title: "By Relay", body: "Text" } });
  const { id } = createPost;
  assert.equal((await fetchQuery(environment, POST, { id }).toPromise()).node.title, "By Relay");
  await mutate(environment, UPDATE, { input: { id, title: "Changed" } });
  assert.equal(environment.getStore().getSource().get(id).title, "Changed");
  await mutate(environment, DELETE, { id });
  assert.equal(environment.getStore().getSource().get(id), null);
});

await prove("nodes(ids:) reads records of several types by their ids", async () => {
  const ids = [...environment.getStore().getSource().getRecordIDs()].filter((id) => /^\d+$/.test(id));
  const { nodes } = await fetchQuery(environment, NODES, { ids }).toPromise();
  const types = new Set(nodes.filter(Boolean).map(({ __typename }) => __typename));
  for (const type of ["Post", "Author", "Comment"]) assert.ok(types.has(type), type);
});

await prove("gets the codes of errors", async () => {
  const anonymous = connect(GRAPHQL_URL, undefined, {});
  const [error] = await mutate(anonymous, CREATE, { input: { title: "x", body: "x" } }).then(
    () => assert.fail("There was no error."),
    (errors) => errors,
  );
  assert.equal(error.extensions.code, "UNAUTHENTICATED");
});

await prove("trusted documents: executes the manifest of persistConfig by documentId, and nothing else", async () => {
  takeRequests();
  const { id } = document.querySelector("article").dataset;
  const trusted = connect(TRUSTED_GRAPHQL_URL, (request) => ({ documentId: request.id }));
  assert.ok((await fetchQuery(trusted, POST, { id }).toPromise()).node.title);
  assert.ok(!takeRequests()[0].body.includes("query"));
  const other = connect(TRUSTED_GRAPHQL_URL, () => ({ query: "{ posts { body } }" }));
  const error = await fetchQuery(other, POST, { id }).toPromise().then(assert.fail, (reason) => reason);
  assert.equal(error.source.errors[0].extensions.code, "DOCUMENT_NOT_FOUND");
});

await prove("requestSubscription with graphql-sse: an event changes the record of its post in the store", async () => {
  const title = `Event for Relay ${process.pid}`;
  const id = await new Promise((done, onError) => {
    const { dispose } = requestSubscription(environment, {
      subscription: EVENTS,
      variables: {},
      onNext: ({ events }) => {
        if (events.type !== "post.updated" || events.post?.title !== `${title}!`) return;
        clearInterval(changes);
        dispose();
        done(events.post.id);
      },
      onError,
    });
    const changes = setInterval(() => changePosts(title).catch(onError), 1000); // it is not told that its stream has begun
  });
  assert.equal(environment.getStore().getSource().get(id).title, `${title}!`);
});

process.exit(0); // React's scheduler keeps the process alive
