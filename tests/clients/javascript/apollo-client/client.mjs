import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { ApolloClient, ApolloLink, CombinedGraphQLErrors, HttpLink, InMemoryCache, gql } from "@apollo/client";
import { OperationTypeNode } from "graphql";
import { BatchHttpLink } from "@apollo/client/link/batch-http";
import { SetContextLink } from "@apollo/client/link/context";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { RetryLink } from "@apollo/client/link/retry";
import { relayStylePagination } from "@apollo/client/utilities";
import { generatePersistedQueryIdsFromManifest } from "@apollo/persisted-query-lists";
import { API_KEY, GRAPHQL_URL, STREAM_URL, TRUSTED_GRAPHQL_URL, assert, changePosts, loseFirstResponse, prove, relay, takeRequests } from "../prove.mjs";
import { NEWEST } from "./documents.mjs";

const connect = (link, cache = new InMemoryCache()) => new ApolloClient({ link, cache });
const credential = { headers: { "X-API-Key": API_KEY } };
const PAGE = gql`
  query Page($after: String) {
    postsConnection(first: 3, after: $after, filter: { status: published }) {
      edges { cursor node { id title author { id name } } }
      pageInfo { hasNextPage endCursor hasPreviousPage startCursor }
    }
  }
`;

await prove("reads posts; records of different types keep apart in the cache", async () => {
  const client = connect(new HttpLink({ uri: GRAPHQL_URL }));
  const query = gql`{ posts(limit: 20) { id title author { id name } comments { id body author { id name } } } }`;
  const { data } = await client.query({ query });
  const [{ method, status }] = takeRequests();
  assert.deepEqual([method, status], ["POST", 200]);
  assert.ok(data.posts.length >= 5);
  assert.deepEqual(client.readQuery({ query }), data);
  const records = Object.keys(client.extract());
  for (const type of ["Post", "Author", "Comment"]) assert.ok(records.some((key) => key.startsWith(`${type}:`)));
});

await prove("follows cursors with relayStylePagination and fetchMore", async () => {
  const typePolicies = { Query: { fields: { postsConnection: relayStylePagination(["filter"]) } } };
  const client = connect(new HttpLink({ uri: GRAPHQL_URL }), new InMemoryCache({ typePolicies }));
  const observable = client.watchQuery({ query: PAGE });
  observable.subscribe(() => {});
  let { data } = await client.query({ query: PAGE });
  while (data.postsConnection.pageInfo.hasNextPage) {
    await observable.fetchMore({ variables: { after: data.postsConnection.pageInfo.endCursor } });
    data = client.readQuery({ query: PAGE });
  }
  const ids = data.postsConnection.edges.map(({ node }) => node.id);
  assert.ok(ids.length >= 6);
  assert.equal(new Set(ids).size, ids.length);
  assert.ok(takeRequests().length >= 2);
});

await prove("useGETForQueries: sends queries by GET and mutations by POST", async () => {
  const client = connect(new HttpLink({ uri: GRAPHQL_URL, useGETForQueries: true, ...credential }));
  await client.query({ query: PAGE, variables: { after: null } });
  const mutation = gql`mutation ($input: CreatePostInput!) { createPost(input: $input) { id title status version } }`;
  const { data } = await client.mutate({ mutation, variables: { input: { title: "By Apollo", body: "Text" } } });
  assert.deepEqual([data.createPost.title, data.createPost.status], ["By Apollo", "draft"]);
  assert.equal(client.cache.extract()[`Post:${data.createPost.id}`].title, "By Apollo");
  const remove = gql`mutation ($id: ID!) { deletePost(id: $id) }`;
  await client.mutate({ mutation: remove, variables: { id: data.createPost.id } });
  assert.deepEqual(takeRequests().map(({ method, status }) => [method, status]), [["GET", 200], ["POST", 200], ["POST", 200]]);
});

await prove("gets the codes of errors with status 400, 401 and 422, and both data and errors of a 294", async () => {
  const anonymous = connect(new HttpLink({ uri: GRAPHQL_URL }));
  const known = connect(new HttpLink({ uri: GRAPHQL_URL, ...credential }));
  const mutation = gql`mutation { createPost(input: { title: "", body: "Text" }) { id } }`;
  const find = async (promise) => promise.then(assert.fail, (error) => {
    assert.ok(CombinedGraphQLErrors.is(error), String(error));
    return error.errors[0].extensions;
  });
  assert.equal((await find(anonymous.query({ query: gql`{ posts { unknown } }` }))).code, "GRAPHQL_VALIDATION_FAILED");
  assert.equal((await find(anonymous.mutate({ mutation }))).code, "UNAUTHENTICATED");
  const invalid = await find(known.mutate({ mutation }));
  assert.equal(invalid.code, "INVALID");
  assert.ok(invalid.fields.title.length > 0);
  const query = gql`{ posts(limit: 1) { id } author(id: 1) { posts(limit: 0) { id } } }`;
  const partial = await anonymous.query({ query, errorPolicy: "all" });
  assert.equal(partial.data.posts.length, 1);
  assert.equal(partial.error.errors[0].extensions.code, "BAD_REQUEST");
  assert.deepEqual(takeRequests().map(({ status }) => status), [400, 401, 422, 294]);
});

