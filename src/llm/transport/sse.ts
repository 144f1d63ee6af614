import { createParser } from 'eventsource-parser';
import { isObject, parseJson } from '../core/json.ts';
import { type HttpAnswer, responseTooLongError, unreadableAnswerError } from './http.ts';
import type { ReadTimeLimit } from './timeLimits.ts';

/** Milliseconds after which a busy stream yields to other work, for example a stop. */
export const maxBusyStreamMs = 10;

export interface EventStream {
  /**
   * Yields the data of server-sent events in received batches; an empty batch (a comment, a partial event) is a sign of life. Leaving the
   * loop closes the socket.
   */
  batches(): AsyncGenerator<string[], void, undefined>;
  expectEnd(): void;
}

/** Reads the server-sent events of an answer. Throws `LLMError`, or the signal's reason. */
export function readServerSentEvents(answer: HttpAnswer): EventStream {
  const { endpoint, limits } = answer;
  let idleMs = limits.idleMs;
  return {
    expectEnd() {
      idleMs = limits.closeMs;
    },
    async *batches() {
      let batch: string[] = [];
      let overflow = false;
      let bare = '';
      const parser = createParser({
        maxBufferSize: limits.eventBytes,
        onEvent: ({ data }) => batch.push(data),
        onError: ({ type, line }) => {
          overflow ||= type === 'max-buffer-size-exceeded'; // other kinds are unknown fields: ignored
          if (line !== undefined && bare.length < bareErrorLimit) bare += `${line}\n`;
        },
      });
      const decoder = new TextDecoder(); // one decoder for the body: a chunk may split a character
      let beginning = '';
      let events = 0;
      let lastEvent = performance.now();
      let turn = lastEvent;
      try {
        for (;;) {
          const bytes = await answer.read(nextStreamTimeLimit(idleMs, limits.eventMs, lastEvent));
          const text = bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
          if (beginning.length < 500) beginning += text.slice(0, 500);
          // Google and others omit the last blank line; by the standard, the last event would be dropped.
          parser.feed(bytes ? text : `${text}\n\n`);
          if (overflow) throw responseTooLongError(endpoint, 'event', limits.eventBytes);
          if (!bytes && batch.length > 0 && !isWhole(batch.at(-1)!)) batch.pop();
          if (!bytes && isError(bare)) batch.push(bare);
          if (batch.length > 0) lastEvent = performance.now();
          events += batch.length;
          if (bytes || batch.length > 0) {
            const complete = batch;
            batch = [];
            yield complete;
          }
          if (!bytes) break;
          if (performance.now() - turn > maxBusyStreamMs) {
            await new Promise((resolve) => setImmediate(resolve));
            turn = performance.now();
          }
        }
        if (events === 0 && !looksLikeEvents.test(beginning)) throw unreadableAnswerError(endpoint, beginning);
      } finally {
        answer.cancel();
      }
    },
  };
}

/** Detects an error as bare JSON after the events, as Google sends; the standard would ignore the text. */
function isError(text: string): boolean {
  if (!text.includes('"error"')) return false;
  try {
    const value = parseJson(text);
    return isObject(value) && value.error !== undefined;
  } catch {
    return false;
  }
}

const bareErrorLimit = 65_536;

const looksLikeEvents = /^\s*(data|event|id|retry)?:/;

/** Returns the limit of the next read: bytes alone do not extend the limit between events. */
export function nextStreamTimeLimit(idleMs: number, eventMs: number, lastEvent: number): ReadTimeLimit {
  const left = Math.max(1, Math.ceil(lastEvent + eventMs - performance.now()));
  const isSooner = eventMs > 0 && (idleMs <= 0 || left < idleMs);
  return isSooner ? { ms: left, limit: 'events', of: eventMs } : { ms: idleMs, limit: 'idle', of: idleMs };
}

function isWhole(data: string): boolean {
  if (data === '[DONE]') return true;
  try {
    parseJson(data);
    return true;
  } catch {
    return false;
  }
}
