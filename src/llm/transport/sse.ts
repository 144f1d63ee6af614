import { createParser } from 'eventsource-parser';
import { isObject, parseJson } from '../core/json.ts';
import { type HttpAnswer, tooLong, unreadableAnswer } from './http.ts';
import type { Until } from './timeLimits.ts';

/** Milliseconds after which a flood lets others have their turn: Stop is one of them. */
export const maxTurnMs = 10;

export interface EventStream {
  /**
   * The data of each server-sent event, in the batches in which they came; an empty batch means that something came
   * (a comment, half an event) and the server is alive. Leaving the loop closes the socket.
   */
  batches(): AsyncGenerator<string[], void, undefined>;
  /** The model has said that it is finished: from now on only a moment's silence is waited for. */
  expectEnd(): void;
}

/** Server-sent events of an answer. Throws `LLMError`, or the signal's reason. */
export function readEvents(answer: HttpAnswer): EventStream {
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
          overflow ||= type === 'max-buffer-size-exceeded'; // the other kinds are fields nobody knows: ignored
          if (line !== undefined && bare.length < bareErrorLimit) bare += `${line}\n`;
        },
      });
      const decoder = new TextDecoder(); // one for the whole body: a character may be cut anywhere
      let beginning = '';
      let events = 0;
      let lastEvent = performance.now();
      let turn = lastEvent;
      try {
        for (;;) {
          const bytes = await answer.read(untilNext(idleMs, limits.eventMs, lastEvent));
          const text = bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
          if (beginning.length < 500) beginning += text.slice(0, 500);
          // Google and others end without the last blank line, which by the standard would drop the last event.
          parser.feed(bytes ? text : `${text}\n\n`);
          if (overflow) throw tooLong(endpoint, 'event', limits.eventBytes);
          if (!bytes && batch.length > 0 && !isWhole(batch.at(-1)!)) batch.pop(); // cut in the middle
          if (!bytes && isError(bare)) batch.push(bare);
          if (batch.length > 0) lastEvent = performance.now();
          events += batch.length;
          if (bytes || batch.length > 0) {
            const complete = batch;
            batch = [];
            yield complete;
          }
          if (!bytes) break;
          if (performance.now() - turn > maxTurnMs) {
            await new Promise((resolve) => setImmediate(resolve));
            turn = performance.now();
          }
        }
        if (events === 0 && !looksLikeEvents.test(beginning)) throw unreadableAnswer(endpoint, beginning);
      } finally {
        answer.cancel();
      }
    },
  };
}

/** Google writes the error that ends a stream as bare JSON after the events, which by the standard is nothing at all. */
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

/** The limit for the next read: bytes may come for ever, events must come within their own limit. */
export function untilNext(idleMs: number, eventMs: number, lastEvent: number): Until {
  const left = Math.max(1, Math.ceil(lastEvent + eventMs - performance.now()));
  const isSooner = eventMs > 0 && (idleMs <= 0 || left < idleMs);
  return isSooner ? { ms: left, limit: 'events', of: eventMs } : { ms: idleMs, limit: 'idle', of: idleMs };
}

/** Every protocol here sends JSON, or OpenAI's end mark. */
function isWhole(data: string): boolean {
  if (data === '[DONE]') return true;
  try {
    parseJson(data);
    return true;
  } catch {
    return false;
  }
}
