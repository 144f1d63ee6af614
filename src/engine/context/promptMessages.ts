import { type Compaction, usualMost } from '../../protocol/content/compaction.ts';
import { type Message, type ToolCall, userMessage } from '../../protocol/content/messages.ts';
import { newestPlan } from '../../protocol/run/plan.ts';
import { tokensOfMessages } from '../core/tokenCount.ts';
import { truncateMessage } from './truncateMessages.ts';

interface Said {
  messages: readonly Message[];
  compactions: readonly Compaction[];
}

/** What is sent of a conversation. */
export const promptMessages = (said: Said): Message[] => [...sentOf(said).messages];

/** What that has of tokens, roughly. */
export const tokensOfSent = (said: Said): number => sentOf(said).parts.sent;

/** Tokens by what they are of, roughly. */
export interface PromptParts {
  /** All of what is sent. */
  sent: number;
  /** Notes to the model on the way. */
  instructions: number;
  words: number;
  output: number;
  answers: number;
  summary: number;
  /** Of what was said, and is not sent. */
  leftOut: number;
}

export const partsOfSent = (said: Said): Readonly<PromptParts> => sentOf(said).parts;

interface Sent {
  /** How many messages, and which compactions, are in it. */
  upTo: number;
  compactions: Said['compactions'];
  messages: Message[];
  parts: PromptParts;
}

/** As it was worked out the last time. A conversation only grows: between two compactions a turn looks at what is new alone. */
const latest = new WeakMap<Said['messages'], Sent>();

function sentOf({ messages, compactions }: Said): Sent {
  const known = latest.get(messages);
  const goesOn = known && isSame(known.compactions, compactions);
  const sent = goesOn ? known : { upTo: 0, compactions: [...compactions], messages: [], parts: { ...noParts } };
  const news = goesOn ? messages.slice(sent.upTo) : messages;
  const more = buildPrompt({ messages: news, compactions: goesOn ? [] : compactions });
  for (const message of more) sent.messages.push(message);
  count(sent.parts, more, news);
  sent.upTo = messages.length;
  latest.set(messages, sent);
  return sent;
}

const noParts: PromptParts = { sent: 0, instructions: 0, words: 0, output: 0, answers: 0, summary: 0, leftOut: 0 };

/** What is sent in place of what was said. */
export function promptParts(sent: readonly Message[], said: readonly Message[]): PromptParts {
  const parts = { ...noParts };
  count(parts, sent, said);
  return parts;
}

function count(parts: PromptParts, sent: readonly Message[], said: readonly Message[]): void {
  for (const message of sent) {
    const tokens = tokensOfMessages([message]);
    parts.sent += tokens;
    parts[partOf(message)] += tokens;
  }
  parts.leftOut = Math.max(0, parts.leftOut + tokensOfMessages(said) - tokensOfMessages(sent));
}

function partOf(message: Message): Exclude<keyof PromptParts, 'sent' | 'leftOut'> {
  if (message.role === 'system') return 'instructions';
  if (message.role === 'tool') return 'output';
  if (message.role === 'assistant') return 'answers';
  return message.content.startsWith(place) ? 'summary' : 'words';
}

const isSame = (ones: readonly unknown[], others: readonly unknown[]): boolean =>
  ones.length === others.length && ones.every((one, index) => one === others[index]);

/**
 * What is sent of a conversation: everything said, but for empty replies that a stop left behind, and for what its compactions
 * shorten or put a summary in place of. Between two compactions the beginning is the same every time.
 */
export function buildPrompt({ messages, compactions }: Said): Message[] {
  const summarised = compactions.findLast((one) => one.summary !== undefined);
  const begin = summarised?.upTo ?? 0;
  const limits = compactions.filter(({ upTo }) => upTo > begin);
  const plan = limits.length > 0 ? openPlan(messages.slice(begin, compactions.at(-1)!.at)) : undefined;
  const rest = messages.slice(begin).map((message, index) => {
    const at = begin + index;
    const most = limits.reduce((least, one) => (at < one.upTo ? Math.min(least, one.most ?? usualMost) : least), whole);
    return most === whole ? message : truncateMessage(message, most, plan);
  });
  const before = summarised ? [...requests(messages, summarised), inPlace(summarised)] : [];
  return [...before, ...rest].filter(
    (message) => message.role !== 'assistant' || message.content !== '' || (message.toolCalls?.length ?? 0) > 0,
  );
}

const whole = Number.POSITIVE_INFINITY;

/** The call that gave the plan: the newest when room was made the last time, so that what was sent stays the same until the next. */
function openPlan(said: readonly Message[]): ToolCall | undefined {
  const failed = new Set(
    said.flatMap((message) =>
      message.role === 'tool'
        ? message.toolResults.flatMap(({ error, toolCallId }) => (error ? [toolCallId] : []))
        : [],
    ),
  );
  const asSent = (call: ToolCall) => call;
  return newestPlan(said, ({ id }) => !failed.has(id), asSent)?.call;
}

/** Of what a summary stands for, the task stays as it was said, and what the person asked for last when room was made. */
export function requests(messages: readonly Message[], { upTo, kept, at }: Omit<Compaction, 'summary'>): Message[] {
  const places = messages
    .slice(0, kept === undefined ? upTo : at)
    .flatMap(({ role }, index) => (role === 'user' ? [index] : []));
  const [task, newest] = [places[0], places.at(-1)];
  return [...new Set([task, newest])].flatMap((place) =>
    place !== undefined && place < upTo ? [messages[place]!] : [],
  );
}

const place =
  '(A summary stands here in place of the oldest part of this conversation, which was too long. It is a record, not a new request.)';

function inPlace({ summary, kept }: Compaction): Message {
  return userMessage([place, summary, kept].filter(Boolean).join('\n\n'));
}
