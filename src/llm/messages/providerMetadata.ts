import type { AssistantMessage, Message } from '../../protocol/content/messages.ts';

export function withGeneratingModelId(message: AssistantMessage, model: string): AssistantMessage {
  return message.native ? { ...message, native: { ...message.native, model } } : message;
}

/**
 * Removes native forms of other models: signatures and raw calls are only valid for their own model. Another model, even of the same
 * provider, rejects them or mistakes them for its own. Old records without a model stay unchanged. Returns `messages` itself if nothing
 * changes.
 */
export function removeForeignMetadata(messages: readonly Message[], model: string): readonly Message[] {
  return messages.some((message) => isAnothers(message, model))
    ? messages.map((message) => (isAnothers(message, model) ? withoutMetadata(message) : message))
    : messages;
}

/** Messages without their metadata, so that each request contains the same objects. */
const stripped = new WeakMap<AssistantMessage, AssistantMessage>();

function withoutMetadata(message: AssistantMessage): AssistantMessage {
  const known = stripped.get(message) ?? { ...message, native: undefined };
  stripped.set(message, known);
  return known;
}

const isAnothers = (message: Message, model: string): message is AssistantMessage =>
  message.role === 'assistant' && message.native?.model !== undefined && message.native.model !== model;
