import { graphql } from './graphql';

export const SUMMARY = graphql(`
  fragment Summary on Post @_unmask {
    id
    title
    author {
      name
    }
    commentCount
    createdAt
    publishedAt
  }
`);

export const ARTICLE = graphql(`
  fragment Article on Post @_unmask {
    id
    title
    body
    status
    author {
      name
      bio
    }
    tags
    createdAt
    updatedAt
    publishAt
    publishedAt
  }
`);

export const POSTS = graphql(
  `
    query Posts($first: Int!, $after: String) {
      postsConnection(first: $first, after: $after, filter: { status: published }, orderBy: publishedAtDesc) {
        edges {
          node {
            ...Summary
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  `,
  [SUMMARY]
);

export const POST = graphql(
  `
    query Post($id: ID!, $after: String) {
      post(id: $id) {
        ...Article
        commentsConnection(first: 100, after: $after) {
          edges {
            node {
              id
              body
              createdAt
              author {
                name
              }
            }
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  `,
  [ARTICLE]
);

export const UNPUBLISHED = graphql(`
  fragment Unpublished on Post @_unmask {
    id
    title
    author {
      name
    }
    updatedAt
    publishAt
  }
`);

export const DRAFTS = graphql(
  `
    query Drafts {
      viewer {
        scopes
        user {
          name
        }
      }
      drafts: postsConnection(first: 50, filter: { status: draft }, orderBy: updatedAtDesc) {
        totalCount
        edges {
          node {
            ...Unpublished
          }
        }
      }
      scheduled: postsConnection(first: 50, filter: { status: scheduled }, orderBy: updatedAtDesc) {
        totalCount
        edges {
          node {
            ...Unpublished
          }
        }
      }
    }
  `,
  [UNPUBLISHED]
);

export const DRAFT = graphql(
  `
    query Draft($id: ID!) {
      viewer {
        scopes
      }
      post(id: $id) {
        ...Article
      }
    }
  `,
  [ARTICLE]
);
