import { tokensOfData } from '../../protocol/content/mentionText.ts';
import type { Attachment, Message, ToolCall, ToolResult } from '../../protocol/content/messages.ts';
import { toWireName } from '../core/wireToolNames.ts';
import { wellFormed } from './normalizeHistory.ts';

export const isTextAttachment = ({ mediaType }: Attachment) => mediaType.startsWith('text/');
export const isImage = ({ mediaType }: Attachment) => mediaType.startsWith('image/');

/** A text file as part of what is said, for the wires that have no files of this kind. */
export function textOfFile({ mediaType, data, name }: Attachment): string {
  return `${wellFormed(name ?? mediaType)}:\n${Buffer.from(data, 'base64').toString('utf8')}`;
}

/** All files of a conversation: the person's, and those of tool results. */
export function filesIn(messages: readonly Message[]): Attachment[] {
  return messages.flatMap((message) => {
    if (message.role === 'user') return message.attachments ?? [];
    return message.role === 'tool' ? message.toolResults.flatMap(({ attachments = [] }) => attachments) : [];
  });
}

/** Providers count a picture by its size, between some hundred and two thousand. */
const tokensOfPicture = 1200;

/** Roughly: a text by its length, everything else as a picture. */
export function tokensOfFiles(messages: readonly Message[]): number {
  return filesIn(messages).reduce(
    (sum, file) => sum + (isTextAttachment(file) ? tokensOfData(file.data) : tokensOfPicture),
    0,
  );
}

/** The content of a result for a model that does not get to see its pictures, and should not act as if it did. */
export function contentUnseen(
  { content, attachments = [] }: ToolResult,
  why = 'Not shown, for this model does not see it',
): string {
  if (attachments.length === 0) return content;
  const names = attachments.map(({ name, mediaType }) => name ?? mediaType).join(', ');
  const note = `${why}: ${names}.`;
  try {
    return JSON.stringify({ ...JSON.parse(content), note });
  } catch {
    return `${content}\n${note}`; // told in words, not as an outcome
  }
}

/** Before the pictures of a result, where they cannot be a part of it. */
export const imagesFrom = ({ name }: ToolCall): string => `Images from the result of ${toWireName(name) || 'a tool'}:`;

/** The messages for a model that reads nothing but text: text files become part of what is said, of others the name. */
export function asText(messages: readonly Message[]): { messages: Message[]; leftOut: Attachment[] } {
  const leftOut: Attachment[] = [];
  const texts = messages.map((message): Message => {
    if (message.role === 'tool') return { ...message, toolResults: message.toolResults.map(unseenIn) };
    if (message.role !== 'user' || !message.attachments) return message;
    leftOut.push(...message.attachments.filter((file) => !isTextAttachment(file)));
    const files = message.attachments.map((file) => (isTextAttachment(file) ? textOfFile(file) : unseen(file)));
    const parts = [...files, message.content];
    return { role: 'user', content: parts.filter((text) => text !== '').join('\n\n') };
  });
  return { messages: texts, leftOut };

  function unseenIn(result: ToolResult): ToolResult {
    const { attachments = [], ...rest } = result;
    leftOut.push(...attachments);
    return { ...rest, content: contentUnseen(result) };
  }
}

const unseen = ({ name, mediaType }: Attachment) => `(${wellFormed(name ?? mediaType)}: left out, you cannot see it)`;
