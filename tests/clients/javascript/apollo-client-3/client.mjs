import { createHash } from "node:crypto";
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, gql } from "@apollo/client";
import { BatchHttpLink } from "@apollo/client/link/batch-http";
import { createPersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { relayStylePagination } from "@apollo/client/utilities";
import { API_KEY, GRAPHQL_URL, assert, prove, takeRequests } from "../prove.mjs";

const connect = (link, cache = new InMemoryCache()) => new ApolloClient({ link, cache });
const credential = { headers: { "X-API-Key": API_KEY } };
const INVALID = gql`mutation { createPost(input: { title: "", body: "Text" }) { id } }`;
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
  assert.ok(data.posts.length >= 5);
  assert.deepEqual(client.readQuery({ query }), data);
});

await prove("follows cursors with relayStylePagination and fetchMore", async () => {
  const typePolicies = { Query: { fields: { postsConnection: relayStylePagination(["filter"]) } } };
  const client = connect(new HttpLink({ uri: GRAPHQL_URL }), new InMemoryCache({ typePolicies }));
  const observable = client.watchQuery({ query: PAGE });
  let { data } = await observable.result();
  while (data.postsConnection.pageInfo.hasNextPage) {
    await observable.fetchMore({ variables: { after: data.postsConnection.pageInfo.endCursor } });
    data = client.readQuery({ query: PAGE });
  }
  const ids = data.postsConnection.edges.map(({ node }) => node.id);
  assert.ok(ids.length >= 6);
  assert.equal(new Set(ids).size, ids.length);
});

await prove("useGETForQueries: sends queries by GET and mutations by POST", async () => {
  takeRequests();
  const client = connect(new HttpLink({ uri: GRAPHQL_URL, useGETForQueries: true, ...credential }));
  await client.query({ query: PAGE });
  const mutation = gql`mutation { createPost(input: { title: "By Apollo 3", body: "Text" }) { id title } }`;
  const { data } = await client.mutate({ mutation });
  assert.equal(client.cache.extract()[`Post:${data.createPost.id}`].title, "By Apollo 3");
  await client.mutate({ mutation: gql`mutation ($id: ID!) { deletePost(id: $id) }`, variables: data.createPost });
  assert.deepEqual(takeRequests().map(({ method, status }) => [method, status]), [["GET", 200], ["POST", 200], ["POST", 200]]);
});

await prove("gets both data and errors of a 294, and those of a 422 as the result of a network error", async () => {
  const client = connect(new HttpLink({ uri: GRAPHQL_URL, ...credential }));
  const query = gql`{ posts(limit: 1) { id } author(id: 1) { posts(limit: 0) { id } } }`;
  const partial = await client.query({ query, errorPolicy: "all" });
  assert.equal(partial.data.posts.length, 1);
  assert.equal(partial.errors[0].extensions.code, "BAD_REQUEST");
  const { networkError } = await client.mutate({ mutation: INVALID }).then(assert.fail, (error) => error);
  assert.equal(networkError.statusCode, 422);
  assert.equal(networkError.result.errors[0].extensions.code, "INVALID");
});

await prove("automatic persisted queries: sends the hash by GET, then the text, then only the hash", async () => {
  takeRequests();
  const sha256 = (text) => createHash("sha256").update(text).digest("hex");
  const persisted = createPersistedQueryLink({ sha256, useGETForHashedQueries: true });
  const query = gql`query Own3($n: Int = ${1 + (process.pid % 50)}) { posts(limit: $n) { id } }`;
  for (const expected of [[["GET", 400], ["POST", 200]], [["GET", 200]]]) {
    const client = connect(ApolloLink.from([persisted, new HttpLink({ uri: GRAPHQL_URL })]));
    assert.ok((await client.query({ query })).data.posts.length > 0);
    assert.deepEqual(takeRequests().map(({ method, status }) => [method, status]), expected);
  }
});

await prove("BatchHttpLink: the network error has the reason why a batch is refused", async () => {
  const client = connect(new BatchHttpLink({ uri: GRAPHQL_URL, batchInterval: 20 }));
  const queries = [gql`{ posts { id } }`, gql`query Second { posts { title } }`];
  for (const { reason } of await Promise.allSettled(queries.map((query) => client.query({ query })))) {
    assert.equal(reason.networkError.result.length, 2);
    assert.match(reason.networkError.result[0].errors[0].message, /batch/i);
  }
});
