import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import type { Probe, ProbeWorld } from './probe.ts';

/** What must work: the effect is that a file has a text. */
const works = (
  name: string,
  script: string,
  path: string,
  expected: string | RegExp,
  other: Partial<Probe> = {},
): Probe => ({
  name,
  script: script.startsWith('!') ? script.slice(1) : `set -e\n${script}`,
  effect({ ws }) {
    const full = path.startsWith('/') ? path : `${ws}/${path}`;
    if (!existsSync(full)) return undefined;
    const text = readFileSync(full, 'utf8').trim();
    return (typeof expected === 'string' ? text === expected : expected.test(text)) ? text || 'empty' : undefined;
  },
  control: 'none',
  ...other,
});

const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=P', '-c', 'user.email=p@e', ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: '/', GIT_CONFIG_NOSYSTEM: '1' },
  });

const identity = 'export GIT_AUTHOR_NAME=P GIT_AUTHOR_EMAIL=p@e GIT_COMMITTER_NAME=P GIT_COMMITTER_EMAIL=p@e';
const commit = `${identity}; echo changed > file; git commit -qam second`;
const lastCommit =
  (folder: string) =>
  ({ ws }: ProbeWorld) =>
    git(folder === '' ? ws : `${ws}/${folder}`, 'log', '-1', '--format=%s').trim() === 'second' ? 'second' : undefined;

