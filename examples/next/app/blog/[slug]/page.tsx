import type { Metadata } from 'next';
import { notFound, permanentRedirect } from 'next/navigation';
import { Byline } from '@/app/byline';
import { pathOfPost, readPost } from '@/lib/content';

type Properties = PageProps<'/blog/[slug]'>;

/** No post is built in advance. The page of a public post is made when it is first read, and then kept for a minute. */
export function generateStaticParams() {
  return [];
}

export async function generateMetadata({ params }: Properties): Promise<Metadata> {
  const post = await readPost((await params).slug);
  if (!post) return {};
  const canonical = post.canonicalUrl ?? post.url;
  return { title: post.title, description: post.description, alternates: canonical ? { canonical } : undefined };
}

export default async function Page({ params }: Properties) {
  const { slug } = await params;
  const post = await readPost(slug);
  if (!post) notFound();
  if (post.slug !== slug) permanentRedirect(pathOfPost(post.slug)); // an old slug
  return (
    <article>
      <h1>{post.title}</h1>
      <Byline post={post} />
      {/* The API returns safe HTML. */}
      <div className="text" dangerouslySetInnerHTML={{ __html: post.bodyHtml ?? '' }} />
    </article>
  );
}
