import type { Tokens } from 'marked';
import { escapeInvisibleProse, safeSplitIndex } from '../../src/protocol/text/escapeInvisible.ts';
import { localizedCount, t } from '../../src/protocol/text/l10n.ts';
import {
  buildListItem,
  buildLiteralParagraph,
  buildMarkdownBlock,
  codeBlockLanguage,
  countMarkdownNodes,
  createHtmlElement,
  type MarkdownActions,
} from './build.ts';
import { highlightedCodeNodes } from './codeHighlighter.ts';
import { lexMarkdown, type MarkdownToken } from './lexer.ts';

/** Limits of the displayed text, and of each further part. */
const pieceCharacters = 40_000;
const pieceNodes = 12_000;

/** Maximum characters of a growing code block with colors; longer blocks are colored when complete. */
const maxGrowingCode = 8_000;

interface Built {
  token: MarkdownToken;
  node: HTMLElement | undefined;
  /** Characters with colors; the rest was appended plain. */
  coloured?: number;
}

/**
 * Renders one Markdown text that may still grow. Final blocks are built once; only the text after them, the tail, is parsed again. The
 * total work is proportional to the length.
 */
export class MarkdownView {
  readonly element = createHtmlElement('div', 'markdown');
  private readonly actions: MarkdownActions;
  private raw = '';
  private complete = false;
  /** Characters of `raw` in finished blocks or in `tail`. */
  private taken = 0;
  /** Escaped text that is not finished; the text after the last safe cut is parsed each time. */
  private tail = '';
  private built: Built[] = [];
  private lastFinished: HTMLElement | undefined;
  /** Characters of the tail at the last parse; newer text may be in `pending`. */
  private read = 0;
  private readonly pending = document.createTextNode('');
  private defines = false;
  private shown = 0;
  private nodes = 0;
  private characterLimit = pieceCharacters;
  private nodeLimit = pieceNodes;
  private readonly more = createHtmlElement('button', 'more', [t('Show more')]);
  private readonly toEnd = createHtmlElement('button', 'more', [t('Show the end')]);
  private readonly gap = createHtmlElement('span', 'quiet');
  /** Last part of a truncated text, rendered separately. */
  private end: { from: number; fence: string; view: MarkdownView } | undefined;

  constructor(actions: MarkdownActions) {
    this.actions = actions;
    this.more.addEventListener('click', () => {
      this.characterLimit += pieceCharacters;
      this.nodeLimit += pieceNodes;
      if (this.end && this.characterLimit >= this.end.from) this.endEnd();
      this.advance(true);
    });
    this.toEnd.addEventListener('click', () => {
      const from = beginOfEnd(this.raw);
      this.end = { from, fence: openFence(this.raw.slice(0, from)), view: new MarkdownView(actions) };
      this.showEnd();
      this.advance(true);
      this.end.view.element.scrollIntoView({ block: 'end' });
    });
  }

  show(source: string, complete: boolean): void {
    if (source === this.raw && complete === this.complete) return;
    if (!source.startsWith(this.raw) || (this.complete && source !== this.raw)) this.clear();
    const grown = this.built.length > 0 || this.shown > 0;
    this.raw = source;
    this.complete = complete;
    this.showEnd();
    this.advance(complete);
    // A reference may be used before its definition; only the complete text can tell.
    if (complete && this.defines && grown) {
      this.clear();
      this.advance(true);
    }
  }

  private showEnd(): void {
    if (this.end) this.end.view.show(this.end.fence + this.raw.slice(this.end.from), this.complete);
  }

  private endEnd(): void {
    this.end?.view.element.remove();
    this.end = undefined;
  }

  private clear(): void {
    this.end = undefined;
    this.element.replaceChildren();
    this.taken = this.read = this.shown = this.nodes = 0;
    this.tail = '';
    this.built = [];
    this.lastFinished = undefined;
    this.defines = false;
  }

  private advance(force: boolean): void {
    const room = Math.max(0, this.characterLimit - this.shown - this.tail.length);
    const rest = this.raw.slice(this.taken, this.taken + room);
    const cut = this.taken + rest.length < this.raw.length;
    const settled = safeSplitIndex(rest);
    this.tail += escapeInvisibleProse(rest.slice(0, settled));
    this.taken += settled;
    const loose = rest.slice(settled);
    // Half of a surrogate pair waits for the other half.
    const text =
      this.tail + escapeInvisibleProse(this.complete && !cut ? loose : loose.replace(/[\ud800-\udbff]$/, ''));

    if (!force && this.postpones(text, cut)) return;
    this.pending.remove();
    this.read = text.length;
    const full = this.rebuild(text);
    if (!this.complete && !cut && !full) this.finish(text);
    for (const one of [this.more, this.toEnd, this.gap]) one.remove();
    if (!cut && !full) {
      this.endEnd();
      return;
    }
    this.element.append(this.more);
    if (this.end) {
      this.gap.textContent = ` … ${t('{0} are left out here', localizedCount(this.end.from - this.taken, 'character'))}`;
      this.element.append(this.gap, this.end.view.element);
    } else if (this.raw.length - this.taken > pieceCharacters) this.element.append(this.toEnd);
  }

  /** Postpones the parse of a long unfinished block until it grew by a sixteenth; new text appears plain until then. */
  private postpones(text: string, cut: boolean): boolean {
    if (cut) return this.more.isConnected;
    if (text.length <= 2048 || text.length - this.read >= this.read / 16) return false;
    const last = this.built.findLast(({ node }) => node);
    const gap = text[this.read - 1] === '\n' ? '\n' : '';
    this.pending.data = gap + text.slice(this.read);
    (last?.node?.querySelector('pre > code') ?? last?.node ?? this.element).append(this.pending);
    return true;
  }

