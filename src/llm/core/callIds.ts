import type { Message } from '../../protocol/content/messages.ts';

/** Maximum calls stored from one reply. The engine decides how many run. */
export const maxToolCallsPerReply = 4096;
/** Longest accepted id in characters; a longer id is replaced. Some proxies embed kilobytes in an id. */
const idLimit = 256;

/** Creates a function that assigns a unique id to each call of a conversation. The provider's id is used if it is new and not too long. */
export function createToolCallIdAllocator(taken: Iterable<string>): (wanted?: string) => string {
  const ids = new Set(taken);
  return (wanted) => {
    let id = wanted;
    while (id === undefined || id === '' || id.length > idLimit || ids.has(id)) {
      id = `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 20)}`;
    }
    ids.add(id);
    return id;
  };
}

/** Returns the ids of all calls of a conversation. A conversation only grows, so only new messages are scanned. */
export function conversationCallIds(messages: readonly Message[]): ReadonlySet<string> {
  const known = lookedAt.get(messages) ?? { upTo: 0, ids: new Set<string>() };
  lookedAt.set(messages, known);
  for (; known.upTo < messages.length; known.upTo++) {
    const message = messages[known.upTo]!;
    if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) known.ids.add(id);
  }
  return known.ids;
}

const lookedAt = new WeakMap<readonly Message[], { upTo: number; ids: Set<string> }>();
