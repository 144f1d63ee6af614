import { parseJson } from '../core/json.ts';
import { type HttpAnswer, responseTooLongError, unreadableAnswerError } from '../transport/http.ts';
import { type EventStream, maxBusyStreamMs, nextStreamTimeLimit } from '../transport/sse.ts';

export const readJsonLines = (answer: HttpAnswer): EventStream => ({ batches: () => linesOf(answer), expectEnd() {} });

/**
 * Yields the lines of a JSON lines body in received batches; an empty batch is a sign of life. An unterminated last line counts if it is
 * complete JSON. Leaving the loop closes the socket. Throws `LLMError`, or the signal's reason.
 */
async function* linesOf(answer: HttpAnswer): AsyncGenerator<string[], void, undefined> {
  const { endpoint, limits } = answer;
  const decoder = new TextDecoder(); // one decoder for the body: a chunk may split a character
  let unended: string[] = [];
  let size = 0;
  let lines = 0;
  let lastLine = performance.now();
  let turn = lastLine;
  let printed = false;
  try {
    for (;;) {
      const bytes = await answer.read(nextStreamTimeLimit(limits.idleMs, limits.eventMs, lastLine));
      const text = bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
      const batch: string[] = [];
      const pieces = printed ? [text] : text.split('\n');
      for (const [at, piece] of pieces.entries()) {
        unended.push(piece);
        size += piece.length;
        if (at === pieces.length - 1) break;
        const line = unended.join('').trim();
        if (lines + batch.length === 0 && (line === '{' || line === '[')) {
          unended = [line, ...pieces.slice(at + 1).map((one) => `\n${one}`)];
          printed = true;
          break;
        }
        unended = [];
        size = 0;
        if (line !== '') batch.push(line);
      }
      if (size > limits.eventBytes) throw responseTooLongError(endpoint, 'event', limits.eventBytes);
      if (!bytes) {
        const last = unended.join('').trim();
        if (isWhole(last)) batch.push(last);
        else if (lines === 0 && batch.length === 0 && !last.startsWith('{'))
          throw unreadableAnswerError(endpoint, last);
      }
      lines += batch.length;
      if (batch.length > 0) lastLine = performance.now();
      if (bytes || batch.length > 0) yield batch;
      if (!bytes) return;
      if (performance.now() - turn > maxBusyStreamMs) {
        await new Promise((resolve) => setImmediate(resolve)); // yields to other work during a flood
        turn = performance.now();
      }
    }
  } finally {
    answer.cancel();
  }
}

function isWhole(line: string): boolean {
  try {
    parseJson(line);
    return true;
  } catch {
    return false;
  }
}