await prove("automatic persisted queries: sends the hash by GET, then the text, then only the hash", async () => {
  const sha256 = (text) => createHash("sha256").update(text).digest("hex");
  const persisted = new PersistedQueryLink({ sha256, useGETForHashedQueries: true });
  const query = gql`query Own($n: Int = ${1 + (process.pid % 50)}) { posts(limit: $n) { id } }`;
  for (const expected of [[["GET", 400], ["POST", 200]], [["GET", 200]]]) {
    const client = connect(ApolloLink.from([persisted, new HttpLink({ uri: GRAPHQL_URL })]));
    assert.ok((await client.query({ query })).data.posts.length > 0);
    assert.deepEqual(takeRequests().map(({ method, status }) => [method, status]), expected);
  }
});

await prove("BatchHttpLink: shows the reason why a batch is refused", async () => {
  const client = connect(new BatchHttpLink({ uri: GRAPHQL_URL, batchInterval: 20 }));
  const queries = [gql`{ posts { id } }`, gql`query Second { posts { title } }`];
  for (const { reason, status } of await Promise.allSettled(queries.map((query) => client.query({ query })))) {
    assert.equal(status, "rejected");
    assert.ok(CombinedGraphQLErrors.is(reason), String(reason));
    assert.match(reason.message, /batch/i);
    assert.equal(reason.errors[0].extensions.code, "BAD_REQUEST");
  }
  assert.equal(takeRequests().length, 1);
});

await prove("trusted documents: executes a manifest of generate-persisted-query-manifest, and nothing else", async () => {
  const loadManifest = async () => JSON.parse(readFileSync("persisted-query-manifest.json", "utf8"));
  const persisted = new PersistedQueryLink(generatePersistedQueryIdsFromManifest({ loadManifest }));
  const client = connect(ApolloLink.from([persisted, new HttpLink({ uri: TRUSTED_GRAPHQL_URL })]));
  assert.equal((await client.query({ query: NEWEST })).data.posts.length, 2);
  assert.ok(!takeRequests()[0].body.includes("query Newest"));
  const untrusted = connect(new HttpLink({ uri: TRUSTED_GRAPHQL_URL }));
  const error = await untrusted.query({ query: gql`{ posts { body } }` }).then(assert.fail, (reason) => reason);
  assert.equal(error.errors[0].extensions.code, "DOCUMENT_NOT_FOUND");
});

await prove("RetryLink with an Idempotency-Key: a mutation whose response was lost is carried out once", async () => {
  const addKey = new SetContextLink(({ headers }) => ({ headers: { ...headers, "Idempotency-Key": randomUUID() } }));
  const { fetch, responses } = loseFirstResponse();
  const retry = new RetryLink({ delay: { initial: 50 } });
  const client = connect(ApolloLink.from([addKey, retry, new HttpLink({ uri: GRAPHQL_URL, fetch, ...credential })]));
  const mutation = gql`mutation { createPost(input: { title: "Once by Apollo", body: "Text" }) { id } }`;
  const { data: { createPost: { id } } } = await client.mutate({ mutation });
  assert.deepEqual(responses.map(({ status, replayed }) => [status, replayed]), [[200, null], [200, "true"]]);
  assert.deepEqual(responses.map(({ body }) => body.data.createPost.id), [id, id]);
  await client.mutate({ mutation: gql`mutation ($id: ID!) { deletePost(id: $id) }`, variables: { id } });
});

await prove("HttpLink: gets an event of each change over multipart, and the errors of a document", async () => {
  const isSubscription = ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION;
  const [streams, queries] = [STREAM_URL, GRAPHQL_URL].map((uri) => new HttpLink({ uri, ...credential }));
  const client = connect(ApolloLink.split(isSubscription, streams, queries));
  const title = `Event for Apollo ${process.pid}`;
  const query = gql`subscription { events(types: ["post.*"]) { type subject ... on PostEvent { post { id title } } } }`;
  await new Promise((done, error) => {
    let isCreated = false;
    const subscription = client.subscribe({ query }).subscribe({
      next({ data, error: failure }) {
        if (failure) error(failure);
        isCreated ||= data.events.type === "post.created";
        if (!isCreated || data.events.type !== "post.updated" || data.events.post?.title !== `${title}!`) return;
        clearInterval(changes);
        subscription.unsubscribe();
        done();
      },
      error,
    });
    const changes = setInterval(() => changePosts(title).catch(error), 1000); // it is not told that its stream has begun
  });
  const { error } = await new Promise((next, error) => {
    client.subscribe({ query: gql`subscription { events { unknown } }` }).subscribe({ next, error });
  });
  assert.equal(error.errors[0].extensions.code, "GRAPHQL_VALIDATION_FAILED");
});

const VALUE = gql`subscription ($id: ID!) { post(id: $id) { id title } }`;

await prove("HttpLink: tells that a stream was cut; with a RetryLink it comes back, and gets the present value", async () => {
  const { data: { posts: [{ id }] } } = await connect(new HttpLink({ uri: GRAPHQL_URL })).query({ query: gql`{ posts(limit: 1) { id } }` });
  const { url, cut } = await relay(STREAM_URL);
  const follow = (link) => new Promise((done) => {
    const seen = [];
    const subscription = connect(link).subscribe({ query: VALUE, variables: { id } }).subscribe({
      next({ data, error }) {
        seen.push(error ? "error" : data.post.id);
        if (seen.length === 1) return cut();
        subscription.unsubscribe();
        done(seen);
      },
    });
  });
  const link = new HttpLink({ uri: url });
  assert.deepEqual(await follow(link), [id, "error"]);
  assert.deepEqual(await follow(ApolloLink.from([new RetryLink({ delay: { initial: 50 } }), link])), [id, id]);
});
