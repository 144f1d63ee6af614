import type { Tokens } from 'marked';
import { t } from '../../src/protocol/text/l10n.ts';
import { highlightedCodeNodes } from './codeHighlighter.ts';
import { decodeEntities } from './entities.ts';
import type { MarkdownToken } from './lexer.ts';
import { type LinkTarget, linkTarget } from './links.ts';

export interface MarkdownActions {
  open(target: LinkTarget): void;
  copy(text: string): void;
  /** `insert`: at the cursor; `apply`: into its file, by the model; `terminal`: inserted, not run. */
  use(how: CodeUse, text: string, language: string): void;
}
type CodeUse = 'insert' | 'apply' | 'new-file' | 'terminal';

/**
 * Builds the DOM of a block element by element. Text only becomes text nodes, and the only attributes are `class`, `title`, `start`, `dir`,
 * `role`, `tabindex` and `aria-expanded`. Returns nothing for invisible blocks (blank lines, reference definitions).
 */
export function buildMarkdownBlock(token: MarkdownToken, actions: MarkdownActions): HTMLElement | undefined {
  switch (token.type) {
    case 'space':
    case 'def':
      return undefined;
    case 'heading':
      return buildHeading(token.depth, inline(token.tokens, actions));
    case 'hr':
      return createHtmlElement('hr');
    case 'blockquote':
      return sided(createHtmlElement('blockquote', '', blocks(token.tokens as MarkdownToken[], actions)));
    case 'list':
      return buildList(token, actions);
    case 'table':
      return buildTable(token, actions);
    case 'code':
      return buildCode(token, actions);
    case 'html':
      return createHtmlElement('p', 'literal', [token.raw.replace(/\n+$/, '')]);
    case 'paragraph':
      return createHtmlElement('p', '', inline(token.tokens, actions));
    default:
      return createHtmlElement('p', '', inline([token], actions));
  }
}

export function countMarkdownNodes(token: MarkdownToken): number {
  if (token.type === 'table') {
    const cells = [token.header, ...token.rows].flat();
    return 2 * token.rows.length + cells.reduce((sum, cell) => sum + 1 + countAll(cell.tokens), 0);
  }
  if (token.type === 'list') return 1 + token.items.reduce((sum, item) => sum + 1 + countAll(item.tokens), 0);
  if (token.type === 'code') return 8 + Math.min(4000, token.text.length / 3);
  return 2 + ('tokens' in token && token.tokens ? countAll(token.tokens) : 0);
}

export const buildLiteralParagraph = (token: MarkdownToken): HTMLElement =>
  createHtmlElement('p', 'literal', [token.raw.trimEnd()]);

function countAll(tokens: readonly unknown[]): number {
  return (tokens as MarkdownToken[]).reduce((sum, token) => sum + countMarkdownNodes(token), 0);
}

function blocks(tokens: MarkdownToken[], actions: MarkdownActions): Node[] {
  return tokens.map((token) => buildMarkdownBlock(token, actions)).filter((node) => node !== undefined);
}

/** Headings start below the heading of the message. Most replies start at level two, which becomes the next level. */
const buildHeading = (depth: number, words: (Node | string)[]): HTMLElement =>
  createHtmlElement(`h${Math.min(6, Math.max(3, depth + 1))}` as 'h3', depth === 1 ? 'first-level' : '', words);

/** Stores `raw` on list items, so that a growing list retains its items. */
function buildList(token: Tokens.List, actions: MarkdownActions): HTMLElement {
  const list = sided(createHtmlElement(token.ordered ? 'ol' : 'ul'));
  if (token.ordered && typeof token.start === 'number' && token.start !== 1) {
    list.setAttribute('start', String(token.start));
  }
  for (const item of token.items) list.append(buildListItem(item, actions));
  return list;
}

export function buildListItem(item: Tokens.ListItem, actions: MarkdownActions): HTMLElement {
  const line = createHtmlElement('li', item.task ? 'task' : '');
  for (const token of item.tokens as MarkdownToken[]) {
    const tight = token.type === 'text' || (token.type === 'paragraph' && !item.loose);
    if (tight) line.append(...inline(token.type === 'text' && !token.tokens ? [token] : (token.tokens ?? []), actions));
    else if (token.type === 'checkbox') line.append(...inline([token], actions));
    else {
      const node = buildMarkdownBlock(token, actions);
      if (node) line.append(node);
    }
  }
  return line;
}

function buildTable(token: Tokens.Table, actions: MarkdownActions): HTMLElement {
  const row = (cells: Tokens.TableCell[], tag: 'th' | 'td') =>
    createHtmlElement(
      'tr',
      '',
      cells.map((cell) =>
        createHtmlElement(tag, cell.align ? `align-${cell.align}` : '', inline(cell.tokens, actions)),
      ),
    );
  const table = createHtmlElement('table', '', [createHtmlElement('thead', '', [row(token.header, 'th')])]);
  table.tabIndex = 0; // scrollable by keyboard, like code
  if (token.rows.length > 0) {
    table.append(
      createHtmlElement(
        'tbody',
        '',
        token.rows.map((cells) => row(cells, 'td')),
      ),
    );
  }
  return table;
}

