import type { ChatStreamChunk } from '../core/client.ts';
import { findCallMark, matchCallMark, normalizeMarks } from './form.ts';
import { MarkdownCode } from './markdownCode.ts';
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
  let kept = '';
  let isBeginning = true;
  let isBehind = false;
  let begun = false;
  let lastSaid: string | undefined;
  let hasThought = false;
  let quoted = 0;
  const code = new MarkdownCode();

  const out: ChatStreamChunk[] = [];
  const say = (content: string) => {
    const text = isBehind ? content.trimStart() : content;
    if (text === '') return;
    isBehind = false;
    if (text.trim() !== '' || text.length > maxBlanks) isBeginning = false;
    lastSaid = text.at(-1);
    out.push({ content: text, done: false });
  };
  const think = (text: string) => {
    const trimmed = begun ? text : text.trimStart();
    begun ||= trimmed !== '';
    if (trimmed !== '') out.push({ thinking: trimmed, done: false });
  };

  const readThinking = (close: OpenThinkingBlock['close']): boolean => {
    const found = findCallMark(close, normalizeMarks(kept), 0);
    const end = found?.start ?? endOfThinking(kept, close);
    think(found ? kept.slice(0, end).trimEnd() : kept.slice(0, end));
    kept = kept.slice(found?.end ?? end);
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
    for (let found = token.exec(kept); found; found = token.exec(kept)) {
      const { index: at } = found;
      code.add(kept.slice(seen, at));
      seen = at;
      if (code.isCode) continue;
      const mark = thinkingMarkAt(kept, at);
      if (mark === undefined) continue;
      if (mark === 'cut') {
        if (isEnd || kept.length - at >= maxThinkingMarkLength) continue;
        return hold(from, at);
      }
      const near = isBeginning && from === 0 && kept.slice(0, at).trim() === '';
      if (mark.kind === 'open') {
        const mayOpen = near ? at <= maxBlanks : !mark.isTag || (code.isAtLineStart && (hasThought || isBehind));
        if (!mayOpen || isNative) {
          quoted += 1;
          continue;
        }
        if (!near) say(kept.slice(from, at));
        thinking = mark.thinking;
        hasThought = true;
        begun = false;
        kept = kept.slice(mark.end);
        return true;
      }
      if (mark.kind === 'close') {
        if (quoted > 0) {
          quoted -= 1;
          continue;
        }
        if (hasThought || isNative) continue;
        // within a sentence: the decision needs the text after the mark
        if ((kept[at - 1] ?? lastSaid) === ' ') {
          if (!isEnd && kept.length < mark.end + 2) return hold(from, at);
          if (/^ \S/.test(kept.slice(mark.end, mark.end + 2))) continue;
        }
        say(kept.slice(from, at).trimEnd());
        out.push({ contentIsThinking: true, done: false });
        hasThought = true;
        isBehind = true;
        isBeginning = false;
        kept = kept.slice(mark.end);
        code.add('\n');
        return true;
      }
      if (mark.kind === 'end') {
        if (!isTurnEnd(kept.slice(mark.end, mark.end + maxEndTokens))) {
          token.lastIndex = mark.end;
          continue;
        }
        if (!isEnd) return hold(from, at);
        say(kept.slice(from, at));
        kept = '';
        return false;
      }
      say(kept.slice(from, at));
      from = seen = mark.end;
      token.lastIndex = mark.end;
    }
    const blanks = isBeginning && kept.trim() === '' && kept.length <= maxBlanks && !isEnd;
    if (blanks) return hold(from, from);
    code.add(kept.slice(seen));
    say(kept.slice(from));
    kept = '';
    return false;
  };

  const hold = (from: number, at: number): false => {
    const said = kept.slice(from, at);
    if (!(isBeginning && said.trim() === '' && at <= maxBlanks)) {
      say(said);
      kept = kept.slice(at);
    }
    return false;
  };

  const take = (piece: string, isEnd: boolean): ChatStreamChunk[] => {
    kept += piece;
    while (thinking ? readThinking(thinking.close) : kept !== '' && readText(isEnd)) {
      // continues after the mark
    }
    return out.splice(0);
  };

  const rest = (): ChatStreamChunk[] => {
    const chunks = take('', true);
    if (thinking && kept !== '') chunks.push({ thinking: kept, done: false });
    kept = '';
    return chunks;
  };

  return {
    rest,
    split(chunk) {
      if (chunk.toolCall || chunk.toolCallDelta) return [...rest(), chunk];
      if (chunk.thinking) isNative = true;
      const isPlain = kept === '' && !thinking && !isBeginning && !isBehind && !chunk.done;
      if (isPlain && chunk.content && !/[`~\n<[\]]/.test(chunk.content)) {
        code.add(chunk.content);
        lastSaid = chunk.content.at(-1);
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
  const tail = normalizeMarks(text.slice(from));
  let end = text.length;
  for (let at = tail.search(/[<[]/); at !== -1 && at < tail.length; at++) {
    if (matchCallMark(close, tail, at) !== 'cut') continue;
    end = from + at;
    break;
  }
  const blanks = end - text.slice(0, end).trimEnd().length;
  return blanks > maxBlanks ? end : end - blanks;
}
