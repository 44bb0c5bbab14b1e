import { error } from '@sveltejs/kit';
import { readListPages } from '$lib/server/lists';
import type { EntryGenerator, PageServerLoad } from './$types';

/** The pages of all lists. Every path without a file of its own is one of them, or does not exist. */
export const entries: EntryGenerator = async () => [...(await readListPages()).keys()].map((path) => ({ path }));

export const load: PageServerLoad = async ({ params }) => {
  const page = (await readListPages()).get(params.path.replace(/\/$/, ''));
  if (!page) error(404, 'This page does not exist');
  return page;
};
