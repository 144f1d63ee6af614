import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import * as paths from 'node:path';
import { sha256 } from '../../../src/tools/sandbox/fileText.ts';
import { pixel } from '../../support/images.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation, data, error } from '../conversation.ts';

let workspace: TemporaryWorkspace;
afterEach(() => workspace?.cleanup());

describe('tools: looking', () => {
  it('fs.list shows kinds, sizes and what the ignore files leave out', async () => {
    workspace = await temporaryWorkspace({
      '.gitignore': 'dist/\n*.log\n',
      'src/a.ts': 'a',
      'dist/out.js': 'x',
      'debug.log': 'xyz',
    });
    mkdirSync(paths.join(workspace.root, 'empty'));
    symlinkSync('src', paths.join(workspace.root, 'link'));
    assert.deepEqual(await data(conversation(workspace).call('fs.list')), {
      path: '.',
      entries: [
        { name: 'dist', kind: 'folder', ignored: true },
        { name: 'empty', kind: 'folder' },
        { name: 'src', kind: 'folder' },
        { name: '.gitignore', kind: 'file', size: 12 },
        { name: 'debug.log', kind: 'file', size: 3, ignored: true },
        { name: 'link', kind: 'link' },
      ],
    });
  });

  it('fs.list says how to see the rest of a very large folder', async () => {
    const files = Object.fromEntries(Array.from({ length: 620 }, (_, index) => [`many/f${index}.txt`, '']));
    workspace = await temporaryWorkspace(files);
    const { entries, cut } = await data(conversation(workspace).call('fs.list', { path: 'many' }));
    assert.equal((entries as unknown[]).length, 500);
    assert.equal(cut, '500 of 620 entries. Use fs.find with a pattern for the rest.');
  });

  it('fs.find honours ignore files even for what the pattern names', async () => {
    workspace = await temporaryWorkspace({
      '.gitignore': '*.log\nnode_modules\n',
      'a.log': '',
      'node_modules/x/b.ts': '',
      'src/b.ts': '',
      'src/deep/c.ts': '',
      'src/deep/c.tsx': '',
      '.github/d.ts': '',
    });
    const { call } = conversation(workspace);
    const find = async (pattern: string, path?: string) =>
      (await data<{ files: string[] }>(call('fs.find', { pattern, ...(path && { path }) }))).files;
    assert.deepEqual(await find('*.log'), []);
    assert.deepEqual(await find('*.ts'), ['.github/d.ts', 'src/b.ts', 'src/deep/c.ts']);
    assert.deepEqual(await find('src/*.ts'), ['src/b.ts']);
    assert.deepEqual(await find('src/**/*.{ts,tsx}'), ['src/b.ts', 'src/deep/c.ts', 'src/deep/c.tsx']);
    assert.deepEqual(await find('**/[cd].ts'), ['.github/d.ts', 'src/deep/c.ts']);
    assert.deepEqual(await find('c.ts?', 'src/deep'), ['src/deep/c.tsx']);
    assert.deepEqual((await error(call('fs.find', { pattern: '../**' }))).reason, 'OUTSIDE');
  });

  it('fs.search shows matching lines with their numbers and what is around them', async () => {
    workspace = await temporaryWorkspace({
      'src/a.ts': 'one\ntwo(x)\nthree\n',
      'src/b.md': 'TWO\n',
      'long.txt': `${'-'.repeat(900)}two${'-'.repeat(900)}\n`,
      '.env': 'two=secret\n',
    });
    const { call } = conversation(workspace);
    assert.deepEqual(await data(call('fs.search', { pattern: 'two(', fixed: true, context: 1 })), {
      matches: 1,
      files: [{ path: 'src/a.ts', lines: ['1- one', '2: two(x)', '3- three'] }],
    });
    assert.deepEqual(await data(call('fs.search', { pattern: '^tw[o]', ignoreCase: true, glob: 'src/**' })), {
      matches: 2,
      files: [
        { path: 'src/a.ts', lines: ['2: two(x)'] },
        { path: 'src/b.md', lines: ['1: TWO'] },
      ],
    });
    const long = JSON.stringify(await data(call('fs.search', { pattern: 'two', path: 'long.txt' })));
    assert.ok(long.includes('two') && long.includes('(line cut)') && long.length < 700, long);
    assert.match(
      (await error(call('fs.search', { pattern: 'two(' }))).message,
      /unclosed group[\s\S]*set fixed to true/,
    );
    assert.equal((await error(call('fs.search', { pattern: 'two', path: '.env' }))).reason, 'SECRET_READ');
  });

  it('fs.search tells what is no text, what is not UTF-8 and what its expressions cannot do', async () => {
    workspace = await temporaryWorkspace({
      'a.txt': Buffer.from('gr\xfcn x\n', 'latin1'),
      'b.bin': Buffer.from('x\0y'),
      '.aws/config': 'x',
    });
    const { call } = conversation(workspace);
    assert.deepEqual(await data(call('fs.search', { pattern: 'x' })), {
      matches: 1,
      files: [{ path: 'a.txt', lines: ['1: gr\ufffdn x'] }],
    });
    assert.deepEqual((await data(call('fs.search', { pattern: 'x', path: 'b.bin' }))).files, [
      { path: 'b.bin', lines: ['1: (binary)'] },
    ]);
    assert.match((await error(call('fs.search', { pattern: 'x\\ny' }))).message, /within one line, so it cannot hold/);
    assert.match((await error(call('fs.search', { pattern: 'x(?=y)' }))).message, /look-around.* is not supported/);
  });

  it('fs.find says which file may have been meant', async () => {
    workspace = await temporaryWorkspace({ 'src/greeting.ts': '', 'b.ts': '' });
    const { call } = conversation(workspace);
    const note = 'No file matches; ignored ones are left out.';
    assert.deepEqual(await data(call('fs.find', { pattern: 'lib/greetings.ts' })), {
      files: [],
      note: `${note} Did you mean "src/greeting.ts"?`,
    });
    assert.deepEqual(await data(call('fs.find', { pattern: '*.py' })), { files: [], note });
  });

  it('fs.search stops at a bound and says so', async () => {
    workspace = await temporaryWorkspace({ 'a.txt': 'x\n'.repeat(5000) });
    const { matches, cut } = await data(conversation(workspace).call('fs.search', { pattern: 'x' }));
    assert.deepEqual([matches, cut], [200, 'Only the first 200 matches. Narrow the pattern, or give a path or glob.']);
  });

  it('without ripgrep, or with one that dies, a search fails and the folder can still be listed', async () => {
    workspace = await temporaryWorkspace({ 'a.txt': 'x', 'dying.sh': '#!/bin/sh\nprintf \'{"type":"ma\'; exit 1\n' });
    const dying = paths.join(workspace.root, 'dying.sh');
    chmodSync(dying, 0o755);
    for (const [ripgrep, code] of [
      [undefined, 'TOOL_NOT_AVAILABLE'],
      ['/nowhere/rg', 'TOOL_EXEC_FAILED'],
      [dying, 'TOOL_EXEC_FAILED'],
    ] as const) {
      Object.assign(workspace, { ripgrep });
      const { call } = conversation(workspace);
      assert.equal((await error(call('fs.search', { pattern: 'x' }))).code, code);
    }
    Object.assign(workspace, { ripgrep: undefined });
    assert.equal((await data<{ entries: unknown[] }>(conversation(workspace).call('fs.list'))).entries.length, 2);
  });

  it('several open folders: names first, everywhere', async () => {
    workspace = await temporaryWorkspace({ 'api/a.ts': 'x', 'web/b.ts': 'x' }, { folders: ['api', 'web'] });
    const { call } = conversation(workspace);
    assert.deepEqual(await data(call('fs.list')), {
      path: '.',
      entries: [
        { name: 'api', kind: 'folder' },
        { name: 'web', kind: 'folder' },
      ],
    });
    assert.deepEqual(await data(call('fs.find', { pattern: '*.ts' })), { files: ['api/a.ts', 'web/b.ts'] });
    const found = await data<{ files: { path: string }[] }>(call('fs.search', { pattern: 'x', path: 'web' }));
    assert.deepEqual(found.files[0]!.path, 'web/b.ts');
    assert.equal((await data(call('fs.read', { path: 'web/b.ts' }))).path, 'web/b.ts');
  });
});

