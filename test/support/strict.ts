import { type ProviderReply, type ProviderScript, reply, type WireRequest } from './provider.ts';

type Refuses = (messages: WireRequest['messages']) => string | undefined;

/** What servers refuse whose model's chat template, or whose own check, is strict; in their words. */
export const strictServers: Record<string, Refuses> = {
  'a system message anywhere but at the beginning (Qwen)': (messages) =>
    messages.slice(1).some(({ role }) => role === 'system') ? 'System message must be at the beginning.' : undefined,
  'another last message than the person’s or a result, and the person right after a result (Mistral)': (messages) => {
    const { role: last } = messages.at(-1)!;
    if (last !== 'user' && last !== 'tool')
      return `Expected last role User or Tool (or Assistant with prefix True) for serving but got ${last}`;
    const order = messages.findIndex(({ role }, at) => role === 'user' && messages[at - 1]?.role === 'tool');
    return order < 0 ? undefined : "Unexpected role 'user' after role 'tool'";
  },
  'two of one side in a row (older Mistral models, Gemma)': (messages) => {
    const sides = messages.filter(({ role, tool_calls }) => role === 'user' || (role === 'assistant' && !tool_calls));
    const strict = sides.every(({ role }, at) => role === (at % 2 === 0 ? 'user' : 'assistant'));
    return strict
      ? undefined
      : 'After the optional system message, conversation roles must alternate user/assistant/user/assistant/...';
  },
};

/** Refuses as such a server, and else gives these replies in order. */
export function strictly(refuses: Refuses, replies: readonly ProviderReply[]): ProviderScript {
  let given = 0;
  return ({ messages }) => {
    const words = refuses(messages);
    if (words !== undefined) return reply.status(400, { error: { message: words, type: 'BadRequestError' } });
    return replies[given++] ?? reply.status(400, { error: { message: 'The script of this provider is over.' } });
  };
}
