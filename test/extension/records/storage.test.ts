import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  allWorkspaceStorages,
  mergeWindowStorages,
  sharedWorkspaceStorageFolder,
} from '../../../src/extension/records/storage.ts';
import type { StoredEvent } from '../../../src/protocol/run/events.ts';
import { applyEvent } from '../../../src/protocol/run/fold.ts';
import { RunStore } from '../../../src/runs/store.ts';

describe('the storage of a workspace', () => {
  let folder: string;
  const place = (workspace: string) => path.join(folder, workspace, 'towpath.towpath');
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'storage-'));
    for (const name of ['4f2a', '-5c8', '4f2a-1', '-5c8-2']) mkdirSync(path.join(folder, name));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const cases: [given: string, shared: string][] = [
    ['4f2a', '4f2a'],
    ['4f2a-1', '4f2a'],
    ['-5c8', '-5c8'], // a hash can be negative
    ['-5c8-2', '-5c8'],
    ['-5', '-5'],
    ['77-1', '77-1'], // nobody had that one before
  ];
  for (const [given, shared] of cases)
    it(`of a window that the editor gives ${given} is ${shared}`, () =>
      assert.equal(sharedWorkspaceStorageFolder(place(given)), place(shared)));

  describe('that a second window had of its own before', () => {
    const storeOf = (workspace: string) => new RunStore(path.join(place(workspace), 'store'));
    async function says(workspace: string, words: string): Promise<string> {
      const id = RunStore.newId();
      const open = await storeOf(workspace).create(id);
      const event = async (seq: number, body: object) => {
        const happened = { runId: id, seq, at: seq, ...body } as StoredEvent;
        await open.append(happened);
        applyEvent(open.run, happened);
      };
      await event(1, { type: 'run-start', workflowId: 'chat', agentId: 'a', model: '' });
      await event(2, { type: 'message', message: { role: 'user', content: words } });
      await open.close();
      return id;
    }
    const listed = async (workspace: string) => (await storeOf(workspace).list()).map(({ title }) => title).sort();

    it('comes into that of the first, whole, with what was deleted; other workspaces keep theirs', async () => {
      await says('4f2a', 'In the first.');
      const second = await says('4f2a-1', 'In the second.');
      const content = await storeOf('4f2a-1').contents.keep(second, 'before');
      const deleted = await storeOf('4f2a-1').delete(await says('4f2a-1', 'Deleted there.'));
      await storeOf('4f2a-1').marks.set(second, { state: 'ended', title: 'In the second.' });
      await says('-5c8-2', 'Of another.');
      await listed('4f2a-1');
      assert.equal(await mergeWindowStorages(place('4f2a')), 1);
      assert.deepEqual(await listed('4f2a'), ['In the first.', 'In the second.']);
      const first = storeOf('4f2a');
      assert.deepEqual(
        (await first.search('second')).map(({ run }) => run.id),
        [second],
      );
      assert.equal(await first.contents.read(second, content), 'before');
      await (await first.open(second)).close();
      assert.deepEqual(
        (await first.deleted.list()).map(({ name }) => name),
        [deleted],
      );
      assert.deepEqual(await listed('4f2a-1'), []);
      const left = readdirSync(path.join(place('4f2a-1'), 'store'), { recursive: true, withFileTypes: true });
      for (const file of left.filter((one) => one.isFile()))
        assert.doesNotMatch(readFileSync(path.join(file.parentPath, file.name), 'utf8'), /second/i, file.name);
      assert.deepEqual(await listed('-5c8-2'), ['Of another.']);
      assert.equal(await mergeWindowStorages(place('4f2a')), 0);
    });

    it('stays there as long as a window has it open, and where there is one of its name', async () => {
      const id = await says('4f2a-1', 'At work.');
      const open = await storeOf('4f2a-1').open(id);
      assert.equal(await mergeWindowStorages(place('4f2a')), 0);
      assert.deepEqual([await listed('4f2a'), await listed('4f2a-1')], [[], ['At work.']]);
      await open.close();
      mkdirSync(path.join(place('4f2a'), 'store', 'runs', id), { recursive: true });
      assert.equal(await mergeWindowStorages(place('4f2a')), 0);
      assert.deepEqual(await listed('4f2a-1'), ['At work.']);
    });
  });

  it('of all workspaces is found from any', () => {
    const without = path.join(folder, 'no-workspace');
    for (const made of [place('4f2a'), place('-5c8'), without]) mkdirSync(made);
    const expected = [place('-5c8'), place('4f2a'), without];
    assert.deepEqual(allWorkspaceStorages(place('4f2a'), without).sort(), expected.sort());
    assert.deepEqual(allWorkspaceStorages(without, without), [without]);
  });
});
