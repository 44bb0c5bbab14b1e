import { resolve } from '$app/paths';

// Each page is a folder with an index.html. Without the slash at the end, a host would redirect each request.

export function pathOfPage(number: number): string {
  return number === 1 ? resolve('/') : `${resolve('/page/[number]', { number: String(number) })}/`;
}

export function pathOfPost(id: string): string {
  return `${resolve('/posts/[id]', { id })}/`;
}

export function pathOfDrafts(id?: string): string {
  return `${resolve('/drafts')}/${id === undefined ? '' : `?post=${encodeURIComponent(id)}`}`;
}
