import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Message } from '../../../src/protocol/content/messages.ts';
import type { StoredEvent } from '../../../src/protocol/run/events.ts';
import { undoableCallIds } from '../../../src/runs/undoSteps.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { OrphanedCommands } from '../../../src/tools/shell/orphanedCommands.ts';
import { eventually } from '../../support/eventually.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';
import { type Disk, stuckDisk } from '../stuckDisk.ts';

const isEnd = (event: StoredEvent | 'open') => event !== 'open' && event.type === 'tool-end';
const isResult = (event: StoredEvent | 'open') =>
  event !== 'open' && event.type === 'message' && event.message.role === 'tool';

// Holds interrupted-calls-never-repeat.
describe('an editor that was killed', () => {
  let before: Conversation;
  let disk: Disk;
  let after: Conversation | undefined;
  const begin = async (...replies: ScriptedReply[]) => {
    before = new Conversation(
      await temporaryWorkspace({ a: 'A', b: 'B', 'dir/x': 'X', 'picture.png': Buffer.from([137, 80, 0, 1]) }),
      replies,
    );
    disk = stuckDisk(before);
  };
  afterEach(async () => {
    disk.release();
    await before.engine.stop(before.runId);
    if (after) rmSync(after.folder, { recursive: true });
    after = undefined;
    await before.end();
  });

  /** The next editor: what was on disk in this moment is all it has. */
  const nextEditor = (...replies: ScriptedReply[]) => {
    const next = new Conversation(before.workspace, replies.length > 0 ? replies : [{ text: 'I see.' }]);
    cpSync(before.folder, next.folder, { recursive: true });
    rmSync(path.join(next.folder, 'runs', before.runId, 'lock'), { force: true });
    after = Object.assign(next, { runId: before.runId });
    return next;
  };
  const told = ({ client }: Conversation, request = 0) =>
    client.requests[request]!.messages.flatMap((message: Message) =>
      message.role === 'tool' ? message.toolResults.map(({ content }) => JSON.parse(content)) : [],
    );
  const undo = async (talk: Conversation) => {
    const asked: string[][] = [];
    const toolCallIds = undoableCallIds(await talk.kept(), 'run');
    const result = await talk.engine.undo(talk.runId, { toolCallIds }, talk.workspace, async (question) => {
      asked.push([...question.paths, ...question.changedSince.map((one) => `${one} changed since`)]);
      return 'all';
    });
    return { asked, result };
  };
  const file = (name: string) => before.file(name);

  /** The first such effect does `half` of it and hangs, as if the editor ended there. */
  const holdsAt = (effect: 'writeText' | 'delete' | 'move', half = () => {}) => {
    const whole = before.workspace[effect];
    const hanging = { waits: false, release: () => {} };
    before.workspace[effect] = () => {
      half();
      Object.assign(before.workspace, { [effect]: whole });
      return new Promise<never>((_, reject) => {
        hanging.release = () => reject(new Error('The editor has ended.'));
        hanging.waits = true;
      });
    };
    return hanging;
  };

  it('in the middle of a write in place: the next one first gives the file its text back', async () => {
    await begin({ calls: [call('fs.write', { path: 'a', content: 'something longer' })] });
    const effect = holdsAt('writeText', () => before.workspace.write('a', 'someth'));
    void before.start();
    await eventually('it is half written', () => effect.waits);
    const next = nextEditor();
    await next.continue();
    const [{ error }] = told(next);
    assert.deepEqual(
      [error.message, file('a')],
      ['The run ended before this had changed anything. It did not run.', 'A'],
    );
    effect.release();
  });

  it('or whose disk failed for good within one: the next one does the same, and removes what lay beside the file', async () => {
    await begin(
      { calls: [call('fs.write', { path: 'dir/x', content: 'something longer' })] },
      { text: 'The disk failed.' },
    );
    const beside = 'dir/.towpath-4194305-01234567-89ab-cdef-0123-456789abcdef.tmp';
    before.workspace.writeText = async () => {
      before.workspace.write('dir/x', 'someth');
      before.workspace.write(beside, '');
      throw Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO' });
    };
    await before.start();
    assert.equal(file('dir/x'), 'someth');
    const next = nextEditor();
    await next.continue('Go on.');
    assert.deepEqual([file('dir/x'), file(beside)], ['X', undefined]);
    before.workspace.write('dir/x', 'some'); // the person's own, from now on
    await next.continue('And on.');
    assert.equal(file('dir/x'), 'some');
  });

  const effects: [says: string, tool: string, args: object, left: Record<string, string | undefined>][] = [
    ['a change', 'fs.write', { path: 'a', content: 'A1' }, { a: 'A1' }],
    ['a new file', 'fs.write', { path: 'new/c', content: 'C' }, { 'new/c': 'C' }],
    ['a deletion', 'fs.delete', { path: 'a' }, { a: undefined }],
    ['a deletion of a picture', 'fs.delete', { path: 'picture.png' }, { 'picture.png': undefined }],
    ['a deletion of a folder', 'fs.delete', { path: 'dir' }, { 'dir/x': undefined }],
    ['a move', 'fs.move', { from: 'a', to: 'moved' }, { a: undefined, moved: 'A' }],
    ['a move of a folder', 'fs.move', { from: 'dir', to: 'other' }, { 'dir/x': undefined, 'other/x': 'X' }],
  ];
  for (const [says, tool, args, left] of effects) {
    const names = Object.keys(left);
    const contents = () => Object.fromEntries(names.map((name) => [name, file(name)]));

    it(`right after ${says}: it is told as done, not repeated, and can be undone`, async () => {
      await begin({ calls: [call(tool, { ...args })] });
      const was = contents();
      disk.sticksAt(isEnd);
      void before.start();
      await eventually('it is done', () => disk.waits);
      const next = nextEditor();
      await next.continue();
      const [outcome] = told(next);
      assert.match(outcome.data.note, /^The run ended while this ran, but it was done: .*Do not repeat it\.$/);
      assert.deepEqual([outcome.ok, contents(), next.questions], [true, left, []]);
      await undo(next);
      assert.deepEqual(contents(), was);
    });

    it(`right after ${says}: it can be undone before the run goes on, and the model is told so`, async () => {
      await begin({ calls: [call(tool, { ...args })] });
      const was = contents();
      disk.sticksAt(isEnd);
      void before.start();
      await eventually('it is done', () => disk.waits);
      const next = nextEditor();
      const { asked } = await undo(next);
      assert.deepEqual([asked.length, contents()], [1, was]);
      await next.continue();
      assert.match(JSON.stringify(next.client.requests[0]!.messages), /The person has undone your changes/);
    });
  }

  for (const [effect, tool, args] of [
    ['writeText', 'fs.write', { path: 'a', content: 'A1' }],
    ['delete', 'fs.delete', { path: 'a' }],
    ['delete', 'fs.delete', { path: 'dir' }],
    ['move', 'fs.move', { from: 'a', to: 'moved' }],
    ['move', 'fs.move', { from: 'dir', to: 'other' }],
  ] as const)
    it(`right before ${tool} ${JSON.stringify(args)}: it did not run, is told so, and there is nothing to undo`, async () => {
      await begin({ calls: [call(tool, { ...args })] });
      const effectOf = holdsAt(effect);
      void before.start();
      await eventually('it is about to', () => effectOf.waits);
      const next = nextEditor();
      assert.deepEqual((await undo(next)).asked, []);
      await next.continue();
      const [{ error }] = told(next);
      assert.deepEqual(
        [error.code, error.message],
        ['TOOL_INTERRUPTED', 'The run ended before this had changed anything. It did not run.'],
      );
      effectOf.release();
    });

  for (const [says, half] of [
    ['an empty', ''],
    ['half a changed', 'AA, and mine'], // without the change it would be put right
    ['somebody else’s', 'mine'],
  ] as const)
    it(`within a write that left ${says} file: nothing is claimed, and what was there can be had`, async () => {
      await begin({ calls: [call('fs.write', { path: 'b', content: 'AAAAAA' })] });
      const effectOf = holdsAt('writeText', () => before.workspace.write('b', half));
      void before.start();
      await eventually('it is at it', () => effectOf.waits);
      const next = nextEditor();
      await next.continue();
      const [{ error }] = told(next);
      assert.match(error.message, /hold neither what they did nor what it was to leave.*: b\. Read them.*Undo/);
      assert.deepEqual(Object.values((await next.kept()).calls)[0]?.changes?.length, 1);
      assert.deepEqual((await undo(next)).asked, [['b', 'b changed since']]);
      assert.equal(file('b'), 'B');
      effectOf.release();
    });

  const ended: [says: string, tool: string, args: object, told: string, allowed?: 'deny'][] = [
    ['a change', 'fs.write', { path: 'a', content: 'A1' }, 'The run ended while this ran, but it was done: a. Do not repeat it.'],
    ['a read', 'fs.read', { path: 'a' }, 'It ran to its end, but what it gave was lost when the run ended.'],
    ['a read that failed', 'fs.read', { path: 'none' }, 'ENOENT: It failed. What else it said was lost when the run ended.'],
    ['a command', 'shell.run', { command: 'echo x >> log; exit 3' }, 'It ran to its end, but its exit code and what it printed were lost when the run ended.'],
    ['a no', 'fs.delete', { path: 'b' }, 'TOOL_DENIED: The person did not allow this. It did not run.', 'deny'],
  ]; // biome-ignore format: a table
  for (const [says, tool, args, words, decision = 'allow'] of ended)
    it(`after the end of ${says}: it is told as it ended, not as interrupted`, async () => {
      await begin({ calls: [call(tool, { ...args })] });
      before.answers = [{ decision }];
      disk.sticksAt(isResult);
      void before.start();
      await eventually('it has ended', () => disk.waits);
      const next = nextEditor();
      await next.continue();
      const [{ ok, data, error }] = told(next);
      assert.deepEqual([ok ? data.note : `${error.code}: ${error.message}`, file('b')], [words, 'B']);
    });

  it('by a Towpath that did not yet tell what a call would do: it may have had its effect', async () => {
    await begin({ text: 'Hello.' });
    await before.start();
    const run = await before.store.open(before.runId);
    const bodies = [
      { type: 'message', message: { role: 'assistant', content: '', toolCalls: [call('fs.write', { path: 'a' }, 'old')] } },
      { type: 'tool-start', toolCallId: 'old', name: 'fs.write' },
    ]; // biome-ignore format: a table
    for (const [index, body] of bodies.entries())
      await run.append({ runId: before.runId, seq: run.run.seq + 1 + index, at: 1, ...body } as StoredEvent);
    await run.close();
    const next = nextEditor();
    await next.continue();
    assert.match(told(next)[0].error.message, /It may have had its effect: check before doing it again\.$/);
  });

  describe('while a command ran', () => {
    const line = 'echo begun; while sleep 0.05; do echo tick >> ticks; done';
    const atWork = async () => {
      await begin({ calls: [call('shell.run', { command: line })] });
      void before.start();
      await before.seen('command-start');
      await eventually('it ticks', () => file('ticks') !== undefined);
    };
    /** The next editor knows of commands that were left, as the extension's does. */
    const withLeft = (next: Conversation) => {
      const left = new OrphanedCommands();
      next.left = left;
      next.tools = builtinTools({ shell: { left } });
      next.build();
      return left;
    };

    it('it is found, named to the model, not run beside itself, and ended', async () => {
      await atWork();
      const again = { calls: [call('shell.run', { command: ` ${line.replace('; while', ';  while')}` })] };
      const next = nextEditor(again, { text: 'I wait.' });
      const left = withLeft(next);
      await next.continue();
      assert.match(told(next)[0].error.message, /Its command went on and is still at work: (bash|sh) \(\d+\)/);
      const [, second] = told(next, 1);
      assert.deepEqual([second.error.details.reason, next.questions], ['STILL_RUNNING', []]);
      const [one] = await left.atWork();
      assert.deepEqual([one?.command.line, one?.command.folder], [line, next.workspace.root]);
      assert.deepEqual(await left.end(one!), []);
      const ticks = file('ticks');
      assert.deepEqual([await left.atWork(), await left.twinOf(line, next.workspace.root)], [[], undefined]);
      assert.equal(file('ticks'), ticks, 'it is quiet');
    });

    it('and was ended meanwhile: the model hears that it is not at work any more', async () => {
      await atWork();
      const next = nextEditor();
      const left = withLeft(next);
      const [state] = Object.values((await next.kept()).calls);
      assert.deepEqual(await left.end({ runId: '', toolCallId: '', command: state!.command! }), []);
      await next.continue();
      assert.match(told(next)[0].error.message, /Its command is not at work any more\./);
    });
  });
});
