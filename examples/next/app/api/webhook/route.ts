import { revalidatePath } from 'next/cache';
import type { NextRequest } from 'next/server';
import { Webhook } from 'standardwebhooks';
import type { Post } from '@/lib/api';
import { pathOfPost } from '@/lib/content';

/** An event of the API. `data` is the post; null if the webhook may not see it now. */
interface PostEvent {
  type: string;
  changes: string[];
  data: Post | null;
}

/**
 * Makes static pages again: a webhook of the API leads here, for the types `post.*`, `author.updated` and `image.*`.
 *
 * The signature proves that the API has sent the event, and that it is not older than five minutes. The same event may come
 * twice, which does no harm here.
 */
export async function POST(request: NextRequest): Promise<Response> {
  const { WEBHOOK_SECRET } = process.env;
  if (!WEBHOOK_SECRET) return new Response('WEBHOOK_SECRET is not set.', { status: 503 });
  const body = await request.text();
  try {
    new Webhook(WEBHOOK_SECRET).verify(body, Object.fromEntries(request.headers));
  } catch {
    return new Response('The signature is wrong.', { status: 401 });
  }
  revalidate(JSON.parse(body) as PostEvent);
  return new Response(null, { status: 204 });
}

/** Lets the next visit make the pages of an event again: the list and the page of a post, or everything. */
function revalidate({ type, changes, data }: PostEvent): void {
  const isOfOnePost = type.startsWith('post.') && data && !changes.includes('slug');
  if (isOfOnePost) {
    revalidatePath('/');
    revalidatePath(pathOfPost(data.slug));
  } else {
    // The page has another address than the event states, or nobody knows which pages show the author or the image.
    revalidatePath('/', 'layout');
  }
}
