import type { AssistantMessage, Message, ToolResult } from '../../protocol/content/messages.ts';
import { failure, toToolResult } from '../../protocol/content/tools.ts';
import type { ChatRequest } from '../core/client.ts';
import { asSystemMessage, withoutMark } from './systemTags.ts';

/** What was said after the system prompt, as every provider will take it. */
export type AssistantText =
  | Extract<Message, { role: 'user' }>
  /** `results[i]` answers `message.toolCalls[i]`. */
  | { role: 'assistant'; message: AssistantMessage; results: ToolResult[] };

/**
 * The history with what it lacks mended (a 400 would follow). `system` is the system prompt with the system messages that
 * the history begins with; later ones are told as the person's, marked, because many chat templates refuse them there, and
 * others leave them out without a word. Every call has exactly one result, right after the message with the calls and in
 * the order asked, whatever the place it was kept in; results nobody asked for, second results, assistant messages that
 * say nothing and empty messages of the person beside others of theirs are left out. Where an answer that broke off is gone
 * on with, or the person said nothing, `goOn` asks for that: servers refuse an answer as the last message, and templates two in a row.
 */
export function repairHistory({ systemPrompt = '', messages }: Pick<ChatRequest, 'systemPrompt' | 'messages'>): {
  system: string;
  said: AssistantText[];
} {
  const first = messages.findIndex(({ role }) => role !== 'system');
  // Somebody has to speak: of nothing but system messages the last one does.
  const head = messages.slice(0, first < 0 ? -1 : first);
  const system = [systemPrompt, ...head.map(({ content }) => content)]
    .filter((text) => text.trim() !== '')
    .join('\n\n');
  return { system, said: saidAfter(messages, head.length) };
}

function saidAfter(messages: readonly Message[], begin: number): AssistantText[] {
  const said: AssistantText[] = [];
  for (const [index, message] of messages.entries()) {
    if (index < begin || message.role === 'tool') continue;
    const last = said.at(-1);
    if (message.role !== 'assistant') {
      const told = message.role === 'user' ? withoutMark(message) : asSystemMessage(message.content);
      if (last?.role === 'user' && saysNothing(told)) continue;
      if (last?.role === 'user' && saysNothing(last)) said.pop();
      said.push(told);
      continue;
    }
    const calls = message.toolCalls ?? [];
    if (message.content === '' && calls.length === 0) continue; // stopped before its first word: refused when empty
    if (endsWithAnswer(said)) said.push(goOn);
    const given = resultsAfter(messages, index);
    const results = calls.map(({ id }) => given.get(id) ?? toToolResult(id, interrupted));
    said.push({ role: 'assistant', message, results });
  }
  // Nor is anybody asked who was told nothing: the beginning of a record may be lost.
  if (said.length === 0 || endsWithAnswer(said)) said.push(goOn);
  // Some wires leave out what says nothing, and the request would end with the model's own words.
  return said.map((one) => (one.role === 'user' && saysNothing(one) ? goOn : one));
}

/** Said by the person's side where a conversation begins with the model's own words: some providers refuse that. */
export const beginningLeftOut = '(The beginning of this conversation is left out.)';

/** What a person means who lets an answer go on. */
export const goOn: Extract<AssistantText, { role: 'user' }> = { role: 'user', content: 'Continue.' };

function endsWithAnswer(said: readonly AssistantText[]): boolean {
  const last = said.at(-1);
  return last?.role === 'assistant' && last.results.length === 0;
}

const saysNothing = ({ content, attachments = [] }: Extract<AssistantText, { role: 'user' }>) =>
  content.trim() === '' && attachments.length === 0;

/** The results between an assistant message and the next one, by call; the first one given counts. */
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

const interrupted = failure('TOOL_INTERRUPTED', 'Stopped before there was a result; it may or may not have run.');

/** Half an emoji makes providers answer 400 ("no low surrogate"). */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD');
}

/** JSON data in which every string and every key is well-formed; the value itself when it is so already. */
export function wellFormedData<Data>(data: Data): Data {
  // JSON.stringify writes a lone surrogate, and only that, as an escape of this form.
  const text = JSON.stringify(data);
  if (!/\\ud[89a-f]/.test(text)) return data;
  return JSON.parse(text, (_, value) => {
    if (typeof value === 'string') return wellFormed(value);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [wellFormed(key), inner]));
  }) as Data;
}
