import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import * as path from 'node:path';
import { updateFrontmatter } from '../../../src/tools/files/frontmatter.ts';
import { sha256 } from '../../../src/tools/sandbox/fileText.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation, data, error } from '../conversation.ts';

let workspace: TemporaryWorkspace;
afterEach(() => workspace?.cleanup());

const file = 'import a;\n\nfunction one() {\n  return 1;\n}\n\nfunction two() {\n  return 2;\n}\n';
const headers = '--- a/src/a.ts\n+++ b/src/a.ts\n';

describe('tools: fs.apply_patch', () => {
  const applied: [name: string, patch: string, change: (text: string) => string, matched?: string][] = [
    [
      'two hunks where they say',
      `diff --git a/src/a.ts b/src/a.ts\nindex 1..2 100644\n${headers}@@ -1,2 +1,3 @@\n import a;\n+import b;\n \n@@ -7,3 +8,3 @@ one\n function two() {\n-  return 2;\n+  return 22;\n }\n`,
      (text) => text.replace('import a;\n', 'import a;\nimport b;\n').replace('return 2;', 'return 22;'),
    ],
    [
      'wrong line numbers and counts',
      `${headers}@@ -70,9 +80,9 @@\n function two() {\n-  return 2;\n+  return 22;\n }\n`,
      (text) => text.replace('return 2;', 'return 22;'),
      'tolerant',
    ],
    [
      'no numbers at all, in fences, with a word before',
      '```diff\nHere it is:\n@@\n function two() {\n-  return 2;\n+  return 22;\n```\n',
      (text) => text.replace('return 2;', 'return 22;'),
      'tolerant',
    ],
    [
      'the form of the stars',
      '*** Begin Patch\n*** Update File: src/a.ts\n@@ function two() {\n-  return 2;\n+  return 22;\n*** End Patch\n',
      (text) => text.replace('return 2;', 'return 22;'),
      'tolerant',
    ],
    [
      'lost indentation and lost leading blanks',
      `${headers}@@ -7,3 +7,3 @@\nfunction two() {\n-return 2;\n+return 22;\n}\n`,
      (text) => text.replace('return 2;', 'return 22;'),
      'tolerant',
    ],
    ['one of two equal places, by its line', `${headers}@@ -9,1 +9,2 @@\n }\n+end();\n`, (text) => `${text}end();\n`],
    [
      'in fences, with a list behind them',
      '```diff\n@@\n function two() {\n-  return 2;\n+  return 22;\n```\n- it returns 22\n',
      (text) => text.replace('return 2;', 'return 22;'),
      'tolerant',
    ],
    ['the last line ending', `${headers}@@ -9 +9 @@\n-}\n+}\n\\ No newline at end of file\n`, (text) => text.trimEnd()],
  ];
  for (const [name, patch, change, matched = 'exact'] of applied) {
    for (const windows of [false, true])
      it(`${name}${windows ? ', in a file with Windows line endings' : ''}`, async () => {
        const as = (text: string) => (windows ? text.replaceAll('\n', '\r\n') : text);
        workspace = await temporaryWorkspace({ 'src/a.ts': as(file) });
        const { call, asked } = conversation(workspace);
        const after = as(change(file));
        const told = await data(call('fs.apply_patch', { path: 'src/a.ts', patch, ifMatchSha256: sha256(as(file)) }));
        assert.deepEqual([workspace.read('src/a.ts'), asked[0]?.plan.change?.after], [after, after]);
        assert.deepEqual([told.sha256, told.matched, told.created], [sha256(after), matched, false]);
        assert.deepEqual([asked[0]?.plan.what, asked[0]?.plan.grant], ['Edit src/a.ts', 'fs.apply_patch']);
      });
  }

  it('takes lines that look like a header for what they are', async () => {
    workspace = await temporaryWorkspace({ 'q.sql': 'select 1;\n-- one\nselect 2;\nselect 3;\n' });
    const patch =
      '--- a/q.sql\n+++ b/q.sql\n@@ -1,4 +1,4 @@\n-select 1;\n+select 0;\n--- one\n+++ one\n select 2;\n-select 3;\n+select 4;\n';
    await data(conversation(workspace).call('fs.apply_patch', { patch }));
    assert.equal(workspace.read('q.sql'), 'select 0;\n++ one\nselect 2;\nselect 4;\n');
  });

  it('creates a file that the patch names', async () => {
    workspace = await temporaryWorkspace();
    const patch = '--- /dev/null\n+++ b/src/new.ts\n@@ -0,0 +1,2 @@\n+one\n+two\n';
    const told = await data(conversation(workspace).call('fs.apply_patch', { patch }));
    assert.deepEqual([told.path, told.created, workspace.read('src/new.ts')], ['src/new.ts', true, 'one\ntwo\n']);
    const starred = '*** Begin Patch\n*** Add File: src/more.ts\n+three\n*** End Patch';
    await data(conversation(workspace).call('fs.apply_patch', { patch: starred }));
    assert.equal(workspace.read('src/more.ts'), 'three\n');
  });

  const one = '@@\n-  return 1;\n+  return 11;\n';
  const refused: [name: string, args: object, message: RegExp][] = [
    ['neither form', { path: 'src/a.ts' }, /Give either patch or frontmatter/],
    ['both forms', { path: 'src/a.ts', patch: one, frontmatter: { a: 1 } }, /Give either patch or frontmatter/],
    ['no hunk', { path: 'src/a.ts', patch: 'return 2' }, /no unified diff/],
    ['no file', { patch: one }, /path: give it, the patch names no file/],
    [
      'several files',
      { patch: `${headers}${one}--- a/b\n+++ b/b\n${one}` },
      /for 2 files, .*fs\.apply_patch for "src\/a\.ts" with its hunks alone\n- fs\.apply_patch for "b"/s,
    ],
    [
      'another file',
      { path: 'src/b.ts', patch: headers + one },
      /path is "src\/b\.ts", but the patch is for "src\/a\.ts"/,
    ],
    ['a removal', { patch: '--- a/src/a.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n' }, /use fs\.delete/],
    ['a new name', { patch: `--- a/src/a.ts\n+++ b/src/b.ts\n${one}` }, /use fs\.move/],
    ['a new name alone', { patch: 'diff --git a/x b/y\nrename from x\nrename to y\n' }, /use fs\.move/],
    ['a binary', { patch: 'diff --git a/x b/x\nBinary files a/x and b/x differ\n' }, /only text/],
    ['a file that is there', { patch: '--- /dev/null\n+++ b/src/a.ts\n@@ -0,0 +1 @@\n+x\n' }, /exists already/],
    [
      'a file that is not there',
      { path: 'src/b.ts', patch: one },
      /"src\/b\.ts" does not exist\. Did you mean "a\.ts"/,
    ],
    [
      'lines that are not there',
      { path: 'src/a.ts', patch: '@@\n-  return 3;\n+  x\n' },
      /not in "src\/a\.ts"\. The nearest is at line/,
    ],
    ['lines that are there twice', { path: 'src/a.ts', patch: '@@ -90 +90,2 @@\n }\n+x\n' }, /2 times \(lines 5, 9\)/],
    ['one hunk of two fails', { path: 'src/a.ts', patch: `${one}@@\n-nowhere\n+x\n` }, /^Hunk 2 of 2/],
    ['lines of an empty file', { path: 'empty', patch: one }, /not in "empty"/],
    [
      'lines behind the end of a hunk, which was meant as a line',
      {
        path: 'src/a.ts',
        patch: `${headers}@@ -3,3 +3,3 @@\n-function one() {\n+function uno() {\n\`\`\`\n-  return 1;\n+  x\n`,
      },
      /"- {2}return 1;" stands in no hunk/,
    ],
    ['no context', { path: 'src/a.ts', patch: '@@ -4,0 +5 @@\n+x\n' }, /is empty/],
    ['text left out', { path: 'src/a.ts', patch: '@@\n-  return 1;\n+  // ... rest unchanged\n' }, /stands for text/],
    ['an old version', { path: 'src/a.ts', patch: one, ifMatchSha256: '0'.repeat(64) }, /changed\. Read it again/],
    ['a place outside', { path: '../a.ts', patch: one }, /outside the workspace/],
    ['another place outside', { patch: `--- a/../../x\n+++ b/../../x\n${one}` }, /outside the workspace/],
  ];
  for (const [name, args, message] of refused) {
    it(`refuses without asking: ${name}`, async () => {
      workspace = await temporaryWorkspace({ 'src/a.ts': file, empty: '' });
      const { call, asked } = conversation(workspace);
      assert.match((await error(call('fs.apply_patch', args))).message, message);
      assert.deepEqual([asked, workspace.effects], [[], []]);
    });
  }
});

