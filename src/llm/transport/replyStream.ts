import { message } from '../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import { type ChatRequest, type ChatStreamChunk, collect, type LLMClient } from '../core/client.ts';
import { LLMError } from '../core/errors.ts';
import { type JsonObject, parseJson } from '../core/json.ts';
import { messageIn } from './errorBody.ts';
import { flattenBatches } from './flattenBatches.ts';
import { contentKindOf, type HttpAnswer, readBeginning, readJsonAnswer, unreadableAnswer } from './http.ts';
import { type Endpoint, endpointName, errorInStream } from './providerErrors.ts';
import { type EventStream, readEvents } from './sse.ts';

/** Turns the objects of one reply into chunks, in order, and keeps what it needs for its end. Throws only `LLMError`. */
export interface ReplyReader {
  /** One parsed event of the stream, or (`whole`) a whole answer. */
  read(event: unknown, whole?: boolean): ChatStreamChunk[];
  /** The reply is over: with the protocol's end mark (or as a whole answer), or only by the end of the body. */
  end(marked: boolean): ChatStreamChunk[];
  /** The model has said that it is finished; usage may still follow. */
  readonly finished: boolean;
  /** The protocol's last event is here: what follows it is ignored, and the socket closed. */
  readonly over?: boolean;
}

export type Batches = AsyncGenerator<ChatStreamChunk[], void>;

/** A client whose replies come in batches. */
export function clientOf(
  batches: (request: ChatRequest, signal?: AbortSignal) => Batches,
  listModels: NonNullable<LLMClient['listModels']>,
): Required<LLMClient> {
  const chatStream: LLMClient['chatStream'] = (request, signal) => flattenBatches(batches(request, signal), signal);
  return { chatStream, chat: (request, signal) => collect(chatStream(request, signal), request.model), listModels };
}

interface ReadOptions {
  /** How the body is cut into objects, where it is not server-sent events or one JSON object. */
  framing?(answer: HttpAnswer): EventStream;
  /** Told before the reply. */
  warnings?: readonly LocalizableText[];
}

/** The chunks of a good answer, streamed as events or whole as JSON; the first one says that it is there. */
export async function* readReply(
  answer: HttpAnswer,
  reader: ReplyReader,
  { framing, warnings = [] }: ReadOptions = {},
): Batches {
  try {
    yield [connected(answer), ...warnings.map((warning) => ({ warning, done: false }))];
    const kind = await contentKindOf(answer);
    if (kind === 'text') throw unreadableAnswer(answer.endpoint, await readBeginning(answer));
    if (kind === 'json' && !framing) yield* readWhole(answer, reader);
    else yield* readStream(answer, reader, (framing ?? readEvents)(answer));
  } finally {
    answer.cancel();
  }
}

/** The first chunk of an answer: it is there, and so are its headers. */
function connected({ rateLimit }: HttpAnswer): ChatStreamChunk {
  return { done: false, ...(rateLimit && { rateLimit }) };
}

async function* readStream(answer: HttpAnswer, reader: ReplyReader, events: EventStream): Batches {
  try {
    for await (const batch of events.batches()) {
      const chunks: ChatStreamChunk[] = batch.length === 0 ? [{ done: false }] : []; // alive
      try {
        if (readBatch(batch, answer.endpoint, reader, chunks)) return yield chunks;
      } catch (error) {
        yield chunks; // what came before the error has been said
        throw error;
      }
      answer.discount(wrappingOf(batch, chunks));
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

/** Adds to `chunks`; true at the end: the protocol's own, or OpenAI's mark, which some gateways send behind others. */
function readBatch(batch: string[], endpoint: Endpoint, reader: ReplyReader, chunks: ChatStreamChunk[]): boolean {
  for (const data of batch) {
    const marked = data === '[DONE]';
    if (!marked && data.trim() !== '') {
      for (const chunk of reader.read(parseEvent(endpoint, data))) chunks.push(chunk);
    }
    if (!marked && !reader.over) continue;
    chunks.push(...reader.end(true));
    return true;
  }
  return false;
}

/** Characters of the events that are not the answer itself: 300 around every token are usual, and nothing of them stays. */
function wrappingOf(batch: readonly string[], chunks: readonly ChatStreamChunk[]): number {
  let characters = 0;
  for (const data of batch) characters += data.length;
  for (const { content, thinking, toolCallDelta } of chunks) {
    characters -= (content ?? thinking ?? toolCallDelta?.argumentsText ?? '').length;
  }
  return Math.min(Math.max(0, characters), batch.length * wrappingLimit);
}

/** Of one event; more than this is not wrapping. */
const wrappingLimit = 1024;

async function* readWhole(answer: HttpAnswer, reader: ReplyReader): Batches {
  yield reader.read(await readJsonAnswer(answer), true);
  yield reader.end(true);
}

function parseEvent(endpoint: Endpoint, data: string): unknown {
  try {
    return parseJson(data);
  } catch {
    throw unreadableAnswer(endpoint, data, true);
  }
}

/** What a reader throws at an end that is none: nothing had said that the reply is whole. */
export function cutShort(endpoint: Endpoint): LLMError {
  const text = message('The answer of {0} ended early.', endpointName(endpoint));
  return new LLMError('LLM_INCOMPLETE', text, { retryable: true });
}

/**
 * What a reader throws where a second answer begins in the stream of the first, as a gateway that tried again writes it:
 * together they would be one text said twice, and calls that run twice.
 */
export function anotherAnswer(endpoint: Endpoint): LLMError {
  const text = message('{0} sent a second answer within the same stream.', endpointName(endpoint));
  return new LLMError('LLM_BAD_RESPONSE', text);
}

/** What a reader throws when nothing of what came was of its protocol: the words of its first event, where that has some. */
export function notAnAnswer(endpoint: Endpoint, first?: JsonObject): LLMError {
  if (messageIn(first) !== '') return errorInStream(endpoint, first);
  const text = message('{0} sent something that is not an answer of a model.', endpointName(endpoint));
  return new LLMError('LLM_BAD_RESPONSE', text);
}
