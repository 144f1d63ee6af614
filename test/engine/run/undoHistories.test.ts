import assert from 'node:assert/strict';
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { ExecutionEngine } from '../../../src/engine/run/engine.ts';
import type { UndoResult } from '../../../src/engine/run/undo.ts';
import { createAdapter } from '../../../src/llm/adapter/adapter.ts';
import {
  type ChatRequest,
  type ChatStreamChunk,
  collectChatStream,
  type LLMClient,
} from '../../../src/llm/core/client.ts';
import type { ToolCall } from '../../../src/protocol/content/messages.ts';
import type { RunEvent } from '../../../src/protocol/run/events.ts';
import { RunStore } from '../../../src/runs/store.ts';
import type { ApprovalRequester } from '../../../src/tools/core/tool.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { createToolHost } from '../../../src/tools/host/host.ts';
import { defaultChatWorkflow } from '../../../src/workflows/run/chatWorkflow.ts';
import { watchDisk } from '../../support/diskPoints.ts';
import { tries } from '../../support/tries.ts';
import { type TemporaryWorkspace, workspaceIn } from '../../support/workspace.ts';

/** Drawn numbers of a call; they choose among what is there when the model is asked. */
interface Drawn {
  kind: number;
  one: number;
  other: number;
  id: string;
  isLast: boolean;
}

interface History {
  calls: Drawn[];
  /** Order in which approval requests that wait together are answered. */
  order: number[];
  /** Part of the calls that stays: the others are undone. */
  stays: number;
  /** Operations on the disk after which the window is killed, in an undo and in a redo. */
  kills: { undo: number[]; redo: number[] };
}

const idArbitrary = fc.oneof(
  fc.nat(999_999_999).map(String),
  fc.nat(30).map((at) => `functions.fs_edit:${at}`),
  fc.uuid(),
  fc.constantFrom('__proto__', 'constructor', 'call_1', 'call_10', 'call_2', 'a|b', 'not usable!'),
);
const historyArbitrary: fc.Arbitrary<History> = fc.record({
  calls: fc.array(
    fc.record({
      kind: fc.nat(99),
      one: fc.nat(999),
      other: fc.nat(999),
      id: idArbitrary,
      isLast: fc.boolean(),
    }),
    { minLength: 1, maxLength: 9 },
  ),
  order: fc.array(fc.nat(9), { minLength: 9, maxLength: 9 }),
  stays: fc.nat(9),
  kills: fc.record({
    undo: fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 2 }),
    redo: fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 2 }),
  }),
});

const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
const initialFiles: Record<string, string | Buffer> = {
  a: 'one\n',
  '7': 'seven\r\nlines\r\n',
  constructor: 'c\n',
  'd/wide': utf16('grün\n'),
  'd/mark': '\ufeffmark\n',
  'd/sub/deep': 'deep\n',
  'bin.dat': Buffer.from([0, 255, 1]),
  'd/bin.dat': Buffer.from([0, 254, 2]),
  'e/other': 'other\n',
};
const places = [
  'a',
  'b',
  '10',
  '7',
  '__proto__',
  'constructor',
  'bin.dat',
  'd',
  'd/x',
  'd/wide',
  'd/bin.dat',
  'd/sub',
  'e',
  'e/x',
  'f',
  'f/g/h',
  'e/d',
];

type Tree = Map<string, string>;

/** Files by their bytes and modes, links by their targets, and folders that hold nothing. */
function treeOf(root: string, folder = ''): Tree {
  const tree: Tree = new Map();
  for (const name of readdirSync(path.join(root, folder)).sort()) {
    const place = path.posix.join(folder, name);
    const stats = lstatSync(path.join(root, place));
    if (stats.isSymbolicLink()) tree.set(place, `link ${readlinkSync(path.join(root, place))}`);
    else if (stats.isFile())
      tree.set(
        place,
        `file ${(stats.mode & 0o777).toString(8)} ${readFileSync(path.join(root, place)).toString('base64')}`,
      );
    else {
      const inside = treeOf(root, place);
      for (const [one, what] of inside) tree.set(one, what);
      if (inside.size === 0) tree.set(place, 'folder');
    }
  }
  return tree;
}

