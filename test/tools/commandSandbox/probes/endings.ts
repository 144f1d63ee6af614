import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type Probe, type ProbeWorld, waits } from './probe.ts';

const anyChange = (world: ProbeWorld) => world.changes('ws').join(', ') || undefined;

/** Effect: a path no longer has what the user has written. */
const isLost =
  (path: string, text = 'user') =>
  ({ ws }: ProbeWorld) =>
    textOf(`${ws}/${path}`).includes(text) ? undefined : `${path} is lost`;

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // a folder, or below a file
  }
};

const ended = (name: string, script: string, ending: 'stop' | 'forget'): Probe => ({
  ...{ name, script, ending, effect: anyChange, control: 'outside' },
});

/**
 * The user does something while a command works: before it changes the same (then it would overwrite that outside), and after.
 */
const conflict = (
  name: string,
  script: string,
  path: string,
  during: (folder: string) => unknown,
  other: Partial<Probe> = {},
): Probe[] => {
  const probe = (when: string, text: string, control: Probe['control']): Probe => ({
    name: `${name}, ${when}`,
    script: `cat file folder/a folder/b > /dev/null; ${text}`,
    during: ({ ws }) => during(ws),
    effect: isLost(path),
    control,
    ...other,
  });
  return [
    probe('before that', `echo ::ready; ${waits}; ${script}`, 'outside'),
    { ...probe('after that', `${script}\necho ::ready; ${waits}`, 'none'), control: 'none' },
  ];
};

const write = (path: string) => (ws: string) => writeFileSync(`${ws}/${path}`, 'user');

/** A command that did not end by itself changes nothing. */
export const stoppedCommands: readonly Probe[] = [
  ended('writes and is stopped', 'echo x > new; echo x > file; rm -r folder; echo ::ready; sleep 1000', 'stop'),
  ended(
    'commits and is stopped',
    'echo x > file; git -c user.name=P -c user.email=p@e commit -qam x; echo ::ready; sleep 1000',
    'stop',
  ),
  ended(
    'writes protected files and is stopped',
    'echo x > .git/config; echo x > .vscode/tasks.json; echo ::ready; sleep 1000',
    'stop',
  ),
  ended(
    'writes in the background and is stopped',
    '(while :; do echo x >> new; done) & until [ -s new ]; do :; done; echo ::ready; sleep 1000',
    'stop',
  ),
  ended(
    'ignores signals and is stopped',
    'trap "" TERM INT HUP; echo x > new; echo ::ready; while :; do sleep 1; done',
    'stop',
  ),
  ended(
    'leaves a process and is stopped',
    'setsid sh -c "while :; do echo x >> new; done" $TAG & until [ -s new ]; do :; done; echo ::ready; sleep 1000',
    'stop',
  ),
  ended('writes, and its changes are forgotten', 'echo x > new; rm -r folder; echo x > .git/hooks', 'forget'),
  ended('syncs, and its changes are forgotten', 'echo x > file; sync file .', 'forget'),
];

const restless = `for k in 1 2 3; do (
  exec > /dev/null 2>&1; trap '' TERM; mkdir n$k
  while :; do mkdir n$k/.vscode && echo x > n$k/.vscode/tasks.json; rm -rf n$k/.vscode; [ -e n$k/.vscode ] || echo >> /tmp/$TAG-$k; done
) & done; for k in 1 2 3; do until [ "$(grep -c '' /tmp/$TAG-$k 2> /dev/null)" -ge 3 ]; do :; done 2> /dev/null; done`;

/** Processes in the background must have ended before changes are read: an unprotected folder is kept as a whole. */
export const restlessCommands: readonly Probe[] = Array.from({ length: 6 }, (_, at) => ({
  name: `writes protected files in the background while its changes are kept, time ${at + 1}`,
  script: restless,
  effect: ({ ws }) => ['n1', 'n2', 'n3'].find((name) => existsSync(`${ws}/${name}/.vscode`)),
  control: 'none',
}));

/** What the user has changed while a command works is not overwritten. */
export const conflicts: readonly Probe[] = [
  ...conflict('writes a file that the user edits', 'echo x > file', 'file', write('file')),
  ...conflict('replaces a file that the user edits', 'echo x > new; mv new file', 'file', write('file')),
  ...conflict('removes a file that the user edits', 'rm file', 'file', write('file')),
  ...conflict('moves a file that the user edits', 'mv file other', 'file', write('file')),
  ...conflict('removes a folder in which the user edits', 'rm -r folder', 'folder/a', write('folder/a')),
  ...conflict('removes a folder in which the user creates a file', 'rm -r folder', 'folder/new', write('folder/new')),
  ...conflict(
    'removes a folder in which the user edits below',
    'rm -r folder',
    'folder/deep/c',
    write('folder/deep/c'),
  ),
  ...conflict('moves a folder in which the user edits', 'mv folder other', 'folder/a', write('folder/a')),
  ...conflict(
    'creates a folder again in which the user edits',
    'rm -r folder; mkdir folder; echo x > folder/a',
    'folder/a',
    write('folder/a'),
  ),
  ...conflict(
    'replaces a folder by a file, in which the user edits',
    'rm -r folder; echo x > folder',
    'folder/a',
    write('folder/a'),
  ),
  ...conflict(
    'replaces a folder by a link, in which the user edits',
    'rm -r folder; ln -s server folder',
    'folder/a',
    write('folder/a'),
  ),
  ...conflict(
    'replaces a file by a folder, which the user edits',
    'rm file; mkdir file; echo x > file/a',
    'file',
    write('file'),
  ),
  ...conflict('creates a file that the user creates', 'echo x > new', 'new', write('new')),
  ...conflict('creates a folder where the user creates a file', 'mkdir new; echo x > new/a', 'new', write('new'), {
    control: 'none',
  }),
  ...conflict(
    'creates a file in a new folder that the user creates, too',
    'mkdir new; echo x > new/a',
    'new/a',
    (ws) => {
      mkdirSync(`${ws}/new`);
      writeFileSync(`${ws}/new/a`, 'user');
    },
  ),
  ...conflict(
    'creates a file where the user creates a folder',
    'echo x > new',
    'new/a',
    (ws) => {
      rmSync(`${ws}/new`, { force: true });
      mkdirSync(`${ws}/new`);
      writeFileSync(`${ws}/new/a`, 'user');
    },
    { control: 'none' },
  ),
  ...conflict('removes a file that the user replaces', 'rm file', 'file', (ws) => {
    writeFileSync(`${ws}/replacement`, 'user');
    execFileSync('mv', [`${ws}/replacement`, `${ws}/file`]);
  }),
  ...conflict(
    'checks out a commit while the user edits',
    'git checkout -q -b other; git rm -qf file; git -c user.name=P -c user.email=p@e commit -qm x',
    'file',
    write('file'),
  ),
  ...conflict(
    'appends to a file to which the user appends',
    'echo x >> file',
    'file',
    (ws) => appendFileSync(`${ws}/file`, 'user'),
    { control: 'none' },
  ),
  ...conflict(
    'writes a file that the user replaces by a link',
    'echo x > file',
    'file',
    (ws) => {
      rmSync(`${ws}/file`);
      symlinkSync('server/code.js', `${ws}/file`);
    },
    { effect: isLost('server/code.js', 'code') },
  ),
  ...conflict(
    'writes a file that the user makes read-only',
    'echo x > folder/a',
    'folder/a',
    (ws) => chmodSync(`${ws}/folder/a`, 0o400),
    { effect: isLost('folder/a', 'a'), control: 'none' },
  ),
];
