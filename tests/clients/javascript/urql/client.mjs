import { createHash, randomUUID } from "node:crypto";
import { Client, fetchExchange, gql, makeOperation, mapExchange } from "@urql/core";
import { cacheExchange } from "@urql/exchange-graphcache";
import { relayPagination } from "@urql/exchange-graphcache/extras";
import { persistedExchange } from "@urql/exchange-persisted";
import { retryExchange } from "@urql/exchange-retry";
import { API_KEY, GRAPHQL_URL, STREAM_URL, assert, changePosts, loseFirstResponse, prove, relay, takeRequests } from "../prove.mjs";

const connect = (options = {}, exchanges = [cacheExchange({}), fetchExchange]) =>
  new Client({ url: GRAPHQL_URL, exchanges, ...options });
const credential = { fetchOptions: { headers: { "X-API-Key": API_KEY } } };
const PAGE = gql`
  query Page($after: String) {
    postsConnection(first: 3, after: $after, filter: { status: published }) {
      edges { cursor node { id title author { id name } } }
      pageInfo { hasNextPage endCursor hasPreviousPage startCursor }
    }
  }
`;
const present = ({ data, error }) => {
  assert.ifError(error);
  return data;
};

await prove("reads posts by GET, its default; the second time they come from the cache", async () => {
  const client = connect();
  const query = gql`{ posts(limit: 20) { id title author { id name } comments { id body author { id name } } } }`;
  const { posts } = present(await client.query(query, {}));
  assert.ok(posts.length >= 5);
  assert.deepEqual(present(await client.query(query, {})).posts, posts);
  assert.deepEqual(takeRequests().map(({ method, status }) => [method, status]), [["GET", 200]]);
});

await prove("follows cursors with relayPagination of graphcache", async () => {
  const cache = cacheExchange({ resolvers: { Query: { postsConnection: relayPagination() } } });
  const client = connect({}, [cache, fetchExchange]);
  let { postsConnection } = present(await client.query(PAGE, {}));
  while (postsConnection.pageInfo.hasNextPage) {
    ({ postsConnection } = present(await client.query(PAGE, { after: postsConnection.pageInfo.endCursor })));
  }
  const ids = postsConnection.edges.map(({ node }) => node.id);
  assert.ok(ids.length >= 6);
  assert.equal(new Set(ids).size, ids.length);
});

await prove("mutations change the cached records of a query: a new title is shown without another request", async () => {
  const client = connect(credential);
  const title = `By urql ${process.pid}`;
  const create = gql`mutation ($input: CreatePostInput!) { createPost(input: $input) { id title author { id name } } }`;
  const { createPost } = present(await client.mutation(create, { input: { title, body: "Text" } }));
  const query = gql`query ($id: ID!) { post(id: $id) { id title author { id name } } }`;
  const { id } = createPost;
  assert.equal(present(await client.query(query, { id })).post.title, title);
  const update = gql`mutation ($input: UpdatePostInput!) { updatePost(input: $input) { id title } }`;
  takeRequests();
  present(await client.mutation(update, { input: { id, title: "Changed" } }));
  assert.deepEqual(present(await client.query(query, { id })).post.title, "Changed");
  assert.deepEqual(takeRequests().map(({ method }) => method), ["POST"]);
  present(await client.mutation(gql`mutation ($id: ID!) { deletePost(id: $id) }`, { id }));
});

await prove("gets the codes of errors with status 400, 401 and 422, and both data and errors of a 294", async () => {
  const find = ({ error }) => error.graphQLErrors[0].extensions.code;
  const anonymous = connect();
  const invalid = gql`mutation { createPost(input: { title: "", body: "Text" }) { id } }`;
  takeRequests();
  assert.equal(find(await anonymous.query(gql`{ posts { unknown } }`, {})), "GRAPHQL_VALIDATION_FAILED");
  assert.equal(find(await anonymous.mutation(invalid, {})), "UNAUTHENTICATED");
  assert.equal(find(await connect(credential).mutation(invalid, {})), "INVALID");
  const partial = await anonymous.query(gql`{ posts(limit: 1) { id } author(id: 1) { posts(limit: 0) { id } } }`, {});
  assert.equal(partial.data.posts.length, 1);
  assert.equal(find(partial), "BAD_REQUEST");
  assert.deepEqual(takeRequests().map(({ status }) => status), [400, 401, 422, 294]);
});

