import { cookies } from 'next/headers';
import { redirect } from 'next/navigation';
import type { NextRequest } from 'next/server';
import { ApiError } from '@/lib/api';
import { pathOfPost } from '@/lib/content';
import { COOKIE, findReason, leavePreview, readPreview, startPreview } from '@/lib/preview';

/**
 * Begins a preview: CONTENTAPI_PREVIEW_URL of the API leads here.
 *
 * The API states which post the token shows, and that is where the visit goes. An address in the query string is ignored:
 * it could lead to another site, or to a slug that has changed since the link was created. Without a token in the query
 * string, the visit goes to the post of its own preview.
 */
export async function GET(request: NextRequest): Promise<Response> {
  const token = request.nextUrl.searchParams.get('token') ?? (await cookies()).get(COOKIE)?.value ?? '';
  const preview = await readPreview(token).catch(refuse);
  if (preview instanceof Response) return preview;
  await startPreview(token, preview.expiresAt);
  redirect(pathOfPost(preview.post.slug));
}

function refuse(error: unknown): Response {
  if (!(error instanceof ApiError)) throw error;
  if (error.endsPreview) leavePreview(findReason(error));
  console.error(error.message);
  return new Response('The preview cannot be shown at present. Load this page again in a minute.', { status: 503 });
}
