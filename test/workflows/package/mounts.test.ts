import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PackageRunStateDocument } from '../../../src/workflows/package/document.ts';
import { loadPackage } from '../../../src/workflows/package/load.ts';
import { createMountedWorkspace } from '../../../src/workflows/package/mounts.ts';
import { createPackageRunStateText } from '../../../src/workflows/package/state.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { type Conversation, conversation } from '../../tools/conversation.ts';
import { sampleFiles, writePackage } from './sample.ts';

const step = '@pkg/write/steps/ask.md';
const inProject = '.towpath/packages/letters';

/** The outcome's path or reason; and what the person was asked. */
const calls: [tool: string, args: object, expected: string, asked?: string[]][] = [
  ['fs.read', { path: step }, step],
  ['fs.read', { path: '@project/a.txt' }, 'a.txt'],
  ['fs.read', { path: 'a.txt' }, 'a.txt'],
  ['fs.read', { path: './@project/a.txt' }, 'a.txt'],
  ['fs.read', { path: '@state/workflow.md' }, '@state/workflow.md'],
  ['fs.read', { path: '@pkg/../a.txt' }, 'a.txt'],
  ['fs.read', { path: '@pkg/../../x' }, 'OUTSIDE'],
  ['fs.read', { path: '@project/../../x' }, 'OUTSIDE'],
  ['fs.read', { path: '@state/../../x' }, 'OUTSIDE'],
  ['fs.read', { path: '@other/a.txt' }, 'ENOENT'],
  ['fs.read', { path: '@pkg/leak.md' }, 'SYMLINK_ESCAPE'],
  ['fs.list', {}, '.'],
  ['fs.list', { path: '@pkg' }, '@pkg'],
  ['fs.list', { path: '@state' }, '@state'],
  ['fs.write', { path: '@project/new.txt', content: 'x' }, 'new.txt', ['Create new.txt']],
  ['fs.write', { path: '@state/artifacts/new.md', content: 'x' }, '@state/artifacts/new.md'],
  ['fs.write', { path: '@state/AGENTS.md', content: 'x' }, '@state/AGENTS.md'],
  ['fs.write', { path: '@pkg/new.md', content: 'x' }, 'READ_ONLY'],
  ['fs.write', { path: step, content: 'x' }, 'READ_ONLY'],
  ['fs.write', { path: `@project/${inProject}/new.md`, content: 'x' }, 'READ_ONLY'],
  ['fs.edit', { path: `${inProject}/agents.json`, edits: [{ oldText: 'Wanda', newText: 'Eve' }] }, 'READ_ONLY'],
  ['fs.write', { path: 'to-package/new.md', content: 'x' }, 'READ_ONLY'],
  ['fs.write', { path: '@pkg/to-project/new.txt', content: 'x' }, 'READ_ONLY'],
  ['fs.apply_patch', { path: '@pkg/agents.json', patch: '@@\n-a\n+b\n' }, 'READ_ONLY'],
  ['fs.delete', { path: step }, 'READ_ONLY'],
  ['fs.move', { from: 'a.txt', to: '@pkg/a.txt' }, 'READ_ONLY'],
  ['fs.move', { from: 'a.txt', to: '@state/a.txt' }, 'STATE', ['Move a.txt to @state/a.txt']],
  ['fs.move', { from: 'a.txt', to: '@state/workflow.md' }, 'EXISTS'],
  ['fs.move', { from: '@state', to: '@state/x' }, 'PATH_INVALID'],
  ['fs.move', { from: '@state/workflow.md', to: 'mine.md' }, 'STATE', ['Move @state/workflow.md to mine.md']],
  ['fs.delete', { path: '@state' }, 'PATH_INVALID'],
  ['shell.run', { command: 'pwd', cwd: '@state' }, 'OUTSIDE'],
  ['shell.run', { command: 'pwd', cwd: '@pkg' }, 'OUTSIDE'],
];

