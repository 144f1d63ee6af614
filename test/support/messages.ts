import type { AssistantMessage, Message, ToolCall } from '../../src/protocol/content/messages.ts';
import { toEnglishText } from '../../src/protocol/text/l10n.ts';

export const user = (content: string): Message => ({ role: 'user', content });

export const assistant = (content: string, ...toolCalls: ToolCall[]): AssistantMessage => ({
  role: 'assistant',
  content,
  ...(toolCalls.length > 0 && { toolCalls }),
});

export const call = (id: string, path = 'a'): ToolCall => ({ id, name: 'fs.read', arguments: { path } });

/** What calls gave: each its id. */
export const results = (...ids: string[]): Message => ({
  role: 'tool',
  content: '',
  toolResults: ids.map((id) => ({ toolCallId: id, content: `{"ok":true,"data":"${id}"}` })),
});

/** Lines that the panel shows for the messages to the model. */
export const noteLines = (messages: readonly Message[]): string[] =>
  messages.flatMap((one) => (one.role === 'system' && one.note ? [toEnglishText(one.note.line)] : []));
