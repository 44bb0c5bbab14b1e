// What the pages show: public posts, or in a preview what its token shows.

import { cache } from 'react';
import { ApiError, readResource, type Post } from './api';
import { findReason, leavePreview, readToken } from './preview';

/** Returns the newest posts. A preview of the whole site has drafts among them. */
export const readPosts = cache(async (): Promise<Post[]> => {
  const token = await readToken();
  const path = token ? '/posts?limit=20' : '/posts?limit=20&status=published';
  return (await read<{ data: Post[] }>(path, token))?.data ?? [];
});

/** Returns the post with this slug, now or earlier; null if it is not public and the preview does not show it. */
export const readPost = cache(async (slug: string): Promise<Post | null> => {
  const token = await readToken();
  const post = await read<Post>(`/posts/by-slug/${encodeURIComponent(slug)}`, token);
  // The key of the site may belong to a person who reads drafts.
  return token || post?.status === 'published' ? post : null;
});

async function read<Resource>(path: string, token?: string): Promise<Resource | null> {
  try {
    return await readResource<Resource>(path, token);
  } catch (error) {
    if (token && error instanceof ApiError && error.endsPreview) leavePreview(findReason(error));
    throw error;
  }
}

export function pathOfPost(slug: string): string {
  return `/blog/${encodeURIComponent(slug)}`;
}