await prove("uploads an image in two steps: announces it, sends the bytes to the address, and completes the upload", async () => {
  const client = connect(credential, [fetchExchange]);
  const bytes = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const input = { name: "dot.gif", contentType: "image/gif", size: bytes.length, sha256 };
  const announce = gql`
    mutation ($input: CreateUploadInput!) { createUpload(input: $input) { id url method headers { name value } } }
  `;
  const { createUpload } = present(await client.mutation(announce, { input }));
  const headers = Object.fromEntries(createUpload.headers.map(({ name, value }) => [name, value]));
  const sent = await fetch(createUpload.url, { method: createUpload.method, headers, body: bytes });
  assert.equal(sent.status, 200);
  const complete = gql`
    mutation ($input: CompleteUploadInput!) { completeUpload(input: $input) { image { id name contentType } } }
  `;
  const { image } = present(await client.mutation(complete, { input: { id: createUpload.id } })).completeUpload;
  assert.deepEqual([image.name, image.contentType], ["dot.gif", "image/gif"]);
  const remove = gql`mutation ($input: DeleteImageInput!) { deleteImage(input: $input) { deletedImageId } }`;
  assert.equal(present(await client.mutation(remove, { input: { id: image.id } })).deleteImage.deletedImageId, image.id);
});

await prove("automatic persisted queries: sends the hash by GET, then the text, then only the hash", async () => {
  const query = gql`query Own($n: Int = ${1 + (process.pid % 50)}) { posts(limit: $n) { id } }`;
  takeRequests();
  for (const statuses of [[400, 200], [200]]) {
    const client = connect({}, [persistedExchange({ preferGetForPersistedQueries: true }), fetchExchange]);
    assert.ok(present(await client.query(query, {})).posts.length > 0);
    const requests = takeRequests();
    assert.deepEqual(requests.map(({ status }) => status), statuses);
    assert.ok(!decodeURIComponent(requests[0].method + requests[0].url).includes("query Own"));
  }
});

await prove("retryExchange with an Idempotency-Key: a mutation whose response was lost is carried out once", async () => {
  const addKey = (operation) => operation.kind !== "mutation" ? operation : makeOperation(operation.kind, operation, {
    ...operation.context,
    fetchOptions: { headers: { "X-API-Key": API_KEY, "Idempotency-Key": randomUUID() } },
  });
  const exchanges = [mapExchange({ onOperation: addKey }), retryExchange({ initialDelayMs: 50 }), fetchExchange];
  const { fetch, responses } = loseFirstResponse();
  const client = connect({ fetch }, exchanges);
  const create = gql`mutation { createPost(input: { title: "Once by urql", body: "Text" }) { id } }`;
  const { createPost } = present(await client.mutation(create, {}));
  assert.deepEqual(responses.map(({ status, replayed }) => [status, replayed]), [[200, null], [200, "true"]]);
  assert.deepEqual(responses.map(({ body }) => body.data.createPost.id), [createPost.id, createPost.id]);
  present(await client.mutation(gql`mutation ($id: ID!) { deletePost(id: $id) }`, { id: createPost.id }));
});

await prove("fetchSubscriptions: gets an event of each change, and queries stay queries", async () => {
  const client = connect({ fetchSubscriptions: true, ...credential });
  const title = `Event for urql ${process.pid}`;
  const document = gql`subscription { events(types: ["post.*"]) { type subject ... on PostEvent { post { id title } } } }`;
  takeRequests();
  await new Promise((done, fail) => {
    let isCreated = false;
    const { unsubscribe } = client.subscription(document, {}, { url: STREAM_URL }).subscribe(({ data, error }) => {
      if (error) fail(error);
      isCreated ||= data.events.type === "post.created";
      if (isCreated && data.events.type === "post.updated" && data.events.post?.title === `${title}!`) {
        clearInterval(changes);
        setTimeout(unsubscribe); // in its callback, urql would not catch the end
        done();
      }
    });
    const changes = setInterval(() => changePosts(title).catch(fail), 1000); // it is not told that its stream has begun
  });
  assert.equal(takeRequests().filter(({ url }) => url.startsWith(STREAM_URL)).length, 1);
  present(await client.query(gql`{ posts(limit: 1) { id } }`, {}));
  assert.deepEqual(takeRequests().map(({ status }) => status), [200]);
});

await prove("fetchSubscriptions: gets the errors of a document", async () => {
  const client = connect({ fetchSubscriptions: true });
  const document = gql`subscription { events { unknown } }`;
  const error = await new Promise((done) => {
    client.subscription(document, {}, { url: STREAM_URL }).subscribe((result) => result.error && done(result.error));
  });
  assert.equal(error.graphQLErrors[0].extensions.code, "GRAPHQL_VALIDATION_FAILED");
});

await prove("fetchSubscriptions: says in the last result that a stream was cut", async () => {
  const { data: { posts: [{ id }] } } = await connect().query(gql`{ posts(limit: 1) { id } }`, {});
  const { url, cut } = await relay(STREAM_URL);
  const document = gql`subscription ($id: ID!) { post(id: $id) { id } }`;
  const last = await new Promise((done) => {
    connect({ fetchSubscriptions: true }).subscription(document, { id }, { url }).subscribe((result) => {
      if (result.hasNext) cut();
      else done(result);
    });
  });
  assert.equal(last.hasNext, false);
});
