import { addressOf, pathOfList, pathOfPost } from '$lib/paths';
import { readPosts } from '$lib/server/content';
import { readListPages } from '$lib/server/lists';
import { escapeXml, respondWith } from '$lib/server/xml';
import type { RequestHandler } from './$types';

export const prerender = true;

/** Every page for search engines, but the copies of texts whose originals are elsewhere. */
export const GET: RequestHandler = async () => {
  const posts = (await readPosts()).filter((post) => post.canonicalUrl === null);
  const pages = [...(await readListPages()).values()].filter((page) => page.teasers.length);
  return respondWith('application/xml', [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
    ...pages.map(({ list, number }) => `<url><loc>${escapeXml(addressOf(pathOfList(list, number)))}</loc></url>`),
    ...posts.map(
      (post) => `<url><loc>${escapeXml(addressOf(pathOfPost(post.slug)))}</loc><lastmod>${post.updatedAt}</lastmod></url>`
    ),
    '</urlset>'
  ]);
};
