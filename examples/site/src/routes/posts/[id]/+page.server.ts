import { error } from '@sveltejs/kit';
import { readPages, readPost } from '$lib/server/content';
import type { EntryGenerator, PageServerLoad } from './$types';

export const entries: EntryGenerator = async () => {
  const pages = await readPages();
  return pages.flat().map(({ id }) => ({ id }));
};

export const load: PageServerLoad = async ({ params }) => {
  const found = await readPost(params.id);
  // Also for a post that was unpublished after the build had read the list: the build fails, and the next one succeeds.
  if (!found) error(404, 'This post does not exist');
  return found;
};