describe('the places of a package run', () => {
  let outer: string;
  let workspace: TemporaryWorkspace;
  let talk: Conversation;
  beforeEach(async () => {
    outer = realpathSync(mkdtempSync(path.join(tmpdir(), 'mounts-')));
    workspace = await temporaryWorkspace({ 'a.txt': 'needle in the project' });
    const source = await loadPackage(writePackage(path.join(workspace.root, inProject)));
    symlinkSync('/etc/hostname', path.join(source.folder, 'leak.md'));
    symlinkSync(workspace.root, path.join(source.folder, 'to-project'));
    symlinkSync(source.folder, path.join(workspace.root, 'to-package'));
    const { graph } = source.workflows[0]!;
    const state = await PackageRunStateDocument.open(
      path.join(outer, 'state'),
      graph,
      createPackageRunStateText(undefined, graph.entryNodeId, new Date(0)),
    );
    talk = conversation(createMountedWorkspace(workspace, source.folder, state, async () => {}));
  });
  afterEach(() => {
    workspace.cleanup();
    rmSync(outer, { recursive: true });
  });

  for (const [tool, args, expected, asked = []] of calls)
    it(`${tool} ${JSON.stringify(args)}: ${expected}`, async () => {
      const outcome = await talk.call(tool, args);
      const said = outcome.ok
        ? (outcome.data as { path: string }).path
        : ((outcome.error.details as { reason?: string })?.reason ?? outcome.error.code);
      assert.equal(said, expected, JSON.stringify(outcome));
      assert.deepEqual(
        talk.asked.map(({ plan }) => plan.what),
        asked,
      );
      const kept = path.join(workspace.root, inProject, 'write/steps/ask.md');
      assert.equal(readFileSync(kept, 'utf8'), sampleFiles['write/steps/ask.md']);
    });

  /** Results, errors and questions say a path in one way. */
  const spelled: [tool: string, args: object, said: string][] = [
    ['fs.read', { path: '@project/gone.txt' }, '"gone.txt" does not exist. Use fs.find to look for it.'],
    ['fs.read', { path: './@project/b.txt' }, '"b.txt" does not exist. Did you mean "a.txt"?'],
    ['fs.read', { path: '@project/' }, '"." is a folder. Use fs.list for it.'],
    ['fs.list', { path: '@project/a.txt' }, '"a.txt" is a file, not a folder. Use fs.read for it.'],
    ['fs.move', { from: '@project/a.txt', to: '@project/a.txt' }, '"a.txt" exists already.'],
    [
      'fs.write',
      { path: '@project/.git/config', content: 'x' },
      '".git/config" belongs to Git; use git commands through shell.run.',
    ],
    ['fs.read', { path: '@pkg/gone.md' }, '"@pkg/gone.md" does not exist. Use fs.find to look for it.'],
  ];
  for (const [tool, args, said] of spelled)
    it(`${tool} ${JSON.stringify(args)} says: ${said}`, async () => {
      const outcome = await talk.call(tool, args);
      assert.equal(!outcome.ok && outcome.error.message, said);
    });

  it('let an agent write as much as it may', async () => {
    const limited = createMountedWorkspace(workspace, path.join(workspace.root, inProject), undefined, async () => {}, {
      maxWriteBytes: () => 4,
    });
    const { call } = conversation(limited, { answer: 'allow' });
    assert.equal((await call('fs.write', { path: 'four.txt', content: 'four' })).ok, true);
    const outcome = await call('fs.write', { path: 'five.txt', content: 'füüf' });
    assert.equal(!outcome.ok && outcome.error.code, 'E_WRITE_LIMIT');
    assert.equal(workspace.exists('five.txt'), false);
  });

  const searches: [tool: string, args: object, expected: object][] = [
    ['fs.search', { pattern: 'needle|Judge the' }, [`${inProject}/write/steps/judge.md`, 'a.txt']],
    ['fs.search', { pattern: 'needle|Judge the', path: '@pkg' }, ['@pkg/write/steps/judge.md']],
    [
      'fs.find',
      { pattern: '*.md', path: '@pkg' },
      ['@pkg/write/state.md', '@pkg/write/steps/ask.md', '@pkg/write/steps/judge.md'],
    ],
    ['fs.find', { pattern: '@pkg/write/*.md', path: '@pkg' }, ['@pkg/write/state.md']],
    ['fs.find', { pattern: '*.md', path: '@state' }, ['@state/workflow.md']],
  ];
  for (const [tool, args, expected] of searches)
    it(`${tool} ${JSON.stringify(args)}`, async () => {
      const outcome = await talk.call(tool, args);
      assert.ok(outcome.ok, JSON.stringify(outcome));
      const { files } = outcome.data as { files: (string | { path: string })[] };
      assert.deepEqual(
        files.map((one) => (typeof one === 'string' ? one : one.path)),
        expected,
      );
    });

  it('are free to change below @state, artifacts too', async () => {
    await talk.call('fs.write', { path: '@state/a/one.md', content: 'x' });
    await talk.call('fs.move', { from: '@state/a/one.md', to: '@state/b/two.md' });
    assert.equal(readFileSync(path.join(outer, 'state/b/two.md'), 'utf8'), 'x');
    assert.equal((await talk.call('fs.delete', { path: '@state/b/two.md' })).ok, true);
    assert.deepEqual(talk.asked, []);
    assert.equal(existsSync(path.join(outer, 'state/b/two.md')), false);
  });

  it('are beside several open folders', async () => {
    const several = await temporaryWorkspace({ 'one/a.txt': 'a', 'two/b.txt': 'b' }, { folders: ['one', 'two'] });
    const source = await loadPackage(writePackage(path.join(outer, 'package')));
    const { call } = conversation(createMountedWorkspace(several, source.folder, undefined, async () => {}));
    const paths = await Promise.all(
      ['@project/one/a.txt', 'two/b.txt', '@project/b.txt', step].map(async (place) => {
        const outcome = await call('fs.read', { path: place });
        return outcome.ok ? (outcome.data as { path: string }).path : outcome.error.code;
      }),
    );
    several.cleanup();
    assert.deepEqual(paths, ['one/a.txt', 'two/b.txt', 'two/b.txt', step]);
  });

  it('are in no other run', async () => {
    const plain = conversation(workspace);
    for (const place of [step, '@state/workflow.md', '@project/a.txt']) {
      const outcome = await plain.call('fs.read', { path: place });
      assert.equal(!outcome.ok && outcome.error.code, 'ENOENT');
    }
  });

  it('keep every change undoable, by its path in the workspace or in its place', async () => {
    await talk.call('fs.write', { path: '@project/new.txt', content: 'x' });
    await talk.call('fs.write', { path: '@state/own.txt', content: 'x' });
    await talk.call('fs.write', { path: '@state/made/a.txt', content: 'x' });
    await talk.call('fs.delete', { path: '@state/made' });
    const changed = talk.events.flatMap((event) =>
      event.type === 'tool-end' ? [event.changes?.map((one) => one.path)] : [],
    );
    assert.deepEqual(changed, [['new.txt'], ['@state/own.txt'], ['@state/made/a.txt'], ['@state/made/a.txt']]);
    assert.equal(workspace.read('new.txt'), 'x');
  });
});
