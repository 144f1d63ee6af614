// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are the shell's
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, existsSync, openSync, symlinkSync } from 'node:fs';
import * as paths from 'node:path';
import type { ScopedPermissionRule } from '../../../../src/protocol/content/rule.ts';
import { toEnglishText } from '../../../../src/protocol/text/l10n.ts';
import { createDataLossFinder } from '../../../../src/tools/commands/loss/loss.ts';
import { alwaysAllowRuleChoices } from '../../../../src/tools/policy/rules.ts';
import { shellTool } from '../../../../src/tools/shell/shell.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../../support/workspace.ts';
import { conversation } from '../../conversation.ts';

/** Milliseconds; a slow machine is not what these are about. */
const patient = 60_000;

const lossOf = async (...given: Parameters<typeof createDataLossFinder>) => (await createDataLossFinder(...given))?.();

const git = (folder: string, ...args: string[]) =>
  execFileSync(
    'git',
    [
      '-c',
      'user.name=a',
      '-c',
      'user.email=a@b.c',
      '-c',
      'init.defaultBranch=main',
      '-c',
      'commit.gpgsign=false',
      ...args,
    ],
    { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' },
  );

const undone = 'Cannot be undone.';
const unknown = 'Could not determine what this command discards.';
const changes = (count: number, names: string) =>
  `Discards uncommitted changes in ${count} file${count === 1 ? '' : 's'}: ${names}. ${undone}`;
/** Of the repository below. */
const all = changes(3, 'both.txt, src/a.ts, staged.txt');
const unstaged = changes(2, 'both.txt, src/a.ts');

const cases: [command: string, loss: string | undefined][] = [
  // Git takes back what no commit has
  ['git checkout -- .', unstaged],
  ['git checkout .', unstaged],
  ['git checkout src/a.ts src/b.ts', changes(1, 'src/a.ts')],
  ['git checkout HEAD -- staged.txt src', changes(2, 'src/a.ts, staged.txt')],
  ['git checkout HEAD~1 src/a.ts', changes(1, 'src/a.ts')],
  ['git checkout -f', all],
  ['git checkout side', undefined],
  ['git checkout -b new', undefined],
  ['git checkout src/b.ts', undefined],
  ['git restore .', unstaged],
  ['git restore src/a.ts', changes(1, 'src/a.ts')],
  ['git restore --staged .', changes(1, 'both.txt')],
  ['git restore --staged --worktree staged.txt', changes(1, 'staged.txt')],
  ['git restore --source HEAD~1 src', changes(1, 'src/a.ts')],
  ['git reset --hard', all],
  ['git reset --hard HEAD', all],
  ['git reset --hard HEAD~1', `${all} Moves branch main back by 1 commit.`],
  ['git reset --soft HEAD~1', 'Moves branch main back by 1 commit.'],
  ['git reset src/a.ts', undefined],
  ['git switch --discard-changes side', all],
  ['git switch side', undefined],
  ['git merge --abort', all],
  ['cd src && git checkout -- .', changes(1, 'src/a.ts')],
  ['git -C src checkout -- .', changes(1, 'src/a.ts')],
  ['git -c core.x=1 -C src restore a.ts', changes(1, 'src/a.ts')],
  ['(git status; git checkout .) 2>&1 | tail -3', unstaged],
  ['bash -c "git checkout -- ."', unstaged],
  ['sudo -u me git restore .', unstaged],
  ['git co .', unstaged],
  ['git undo src', changes(1, 'src/a.ts')],
  ['git save', undefined],
  ['git -c alias.z="checkout ." z', unknown],
  // what Git never had
  ['git clean -fd', `Deletes 2 files, not in Git: new/deep.txt, notes.txt. ${undone}`],
  ['git clean -fdx new', `Deletes 1 file, not in Git: new/deep.txt. ${undone}`],
  ['git clean -n', undefined],
  ['git clean -fdX', undefined],
  // the stash, branches and tags
  ['git stash', 'Moves changes in 3 files to the Git stash: both.txt, src/a.ts, staged.txt.'],
  ['git stash -u', 'Moves changes in 5 files to the Git stash: both.txt, new/deep.txt, notes.txt and 2 more.'],
  ['git stash push -m "rm src/a.ts" -- src', 'Moves changes in 1 file to the Git stash: src/a.ts.'],
  ['git stash drop', 'Deletes 1 entry of the Git stash.'],
  ['git stash clear', 'Deletes 2 entries of the Git stash.'],
  ['git stash list', undefined],
  ['git stash pop', undefined],
  ['git branch -D side', 'Deletes side with 2 commits not contained in any other branch or tag.'],
  ['git branch -D same', undefined],
  ['git branch -d side', undefined],
  ['git branch -f side main', 'Moves branch side back by 2 commits.'],
  ['git tag -d only', 'Deletes only with 1 commit not contained in any other branch or tag.'],
  ['git checkout -B side', 'Moves branch side back by 2 commits.'],
  ['git reflog expire --expire=now --all', unknown],
  // files
  ['rm notes.txt', `Deletes 1 file, not in Git: notes.txt. ${undone}`],
  ['rm -rf src', changes(1, 'src/a.ts')],
  ['rm -rf new src', `${changes(1, 'src/a.ts').replace(` ${undone}`, '')} Deletes 3 files, 1 of them not in Git: new/deep.txt. ${undone}`],
  ['rm src/b.ts', undefined],
  ['rm -rf dist', undefined],
  ['rm -f absent', undefined],
  ['rm -rf "${DIR:?}"', unknown],
  ['for f in src/a.ts; do rm "$f"; done', unknown],
  ['rm src/*.ts', changes(1, 'src/a.ts')],
  ['git rm -f src/a.ts', changes(1, 'src/a.ts')],
  ['git rm --cached src/a.ts', undefined],
  ['unlink link', undefined],
  ['find src -delete', changes(1, 'src/a.ts')],
  ["find . -name '*.log' -delete", undefined],
  ["find . -name 'n*.txt' -exec rm {} +", `Deletes 1 file, not in Git: notes.txt. ${undone}`],
  ["find . -type d -name new -exec rm -rf {} +", `Deletes 1 file, not in Git: new/deep.txt. ${undone}`],
  ['find src -name a.ts', undefined],
  ['> src/a.ts', changes(1, 'src/a.ts')],
  ['echo x > notes.txt', `Overwrites notes.txt (3 lines, not in Git). ${undone}`],
  ['echo x >> notes.txt', undefined],
  ['echo x > dist/out.js', undefined],
  ['echo x > src/b.ts', undefined],
  ['echo x > fresh.txt 2>/dev/null', undefined],
  ['npx tsc > "$OUT"', unknown],
  ['npm test | tee notes.txt', `Overwrites notes.txt (3 lines, not in Git). ${undone}`],
  ['npm test | tee -a notes.txt', undefined],
  ['truncate -s 0 notes.txt', `Overwrites notes.txt (3 lines, not in Git). ${undone}`],
  ['dd if=/dev/zero of=notes.txt count=1', `Overwrites notes.txt (3 lines, not in Git). ${undone}`],
  ['sort -o notes.txt src/b.ts', `Overwrites notes.txt (3 lines, not in Git). ${undone}`],
  ['curl -so notes.txt https://example.com', `Overwrites notes.txt (3 lines, not in Git). ${undone}`],
  ['curl -so - https://example.com', undefined],
  ['wget --output-document=notes.txt https://example.com', `Overwrites notes.txt (3 lines, not in Git). ${undone}`],
  ["awk '{print > \"notes.txt\"}' src/b.ts", `Overwrites notes.txt (3 lines, not in Git). ${undone}`],
  ['mv src/b.ts notes.txt', `Overwrites notes.txt (3 lines, not in Git). ${undone}`],
  ['mv -n src/b.ts notes.txt', undefined],
  ['mv notes.txt src', undefined],
  ['mv dist/a.ts src', changes(1, 'src/a.ts')],
  ['cp src/b.ts notes.txt', `Overwrites notes.txt (3 lines, not in Git). ${undone}`],
  ['cp -r dist/. src', changes(1, 'src/a.ts')],
  ['cp -t src dist/a.ts', changes(1, 'src/a.ts')],
  ['ln -sf src/b.ts notes.txt', `Deletes 1 file, not in Git: notes.txt. ${undone}`],
  ['rsync -a --delete dist/ src/', changes(1, 'src/a.ts')],
  ['rsync -a --delete dist/ new/', `Deletes 1 file, not in Git: new/deep.txt. ${undone}`],
  ["sed -i 's/a/b/' src/b.ts", undefined],
  ["sed -i.bak 's/a/b/' src/a.ts", `Overwrites uncommitted changes in 1 file: src/a.ts. ${undone}`],
  ['rm notes.txt new/deep.txt && git checkout -- src', `${changes(1, 'src/a.ts').replace(` ${undone}`, '')} Deletes 2 files, not in Git: new/deep.txt, notes.txt. ${undone}`],
  // scripts of a package, one level deep
  ['npm run clean', `Deletes 1 file, not in Git: notes.txt. ${undone}`],
  ['npm run wipe -- src', changes(1, 'src/a.ts')],
  ['pnpm reset', unstaged],
  ['npm run build', undefined],
  ['npm test', undefined],
  ['cd src && npm --prefix .. run clean', `Deletes 1 file, not in Git: notes.txt. ${undone}`],
  // words that are no command
  ['git commit -m "rm notes.txt; git checkout -- ."', undefined],
  ["cat > dist/x.sh <<'EOF'\nrm notes.txt\nEOF", undefined],
  ["bash <<'EOF'\nrm notes.txt\nEOF", `Deletes 1 file, not in Git: notes.txt. ${undone}`],
  ['cat > dist/x.sh <<EOF\n$(rm notes.txt)\nEOF', `Deletes 1 file, not in Git: notes.txt. ${undone}`],
  ['echo "$(rm notes.txt)"', `Deletes 1 file, not in Git: notes.txt. ${undone}`],
  ['npm install notes.txt', undefined],
  ['docker rm notes.txt', undefined],
]; // biome-ignore format: a table

describe('the data that a command discards', () => {
  let workspace: TemporaryWorkspace;
  before(async () => {
    const scripts = {
      clean: 'rm notes.txt',
      wipe: 'rm -rf',
      reset: 'git checkout .',
      build: 'rm -rf dist && tsc',
      test: 'mocha',
    };
    workspace = await temporaryWorkspace({
      '.gitignore': 'dist/\n',
      'package.json': JSON.stringify({ scripts }),
      'src/a.ts': 'one\n',
      'src/b.ts': 'two\n',
      'staged.txt': 'a\n',
      'both.txt': 'a\n',
    });
    const { root } = workspace;
    git(root, 'init', '-q');
    for (const [name, text] of [
      ['co', 'checkout'],
      ['undo', '!git checkout --'],
      ['save', 'commit -am save'],
      ['checkout', 'status'],
    ])
      git(root, 'config', `alias.${name}`, text!);
    git(root, 'add', '-A');
    git(root, 'commit', '-qm', 'one');
    for (const [branch, count] of [
      ['side', 2],
      ['tagged', 1],
    ] as const) {
      git(root, 'checkout', '-qb', branch);
      for (let at = 0; at < count; at++) git(root, 'commit', '-q', '--allow-empty', '-m', `${branch} ${at}`);
      if (branch === 'tagged') git(root, 'tag', 'only');
      git(root, 'checkout', '-q', 'main');
    }
    git(root, 'branch', '-D', 'tagged');
    git(root, 'commit', '-q', '--allow-empty', '-m', 'two');
    git(root, 'branch', 'same', 'HEAD~1');
    for (const text of ['x\n', 'y\n']) {
      workspace.write('src/b.ts', text);
      git(root, 'stash', '-q');
    }
    workspace.write('src/a.ts', 'changed\n');
    workspace.write('staged.txt', 'b\n');
    workspace.write('both.txt', 'b\n');
    git(root, 'add', 'staged.txt', 'both.txt');
    workspace.write('both.txt', 'c\n');
    workspace.write('notes.txt', '1\n2\n3\n');
    workspace.write('new/deep.txt', 'x\n');
    workspace.write('dist/out.js', 'x\n');
    workspace.write('dist/a.ts', 'x\n');
    workspace.write('dist/x.sh', 'x\n');
    symlinkSync('notes.txt', paths.join(root, 'dist/link'));
  });
  after(() => workspace.cleanup());

  const lossIn = async (command: string, folder = workspace.root) => {
    const loss = await lossOf(workspace.roots, folder, command, patient);
    return loss && toEnglishText(loss.text);
  };

  for (const [command, loss] of cases)
    it(`${command.replaceAll('\n', ' ⏎ ')}: ${loss ?? 'none'}`, async () => assert.equal(await lossIn(command), loss));

  it('asking Git runs nothing of the repository and writes nothing', async () => {
    const { root } = workspace;
    const own = await temporaryWorkspace({ 'a.txt': 'a\n', '.gitattributes': '* filter=evil diff=evil\n' });
    try {
      const evil = paths.join(root, '..', 'evil.sh');
      workspace.write(evil, `#!/bin/sh\ntouch ${paths.join(own.root, 'RAN')}\ncat\n`);
      chmodSync(evil, 0o755);
      git(own.root, 'init', '-q');
      git(own.root, 'add', '-A');
      git(own.root, 'commit', '-qm', 'one');
      const settings = { 'core.fsmonitor': evil, 'core.hooksPath': paths.dirname(evil), 'filter.evil.clean': evil, 'filter.evil.process': evil, 'filter.evil.required': 'true', 'diff.evil.textconv': evil, 'diff.external': evil }; // biome-ignore format: a table
      for (const [name, value] of Object.entries(settings)) git(own.root, 'config', name, value);
      own.write('a.txt', 'b\n');
      const index = own.read('.git/index');
      const loss = await lossOf(own.roots, own.root, 'git checkout . && git reset --hard && rm -rf a.txt', patient);
      assert.equal(toEnglishText(loss!.text), changes(1, 'a.txt'));
      assert.deepEqual([existsSync(paths.join(own.root, 'RAN')), own.read('.git/index')], [false, index]);
    } finally {
      own.cleanup();
    }
  });

  it('without a repository every file is lost that is deleted or overwritten', async () => {
    const files = Object.fromEntries(Array.from({ length: 5 }, (_, at) => [`dist/${at}.js`, 'x\n']));
    const own = await temporaryWorkspace({ ...files, 'a.txt': 'a\n', 'empty.txt': '' });
    const told: [command: string, loss: string | undefined][] = [
      ['rm -rf dist', `Deletes 5 files: dist/0.js, dist/1.js, dist/2.js and 2 more. ${undone}`],
      ['echo x > a.txt', `Overwrites a.txt (1 line). ${undone}`],
      ['echo x > empty.txt', undefined],
      ['cp -r dist/. . && cp a.txt dist/0.js', `Overwrites dist/0.js (1 line). ${undone}`],
      ['git checkout -- .', undefined],
    ];
    try {
      for (const [command, expected] of told) {
        const loss = await lossOf(own.roots, own.root, command, patient);
        assert.equal(loss && toEnglishText(loss.text), expected, command);
      }
    } finally {
      own.cleanup();
    }
  });

  it('a stream of the command is not the one of this process, whatever file that is', async () => {
    const own = await temporaryWorkspace({ 'ours.log': 'kept\n' });
    const fd = openSync(paths.join(own.root, 'ours.log'), 'a');
    const script = `
      import { createDataLossFinder } from ${JSON.stringify(paths.join(import.meta.dirname, '../../../../src/tools/commands/loss/loss.ts'))};
      const root = ${JSON.stringify(own.root)};
      const of = async (command) => (await createDataLossFinder([{ path: root }], root, command, ${patient}))?.();
      console.log(JSON.stringify([await of('echo x > /dev/stderr') ?? null, (await of('echo x > ours.log')).items.length]));`;
    try {
      const node = [process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script]] as const;
      const said = execFileSync(...node, { stdio: ['ignore', 'pipe', fd], encoding: 'utf8' });
      assert.deepEqual(JSON.parse(said), [null, 1]);
    } finally {
      closeSync(fd);
      own.cleanup();
    }
  });

  it('says so when it cannot be determined in time', async () =>
    assert.equal(toEnglishText((await lossOf(workspace.roots, workspace.root, 'git checkout .', 0))!.text), unknown));

  const tools = () => [shellTool({ lossLimit: patient, run: async () => ({ exitCode: 0, output: '' }) })];
  const everything: ScopedPermissionRule[] = [
    { scope: 'user', effect: 'allow', tool: 'shell.run' },
    { scope: 'user', effect: 'allow', tool: 'shell.run', command: 'rm notes.txt' },
  ];

  it('is asked about under Autopilot and under every rule, and no rule is offered for it', async () => {
    const talk = conversation(workspace, { tools: tools(), policy: { preset: 'autopilot', rules: everything } });
    talk.grants.add('shell.run rm notes.txt');
    await talk.call('shell.run', { command: 'rm notes.txt' });
    const [{ plan, call } = assert.fail('nothing was asked')] = talk.asked;
    assert.equal(plan.loss?.text, `Deletes 1 file, not in Git: notes.txt. ${undone}`);
    assert.deepEqual([plan.grant, alwaysAllowRuleChoices({ plan, call })], [undefined, []]);
    await talk.call('shell.run', { command: 'rm -rf dist' });
    assert.equal(talk.asked.length, 1, 'what Git ignores is free under Autopilot');
  });

  it('comes while the question is shown already, and is there when it can be answered', async () => {
    let isKnown = false;
    const talk = conversation(workspace, {
      tools: tools(),
      answer: async ({ plan }) => {
        isKnown = plan.loss !== undefined;
        return { decision: 'deny' };
      },
    });
    await talk.call('shell.run', { command: 'rm notes.txt' });
    const shown = talk.events.flatMap((event) => (event.type === 'question' ? [event.question] : []));
    assert.deepEqual(
      shown.map(({ id, why }) => [
        id === shown[0]!.id,
        /^(Checking what this command discards…|Deletes 1 file, not in Git: notes.txt.)/.exec(why)?.[0],
      ]),
      [
        [true, 'Checking what this command discards…'],
        [true, 'Deletes 1 file, not in Git: notes.txt.'],
      ],
    );
    assert.ok(isKnown);
  });

  it('leaves a rule to be offered when nothing is discarded', async () => {
    const talk = conversation(workspace, { tools: tools(), answer: 'allow-run' });
    await talk.call('shell.run', { command: 'rm -rf dist' });
    await talk.call('shell.run', { command: 'rm -rf dist' });
    const [{ plan }, ...others] = talk.asked as [(typeof talk.asked)[number]];
    assert.deepEqual([plan.loss, plan.grant, others.length], [undefined, 'shell.run rm -rf dist', 0]);
  });

  it('a stop while it is found ends the call', async () => {
    const talk = conversation(workspace, {
      tools: tools(),
      beforeEvent: ({ type }) => type === 'question' && talk.stop.abort(),
    });
    const outcome = await talk.call('shell.run', { command: 'rm notes.txt' });
    assert.deepEqual([outcome.ok, talk.asked.length], [false, 0]);
  });

  it('is worked out again after the answer: more is asked about anew, less is not', async () => {
    const command = 'git checkout -- src';
    const talk = conversation(workspace, {
      tools: tools(),
      answer: async () => {
        if (talk.asked.length === 1) workspace.write('src/b.ts', 'changed, too\n');
        if (talk.asked.length === 2) workspace.write('src/b.ts', 'two\n');
        return { decision: 'allow' };
      },
    });
    const outcome = await talk.call('shell.run', { command });
    assert.deepEqual(
      talk.asked.map(({ plan, note }) => [plan.loss?.items.length, note !== undefined]),
      [
        [1, false],
        [2, true],
      ],
    );
    assert.equal(outcome.ok, true);
  });
});
