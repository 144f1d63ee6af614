import type { Message } from '../../protocol/content/messages.ts';
import { createGrowingListCache } from './growingLists.ts';

/** Maximum calls stored from one reply. The engine decides how many run. */
export const maxToolCallsPerReply = 4096;
/** Longest accepted id in characters; a longer id is replaced. Some proxies embed kilobytes in an id. */
const idLimit = 256;

/** Creates a function that assigns a unique id to each call of a conversation. The provider's id is used if it is new and not too long. */
export function createToolCallIdAllocator(taken: ReadonlySet<string>): (wanted?: string) => string {
  const given = new Set<string>();
  return (wanted) => {
    let id = wanted;
    while (id === undefined || id === '' || id.length > idLimit || taken.has(id) || given.has(id)) {
      id = `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 20)}`;
    }
    given.add(id);
    return id;
  };
}

/** Returns the ids of all calls of a request. Only messages that the last request of the conversation did not contain are scanned. */
export function requestCallIds(messages: readonly Message[]): ReadonlySet<string> {
  const { state: ids, from } = idsOfRequests(messages);
  for (let at = from; at < messages.length; at++) addCallIds(messages[at]!, ids);
  return ids;
}

const idsOfRequests = createGrowingListCache<Message, Set<string>>(() => new Set());

function addCallIds(message: Message, ids: Set<string>): void {
  if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) ids.add(id);
}

/** Returns the ids of all calls of the list of a conversation. The list only grows, so only new messages are scanned. */
export function conversationCallIds(messages: readonly Message[]): ReadonlySet<string> {
  const known = lookedAt.get(messages) ?? { upTo: 0, ids: new Set<string>() };
  lookedAt.set(messages, known);
  for (; known.upTo < messages.length; known.upTo++) addCallIds(messages[known.upTo]!, known.ids);
  return known.ids;
}

const lookedAt = new WeakMap<readonly Message[], { upTo: number; ids: Set<string> }>();
