import type { Lexer, Tokens } from 'marked';
import { linkTarget } from './links.ts';

/** Link or image with blanks in its address, for which CommonMark requires `<…>`. Longer texts are not links. */
const form = /^(!?)\[((?:\\.|`[^`\n]*`|\[[^[\]\n]*\]|[^[\]\\`\n]){1,400})\]\(((?:[^()<>"\n]|\([^()<>"\n]*\)){1,400})\)/;

/** File by its form: the last name has an extension or a line follows. */
const isFile = /(?:\.\p{L}[\p{L}\p{N}_-]*|:\d+(?:[:-]\d+)?|#L\d+(?:-L?\d+)?)$/u;

/** Parses a link to a path with blanks, as written by models: `[the file](src/my file.ts:12)`. */
export function fileLink(this: { lexer: Lexer }, source: string): Tokens.Link | Tokens.Image | undefined {
  if (source[0] !== '[' && !source.startsWith('![')) return undefined;
  const [raw, image, text, address] = form.exec(source) ?? [];
  const href = address?.trim();
  if (!raw || !text || !href?.includes(' ') || !isFile.test(href) || linkTarget(href).kind !== 'file') return undefined;
  if (image) return { type: 'image', raw, href, title: null, text, tokens: [] };
  return { type: 'link', raw, href, title: null, text, tokens: this.lexer.inlineTokens(text) };
}
