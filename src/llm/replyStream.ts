import type { ChatStreamChunk } from './client.ts';
import { LLMError } from './errors.ts';
import { readEvents } from './events.ts';
import { type HttpAnswer, kindOf, readBeginning, readJson, unreadable } from './http.ts';
import { parseJson } from './json.ts';

/** Turns the objects of one reply into chunks, in order, and keeps what it needs for its end. Throws only `LLMError`. */
export interface ReplyReader {
  /** One parsed event of the stream, or (`whole`) a whole answer. */
  read(event: unknown, whole?: boolean): ChatStreamChunk[];
  /** The reply is over: with the protocol's end mark (or as a whole answer), or only by the end of the body. */
  end(marked: boolean): ChatStreamChunk[];
  /** The model has said that it is finished; usage may still follow. */
  readonly finished: boolean;
}

/** The chunks of a good answer, streamed as events or whole as JSON; the first one says that it is there. */
export async function* readReply(answer: HttpAnswer, reader: ReplyReader): AsyncGenerator<ChatStreamChunk, void> {
  try {
    yield { done: false }; // connected
    const kind = await kindOf(answer);
    if (kind === 'text') throw unreadable(answer.endpoint, await readBeginning(answer));
    const batches = kind === 'events' ? readStream(answer, reader) : readWhole(answer, reader);
    for await (const chunks of batches) for (const chunk of chunks) yield chunk;
  } finally {
    answer.cancel();
  }
}

/** In batches: a step of an async generator for each of a hundred thousand chunks costs more than reading them. */
type Batches = AsyncGenerator<ChatStreamChunk[], void>;

async function* readStream(answer: HttpAnswer, reader: ReplyReader): Batches {
  const events = readEvents(answer);
  try {
    for await (const batch of events.batches()) {
      if (batch.length === 0) yield [{ done: false }]; // alive
      for (const data of batch) {
        if (data === '[DONE]') return yield reader.end(true); // what follows is ignored, the socket closed
        if (data.trim() !== '') yield reader.read(parseEvent(answer, data));
      }
      if (reader.finished) events.expectEnd();
    }
  } catch (error) {
    // A reply that the model has finished is whole, however the connection ends.
    const ended = error instanceof LLMError && ['LLM_TIMEOUT', 'LLM_INCOMPLETE'].includes(error.code);
    if (!ended || !reader.finished) throw error;
  }
  yield reader.end(false);
}

async function* readWhole(answer: HttpAnswer, reader: ReplyReader): Batches {
  yield reader.read(await readJson(answer), true);
  yield reader.end(true);
}

function parseEvent(answer: HttpAnswer, data: string): unknown {
  try {
    return parseJson(data);
  } catch {
    throw unreadable(answer.endpoint, data);
  }
}