/** A folder that a run has made or left empty may stay, or go with its parent: nothing is lost by that. The one that was empty before is kept. */
const filesOf = (tree: Tree) => Object.fromEntries([...tree].filter(([, what]) => what !== 'folder'));
const foldersIn = (tree: Tree) =>
  [...tree].flatMap(([place, what]) => (what === 'folder' && /empty$/.test(place) ? [place] : []));

/** The call that these numbers mean, in a workspace as it is now. */
function callOf({ kind, one, other, id }: Drawn, root: string): ToolCall {
  const tree = treeOf(root);
  const of = (pattern: RegExp) => [...tree].flatMap(([place, what]) => (pattern.test(what) ? [place] : []));
  const isText = (place: string) => !/bin/.test(place) && !readFileSync(path.join(root, place)).includes(255);
  const texts = of(/^file/).filter((place) => !/bin/.test(place));
  const folders = [
    ...new Set([...tree.keys()].map((place) => path.posix.dirname(place)).filter((place) => place !== '.')),
  ];
  const things = [...tree.keys(), ...folders];
  const pick = (all: readonly string[], at: number) => all[at % Math.max(1, all.length)] ?? 'a';
  const call = (name: string, args: Record<string, unknown>): ToolCall => ({ id, name, arguments: args });
  if (kind < 30) return call('fs.write', { path: pick(texts, one), content: `written ${other}\n` });
  if (kind < 40) {
    const file = pick(texts.filter(isText), one);
    const [line = 'x'] = tree.has(file) ? readFileSync(path.join(root, file), 'utf8').split(/\r?\n/) : [];
    return call('fs.edit', { path: file, edits: [{ oldText: line, newText: `edited ${other}` }] });
  }
  if (kind < 55) return call('fs.write', { path: pick(places, one), content: `made ${other}\n` });
  if (kind < 75) return call('fs.move', { from: pick(things, one), to: pick(places, other) });
  return call('fs.delete', { path: pick(things, one) });
}

class Window {
  readonly workspace: TemporaryWorkspace;
  readonly store: RunStore;
  readonly engine: ExecutionEngine;
  readonly told: RunEvent[] = [];
  /** The files right before each call, in order. */
  readonly before: { id: string; tree: Tree }[] = [];
  private readonly waiting: (() => void)[] = [];

  constructor(
    readonly folder: string,
    readonly runId: string,
    private readonly history: History,
  ) {
    this.workspace = workspaceIn(folder);
    this.store = new RunStore(path.join(folder, 'store'));
    this.engine = new ExecutionEngine({
      store: this.store,
      host: async () => createToolHost({ workspace: this.workspace, tools: builtinTools(), approve: this.approve }),
      workflow: async () => defaultChatWorkflow,
      model: async () => ({
        id: 'scripted/one',
        model: 'one',
        adapter: createAdapter(this.model(), { retries: 0, baseDelayMs: 1, maxDelayMs: 1 }),
      }),
      workspace: async () => ({ names: ['ws'] }),
      maxTurns: () => 50,
      onEvent: (event) => {
        this.told.push(event);
        if (event.type === 'tool-start') this.before.push({ id: event.toolCallId, tree: treeOf(this.workspace.root) });
      },
    });
  }

  private readonly approve: ApprovalRequester = () =>
    new Promise((resolve) => {
      this.waiting.push(() => resolve({ decision: 'allow' }));
      setImmediate(() => {
        const [next] = this.waiting.splice(this.history.order[this.waiting.length]! % this.waiting.length, 1);
        next?.();
      });
    });

  private model(): LLMClient {
    const left = [...this.history.calls];
    const { root } = this.workspace;
    async function* chatStream(_: ChatRequest): AsyncGenerator<ChatStreamChunk, void, unknown> {
      const length = left.findIndex(({ isLast }) => isLast) + 1 || left.length;
      const calls = left.splice(0, length);
      for (const drawn of calls) yield { toolCall: callOf(drawn, root), done: false };
      if (calls.length === 0) yield { content: 'Done.', done: false };
      const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };
      yield { done: true, finishReason: calls.length > 0 ? 'tool_calls' : 'stop', usage };
    }
    return { chatStream, chat: (request) => collectChatStream(chatStream(request), request.model) };
  }

  /** Does it in a window that is killed after so many operations, and then again in the next one, until one is not. */
  static async through(
    window: Window,
    kills: readonly number[],
    act: (window: Window) => Promise<UndoResult>,
  ): Promise<Window> {
    let current = window;
    for (const kill of [...kills, undefined]) {
      const next = `${current.folder}+`;
      let operations = 0;
      const restore = await watchDisk(() => {
        operations++;
        if (operations === kill)
          cpSync(current.folder, next, {
            recursive: true,
            verbatimSymlinks: true,
            filter: (file) => path.basename(file) !== 'lock',
          });
      });
      let result: UndoResult;
      try {
        result = await act(current);
      } finally {
        restore();
      }
      if (kill !== undefined && operations >= kill) {
        await current.engine.close();
        rmSync(current.folder, { recursive: true });
        current = new Window(next, current.runId, current.history);
      } else {
        assert.deepEqual(result.left, []);
        return current;
      }
    }
    return current;
  }
}

