import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import type { ApprovalPolicy } from '../../../src/protocol/content/policy.ts';
import { normalizePath } from '../../../src/tools/host/normalizePaths.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation } from '../conversation.ts';

const files = {
  '.env': 'TOKEN=1\n',
  '.vscode/settings.json': '{}\n',
  '.git/config': '',
  'src/a.ts': 'one\n',
  'docs/b.md': 'two\n',
};

describe('gate: paths in other forms', () => {
  /** Forms in which a model names a path of the workspace. */
  const forms: [what: string, form: (root: string, place: string) => string][] = [
    ['from the root', (_, place) => `/${place}`],
    ['absolute', (root, place) => path.join(root, place)],
    ['with blanks', (_, place) => ` ${place}\n`],
    ['absolute, with blanks', (root, place) => `${path.join(root, place)} `],
    ['from the root, with blanks', (_, place) => `\t/${place} `],
  ];
  const rule = (effect: 'allow' | 'deny', tool: string, place: string): Partial<ApprovalPolicy> => ({
    rules: [{ scope: 'user', effect, tool, path: place }],
  });
  const calls: [what: string, name: string, key: string, args: Record<string, string>, policy?: Partial<ApprovalPolicy>][] = [
    ['a secret that is read', 'fs.read', 'path', { path: '.env' }],
    ['a protected file', 'fs.write', 'path', { path: '.vscode/settings.json', content: '{ }' }, { preset: 'autopilot' }],
    ['what belongs to Git', 'fs.write', 'path', { path: '.git/config', content: 'x' }, { preset: 'autopilot' }],
    ['what a rule denies', 'fs.read', 'path', { path: 'src/a.ts' }, rule('deny', 'fs.read', 'src/**')],
    ['what a rule allows', 'fs.write', 'path', { path: 'docs/b.md', content: 'x' }, rule('allow', 'fs.write', 'docs/**')],
    ['what a rule allows elsewhere', 'fs.write', 'path', { path: 'src/a.ts', content: 'x' }, rule('allow', 'fs.write', 'docs/**')],
    ['where a move goes', 'fs.move', 'to', { from: 'src/a.ts', to: 'docs/a.ts' }, rule('deny', 'fs.move', 'docs/**')],
    ['the folder of a command', 'shell.run', 'cwd', { command: 'ls', cwd: 'src' }],
  ]; // biome-ignore format: a table

  /** What is shown, recorded and answered, the same for every temporary folder. */
  async function judged(
    name: string,
    args: (root: string) => Record<string, string>,
    policy: Partial<ApprovalPolicy> = {},
  ) {
    const workspace = await temporaryWorkspace(files);
    try {
      const { call, asked, events } = conversation(workspace, { policy, answer: 'deny' });
      const outcome = await call(name, args(workspace.root));
      const shown = asked.map(({ plan: { what, where, why, paths, change }, call }) => {
        return { what, where, why, paths, change, args: call.arguments };
      });
      const recorded = events.flatMap((event) =>
        event.type === 'call-arguments' || event.type === 'question' || event.type === 'approval-request'
          ? []
          : [{ ...event, ms: 0, waitedMs: 0 }],
      );
      return JSON.parse(JSON.stringify([outcome, shown, recorded]).replaceAll(workspace.root, 'ROOT'));
    } finally {
      workspace.cleanup();
    }
  }
  for (const [what, name, key, args, policy] of calls)
    for (const [form, formOf] of forms)
      it(`${what} is judged as in its plain form: ${form}`, async () => {
        const plain = await judged(name, () => args, policy);
        assert.deepEqual(await judged(name, (root) => ({ ...args, [key]: formOf(root, args[key]!) }), policy), plain);
      });
});

