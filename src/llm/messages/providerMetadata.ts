import type { AssistantMessage, Message } from '../../protocol/content/messages.ts';

/** The reply as it is kept: what is written in its model's own form says which model that is. */
export function withWriter(message: AssistantMessage, model: string): AssistantMessage {
  return message.native ? { ...message, native: { ...message.native, model } } : message;
}

/**
 * What may be said to this model: signatures and raw calls go back to the model that wrote them alone, for another one of the same
 * provider refuses them, too, or takes them for its own. What an earlier Towpath kept does not say whose it is, and stays
 * as it was. Gives `messages` itself where nothing is another's.
 */
export function withOwnNatives(messages: readonly Message[], model: string): readonly Message[] {
  return messages.some((message) => isAnothers(message, model))
    ? messages.map((message) => (isAnothers(message, model) ? { ...message, native: undefined } : message))
    : messages;
}

const isAnothers = (message: Message, model: string): message is AssistantMessage =>
  message.role === 'assistant' && message.native?.model !== undefined && message.native.model !== model;
