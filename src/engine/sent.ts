import { excerptOfResult } from '../llm/excerpt.ts';
import { type Message, userMessage } from '../protocol/messages.ts';
import type { Run } from '../protocol/run.ts';
import { tokensOfMessages } from './tokens.ts';

type Said = Pick<Run, 'compactions'> & { messages: readonly Message[] };

/** Characters of each text of an old tool output that are still sent. */
const outputLimit = 600;

/** What is sent of a conversation. */
export const sentMessages = (said: Said): Message[] => [...sentOf(said).messages];

/** What that has of tokens, roughly. */
export const tokensOfSent = (said: Said): number => sentOf(said).tokens;

interface Sent {
  /** How many messages, and which compactions, are in it. */
  upTo: number;
  compactions: Said['compactions'];
  messages: Message[];
  tokens: number;
}

/** As it was worked out the last time. A conversation only grows: between two compactions a turn looks at what is new alone. */
const latest = new WeakMap<Said['messages'], Sent>();

function sentOf({ messages, compactions }: Said): Sent {
  const known = latest.get(messages);
  const goesOn = known && isSame(known.compactions, compactions);
  const sent = goesOn ? known : { upTo: 0, compactions: [...compactions], messages: [], tokens: 0 };
  const more = workedOut(goesOn ? { messages: messages.slice(sent.upTo), compactions: [] } : { messages, compactions });
  for (const message of more) sent.messages.push(message);
  sent.tokens += tokensOfMessages(more);
  sent.upTo = messages.length;
  latest.set(messages, sent);
  return sent;
}

const isSame = (ones: readonly unknown[], others: readonly unknown[]): boolean =>
  ones.length === others.length && ones.every((one, index) => one === others[index]);

/**
 * What is sent of a run: everything said, but for empty replies that a stop left behind, and for what its compactions
 * shorten or put a summary in place of. Between two compactions the beginning is the same every time.
 */
function workedOut({ messages, compactions }: Said): Message[] {
  const shortened = compactions.reduce((most, { upTo }) => Math.max(most, upTo), 0);
  const { upTo: begin = 0, summary } = compactions.findLast((one) => one.summary !== undefined) ?? {};
  const rest = messages
    .slice(begin)
    .map((message, index) => (begin + index < shortened ? withShortOutput(message) : message));
  const before = summary === undefined ? [] : [...requests(messages.slice(0, begin)), userMessage(inPlace(summary))];
  return [...before, ...rest].filter(
    (message) => message.role !== 'assistant' || message.content !== '' || (message.toolCalls?.length ?? 0) > 0,
  );
}

/** The task and what the person asked for last are never summarised. */
function requests(messages: readonly Message[]): Message[] {
  const said = messages.filter((message) => message.role === 'user');
  return said.length > 1 ? [said[0]!, said.at(-1)!] : said;
}

function withShortOutput(message: Message): Message {
  if (message.role !== 'tool') return message;
  return { ...message, toolResults: message.toolResults.map((result) => excerptOfResult(result, outputLimit)) };
}

const inPlace = (summary: string): string =>
  `(A summary stands here in place of the oldest part of this conversation, which was too long. It is a record, not a new request.)\n\n${summary}`;
