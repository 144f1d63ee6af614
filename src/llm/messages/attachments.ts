import { estimateBase64Tokens } from '../../protocol/content/mentionText.ts';
import type { Attachment, Message, ToolCall, ToolResult } from '../../protocol/content/messages.ts';
import { toWireToolName } from '../core/wireToolNames.ts';
import { replaceLoneSurrogates } from './normalizeHistory.ts';

export const isTextAttachment = ({ mediaType }: Attachment) => mediaType.startsWith('text/');
export const isImageAttachment = ({ mediaType }: Attachment) => mediaType.startsWith('image/');

export function attachmentText({ mediaType, data, name }: Attachment): string {
  return `${replaceLoneSurrogates(name ?? mediaType)}:\n${Buffer.from(data, 'base64').toString('utf8')}`;
}

export function attachmentsIn(messages: readonly Message[]): Attachment[] {
  return messages.flatMap((message) => {
    if (message.role === 'user') return message.attachments ?? [];
    return message.role === 'tool' ? message.toolResults.flatMap(({ attachments = [] }) => attachments) : [];
  });
}

const tokensOfPicture = 1200;

export function attachmentTokens(messages: readonly Message[]): number {
  return attachmentsIn(messages).reduce(
    (sum, file) => sum + (isTextAttachment(file) ? estimateBase64Tokens(file.data) : tokensOfPicture),
    0,
  );
}

export function withUnseenAttachmentNote(
  { content, attachments = [] }: ToolResult,
  why = 'Not shown, for this model does not see it',
): string {
  if (attachments.length === 0) return content;
  const names = attachments.map(({ name, mediaType }) => name ?? mediaType).join(', ');
  const note = `${why}: ${names}.`;
  try {
    return JSON.stringify({ ...JSON.parse(content), note });
  } catch {
    return `${content}\n${note}`; // plain text, not an outcome object
  }
}

export const toolImagesCaption = ({ name }: ToolCall): string =>
  `Images from the result of ${toWireToolName(name) || 'a tool'}:`;

/** Converts messages for a text-only model: text files become message text, other files only a name. */
export function toTextOnlyMessages(messages: readonly Message[]): { messages: Message[]; leftOut: Attachment[] } {
  const leftOut: Attachment[] = [];
  const texts = messages.map((message): Message => {
    if (message.role === 'tool') return { ...message, toolResults: message.toolResults.map(unseenIn) };
    if (message.role !== 'user' || !message.attachments) return message;
    leftOut.push(...message.attachments.filter((file) => !isTextAttachment(file)));
    const files = message.attachments.map((file) => (isTextAttachment(file) ? attachmentText(file) : unseen(file)));
    const parts = [...files, message.content];
    return { role: 'user', content: parts.filter((text) => text !== '').join('\n\n') };
  });
  return { messages: texts, leftOut };

  function unseenIn(result: ToolResult): ToolResult {
    const { attachments = [], ...rest } = result;
    leftOut.push(...attachments);
    return { ...rest, content: withUnseenAttachmentNote(result) };
  }
}

const unseen = ({ name, mediaType }: Attachment) =>
  `(${replaceLoneSurrogates(name ?? mediaType)}: left out, you cannot see it)`;
