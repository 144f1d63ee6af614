import type { TokenUsage } from '../content/messages.ts';
import { escapeInvisibleInLine } from '../text/escapeInvisible.ts';
import { englishCount, formatEnglishInteger } from '../text/plurals.ts';
import { shortenText } from '../text/shorten.ts';
import { type RunEvent, runEventSchema, type StoredFileChange } from './events.ts';
import { formatDollars } from './money.ts';
import { commandEndTextForModel, hasCommandFailed } from './run.ts';

/** Log line of one event: names, sizes, times, codes and command lines. Messages appear only as their length. */
export interface LogLine {
  level: 'debug' | 'info' | 'warn' | 'error';
  text: string;
}

type Of<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

/**
 * Returns the log line of an event; undefined: none. `hide` removes home folders and keys from the whole text before truncation, because
 * truncated keys would not be found.
 */
export function logLineOf(event: RunEvent, hide: (text: string) => string): LogLine | undefined {
  const line = (lines[event.type] as (event: RunEvent) => LineText)(event);
  if (line === undefined) return undefined;
  const [level, text] = typeof line === 'string' ? (['info', line] as const) : line;
  return { level, text: escapeInvisibleInLine(cut(hide(text))) };
}

export const runEventTypes = runEventSchema.options.map((one) => one.shape.type.value);

type LineText = string | [Exclude<LogLine['level'], 'info'>, string] | undefined;

