import type { NextConfig } from 'next';

// No search engine lists a preview, and no other site learns its address, which has the token at first.
const PRIVATE = [
  { key: 'Cache-Control', value: 'private, no-store' },
  { key: 'X-Robots-Tag', value: 'noindex' },
  { key: 'Referrer-Policy', value: 'no-referrer' }
];

const config: NextConfig = {
  poweredByHeader: false,
  headers: async () => [
    { source: '/api/preview/:path*', headers: PRIVATE },
    { source: '/preview/:path*', headers: PRIVATE },
    // the cookie of Draft Mode
    { source: '/:path*', has: [{ type: 'cookie', key: '__prerender_bypass' }], headers: PRIVATE }
  ]
};

export default config;
