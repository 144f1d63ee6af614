import type { Message } from '../../protocol/content/messages.ts';

/** Calls of one reply that there is room for; how many of them run is for the engine to say. */
export const maxCalls = 4096;
/** Ids longer than this come back as ours; some proxies hide kilobytes in them. */
const idLimit = 256;

/** Gives each call an id of its own in the conversation: the provider's, where it is new and of decent length. */
export function createCallIds(taken: Iterable<string>): (wanted?: string) => string {
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

/** The ids of all calls in a conversation, which only grows: of one that was looked at before, what is new alone. */
export function callIdsIn(messages: readonly Message[]): ReadonlySet<string> {
  const known = lookedAt.get(messages) ?? { upTo: 0, ids: new Set<string>() };
  lookedAt.set(messages, known);
  for (; known.upTo < messages.length; known.upTo++) {
    const message = messages[known.upTo]!;
    if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) known.ids.add(id);
  }
  return known.ids;
}

const lookedAt = new WeakMap<readonly Message[], { upTo: number; ids: Set<string> }>();
