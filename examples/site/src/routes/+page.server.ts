import { readPages } from '$lib/server/content';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async () => {
  const pages = await readPages();
  return { posts: pages[0] ?? [], last: pages.length };
};
