import { truncateToolCall, truncateToolResult } from '../../llm/core/truncate.ts';
import { withUnseenAttachmentNote } from '../../llm/messages/attachments.ts';
import { defaultTruncationLength } from '../../protocol/content/compaction.ts';
import type { Message, ToolCall, ToolResult } from '../../protocol/content/messages.ts';
import { truncateMiddle } from '../../protocol/text/shorten.ts';

/** Below the default limit, the model's own text is truncated, too, to this multiple of the limit. */
const ownTextFactor = 4;

/** Multiple of the limit for the open plan, which is only useful as a whole. */
const planLimit = 20;

const known = new WeakMap<Message, Map<string, Message>>();

/**
 * Truncates long outputs and arguments to `most` characters each and removes images of results.
 *
 * @param plan call with the open plan, not truncated
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
    const toolResults = message.toolResults.map((result) => truncateToolResult(withoutPictures(result), most));
    const same = toolResults.every((result, index) => result === message.toolResults[index]);
    return same ? message : { ...message, toolResults };
  }
  const content =
    most < defaultTruncationLength ? truncateMiddle(message.content, most * ownTextFactor) : message.content;
  const { toolCalls = [] } = message;
  const calls = toolCalls.map((call) => truncateToolCall(call, call === plan ? most * planLimit : most));
  const same = content === message.content && calls.every((call, index) => call === toolCalls[index]);
  return same ? message : { ...message, content, ...(calls.length > 0 && { toolCalls: calls }) };
}

function withoutPictures(result: ToolResult): ToolResult {
  const { attachments, ...rest } = result;
  return attachments ? { ...rest, content: withUnseenAttachmentNote(result, 'Not shown any more') } : result;
}
