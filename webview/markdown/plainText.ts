import { type LocalizedMessage, localizedCount, t } from '../../src/protocol/text/l10n.ts';
import { decodeEntities } from './entities.ts';
import { lexMarkdown, type MarkdownToken } from './lexer.ts';

/** Plain text of Markdown for screen readers: code blocks by size, images by description. */
export const markdownToPlainText = (markdown: string): string => blocks(lexMarkdown(markdown));

const blocks = (tokens: readonly MarkdownToken[]): string => tokens.map(words).filter(Boolean).join('\n');
const inline = (tokens: readonly unknown[] = []): string => (tokens as MarkdownToken[]).map(words).join('');

function words(token: MarkdownToken): string {
  switch (token.type) {
    case 'space':
    case 'def':
    case 'hr':
      return '';
    case 'code':
      return codeWords(token.lang, localizedCount(token.text.split('\n').length, 'line'));
    case 'blockquote':
      return blocks(token.tokens as MarkdownToken[]);
    case 'list':
      return token.items.map((item) => blocks(item.tokens as MarkdownToken[])).join('\n');
    case 'table':
      return [token.header, ...token.rows].map((row) => row.map((cell) => inline(cell.tokens)).join(', ')).join('\n');
    case 'html':
      return token.raw.trim();
    case 'br':
      return ' ';
    case 'checkbox':
      return `${t(token.checked ? 'Done' : 'To do')}: `;
    case 'codespan':
    case 'escape':
      return token.text;
    case 'image':
      return decodeEntities(token.text);
    default:
      return token.tokens ? inline(token.tokens) : decodeEntities(token.text);
  }
}

const codeWords = (language: string | undefined, lines: LocalizedMessage): string =>
  language ? t('{0} code, {1}.', language, lines) : t('Code, {0}.', lines);
