import { graphql } from './graphql';

export const COVER = graphql(`
  fragment Cover on PostImage @_unmask {
    alt
    image {
      width
      height
      srcset
      thumbhash
      url(width: 960, format: jpeg)
      card: url(width: 1280, format: jpeg)
    }
  }
`);

export const ARTICLE = graphql(
  `
    fragment Article on Post @_unmask {
      id
      slug
      url
      canonicalUrl
      title
      excerpt
      description
      bodyHtml
      cover {
        ...Cover
      }
      status
      author {
        id
        name
        bio
      }
      coauthors {
        id
        name
        bio
      }
      tags
      createdAt
      updatedAt
      publishAt
      publishedAt
    }
  `,
  [COVER]
);

const COMMENTS_PAGE = graphql(`
  fragment CommentsPage on CommentConnection @_unmask {
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
`);

export const POSTS = graphql(
  `
    query Posts($after: String) {
      viewer {
        scopes
      }
      postsConnection(first: 20, after: $after, filter: { status: published }, orderBy: publishedAtDesc) {
        edges {
          node {
            ...Article
            oldSlugs
            commentsConnection(first: 100) {
              ...CommentsPage
            }
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  `,
  [ARTICLE, COMMENTS_PAGE]
);

export const COMMENTS = graphql(
  `
    query Comments($id: ID!, $after: String) {
      post(id: $id) {
        commentsConnection(first: 100, after: $after) {
          ...CommentsPage
        }
      }
    }
  `,
  [COMMENTS_PAGE]
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
