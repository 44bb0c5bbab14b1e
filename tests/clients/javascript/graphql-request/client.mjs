import { ClientError, GraphQLClient, gql, request } from "graphql-request";
import { API_KEY, GRAPHQL_URL, assert, prove, takeRequests } from "../prove.mjs";

const client = new GraphQLClient(GRAPHQL_URL, { headers: { "X-API-Key": API_KEY } });

await prove("reads posts and follows cursors", async () => {
  const page = gql`
    query ($after: String) {
      postsConnection(first: 3, after: $after, filter: { status: published }) {
        nodes: edges { node { id title } }
        pageInfo { hasNextPage endCursor }
      }
    }
  `;
  const ids = [];
  for (let after = null, more = true; more; ) {
    const { postsConnection } = await request(GRAPHQL_URL, page, { after });
    ids.push(...postsConnection.nodes.map(({ node }) => node.id));
    ({ endCursor: after, hasNextPage: more } = postsConnection.pageInfo);
  }
  assert.ok(ids.length >= 6);
  assert.equal(new Set(ids).size, ids.length);
});

await prove("method GET: sends queries by GET", async () => {
  takeRequests();
  const reader = new GraphQLClient(GRAPHQL_URL, { method: "GET", jsonSerializer: JSON });
  const { posts } = await reader.request(gql`query ($n: Int) { posts(limit: $n) { title } }`, { n: 2 });
  assert.equal(posts.length, 2);
  assert.deepEqual(takeRequests().map(({ method, status }) => [method, status]), [["GET", 200]]);
});

await prove("creates and deletes a post with a credential", async () => {
  const create = gql`mutation ($input: CreatePostInput!) { createPost(input: $input) { id title } }`;
  const { createPost } = await client.request(create, { input: { title: "By graphql-request", body: "Text" } });
  assert.equal(createPost.title, "By graphql-request");
  const { deletePost } = await client.request(gql`mutation ($id: ID!) { deletePost(id: $id) }`, { id: createPost.id });
  assert.equal(deletePost, createPost.id);
});

await prove("gets the codes of errors with status 400, 401 and 422, and with errorPolicy all those of a 294", async () => {
  const find = async (promise) => promise.then(assert.fail, (error) => {
    assert.ok(error instanceof ClientError);
    return [error.response.status, error.response.errors[0].extensions.code];
  });
  const invalid = gql`mutation { createPost(input: { title: "", body: "Text" }) { id } }`;
  assert.deepEqual(await find(request(GRAPHQL_URL, gql`{ posts { unknown } }`)), [400, "GRAPHQL_VALIDATION_FAILED"]);
  assert.deepEqual(await find(request(GRAPHQL_URL, invalid)), [401, "UNAUTHENTICATED"]);
  assert.deepEqual(await find(client.request(invalid)), [422, "INVALID"]);
  const partial = gql`{ posts(limit: 1) { id } author(id: 1) { posts(limit: 0) { id } } }`;
  assert.deepEqual(await find(request(GRAPHQL_URL, partial)), [294, "BAD_REQUEST"]);
  const lenient = new GraphQLClient(GRAPHQL_URL, { errorPolicy: "all" });
  const { data, errors } = await lenient.rawRequest(partial);
  assert.deepEqual([data.posts.length, errors[0].extensions.code], [1, "BAD_REQUEST"]);
});
