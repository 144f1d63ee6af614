import { estimateTokenCount } from 'tokenx';
import type { ChatRequest } from '../../llm/core/client.ts';
import { attachmentTokens } from '../../llm/messages/attachments.ts';
import type { Message } from '../../protocol/content/messages.ts';
import { truncateMiddle } from '../../protocol/text/shorten.ts';
import type { RunConversation } from './loopConversation.ts';

const tokensAround = 4;

/** Tokens of the next prompt: the provider's count of the last call plus newer messages, else `estimate`. */
export function nextPromptTokens(run: RunConversation, estimate: number): number {
  if (run.contextTokens === 0) return estimate;
  return run.contextTokens + tokensOfMessages(run.messages.slice(run.contextMessages));
}

/** Caches counts by object: prefixes and messages are immutable, and counting is slow. */
const counted = new WeakMap<object, number>();

function once<Of extends object>(of: Of, count: (of: Of) => number): number {
  const known = counted.get(of);
  if (known !== undefined) return known;
  const tokens = count(of);
  counted.set(of, tokens);
  return tokens;
}

export const promptPrefixTokens = (prefix: Omit<ChatRequest, 'messages'>): number =>
  systemPromptTokens(prefix) + tokensOfTools(prefix);

export const systemPromptTokens = (prefix: Omit<ChatRequest, 'messages'>): number =>
  once(prefix, ({ systemPrompt }) => estimateTokenCount(systemPrompt));

export const tokensOfTools = ({ tools = [] }: Omit<ChatRequest, 'messages'>): number =>
  once(tools, () => estimateTokenCount(JSON.stringify(tools)));

export function tokensOfMessages(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + tokensOf(message), 0);
}

const tokensOf = (message: Message): number =>
  once(message, () => tokensBeside(message) + estimateTokenCount(countedText(message)));

/** Tokens of a message without its text: its frame and its images. */
export const tokensBeside = (message: Message): number => tokensAround + Math.ceil(attachmentTokens([message]));

/** Text of a message for a token count: content, calls and results. */
export function countedText(message: Message): string {
  if (message.role === 'tool') return message.toolResults.map(({ content }) => content).join('\n');
  if (message.role === 'assistant' && message.toolCalls)
    return `${message.content}\n${message.toolCalls.map((call) => `${call.name} ${JSON.stringify(call.arguments)}`).join('\n')}`;
  return message.content;
}

export function truncateToTokens(text: string, tokens: number): string {
  let short = text;
  for (let most = tokens * 6; estimateTokenCount(short) > tokens; most = Math.floor(most * 0.75)) {
    if (most < 40) return '';
    short = truncateMiddle(text, most);
  }
  return short;
}