describe('tools: frontmatter', () => {
  const text = `---
# where we are
currentNodeId: plan   # a node
stepsCompleted: [a, 'b']
variables:
  x: 1   # one
# the log
decisionLog:
- a

name: "Quoted: yes"
---
# Body

---
`;
  it('sets keys and keeps everything else as it is written', () => {
    const values = { currentNodeId: 'build', variables: { x: 2, list: [1] }, decisionLog: ['b'], updatedAt: 'now: 5' };
    assert.equal(
      updateFrontmatter(text, values),
      text
        .replace('currentNodeId: plan', 'currentNodeId: build')
        .replace('  x: 1   # one\n', '  x: 2\n  list:\n    - 1\n')
        .replace('- a\n', '  - b\n')
        .replace('yes"\n', 'yes"\nupdatedAt: "now: 5"\n'),
    );
  });

  const made: [name: string, before: string, after: string][] = [
    ['none yet', 'Body\n', '---\na: 1\n---\n\nBody\n'],
    ['an empty file', '', '---\na: 1\n---\n'],
    ['an empty one', '---\n---\nBody', '---\na: 1\n---\nBody'],
    ['a map on one line', '---\n{ a: 2, b: 3 }\n---\n', '---\n{ a: 1, b: 3 }\n---\n'],
    ['a key without a value', '---\na:\nb: 2\n---\n', '---\na: 1\nb: 2\n---\n'],
    ['a block of text', '---\na: |\n  # one\n\n  two\nb: 2\n---\n', '---\na: 1\nb: 2\n---\n'],
    ['Windows line endings', '---\r\na: 2\r\nb: 3\r\n---\r\nBody\r\n', '---\r\na: 1\r\nb: 3\r\n---\r\nBody\r\n'],
  ];
  for (const [name, before, after] of made) it(name, () => assert.equal(updateFrontmatter(before, { a: 1 }), after));

  const broken: [name: string, text: string][] = [
    ['not closed', '---\na: 1\n'],
    ['no YAML', '---\na: [1\n---\n'],
    ['a list', '---\n- 1\n---\n'],
    ['a key twice', '---\na: 1\na: 2\n---\n'],
  ];
  for (const [name, before] of broken)
    it(`refuses what cannot be read: ${name}`, () =>
      assert.throws(() => updateFrontmatter(before, { a: 1 }), { code: 'E_INVALID_FRONTMATTER' }));

  it('is asked about as the change that it is', async () => {
    workspace = await temporaryWorkspace({ 'state.md': '---\na: 2\n---\nBody\n' });
    const { call, asked } = conversation(workspace);
    const told = await data(call('fs.apply_patch', { path: 'state.md', frontmatter: { a: 1 } }));
    assert.equal(workspace.read('state.md'), '---\na: 1\n---\nBody\n');
    assert.equal(asked[0]?.plan.change?.after, workspace.read('state.md'));
    assert.deepEqual([told.added, told.removed], [1, 1]);
  });
});

