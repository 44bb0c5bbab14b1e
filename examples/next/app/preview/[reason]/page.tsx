import type { Metadata } from 'next';
import { REASONS, type Reason } from '@/lib/preview';

const SENTENCES: Record<Reason, string> = {
  expired: 'The link of this preview has expired.',
  revoked: 'The link of this preview was revoked, or its post was deleted.'
};

export const metadata: Metadata = { title: 'The preview has ended' };
export const dynamicParams = false;

export function generateStaticParams() {
  return REASONS.map((reason) => ({ reason }));
}

export default async function Page({ params }: PageProps<'/preview/[reason]'>) {
  const { reason } = await params;
  return (
    <>
      <h1>The preview has ended</h1>
      <p>{SENTENCES[reason as Reason]} Ask the person who sent it to you for a new one.</p>
      <p><a href="/">Read the public posts</a></p>
    </>
  );
}
