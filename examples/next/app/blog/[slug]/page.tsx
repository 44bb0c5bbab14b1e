import type { Metadata } from 'next';
import { notFound, permanentRedirect } from 'next/navigation';
import { Byline } from '@/app/byline';
import { Cover } from '@/app/cover';
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
  const { title, description, cover } = post;
  const images = cover?.image.url ? [{ url: cover.image.url, alt: cover.alt }] : [];
  return {
    title,
    description,
    alternates: canonical ? { canonical } : undefined,
    openGraph: { title, description, type: 'article', images }
  };
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
      <Cover post={post} isFirst />
      {/* The API returns safe HTML. */}
      <div className="text" dangerouslySetInnerHTML={{ __html: post.bodyHtml ?? '' }} />
    </article>
  );
}
