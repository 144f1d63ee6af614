import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { ChatRequest, ChatStreamChunk, LLMClient } from '../../src/llm/core/client.ts';
import { collectChatStream } from '../../src/llm/core/client.ts';
import type { Message, ToolCall } from '../../src/protocol/content/messages.ts';
import { pendingCalls } from '../../src/protocol/run/pending.ts';

/** Text that takes more than one block of a disk, so that half of it is seen to be half. */
const long = (word: string) => Array.from({ length: 1200 }, (_, at) => `${word} ${at}\n`).join('');

/** What a step does to a file; null: there is none on that side. */
interface Change {
  before: Buffer | null;
  after: Buffer | null;
}

/** One call of the script, and the files that are its own: nobody else touches them. */
export interface Step {
  name: string;
  tool: string;
  args: Record<string, unknown>;
  files: Record<string, Change>;
  /** What it does cannot be told from its files, nor be undone. */
  command?: true;
}

const change = (before: string | Buffer | null, after: string | Buffer | null): Change => ({
  before: before === null ? null : Buffer.from(before),
  after: after === null ? null : Buffer.from(after),
});
const wide = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
const edit = (file: string, oldText: string, newText: string) => ({ path: file, edits: [{ oldText, newText }] });
const run = (name: string, command: string, left: string): Step => ({
  name,
  tool: 'shell.run',
  args: { command },
  files: { [`${name}.txt`]: change(null, left) },
  command: true,
});

/**
 * The calls of the script, reply by reply. Every way of changing a file is in it once. The first reply is long, so that a disk
 * is full in the middle of the record of a reply that asks for commands.
 */
export const turns: readonly (readonly Step[])[] = [
  [run('first', 'echo once >> first.txt', 'once\n'), run('second', 'echo once >> second.txt', 'once\n')],
  [
    { name: 'read', tool: 'fs.read', args: { path: 'plain.txt' }, files: {} },
    { name: 'list', tool: 'fs.list', args: { path: '.' }, files: {} },
    {
      name: 'new',
      tool: 'fs.write',
      args: { path: 'made/new.txt', content: long('new') },
      files: { 'made/new.txt': change(null, long('new')) },
    },
    {
      name: 'edit',
      tool: 'fs.edit',
      args: edit('plain.txt', 'plain 300\n', 'edited 300\n'),
      files: { 'plain.txt': change(long('plain'), long('plain').replace('plain 300\n', 'edited 300\n')) },
    },
  ],
  [
    {
      name: 'mixed',
      tool: 'fs.edit',
      args: edit('mixed.txt', 'two', '2'),
      files: { 'mixed.txt': change(`one\r\ntwo\n${long('m')}`, `one\r\n2\n${long('m')}`) },
    },
    {
      name: 'wide',
      tool: 'fs.write',
      args: { path: 'wide.txt', content: long('wider') },
      files: { 'wide.txt': change(wide(long('wide')), wide(long('wider'))) },
    },
    run('ran', 'echo once >> ran.txt', 'once\n'),
    {
      name: 'patch',
      tool: 'fs.apply_patch',
      args: { patch: '--- a/patched.txt\n+++ b/patched.txt\n@@ -1,2 +1,2 @@\n-first\n+1st\n p 0\n' },
      files: { 'patched.txt': change(`first\n${long('p')}`, `1st\n${long('p')}`) },
    },
  ],
  [
    {
      name: 'delete',
      tool: 'fs.delete',
      args: { path: 'gone.bin' },
      files: { 'gone.bin': change(Buffer.from([0, 255, 1, 2]), null) },
    },
    {
      name: 'folder',
      tool: 'fs.delete',
      args: { path: 'old' },
      files: { 'old/one.txt': change('1', null), 'old/two.txt': change(long('two'), null) },
    },
    {
      name: 'move',
      tool: 'fs.move',
      args: { from: 'from.txt', to: 'there/to.txt' },
      files: { 'from.txt': change(long('moved'), null), 'there/to.txt': change(null, long('moved')) },
    },
    run('slow', 'for i in 1 2 3 4; do echo $i >> slow.txt; sleep 0.05; done', '1\n2\n3\n4\n'),
  ],
];
export const steps: readonly Step[] = turns.flat();
/** What is said with the first reply, and with each after it. */
export const firstWords = long('this');
export const words = 'Next comes this.';
export const lastWords = 'Done.';
export const task = 'Do all of it.';

