import { addressOf } from '$lib/paths';
import { respondWith } from '$lib/server/xml';
import { resolve } from '$app/paths';
import type { RequestHandler } from './$types';

export const prerender = true;

export const GET: RequestHandler = () =>
  respondWith('text/plain', ['User-agent: *', 'Disallow:', '', `Sitemap: ${addressOf(resolve('/sitemap.xml'))}`]);