// Exhaustive by type: a new event type does not compile without a row.
const lines: { [Type in RunEvent['type']]: (event: Of<Type>) => LineText } = {
  'run-start': ({ imported, workflowId, agentId, model, effort }) =>
    `run ${imported ? 'was imported' : 'begins'}: workflow ${workflowId}${agentId && `, agent ${agentId}`}${model && `, model ${model}`}${effort ? `, thinking effort ${effort}` : ''}`,
  title: ({ usage, asked, by }) =>
    (by ? ['debug', 'the person renames the run'] : undefined) ??
    (usage && `named${asked ? ` by ${asked}` : ''}: ${tokens(usage)}`),
  pin: ({ pinned }) => ['debug', pinned ? 'the person pins the run' : 'the person unpins the run'],
  'limit-raise': ({ of, more, to }) =>
    `the person lets ${of === 'run' ? 'this run' : 'all runs'} spend ${formatDollars(more)} more${of === 'run' ? '' : ' today'}: ${formatDollars(to)} in all`,
  instructions: ({ files }) => `the workspace says to agents: ${filesInShort(files)}`,
  agent: ({ agentId }) => `agent ${agentId} speaks from here on`,
  model: ({ model, effort }) => `the conversation goes to ${model}${effort ? `, thinking effort ${effort}` : ''}`,
  message: ({ message, ends, instructions }) => {
    const { role, content } = message;
    if (role === 'user') return `the person says ${lengthOf(content)}${files(message.attachments?.length)}`;
    if (role === 'system' && instructions)
      return `the model hears what the workspace says: ${filesInShort(instructions)}`;
    if (role === 'system') return ends ? `the model hears of ${englishCount(ends.length, 'ended command')}` : undefined;
    if (role === 'tool') return undefined; // the end of the call is more specific
    const warned = message.warnings?.join(' ');
    const size = `${lengthOf(content)}, ${englishCount(message.toolCalls?.length ?? 0, 'call')}`;
    if (message.incomplete) return ['warn', `the reply broke off: ${size}${warned ? `. ${warned}` : ''}`];
    return warned ? ['warn', `the reply came not quite as asked: ${warned}`] : ['debug', `the reply is ${size}`];
  },
  'node-message': ({ node, message }) => {
    if (message.role !== 'assistant') return undefined; // logged with the request or at the end
    return [
      'debug',
      `the reply for node ${node} is ${lengthOf(message.content)}, ${englishCount(message.toolCalls?.length ?? 0, 'call')}`,
    ];
  },
  queued: ({ text, attachments, when = 'turn' }) =>
    `${lengthOf(text)}${files(attachments?.length)} of the person wait ${times[when]}`,
  'queued-change': ({ queued, text, when }) =>
    `what waited as ${queued} is ${lengthOf(text)} now, and waits ${times[when]}`,
  'queued-remove': ({ queued }) => `what waited as ${queued} is taken back`,
  'call-arguments': ({ toolCallId, arguments: changed, leftOut = [] }) => [
    'debug',
    `the arguments of ${named(undefined, toolCallId)} are not as sent: ${[...Object.keys(changed), ...leftOut].join(', ')}`,
  ],
  'approval-request': () => undefined, // logged by `question`
  approval: ({ toolCallId, name, decision, waitedMs, words, edited, automatic, holds }) => {
    const what = named(name, toolCallId);
    if (automatic !== undefined) return `${what} ${decisions[decision]} without a question: ${automatic}`;
    const held = holds ? ', and the run waits for instructions' : '';
    const more = `${edited ? ', changed by the person' : ''}${words ? ', with words' : ''}${held}`;
    return `${what} ${decisions[decision]} after ${duration(waitedMs)}${more}`;
  },
  access: ({ toolCallId, name, target: { host, port, paths: files = [] }, decision, waitedMs, automatic }) => {
    const what = host === undefined ? files.join(', ') : `${host}:${port}`;
    const how = automatic === undefined ? `after ${duration(waitedMs)}` : `without a question: ${automatic}`;
    return `${named(name, toolCallId)}: ${what} ${decisions[decision]} ${how}`;
  },
  'hold-end': () => 'the user lets the run continue without instructions',
  'tool-start': ({ toolCallId, name, changes = [], moved, command, reads }) => {
    const line = command ? `: \`${command.line}\` in ${command.folder}` : reads !== undefined ? `: \`${reads}\`` : '';
    const move = moved ? `: ${moved.from} to ${moved.to}` : '';
    return `${named(name, toolCallId)} begins${line}${move}${changes.length > 0 ? `: ${paths(changes)}` : ''}`;
  },
  'command-start': ({ toolCallId, process }) => ['debug', `${named(undefined, toolCallId)} has process ${process.pid}`],
  ask: ({ toolCallId, questions }) =>
    `${named(undefined, toolCallId)} asks the person ${englishCount(questions.length, 'question')}`,
  answer: ({ toolCallId, choices, said, attachments }) =>
    `${named(undefined, toolCallId)} is answered: ${englishCount(choices.length, 'choice')}, ${lengthOf(said ?? '')}${files(attachments?.length)}`,
  'tool-end': ({ toolCallId, name, ok, ms, code, exitCode, background, stillRunning }) => {
    const exit = exitCode === undefined ? '' : `, exit code ${exitCode ?? 'none: it was killed'}`;
    const more = `${background ? ', goes on in the background' : ''}${stillRunning?.length ? `, still at work: ${stillRunning.join(', ')}` : ''}`;
    const what = named(name, toolCallId);
    return ok
      ? `${what} done in ${duration(ms)}${exit}${more}`
      : ['warn', `${what} failed after ${duration(ms)}: ${code ?? 'UNKNOWN'}${more}`];
  },
  'task-start': ({ task, agent, name, maxSteps }) =>
    `task [${task}] is given to ${agent || name}: at most ${englishCount(maxSteps, 'step')}`,
  'task-message': ({ task, message }) => {
    if (message.role === 'user') return ['debug', `task [${task}] is told ${lengthOf(message.content)}`];
    if (message.role !== 'assistant') return undefined;
    const size = `${lengthOf(message.content)}, ${englishCount(message.toolCalls?.length ?? 0, 'call')}`;
    return ['debug', `the reply of task [${task}] is ${size}`];
  },
  'task-end': ({ task, status, limit, error }) => {
    const end = `task [${task}] ${status === 'done' ? 'is done' : status}${limit ? `: limit of ${limit}` : ''}`;
    return error ? ['warn', `${end}: ${error.code}: ${error.message}`] : end;
  },
  'interruption-choice': ({ toolCallIds, choice }) =>
    `the person lets ${englishCount(toolCallIds.length, 'interrupted call')} ${choice === 'again' ? 'run again' : 'be: the run continues after that'}`,
  'command-changes': ({ toolCallId, changes = [], repositories = [] }) =>
    `the command of ${named(undefined, toolCallId)} has changed ${paths([...changes, ...repositories]) || 'no file'}`,
  'command-end': ({ toolCallId, ...end }) => {
    const text = `the command of ${named(undefined, toolCallId)} ${commandEndTextForModel(end)}`;
    return hasCommandFailed(end) ? ['warn', text] : text;
  },
  undo: ({ toolCallIds, changes, repositories = [] }) =>
    `the person ${toolCallIds.length > 0 ? `undoes ${englishCount(toolCallIds.length, 'call')}` : 'restores files'}: ${paths([...changes, ...repositories])}`,
  redo: ({ toolCallIds, changes, repositories = [] }) =>
    `the user redoes ${toolCallIds.length > 0 ? englishCount(toolCallIds.length, 'call') : 'what was restored'}: ${paths([...changes, ...repositories])}`,
  usage: ({ model, asked = model, node, task, beside, ms, delayMs, attempts, usage, sent }) => {
    const waited = `${delayMs ? `, ${duration(delayMs)} of it waiting` : ''}${attempts > 1 ? `, at try ${attempts}` : ''}`;
    const which = asked === model || asked.endsWith(`/${model}`) ? asked : `${asked} (${model})`;
    return `${which}${forPart(node, task)}${forSummary(beside)} answers in ${duration(ms)}${waited}: ${tokens(usage)}${sent ? ` (sent ${sizes(sent)})` : ''}`;
  },
  attempt: ({ attempt, code, message, waitMs, model, asked = model, node, task, beside }) => [
    'warn',
    `${asked}${forPart(node, task)}${forSummary(beside)} gives no answer at try ${attempt}: ${code}: ${message}${waitMs === undefined ? '' : ` Tried again after ${duration(waitMs)}.`}`,
  ],
  outline: () => ['debug', 'the workflow is another than before'],
  node: ({ node, status, branch, error, warnings, next }) => {
    const text = `node ${node}${branch === undefined ? '' : ` (${branch})`} ${statuses[status]}`;
    if (error) return ['error', `${text}: ${error.code}: ${error.message}`];
    if (warnings) return ['warn', `${text}: ${warnings.join(' ')}`];
    return status === 'step' ? ['debug', text] : `${text}${next?.length ? `, next ${next.join(', ')}` : ''}`;
  },
  compaction: ({ upTo, summary, most, node, task }) =>
    `room is made${forPart(node, task)}: ${summary === undefined ? `long texts cut to ${most ?? 'the usual length'}` : `a summary of ${lengthOf(summary)}`} in place of what came before message ${upTo}`,
  mended: ({ damage }) => ['warn', `gone on with, though damaged: ${damage}`],
  phase: ({ phase, error, took }) => {
    const spent = took
      ? ` It took ${englishCount(took.turns, 'turn')}, ${duration(took.ms)}, ${englishCount(took.tokens, 'token')}.`
      : '';
    if (!error) return `${phases[phase]}.${spent}`;
    const text = `${phases[phase]}: ${error.code}: ${error.message}${spent}`;
    if (error.code === 'ENGINE_ABORTED') return text;
    return [phase === 'Failed' ? 'error' : 'warn', text];
  },
  chunk: () => undefined,
  request: ({ model, asked = model, host, node, task, beside, sent }) =>
    `asking ${asked}${host ? ` at ${host}` : ''}${forPart(node, task)}${forSummary(beside)}${sent ? `: ${sizes(sent)}` : ''}`,
  progress: ({ text, fraction, attempt, until, at }) => {
    if (fraction !== undefined || attempt !== undefined) return undefined; // logged by the preceding attempt
    return until === undefined ? text : `${text} (${duration(Math.max(0, until - at))})`;
  },
  pausing: () => 'the person wants it to rest after this turn',
  question: ({ toolCallId, question: { command, ...said }, isOver }) => {
    if (isOver) return undefined;
    const { what, where } = said.english ?? said;
    return `${named(undefined, toolCallId)} asks: ${what} (${where})${command === undefined ? '' : `: \`${command}\``}`;
  },
  'tool-output': () => undefined,
};

const times = { turn: 'for the next turn', done: 'for the end of the work', now: 'for the stop that it asks for' };

const decisions = { allow: 'is allowed', 'allow-run': 'is allowed for this run', deny: 'is denied' };
const statuses = {
  start: 'begins',
  step: 'has done a step',
  end: 'is done',
  failed: 'failed',
  undone: 'is taken back',
};
const phases = { Running: 'at work', WaitingUser: 'rests', Completed: 'is done', Failed: 'ends' };

const named = (name: string | undefined, toolCallId: string): string => `${name ?? 'call'} [${toolCallId}]`;
const forPart = (node: string | undefined, task: string | undefined): string =>
  node !== undefined ? ` for node ${node}` : task !== undefined ? ` for task [${task}]` : '';
const forSummary = (beside: true | undefined): string => (beside ? ' for a summary' : '');
const lengthOf = (text: string): string => englishCount(text.length, 'character');
const filesInShort = (all: readonly { path: string }[]): string => all.map(({ path }) => path).join(', ');
const files = (many = 0): string => (many > 0 ? ` and ${englishCount(many, 'file')}` : '');

function paths(changes: readonly (Pick<StoredFileChange, 'path'> & Partial<StoredFileChange>)[]): string {
  const shown = changes.slice(0, maxPaths).map(({ path, before, after }) => {
    const what = before === null ? 'new' : after === null ? 'deleted' : undefined;
    return what ? `${path} (${what})` : path;
  });
  const more = changes.length - shown.length;
  return [...shown, ...(more > 0 ? [`${formatEnglishInteger(more)} more`] : [])].join(', ');
}

const sizes = ({ messages, tools, tokens }: { messages: number; tools: number; tokens: number }): string =>
  `${englishCount(messages, 'message')}, ${englishCount(tools, 'tool')}, about ${englishCount(tokens, 'token')}`;

function tokens({ promptTokens, cachedTokens, completionTokens, cost }: TokenUsage): string {
  const cached = cachedTokens ? ` (${formatEnglishInteger(cachedTokens)} cached)` : '';
  const paid = cost === undefined ? '' : `, $${cost.toFixed(4)}`;
  return `${englishCount(promptTokens, 'token')} read${cached}, ${formatEnglishInteger(completionTokens)} written${paid}`;
}

function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

const maxPaths = 10;
const maxText = 1000;

const cut = (text: string): string => shortenText(text, maxText);
