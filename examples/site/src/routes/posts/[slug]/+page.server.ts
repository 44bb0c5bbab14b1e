import { error, redirect } from '@sveltejs/kit';
import { pathOfPost } from '$lib/paths';
import { readPosts } from '$lib/server/content';
import type { EntryGenerator, PageServerLoad } from './$types';

/** The present and the old slugs of all posts. */
export const entries: EntryGenerator = async () => {
  const posts = await readPosts();
  return posts.flatMap((post) => [post.slug, ...post.oldSlugs]).map((slug) => ({ slug }));
};

export const load: PageServerLoad = async ({ params }) => {
  const posts = await readPosts();
  const post = posts.find(({ slug }) => slug === params.slug);
  if (post) return { post };
  const moved = posts.find(({ oldSlugs }) => oldSlugs.includes(params.slug));
  if (moved) redirect(308, pathOfPost(moved.slug)); // the build writes a page that leads there, for every host
  error(404, 'This post does not exist');
};
