import type { AssistantMessage, Attachment, ToolResult } from '../../protocol/content/messages.ts';
import type { ChatRequest } from '../core/client.ts';
import { extendSet, type GrowingSet } from '../core/growingLists.ts';
import { toWireToolName } from '../core/wireToolNames.ts';
import { createHistoryConverter } from '../messages/convertedHistory.ts';
import {
  normalizeGrowingHistory,
  omittedBeginningText,
  replaceLoneSurrogates,
  toWellFormedJson,
} from '../messages/normalizeHistory.ts';
import {
  isThinkingBlock,
  matchingAnthropicNativeBlocks,
  type ThinkingBlock,
  thinkingSignature,
} from './providerMetadata.ts';

export interface CacheControl {
  cache_control?: { type: 'ephemeral' };
}

type AnthropicWireBlock = CacheControl &
  (
    | { type: 'text'; text: string }
    | { type: 'image'; source: Source }
    | { type: 'document'; source: Source; title?: string }
    | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown> }
    | { type: 'tool_result'; tool_use_id: string; content: string | AnthropicWireBlock[]; is_error?: true }
    | ThinkingBlock
  );

type Source = { type: 'base64'; media_type: string; data: string } | { type: 'text'; media_type: string; data: string };

export interface AnthropicWireMessage {
  role: 'user' | 'assistant';
  content: AnthropicWireBlock[];
}

interface WireHistory {
  system: string;
  messages: AnthropicWireMessage[];
}

/** `refused`: signatures of thinking blocks that the provider rejected. */
interface HistoryFlags {
  refused?: ReadonlySet<string>;
}

/**
 * Converts a history to alternating user and assistant messages, with a user message first and last. All results of a turn come first in
 * the user message after the calls. Blank text is omitted, because the API answers 400. The messages must not be modified.
 */
export function toAnthropicWireHistory(
  request: Pick<ChatRequest, 'systemPrompt' | 'messages'>,
  flags: HistoryFlags,
): WireHistory {
  const history = normalizeGrowingHistory(request);
  return { system: history.system, messages: convertHistory(history, flags).messages };
}

interface ConvertedHistory {
  messages: AnthropicWireMessage[];
  /** Ids of the calls so far. */
  taken: GrowingSet;
}

const convertHistory = createHistoryConverter<ConvertedHistory, HistoryFlags>({
  begin: () => ({ messages: [], taken: new Set() }),
  add({ messages, taken }, entry, { refused }) {
    const add = (role: AnthropicWireMessage['role'], content: AnthropicWireBlock[]) => {
      const last = messages.at(-1);
      if (content.length === 0) return;
      if (last?.role === role) messages[messages.length - 1] = { role, content: [...last.content, ...content] };
      else messages.push({ role, content });
    };
    if (entry.role === 'user') return add('user', [...(entry.attachments ?? []).map(toFile), ...text(entry.content)]);
    const ids = (entry.message.toolCalls ?? []).map(({ id }) => toWireId(id, taken));
    if (messages.length === 0) add('user', text(omittedBeginningText));
    add('assistant', toReply(entry.message, ids, refused ?? new Set()));
    const results = entry.results.map((result, index) => toResult(result, ids[index]!));
    add('user', results);
  },
  copyOf: ({ messages, taken }) => ({ messages: [...messages], taken: extendSet(taken) }),
});

const text = (content: string): AnthropicWireBlock[] =>
  content.trim() === '' ? [] : [{ type: 'text', text: replaceLoneSurrogates(content) }];

function toReply(
  message: AssistantMessage,
  ids: readonly string[],
  refused: ReadonlySet<string>,
): AnthropicWireBlock[] {
  const calls = (message.toolCalls ?? []).map(({ name, arguments: input }, index): AnthropicWireBlock => {
    return {
      type: 'tool_use',
      id: ids[index]!,
      name: toWireToolName(name) || 'unknown',
      input: toWellFormedJson(input),
    };
  });
  const plain = [...text(message.content), ...calls];
  const native = matchingAnthropicNativeBlocks(message) ?? [];
  if (native.some((block) => isThinkingBlock(block) && refused.has(thinkingSignature(block)))) return plain;
  let written = 0;
  let called = 0;
  const blocks = native.flatMap((block): AnthropicWireBlock[] => {
    if (block.type === 'tool_use') return [calls[called++]!];
    if (block.type !== 'text') return [block];
    written += block.length;
    return text(message.content.slice(written - block.length, written));
  });
  const last = blocks.at(-1);
  return last === undefined || isThinkingBlock(last) ? plain : blocks; // thinking must not end a message
}

/**
 * Converts a result. A malformed call was sent without arguments, and its result explains the error. An error result may contain only text.
 */
function toResult({ content, error, attachments = [] }: ToolResult, id: string): AnthropicWireBlock {
  const safeText = replaceLoneSurrogates(content);
  if (error) return { type: 'tool_result', tool_use_id: id, content: safeText, is_error: true };
  const files = attachments.map(toFile);
  return { type: 'tool_result', tool_use_id: id, content: files.length > 0 ? [...text(safeText), ...files] : safeText };
}

/**
 * Returns a unique id of letters, digits, `_` and `-`. Other servers count from `call_0` in every reply, so ids repeat. The result depends
 * only on earlier ids: the same history must produce the same ids, or the prompt cache is missed.
 */
function toWireId(id: string, taken: GrowingSet): string {
  const clean = id.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'call';
  let wireId = clean;
  for (let count = 2; taken.has(wireId); count++) wireId = `${clean}_${count}`;
  taken.add(wireId);
  return wireId;
}

function toFile({ mediaType, data, name }: Attachment): AnthropicWireBlock {
  const media_type = mediaType === 'image/jpg' ? 'image/jpeg' : mediaType;
  const title = name === undefined ? {} : { title: replaceLoneSurrogates(name) };
  if (/^image\/(jpeg|png|gif|webp)$/.test(media_type)) {
    return { type: 'image', source: { type: 'base64', media_type, data } };
  }
  if (media_type === 'application/pdf')
    return { type: 'document', source: { type: 'base64', media_type, data }, ...title };
  if (/^text\/|json|xml|yaml/.test(media_type)) {
    const plain = replaceLoneSurrogates(Buffer.from(data, 'base64').toString('utf8'));
    return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: plain }, ...title };
  }
  return {
    type: 'text',
    text: replaceLoneSurrogates(`(The file ${name ?? ''} is left out: ${mediaType} cannot be shown here.)`),
  };
}