/** What the workspace holds before anything was done. */
export const initialFiles: Record<string, Buffer> = Object.fromEntries(
  steps.flatMap(({ files }) => Object.entries(files).flatMap(([file, { before }]) => (before ? [[file, before]] : []))),
);

/** `torn`: a file holds neither what it held before nor what it should hold after; `between`: some are done, some are not. */
export type StepState = 'before' | 'after' | 'between' | 'torn';

export function stateOf({ files, tool, command }: Step, root: string): StepState {
  const sides = Object.entries(files).map(([file, { before, after }]) => {
    const now = contentOf(path.join(root, file));
    if (isSame(now, before)) return 'before';
    if (isSame(now, after)) return 'after';
    return command && now && after?.subarray(0, now.length).equals(now) ? 'between' : 'torn'; // it may be at work still
  });
  if (sides.includes('torn')) return 'torn';
  if (sides.includes('between')) return 'between';
  // A folder is moved aside as a whole before its files go: while all are there, nothing is deleted, and it comes back.
  const aside = tool === 'fs.delete' && sides.length > 1 ? filesAside(root) : 0;
  if (aside > 0) return aside === sides.length ? 'before' : 'between';
  return sides.every((side) => side === sides[0]) ? (sides[0] ?? 'before') : 'between';
}

function filesAside(root: string): number {
  const folders = readdirSync(root, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && entry.name.startsWith('.towpath-'),
  );
  return folders.flatMap(({ name }) => readdirSync(path.join(root, name))).length;
}

export const contentOf = (file: string): Buffer | null =>
  statSync(file, { throwIfNoEntry: false })?.isFile() ? readFileSync(file) : null;
const isSame = (one: Buffer | null, other: Buffer | null) =>
  one === null || other === null ? one === other : one.equals(other);

/** Calls of the script are called `<step>.<uuid>`: a reply that was lost takes its names with it. */
export const stepOf = (callId: string): Step | undefined => steps.find(({ name }) => name === callId.split('.')[0]);

/** What a model makes of a result: it goes on after a `done` and an `unknown`, and asks again for what did not run. */
export type Told = 'done' | 'did not run' | 'unknown';

export function toldOf(content: string, error: string | undefined): Told {
  if (error === undefined) return 'done';
  return /did not run|not run:|nothing was (run|changed)/i.test(content) ? 'did not run' : 'unknown';
}

/** What was last told of each step. */
export function toldIn(messages: readonly Message[]): Map<string, Told> {
  const results = messages.flatMap((message) => (message.role === 'tool' ? message.toolResults : []));
  return new Map(
    results.flatMap(({ toolCallId, content, error }) => {
      const step = stepOf(toolCallId);
      return step ? [[step.name, toldOf(content, error)]] : [];
    }),
  );
}

/** What the script does next, after these messages: nothing, when all of it is done. */
export function nextCalls(messages: readonly Message[]): ToolCall[] {
  const told = toldIn(messages);
  const isOpen = ({ name }: Step) => told.get(name) === undefined || told.get(name) === 'did not run';
  const open = turns.map((turn) => turn.filter(isOpen)).find((turn) => turn.length > 0) ?? [];
  return open.map(({ name, tool, args }) => ({ id: `${name}.${randomUUID()}`, name: tool, arguments: args }));
}

/** A model that knows nothing but what it is sent. `unpaired` hears of calls that came without their result. */
export function scriptedModel(unpaired: (callIds: string[]) => void): LLMClient {
  async function* chatStream({ messages }: ChatRequest): AsyncGenerator<ChatStreamChunk, void, unknown> {
    const missing = pendingCalls(messages).map(({ id }) => id);
    if (missing.length > 0) unpaired(missing);
    const calls = nextCalls(messages);
    const isFirst = !messages.some(({ role }) => role === 'assistant');
    const said = calls.length === 0 ? lastWords : isFirst ? firstWords : words;
    for (const piece of said.match(/.{1,5000}/gs)!) {
      await new Promise((resolve) => setImmediate(resolve));
      yield { content: piece, done: false };
    }
    for (const toolCall of calls) yield { toolCall, done: false };
    const usage = { promptTokens: 10, completionTokens: 5, totalTokens: 15 };
    yield { done: true, finishReason: calls.length > 0 ? 'tool_calls' : 'stop', usage };
  }
  return { chatStream, chat: (request) => collectChatStream(chatStream(request), request.model) };
}
