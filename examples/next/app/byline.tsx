import type { Post } from '@/lib/api';

const NAMES = new Intl.ListFormat('en-GB');
const DATES = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: process.env.TIME_ZONE });

/** The authors of a post, with its date, or with its status if it is not public. */
export function Byline({ post }: { post: Post }) {
  const names = NAMES.format([post.author, ...post.coauthors].map((author) => author.name));
  return (
    <p className="details">
      By {names},{' '}
      {post.status === 'published' && post.publishedAt ? (
        <time dateTime={post.publishedAt}>{DATES.format(new Date(post.publishedAt))}</time>
      ) : (
        <strong>{post.status}</strong>
      )}
    </p>
  );
}
