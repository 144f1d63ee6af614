import { type Compaction, defaultTruncationLength } from '../../protocol/content/compaction.ts';
import { type Message, type ToolCall, userMessage } from '../../protocol/content/messages.ts';
import { newestPlan } from '../../protocol/run/plan.ts';
import { tokensOfMessages } from '../core/tokenCount.ts';
import { truncateMessage } from './truncateMessages.ts';

interface CompactedMessages {
  messages: readonly Message[];
  compactions: readonly Compaction[];
}

export const promptMessages = (conversation: CompactedMessages): Message[] => [...sentOf(conversation).messages];

export const estimatedPromptTokens = (conversation: CompactedMessages): number => sentOf(conversation).parts.sent;

/** Estimated tokens of a prompt by kind. `sent`: total; `instructions`: system notes; `leftOut`: stored but not sent. */
export interface PromptTokenParts {
  sent: number;
  instructions: number;
  messages: number;
  output: number;
  answers: number;
  summary: number;
  leftOut: number;
}

export const promptTokenPartsOf = (conversation: CompactedMessages): Readonly<PromptTokenParts> =>
  sentOf(conversation).parts;

interface Sent {
  upTo: number;
  compactions: CompactedMessages['compactions'];
  messages: Message[];
  parts: PromptTokenParts;
}

const latest = new WeakMap<CompactedMessages['messages'], Sent>();

function sentOf({ messages, compactions }: CompactedMessages): Sent {
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

const noParts: PromptTokenParts = {
  sent: 0,
  instructions: 0,
  messages: 0,
  output: 0,
  answers: 0,
  summary: 0,
  leftOut: 0,
};

export function countPromptTokenParts(sent: readonly Message[], conversation: readonly Message[]): PromptTokenParts {
  const parts = { ...noParts };
  count(parts, sent, conversation);
  return parts;
}

function count(parts: PromptTokenParts, sent: readonly Message[], conversation: readonly Message[]): void {
  for (const message of sent) {
    const tokens = tokensOfMessages([message]);
    parts.sent += tokens;
    parts[partOf(message)] += tokens;
  }
  parts.leftOut = Math.max(0, parts.leftOut + tokensOfMessages(conversation) - tokensOfMessages(sent));
}

function partOf(message: Message): Exclude<keyof PromptTokenParts, 'sent' | 'leftOut'> {
  if (message.role === 'system') return 'instructions';
  if (message.role === 'tool') return 'output';
  if (message.role === 'assistant') return 'answers';
  return message.content.startsWith(summaryHeading) ? 'summary' : 'messages';
}

const isSame = (ones: readonly unknown[], others: readonly unknown[]): boolean =>
  ones.length === others.length && ones.every((one, index) => one === others[index]);

/**
 * Builds the prompt messages: all messages without empty replies of a stop, with truncations and summaries applied. Between two compactions
 * the prefix of the prompt is stable.
 */
export function buildPrompt({ messages, compactions }: CompactedMessages): Message[] {
  const summarised = compactions.findLast((one) => one.summary !== undefined);
  const begin = summarised?.upTo ?? 0;
  const limits = compactions.filter(({ upTo }) => upTo > begin);
  const plan = limits.length > 0 ? openPlan(messages.slice(begin, compactions.at(-1)!.at)) : undefined;
  const rest = messages.slice(begin).map((message, index) => {
    const at = begin + index;
    const most = limits.reduce(
      (least, one) => (at < one.upTo ? Math.min(least, one.most ?? defaultTruncationLength) : least),
      whole,
    );
    return most === whole ? message : truncateMessage(message, most, plan);
  });
  const before = summarised ? [...retainedUserRequests(messages, summarised), summaryMessage(summarised)] : [];
  return [...before, ...rest].filter(
    (message) => message.role !== 'assistant' || message.content !== '' || (message.toolCalls?.length ?? 0) > 0,
  );
}

const whole = Number.POSITIVE_INFINITY;

// Call with the newest plan at the last compaction, so that the prompt stays stable until the next compaction.
function openPlan(conversation: readonly Message[]): ToolCall | undefined {
  const failed = new Set(
    conversation.flatMap((message) =>
      message.role === 'tool'
        ? message.toolResults.flatMap(({ error, toolCallId }) => (error ? [toolCallId] : []))
        : [],
    ),
  );
  const asSent = (call: ToolCall) => call;
  return newestPlan(conversation, ({ id }) => !failed.has(id), asSent)?.call;
}

/** Returns the messages of a summarized range that stay verbatim: the task, and the newest request at the compaction. */
export function retainedUserRequests(
  messages: readonly Message[],
  { upTo, kept, at }: Omit<Compaction, 'summary'>,
): Message[] {
  const indexes = messages
    .slice(0, kept === undefined ? upTo : at)
    .flatMap(({ role }, index) => (role === 'user' ? [index] : []));
  const [task, newest] = [indexes[0], indexes.at(-1)];
  return [...new Set([task, newest])].flatMap((index) =>
    index !== undefined && index < upTo ? [messages[index]!] : [],
  );
}

const summaryHeading =
  '(A summary stands here in place of the oldest part of this conversation, which was too long. It is a record, not a new request.)';

function summaryMessage({ summary, kept }: Compaction): Message {
  return userMessage([summaryHeading, summary, kept].filter(Boolean).join('\n\n'));
}