describe('gate: the plain form of a path', () => {
  let workspace: TemporaryWorkspace;
  afterEach(() => workspace.cleanup());
  const plain = (input: string) => normalizePath(workspace, input);

  it('is relative, and leaves what has another meaning as it is', async () => {
    workspace = await temporaryWorkspace({ ...files, ' x.ts': '', 'etc/hosts': '', ' y/z.ts': '' });
    const { root } = workspace;
    const cases: [input: string, plain: string][] = [
      ['src/a.ts', 'src/a.ts'],
      ['./src/a.ts', './src/a.ts'],
      [root, '.'],
      [`${root}/`, '.'],
      [`${root}/src/`, 'src/'],
      [`${root}/src/../docs/b.md`, 'docs/b.md'],
      [`${root}/../elsewhere`, `${root}/../elsewhere`],
      [`${root}x/src/a.ts`, `${root}x/src/a.ts`],
      ['/src/../../a', '/src/../../a'],
      ['/etc/hosts', '/etc/hosts'],
      ['/src', 'src'],
      ['/src/new/deep.ts', '/src/new/deep.ts'],
      ['/new.ts', '/new.ts'],
      ['//src/a.ts', '//src/a.ts'],
      [' x.ts', ' x.ts'],
      [' y/new.ts', ' y/new.ts'],
      ['x.ts ', 'x.ts'],
      ['   ', '   '],
      ['', ''],
      ['src/a.ts\0', 'src/a.ts\0'],
      ['~/a.ts', '~/a.ts'],
    ];
    for (const [input, wanted] of cases) assert.equal(await plain(input), wanted, JSON.stringify(input));
  });

  it('goes through no link that leaves the workspace', async () => {
    workspace = await temporaryWorkspace(files);
    symlinkSync('/etc', path.join(workspace.root, 'out'));
    symlinkSync('src', path.join(workspace.root, 'link'));
    assert.equal(await plain('/out/hosts'), '/out/hosts');
    assert.equal(await plain('/link/a.ts'), 'link/a.ts');
    const { call } = conversation(workspace);
    const outcome = await call('fs.read', { path: path.join(workspace.root, 'out/hosts') });
    assert.match(JSON.stringify(outcome), /E_SANDBOX_VIOLATION.*SYMLINK_ESCAPE/);
  });

  it('begins with the name of its folder where there are several, and is left where it is in two of them', async () => {
    workspace = await temporaryWorkspace(
      { 'one/src/a.ts': '', 'two/src/a.ts': '', 'two/b.ts': '' },
      { folders: ['one', 'two'] },
    );
    const { root } = workspace;
    assert.equal(await plain(path.join(root, 'two/src/a.ts')), 'two/src/a.ts');
    assert.equal(await plain('/two/b.ts'), 'two/b.ts');
    assert.equal(await plain('/b.ts'), 'b.ts');
    assert.equal(await plain('/src/a.ts'), '/src/a.ts');
  });
});

describe('gate: arguments that are not as they were sent', () => {
  let workspace: TemporaryWorkspace;
  beforeEach(async () => {
    workspace = await temporaryWorkspace(files);
  });
  afterEach(() => workspace.cleanup());
  const edit = { oldText: 'one', newText: 'two' };

  it('are recorded once, before anything else is, and are what the user is asked about', async () => {
    const { call, asked, events } = conversation(workspace);
    await call('fs.edit', { path: '/src/a.ts', edits: JSON.stringify(edit), cell: null });
    assert.deepEqual(
      events.map(({ type }) => type),
      ['call-arguments', 'approval-request', 'question', 'approval', 'tool-start', 'tool-end'],
    );
    const understood = { arguments: { path: 'src/a.ts', edits: [edit] }, leftOut: ['cell'] };
    assert.deepEqual(events[0], { type: 'call-arguments', toolCallId: 'call-1', ...understood });
    assert.deepEqual(asked[0]!.call.arguments, { path: 'src/a.ts', edits: [edit] });
    assert.equal(workspace.read('src/a.ts'), 'two\n');
  });

  it('are recorded of a call that fails, too', async () => {
    const { call, events } = conversation(workspace);
    assert.equal((await call('fs.read', { path: 'none.ts ' })).ok, false);
    assert.deepEqual(
      events.map(({ type }) => type),
      ['call-arguments', 'tool-end'],
    );
  });

  it('are recorded of none that are as they were sent, and of none that are refused', async () => {
    const { call, events } = conversation(workspace);
    await call('fs.read', { path: 'src/a.ts', limit: 1 });
    await call('fs.read', { path: 'src/a.ts', limit: 'all' });
    assert.deepEqual(
      events.map(({ type }) => type),
      ['tool-start', 'tool-end', 'tool-end'],
    );
  });

  it('of calls that are asked about together are recorded once for each', async () => {
    const { reply, events, asked } = conversation(workspace);
    const [one, two] = await reply(
      ['fs.write', { path: '/src/a.ts', content: 'x' }],
      ['fs.write', { path: ' docs/b.md', content: 'y' }],
    );
    assert.ok(one!.ok && two!.ok);
    assert.equal(events.filter(({ type }) => type === 'call-arguments').length, 2);
    assert.equal(asked.length, 2);
    assert.deepEqual([workspace.read('src/a.ts'), workspace.read('docs/b.md')], ['x', 'y']);
  });
});
