import assert from "node:assert/strict";
import { createPost, deletePost, getOrder, listAuthors, listOrders, listPosts, updatePost } from "./content-api";
import type { Post } from "./content-api";
import { client } from "./content-api/client.gen";

const { API_KEY = "", API_URL = "" } = process.env;
client.setConfig({ baseUrl: API_URL, auth: API_KEY });

const posts: Post[] = [];
for (let cursor: string | undefined, more = true; more; ) {
  const { data, error } = await listPosts({ query: { limit: 3, cursor } });
  assert.ok(data, error?.error);
  posts.push(...data.data);
  cursor = data.next_cursor ?? undefined;
  more = cursor !== undefined;
}
assert.ok(posts.length >= 6);
assert.equal(new Set(posts.map(({ id }) => id)).size, posts.length);
console.log("follows next_cursor; pages and posts have types, which compile with tsc --strict");

const { data: page } = await listAuthors({ query: { offset: 1, limit: 1 } });
assert.deepEqual([page?.data.length, page?.offset, page?.limit], [1, 1, 1]);
console.log("reads a page by offset");

const created = await createPost({ body: { title: "By hey-api", body: "Text" } });
assert.ok(created.data);
const path = { post_id: created.data.id };
const changed = await updatePost({ path, body: { title: "Changed" } });
assert.deepEqual([changed.data?.title, changed.data?.status], ["Changed", "draft"]);
assert.equal((await deletePost({ path })).response.status, 204);
console.log("sends the API key of security schemes; creates, changes and deletes a post");

const { data: orders } = await listOrders();
const order = orders?.data[0];
assert.ok(order);
const { data: same } = await getOrder({ path: { order_id: order.id } });
assert.deepEqual(same, order);
assert.ok(same?._links.self?.href.startsWith("/orders/"));
console.log("reads an order with its links");

const { error, response } = await createPost({ body: { title: "", body: "Text" } });
assert.deepEqual([response.status, response.headers.get("X-Error-Code")], [422, "INVALID"]);
assert.ok(error?.error);
console.log("gets the typed body and the code of an error");
