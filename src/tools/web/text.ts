import { lazyImport } from '../../protocol/panel/lazyImport.ts';
import { createHtmlFormatters } from './formatters.ts';

// Nesting limit above any real page; deeper pages yield only plain text.
const deepest = 5000;

const html = lazyImport(() => Promise.all([import('html-to-text'), import('./htmlNesting.ts')]));

export async function pageText({
  contentType,
  bytes,
}: {
  contentType: string;
  bytes: Uint8Array;
}): Promise<{ title?: string; text: string }> {
  const text = decoded(contentType, bytes);
  if (!/^(text\/html|application\/xhtml\+xml)/i.test(contentType)) return { text };
  const title = /<title[^>]{0,200}>([^<]{0,1000})/i.exec(text)?.[1]?.replace(/\s+/g, ' ').trim();
  return { ...(title && { title }), text: await textOf(text) };
}

async function textOf(page: string): Promise<string> {
  const [{ convert }, { scanHtmlNesting }] = await html();
  const { depth, text } = scanHtmlNesting(page);
  if (depth > deepest) return text;
  const skipped = ['script', 'style', 'noscript', 'iframe', 'template', 'svg', 'button', 'select', 'title', 'img'];
  return convert(page, {
    wordwrap: false,
    limits: { maxDepth: 500, maxInputLength: 2 ** 24, ellipsis: '…' },
    formatters: createHtmlFormatters(),
    selectors: [
      ...skipped.map((selector) => ({ selector, format: 'skip' })),
      ...[1, 2, 3, 4, 5, 6].map((level) => ({ selector: `h${level}`, options: { uppercase: false } })),
      { selector: 'a', options: { ignoreHref: false, linkBrackets: [' <', '>'], hideLinkHrefIfSameAsText: true } },
      { selector: 'table', format: 'block' },
      { selector: 'tr', format: 'row' },
      { selector: 'ul', format: 'list' },
      { selector: 'ol', format: 'list' },
      { selector: 'blockquote', format: 'quote' },
      { selector: 'pre', format: 'pre' },
    ],
  });
}

// Decodes with the server's charset, else the page's, else UTF-8.
function decoded(contentType: string, bytes: Uint8Array): string {
  const named =
    /charset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1] ??
    /<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]+)/i.exec(Buffer.from(bytes.subarray(0, 1024)).toString('latin1'))?.[1];
  try {
    return new TextDecoder(named).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // unknown charset
  }
}
