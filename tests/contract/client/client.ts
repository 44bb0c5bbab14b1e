// A client whose every request and answer has the types that graphql-codegen made of the SDL: `node client.js URL KEY`.
import * as api from "./generated.js";

declare const process: { argv: string[] };
const [url = "", key = ""] = process.argv.slice(2);

async function ask<Data, Variables>(
  operation: api.TypedDocumentString<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const headers = { "Content-Type": "application/json", "X-API-Key": key };
  const body = JSON.stringify({ query: operation.toString(), variables });
  const response = await fetch(url, { method: "POST", headers, body });
  const answer = (await response.json()) as { data?: Data; errors?: { message: string }[] };
  if (!answer.data || answer.errors) throw new Error(JSON.stringify(answer.errors));
  return answer.data;
}

function present<T>(value: T | null | undefined): T {
  if (value == null) throw new Error("This was not to be null.");
  return value;
}

const { viewer } = await ask(api.ViewerDocument, {});
const { createPost } = await ask(api.CreatePostDocument, { input: { title: "Typed", body: "By a client.", tags: ["a"] } });
const { id, version } = present(createPost);
const { updatePost } = await ask(api.UpdatePostDocument, { input: { id, title: "Typed again", expectedVersion: version } });
const { schedulePost } = await ask(api.SchedulePostDocument, { input: { id, publishAt: "2100-01-01T00:00:00Z" } });
const { unpublishPost } = await ask(api.UnpublishPostDocument, { id });
const { publishPost } = await ask(api.PublishPostDocument, { id, expectedVersion: unpublishPost?.version });
const { addComment } = await ask(api.AddCommentDocument, { input: { postId: id, body: "First." } });
const { posts } = await ask(api.PostsDocument, { limit: 1, status: "published" });
const newest = present(posts[0]);
const { author } = await ask(api.AuthorDocument, { id: newest.author.id, limit: 1 });
const { comment } = await ask(api.CommentDocument, { id: present(addComment).id });
const { authors } = await ask(api.AuthorsDocument, {
  first: 1,
  order: { field: "name", direction: "desc" },
  posts: { field: "createdAt", direction: "asc" },
});
const { createOrder } = await ask(api.CreateOrderDocument, { input: { total: 12.5 } });
const placed = present(createOrder).order;
const { payOrder } = await ask(api.PayOrderDocument, { input: { id: placed.id, expectedVersion: placed.version } });
const { orders } = await ask(api.OrdersDocument, { first: 1, order: { field: "createdAt", direction: "desc" } });
const email = `typed-${placed.id}@example.invalid`;
const { createUser } = await ask(api.CreateUserDocument, { input: { name: "Typed", email } });
const { deleteUser } = await ask(api.DeleteUserDocument, { input: { id: present(createUser).user.id } });
const { nodes } = await ask(api.NodesDocument, { ids: [newest.id, newest.author.id, "0"] });
const { deleteComment } = await ask(api.DeleteCommentDocument, { id: present(addComment).id });
const { archivePost } = await ask(api.ArchivePostDocument, { id });
const { deletePost } = await ask(api.DeletePostDocument, { id });
const { post } = await ask(api.PostDocument, { id });

const states: (api.PostStatus | undefined)[] = [createPost, schedulePost, unpublishPost, publishPost, archivePost].map(
  (each) => each?.status,
);
console.log(
  JSON.stringify({
    role: viewer?.role,
    states,
    title: updatePost?.title,
    newest: { title: newest.title, tags: newest.tags, comments: newest.comments.map((comment) => comment.body) },
    newestOfAuthor: author?.posts[0]?.title,
    nodes: nodes.map((each) => each?.__typename ?? null),
    comment: comment?.body,
    authors: authors.edges.length,
    order: { total: placed.total, actions: placed.allowedActions, status: payOrder?.order.status },
    newestOrder: orders?.edges[0]?.node.id === placed.id,
    deletedTheUser: deleteUser?.deletedUserId === createUser?.user.id,
    deletedTheComment: deleteComment === addComment?.id,
    deletedThePost: deletePost === id,
    post,
  }),
);
