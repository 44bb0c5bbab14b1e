import { listOfAuthor, listOfTag, nameOfPage } from '$lib/paths';
import { PUBLIC_SITE_DESCRIPTION } from '$env/static/public';
import { type Post, readPosts } from './content';

const PAGE_SIZE = 5;

/** A list of posts: all of them, those of a tag, or those of an author. */
interface List {
  title: string;
  /** A sentence about it, for its first page and for search engines. */
  about: string;
  posts: Post[];
}

/** Returns the pages of all lists, by their names. The list of all posts is the first. */
export async function readListPages(): Promise<Map<string, ListPage>> {
  const lists = groupPosts(await readPosts());
  const pages = [...lists].flatMap(([name, list]) => splitList(name, list));
  return new Map(pages.map((page) => [nameOfPage(page.list, page.number), page]));
}

function groupPosts(posts: Post[]): Map<string, List> {
  const lists = new Map<string, List>([['', { title: 'Newest posts', about: PUBLIC_SITE_DESCRIPTION, posts }]]);
  for (const post of posts) {
    for (const tag of post.tags) add(listOfTag(tag), `Posts about “${tag}”`, '', post);
    for (const author of [post.author, ...post.coauthors]) {
      add(listOfAuthor(author), `Posts by ${author.name}`, author.bio, post);
    }
  }
  return lists;

  function add(name: string, title: string, about: string, post: Post): void {
    const list = lists.get(name) ?? { title, about, posts: [] };
    lists.set(name, list);
    if (!list.posts.includes(post)) list.posts.push(post); // two tags may share a page
  }
}

type ListPage = ReturnType<typeof splitList>[number];

function splitList(name: string, { title, about, posts }: List) {
  const last = Math.max(1, Math.ceil(posts.length / PAGE_SIZE));
  return Array.from({ length: last }, (_, index) => ({
    list: name,
    title: index ? `${title}, page ${index + 1} of ${last}` : title,
    about: index ? '' : about,
    teasers: posts.slice(index * PAGE_SIZE, (index + 1) * PAGE_SIZE).map(toTeaser),
    number: index + 1,
    last
  }));
}

/** Returns what a list shows of a post. */
function toTeaser({ id, slug, title, excerpt, cover, author, coauthors, publishedAt, createdAt, comments }: Post) {
  const time = publishedAt ?? createdAt;
  return { id, slug, title, excerpt, cover, author, coauthors, time, commentCount: comments.length };
}