async function check(history: History): Promise<void> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'undo-')));
  let window = new Window(path.join(folder, 'w'), RunStore.newId(), history);
  try {
    for (const [name, content] of Object.entries(initialFiles)) window.workspace.write(name, content);
    const { root } = window.workspace;
    chmodSync(path.join(root, 'a'), 0o755);
    mkdirSync(path.join(root, 'd/empty'));
    symlinkSync('../a', path.join(root, 'd/link'));
    symlinkSync('e/other', path.join(root, 'link'));
    await window.engine.start({ runId: window.runId, userInput: 'Do it.' });
    const started = window.before;
    if (started.length === 0) return;
    const after = treeOf(root);
    const stays = history.stays % started.length;
    const { tree: wanted } = started[stays]!;
    const toolCallIds = started.slice(stays).map(({ id }) => id);
    const undo = (one: Window) => {
      const asked: string[] = [];
      return one.engine
        .undo(one.runId, { toolCallIds }, one.workspace, async ({ changedSince }) => {
          asked.push(...changedSince);
          return 'all';
        })
        .then((result) => {
          assert.deepEqual(asked, [], 'nobody else changed anything');
          return result as UndoResult;
        });
    };
    const redo = async (one: Window) => {
      const seq = (await one.store.read(one.runId)).undos?.at(-1)?.seq;
      const result = await one.engine.undo(one.runId, { undo: seq ?? 0 }, one.workspace, async () => 'none');
      return result as UndoResult;
    };
    const is = (tree: Tree, what: string) => {
      const now = treeOf(window.workspace.root);
      assert.deepEqual(filesOf(now), filesOf(tree), what);
      const missing = foldersIn(tree).filter(
        (place) => !lstatSync(path.join(window.workspace.root, place), { throwIfNoEntry: false }),
      );
      assert.deepEqual(missing, [], `${what}: folders`);
    };
    window = await Window.through(window, history.kills.undo, undo);
    is(wanted, 'after Undo');
    window = await Window.through(window, history.kills.redo, redo);
    is(after, 'after Redo');
    window = await Window.through(window, [], undo);
    is(wanted, 'after Undo again');
  } finally {
    await window.engine.close();
    rmSync(folder, { recursive: true });
  }
}

/** Histories that were undone or redone wrongly once. */
const failed = [
  { seed: 78, path: '51' },
  { seed: 101, path: '70' },
  { seed: 102, path: '70' },
  { seed: 201, path: '52' },
  { seed: 202, path: '389' },
  { seed: 203, path: '39' },
  { seed: 301, path: '84' },
  { seed: 33, path: '98' },
  { seed: 33, path: '427' },
  { seed: 33, path: '674' },
];

// Holds undo-follows-event-numbers.
describe('undo and redo', () => {
  const { UNDO_HISTORIES, UNDO_PATH, UNDO_SEED, UNDO_SHRINK } = process.env;
  const numRuns = Number(UNDO_HISTORIES ?? tries(20, 2000, 200));

  const holds = (parameters: fc.Parameters<[History]>) =>
    fc.assert(fc.asyncProperty(historyArbitrary, check), {
      endOnFailure: UNDO_SHRINK === undefined, // shrinking takes minutes
      ...parameters,
    });

  it(`of any suffix of a made-up run give the files before it and after it, also through kills (${numRuns} runs)`, async function () {
    this.timeout(0);
    await holds({ numRuns, seed: Number(UNDO_SEED ?? 33), ...(UNDO_PATH !== undefined && { path: UNDO_PATH }) });
  });

  for (const { seed, path } of failed)
    it(`give the files of history ${path} of seed ${seed}`, async function () {
      this.timeout(0);
      await holds({ numRuns: 1, seed, path });
    });
});