describe('tools: fs.read', () => {
  const read = (args: object) => conversation(workspace).call('fs.read', args);

  it('gives a window of lines and says how to read on', async () => {
    workspace = await temporaryWorkspace({ 'a.txt': 'one\ntwo\nthree\nfour\n' });
    assert.deepEqual(await data(read({ path: './a.txt', offset: 2, limit: 2 })), {
      path: 'a.txt',
      text: 'two\nthree',
      startLine: 2,
      endLine: 3,
      totalLines: 4,
      sha256: sha256('one\ntwo\nthree\nfour\n'),
      cut: 'Lines 2-3 of 4. Read on with offset 4.',
    });
    assert.match((await error(read({ path: 'a.txt', offset: 9 }))).message, /past the end: the file has 4 lines/);
  });

  it('cuts a long file by itself, in whole lines', async () => {
    workspace = await temporaryWorkspace({ 'a.txt': `${'x'.repeat(999)}\n`.repeat(100) });
    const { endLine, cut, text } = await data<{ endLine: number; cut: string; text: string }>(read({ path: 'a.txt' }));
    assert.equal(endLine, 40);
    assert.equal(text.length, 40 * 1000 - 1);
    assert.equal(cut, 'Lines 1-40 of 100. Read on with offset 41.');
  });

  it('reads all lines for a limit beyond any file', async () => {
    workspace = await temporaryWorkspace({ 'a.txt': 'one\ntwo\n' });
    const { text, cut } = await data(read({ path: 'a.txt', limit: 1_000_000_000_000_000 }));
    assert.deepEqual([text, cut], ['one\ntwo', undefined]);
  });

  it('an empty file is empty', async () => {
    workspace = await temporaryWorkspace({ 'a.txt': '' });
    const { text, startLine, endLine, totalLines } = await data(read({ path: 'a.txt' }));
    assert.deepEqual([text, startLine, endLine, totalLines], ['', 0, 0, 0]);
  });

  it('what the editor holds unsaved is what is read', async () => {
    workspace = await temporaryWorkspace({ 'a.txt': 'on disk\n' });
    workspace.openInEditor('a.txt', 'typed\n');
    const { text, unsaved } = await data(read({ path: 'a.txt' }));
    assert.deepEqual([text, unsaved], ['typed', true]);
  });

  const encodings: [name: string, bytes: Buffer, text: string][] = [
    ['UTF-8 with a mark', Buffer.from('\ufeffgrün\r\n'), 'grün'],
    ['UTF-16 little', Buffer.from('\ufeffgrün', 'utf16le'), 'grün'],
    ['UTF-16 big', Buffer.from('\ufeffgrün', 'utf16le').swap16(), 'grün'],
    [
      'some other 8-bit encoding',
      Buffer.from('a word that is gr\xfcn here', 'latin1'),
      'a word that is gr\ufffdn here',
    ],
  ];
  for (const [name, bytes, text] of encodings) {
    it(`decodes ${name}`, async () => {
      workspace = await temporaryWorkspace({ 'a.txt': bytes });
      assert.equal((await data(read({ path: 'a.txt' }))).text, text);
    });
  }

  it('a folder, a binary and a huge file are answered with the way out', async () => {
    workspace = await temporaryWorkspace({ 'src/a': 'x', 'b.bin': Buffer.from([1, 0, 2]), 'c.txt': 'x'.repeat(11e6) });
    const { message, code } = await error(read({ path: 'src' }));
    assert.deepEqual([code, message], ['E_SANDBOX_VIOLATION', '"src" is a folder. Use fs.list for it.']);
    assert.equal((await error(read({ path: 'b.bin' }))).code, 'E_READ_LIMIT');
    assert.match((await error(read({ path: 'c.txt' }))).message, /too large \(10 MiB\).*Use fs\.search/);
  });

  it('a picture is shown, by its bytes and not by its name', async () => {
    const bytes = Buffer.from(pixel, 'base64');
    workspace = await temporaryWorkspace({ 'a.txt': bytes, 'b.png': 'text', 'c.png': Buffer.from('\0 no picture') });
    assert.deepEqual(await read({ path: 'a.txt' }), {
      ok: true,
      data: { path: 'a.txt', image: 'image/png', bytes: bytes.length },
      attachments: [{ mediaType: 'image/png', data: pixel, name: 'a.txt' }],
    });
    assert.equal((await data(read({ path: 'b.png' }))).text, 'text');
    assert.equal((await error(read({ path: 'c.png' }))).reason, 'BINARY');
  });

  it('a picture that is too large is refused with its limit', async () => {
    const large = Buffer.concat([Buffer.from(pixel, 'base64'), Buffer.alloc(3_750_000)]);
    workspace = await temporaryWorkspace({ 'a.png': large });
    const { code, message } = await error(read({ path: 'a.png' }));
    assert.deepEqual(
      [code, message],
      ['E_READ_LIMIT', '"a.png" is a picture: it is larger than 3.7 MB, which is the most that can be shown.'],
    );
  });

  it('a secret is asked about every time, and not read when the answer is no', async () => {
    workspace = await temporaryWorkspace({ '.env': 'PASSWORD=1' });
    const yes = conversation(workspace, { answer: 'allow-run' });
    assert.equal((await data(yes.call('fs.read', { path: '.env' }))).text, 'PASSWORD=1');
    await yes.call('fs.read', { path: '.env' });
    assert.deepEqual(
      yes.asked.map(({ plan }) => [plan.what, plan.where, plan.why, plan.grant]),
      Array(2).fill([
        'Read .env',
        paths.join(workspace.root, '.env'),
        'It may contain secrets, and its contents are sent to the model.',
        undefined,
      ]),
    );
    const no = conversation(workspace, { answer: 'deny' });
    const told = await no.call('fs.read', { path: '.env' });
    assert.ok(!told.ok && told.error.code === 'TOOL_DENIED' && !JSON.stringify(told).includes('PASSWORD'));
  });

  it('an edit that misses does not tell what a secret file holds', async () => {
    workspace = await temporaryWorkspace({ '.env': 'PASSWORD=hunter2\nUSER=me\n' });
    const { call, asked } = conversation(workspace);
    const told = await call('fs.edit', { path: '.env', edits: [{ oldText: 'PASSWORD=\n', newText: 'x' }] });
    assert.ok(!told.ok && !JSON.stringify(told).includes('hunter2'), JSON.stringify(told));
    assert.equal(asked.length, 0);
  });
});

