// @invariant system-messages-are-tagged: Messages of Towpath within a conversation reach the model in tags that no other text can
// contain.
import type { Attachment, Message } from '../../protocol/content/messages.ts';

type UserMessage = Extract<Message, { role: 'user' }>;

const tag = 'system-message';
/**
 * Returns a system message within a conversation as a tagged user message. The tags identify Towpath's text: no other user text contains
 * the tags, and the message itself cannot close them.
 */
export const withSystemTags = (content: string): UserMessage => ({
  role: 'user',
  content: content.trim() === '' ? '' : `<${tag}>\n${escapeSystemTags(content)}\n</${tag}>`,
});

export function withoutSystemTags(message: UserMessage): UserMessage {
  const { content, attachments } = message;
  return {
    ...message,
    content: escapeSystemTags(content),
    ...(attachments && { attachments: attachments.map(disarmedFile) }),
  };
}

function disarmedFile(file: Attachment): Attachment {
  const named = file.name === undefined ? file : { ...file, name: escapeSystemTags(file.name) };
  if (!/^text\/|json|xml|yaml/.test(file.mediaType)) return named;
  const text = Buffer.from(file.data, 'base64').toString('utf8');
  const escaped = escapeSystemTags(text);
  return escaped === text ? named : { ...named, data: Buffer.from(escaped).toString('base64') };
}

/**
 * Creates a function that escapes `<` as `&lt;` before a tag name. Disguised names match too: capitals, accents, inserted characters and
 * similar letters of other scripts.
 *
 * @param letters the name in lower case
 */
export function createTagEscaper(letters: string): (text: string) => string {
  return (text) =>
    text.replace(openingSigns, (sign, at: number) => (begins(text, at + sign.length, letters) ? '&lt;' : sign));
}

const openingSigns = /[<＜﹤‹〈⟨˂❮]/g;
const maxBetween = 12;
const leastOwn = 3;

function begins(text: string, from: number, letters: string): boolean {
  let at = 0;
  let own = 0;
  for (const sign of text.slice(from, from + letters.length * maxBetween)) {
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

const skeleton = (sign: string): string => sign.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '');

export const escapeSystemTags = createTagEscaper('systemmessage');
