import { oneByOne } from './batches.ts';
import type { ChatStreamChunk } from './client.ts';
import { LLMError } from './errors.ts';
import { readEvents } from './events.ts';
import { type HttpAnswer, kindOf, readBeginning, readJson, unreadable } from './http.ts';
import { parseJson } from './json.ts';
import type { Endpoint } from './providerErrors.ts';

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
export function readReply(answer: HttpAnswer, reader: ReplyReader): AsyncGenerator<ChatStreamChunk, void> {
  return oneByOne(readBatches(answer, reader));
}

/** The same in the batches in which they came, for those that have something to say before. */
export async function* readBatches(answer: HttpAnswer, reader: ReplyReader): Batches {
  try {
    yield [connected(answer)];
    const kind = await kindOf(answer);
    if (kind === 'text') throw unreadable(answer.endpoint, await readBeginning(answer));
    yield* kind === 'events' ? readStream(answer, reader) : readWhole(answer, reader);
  } finally {
    answer.cancel();
  }
}

/** The first chunk of an answer: it is there, and so are its headers. */
export function connected({ rateLimit }: HttpAnswer): ChatStreamChunk {
  return { done: false, ...(rateLimit && { rateLimit }) };
}

type Batches = AsyncGenerator<ChatStreamChunk[], void>;

async function* readStream(answer: HttpAnswer, reader: ReplyReader): Batches {
  const events = readEvents(answer);
  try {
    for await (const batch of events.batches()) {
      const chunks: ChatStreamChunk[] = batch.length === 0 ? [{ done: false }] : []; // alive
      try {
        if (readBatch(batch, answer.endpoint, reader, chunks)) return yield chunks;
      } catch (error) {
        yield chunks; // what came before the error has been said
        throw error;
      }
      yield chunks;
      if (reader.finished) events.expectEnd();
    }
  } catch (error) {
    // A reply that the model has finished is whole, however the connection ends.
    const ended = error instanceof LLMError && ['LLM_TIMEOUT', 'LLM_INCOMPLETE'].includes(error.code);
    if (!ended || !reader.finished) throw error;
  }
  yield reader.end(false);
}

/** Adds to `chunks`; true after OpenAI's end mark: what follows it is ignored, and the socket closed. */
function readBatch(batch: string[], endpoint: Endpoint, reader: ReplyReader, chunks: ChatStreamChunk[]): boolean {
  for (const data of batch) {
    if (data === '[DONE]') {
      chunks.push(...reader.end(true));
      return true;
    }
    if (data.trim() !== '') for (const chunk of reader.read(parseEvent(endpoint, data))) chunks.push(chunk);
  }
  return false;
}

async function* readWhole(answer: HttpAnswer, reader: ReplyReader): Batches {
  yield reader.read(await readJson(answer), true);
  yield reader.end(true);
}

function parseEvent(endpoint: Endpoint, data: string): unknown {
  try {
    return parseJson(data);
  } catch {
    throw unreadable(endpoint, data);
  }
}