  /** Updates the elements of the tail, with unchanged sources reused. Returns true at the node limit. */
  private rebuild(text: string): boolean {
    const previous = this.built;
    const limit = this.nodeLimit - this.nodes;
    let count = 0;
    let full = false;
    this.built = [];
    for (const token of lexMarkdown(text)) {
      if (token.type === 'def') this.defines = true;
      const size = countMarkdownNodes(token);
      if (count > 0 && count + size > limit) {
        full = true;
        break;
      }
      count += size;
      this.built.push(
        size > limit ? { token, node: buildLiteralParagraph(token) } : this.update(previous[this.built.length], token),
      );
    }
    const kept = new Set(this.built.map(({ node }) => node));
    for (const { node } of previous) if (!kept.has(node)) node?.remove();
    let place = this.lastFinished ? this.lastFinished.nextSibling : this.element.firstChild;
    for (const { node } of this.built) {
      if (node && node === place) place = node.nextSibling;
      else if (node) this.element.insertBefore(node, place);
    }
    return full;
  }

  private update(old: Built | undefined, token: MarkdownToken): Built {
    if (old && old.token.type === token.type) {
      if (old.token.raw === token.raw && !(token.type === 'code' && old.coloured !== token.text.length)) return old;
      if (
        old.node &&
        token.type === 'list' &&
        old.token.type === 'list' &&
        growList(old.node, old.token, token, this.actions)
      ) {
        return { token, node: old.node };
      }
      if (
        old.node &&
        token.type === 'code' &&
        old.token.type === 'code' &&
        codeBlockLanguage(old.token) === codeBlockLanguage(token)
      ) {
        return { token, node: old.node, coloured: this.growCode(old, token) };
      }
    }
    return {
      token,
      node: buildMarkdownBlock(token, this.actions),
      coloured: token.type === 'code' ? token.text.length : undefined,
    };
  }

  /** Highlights again after growth by a quarter, up to a size, and at the end; text in between is appended plain. */
  private growCode(old: Built, token: Tokens.Code): number {
    const { text } = token;
    const code = old.node!.querySelector('code')!;
    const shown = code.textContent ?? '';
    const coloured = old.coloured ?? 0;
    const waits = text.length < coloured * 1.25 || text.length > maxGrowingCode;
    if (!this.complete && text.startsWith(shown) && waits) {
      code.append(text.slice(shown.length));
      return coloured;
    }
    code.replaceChildren(...highlightedCodeNodes(text, codeBlockLanguage(token)));
    return text.length;
  }

  /** Finishes the blocks followed by a block with complete deciding lines. Until then these lines may continue the block before. */
  private finish(text: string): void {
    let at = 0;
    let done = 0;
    let doneLength = 0;
    for (const [index, { token }] of this.built.entries()) {
      const decides = token.type !== 'space' && token.type !== 'def';
      if (index > 0 && decides && text.includes('\n', at + decidingLength(token))) {
        done = index;
        doneLength = at;
      }
      at += token.raw.length;
    }
    if (done === 0 || doneLength > this.tail.length) return;
    for (const { token, node, coloured } of this.built.slice(0, done)) {
      if (token.type === 'code' && node && coloured !== token.text.length) {
        node.querySelector('code')!.replaceChildren(...highlightedCodeNodes(token.text, codeBlockLanguage(token)));
      }
      this.nodes += countMarkdownNodes(token);
      this.lastFinished = node ?? this.lastFinished;
    }
    this.built = this.built.slice(done);
    this.shown += doneLength;
    this.tail = this.tail.slice(doneLength);
    this.read -= doneLength;
  }
}

function beginOfEnd(text: string): number {
  const from = text.length - pieceCharacters;
  const paragraph = text.indexOf('\n\n', from);
  return paragraph < 0 || paragraph > from + pieceCharacters / 2 ? from : paragraph + 2;
}

function openFence(text: string): string {
  let open = '';
  for (const [, fence, rest] of text.matchAll(/^ {0,3}(`{3,}|~{3,})(.*)$/gm)) {
    if (!open) open = `${fence}${rest}\n`;
    else if (open.startsWith(fence!) && rest!.trim() === '') open = '';
  }
  return open;
}

/** Length of the text that determines the block type: first line; second line of a table; underline of a heading. */
function decidingLength({ type, raw }: MarkdownToken): number {
  const begin = raw.length - raw.trimStart().length;
  if (type === 'heading') return raw.trimEnd().length;
  return type === 'table' ? raw.indexOf('\n', begin) + 1 : begin;
}

function growList(
  node: HTMLElement,
  old: Extract<MarkdownToken, { type: 'list' }>,
  token: Extract<MarkdownToken, { type: 'list' }>,
  actions: MarkdownActions,
): boolean {
  if (old.ordered !== token.ordered || old.start !== token.start || old.loose !== token.loose) return false;
  if (token.items.length < old.items.length) return false;
  for (const [index, item] of token.items.entries()) {
    const before = old.items[index];
    if (before && before.raw === item.raw && before.loose === item.loose) continue;
    const line = buildListItem(item, actions);
    if (before) node.children[index]!.replaceWith(line);
    else node.append(line);
  }
  return true;
}
