// Every operation of operations.graphql that writes, and most of those that read, with their generated types.
import assert from "node:assert/strict";
import * as api from "../generated/operations/graphql";

const { API_KEY = "", GRAPHQL_URL = "" } = process.env;

async function ask<Data, Variables>(
  operation: api.TypedDocumentString<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const headers = { "Content-Type": "application/json", "X-API-Key": API_KEY };
  const body = JSON.stringify({ query: operation.toString(), variables });
  const response = await fetch(GRAPHQL_URL, { method: "POST", headers, body });
  const answer = (await response.json()) as { data?: Data; errors?: { message: string }[] };
  if (!answer.data || answer.errors) throw new Error(JSON.stringify(answer.errors));
  return answer.data;
}

function present<T>(value: T | null | undefined): T {
  assert.ok(value != null);
  return value;
}

const { viewer } = await ask(api.ViewerDocument, {});
assert.equal(viewer?.role, "admin");

const { createPost } = await ask(api.CreatePostDocument, { input: { title: "Typed", body: "By a client.", tags: ["a"] } });
const { id, version } = present(createPost);
const { updatePost } = await ask(api.UpdatePostDocument, { input: { id, title: "Typed again", expectedVersion: version } });
assert.equal(updatePost?.title, "Typed again");
const { schedulePost } = await ask(api.SchedulePostDocument, { input: { id, publishAt: "2100-01-01T00:00:00Z" } });
const { unpublishPost } = await ask(api.UnpublishPostDocument, { id });
const { publishPost } = await ask(api.PublishPostDocument, { id, expectedVersion: unpublishPost?.version });
const { addComment } = await ask(api.AddCommentDocument, { input: { postId: id, body: "First." } });
const { comment } = await ask(api.CommentDocument, { id: present(addComment).id });
assert.equal(comment?.body, "First.");
const { post: written } = await ask(api.PostDocument, { id });
const { title, tags, commentCount, author: writer } = present(written);
assert.deepEqual([title, tags, commentCount], ["Typed again", ["a"], 1]);

const { posts } = await ask(api.PostsDocument, { limit: 1, status: "published" });
const { author } = await ask(api.AuthorDocument, { id: writer.id, limit: 1 });
const { authors } = await ask(api.AuthorsDocument, {
  first: 1,
  order: { field: "name", direction: "desc" },
  posts: { field: "createdAt", direction: "asc" },
});
assert.deepEqual([posts.length, author?.posts.length, authors.edges.length], [1, 1, 1]);
const { nodes } = await ask(api.NodesDocument, { ids: [id, writer.id, "0"] });
assert.deepEqual(nodes.map((each) => each?.__typename ?? null), ["Post", "Author", null]);

const { createOrder } = await ask(api.CreateOrderDocument, { input: { total: 12.5 } });
const placed = present(createOrder).order;
assert.deepEqual([placed.total, placed.allowedActions], [12.5, ["cancel", "pay"]]);
const { payOrder } = await ask(api.PayOrderDocument, { input: { id: placed.id, expectedVersion: placed.version } });
const { orders } = await ask(api.OrdersDocument, { first: 1, order: { field: "createdAt", direction: "desc" } });
assert.deepEqual([payOrder?.order.status, orders?.edges[0]?.node.id], ["paid", placed.id]);

const email = `typed-${placed.id}@example.invalid`;
const { createUser } = await ask(api.CreateUserDocument, { input: { name: "Typed", email } });
const { deleteUser } = await ask(api.DeleteUserDocument, { input: { id: present(createUser).user.id } });
assert.equal(deleteUser?.deletedUserId, createUser?.user.id);

const { deleteComment } = await ask(api.DeleteCommentDocument, { id: present(addComment).id });
assert.equal(deleteComment, comment?.id);
const { archivePost } = await ask(api.ArchivePostDocument, { id });
const states: (api.PostStatus | undefined)[] = [createPost, schedulePost, unpublishPost, publishPost, archivePost].map(
  (each) => each?.status,
);
assert.deepEqual(states, ["draft", "scheduled", "draft", "published", "archived"]);
const { deletePost } = await ask(api.DeletePostDocument, { id });
const { post } = await ask(api.PostDocument, { id });
assert.deepEqual([deletePost, post], [id, null]);
console.log("executes an operation of each kind, whose selections have every field of the schema");

/** Nothing calls this: each line of it must be an error of the compiler. */
export async function makeMistakes(): Promise<void> {
  // @ts-expect-error There is no such field.
  present(posts[0]).titel;
  // @ts-expect-error The list can be empty.
  posts[0].title;
  // @ts-expect-error A text is no number.
  await ask(api.CreatePostDocument, { input: { title: "Typed", body: 1 } });
  // @ts-expect-error The enum has no such value.
  await ask(api.PostsDocument, { status: "lost" });
}
console.log("an unknown field, an item that may be missing and values of wrong types do not compile");
