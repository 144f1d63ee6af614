import type { AssistantMessage, Message, ToolResult } from '../../protocol/content/messages.ts';
import { failedToolOutcome, toToolResult } from '../../protocol/content/tools.ts';
import type { ChatRequest } from '../core/client.ts';
import { createGrowingListCache } from '../core/growingLists.ts';
import { withoutSystemTags, withSystemTags } from './systemTags.ts';

export type NormalizedMessage =
  | Extract<Message, { role: 'user' }>
  /** `results[i]` answers `message.toolCalls[i]`. */
  | { role: 'assistant'; message: AssistantMessage; results: ToolResult[] };

/**
 * Normalizes a history so that every provider accepts the messages (else a 400 follows). `system` joins the system prompt and the leading
 * system messages. Later system messages become tagged user messages, because many chat templates reject or drop system messages there.
 * Each call gets exactly one result, directly after its message and in call order. Unrequested and duplicate results, empty assistant
 * messages, and empty user messages beside others are omitted. `goOn` is added after an interrupted answer or an empty user message:
 * servers reject an answer as the last message, and templates reject two consecutive answers.
 */
export function normalizeHistory(request: Pick<ChatRequest, 'systemPrompt' | 'messages'>): {
  system: string;
  normalized: NormalizedMessage[];
} {
  const { system, settled, open } = normalizeGrowingHistory(request);
  return { system, normalized: [...settled, ...open] };
}

/**
 * Normalized history of a conversation that grows. `settled`: the messages that later messages cannot change, which are all before the
 * newest reply. The list is the same object in the next request of the conversation, and contains the same messages and perhaps more.
 */
export interface NormalizedHistory {
  system: string;
  settled: readonly NormalizedMessage[];
  open: readonly NormalizedMessage[];
}

/** Normalizes like `normalizeHistory`, and normalizes the settled messages of a conversation once. Messages must not be modified. */
export function normalizeGrowingHistory({
  systemPrompt = '',
  messages,
}: Pick<ChatRequest, 'systemPrompt' | 'messages'>): NormalizedHistory {
  const first = messages.findIndex(({ role }) => role !== 'system');
  // at least one message must remain: of system messages only, the last one is the user message
  const head = messages.slice(0, first < 0 ? -1 : first);
  const system = [systemPrompt, ...head.map(({ content }) => content)]
    .filter((text) => text.trim() !== '')
    .join('\n\n');
  const newest = Math.max(head.length, messages.findLastIndex(isReply));
  const settled = settledMessages(messages, head.length, newest);
  const open = normalizedFrom(messages, newest, messages.length, settled.at(-1));
  // The history needs a user message at the end; the start of a damaged record may be missing.
  const last = open.at(-1) ?? settled.at(-1);
  if (!last || endsWithAnswer([last])) open.push(continuationUserMessage);
  return { system, settled, open: open.map(toNonEmpty) };
}

const settledOf = createGrowingListCache<Message, { upTo: number; settled: NormalizedMessage[] }>(() => ({
  upTo: 0,
  settled: [],
}));

/** Returns the normalized messages before the newest reply, at `end`. The reply belongs to the key: it settles what is before it. */
function settledMessages(messages: readonly Message[], begin: number, end: number): readonly NormalizedMessage[] {
  if (end <= begin) return [];
  const { state } = settledOf(messages, end + 1);
  const news = normalizedFrom(messages, Math.max(begin, state.upTo), end, state.settled.at(-1));
  for (const message of news) state.settled.push(toNonEmpty(message));
  state.upTo = end;
  return state.settled;
}

/** Normalizes the messages from `from` to `end`. `before`: the normalized message before them; not part of the result. */
function normalizedFrom(
  messages: readonly Message[],
  from: number,
  end: number,
  before: NormalizedMessage | undefined,
): NormalizedMessage[] {
  const normalized: NormalizedMessage[] = before ? [before] : [];
  for (let index = from; index < end; index++) {
    const message = messages[index]!;
    if (message.role === 'tool') continue;
    const last = normalized.at(-1);
    if (message.role !== 'assistant') {
      const tagged = message.role === 'user' ? withoutSystemTags(message) : withSystemTags(message.content);
      if (last?.role === 'user' && isEmpty(tagged)) continue;
      if (last?.role === 'user' && isEmpty(last)) normalized.pop();
      normalized.push(tagged);
      continue;
    }
    if (!isReply(message)) continue; // stopped before the first token: an empty message is rejected
    const calls = message.toolCalls ?? [];
    if (endsWithAnswer(normalized)) normalized.push(continuationUserMessage);
    const given = resultsAfter(messages, index);
    const results = calls.map(({ id }) => given.get(id) ?? toToolResult(id, interrupted));
    normalized.push({ role: 'assistant', message, results });
  }
  return before ? normalized.slice(1) : normalized;
}

const isReply = (message: Message): boolean =>
  message.role === 'assistant' && (message.content !== '' || (message.toolCalls?.length ?? 0) > 0);

const toNonEmpty = (one: NormalizedMessage): NormalizedMessage =>
  one.role === 'user' && isEmpty(one) ? continuationUserMessage : one;

/** User message before a conversation that starts with an assistant message, which some providers reject. */
export const omittedBeginningText = '(The beginning of this conversation is left out.)';

export const continuationUserMessage: Extract<NormalizedMessage, { role: 'user' }> = {
  role: 'user',
  content: 'Continue.',
};

function endsWithAnswer(normalized: readonly NormalizedMessage[]): boolean {
  const last = normalized.at(-1);
  return last?.role === 'assistant' && last.results.length === 0;
}

const isEmpty = ({ content, attachments = [] }: Extract<NormalizedMessage, { role: 'user' }>) =>
  content.trim() === '' && attachments.length === 0;

function resultsAfter(messages: readonly Message[], index: number): Map<string, ToolResult> {
  const results = new Map<string, ToolResult>();
  for (let at = index + 1; at < messages.length; at++) {
    const message = messages[at]!;
    if (message.role === 'assistant') break;
    if (message.role !== 'tool') continue;
    for (const result of message.toolResults) {
      if (!results.has(result.toolCallId)) results.set(result.toolCallId, result);
    }
  }
  return results;
}

const interrupted = failedToolOutcome(
  'TOOL_INTERRUPTED',
  'Stopped before there was a result; it may or may not have run.',
);

/** Replaces lone surrogates: providers answer 400 ("no low surrogate"). */
export function replaceLoneSurrogates(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD');
}

/** Returns JSON data with well-formed strings and keys; unchanged data is returned as the same object. */
export function toWellFormedJson<Data>(data: Data): Data {
  // JSON.stringify escapes only lone surrogates in this form
  const text = JSON.stringify(data);
  if (!/\\ud[89a-f]/.test(text)) return data;
  return JSON.parse(text, (_, value) => {
    if (typeof value === 'string') return replaceLoneSurrogates(value);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [replaceLoneSurrogates(key), inner]));
  }) as Data;
}
