const FORBIDDEN = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/** Returns a text for XML, escaped and without the characters that XML cannot have. */
export function escapeXml(text: string): string {
  return text.replace(FORBIDDEN, '').replace(/[&<>"\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Returns the response of a route whose file a host serves by the end of its name. */
export function respondWith(type: string, lines: string[]): Response {
  return new Response(`${lines.join('\n')}\n`, { headers: { 'Content-Type': `${type}; charset=utf-8` } });
}
