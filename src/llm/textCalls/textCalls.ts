import type { ToolDefinition } from '../../protocol/content/tools.ts';
import { createToolCallIdAllocator, requestCallIds } from '../core/callIds.ts';
import { type ChatStreamChunk, collectChatStream, type FinishReason, type LLMClient } from '../core/client.ts';
import { extractTextToolCalls } from './extractTextCalls.ts';
import { createTextToolCallFilter } from './sieve.ts';
import { createThinkingSplitter } from './thoughts.ts';
import { indexOfferedTools } from './toolLookup.ts';

/** Wraps a client so that thinking and calls written as text are delivered as thinking and calls. */
export function withTextToolCallParsing<Client extends LLMClient>(client: Client): Client {
  const chatStream: LLMClient['chatStream'] = (request, signal) => {
    const tools = request.toolChoice === 'none' ? [] : (request.tools ?? []);
    return readTextToolCalls(client.chatStream(request, signal), tools, requestCallIds(request.messages));
  };
  return {
    ...client,
    chatStream,
    chat: (request, signal) => collectChatStream(chatStream(request, signal), request.model),
  };
}

/**
 * Yields the chunks of a reply with thinking and calls of offered tools extracted from the text; calls precede the last chunk. Text passes
 * at once until a line that begins a call; the following text is retained until the end of the reply decides. Nothing is repaired: a
 * damaged or truncated call is `malformed`. A reply with regular calls, or one ended by length, filter or error, keeps its text.
 */
export async function* readTextToolCalls(
  stream: AsyncIterable<ChatStreamChunk>,
  tools: readonly ToolDefinition[],
  takenIds: ReadonlySet<string> = new Set(),
): AsyncGenerator<ChatStreamChunk, void, unknown> {
  const thoughts = createThinkingSplitter();
  const known = indexOfferedTools(tools);
  let sieve = createTextToolCallFilter(known);
  let off = tools.length === 0;

  function* rescued(chunk: ChatStreamChunk): Generator<ChatStreamChunk> {
    if (chunk.contentIsThinking) {
      const { text } = sieve.rest();
      sieve = createTextToolCallFilter(known);
      yield chunk;
      return yield* text === '' ? [] : [{ thinking: text, done: false }];
    }
    if (off) return yield chunk;
    if (chunk.toolCall || chunk.toolCallDelta) {
      off = true;
      yield* asContent(sieve.rest().text);
      return yield chunk;
    }
    const content = chunk.content ? sieve.add(chunk.content) : '';
    if (!chunk.done) return yield withContent(chunk, content);
    off = true;
    const rest = sieve.rest();
    const found =
      rest.mayHoldCalls && endedWell(chunk.finishReason) ? extractTextToolCalls(rest.text, known) : undefined;
    if (!found || found.calls.length === 0) return yield withContent(chunk, content + rest.text);
    yield* asContent(content + (sieve.spoke || found.content.trim() !== '' ? found.content.trimEnd() : ''));
    const newId = createToolCallIdAllocator(takenIds);
    for (const [index, written] of found.calls.entries()) {
      const toolCall = { id: newId(), ...written };
      const argumentsText = written.malformed ?? JSON.stringify(written.arguments);
      yield { toolCallDelta: { index, id: toolCall.id, name: toolCall.name, argumentsText }, done: false };
      yield { toolCall, done: false };
    }
    yield { ...withContent(chunk, ''), finishReason: 'tool_calls' };
  }

  function* held(): Generator<ChatStreamChunk> {
    for (const chunk of thoughts.rest()) yield* rescued(chunk);
    yield* asContent(sieve.rest().text);
  }

  try {
    for await (const received of stream) {
      for (const chunk of thoughts.split(received)) yield* rescued(chunk);
    }
  } catch (error) {
    yield* held();
    throw error;
  }
  yield* held();
}

const endedWell = (reason: FinishReason | undefined) => reason === 'stop' || reason === 'tool_calls';

function* asContent(content: string): Generator<ChatStreamChunk> {
  if (content !== '') yield { content, done: false };
}

function withContent({ content: _, ...chunk }: ChatStreamChunk, content: string): ChatStreamChunk {
  return content === '' ? chunk : { content, ...chunk };
}
