import type { ChatRequest, ChatStreamChunk } from '../../src/llm/core/client.ts';
import type { LocalModelClient } from '../../src/llm/local/host/client.ts';

export const shortMessages: ChatRequest['messages'] = [{ role: 'user', content: 'along the canal' }];

let other = 0;
/** Never read before: nothing of it can be kept. */
export const fresh = (request: ChatRequest): ChatRequest => ({
  ...request,
  systemPrompt: `${++other}`,
  cacheKey: `${other}`,
});

/** Milliseconds from Stop, at the first such chunk, to the end of the reply, and until the model is free again. */
export async function stopAt(
  client: LocalModelClient,
  request: ChatRequest,
  when: (chunk: ChatStreamChunk) => boolean,
) {
  const stop = new AbortController();
  let stoppedAt = 0;
  try {
    for await (const chunk of client.chatStream(request, stop.signal)) {
      if (stoppedAt > 0 || !when(chunk)) continue;
      stoppedAt = performance.now();
      stop.abort(new Error('stop'));
    }
  } catch (error) {
    if ((error as Error).message !== 'stop') throw error;
  }
  if (stoppedAt === 0) throw new Error('The stage was never reached.');
  const ended = performance.now() - stoppedAt;
  if (client.pid() === undefined) return { ended, free: ended };
  // The same slot is wanted again: it is given back when the engine has really stopped.
  const again = { ...request, messages: shortMessages, maxTokens: 1 };
  for await (const chunk of client.chatStream(again)) if (chunk.content || chunk.done) break;
  return { ended, free: performance.now() - stoppedAt };
}

export async function drain(client: LocalModelClient, request: ChatRequest): Promise<void> {
  for await (const chunk of client.chatStream(request)) if (chunk.done) return;
}

export const isReading = (chunk: ChatStreamChunk): boolean => chunk.progress?.text.startsWith('Reading') ?? false;
