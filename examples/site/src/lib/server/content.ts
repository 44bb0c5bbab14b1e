import { setTimeout } from 'node:timers/promises';
import type { TadaDocumentNode } from 'gql.tada';
import { building } from '$app/environment';
import { env } from '$env/dynamic/private';
import { ApiError, query } from '$lib/api';
import type { ResultOf } from '$lib/graphql/graphql';
import { COMMENTS, POSTS } from '$lib/graphql/queries';

const MAX_ATTEMPTS = 5;
const LONGEST_WAIT = 90; // seconds
const SCOPE = 'posts:read';

type Node = ResultOf<typeof POSTS>['postsConnection']['edges'][number]['node'];
type CommentsPage = Node['commentsConnection'];

export type Comment = CommentsPage['edges'][number]['node'];
export type Post = Omit<Node, 'commentsConnection'> & { comments: Comment[] };

let posts: Promise<Post[]> | undefined;

/**
 * Returns all published posts with their comments, newest first. A build reads them once, because all its pages must show
 * the same posts.
 */
export function readPosts(): Promise<Post[]> {
  return building ? (posts ??= walkPosts()) : walkPosts();
}

async function walkPosts(): Promise<Post[]> {
  const found: Post[] = [];
  for (let after: string | null = null; ; ) {
    const { viewer, postsConnection }: ResultOf<typeof POSTS> = await read(POSTS, { after });
    checkScopes(viewer?.scopes);
    for (const { node } of postsConnection.edges) found.push(await complete(node));
    if (!postsConnection.pageInfo.hasNextPage) return found;
    after = postsConnection.pageInfo.endCursor;
  }
}

/** Throws `ApiError` if the key of the build may do more than a build needs. */
function checkScopes(scopes: string[] = []): void {
  const more = scopes.filter((scope) => scope !== SCOPE);
  if (more.length) throw new ApiError(`API_KEY needs the scope ${SCOPE} only, and has ${more.join(', ')} too.`);
}

async function complete({ commentsConnection, ...post }: Node): Promise<Post> {
  if (post.bodyHtml === null) throw new ApiError(`“${post.title}” is not rendered yet. Build again in ten seconds.`);
  let page: CommentsPage = commentsConnection;
  const comments = page.edges.map((edge) => edge.node);
  while (page.pageInfo.hasNextPage) {
    const next: ResultOf<typeof COMMENTS> = await read(COMMENTS, { id: post.id, after: page.pageInfo.endCursor });
    if (!next.post) throw new ApiError(`“${post.title}” was unpublished during the build. Build again.`);
    page = next.post.commentsConnection;
    comments.push(...page.edges.map((edge) => edge.node));
  }
  return { ...post, comments };
}

/** Executes a query with the key, if there is one. Waits and tries again if the API is busy or limits the requests. */
async function read<Data, Variables>(
  document: TadaDocumentNode<Data, Variables>,
  variables: Variables
): Promise<Data> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await query(document, variables, env.API_KEY || undefined);
    } catch (error) {
      if (!(error instanceof ApiError) || error.retryAfter === undefined || attempt === MAX_ATTEMPTS) throw error;
      const wait = Math.min(error.retryAfter, LONGEST_WAIT);
      console.warn(`${error.message} The next attempt is in ${wait} seconds.`);
      await setTimeout(wait * 1000);
    }
  }
}
