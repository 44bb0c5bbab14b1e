import MarkdownIt from 'markdown-it';
import rehypeParse from 'rehype-parse';
import rehypeSanitize, { defaultSchema, type Options } from 'rehype-sanitize';
import rehypeStringify from 'rehype-stringify';
import { unified } from 'unified';

const MAX_NESTING = 20; // of quotes, lists and brackets: deeper ones stay text, as in the preview of the admin

// GitHub's lists of elements and attributes, without what a text does not need. No `id` and no `name`: a page could
// take such an element for a variable. Images come by HTTPS, as the policy of the pages requires.
const ALLOWED: Options = {
  ...defaultSchema,
  tagNames: defaultSchema.tagNames?.filter((name) => name !== 'input'),
  attributes: {
    ...defaultSchema.attributes,
    '*': defaultSchema.attributes?.['*']?.filter((name) => name !== 'id' && name !== 'name') ?? []
  },
  protocols: { ...defaultSchema.protocols, href: ['http', 'https', 'mailto', 'tel'], src: ['https'] },
  strip: ['script', 'style', 'title', 'textarea', 'select', 'svg', 'math', 'template', 'noscript']
};

const sanitizer = unified()
  .use(rehypeParse, { fragment: true })
  .use(rehypeSanitize, ALLOWED)
  .use(rehypeStringify)
  .freeze();

// Posts may contain HTML, for example those imported from other systems. The sanitiser decides what is safe of it.
const rendererWithHtml = createRenderer(true);
const rendererWithoutHtml = createRenderer(false);

/** Returns Markdown as HTML that is safe to show. Works in Node and in a browser. */
export function renderMarkdown(text: string): string {
  return sanitize(rendererWithHtml.render(text)) ?? sanitize(rendererWithoutHtml.render(text)) ?? '';
}

/** Returns the safe part of HTML; undefined if its elements are nested so deeply that the sanitiser gives up. */
function sanitize(html: string): string | undefined {
  try {
    return String(sanitizer.processSync(html));
  } catch (error) {
    if (error instanceof RangeError) return undefined; // the stack is full
    throw error;
  }
}

function createRenderer(html: boolean) {
  const renderer = new MarkdownIt({ html, maxNesting: MAX_NESTING });
  // Cells have a style, which neither the sanitiser nor the policy of the pages permits. An attribute replaces it.
  renderer.renderer.rules.td_open = renderer.renderer.rules.th_open = (tokens, index, options, _, self) => {
    const token = tokens[index];
    const style = token?.attrGet('style');
    if (token && style) token.attrs = [['align', String(style).replace('text-align:', '')]];
    return self.renderToken(tokens, index, options);
  };
  return renderer;
}
