import { pathOfPost, readPosts } from '@/lib/content';
import { Byline } from './byline';
import { Cover } from './cover';

export default async function Page() {
  const posts = await readPosts();
  return (
    <>
      <h1>Newest posts</h1>
      <ol className="posts">
        {posts.map((post, place) => (
          <li key={post.slug}>
            <Cover post={post} isFirst={place === 0} />
            <h2>
              <a href={pathOfPost(post.slug)}>{post.title}</a>
            </h2>
            <Byline post={post} />
            <p>{post.excerpt}</p>
          </li>
        ))}
      </ol>
    </>
  );
}