describe('tools: changing', () => {
  it('fs.write creates a file with its folders', async () => {
    workspace = await temporaryWorkspace();
    const { call, asked, events, kept } = conversation(workspace);
    const text = 'export {};\n';
    assert.deepEqual(await data(call('fs.write', { path: 'src/new/a.ts', content: text })), {
      path: 'src/new/a.ts',
      sha256: sha256(text),
      created: true,
      added: 1,
      removed: 0,
    });
    assert.equal(workspace.read('src/new/a.ts'), text);
    const { what, where, why, grant, change } = asked[0]!.plan;
    assert.deepEqual(
      { what, where, why, grant, change },
      {
        what: 'Create src/new/a.ts',
        where: paths.join(workspace.root, 'src/new/a.ts'),
        why: '',
        grant: 'fs.write',
        change: {
          path: 'src/new/a.ts',
          realPath: paths.join(workspace.root, 'src/new/a.ts'),
          before: null,
          after: text,
        },
      },
    );
    const end = events.at(-1);
    assert.ok(end?.type === 'tool-end');
    assert.deepEqual(end.changes, [{ path: 'src/new/a.ts', before: null, after: sha256(text) }]);
    assert.equal(kept.get(sha256(text)), text);
  });

  it('fs.edit changes what was shown, and only that', async () => {
    const before = 'export function greet() {\n  return "hi";\n}\n';
    workspace = await temporaryWorkspace({ 'src/greet.ts': before });
    const { call, asked } = conversation(workspace);
    const after = before.replace('hi', 'hello');
    const edits = [{ oldText: 'return "hi"', newText: 'return "hello"' }];
    assert.deepEqual(await data(call('fs.edit', { path: 'src/greet.ts', edits, ifMatchSha256: sha256(before) })), {
      path: 'src/greet.ts',
      sha256: sha256(after),
      matched: 'exact',
      added: 1,
      removed: 1,
    });
    assert.deepEqual([workspace.read('src/greet.ts'), asked[0]?.plan.change?.after], [after, after]);
  });

  const bytes = (text: string, encoding: BufferEncoding = 'utf8') => Buffer.from(text, encoding);
  const kept: [name: string, before: Buffer, after: Buffer][] = [
    ['Windows line endings', bytes('a\r\nold\r\n'), bytes('a\r\nnew\r\nmore\r\n')],
    ['a byte order mark', bytes('\ufeffa\nold\n'), bytes('\ufeffa\nnew\nmore\n')],
    ['UTF-16', bytes('\ufeffa\nold\n', 'utf16le'), bytes('\ufeffa\nnew\nmore\n', 'utf16le')],
    ['no final line ending', bytes('a\nold'), bytes('a\nnew\nmore')],
  ];
  for (const [name, before, after] of kept) {
    it(`fs.edit keeps ${name}`, async () => {
      workspace = await temporaryWorkspace({ 'a.txt': before });
      await data(
        conversation(workspace).call('fs.edit', {
          path: 'a.txt',
          edits: [{ oldText: 'old', newText: 'new\nmore' }],
        }),
      );
      assert.deepEqual(readFileSync(paths.join(workspace.root, 'a.txt')), after);
    });
  }

  it('a file that the editor shows with lost characters is not written back', async () => {
    const bytes = Buffer.from('a word that is gr\xfcn\nold\n', 'latin1');
    workspace = await temporaryWorkspace({ 'a.txt': bytes, 'real.txt': 'a real \ufffd\nold\n' });
    const { call } = conversation(workspace);
    for (const path of ['a.txt', 'real.txt']) workspace.openInEditor(path, workspace.read(path));
    const edits = [{ oldText: 'old', newText: 'new' }];
    const { code, message } = await error(call('fs.edit', { path: 'a.txt', edits }));
    assert.equal(code, 'E_PRECONDITION_FAILED');
    assert.match(message, /is not UTF-8 text \(it looks like Windows-1252\); writing it would damage it/);
    assert.deepEqual(readFileSync(paths.join(workspace.root, 'a.txt')), bytes);
    await data(call('fs.edit', { path: 'real.txt', edits }));
  });

  it('a read-only file is refused before anybody is asked', async () => {
    workspace = await temporaryWorkspace({ 'a.txt': 'old\n' });
    chmodSync(paths.join(workspace.root, 'a.txt'), 0o444);
    const { call, asked } = conversation(workspace);
    const { message } = await error(call('fs.write', { path: 'a.txt', content: 'new\n' }));
    assert.equal(message, '"a.txt" is read-only. Nothing was changed.');
    assert.deepEqual([asked, workspace.effects], [[], []]);
  });

  it('fs.edit of a block whose twin stands at another indentation shows both, and touches neither', async () => {
    const text = 'if (a) {\n  count(1);\n}\nfor (;;) {\n  if (a) {\n    count();\n  }\n}\n';
    workspace = await temporaryWorkspace({ 'a.ts': text, '.env': text });
    const { call } = conversation(workspace);
    const edits = [{ oldText: 'if (a) {\n  count();\n}\n', newText: 'if (a) {\n  count(2);\n}\n' }];
    const { message, details } = await error(call('fs.edit', { path: 'a.ts', edits }));
    assert.equal(
      message,
      'oldText is in "a.ts" only with another indentation, at lines 5-7:\n  if (a) {\n    count();\n  }\n' +
        'With its own, lines 1-3 are nearly the same:\nif (a) {\n  count(1);\n}\n' +
        'Give the lines that are meant as they stand there. Nothing was changed.',
    );
    assert.deepEqual(details, { reason: 'OTHER_INDENTATION', edit: 0, lines: [5, 7, 1, 3] });
    assert.doesNotMatch((await error(call('fs.edit', { path: '.env', edits }))).message, /count/);
    assert.deepEqual([workspace.read('a.ts'), workspace.read('.env')], [text, text]);
  });

  it('fs.write keeps the Windows line endings of a file it replaces', async () => {
    workspace = await temporaryWorkspace({ 'a.txt': 'a\r\nb\r\n' });
    await data(conversation(workspace).call('fs.write', { path: 'a.txt', content: 'c\nd\n' }));
    assert.equal(workspace.read('a.txt'), 'c\r\nd\r\n');
  });

  const refusals: [name: string, tool: string, args: object, message: RegExp][] = [
    ['a file that is not there', 'fs.edit', { path: 'src/b.ts', edits: [{ oldText: 'a', newText: 'b' }] }, /"a\.ts"/],
    [
      'text that is not there',
      'fs.edit',
      { path: 'src/a.ts', edits: [{ oldText: 'let total = sum(one);', newText: 'x' }] },
      /not in "src\/a\.ts"\. The nearest is at line 2:\nlet total = sum\(all\);\n? Nothing was changed/,
    ],
    [
      'text that occurs twice',
      'fs.edit',
      { path: 'src/a.ts', edits: [{ oldText: 'twice', newText: 'x' }] },
      /2 times \(lines 1, 3\)\. Give more lines around it/,
    ],
    [
      'an outdated version',
      'fs.write',
      { path: 'src/a.ts', content: 'x', ifMatchSha256: '0'.repeat(64) },
      /changed\. Read it again/,
    ],
    [
      'a version of nothing',
      'fs.write',
      { path: 'src/n.ts', content: 'x', ifMatchSha256: '0'.repeat(64) },
      /does not exist\. Read it again/,
    ],
    [
      'text left out',
      'fs.write',
      { path: 'src/a.ts', content: 'a\n// ... rest unchanged\n' },
      /Line 2 stands for text/,
    ],
    ['no change', 'fs.write', { path: 'src/a.ts', content: 'twice\nlet total = sum(all);\ntwice\n' }, /already holds/],
    ['too much', 'fs.write', { path: 'src/n.ts', content: 'x'.repeat(5_000_001) }, /longer than 5,000,000/],
  ];
  for (const [name, tool, args, message] of refusals) {
    it(`refuses without asking: ${name}`, async () => {
      workspace = await temporaryWorkspace({ 'src/a.ts': 'twice\nlet total = sum(all);\ntwice\n' });
      symlinkSync('src/a.ts', paths.join(workspace.root, 'link'));
      const { call, asked } = conversation(workspace);
      assert.match((await error(call(tool, args))).message, message);
      assert.deepEqual([asked, workspace.effects], [[], []]);
    });
  }

  it('T22 unsaved changes are edited, named in the question, and never lost', async () => {
    workspace = await temporaryWorkspace({ 'a.txt': 'old\n' });
    workspace.openInEditor('a.txt', 'old\ntyped\n');
    const { call, asked } = conversation(workspace);
    await data(call('fs.edit', { path: 'a.txt', edits: [{ oldText: 'old', newText: 'new' }] }));
    assert.equal(workspace.read('a.txt'), 'new\ntyped\n');
    assert.match(asked[0]!.plan.why, /unsaved changes in the editor, which are saved with it/);
  });

  const meanwhile: [name: string, change: () => void][] = [
    ['on disk', () => workspace.write('a.txt', 'somebody else\n')],
    ['in the editor', () => workspace.openInEditor('a.txt', 'somebody else\n')],
  ];
  for (const [name, change] of meanwhile) {
    for (const tool of ['fs.write', 'fs.edit', 'fs.delete']) {
      const args = { 'fs.write': { content: 'x' }, 'fs.edit': { edits: [{ oldText: 'one', newText: 'x' }] } }[tool];

      it(`T21 ${tool} is asked about again, or refused, when the file changed ${name} during the question`, async () => {
        workspace = await temporaryWorkspace({ 'a.txt': 'one\n' });
        const { call, asked } = conversation(workspace, {
          answer: async ({ note }) => {
            change();
            return { decision: note ? 'deny' : 'allow' };
          },
        });
        const { code } = await error(call(tool, { path: 'a.txt', ...args }));
        assert.deepEqual(workspace.effects, []);
        if (tool === 'fs.edit') assert.deepEqual([code, asked.length], ['E_PRECONDITION_FAILED', 1]);
        else {
          assert.deepEqual(
            [code, asked.map(({ plan }) => plan.change?.before)],
            ['TOOL_DENIED', ['one\n', 'somebody else\n']],
          );
          assert.match(asked[1]!.note!, /has changed since it was shown/);
        }
      });

      it(`${tool} writes nothing when the file changes ${name} at the last moment`, async () => {
        workspace = await temporaryWorkspace({ 'a.txt': 'one\n' });
        const { call } = conversation(workspace, { beforeEvent: ({ type }) => type === 'tool-start' && change() });
        const { code, message } = await error(call(tool, { path: 'a.txt', ...args }));
        assert.deepEqual([code, workspace.effects], ['E_PRECONDITION_FAILED', []]);
        assert.match(message, /changed after the change to it was shown/);
      });
    }
  }

  const scripts = 'preinstall install postinstall prepublish preprepare prepare postprepare dependencies'.split(' ');
  for (const script of [...scripts, 'pnpm:devPreinstall'])
    it(`a new ${script} script makes package.json a place that is asked about every time`, async () => {
      workspace = await temporaryWorkspace({ 'package.json': '{"scripts":{"test":"x"}}' });
      const { call, asked } = conversation(workspace, { answer: 'allow-run' });
      await data(call('fs.write', { path: 'package.json', content: '{"scripts":{"test":"y"}}' }));
      await data(call('fs.write', { path: 'package.json', content: `{"scripts":{"test":"y","${script}":"z"}}` }));
      assert.deepEqual(
        asked.map(({ plan }) => [plan.grant, plan.why]),
        [
          [
            'changes of "package.json"',
            'It determines which packages are installed. Allow for This Run applies to this file only.',
          ],
          [undefined, 'Its scripts run automatically on install.'],
        ],
      );
    });

  it('a file with a second name elsewhere is changed here only', async () => {
    workspace = await temporaryWorkspace({ 'a.txt': 'old' });
    const { linkSync } = await import('node:fs');
    const other = paths.join(workspace.root, '..', 'other.txt');
    linkSync(paths.join(workspace.root, 'a.txt'), other);
    await data(conversation(workspace).call('fs.write', { path: 'a.txt', content: 'new' }));
    assert.deepEqual([workspace.read('a.txt'), readFileSync(other, 'utf8')], ['new', 'old']);
    assert.equal(statSync(other).nlink, 1);
  });
});
