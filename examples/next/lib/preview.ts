// The preview of a visit: Draft Mode of Next.js, and a cookie with the token.

import { cookies, draftMode } from 'next/headers';
import { redirect } from 'next/navigation';
import { ApiError, readResource, type Post, type Preview } from './api';

export const COOKIE = 'preview-token';
const TOKEN = /^cap_[0-9a-f]{64}$/;

// The routes that begin and end a preview. The first, without a token, leads to the post of the present one.
export const START = '/api/preview';
export const EXIT = '/api/preview/exit';

/** Why a preview has ended: the names of the pages below /preview. */
export const REASONS = ['expired', 'revoked'] as const;
export type Reason = (typeof REASONS)[number];

/** Returns the post that a token shows, and until when. Throws `ApiError`, also for a text that is no token. */
export async function readPreview(token: string): Promise<{ post: Post; expiresAt: string }> {
  const preview = TOKEN.test(token) ? await readResource<Preview>('/preview', token) : null;
  if (!preview?.post) throw new ApiError('The token shows no post.', 'UNAUTHENTICATED');
  return { post: preview.post, expiresAt: preview.expiresAt };
}

/** Begins a preview. No script can read the token, and the browser forgets it when the link expires. */
export async function startPreview(token: string, expiresAt: string): Promise<void> {
  (await draftMode()).enable();
  (await cookies()).set(COOKIE, token, {
    httpOnly: true,
    secure: process.env.NODE_ENV === 'production', // as the cookie of Draft Mode
    sameSite: 'lax', // not strict: people come from the desk, which is another site
    expires: new Date(expiresAt)
  });
}

export async function endPreview(): Promise<void> {
  (await draftMode()).disable();
  (await cookies()).delete(COOKIE);
}

/** Returns the token of the visit; undefined for a reader. Leaves a preview whose cookie has expired. */
export async function readToken(): Promise<string | undefined> {
  // Outside of Draft Mode, to read cookies would keep the page from being static.
  if (!(await draftMode()).isEnabled) return undefined;
  return (await cookies()).get(COOKIE)?.value ?? leavePreview('expired');
}

/** Leads to the route that ends the preview: a page cannot change cookies. */
export function leavePreview(reason: Reason): never {
  redirect(`${EXIT}?reason=${reason}`);
}

export function findReason(error: ApiError): Reason {
  return error.code === 'PREVIEW_EXPIRED' ? 'expired' : 'revoked';
}
