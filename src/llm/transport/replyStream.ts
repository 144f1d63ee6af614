import { message } from '../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import { type ChatRequest, type ChatStreamChunk, collectChatStream, type LLMClient } from '../core/client.ts';
import { LLMError } from '../core/errors.ts';
import { type JsonObject, parseJson } from '../core/json.ts';
import { errorBodyMessage } from './errorBody.ts';
import { flattenBatches } from './flattenBatches.ts';
import { detectBodyKind, type HttpAnswer, readErrorBodyStart, readJsonAnswer, unreadableAnswerError } from './http.ts';
import { type Endpoint, endpointName, streamErrorToError } from './providerErrors.ts';
import { type EventStream, readServerSentEvents } from './sse.ts';

/** Converter of a reply's objects to chunks, in order, with the state for the end. Throws only `LLMError`. */
export interface ReplyReader {
  read(event: unknown, whole?: boolean): ChatStreamChunk[];
  /** Called at the end of the reply. `marked`: the protocol's end mark or a complete answer was received, not only the end of the body. */
  end(marked: boolean): ChatStreamChunk[];
  readonly finished: boolean;
  /** True after the protocol's last event: the rest is ignored and the socket closed. */
  readonly over?: boolean;
}

export type ChunkBatches = AsyncGenerator<ChatStreamChunk[], void>;

export function createClientFromChunkBatches(
  batches: (request: ChatRequest, signal?: AbortSignal) => ChunkBatches,
  listModels: NonNullable<LLMClient['listModels']>,
): Required<Omit<LLMClient, 'thinkingEfforts'>> {
  const chatStream: LLMClient['chatStream'] = (request, signal) => flattenBatches(batches(request, signal), signal);
  return {
    chatStream,
    chat: (request, signal) => collectChatStream(chatStream(request, signal), request.model),
    listModels,
  };
}

interface ReadOptions {
  /** Splits the body into objects; absent: server-sent events or one JSON object. */
  framing?(answer: HttpAnswer): EventStream;
  warnings?: readonly LocalizableText[];
}

/** Yields the chunks of a successful answer, streamed or complete; the first chunk reports the connection. */
export async function* readReply(
  answer: HttpAnswer,
  reader: ReplyReader,
  { framing, warnings = [] }: ReadOptions = {},
): ChunkBatches {
  try {
    yield [connected(answer), ...warnings.map((warning) => ({ warning, done: false }))];
    const kind = await detectBodyKind(answer);
    if (kind === 'text') throw unreadableAnswerError(answer.endpoint, await readErrorBodyStart(answer));
    if (kind === 'json' && !framing) yield* readWhole(answer, reader);
    else yield* readStream(answer, reader, (framing ?? readServerSentEvents)(answer));
  } finally {
    answer.cancel();
  }
}

function connected({ rateLimit }: HttpAnswer): ChatStreamChunk {
  return { done: false, ...(rateLimit && { rateLimit }) };
}

async function* readStream(answer: HttpAnswer, reader: ReplyReader, events: EventStream): ChunkBatches {
  try {
    for await (const batch of events.batches()) {
      const chunks: ChatStreamChunk[] = batch.length === 0 ? [{ done: false }] : []; // a sign of life
      try {
        if (readBatch(batch, answer.endpoint, reader, chunks)) return yield chunks;
      } catch (error) {
        yield chunks; // chunks before the error are delivered
        throw error;
      }
      answer.discount(wrappingOf(batch, chunks));
      yield chunks;
      if (reader.finished) events.expectEnd();
    }
  } catch (error) {
    // a finished reply is complete, however the connection ends
    const ended = error instanceof LLMError && ['LLM_TIMEOUT', 'LLM_INCOMPLETE'].includes(error.code);
    if (!ended || !reader.finished) throw error;
  }
  yield reader.end(false);
}

/** Appends to `chunks`; returns true at the end: the protocol's end, or OpenAI's end mark, which some gateways add to other protocols. */
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

function wrappingOf(batch: readonly string[], chunks: readonly ChatStreamChunk[]): number {
  let characters = 0;
  for (const data of batch) characters += data.length;
  for (const { content, thinking, toolCallDelta } of chunks) {
    characters -= (content ?? thinking ?? toolCallDelta?.argumentsText ?? '').length;
  }
  return Math.min(Math.max(0, characters), batch.length * wrappingLimit);
}

const wrappingLimit = 1024;

async function* readWhole(answer: HttpAnswer, reader: ReplyReader): ChunkBatches {
  yield reader.read(await readJsonAnswer(answer), true);
  yield reader.end(true);
}

function parseEvent(endpoint: Endpoint, data: string): unknown {
  try {
    return parseJson(data);
  } catch {
    throw unreadableAnswerError(endpoint, data, true);
  }
}

export function incompleteAnswerError(endpoint: Endpoint): LLMError {
  const text = message('The answer of {0} ended early.', endpointName(endpoint));
  return new LLMError('LLM_INCOMPLETE', text, { retryable: true });
}

/**
 * Creates the error of a second answer in the same stream, sent by a gateway after a retry: merged answers would duplicate text and execute
 * calls twice.
 */
export function secondAnswerError(endpoint: Endpoint): LLMError {
  const text = message('{0} sent a second answer within the same stream.', endpointName(endpoint));
  return new LLMError('LLM_BAD_RESPONSE', text);
}

export function invalidAnswerError(endpoint: Endpoint, first?: JsonObject): LLMError {
  if (errorBodyMessage(first) !== '') return streamErrorToError(endpoint, first);
  const text = message('{0} sent something that is not an answer of a model.', endpointName(endpoint));
  return new LLMError('LLM_BAD_RESPONSE', text);
}
