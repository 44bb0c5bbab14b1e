import type { Metadata } from 'next';
import { draftMode } from 'next/headers';
import type { ReactNode } from 'react';
import { EXIT, START } from '@/lib/preview';
import './app.css';

const NAME = process.env.SITE_NAME ?? '';

export const metadata: Metadata = { title: { default: NAME, template: `%s · ${NAME}` } };

/**
 * The frame of all pages. Links are plain: each visit loads a whole page, so that no router in the browser keeps texts or the
 * line of a preview that has ended, and none follows the exit in advance.
 */
export default async function Layout({ children }: { children: ReactNode }) {
  const { isEnabled } = await draftMode();
  return (
    <html lang="en">
      <body>
        {isEnabled && (
          <aside className="preview" aria-label="Preview">
            Preview: this page may show what is not public. <a href={START}>Show the post</a> <a href={EXIT}>Exit preview</a>
          </aside>
        )}
        <header className="site">
          <a href="/">{NAME}</a>
        </header>
        <main>{children}</main>
      </body>
    </html>
  );
}
