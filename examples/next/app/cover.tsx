import { thumbHashToDataURL } from 'thumbhash';
import type { Post } from '@/lib/api';

/**
 * The cover of a post, above a blurred placeholder; nothing without one. Width and height keep its place until it is there. A
 * list crops it around its focal point.
 */
export function Cover({ post, isFirst }: { post: Post; isFirst: boolean }) {
  const { cover } = post;
  if (!cover?.image.url) return null;
  const { alt, image } = cover;
  const placeholder = thumbHashToDataURL(Buffer.from(image.thumbhash, 'base64'));
  return (
    <img
      className="cover"
      src={cover.image.url}
      srcSet={image.srcset}
      sizes="(min-width: 44rem) 41.5rem, calc(100vw - 2.5rem)"
      width={image.width}
      height={image.height}
      alt={alt}
      loading={isFirst ? 'eager' : 'lazy'}
      fetchPriority={isFirst ? 'high' : 'auto'}
      style={{
        backgroundImage: `url(${placeholder})`,
        objectPosition: `${100 * image.focalPoint.x}% ${100 * image.focalPoint.y}%`
      }}
    />
  );
}
