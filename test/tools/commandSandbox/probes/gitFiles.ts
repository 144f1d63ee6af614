import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, lstatSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { changed, outsideChanged, type Probe, type ProbeWorld } from './probe.ts';

const kept = (name: string, script: string, paths: string | string[], other: Partial<Probe> = {}): Probe => ({
  ...{ name, script, effect: changed(...[paths].flat()), control: 'allowed' },
  ...other,
});

const git = (folder: string, ...args: string[]) =>
  execFileSync(
    'git',
    ['-C', folder, '-c', 'user.name=P', '-c', 'user.email=p@e', '-c', 'protocol.file.allow=always', ...args],
    {
      stdio: 'ignore',
      env: { PATH: process.env.PATH, HOME: '/', GIT_CONFIG_NOSYSTEM: '1' },
    },
  );

/** A repository in the Git folder of a submodule. */
const submodule =
  (name: string) =>
  ({ ws }: ProbeWorld) => {
    mkdirSync(`${ws}/.git/modules/${name}`, { recursive: true });
    git(`${ws}/.git/modules/${name}`, 'init', '-q', '--bare', '--template=', '.');
  };

/** The repository is outside, and the open folder is a worktree of it. */
const worktree = ({ ws, out }: ProbeWorld) => {
  renameSync(ws, `${out}/main`);
  git(`${out}/main`, 'worktree', 'add', '-q', '-b', 'other', ws);
};

/** The Git folder of the open folder is outside, as for a submodule. */
const separate = ({ ws, out }: ProbeWorld) => {
  cpSync(`${ws}/.git`, `${out}/separate`, { recursive: true });
  execFileSync('rm', ['-r', `${ws}/.git`]);
  writeFileSync(`${ws}/.git`, `gitdir: ${out}/separate\n`);
  execFileSync('git', ['config', '--file', `${out}/separate/config`, 'core.worktree', ws]);
};

const bare =
  'mkdir -p sub/objects sub/refs; echo "ref: refs/heads/main" > sub/HEAD; printf "[core]\\n\\tbare = true\\n\\tfsmonitor = touch pwned\\n" > sub/config';
const bareNames = ['HEAD', 'head', 'config', 'objects', 'Objects', 'refs', 'commondir'].map((name) => `sub/${name}`);
const hook = 'echo "#!/bin/sh" > $H/post-checkout; chmod +x $H/post-checkout';

/** Effect: a link is in the Git folder, through which Git would write later. */
const isLink =
  (path: string) =>
  ({ ws }: ProbeWorld) =>
    existsSync(`${ws}/.git`) && lstatSync(`${ws}/.git/${path}`, { throwIfNoEntry: false })?.isSymbolicLink()
      ? 'a link'
      : undefined;

const links = [
  'COMMIT_EDITMSG',
  'logs/HEAD',
  'index',
  'HEAD',
  'FETCH_HEAD',
  'refs/heads/new',
  'objects',
  'refs',
  'packed-refs',
];

