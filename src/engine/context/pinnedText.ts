import { estimateTokenCount } from 'tokenx';
import { userQuestionToolName } from '../../protocol/content/askTool.ts';
import type { Message, ToolCall, ToolResult } from '../../protocol/content/messages.ts';
import { newestPlan } from '../../protocol/run/plan.ts';
import type { CallState } from '../../protocol/run/run.ts';
import { callWithCorrectedArguments } from '../../protocol/run/understoodArguments.ts';
import { truncateMiddle } from '../../protocol/text/shorten.ts';
import { secretFileReason } from '../../tools/policy/secretFiles.ts';
import type { RunConversation } from '../core/loopConversation.ts';
import { retainedUserRequests } from './promptMessages.ts';

interface PinnedRequest {
  /**
   * Request for pinned text. The summary covers messages before `upTo`. `tokens`: limit without the brief; `besides`: limit without the
   * plan; `brief`: task of the workflow node.
   */
  upTo: number;
  tokens: number;
  besides: number;
  brief?: string;
}

const shortLine = 200;

/**
 * Returns text that a summary must retain verbatim: the brief, the open plan, changed files, messages and decisions of the user, and (if
 * the budget allows) files that were read. The oldest lines are omitted first, with a note.
 */
export function textRetainedInSummary(
  conversation: RunConversation,
  { upTo, tokens, besides, brief }: PinnedRequest,
): string {
  const before = conversation.messages.slice(0, upTo);
  const calls = callsIn(before, conversation);
  const files = changedFiles(calls);
  let left = tokens;
  const section = (title: string, lines: readonly string[]): string[] => {
    const fitting = newestThatFit(lines, left - estimateTokenCount(title));
    if (fitting.length === 0) return [];
    const text = [title, ...fitting].join('\n');
    left -= estimateTokenCount(text);
    return [text];
  };
  const briefed = before.some(({ role, content }) => role === 'system' && content === brief);
  const plan = section('Your plan, what is open:', openPlan(conversation, upTo, calls));
  left = Math.min(left, besides);
  return [
    ...(briefed ? [`What you were told to do here:\n${brief}`] : []),
    ...plan,
    ...section(
      'Changed files:',
      [...files].map(([path, state]) => `- ${path}${state}`),
    ),
    ...section('What the person said and decided on the way, oldest first:', decisions(conversation, upTo, calls)),
    ...section('Files looked at:', lookedAt(calls, files)),
  ].join('\n\n');
}

interface Done {
  call: ToolCall;
  state?: CallState;
  result?: ToolResult;
}

function callsIn(messages: readonly Message[], { calls, callPrefix = '', callIds }: RunConversation): Done[] {
  const results = new Map<string, ToolResult>();
  for (const message of messages)
    if (message.role === 'tool') for (const result of message.toolResults) results.set(result.toolCallId, result);
  const asked = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []));
  return asked.map((call) => {
    const state = calls[callIds?.[call.id] ?? callPrefix + call.id];
    return { call: callWithCorrectedArguments(call, state), state, result: results.get(call.id) };
  });
}

const succeeded = ({ result }: Done): boolean => result !== undefined && !result.error;

function openPlan({ messages }: RunConversation, upTo: number, calls: readonly Done[]): string[] {
  const refused = new Set(calls.filter((done) => !succeeded(done)).map(({ call }) => call.id));
  const understood = new Map(calls.map(({ call }) => [call.id, call]));
  const plan = newestPlan(
    messages,
    ({ id }) => !refused.has(id),
    (call) => understood.get(call.id) ?? call,
  );
  if (!plan || plan.at >= upTo) return [];
  const open = plan.items.filter(({ status }) => status !== 'done');
  return open.map(({ text, status }) => `- ${text}${status === 'active' ? ' (at work on it)' : ''}`);
}

function changedFiles(calls: readonly Done[]): Map<string, string> {
  const files = new Map<string, { before: string | null; after: string | null; undone: boolean }>();
  const moves: [string, string][] = [];
  for (const { state } of calls) {
    for (const { path, before, after } of state?.changes ?? []) {
      if (state?.snapshot !== undefined && secretFileReason(path.split('/'))) continue; // the model has not named it
      const undone = state?.undone?.includes(path) ?? false;
      const first = files.get(path);
      files.set(path, { before: first && !first.undone ? first.before : before, after, undone });
    }
    if (state?.moved) moves.push([state.moved.to, ` (moved from ${state.moved.from})`]);
  }
  const state = [...files].map(([path, { before, after, undone }]): [string, string] => {
    if (undone) return [path, ' (undone by the person)'];
    return [path, before === null ? ' (created)' : after === null ? ' (deleted)' : ''];
  });
  return new Map([...state, ...moves]);
}

function decisions({ messages }: RunConversation, upTo: number, calls: readonly Done[]): string[] {
  const sent = retainedUserRequests(messages, { upTo, kept: '', at: messages.length });
  const byId = new Map(calls.map((done) => [done.call.id, done]));
  return messages.slice(0, upTo).flatMap((message): string[] => {
    if (message.role === 'user') return sent.includes(message) ? [] : [`- ${message.content}`];
    if (message.role !== 'tool') return [];
    return message.toolResults.flatMap(({ toolCallId }) => decided(byId.get(toolCallId)) ?? []);
  });
}

function decided(done: Done | undefined): string | undefined {
  if (!done?.result) return undefined;
  const { call, state, result } = done;
  const asked = () => `${call.name} ${truncateMiddle(JSON.stringify(call.arguments), shortLine)}`;
  if (call.name === userQuestionToolName && succeeded(done))
    return `- Asked: ${asked()}\n  Answered: ${result.content}`;
  if (state?.decision === 'deny' && !state.automatic) return `- Not allowed: ${asked()}\n  ${messageIn(result)}`;
  return state?.edited ? `- Changed by the person before they allowed it: ${asked()}` : undefined;
}

function messageIn({ content }: ToolResult): string {
  try {
    return String((JSON.parse(content) as { error?: { message?: unknown } }).error?.message ?? '');
  } catch {
    return content;
  }
}

function lookedAt(calls: readonly Done[], changed: ReadonlyMap<string, string>): string[] {
  const paths = calls.filter(succeeded).map(({ call }) => call.arguments.path);
  const read = paths.filter((path): path is string => typeof path === 'string' && !changed.has(path));
  return [...new Set(read)].map((path) => `- ${path}`);
}

function newestThatFit(lines: readonly string[], tokens: number): string[] {
  let left = tokens - tokensOfNote;
  const fitting: string[] = [];
  for (const line of lines.toReversed()) {
    if (left <= 1) break;
    const shown = [line, truncateMiddle(line, shortLine)].find((one) => estimateTokenCount(one) < left);
    if (shown === undefined) continue;
    left -= estimateTokenCount(shown) + 1;
    fitting.unshift(shown);
  }
  const missing = lines.length - fitting.length;
  return fitting.length > 0 && missing > 0 ? [`- (${missing} more, left out)`, ...fitting] : fitting;
}

const tokensOfNote = 10;
