import type { StoredEvent } from './events.ts';

const conversation: readonly StoredEvent['type'][] = [
  'message',
  'queued',
  'queued-change',
  'queued-remove',
  'compaction',
  'mended',
];

/**
 * Tells whether the event type is part of the conversation. After the loss of a conversation event, later messages cannot be joined to
 * earlier messages.
 */
export const isConversationEventType = (type: string): boolean => (conversation as readonly string[]).includes(type);
