import assert from 'node:assert/strict';
import { chmodSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import * as paths from 'node:path';
import { fsDeleteTool } from '../../../src/tools/files/delete.ts';
import { sha256 } from '../../../src/tools/sandbox/fileText.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { type ConversationOptions, conversation, data, error } from '../conversation.ts';

const picture = Buffer.from([0x89, 0, 255, 1]);
let workspace: TemporaryWorkspace;
beforeEach(async () => {
  workspace = await temporaryWorkspace({ 'a.txt': 'x', 'old/a': 'y', 'old/deep/b.png': picture, 'src/main.ts': 'z' });
});
afterEach(() => workspace.cleanup());

const at = (path: string) => paths.join(workspace.root, path);
const deletion = async (path: string, options: ConversationOptions = {}) => {
  const talk = conversation(workspace, options);
  return { ...talk, outcome: await talk.call('fs.delete', { path }) };
};
const refusal = async (path: string, options: ConversationOptions = {}) => {
  const { asked, outcome } = await deletion(path, options);
  assert.deepEqual([asked, workspace.effects], [[], []]);
  const { code, reason, message } = await error(Promise.resolve(outcome));
  return [reason ?? code, message];
};

describe('fs.delete', () => {
  it('of a text file shows what goes, and keeps it', async () => {
    const { outcome, asked, events } = await deletion('a.txt');
    assert.deepEqual(outcome, { ok: true, data: { path: 'a.txt', deleted: true } });
    assert.deepEqual(workspace.effects, ['delete a.txt']);
    assert.deepEqual([asked[0]?.plan.what, asked[0]?.plan.change?.after], ['Delete a.txt', null]);
    const end = events.at(-1);
    assert.deepEqual(end?.type === 'tool-end' && end.changes, [
      { path: 'a.txt', before: sha256('x'), after: null, mode: 0o644 },
    ]);
  });

  it('of a folder names it, how much it holds, and what; all of that is kept', async () => {
    symlinkSync('../a.txt', at('old/link'));
    const { outcome, asked, events } = await deletion('old');
    assert.deepEqual(outcome, { ok: true, data: { path: 'old', deleted: true, files: 3 } });
    const { what, where, why, grant, details, paths } = asked[0]!.plan;
    assert.deepEqual(
      { what, where, why, grant, details, paths },
      {
        what: 'Delete old with 3 files (5 bytes)',
        where: at('old'),
        why: 'It removes a folder with all that is in it.',
        grant: 'fs.delete of folders',
        details: 'a\ndeep/\ndeep/b.png\nlink (link)',
        paths: ['old', 'old/a', 'old/deep', 'old/deep/b.png', 'old/link'],
      },
    );
    const end = events.at(-1);
    assert.deepEqual(end?.type === 'tool-end' && end.changes, [
      { path: 'old/a', before: sha256('y'), after: null, kind: 'file', mode: 0o644 },
      { path: 'old/deep/b.png', before: sha256(picture), after: null, kind: 'file', mode: 0o644 },
      { path: 'old/link', before: sha256('../a.txt'), after: null, kind: 'link', mode: 0o777 },
    ]);
    assert.deepEqual([workspace.exists('old'), readdirSync(workspace.root)], [false, ['a.txt', 'src']]);
  });

  it('of a file that is not text, of a link, of an empty folder', async () => {
    symlinkSync('old', at('link'));
    mkdirSync(at('empty'));
    for (const [path, what, why] of [
      ['old/deep/b.png', 'Delete old/deep/b.png', 'It removes a file that is not text.'],
      ['link', 'Delete link', 'It removes a link, not its target.'],
      ['empty', 'Delete empty with 0 files (0 bytes)', 'It removes a folder with all that is in it.'],
    ]) {
      const { asked } = await deletion(path!);
      assert.deepEqual([asked[0]?.plan.what, asked[0]?.plan.why], [what, why]);
    }
    assert.deepEqual(readdirSync(workspace.root), ['a.txt', 'old', 'src']);
    assert.equal(workspace.read('old/a'), 'y');
  });

  it('of a folder is not covered by what was allowed for files', async () => {
    const { call, asked } = conversation(workspace, { answer: 'allow-run' });
    await data(call('fs.delete', { path: 'a.txt' }));
    await data(call('fs.delete', { path: 'old' }));
    await data(call('fs.delete', { path: 'src' }));
    assert.deepEqual(
      asked.map(({ plan }) => plan.grant),
      ['fs.delete', 'fs.delete of folders'],
    );
  });

  const asked: [name: string, file: string, content: string, why: RegExp][] = [
    ['editor settings', '.vscode/tasks.json', '{}', /^It contains sub\/\.vscode\. It can change editor settings/],
    ['a secret', '.env', 'KEY=1', /^It contains sub\/\.env\. It may contain secrets/],
    ['a hook of a package', 'package.json', '{"scripts":{"postinstall":"x"}}', /package\.json\. Its scripts run automatically on install/],
    ['CI', '.github/workflows/ci.yml', '', /continuous integration/],
  ]; // biome-ignore format: a table
  for (const [name, file, content, why] of asked)
    it(`of a folder that holds ${name} is asked about every time, under every preset`, async () => {
      workspace.write(`old/sub/${file}`, content);
      const { asked, outcome } = await deletion('old', { policy: { preset: 'autopilot' }, answer: 'allow-run' });
      assert.ok(outcome.ok);
      assert.deepEqual([asked.length, asked[0]!.plan.grant], [1, undefined]);
      assert.match(asked[0]!.plan.why, why);
    });

  it('of a folder is denied, or asked about, by a rule about one file in it', async () => {
    const rule = (effect: 'deny' | 'ask') => ({
      policy: {
        preset: 'autopilot' as const,
        rules: [{ scope: 'user' as const, effect, tool: 'fs.*', path: '**/*.png' }],
      },
    });
    const { outcome, asked } = await deletion('old', rule('deny'));
    assert.equal(!outcome.ok && outcome.error.code, 'TOOL_DENIED');
    assert.deepEqual([asked, workspace.exists('old/a')], [[], true]);
    assert.equal((await deletion('old', rule('ask'))).asked.length, 1);
  });

  const refused: [name: string, prepare: () => void, path: string, expected: [string, RegExp]][] = [
    ['the history of Git', () => workspace.write('old/sub/.git/HEAD', 'x'), 'old', ['GIT_INTERNAL', /"old\/sub\/\.git" belongs to Git/]],
    ['a pipe', () => workspace.write('old/CON.txt', 'x'), 'old', ['E_PRECONDITION_FAILED', /"old\/CON\.txt" has a name that undo could not bring back/]],
    ['a hidden name', () => workspace.write('old/a\u202eb', 'x'), 'old', ['PATH_INVALID', /invisible/]],
    ['a read-only folder', () => chmodSync(at('old/deep'), 0o555), 'old', ['E_PRECONDITION_FAILED', /"old\/deep" is read-only/]],
    ['too many files', () => { for (let index = 0; index < 1000; index++) workspace.write(`old/many/${index}`, ''); }, 'old', ['E_WRITE_LIMIT', /more than 1000 files and folders: too much to be kept for undo, so nothing was deleted/]],
    ['the open folder', () => {}, '.', ['PATH_INVALID', /workspace folder itself/]],
    ['unsaved changes', () => workspace.openInEditor('old/a', 'typed'), 'old', ['E_PRECONDITION_FAILED', /unsaved changes of "old\/a"/]],
    ['unsaved changes of a file that is not saved at all', () => workspace.openInEditor('old/new', 'typed'), 'old', ['E_PRECONDITION_FAILED', /unsaved changes of "old\/new"/]],
  ]; // biome-ignore format: a table
  for (const [name, prepare, path, [code, message]] of refused)
    it(`refuses without asking: ${name}`, async () => {
      prepare();
      const refusedWith = await refusal(path);
      chmodSync(at('old/deep'), 0o755);
      assert.equal(refusedWith[0], code);
      assert.match(`${refusedWith[1]}`, message);
    });

  it('refuses what the quota has no room for', async () => {
    const tools = [fsDeleteTool({ quota: () => 4 })];
    assert.match(`${(await refusal('old', { tools }))[1]}`, /"old" holds 5 bytes: too much to be kept for undo/);
    assert.ok((await deletion('old/deep', { tools })).outcome.ok);
  });

  it('keeps to what was shown: what changes during the question is shown again', async () => {
    const { outcome, asked } = await deletion('old', {
      answer: async ({ note }) => {
        workspace.write('old/new', 'n');
        return { decision: note ? 'deny' : 'allow' };
      },
    });
    assert.equal(!outcome.ok && outcome.error.code, 'TOOL_DENIED');
    assert.deepEqual(
      asked.map(({ plan }) => plan.what),
      ['Delete old with 2 files (5 bytes)', 'Delete old with 3 files (6 bytes)'],
    );
  });

  it('shows a file that took the place of another of the same size again', async () => {
    const { asked } = await deletion('old', {
      answer: async ({ note }) => {
        if (!note) workspace.write('old/b', 'y');
        return { decision: note ? 'deny' : 'allow' };
      },
    });
    assert.equal(asked.length, 2);
  });

  for (const [name, change] of [
    ['a new file', () => workspace.write('old/new', 'n')],
    ['a file written anew', () => workspace.write('old/a', 'Y')],
    ['unsaved changes', () => workspace.openInEditor('old/a', 'typed')],
  ] as const)
    it(`deletes nothing when there is ${name} at the last moment`, async () => {
      const { outcome } = await deletion('old', { beforeEvent: ({ type }) => type === 'tool-start' && change() });
      assert.equal(!outcome.ok && outcome.error.code, 'E_PRECONDITION_FAILED');
      assert.deepEqual([workspace.effects, workspace.exists('old/deep/b.png')], [[], true]);
      assert.deepEqual(readdirSync(workspace.root), ['a.txt', 'old', 'src']);
    });

  it('never follows a link, nor touches the other name of a file', async () => {
    const outside = await temporaryWorkspace({ 'secret.txt': 'CANARY-OUTSIDE', 'deep/x': 'CANARY-OUTSIDE' });
    symlinkSync(outside.root, at('old/out'));
    symlinkSync(paths.join(outside.root, 'secret.txt'), at('old/deep/file'));
    linkSync(paths.join(outside.root, 'secret.txt'), at('old/hard'));
    const { outcome } = await deletion('old');
    assert.ok(outcome.ok, JSON.stringify(outcome));
    assert.deepEqual(readdirSync(outside.root), ['deep', 'secret.txt']);
    assert.equal(readFileSync(paths.join(outside.root, 'secret.txt'), 'utf8'), 'CANARY-OUTSIDE');
    outside.cleanup();
  });
});
