import assert from "node:assert/strict";
import { Client, fetchExchange } from "@urql/core";
import { readFragment, type VariablesOf } from "gql.tada";
import { graphql } from "./graphql";

const { API_KEY = "", GRAPHQL_URL = "" } = process.env;
const client = new Client({
  url: GRAPHQL_URL,
  exchanges: [fetchExchange],
  fetchOptions: { headers: { "X-API-Key": API_KEY } },
});

const Card = graphql(`
  fragment Card on Post { id title status createdAt author { id name } }
`);
const PageQuery = graphql(
  `
    query Page($after: String) {
      postsConnection(first: 3, after: $after, filter: { status: published }) {
        edges { node { ...Card } }
        pageInfo { hasNextPage endCursor }
      }
    }
  `,
  [Card],
);
const CreateMutation = graphql(
  `mutation Create($input: CreatePostInput!) { createPost(input: $input) { ...Card } }`,
  [Card],
);
const DeleteMutation = graphql(`mutation Delete($id: ID!) { deletePost(id: $id) }`);

const titles: string[] = [];
const readPage = async (after: string | null) => {
  const { data, error } = await client.query(PageQuery, { after });
  assert.ifError(error);
  assert.ok(data);
  titles.push(...data.postsConnection.edges.map(({ node }) => readFragment(Card, node).title));
  return data.postsConnection.pageInfo;
};
let page = await readPage(null);
while (page.hasNextPage) page = await readPage(page.endCursor);
assert.ok(titles.length >= 6);
assert.equal(new Set(titles).size, titles.length);
console.log("follows cursors through urql with inferred types; gql.tada check and tsc --strict find no error");

const input: VariablesOf<typeof CreateMutation>["input"] = { title: "By gql.tada", body: "Text", tags: ["types"] };
const created = await client.mutation(CreateMutation, { input });
const card = readFragment(Card, created.data?.createPost);
assert.ok(card);
const status: "draft" | "scheduled" | "published" | "archived" = card.status;
assert.equal(status, "draft");
assert.equal((await client.mutation(DeleteMutation, { id: card.id })).data?.deletePost, card.id);
console.log("creates and deletes a post");

const refused = await client.mutation(CreateMutation, { input: { title: "", body: "Text" } });
assert.equal(refused.error?.graphQLErrors[0]?.extensions["code"], "INVALID");
console.log("gets the codes of errors");
