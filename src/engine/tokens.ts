import { estimateTokenCount } from 'tokenx';
import type { ChatRequest } from '../llm/client.ts';
import { tokensOfFiles } from '../llm/files.ts';
import type { Message } from '../protocol/messages.ts';
import type { Run } from '../protocol/run.ts';

/** Role and marks around each message. */
const tokensAround = 4;

/** Tokens of what would be sent now: the provider's number of the last call and what came since, else `estimate`. */
export function tokensOfRun(run: Run, estimate: number): number {
  if (run.contextTokens === 0) return estimate;
  return run.contextTokens + tokensOfMessages(run.messages.slice(run.contextMessages));
}

export function tokensOfPrefix({ systemPrompt, tools }: Omit<ChatRequest, 'messages'>): number {
  return estimateTokenCount(systemPrompt) + estimateTokenCount(JSON.stringify(tools ?? []));
}

export function tokensOfMessages(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + tokensOf(message), 0);
}

/** Messages are never rewritten, and counting a long one takes a while. */
const counted = new WeakMap<Message, number>();

function tokensOf(message: Message): number {
  const known = counted.get(message);
  if (known !== undefined) return known;
  const tokens = tokensAround + estimateTokenCount(textOf(message)) + Math.ceil(tokensOfFiles([message]));
  counted.set(message, tokens);
  return tokens;
}

function textOf(message: Message): string {
  if (message.role === 'tool') return message.toolResults.map(({ content }) => content).join('\n');
  if (message.role === 'assistant' && message.toolCalls)
    return `${message.content}\n${message.toolCalls.map((call) => `${call.name} ${JSON.stringify(call.arguments)}`).join('\n')}`;
  return message.content;
}
