import type { ChatRequest, LLMClient } from '../../src/llm/core/client.ts';
import { type ScriptedReply, scriptedClient } from './scriptedClient.ts';

/** A model for several conversations at once: each has the script of its first message, and is answered where it stands. */
export function routedClient(
  scripts: Readonly<Record<string, readonly ScriptedReply[]>>,
): LLMClient & { requests: ChatRequest[] } {
  const requests: ChatRequest[] = [];
  const clientFor = (request: ChatRequest): LLMClient => {
    requests.push({ ...request, messages: [...request.messages] });
    const first = request.messages.find(({ role }) => role === 'user')?.content ?? '';
    const turn = request.messages.filter(({ role }) => role === 'assistant').length;
    return scriptedClient([scripts[first]?.[turn] ?? { text: `(the script of ${JSON.stringify(first)} is over)` }]);
  };
  return {
    requests,
    chatStream: (request, signal) => clientFor(request).chatStream(request, signal),
    chat: (request, signal) => clientFor(request).chat(request, signal),
  };
}
