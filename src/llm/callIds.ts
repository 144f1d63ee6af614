import type { Message } from '../protocol/messages.ts';

/** Calls of one reply that there is room for; how many of them run is for the engine to say. */
export const mostCalls = 4096;
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

/** The ids of all calls in a conversation. */
export function callIdsIn(messages: readonly Message[]): Set<string> {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []));
  return new Set(calls.map(({ id }) => id));
}
