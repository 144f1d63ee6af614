import type { Attachment, Message } from '../../protocol/content/messages.ts';

type UserMessage = Extract<Message, { role: 'user' }>;

const tag = 'system-message';
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
 * `<` as `&lt;`, at the beginning of the tags of a name alone, however they are disguised: in capitals, with accents, with other signs in
 * them, or with letters of other scripts in the place of some.
 * @param letters of the name, lower case
 */
export function disarming(letters: string): (text: string) => string {
  return (text) =>
    text.replace(openingSigns, (sign, at: number) => (begins(text, at + sign.length, letters) ? '&lt;' : sign));
}

const openingSigns = /[<＜﹤‹〈⟨˂❮]/g;
/** Characters that are looked at, for each letter of the name: others may stand between them. */
const mostBetween = 12;
/** Letters that have to be the name's own: where none is, it is another word. */
const leastOwn = 3;

function begins(text: string, from: number, letters: string): boolean {
  let at = 0;
  let own = 0;
  for (const sign of text.slice(from, from + letters.length * mostBetween)) {
    if (sign === '<' || sign === '>' || (at === letters.length && /[\s/]/.test(sign))) break;
    for (const unit of skeleton(sign)) {
      if (!/[\p{L}\p{N}$@]/u.test(unit)) continue;
      if (at === letters.length) return own === at; // a longer word
      if (unit === letters[at]) own += 1;
      else if (/[a-z]/.test(unit)) return false;
      at += 1;
    }
    if (at === letters.length && own === at) return true;
  }
  return at === letters.length && own >= leastOwn;
}

/** A character without its accents and its form: a letter that is no Latin one stays as it is, and may stand for any. */
const skeleton = (sign: string): string => sign.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '');

export const disarmed = disarming('systemmessage');
