import type { Metadata } from 'next';

export const metadata: Metadata = { title: 'Page not found' };

export default function NotFound() {
  return (
    <>
      <h1>Page not found</h1>
      <p>
        Nothing is at this address. <a href="/">See the newest posts</a>
      </p>
    </>
  );
}
