import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { systemPrompt } from '../../../src/engine/context/systemPrompt.ts';
import type { LanguageService } from '../../../src/tools/code/language.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { WorkspaceFileNames } from '../../../src/tools/mention/fileNames.ts';
import { workspacePathOfUri } from '../../../src/tools/sandbox/virtual.ts';
import { virtualIn } from '../../support/virtual.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { type ConversationOptions, conversation, data, error } from '../conversation.ts';

let workspace: TemporaryWorkspace;
let read: string[];
afterEach(() => workspace?.cleanup());

/** A window whose folders the editor alone reaches, with these files. */
async function window(
  files: Record<string, string | Buffer>,
  folders: string[] = [],
  options: ConversationOptions = {},
) {
  workspace = await temporaryWorkspace(files, { folders });
  read = [];
  const [outer, names] = folders.length > 0 ? [workspace.root, folders] : [path.dirname(workspace.root), ['ws']];
  workspace.roots = [];
  Object.assign(workspace, { virtual: virtualIn(outer, names, (address) => read.push(address)) });
  return conversation(workspace, options);
}

const some = {
  'src/a.ts': 'one\ntwo(x)\nthree\n',
  'src/deep/ä b.ts': 'TWO\r\nnone\r\n',
  'README.md': '# two\n',
  '.env': 'two=secret\n',
  'node_modules/x/index.js': 'two\n',
  'picture.bin': Buffer.from([0, 1, 2]),
};

