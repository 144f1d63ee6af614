import type { ChatStreamChunk } from '../core/client.ts';
import { findToolCallMarker, matchToolCallMarker, normalizeToolCallMarkers } from './form.ts';
import { MarkdownCodeTracker } from './markdownCode.ts';
import { maxThinkingMarkLength, type OpenThinkingBlock, thinkingMarkAt } from './thinkingMarks.ts';

interface Thoughts {
  split(chunk: ChatStreamChunk): ChatStreamChunk[];
  rest(): ChatStreamChunk[];
}

const maxBlanks = 64;

/**
 * Creates a splitter by the marks of the model families. Thinking may start a reply, follow other thinking, or start a line afterwards. A
 * closing mark without an opening mark converts all earlier text to thinking, because templates open thinking in the prompt. Elsewhere, in
 * code, and if the provider delivers thinking separately, a mark is a quotation. Answer marks and end-of-turn tokens are removed.
 */
export function createThinkingSplitter(): Thoughts {
  let thinking: OpenThinkingBlock | undefined;
  let isNative = false;
  let buffer = '';
  let isBeginning = true;
  let isBehind = false;
  let begun = false;
  let lastContent: string | undefined;
  let hasThought = false;
  let quoted = 0;
  const code = new MarkdownCodeTracker();

  const out: ChatStreamChunk[] = [];
  const emit = (content: string) => {
    const text = isBehind ? content.trimStart() : content;
    if (text === '') return;
    isBehind = false;
    if (text.trim() !== '' || text.length > maxBlanks) isBeginning = false;
    lastContent = text.at(-1);
    out.push({ content: text, done: false });
  };
  const think = (text: string) => {
    const trimmed = begun ? text : text.trimStart();
    begun ||= trimmed !== '';
    if (trimmed !== '') out.push({ thinking: trimmed, done: false });
  };

  const readThinking = (close: OpenThinkingBlock['close']): boolean => {
    const found = findToolCallMarker(close, normalizeToolCallMarkers(buffer), 0);
    const end = found?.start ?? endOfThinking(buffer, close);
    think(found ? buffer.slice(0, end).trimEnd() : buffer.slice(0, end));
    buffer = buffer.slice(found?.end ?? end);
    if (!found) return false;
    thinking = undefined;
    isBehind = true;
    code.add('\n');
    return true;
  };

  const readText = (isEnd: boolean): boolean => {
    const token = /[<[\]]/g;
    let from = 0; // start of unemitted text
    let seen = 0;
    for (let found = token.exec(buffer); found; found = token.exec(buffer)) {
      const { index: at } = found;
      code.add(buffer.slice(seen, at));
      seen = at;
      if (code.isCode) continue;
      const mark = thinkingMarkAt(buffer, at);
      if (mark === undefined) continue;
      if (mark === 'cut') {
        if (isEnd || buffer.length - at >= maxThinkingMarkLength) continue;
        return hold(from, at);
      }
      const near = isBeginning && from === 0 && buffer.slice(0, at).trim() === '';
      if (mark.kind === 'open') {
        const mayOpen = near ? at <= maxBlanks : !mark.isTag || (code.isAtLineStart && (hasThought || isBehind));
        if (!mayOpen || isNative) {
          quoted += 1;
          continue;
        }
        if (!near) emit(buffer.slice(from, at));
        thinking = mark.thinking;
        hasThought = true;
        begun = false;
        buffer = buffer.slice(mark.end);
        return true;
      }
      if (mark.kind === 'close') {
        if (quoted > 0) {
          quoted -= 1;
          continue;
        }
        if (hasThought || isNative) continue;
        // within a sentence: the decision needs the text after the mark
        if ((buffer[at - 1] ?? lastContent) === ' ') {
          if (!isEnd && buffer.length < mark.end + 2) return hold(from, at);
          if (/^ \S/.test(buffer.slice(mark.end, mark.end + 2))) continue;
        }
        emit(buffer.slice(from, at).trimEnd());
        out.push({ contentIsThinking: true, done: false });
        hasThought = true;
        isBehind = true;
        isBeginning = false;
        buffer = buffer.slice(mark.end);
        code.add('\n');
        return true;
      }
      if (mark.kind === 'end') {
        if (!isTurnEnd(buffer.slice(mark.end, mark.end + maxEndTokens))) {
          token.lastIndex = mark.end;
          continue;
        }
        if (!isEnd) return hold(from, at);
        emit(buffer.slice(from, at));
        buffer = '';
        return false;
      }
      emit(buffer.slice(from, at));
      from = seen = mark.end;
      token.lastIndex = mark.end;
    }
    const blanks = isBeginning && buffer.trim() === '' && buffer.length <= maxBlanks && !isEnd;
    if (blanks) return hold(from, from);
    code.add(buffer.slice(seen));
    emit(buffer.slice(from));
    buffer = '';
    return false;
  };

  const hold = (from: number, at: number): false => {
    const held = buffer.slice(from, at);
    if (!(isBeginning && held.trim() === '' && at <= maxBlanks)) {
      emit(held);
      buffer = buffer.slice(at);
    }
    return false;
  };

  const take = (piece: string, isEnd: boolean): ChatStreamChunk[] => {
    buffer += piece;
    while (thinking ? readThinking(thinking.close) : buffer !== '' && readText(isEnd)) {
      // continues after the mark
    }
    return out.splice(0);
  };

  const rest = (): ChatStreamChunk[] => {
    const chunks = take('', true);
    if (thinking && buffer !== '') chunks.push({ thinking: buffer, done: false });
    buffer = '';
    return chunks;
  };

  return {
    rest,
    split(chunk) {
      if (chunk.toolCall || chunk.toolCallDelta) return [...rest(), chunk];
      if (chunk.thinking) isNative = true;
      const isPlain = buffer === '' && !thinking && !isBeginning && !isBehind && !chunk.done;
      if (isPlain && chunk.content && !/[`~\n<[\]]/.test(chunk.content)) {
        code.add(chunk.content);
        lastContent = chunk.content.at(-1);
        return [chunk]; // the usual case
      }
      const { content = '', ...others } = chunk;
      const pieces = [...take(content, false), ...(chunk.done ? rest() : [])];
      const last = pieces.at(-1);
      if (last?.content === undefined || pieces.length > 1) return [...pieces, others];
      return [{ content: last.content, ...others }];
    },
  };
}

/** Maximum retained end tokens and blanks, so that a model that emits nothing else is not retained forever. */
const maxEndTokens = 1024;

function isTurnEnd(text: string): boolean {
  for (let at = 0; ; ) {
    at += /^\s*/.exec(text.slice(at))![0].length;
    if (at >= text.length) return text.length < maxEndTokens;
    const mark = thinkingMarkAt(text, at);
    if (mark === 'cut') return text.length < maxEndTokens;
    if (mark?.kind !== 'end') return false;
    at = mark.end;
  }
}

function endOfThinking(text: string, close: OpenThinkingBlock['close']): number {
  const from = Math.max(0, text.length - maxThinkingMarkLength);
  const tail = normalizeToolCallMarkers(text.slice(from));
  let end = text.length;
  for (let at = tail.search(/[<[]/); at !== -1 && at < tail.length; at++) {
    if (matchToolCallMarker(close, tail, at) !== 'cut') continue;
    end = from + at;
    break;
  }
  const blanks = end - text.slice(0, end).trimEnd().length;
  return blanks > maxBlanks ? end : end - blanks;
}
