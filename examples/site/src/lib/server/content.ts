import { setTimeout } from 'node:timers/promises';
import type { TadaDocumentNode } from 'gql.tada';
import { building } from '$app/environment';
import { ApiError, query } from '$lib/api';
import type { ResultOf } from '$lib/graphql/graphql';
import { POST, POSTS, type SUMMARY } from '$lib/graphql/queries';

const PAGE_SIZE = 5;
const MAX_ATTEMPTS = 5;
const LONGEST_WAIT = 90; // seconds

export type Summary = ResultOf<typeof SUMMARY>;
export type Post = NonNullable<ResultOf<typeof POST>['post']>;
export type Comment = Post['commentsConnection']['edges'][number]['node'];

let pages: Promise<Summary[][]> | undefined;

/**
 * Returns the published posts, newest first, in pages. There is at least one page. A build reads them once, because all
 * its pages must show the same posts.
 */
export function readPages(): Promise<Summary[][]> {
  return building ? (pages ??= walkPages()) : walkPages();
}

async function walkPages(): Promise<Summary[][]> {
  const found: Summary[][] = [];
  let after: string | null = null;
  for (;;) {
    const { postsConnection }: ResultOf<typeof POSTS> = await read(POSTS, { first: PAGE_SIZE, after });
    found.push(postsConnection.edges.map((edge) => edge.node));
    if (!postsConnection.pageInfo.hasNextPage) return found;
    after = postsConnection.pageInfo.endCursor;
  }
}

/** Returns a published post with all its comments, oldest first; undefined if the public may not see it. */
export async function readPost(id: string): Promise<{ post: Post; comments: Comment[] } | undefined> {
  const comments: Comment[] = [];
  let after: string | null = null;
  for (;;) {
    const { post }: ResultOf<typeof POST> = await read(POST, { id, after });
    if (!post) return undefined;
    comments.push(...post.commentsConnection.edges.map((edge) => edge.node));
    if (!post.commentsConnection.pageInfo.hasNextPage) return { post, comments };
    after = post.commentsConnection.pageInfo.endCursor;
  }
}

/** Executes an anonymous query. Waits and tries again if the API is busy or limits the rate of requests. */
async function read<Data, Variables>(
  document: TadaDocumentNode<Data, Variables>,
  variables: Variables
): Promise<Data> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await query(document, variables);
    } catch (error) {
      if (!(error instanceof ApiError) || error.retryAfter === undefined || attempt === MAX_ATTEMPTS) throw error;
      const wait = Math.min(error.retryAfter, LONGEST_WAIT);
      console.warn(`${error.message} The next attempt is in ${wait} seconds.`);
      await setTimeout(wait * 1000);
    }
  }
}