describe('a virtual workspace', () => {
  it('is read, listed and looked through as any other, but for what nobody would look into', async () => {
    const { call } = await window(some);
    assert.deepEqual(await data(call('fs.list')), {
      path: '.',
      entries: [
        { name: 'node_modules', kind: 'folder' },
        { name: 'src', kind: 'folder' },
        { name: '.env', kind: 'file' },
        { name: 'README.md', kind: 'file' },
        { name: 'picture.bin', kind: 'file' },
      ],
    });
    const { text, path: named, totalLines } = await data(call('fs.read', { path: './src/../src/a.ts', offset: 2 }));
    assert.deepEqual([named, text, totalLines], ['src/a.ts', 'two(x)\nthree', 3]);
    assert.deepEqual(await data(call('fs.find', { pattern: '*.{ts,js}' })), { files: ['src/a.ts', 'src/deep/ä b.ts'] });
    assert.deepEqual(await data(call('fs.find', { pattern: '*.ts', path: 'src/deep' })), {
      files: ['src/deep/ä b.ts'],
    });
    assert.deepEqual(await data(call('fs.search', { pattern: '^TWO|two', context: 1 })), {
      matches: 3,
      files: [
        { path: 'README.md', lines: ['1: # two'] },
        { path: 'src/a.ts', lines: ['1- one', '2: two(x)', '3- three'] },
        { path: 'src/deep/ä b.ts', lines: ['1: TWO', '2- none'] },
      ],
    });
    assert.deepEqual(await data(call('fs.search', { pattern: 'two(', fixed: true, path: 'src', glob: '*.ts' })), {
      matches: 1,
      files: [{ path: 'src/a.ts', lines: ['2: two(x)'] }],
    });
    assert.match((await error(call('fs.search', { pattern: 'a(' }))).message, /^pattern: /);
  });

  it('gives what the editor holds of a file before what is kept', async () => {
    const { call } = await window({ 'a.txt': 'kept\n' });
    workspace.openText = (address) => (address === 'mem:/ws/a.txt' ? 'typed\n' : undefined);
    assert.equal((await data(call('fs.read', { path: 'a.txt' }))).text, 'typed');
  });

  const refused: [string, string, Record<string, unknown>, RegExp][] = [
    ['a way out', 'fs.read', { path: '../other/x' }, /outside the workspace/],
    ['a way out that turns back', 'fs.read', { path: 'src/../../ws/a' }, /outside the workspace/],
    ['a path of a disk', 'fs.read', { path: '/etc/passwd' }, /outside the workspace/],
    ['an address', 'fs.read', { path: 'mem:/ws/a.ts' }, /is not a path here/],
    ['another spelling of folders', 'fs.read', { path: 'src\\\\a.ts' }, /is not a path here/],
    ['a link', 'fs.read', { path: 'link' }, /goes through a link/],
    ['what is behind a link', 'fs.list', { path: 'out/x' }, /goes through a link/],
    ['a folder as a file', 'fs.read', { path: 'src' }, /is a folder/],
    ['a file as a folder', 'fs.list', { path: 'README.md' }, /not a folder/],
    ['a slip', 'fs.read', { path: 'src/b.ts' }, /does not exist/],
    ['a slip of the pen', 'fs.read', { path: 'READM.md' }, /Did you mean "README.md"/],
    ['a search of secrets', 'fs.search', { pattern: 'x', path: '.env' }, /may hold secrets/],
  ];
  it('leads nowhere else', async () => {
    const { call } = await window(some, [], { answer: 'allow' });
    symlinkSync('README.md', path.join(workspace.root, 'link'));
    symlinkSync('src', path.join(workspace.root, 'out'));
    for (const [what, tool, args, expected] of refused)
      assert.match((await error(call(tool, args))).message, expected, what);
    assert.deepEqual(read, []);
    assert.deepEqual(
      (await data<{ files: string[] }>(call('fs.find', { pattern: '*' }))).files.includes('link'),
      false,
    );
  });

  it('asks before a file that may hold secrets is read, however it is spelled, and keeps to the rules', async () => {
    const rule = { effect: 'deny', tool: 'fs.read', path: 'src/**', scope: 'user' } as const;
    const { call, asked } = await window(some, [], { policy: { rules: [rule] } });
    await data(call('fs.read', { path: 'src/../.env' }));
    assert.deepEqual(
      asked.map(({ plan }) => [plan.what, plan.where]),
      [['Read .env', 'mem:/ws/.env']],
    );
    assert.equal((await error(call('fs.read', { path: './src//a.ts' }))).code, 'TOOL_DENIED');
    assert.deepEqual(
      (await data<{ files: { path: string }[] }>(call('fs.search', { pattern: 'two' }))).files.map((file) => file.path),
      ['README.md'],
    );
  });

  it('of several folders has their names before its paths', async () => {
    const { call } = await window({ 'one/a.txt': 'x\n', 'two/b.txt': 'x\n' }, ['one', 'two']);
    const { entries } = await data<{ entries: unknown[] }>(call('fs.list'));
    assert.deepEqual(entries, [
      { name: 'one', kind: 'folder' },
      { name: 'two', kind: 'folder' },
    ]);
    assert.deepEqual(await data(call('fs.find', { pattern: '*.txt' })), { files: ['one/a.txt', 'two/b.txt'] });
    assert.equal((await data(call('fs.read', { path: 'two/b.txt' }))).text, 'x');
    assert.match(
      (await error(call('fs.read', { path: 'b.txt' }))).message,
      /Begin with the folder: "one\/…" or "two\/…"/,
    );
  });

  it('says how much of it was searched', async () => {
    const many = Object.fromEntries(Array.from({ length: 1010 }, (_, at) => [`f${at}.txt`, 'word\n']));
    const { call } = await window({ ...many, 'a.txt': `${'-'.repeat(1024 * 1024)}word\n` });
    const { cut } = await data(call('fs.search', { pattern: 'word', glob: 'a.txt' }));
    assert.equal(cut, '1 of over a megabyte were not looked into.');
    const all = await data(call('fs.search', { pattern: 'nothing' }));
    assert.equal(
      all.cut,
      'Looked into the first 1000 of 1011 files: give a path or glob. 1 of over a megabyte were not looked into.',
    );
    assert.match(String((await data(call('fs.search', { pattern: 'word' }))).cut), /Only the first 200 matches/);
  });

  it('offers nothing that changes or runs, and says why to who asks for it', async () => {
    const { host, call, asked } = await window(some, [], { tools: builtinTools({ language: {} as LanguageService }) });
    const names = host.getVisibleTools({ agentId: 'chat', contextWindow: 100_000 }).map(({ name }) => name);
    assert.deepEqual(
      names.filter((name) => /^(fs|shell|run)\./.test(name)),
      ['fs.list', 'fs.find', 'fs.search', 'fs.read'],
    );
    assert.ok(names.includes('editor.context') && names.includes('web.fetch') && names.includes('ask.person'));
    for (const [tool, args] of [
      ['fs.write', { path: 'a', content: '' }],
      ['shell.run', { command: 'ls' }],
    ] as const) {
      const { code, message } = await error(call(tool, args));
      assert.equal(code, 'TOOL_NOT_AVAILABLE');
      assert.match(message, /virtual, on no disk of this machine: files are read, listed and searched here/);
    }
    assert.deepEqual(asked, []);
    assert.match(
      systemPrompt({ id: 'x', instructions: '' } as never, { names: ['ws'], virtual: true }),
      /but not change them/,
    );
  });

  it('says so when the editor does not reach it, and finds nothing missing then', async () => {
    const { call } = await window(some);
    workspace.virtual!.list = () => Promise.reject(new Error('The editor could not read this (Unavailable).'));
    for (const [tool, args] of [
      ['fs.list', {}],
      ['fs.find', { pattern: '*' }],
      ['fs.search', { pattern: 'x', path: 'src' }],
    ] as const)
      assert.match((await error(call(tool, args))).message, /could not read this \(Unavailable\)/, tool);
  });

  it('has its files completed in a message', async () => {
    await window(some);
    const names = new WorkspaceFileNames(workspace);
    await names.fresh(new AbortController().signal);
    assert.deepEqual(
      [names.problem, [...names.names].sort()],
      [undefined, ['.env', 'README.md', 'picture.bin', 'src/', 'src/a.ts', 'src/deep/', 'src/deep/ä b.ts']],
    );
  });

  it('knows an address of its own from one that only begins like it', () => {
    const virtual = virtualIn('/', ['ws']);
    for (const [address, expected] of [
      ['mem:/ws', '.'],
      ['mem:/ws/a%20b/c', 'a b/c'],
      ['mem:/wsx/a', undefined],
      ['other:/ws/a', undefined],
    ] as const)
      assert.equal(workspacePathOfUri(virtual, address), expected);
  });
});
