import type { StoredEvent } from './events.ts';

const conversation: readonly StoredEvent['type'][] = [
  'message',
  'queued',
  'queued-change',
  'queued-remove',
  'compaction',
  'mended',
];

/** Tells whether events of this type are part of the conversation: after a lost one, what follows cannot be joined to what precedes. */
export const isConversation = (type: string): boolean => (conversation as readonly string[]).includes(type);
