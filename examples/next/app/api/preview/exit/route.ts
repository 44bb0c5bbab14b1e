import { redirect } from 'next/navigation';
import type { NextRequest } from 'next/server';
import { endPreview, REASONS } from '@/lib/preview';

/** Ends the preview, and leads to the page that states the reason, or to the first page. */
export async function GET(request: NextRequest): Promise<Response> {
  await endPreview();
  const reason = REASONS.find((each) => each === request.nextUrl.searchParams.get('reason'));
  redirect(reason ? `/preview/${reason}` : '/');
}
