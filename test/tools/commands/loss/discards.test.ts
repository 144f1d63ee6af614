import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import * as paths from 'node:path';
import { toEnglishText } from '../../../../src/protocol/text/l10n.ts';
import { createDataLossFinder } from '../../../../src/tools/commands/loss/loss.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../../support/workspace.ts';

type Rows = [command: string, loss: string | null][];
const file = paths.join(import.meta.dirname, 'discards.json');
const lists = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Rows>;

/** Milliseconds; a slow machine is not what these are about. */
const patient = 60_000;

describe('a command that discards something', () => {
  let workspace: TemporaryWorkspace;
  let tree: string;
  before(async () => {
    workspace = await temporaryWorkspace({
      '.gitignore': 'dist/\nnode_modules/\n.env\n*.o\n',
      '.env.example': 'KEY=\n',
      'package.json': JSON.stringify({ scripts: { clean: 'rm -f notes.txt' } }),
      Makefile: [
        'BUILD := dist',
        'JUNK = notes.txt $(BUILD)',
        '.PHONY: all clean',
        'all: dist/out',
        'dist/out: src/a.ts',
        '\tcp $< $@',
        'clean: tidy',
        '\t@$(RM) -r $(JUNK)',
        'distclean: clean',
        'tidy:',
        '\t-rm -rf $(BUILD) *.o',
        'reset:',
        '\tgit checkout \\',
        '\t  -- .',
        'wipe:',
        '\trm -rf $(DIR)',
        '',
      ].join('\n'),
      'src/a.ts': 'one\n',
      'src/b.ts': 'two\n',
      'lib/c.ts': 'three\n',
      'app/main.ts': 'four\n',
      'staged.txt': 'a\n',
    });
    const { root } = workspace;
    const git = (...args: string[]) => {
      const own = ['user.name=a', 'user.email=a@b.c', 'init.defaultBranch=main', 'commit.gpgsign=false'];
      const options = { cwd: root, stdio: 'pipe' } as const;
      return execFileSync('git', [...own.flatMap((one) => ['-c', one]), ...args], options);
    };
    const beside = (name: string) => paths.join(root, '..', name);
    git('init', '-q');
    git('add', '-A');
    git('commit', '-qm', 'one');
    git('commit', '-q', '--allow-empty', '-m', 'two');
    git('init', '-q', '--bare', beside('remote'));
    git('remote', 'add', 'origin', beside('remote'));
    git('commit', '-q', '--allow-empty', '-m', 'of others');
    git('push', '-q', 'origin', 'main');
    git('reset', '-q', '--hard', 'HEAD~1');
    git('checkout', '-qb', 'side');
    git('commit', '-q', '--allow-empty', '-m', 'side');
    git('checkout', '-q', 'main');
    git('commit', '-q', '--allow-empty', '-m', 'three');
    git('worktree', 'add', '-q', '--detach', beside('tree'));
    tree = realpathSync(beside('tree'));
    workspace.write(paths.join(tree, 'src/b.ts'), 'changed\n');
    workspace.write(paths.join(tree, 'draft.txt'), 'draft\n');
    workspace.write('src/b.ts', 'stashed\n');
    git('stash', '-q');
    workspace.write('src/a.ts', 'changed\n');
    workspace.write('staged.txt', 'b\n');
    workspace.write('notes.txt', '1\n2\n3\n');
    workspace.write('.env', 'KEY=1\n');
    workspace.write('dist/out', 'x\n');
    workspace.write('node_modules/a/index.js', 'x\n');
    for (const [name, changed] of [
      ['one', 'src/a.ts'],
      ['other', 'src/b.ts'],
    ])
      workspace.write(beside(`${name}.patch`), `--- a/${changed}\n+++ b/${changed}\n@@ -1 +1 @@\n-x\n+y\n`);
  });
  after(() => workspace.cleanup());

  it('each of 26 commands is named', () => assert.equal(lists.named!.length, 26));

  for (const [list, rows] of Object.entries(lists))
    describe(list, () => {
      for (const [command, expected] of rows)
        it(`${command.replaceAll('\n', ' ⏎ ')}: ${expected ?? 'nothing'}`, async () => {
          const changed = command === 'git checkout app/';
          if (changed) workspace.write('app/main.ts', 'changed\n');
          try {
            const find = await createDataLossFinder(workspace.roots, workspace.root, command, patient);
            const loss = await find?.();
            const text = loss ? toEnglishText(loss.text) : null;
            assert.equal(text, expected?.replaceAll('{tree}', tree) ?? null);
          } finally {
            if (changed) workspace.write('app/main.ts', 'four\n');
          }
        });
    });
});