describe('tools: fs.move', () => {
  it('moves a file, and says from where to where', async () => {
    workspace = await temporaryWorkspace({ 'a.txt': 'x' });
    const { call, asked } = conversation(workspace);
    assert.deepEqual(await data(call('fs.move', { from: 'a.txt', to: 'new/b.txt' })), {
      path: 'new/b.txt',
      from: 'a.txt',
    });
    assert.deepEqual([workspace.exists('a.txt'), workspace.read('new/b.txt')], [false, 'x']);
    const { what, where, why, grant } = asked[0]!.plan;
    const at = (file: string) => path.join(workspace.root, file);
    assert.deepEqual(
      { what, where, why, grant },
      {
        what: 'Move a.txt to new/b.txt',
        where: `${at('a.txt')}\n→ ${at('new/b.txt')}`,
        why: '',
        grant: 'fs.move',
      },
    );
  });

  const everyTime: [name: string, from: string, to: string, why: RegExp][] = [
    ['a protected place', 'plain', '.vscode', /editor settings/],
    ['out of one', '.husky/pre-commit', 'notes.txt', /can run code/],
    ['a secret', '.env', 'notes.txt', /may contain secrets/],
    ['a folder of secrets', '.aws', 'notes', /may contain secrets/],
    ['a folder with a protected place inside', 'sub', 'lib', /editor settings/],
    ['a folder with a repository inside', 'vendor', 'lib', /Git repository/],
    ['what becomes scripts of an install', 'hooked.json', 'package.json', /run automatically on install/],
    ['what may become such scripts', 'binary.json', 'package.json', /run automatically on install/],
    ['a link that becomes them', 'link.json', 'package.json', /run automatically on install/],
    ['a build that an install starts', 'plain/settings.json', 'binding.gyp', /can run code/],
    ['such scripts away', 'app/package.json', 'app/old.json', /run automatically on install/],
  ];
  for (const [name, from, to, why] of everyTime) {
    it(`is asked about every time: ${name}`, async () => {
      workspace = await temporaryWorkspace({
        'plain/settings.json': '{}',
        '.husky/pre-commit': 'x',
        '.env': 'K=1',
        '.aws/credentials': 'x',
        'sub/.vscode/tasks.json': '{}',
        'vendor/one/.git/HEAD': 'x',
        'hooked.json': '{"scripts":{"postinstall":"x"}}',
        'binary.json': Buffer.from([0, 1]),
        'app/package.json': '{"scripts":{"prepare":"x"}}',
      });
      symlinkSync('hooked.json', path.join(workspace.root, 'link.json'));
      const { call, asked } = conversation(workspace, { answer: 'allow-run' });
      await data(call('fs.move', { from, to }));
      assert.deepEqual([asked[0]?.plan.grant, workspace.exists(from), workspace.exists(to)], [undefined, false, true]);
      assert.match(asked[0]!.plan.why, why);
    });
  }

  it('of a package without scripts of an install can be allowed for the run', async () => {
    workspace = await temporaryWorkspace({ 'old.json': '{"scripts":{"test":"x"}}' });
    const { call, asked } = conversation(workspace);
    await data(call('fs.move', { from: 'old.json', to: 'package.json' }));
    assert.equal(asked[0]?.plan.grant, 'fs.move of "old.json" to "package.json"');
  });

  const refused: [name: string, from: string, to: string, reason: string | undefined][] = [
    ['over a file', 'a.txt', 'b.txt', 'EXISTS'],
    ['over a folder', 'a.txt', 'src', 'EXISTS'],
    ['into itself', 'src', 'src/deep/src', 'PATH_INVALID'],
    ['the workspace', '.', 'x', 'PATH_INVALID'],
    ['out', 'a.txt', '../a.txt', 'OUTSIDE'],
    ['through a link out', 'a.txt', 'out/a.txt', 'SYMLINK_ESCAPE'],
    ['into Git', 'a.txt', '.git/hooks/x', 'GIT_INTERNAL'],
    ['nothing', 'no.txt', 'x', undefined],
  ];
  for (const [name, from, to, reason] of refused) {
    it(`refuses without asking: ${name}`, async () => {
      workspace = await temporaryWorkspace({ 'a.txt': 'a', 'b.txt': 'b', 'src/c': 'c' });
      symlinkSync('/tmp', path.join(workspace.root, 'out'));
      const { call, asked } = conversation(workspace);
      assert.equal((await error(call('fs.move', { from, to }))).reason, reason);
      assert.deepEqual([asked, workspace.effects, workspace.read('b.txt')], [[], [], 'b']);
    });
  }

  it('moves nothing when something came to the place during the question', async () => {
    workspace = await temporaryWorkspace({ 'a.txt': 'a' });
    const { call } = conversation(workspace, {
      answer: async () => {
        workspace.write('b.txt', 'came');
        return { decision: 'allow' };
      },
    });
    assert.equal((await error(call('fs.move', { from: 'a.txt', to: 'b.txt' }))).reason, 'EXISTS');
    assert.deepEqual([workspace.read('a.txt'), workspace.read('b.txt')], ['a', 'came']);
  });
});