export const workingCommands: readonly Probe[] = [
  works('writes a new file', 'echo x > new', 'new', 'x'),
  works('changes a file', 'echo x > file', 'file', 'x'),
  works('creates folders', 'mkdir -p a/b/c; echo x > a/b/c/d', 'a/b/c/d', 'x'),
  works('creates a link', 'ln -s file new', 'new', 'before'),
  works('keeps a mode', 'cp test.js new; chmod 755 new', 'new', /./, {
    effect: ({ ws }) => ((lstatSync(`${ws}/new`).mode & 0o777) === 0o755 ? '755' : undefined),
  }),
  works('removes files and folders', 'rm file; rm -r folder', '', '', {
    effect: ({ ws }) => (existsSync(`${ws}/file`) || existsSync(`${ws}/folder`) ? undefined : 'removed'),
  }),
  works('moves a folder', 'mv folder other', 'other/deep/c', 'c', {}),
  works('replaces a folder', 'rm -r folder; mkdir folder; echo x > folder/new', 'folder/new', 'x', {
    effect: ({ ws }) => (existsSync(`${ws}/folder/new`) && !existsSync(`${ws}/folder/a`) ? 'replaced' : undefined),
  }),
  works('keeps two names of a file', 'echo x > new; ln new other', 'other', 'x'),
  works('keeps the changes of a failed command', '!echo x > new; (exit 3); echo $? > code', 'code', '3'),
  works('keeps the rest beside protected files', 'mkdir -p a/.vscode; echo x > a/.vscode/t; echo x > a/b', 'a/b', 'x'),
  works('sees the changes of an earlier command', 'echo x > new', 'other', 'x', { next: 'cp new other' }),
  works('reads the system', 'head -c 20 /etc/passwd > new; ls /usr/bin/env', 'new', /root/),
  works('reads its home folder', 'cat ~/notes > new', 'new', 'notes'),
  works(
    'has a private folder for temporary files',
    'f=$(mktemp); echo x > $f; cat $f > new; echo y > /var/tmp/$$; echo z > /dev/shm/a',
    'new',
    'x',
  ),
  works('keeps temporary files for the run', 'echo x > /tmp/$TAG', 'new', 'x', { next: 'cat /tmp/$TAG > new' }),
  works('is the same user', 'id -u > new', 'new', new RegExp(`^${process.getuid?.()}$`)),
  works('pipes and substitutes', 'cat <(echo x) | tee new', 'new', 'x'),
  works('commits', commit, '', '', { effect: lastCommit('') }),
  works(
    'commits on a new branch and merges',
    `git checkout -q -b other; ${commit}; git checkout -q main; git merge -q other; git stash list; git tag a; git gc -q`,
    '',
    '',
    { effect: lastCommit('') },
  ),
  works(
    'rebases',
    `${identity}; git checkout -q -b other; echo a > new; git add new; git commit -qm a; git checkout -q main; echo b > more; git add more; git commit -qm second; git rebase -q other`,
    '',
    '',
    { effect: lastCommit('') },
  ),
  works('commits in a worktree', commit, '', '', {
    prepare({ ws, out }) {
      renameSync(ws, `${out}/main`);
      git(`${out}/main`, 'worktree', 'add', '-q', '-b', 'other', ws);
    },
    effect: lastCommit(''),
  }),
  works('commits in a submodule', `cd lib; ${commit}`, '', '', {
    prepare({ ws }) {
      mkdirSync(`${ws}/.git/modules`);
      git(ws, 'clone', '-q', '--separate-git-dir', `${ws}/.git/modules/lib`, ws, 'lib');
    },
    effect: lastCommit('lib'),
  }),
  works('runs the tests of a package', 'npm test --silent --offline', 'tested', 'yes', { needs: ['npm'] }),
  works(
    'starts a program with threads',
    `node -e 'new (require("node:worker_threads").Worker)("require(\\"fs\\").writeFileSync(\\"new\\", \\"x\\")", { eval: true })'`,
    'new',
    'x',
    { needs: ['node'] },
  ),
  works(
    'builds a program',
    'printf "#include <stdio.h>\\nint main(void){puts(\\"x\\");}" > a.c; gcc -o a.out a.c; ./a.out > new',
    'new',
    'x',
    { needs: ['gcc'] },
  ),
  works(
    'creates an environment in the folder for temporary files',
    'python3 -m venv --without-pip /tmp/venv; /tmp/venv/bin/python -c "print(1)" > new',
    'new',
    '1',
    { needs: ['python3'] },
  ),
  works(
    'writes to its caches',
    'echo x > $npm_config_cache/$TAG; cat $npm_config_cache/$TAG > new; test -d $XDG_CACHE_HOME',
    'new',
    'x',
  ),
  works(
    'serves on localhost',
    `python3 -m http.server 8123 --bind 127.0.0.1 > /dev/null 2>&1 & until (: < /dev/tcp/127.0.0.1/8123) 2>/dev/null; do sleep 0.02; done; curl -s --noproxy "*" http://127.0.0.1:8123/file > new; kill $!`,
    'new',
    'before',
    { needs: ['python3', 'curl'] },
  ),
  works(
    'connects to a socket of its own',
    `perl -MIO::Socket::UNIX -e 'my $p = "/tmp/$ENV{TAG}.s"; my $s = IO::Socket::UNIX->new(Local => $p, Listen => 1); if (!fork) { my $c = IO::Socket::UNIX->new(Peer => $p); print $c "x"; exit } my $a = $s->accept; print <$a>' > new`,
    'new',
    'x',
  ),
  works(
    'debugs a process of its own',
    `perl -e 'my $p = fork; if (!$p) { sleep 1000 } my $r = syscall(101, 16, $p, 0, 0); kill 9, $p; open(F, ">", "new"); print F $r'`,
    'new',
    '0',
    { needs: process.arch === 'x64' ? [] : ['a processor of x64'] },
  ),
  works('kills a process of its own', 'sleep 1000 & kill $!; wait $! || echo $? > new', 'new', '143'),
  works(
    'uses a terminal of its own',
    'script -qec "tty; echo x" /dev/null < /dev/null | grep -q /dev/pts && echo x > new',
    'new',
    'x',
    { needs: ['script'] },
  ),
  works('lists the network', 'cat /proc/net/dev | grep -c lo: > new', 'new', '1'),
  works(
    'reaches an allowed service',
    'curl -s --noproxy "" -o new -w "%{http_code}" http://127.0.0.1:$PORT/ > code',
    'code',
    '200',
    {
      needs: ['curl'],
      async prepare(world) {
        world.variables.PORT = await world.listen('service', '127.0.0.1');
      },
      mayConnect: ({ port }, { variables }) => String(port) === variables.PORT,
      effect: ({ reached, ws }) => (reached.has('service') ? readFileSync(`${ws}/code`, 'utf8') : undefined),
    },
  ),
];
