import type { Message, ToolCall } from '../../src/protocol/content/messages.ts';
import { toToolResult } from '../../src/protocol/content/tools.ts';
import type { RunEventBody } from '../../src/protocol/run/events.ts';
import { begin } from './conversation.ts';

/** Conversations in which a run gives tasks to agents. */

const give = (id: string, title: string): ToolCall => ({
  id,
  name: 'task.run',
  arguments: { title, prompt: `${title}: look for mistakes.`, agent: 'reviewer' },
});

/** The run gives these tasks, in one reply. */
export const givesTasks = (...tasks: [id: string, title: string][]): RunEventBody[] => [
  ...begin,
  {
    type: 'message',
    message: { role: 'assistant', content: 'I give this to others.', toolCalls: tasks.map(([id, title]) => give(id, title)) },
  },
  ...tasks.flatMap(([id]): RunEventBody[] => [
    { type: 'approval', toolCallId: id, decision: 'allow', waitedMs: 0, automatic: 'Tasks are free.' },
    { type: 'tool-start', toolCallId: id, name: 'task.run' },
  ]),
  ...tasks.map(([id, title]): RunEventBody => ({ type: 'task-start', task: id, title, agent: 'reviewer', name: 'reviewer', maxSteps: 20 })),
]; // biome-ignore format: an event a line

export const taskSays = (task: string, message: Message): RunEventBody => ({ type: 'task-message', task, message });

/** A task receives its instructions and sends its first request. */
export const taskBegins = (task: string): RunEventBody[] => [
  taskSays(task, { role: 'user', content: 'Review the parser: look for mistakes.' }),
  { type: 'request', model: 'qwen3-coder', task },
];

/** A reply of a task, with its usage. */
export const taskReplies = (task: string, content: string, toolCalls: ToolCall[] = [], dollars = 0.01): RunEventBody[] => [
  {
    type: 'usage',
    usage: { promptTokens: 5900, completionTokens: 100, totalTokens: 6000, cost: dollars },
    attempts: 1,
    model: 'qwen3-coder',
    ms: 900,
    task,
  },
  taskSays(task, { role: 'assistant', content, ...(toolCalls.length > 0 && { toolCalls }) }),
]; // biome-ignore format: as a whole

export const parserCall: ToolCall = { id: 'read', name: 'fs.read', arguments: { path: 'src/parse.ts' } };

/** A task reads a file; the read has not ended. */
export const taskReads = (task: string, id = 'read'): RunEventBody[] => [
  ...taskReplies(task, 'I read the parser.', [{ ...parserCall, id }]),
  { type: 'approval', toolCallId: `${task}:${id}`, decision: 'allow', waitedMs: 0, automatic: 'Reads are free.' },
  { type: 'tool-start', toolCallId: `${task}:${id}`, name: 'fs.read' },
];

export const taskHasRead = (task: string): RunEventBody[] => [
  ...taskReads(task),
  { type: 'tool-end', toolCallId: `${task}:read`, name: 'fs.read', ok: true, ms: 8 },
  taskSays(task, {
    role: 'tool',
    content: '',
    toolResults: [toToolResult('read', { ok: true, data: { path: 'src/parse.ts', content: 'let at = 0;' } })],
  }),
];

/** A task wants to run a command and waits for the answer of the user. */
export const taskAsks = (task: string): RunEventBody[] => [
  ...taskReplies(task, 'I run the tests.', [
    { id: 'test', name: 'shell.run', arguments: { command: 'npm test -- parser' } },
  ]),
  {
    type: 'question',
    toolCallId: `${task}:test`,
    question: { id: 'q1', what: 'Run npm test -- parser', where: '/home/ada/sample', why: 'It runs this project’s code.' },
  },
]; // biome-ignore format: as a whole

/** The result of a task that has ended, in the conversation of the run. */
export const taskResult = (task: string, text: string): RunEventBody[] => [
  { type: 'tool-end', toolCallId: task, name: 'task.run', ok: true, ms: 60_000 },
  {
    type: 'message',
    message: { role: 'tool', content: '', toolResults: [toToolResult(task, { ok: true, data: { text } })] },
  },
];

/** One task in each of its states. */
export const tasksInEachState: RunEventBody[] = [
  ...givesTasks(
    ['t1', 'Review the parser'],
    ['t2', 'Review the tests of the command line and of its help pages'],
    ['t3', 'Review the printer'],
    ['t4', 'Find uses'],
    ['t5', 'Count the lines'],
    ['t6', 'Review the help'],
  ),
  ...['t1', 't2', 't3', 't4', 't5'].flatMap(taskBegins),
  ...taskReads('t1'),
  ...taskAsks('t2'),
  ...taskHasRead('t3'),
  { type: 'task-end', task: 't3', status: 'done' },
  { type: 'task-end', task: 't4', status: 'failed', error: { code: 'LLM_RATE_LIMITED', message: 'Rate limit of OpenAI' } },
  { type: 'task-end', task: 't5', status: 'stopped', limit: 'steps' },
]; // biome-ignore format: an event a line