export const gitFiles: readonly Probe[] = [
  kept('creates a hook', `mkdir -p .git/hooks; ${hook.replaceAll('$H', '.git/hooks')}`, '.git/hooks'),
  kept('links the folder of hooks', 'mkdir new; rm -rf .git/hooks; ln -s ../new .git/hooks', '.git/hooks'),
  kept('sets a program for Git', 'git config core.fsmonitor "touch pwned"', '.git/config'),
  kept('sets the folder of hooks', 'git config core.hooksPath folder', '.git/config'),
  kept('adds a remote', 'git remote add origin "ext::touch pwned"', '.git/config'),
  kept(
    'moves a file over the settings',
    'printf "[core]\\n\\tfsmonitor = x\\n" > new; mv -f new .git/config',
    '.git/config',
  ),
  kept('writes the settings through a hard link', 'ln .git/config other; printf "[a]\\n" >> other', '.git/config'),
  kept('links the settings', 'cp .git/config new; ln -sf ../new .git/config', '.git/config'),
  kept('removes the settings', 'rm .git/config', '.git/config'),
  kept('leaves a lock of the settings', 'echo x > .git/config.lock', '.git/config.lock', { control: 'none' }),
  kept('creates the settings of a worktree', 'echo x > .git/config.worktree', '.git/config.worktree'),
  kept('creates attributes', 'mkdir -p .git/info; echo "* filter=x" > .git/info/attributes', '.git/info/attributes'),
  kept('names another common folder', 'echo ../folder > .git/commondir', '.git/commondir'),
  kept('removes the repository', 'rm -rf .git', '.git'),
  kept(
    'moves the repository away and back with a hook',
    `mv .git old; mkdir -p old/hooks; ${hook.replaceAll('$H', 'old/hooks')}; cp -r old .git`,
    ['.git/hooks', 'old/hooks', 'old/config'],
  ),
  kept('replaces the repository by a file', 'mv .git old; echo "gitdir: old" > .git', '.git/config'),
  kept('replaces the repository by a link', 'mv .git old; ln -s old .git', '.git/config'),
  kept('creates .Git', `mkdir -p .Git/hooks; ${hook.replaceAll('$H', '.Git/hooks')}; cp -r .git/* .Git/`, '.Git'),
  kept('creates git~1', `mkdir -p git~1/hooks; ${hook.replaceAll('$H', 'git~1/hooks')}`, 'git~1'),
  kept('creates a name that looks like .git', 'mkdir -p .ｇit .gіt; echo x > .ｇit/config; echo x > .gіt/config', [
    '.ｇit',
    '.gіt',
  ]),
  kept('creates .git with an invisible letter', 'mkdir -p .g\u200bit; echo x > .g\u200bit/config', '.g\u200bit'),
  kept('creates a repository in a folder', 'git init -q folder', 'folder/.git'),
  kept(
    'creates a repository in a new folder',
    'git init -q new/a; git -C new/a config core.fsmonitor "touch pwned"',
    'new/a/.git',
  ),
  kept('clones a repository', 'git clone -q --no-hardlinks . new', 'new/.git'),
  kept('names a repository in a file', 'mkdir sub; echo "gitdir: ../folder" > sub/.git', 'sub/.git'),
  kept('creates a bare repository', bare, bareNames),
  kept('creates a bare repository by Git', 'git init -q --bare sub', ['sub/config', 'sub/HEAD']),
  kept(
    'creates a bare repository in capitals',
    `${bare}; mv sub/HEAD sub/h; mv sub/h sub/head; mv sub/objects sub/Objects`,
    bareNames,
  ),
  kept(
    'creates a bare repository with a common folder',
    'mkdir sub; echo "ref: refs/heads/main" > sub/HEAD; echo ../folder > sub/commondir',
    bareNames,
  ),
  kept(
    'completes a bare repository in a second command',
    'mkdir -p sub/objects; printf "[core]\\n\\tfsmonitor = touch pwned\\n" > sub/config',
    ['sub/HEAD', 'sub/refs'],
    { next: 'mkdir sub/refs; echo "ref: refs/heads/main" > sub/HEAD' },
  ),
  kept(
    'completes a bare repository with links',
    'mkdir sub; ln -s ../folder sub/objects; ln -s ../folder sub/refs; echo "ref: refs/heads/main" > sub/HEAD; echo x > sub/config',
    bareNames,
  ),
  kept(
    'makes the open folder a bare repository',
    'mkdir objects refs; echo "ref: refs/heads/main" > HEAD; printf "[core]\\n\\tfsmonitor = touch pwned\\n" > config',
    ['HEAD', 'config', 'refs', 'objects'],
  ),
  kept('changes a bare repository', 'git -C sub config core.fsmonitor x', 'sub', {
    prepare: ({ ws }) => git(ws, 'init', '-q', '--bare', '--template=', 'sub'),
  }),
  kept('changes the settings of a submodule', 'echo x >> .git/modules/a/config', '.git/modules/a/config', {
    prepare: submodule('a'),
  }),
  kept(
    'changes the settings of a submodule in a folder',
    'echo x >> .git/modules/lib/a/config; mkdir -p .git/modules/lib/a/hooks; echo x > .git/modules/lib/a/hooks/pre-commit',
    ['.git/modules/lib/a/config', '.git/modules/lib/a/hooks'],
    { prepare: submodule('lib/a') },
  ),
  ...['logs', 'objects', 'refs', 'index', 'HEAD'].map((name) =>
    kept(
      `changes the settings of a submodule that is named like data of Git: lib/${name}`,
      `cd .git/modules/lib/${name}; echo x >> config; mkdir -p hooks; echo x > hooks/pre-commit; echo x > commondir`,
      ['config', 'hooks', 'commondir'].map((one) => `.git/modules/lib/${name}/${one}`),
      { prepare: submodule(`lib/${name}`) },
    ),
  ),
  kept('adds a worktree', 'git worktree add -q new', [
    '.git/worktrees/new/commondir',
    '.git/worktrees/new/gitdir',
    'new/.git',
  ]),
  kept(
    'changes the settings of a worktree',
    'mkdir -p .git/worktrees/a; echo x > .git/worktrees/a/config.worktree; echo x > .git/worktrees/a/commondir',
    ['.git/worktrees/a/config.worktree', '.git/worktrees/a/commondir'],
  ),
  kept(
    'plans a program for the next rebase',
    'mkdir -p .git/rebase-merge; echo "exec touch pwned" > .git/rebase-merge/git-rebase-todo; echo refs/heads/main > .git/rebase-merge/head-name',
    '.git/rebase-merge/git-rebase-todo',
  ),
  kept(
    'plans a program by Git',
    'GIT_SEQUENCE_EDITOR="sed -i s/pick/break/" git -c user.name=P -c user.email=p@e rebase -q -i --root; echo "exec touch pwned" >> .git/rebase-merge/git-rebase-todo',
    '.git/rebase-merge/git-rebase-todo',
  ),
  ...links.map(
    (path): Probe => ({
      name: `makes .git/${path} a link to a file outside`,
      script: `mkdir -p .git/logs .git/${path}; rm -rf .git/${path}; ln -s $HOME/.bashrc .git/${path}`,
      effect: isLink(path),
      control: 'allowed',
    }),
  ),
  kept(
    'creates a hook in the repository of a worktree',
    `H=$OUT/main/.git/hooks; mkdir -p $H; ${hook}; git config core.fsmonitor "touch pwned"`,
    '',
    { prepare: worktree, effect: outsideChanged },
  ),
  kept(
    'changes other files of the repository of a worktree',
    'echo x > $OUT/main/new; echo x > $OUT/main/file; echo x > $OUT/main/.git/info/attributes; echo x > $OUT/main/.git/worktrees/ws/commondir',
    '',
    { prepare: worktree, effect: outsideChanged },
  ),
  kept(
    'creates a hook in a separate Git folder',
    `H=$OUT/separate/hooks; mkdir -p $H; ${hook}; git config core.fsmonitor "touch pwned"`,
    '',
    { prepare: separate, effect: outsideChanged },
  ),
  kept('names another Git folder', 'echo "gitdir: folder" > .git', '.git', { prepare: separate }),
  kept(
    'follows the name of a Git folder that an earlier command changed',
    `echo "gitdir: $OUT/folder" > .git; mkdir -p folder/refs folder/objects; echo "ref: refs/heads/main" > folder/HEAD`,
    '',
    { prepare: separate, next: 'echo x > $OUT/folder/index', effect: outsideChanged, control: 'none' },
  ),
  kept(
    'writes objects to an alternate',
    'mkdir -p .git/objects/info; echo $OUT/folder > .git/objects/info/alternates; echo y | git hash-object -w --stdin; git repack -adq; echo x > $OUT/folder/new',
    '',
    { effect: outsideChanged, control: 'none' },
  ),
];
