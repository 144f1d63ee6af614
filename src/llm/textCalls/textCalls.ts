import type { ToolDefinition } from '../../protocol/content/tools.ts';
import { callIdsIn, createCallIds } from '../core/callIds.ts';
import { type ChatStreamChunk, collect, type FinishReason, type LLMClient } from '../core/client.ts';
import { readCalls } from './read.ts';
import { createSieve } from './sieve.ts';
import { createThoughts } from './thoughts.ts';
import { knownTools } from './toolLookup.ts';

/** A client whose model may write its thinking and its calls as text: they come as such, and the text of them does not. */
export function withRescue<Client extends LLMClient>(client: Client): Client {
  const chatStream: LLMClient['chatStream'] = (request, signal) => {
    const tools = request.toolChoice === 'none' ? [] : (request.tools ?? []);
    return rescueCalls(client.chatStream(request, signal), tools, callIdsIn(request.messages));
  };
  return {
    ...client,
    chatStream,
    chat: (request, signal) => collect(chatStream(request, signal), request.model),
  };
}

/**
 * The chunks of a reply, in which thinking and calls of the offered tools that the model wrote as text have become what
 * they are; calls are given at the end, before the last chunk. Text passes at once, up to a line that begins a call: from
 * there on it is held until the end decides. Nothing is mended: a damaged or cut call comes as `malformed`. A reply with
 * calls of its own, and one that ended by its length, a filter or an error, keeps its text as it is.
 */
export async function* rescueCalls(
  stream: AsyncIterable<ChatStreamChunk>,
  tools: readonly ToolDefinition[],
  takenIds: Iterable<string> = [],
): AsyncGenerator<ChatStreamChunk, void, unknown> {
  const thoughts = createThoughts();
  const known = knownTools(tools);
  let sieve = createSieve(known);
  let off = tools.length === 0;

  function* rescued(chunk: ChatStreamChunk): Generator<ChatStreamChunk> {
    if (chunk.contentIsThinking) {
      const { text } = sieve.rest();
      sieve = createSieve(known);
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
    const found = rest.mayHoldCalls && endedWell(chunk.finishReason) ? readCalls(rest.text, known) : undefined;
    if (!found || found.calls.length === 0) return yield withContent(chunk, content + rest.text);
    yield* asContent(content + (sieve.spoke || found.content.trim() !== '' ? found.content.trimEnd() : ''));
    const newId = createCallIds(takenIds);
    for (const [index, written] of found.calls.entries()) {
      const toolCall = { id: newId(), ...written };
      const argumentsText = written.malformed ?? JSON.stringify(written.arguments);
      yield { toolCallDelta: { index, id: toolCall.id, name: toolCall.name, argumentsText }, done: false };
      yield { toolCall, done: false };
    }
    yield { ...withContent(chunk, ''), finishReason: 'tool_calls' };
  }

  /** What was said, and held back until it was clear what it is. */
  function* held(): Generator<ChatStreamChunk> {
    for (const chunk of thoughts.rest()) yield* rescued(chunk);
    yield* asContent(sieve.rest().text);
  }

  try {
    for await (const told of stream) {
      for (const chunk of thoughts.split(told)) yield* rescued(chunk);
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
