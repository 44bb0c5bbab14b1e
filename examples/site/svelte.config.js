import adapter from '@sveltejs/adapter-static';
import { loadEnv } from 'vite';

const api = new URL(loadEnv('production', process.cwd(), 'PUBLIC_').PUBLIC_API_URL ?? '').origin;

/** @type {import('@sveltejs/kit').Config} */
export default {
  kit: {
    adapter: adapter(),
    // The paths of style sheets are absolute, because 404.html is shown at every address that does not exist.
    paths: { relative: false },
    // The routes list their pages. The build does not follow links, because a broken link in a post must not end it. An API
    // with few posts has no second page, which is no error.
    prerender: { entries: ['*', '/404'], crawl: false, handleUnseenRoutes: 'ignore' },
    // Each page has this policy in a <meta> element. Only the page of drafts has a script and sends requests.
    csp: {
      mode: 'hash',
      directives: {
        'default-src': ['none'],
        'script-src': ['self'],
        'style-src': ['self'],
        // the style attribute with which SvelteKit hides its announcer of navigations
        'style-src-attr': ['unsafe-hashes', 'sha256-S8qMpvofolR8Mpjy4kQvEm7m1q8clzU4dfDH0AmvZjo='],
        // images of the API, or of the https address of CONTENTAPI_MEDIA_URL, and placeholders
        'img-src': ['self', 'https:', 'data:', /** @type {`http://${string}`} */ (api)],
        'connect-src': ['self', /** @type {`http://${string}`} */ (api)],
        'base-uri': ['none'],
        'form-action': ['none']
      }
    }
  }
};
