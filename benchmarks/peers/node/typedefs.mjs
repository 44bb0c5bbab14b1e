// The schema that the JavaScript peers share. No imports: Bun reads it as well.
export const typeDefs = /* GraphQL */ `
  enum PostStatus { draft published }
  scalar DateTime
  type Author { id: ID! name: String! bio: String! avatarUrl: String! email: String! }
  type Comment { id: ID! body: String! author: Author! }
  type Post {
    id: ID! title: String! body: String! status: PostStatus! author: Author!
    comments: [Comment!]! commentCount: Int! createdAt: DateTime! updatedAt: DateTime! tags: [String!]!
  }
  input CreatePostInput { title: String! body: String! authorId: ID! }
  type Query {
    post(id: ID!): Post
    posts(limit: Int = 10, status: PostStatus): [Post!]!
  }
  type Mutation { createPost(input: CreatePostInput!): Post }
`
