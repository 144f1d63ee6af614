import { excerptOfCall, excerptOfResult, truncate } from '../../llm/core/truncate.ts';
import { contentUnseen } from '../../llm/messages/attachments.ts';
import { usualMost } from '../../protocol/content/compaction.ts';
import type { Message, ToolCall, ToolResult } from '../../protocol/content/messages.ts';

/** Below the usual limit there is so little room that the model's own words are cut as well, to a multiple of it. */
const wordsLimit = 4;

/** So many times as much stays of the open plan, which is of use only as a whole; its own limits are 50 items of 200 characters. */
const planLimit = 20;

/** The same message is shortened once: what is sent of it is the same object, and its tokens are counted once. */
const known = new WeakMap<Message, Map<string, Message>>();

/**
 * A message with its long outputs and arguments cut to `most` characters each, and without the pictures of results.
 * @param plan the call that gave the open plan, which stays as it is
 */
export function truncateMessage(message: Message, most: number, plan?: ToolCall): Message {
  if (message.role !== 'tool' && message.role !== 'assistant') return message;
  const own = message.role === 'assistant' && plan && message.toolCalls?.includes(plan) ? plan : undefined;
  const before = known.get(message) ?? new Map<string, Message>();
  known.set(message, before);
  const key = `${most} ${own?.id}`;
  const short = before.get(key) ?? shorten(message, most, own);
  before.set(key, short);
  return short;
}

function shorten(message: Extract<Message, { role: 'tool' | 'assistant' }>, most: number, plan?: ToolCall): Message {
  if (message.role === 'tool') {
    const toolResults = message.toolResults.map((result) => excerptOfResult(withoutPictures(result), most));
    const same = toolResults.every((result, index) => result === message.toolResults[index]);
    return same ? message : { ...message, toolResults };
  }
  const content = most < usualMost ? truncate(message.content, most * wordsLimit) : message.content;
  const { toolCalls = [] } = message;
  const calls = toolCalls.map((call) => excerptOfCall(call, call === plan ? most * planLimit : most));
  const same = content === message.content && calls.every((call, index) => call === toolCalls[index]);
  return same ? message : { ...message, content, ...(calls.length > 0 && { toolCalls: calls }) };
}

function withoutPictures(result: ToolResult): ToolResult {
  const { attachments, ...rest } = result;
  return attachments ? { ...rest, content: contentUnseen(result, 'Not shown any more') } : result;
}
