import assert from "node:assert/strict";
import { graphql, useFragment } from "../generated";
import type { PostStatus, TypedDocumentString } from "../generated/graphql";

const { API_KEY = "", GRAPHQL_URL = "", TRUSTED_GRAPHQL_URL = "" } = process.env;

type Result<Data> = { data?: Data | null; errors?: { message: string; extensions: { code: string } }[] };

async function execute<Data, Variables>(
  document: TypedDocumentString<Data, Variables>,
  variables: Variables,
  url = GRAPHQL_URL,
  send: "text" | "id" = "text",
): Promise<Result<Data>> {
  const meta = document.__meta__ as { hash: string };
  const name = send === "id" ? { documentId: meta.hash } : { query: document };
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": API_KEY },
    body: JSON.stringify({ ...name, variables }),
  });
  return (await response.json()) as Result<Data>;
}

const Card = graphql(`
  fragment Card on Post { id title status createdAt author { id name } }
`);
const PageQuery = graphql(`
  query Page($after: String) {
    postsConnection(first: 3, after: $after, filter: { status: published }) {
      edges { node { ...Card } }
      pageInfo { hasNextPage endCursor }
    }
  }
`);
const CreateMutation = graphql(`
  mutation Create($input: CreatePostInput!) { createPost(input: $input) { ...Card } }
`);
const DeleteMutation = graphql(`
  mutation Delete($id: ID!) { deletePost(id: $id) }
`);

const titles: string[] = [];
const readPage = async (after: string | null) => {
  const { data } = await execute(PageQuery, { after });
  assert.ok(data);
  titles.push(...data.postsConnection.edges.map(({ node }) => useFragment(Card, node).title));
  return data.postsConnection.pageInfo;
};
let page = await readPage(null);
while (page.hasNextPage) page = await readPage(page.endCursor ?? null);
assert.ok(titles.length >= 6);
assert.equal(new Set(titles).size, titles.length);
console.log("follows cursors with the types of the client preset, which compile with tsc --strict");

const created = await execute(CreateMutation, { input: { title: "By codegen", body: "Text" } });
const card = useFragment(Card, created.data?.createPost);
assert.ok(card);
const status: PostStatus = card.status;
assert.equal(status, "draft");
const deleted = await execute(DeleteMutation, { id: card.id });
assert.equal(deleted.data?.deletePost, card.id);
console.log("creates and deletes a post");

const refused = await execute(CreateMutation, { input: { title: "", body: "Text" } });
assert.equal(refused.errors?.[0]?.extensions.code, "INVALID");
console.log("gets the codes of errors");

const trusted = await execute(PageQuery, {}, TRUSTED_GRAPHQL_URL, "id");
assert.ok(trusted.data?.postsConnection.edges.length);
const untrusted = await fetch(TRUSTED_GRAPHQL_URL, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ query: "{ posts { body } }" }),
});
const { errors } = (await untrusted.json()) as Result<unknown>;
assert.equal(errors?.[0]?.extensions.code, "DOCUMENT_NOT_FOUND");
console.log("trusted documents: executes the manifest of persistedDocuments by documentId, and nothing else");
