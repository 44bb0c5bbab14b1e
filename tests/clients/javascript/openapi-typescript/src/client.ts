import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./content-api";

const { API_KEY = "", API_URL = "" } = process.env;
const anonymous = createClient<paths, "application/json">({ baseUrl: API_URL });
const client = createClient<paths, "application/json">({ baseUrl: API_URL, headers: { "X-API-Key": API_KEY } });

const posts: components["schemas"]["Post"][] = [];
for (let cursor: string | undefined, more = true; more; ) {
  const { data, error } = await anonymous.GET("/posts", { params: { query: { limit: 3, cursor } } });
  assert.ok(data, error?.error);
  posts.push(...data.data);
  cursor = data.next_cursor ?? undefined;
  more = cursor !== undefined;
}
assert.ok(posts.length >= 6);
assert.equal(new Set(posts.map(({ id }) => id)).size, posts.length);
assert.ok(posts.every(({ author, tags, title }) => author.name.length && Array.isArray(tags) && title.length));
console.log("follows next_cursor; pages and posts have types, which compile with tsc --strict");

const { data: page } = await anonymous.GET("/authors", { params: { query: { offset: 1, limit: 1 } } });
assert.ok(page);
assert.deepEqual([page.data.length, page.offset, page.limit], [1, 1, 1]);
assert.ok(page.total && page.total > 1);
console.log("reads a page by offset");

const created = await client.POST("/posts", { body: { title: "By openapi-fetch", body: "Text", tags: ["types"] } });
assert.ok(created.data);
const params = { path: { post_id: created.data.id } };
assert.equal(created.response.headers.get("Location"), `/posts/${created.data.id}`);
const changed = await client.PATCH("/posts/{post_id}", { params, body: { title: "Changed" } });
assert.deepEqual([changed.data?.title, changed.data?.status], ["Changed", "draft"]);
assert.equal((await client.DELETE("/posts/{post_id}", { params })).response.status, 204);
console.log("creates, changes and deletes a post");

const { error, response } = await client.POST("/posts", { body: { title: "", body: "Text" } });
assert.deepEqual([response.status, response.headers.get("X-Error-Code")], [422, "INVALID"]);
assert.ok(error?.error);
assert.equal((await anonymous.GET("/orders")).response.status, 401);
console.log("gets the typed body and the code of an error");
