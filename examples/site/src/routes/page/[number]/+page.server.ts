import { error } from '@sveltejs/kit';
import { readPages } from '$lib/server/content';
import type { EntryGenerator, PageServerLoad } from './$types';

/** The pages after the first one, which is the home page. */
export const entries: EntryGenerator = async () => {
  const pages = await readPages();
  return pages.slice(1).map((_, index) => ({ number: String(index + 2) }));
};

export const load: PageServerLoad = async ({ params }) => {
  const pages = await readPages();
  const number = Number(params.number);
  const posts = pages[number - 1];
  if (!posts || number < 2) error(404, 'This page does not exist');
  return { posts, number, last: pages.length };
};
