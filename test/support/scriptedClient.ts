import type { ChatRequest, ChatStreamChunk, FinishReason, LLMClient } from '../../src/llm/core/client.ts';
import { collectChatStream } from '../../src/llm/core/client.ts';
import type { TokenUsage, ToolCall } from '../../src/protocol/content/messages.ts';
import { keepRequest } from './sent.ts';

export interface ScriptedReply {
  text?: string;
  thinking?: string;
  calls?: ToolCall[];
  /** Thrown after what comes before it. */
  error?: Error;
  /** Goes on for ever after what comes before it. */
  endless?: boolean;
  finishReason?: FinishReason;
  /** Null: the provider does not count. */
  usage?: TokenUsage | null;
}

let calls = 0;
/** A call with an id of its own. */
export const call = (name: string, args: Record<string, unknown>, id = `c${++calls}`): ToolCall => ({
  id,
  name,
  arguments: args,
});

/** A model that says what it was told to say, reply by reply, in small pieces; it remembers what it was asked. */
export function scriptedClient(replies: ScriptedReply[]): LLMClient & { requests: ChatRequest[] } {
  const requests: ChatRequest[] = [];
  async function* chatStream(
    request: ChatRequest,
    signal?: AbortSignal,
  ): AsyncGenerator<ChatStreamChunk, void, unknown> {
    requests.push(structuredClone({ ...request, tools: request.tools && [...request.tools] }));
    keepRequest(request);
    const reply = replies[requests.length - 1] ?? { text: '(the script is over)' };
    const pause = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
    };
    for (const piece of reply.thinking?.match(/.{1,5}/gs) ?? []) {
      await pause();
      yield { thinking: piece, done: false };
    }
    for (const piece of reply.text?.match(/.{1,5}/gs) ?? []) {
      await pause();
      yield { content: piece, done: false };
    }
    for (const [index, toolCall] of (reply.calls ?? []).entries()) {
      await pause();
      const argumentsText = JSON.stringify(toolCall.arguments);
      yield { toolCallDelta: { index, id: toolCall.id, name: toolCall.name, argumentsText }, done: false };
      yield { toolCall, done: false };
    }
    for (let nth = 1; reply.endless; nth++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      signal?.throwIfAborted();
      yield { content: `tick ${nth} `, done: false };
    }
    await pause();
    if (reply.error) throw reply.error;
    const finishReason = reply.finishReason ?? (reply.calls ? 'tool_calls' : 'stop');
    const { usage = { promptTokens: 10, completionTokens: 5, totalTokens: 15 } } = reply;
    yield { done: true, finishReason, ...(usage && { usage }) };
  }
  return {
    requests,
    chatStream,
    chat: (request, signal) => collectChatStream(chatStream(request, signal), request.model),
  };
}
