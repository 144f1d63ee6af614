import type { ChatStreamChunk } from '../client.ts';

/** Tells thinking that is written as text from the text behind it. */
export interface Thoughts {
  /** The chunk, or those that come in its place. */
  split(chunk: ChatStreamChunk): ChatStreamChunk[];
  /** From here on every chunk comes as it is. */
  readonly over: boolean;
  /** What was kept back, when no further chunk comes. */
  rest(): ChatStreamChunk[];
}

const open = '<think>';
const close = '</think>';
/** Blanks that are kept back, because they may stand before a mark. */
const mostBlanks = 64;

/**
 * Qwen, DeepSeek and others write their thinking between `<think>` and `</think>`, and servers without a reader for it
 * pass it on. Only as the very beginning of a reply, and not where thinking comes as such: elsewhere it is a quotation.
 */
export function createThoughts(): Thoughts {
  let place: 'beginning' | 'thinking' | 'behind' | 'text' = 'beginning';
  let kept = '';
  let begun = false;

  const take = (piece: string): { thinking: string; content: string } => {
    kept += piece;
    let thinking = '';
    if (place === 'beginning') {
      const text = kept.trimStart();
      const near = kept.length - text.length <= mostBlanks;
      if (near && text.length < open.length && open.startsWith(text)) return { thinking, content: '' };
      place = near && text.startsWith(open) ? 'thinking' : 'text';
      if (place === 'thinking') kept = text.slice(open.length);
    }
    if (place === 'thinking') {
      const end = kept.indexOf(close);
      thinking = end === -1 ? kept.slice(0, endOfThinking(kept)) : kept.slice(0, end).trimEnd();
      kept = end === -1 ? kept.slice(thinking.length) : kept.slice(end + close.length);
      if (!begun) thinking = thinking.trimStart();
      begun ||= thinking !== '';
      if (end !== -1) place = 'behind';
    }
    if (place === 'behind') {
      kept = kept.trimStart();
      if (kept !== '') place = 'text';
    }
    const content = place === 'text' ? kept : '';
    if (place === 'text') kept = '';
    return { thinking, content };
  };

  const rest = (): ChatStreamChunk[] => {
    const text = kept;
    kept = '';
    if (text === '') return [];
    return [place === 'thinking' ? { thinking: text, done: false } : { content: text, done: false }];
  };

  return {
    rest,
    get over() {
      return place === 'text';
    },
    split(chunk) {
      if (place === 'text') return [chunk];
      if (chunk.thinking || chunk.toolCall || chunk.toolCallDelta) {
        const before = rest();
        place = 'text';
        return [...before, chunk];
      }
      const { content: piece = '', ...others } = chunk;
      const { thinking, content } = take(piece);
      return [
        ...(thinking === '' ? [] : [{ thinking, done: false }]),
        ...(chunk.done ? rest() : []),
        { ...(content !== '' && { content }), ...others },
      ];
    },
  };
}

/** Where what is certainly thinking ends: before blanks and what may become the closing mark. */
function endOfThinking(text: string): number {
  const mark = text.lastIndexOf('<');
  const end = mark !== -1 && close.startsWith(text.slice(mark)) ? mark : text.length;
  const blanks = end - text.slice(0, end).trimEnd().length;
  return blanks > mostBlanks ? end : end - blanks;
}
