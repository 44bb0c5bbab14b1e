import { addressOf, pathOfList, pathOfPost } from '$lib/paths';
import { type Post, readPosts } from '$lib/server/content';
import { escapeXml, respondWith } from '$lib/server/xml';
import { resolve } from '$app/paths';
import { PUBLIC_SITE_DESCRIPTION, PUBLIC_SITE_NAME } from '$env/static/public';
import type { RequestHandler } from './$types';

const LENGTH = 20;

export const prerender = true;

/** An Atom feed (RFC 4287) of the newest posts, with their full texts. */
export const GET: RequestHandler = async () => {
  const posts = (await readPosts()).slice(0, LENGTH);
  const updated = posts.length ? Math.max(...posts.map((post) => Date.parse(post.updatedAt))) : Date.now();
  return respondWith('application/atom+xml', [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">',
    `<id>${escapeXml(addressOf(pathOfList('')))}</id>`,
    `<title>${escapeXml(PUBLIC_SITE_NAME)}</title>`,
    `<subtitle>${escapeXml(PUBLIC_SITE_DESCRIPTION)}</subtitle>`,
    `<updated>${new Date(updated).toISOString()}</updated>`,
    `<link rel="self" type="application/atom+xml" href="${escapeXml(addressOf(resolve('/feed.xml')))}"/>`,
    `<link rel="alternate" type="text/html" href="${escapeXml(addressOf(pathOfList('')))}"/>`,
    ...posts.flatMap(renderEntry),
    '</feed>'
  ]);
};

function renderEntry(post: Post): string[] {
  const address = addressOf(pathOfPost(post.slug));
  return [
    '<entry>',
    `<id>${escapeXml(nameOf(post))}</id>`,
    `<title>${escapeXml(post.title)}</title>`,
    `<link rel="alternate" type="text/html" href="${escapeXml(address)}"/>`,
    `<published>${post.publishedAt ?? post.createdAt}</published>`,
    `<updated>${post.updatedAt}</updated>`,
    ...[post.author, ...post.coauthors].map(({ name }) => `<author><name>${escapeXml(name)}</name></author>`),
    ...post.tags.map((tag) => `<category term="${escapeXml(tag)}"/>`),
    `<summary>${escapeXml(post.excerpt)}</summary>`,
    `<content type="html" xml:base="${escapeXml(address)}">${escapeXml(post.bodyHtml ?? '')}</content>`,
    '</entry>'
  ];
}

/** Returns the id of an entry, which stays when the address of the post changes: a tag URI (RFC 4151). */
function nameOf(post: Post): string {
  return `tag:${new URL(addressOf('/')).hostname},${new Date(post.createdAt).toISOString().slice(0, 10)}:posts/${post.id}`;
}
