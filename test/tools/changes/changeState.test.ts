import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import * as paths from 'node:path';
import type { RunEventBody } from '../../../src/protocol/run/events.ts';
import type { AppliedChanges } from '../../../src/tools/changes/changeState.ts';
import { newTempFileName } from '../../../src/tools/core/tempFiles.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation } from '../conversation.ts';

const picture = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1]);
const mixed = 'one\r\ntwo\nthree\r\n';

let workspace: TemporaryWorkspace;
beforeEach(async () => {
  workspace = await temporaryWorkspace({
    'a.txt': 'one\n',
    'wide.txt': Buffer.from('\ufefföffnen\n', 'utf16le'),
    'mixed.txt': mixed,
    'picture.png': picture,
    'old/a': 'A',
    'old/deep/b.png': picture,
    'dir/inside': 'x',
  });
  mkdirSync(paths.join(workspace.root, 'empty'));
  symlinkSync('a.txt', paths.join(workspace.root, 'link'));
});
afterEach(() => workspace.cleanup());

/** What a call said that it would do, with how its files stood then and stand when it has ended. */
async function doing(tool: string, args: object, beforeEvent?: (event: RunEventBody) => void) {
  const looks: ReturnType<typeof talk.host.standing>[] = [];
  const said: AppliedChanges[] = [];
  const talk = conversation(workspace, {
    beforeEvent: (event) => {
      if (event.type !== 'tool-start') return beforeEvent?.(event);
      said.push({ changes: event.changes, moved: event.moved });
    },
  });
  const held = { ...workspace, writeText: workspace.writeText, delete: workspace.delete, move: workspace.move };
  for (const effect of ['writeText', 'delete', 'move'] as const)
    workspace[effect] = async (...given: unknown[]) => {
      looks.push(talk.host.standing(said[0]!));
      await looks[0];
      return (held[effect] as (...given: unknown[]) => Promise<never>)(...given);
    };
  const outcome = await talk.call(tool, args);
  const end = talk.events.findLast((event) => event.type === 'tool-end');
  return { outcome, said: said[0]!, before: await looks[0]!, after: await talk.host.standing(said[0]!), end, talk };
}

const cases: [says: string, tool: string, args: object, paths: string[]][] = [
  ['a file that is changed', 'fs.write', { path: 'a.txt', content: 'two\n' }, ['a.txt']],
  ['a file that is made, with its folder', 'fs.write', { path: 'new/b.txt', content: 'B' }, ['new/b.txt']],
  ['a file of another encoding', 'fs.edit', { path: 'wide.txt', edits: [{ oldText: 'öffnen', newText: 'zu' }] }, ['wide.txt']],
  ['a file of mixed line ends', 'fs.edit', { path: 'mixed.txt', edits: [{ oldText: 'two', newText: '2' }] }, ['mixed.txt']],
  ['a text that is deleted', 'fs.delete', { path: 'a.txt' }, ['a.txt']],
  ['a picture that is deleted', 'fs.delete', { path: 'picture.png' }, ['picture.png']],
  ['a link that is deleted, not what it names', 'fs.delete', { path: 'link' }, ['link']],
  ['a folder that is deleted', 'fs.delete', { path: 'old' }, ['old/a', 'old/deep/b.png']],
  ['an empty folder that is deleted', 'fs.delete', { path: 'empty' }, ['empty']],
  ['a text that is moved', 'fs.move', { from: 'a.txt', to: 'b.txt' }, ['a.txt', 'b.txt']],
]; // biome-ignore format: a table

describe('what a call is about to do stands in its start, and the files say how far it came', () => {
  it('a folder that a killed call was deleting is where it was, with what is left of it', async () => {
    const { call, events, host } = conversation(workspace);
    const aside = paths.join(workspace.root, newTempFileName('old'));
    cpSync(paths.join(workspace.root, 'old'), aside, { recursive: true });
    await call('fs.delete', { path: 'old' });
    rmSync(paths.join(aside, 'a'));
    assert.equal(JSON.stringify(await call('fs.find', { pattern: '**/b.png' })).includes('b.png'), false);
    const start = events.find((event) => event.type === 'tool-start')!;
    const { changes } = await host.standing(start, workspace, () => Promise.reject(new Error('not kept')));
    assert.deepEqual(changes, ['after', 'before']);
    assert.deepEqual([workspace.exists('old/deep/b.png'), existsSync(aside)], [true, false]);
  });

  it('what a call has left half written in place is put right, and stands as before', async () => {
    const { call, events, kept, host } = conversation(workspace);
    const before = workspace.read('a.txt');
    await call('fs.write', { path: 'a.txt', content: 'two, and more of it\n' });
    workspace.write('a.txt', 'two, and m');
    const start = events.find((event) => event.type === 'tool-start')!;
    assert.deepEqual((await host.standing(start)).changes, ['neither']);
    const standing = await host.standing(start, workspace, async (id) => kept.get(id)!);
    assert.deepEqual([standing.changes, workspace.read('a.txt')], [['before'], before]);
  });

  for (const [says, tool, args, names] of cases)
    it(says, async () => {
      const { outcome, said, before, after, end } = await doing(tool, args);
      assert.equal(outcome.ok, true);
      assert.deepEqual(said.changes?.map(({ path }) => path), names);
      assert.deepEqual([before.changes, after.changes], [names.map(() => 'before'), names.map(() => 'after')]);
      assert.deepEqual(end?.changes, said.changes);
    }); // biome-ignore format: short

  for (const [says, args] of [
    ['a folder', { from: 'dir', to: 'other' }],
    ['a picture', { from: 'picture.png', to: 'new/p.png' }],
  ] as const)
    it(`${says} that is moved as it is`, async () => {
      const { said, before, after } = await doing('fs.move', args);
      assert.deepEqual([said, before.moved, after.moved], [{ changes: undefined, moved: args }, 'before', 'after']);
    });

  it('half a file, a file of somebody else, and what cannot be read stand for neither', async () => {
    const { said, talk } = await doing('fs.write', { path: 'a.txt', content: 'two\n' });
    for (const content of ['', 'tw', 'mine\n', picture]) {
      workspace.write('a.txt', content);
      assert.deepEqual((await talk.host.standing(said)).changes, ['neither']);
    }
    const gone = { changes: [{ path: '../out', before: null, after: 'f'.repeat(64) }] };
    assert.deepEqual((await talk.host.standing(gone)).changes, ['neither']);
  });

  it('what is unsaved in the editor counts, as it does for Undo', async () => {
    const { said, talk } = await doing('fs.write', { path: 'a.txt', content: 'two\n' });
    workspace.openInEditor('a.txt', 'typing');
    assert.deepEqual((await talk.host.standing(said)).changes, ['neither']);
  });

  it('a call that fails tells what it has done all the same, and nothing that it has not', async () => {
    const fails = async (half: () => void) => {
      const talk = conversation(workspace);
      workspace.delete = async () => {
        half();
        throw new Error('The disk is gone.');
      };
      await talk.call('fs.delete', { path: 'old' });
      return talk.events.findLast((event) => event.type === 'tool-end');
    };
    assert.equal((await fails(() => {}))?.changes, undefined);
    const removed = () => rmSync(paths.join(workspace.root, 'old/a'));
    assert.deepEqual((await fails(removed))?.changes?.map(({ path }) => path), ['old/a']); // biome-ignore format: short
  });
});
