import { resolve } from '$app/paths';
import { PUBLIC_SITE_URL } from '$env/static/public';

// Each page is a folder with an index.html. Without the slash at the end, a host would redirect each request.

/** Returns the path of a page of a list: "" is the list of all posts, "tags/harbour" that of a tag. */
export function pathOfList(list: string, number = 1): string {
  const path = nameOfPage(list, number);
  return path ? `${resolve('/[...path]', { path })}/` : resolve('/');
}

/** Returns the path of a page of a list inside the site, as the parameter of its route: "tags/harbour/page/2". */
export function nameOfPage(list: string, number: number): string {
  return [list, number > 1 ? `page/${number}` : ''].filter(Boolean).join('/');
}

export function pathOfPost(slug: string): string {
  return `${resolve('/posts/[slug]', { slug })}/`;
}

export function pathOfDrafts(id?: string): string {
  return `${resolve('/drafts')}/${id === undefined ? '' : `?post=${encodeURIComponent(id)}`}`;
}

/** Returns the list of an author, for `pathOfList`. */
export function listOfAuthor(author: { id: string }): string {
  return `authors/${author.id}`;
}

/**
 * Returns the list of a tag: "Café & C#" is "tags/café-c-sharp". Tags that differ in case, spaces or punctuation only share
 * a page.
 */
export function listOfTag(tag: string): string {
  const name = tag
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('#', '-sharp')
    .replace(/[^\p{L}\p{M}\p{N}+]+/gu, '-')
    .replace(/^-|-$/g, '');
  // A tag without letters, such as an emoji, has its code points: "u1f980".
  return `tags/${name || Array.from(tag, (character) => `u${character.codePointAt(0)?.toString(16)}`).join('-')}`;
}

/** Returns the absolute address of a path, with characters of other scripts encoded. */
export function addressOf(path: string): string {
  return new URL(path, PUBLIC_SITE_URL).href;
}