export const codeBlockLanguage = (token: Tokens.Code): string =>
  /^[a-z0-9+#-]{0,20}/.exec((token.lang ?? '').trim().toLowerCase())?.[0] ?? '';

function buildCode(token: Tokens.Code, actions: MarkdownActions): HTMLElement {
  const code = createHtmlElement('code', '', highlightedCodeNodes(token.text, codeBlockLanguage(token)));
  code.tabIndex = 0; // long lines are scrollable by keyboard
  const language = codeBlockLanguage(token);
  const pre = createHtmlElement('pre', wrapping.test(language) ? 'wraps' : '');
  const text = () => code.textContent ?? '';
  const button = (label: string, title: string, act: () => void) => {
    const made = createHtmlElement('button', 'code-act', [label]);
    made.title = title;
    made.addEventListener('click', act);
    return made;
  };
  const use = (label: string, title: string, how: CodeUse) =>
    button(label, title, () => actions.use(how, text(), language));
  const copy = button(t('Copy'), t('Copy this code'), () => {
    actions.copy(text());
    copy.textContent = t('Copied');
    setTimeout(() => {
      copy.textContent = t('Copy');
    }, 1500);
  });
  const wrap = button(t('Wrap'), t('Wrap long lines'), () => {
    pre.classList.toggle('wrapped', !isWrapped(code));
    pre.classList.toggle('unwrapped', !pre.classList.contains('wrapped'));
  });
  const rest = createHtmlElement('span', 'code-more'); // built on demand: most blocks are only read
  const more = button(t('More'), t('More for this code'), () => {
    const isOpen = rest.childElementCount > 0;
    if (isOpen) rest.replaceChildren();
    else
      rest.append(
        use(t('Apply'), t('Apply to the file with the model. You approve each change.'), 'apply'),
        use(t('New File'), t('Open as a new file'), 'new-file'),
        wrap,
        use(t('Insert into Terminal'), t('Insert into the terminal, without running it'), 'terminal'),
      );
    more.textContent = t(isOpen ? 'More' : 'Fewer');
    more.ariaExpanded = String(!isOpen);
  });
  more.ariaExpanded = 'false';
  const insert = use(t('Insert'), t('Insert at the cursor'), 'insert');
  pre.append(
    createHtmlElement('span', 'code-bar', [
      createHtmlElement('span', 'code-language', [language]),
      createHtmlElement('span', 'code-acts', [copy, insert, rest, more]),
    ]),
    code,
  );
  return pre;
}

/** Languages with line wrapping below 420 pixels; other code scrolls. */
const wrapping =
  /^(|te?xt|plain(text)?|output|log|(ba|z|fi)?sh|shell(session|script)?|console|powershell|ps1|bat|cmd)$/;

const isWrapped = (code: HTMLElement): boolean => getComputedStyle(code).whiteSpace.startsWith('pre-wrap');

function inline(tokens: readonly unknown[], actions: MarkdownActions, insideLink = false): (Node | string)[] {
  return (tokens as MarkdownToken[]).flatMap((token) => {
    const inside = () => inline(('tokens' in token && token.tokens) || [], actions, insideLink);
    switch (token.type) {
      case 'text':
        return token.tokens ? inside() : [decodeEntities(token.text)];
      case 'strong':
      case 'em':
      case 'del':
        return [createHtmlElement(token.type, '', inside())];
      case 'codespan':
        return [createHtmlElement('code', '', [token.text])];
      case 'br':
        return [createHtmlElement('br')];
      case 'escape':
        return [token.text];
      case 'checkbox':
        return [token.checked ? '☑ ' : '☐ '];
      case 'link':
        return buildLink(token, inline(token.tokens, actions, true), actions, insideLink);
      case 'image':
        return [buildImage(token, actions, insideLink)];
      default:
        return [token.raw];
    }
  });
}

function buildLink(
  token: Tokens.Link,
  words: (Node | string)[],
  actions: MarkdownActions,
  insideLink: boolean,
): (Node | string)[] {
  const bareMail = /^mailto:/i.test(token.href) && !/^[<[]/.test(token.raw);
  const target = linkTarget(token.href);
  if (target.kind === 'inert' || bareMail || insideLink) return words;
  const link = buildButton(words, () => actions.open(target));
  if (target.kind === 'external') {
    link.title = t('Open {0}', target.url);
    // Link text can claim any destination, so the real host follows unless the text starts with it.
    if (!saysHost(link.textContent ?? '', target.host))
      link.append(createHtmlElement('span', 'host', [` (${target.host})`]));
  } else link.title = target.line ? t('Open {0}, line {1}', target.path, target.line) : t('Open {0}', target.path);
  return [link];
}

/** A `<button>` is a box that breaks the line layout. */
function buildButton(words: (Node | string)[], press: () => void): HTMLElement {
  const link = createHtmlElement('span', 'link', words);
  link.role = 'button';
  link.tabIndex = 0;
  link.addEventListener('click', press);
  link.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    press();
  });
  return link;
}

function saysHost(words: string, host: string): boolean {
  const said = words.trim().replace(/^(https?:\/\/|mailto:)/i, '');
  return said.startsWith(host) && !/^[\w.@:-]/.test(said.slice(host.length));
}

/** Images are never loaded: a URL alone can leak data. */
function buildImage(token: Tokens.Image, actions: MarkdownActions, insideLink: boolean): HTMLElement {
  const href = decodeEntities(token.href);
  const target = linkTarget(href.startsWith('//') ? `https:${href}` : href);
  const said = target.kind === 'external' ? t('image from {0} not loaded', target.host) : t('image not loaded');
  const words = token.text ? `${decodeEntities(token.text)}: ` : '';
  const holder = createHtmlElement('span', 'image', [words + said]);
  if (target.kind === 'file' && !insideLink) {
    const link = buildButton([target.path], () => actions.open(target));
    link.title = t('Open {0}', target.path);
    holder.append(' (', link, ')');
  }
  return holder;
}

/** Aligns markers by the text direction. */
function sided<Block extends HTMLElement>(block: Block): Block {
  block.dir = 'auto';
  return block;
}

export function createHtmlElement<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className = '',
  children: readonly (Node | string)[] = [],
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}
