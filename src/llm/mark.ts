import type { Attachment, Message } from '../protocol/messages.ts';

type UserMessage = Extract<Message, { role: 'user' }>;

const tag = 'system-message';
/** Between the letters of a tag that is disguised. */
const gap = String.raw`[\s\p{Pd}\p{Cf}_/]*`;

/**
 * A system message in mid-conversation as the person's. The tags say whose words they are: nothing else that is told as the
 * person's has them, and nothing in the message itself ends them.
 */
export const asSystemMessage = (content: string): UserMessage => ({
  role: 'user',
  content: content.trim() === '' ? '' : `<${tag}>\n${disarmed(content)}\n</${tag}>`,
});

/** The person's words and text files, in which nothing passes for a system message. */
export function withoutMark(message: UserMessage): UserMessage {
  const { content, attachments } = message;
  return { ...message, content: disarmed(content), ...(attachments && { attachments: attachments.map(disarmedFile) }) };
}

function disarmedFile(file: Attachment): Attachment {
  const named = file.name === undefined ? file : { ...file, name: disarmed(file.name) };
  if (!/^text\/|json|xml|yaml/.test(file.mediaType)) return named;
  const text = Buffer.from(file.data, 'base64').toString('utf8');
  const told = disarmed(text);
  return told === text ? named : { ...named, data: Buffer.from(told).toString('base64') };
}

/**
 * `<` as `&lt;`, at the beginning of the tags of a name alone, however they are disguised: in capitals, with blanks, dashes or invisible
 * signs in them.
 */
export function disarming(letters: string): (text: string) => string {
  const begun = new RegExp(`[<＜﹤](?=${gap}${[...letters].join(gap)})`, 'giu');
  return (text) => text.replace(begun, '&lt;');
}

export const disarmed = disarming('systemmessage');
