import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { hasLandlock } from '../../../support/bwrap.ts';
import { outsideChanged, type Probe, type ProbeWorld, waits } from './probe.ts';

/** A script, and its effect on the folders outside. */
const outside = (name: string, script: string, other: Partial<Probe> = {}): Probe => ({
  ...{ name, script, effect: outsideChanged, control: 'outside' },
  ...other,
});

/** Writes to a path of the machine that has a unique name. */
const system = (folder: string): Probe => ({
  name: `writes to ${folder}`,
  script: `echo x > ${folder}/$TAG; mkdir ${folder}/$TAG.d`,
  effect: ({ tag }) => [tag, `${tag}.d`].find((one) => existsSync(`${folder}/${one}`)),
  control: 'none',
});

/** Writes to a shared folder of the machine, in which everybody may write. */
const shared = (folder: string): Probe => ({
  name: `writes to ${folder} of the machine`,
  script: `echo x > ${folder}/$TAG; echo x > ${folder}/$TAG-old/new`,
  prepare({ tag, cleanUp }) {
    mkdirSync(`${folder}/${tag}-old`);
    cleanUp(() =>
      [tag, `${tag}-old`].forEach((one) => void rmSync(`${folder}/${one}`, { recursive: true, force: true })),
    );
  },
  effect: ({ tag }) => [tag, `${tag}-old/new`].find((one) => existsSync(`${folder}/${one}`)),
  control: 'outside',
});

const link = (target: keyof ProbeWorld & ('out' | 'home'), name: string) => (world: ProbeWorld) =>
  symlinkSync(world[target], `${world.ws}/${name}`);
const hardLink = ({ out, ws }: ProbeWorld) => linkSync(`${out}/file`, `${ws}/hard`);
const setting = (path: string, script: string): Probe => {
  let before = '';
  const read = () => readFileSync(path, 'utf8');
  return {
    name: `changes ${path}`,
    script,
    prepare: () => {
      before = read();
    },
    effect: () => {
      const now = read();
      if (now !== before) writeFileSync(path, before);
      return now === before ? undefined : now;
    },
    control: 'none',
  };
};

const perlOnDescriptors = `perl -e 'for my $fd (0..40) { open(my $f, "<&=", $fd) or next; chmod 0666, $f; }
for my $path (glob("/proc/self/fd/*"), glob("/proc/[0-9]*/fd/*")) { for my $mode (">>", "+<") { open(my $f, $mode, $path) and print $f "x"; } }'`;

export const writesOutside: readonly Probe[] = [
  outside('creates a file in the home folder', 'echo x > ~/probe'),
  outside('appends to a file that a shell reads', 'echo x >> ~/.bashrc'),
  outside('creates a file next to the open folder', 'echo x > $OUT/new'),
  outside('leaves by ..', 'echo x > ../out/new; cd folder/deep; echo x > ../../../out/new2'),
  outside('leaves by the root of its process', 'echo x > /proc/self/root$OUT/new'),
  outside(
    'leaves by the roots and folders of all processes',
    'for p in /proc/[0-9]*; do echo x > $p/root$OUT/new; echo x > $p/cwd/../out/new2; done',
  ),
  outside('follows a link that was there', 'echo x > out-link/new', { prepare: link('out', 'out-link') }),
  outside('follows a link that it makes', 'ln -s $OUT made; echo x > made/new; echo x > made/file'),
  outside('follows a link to a missing file', 'ln -s $OUT/new made; echo x > made'),
  outside('follows a link that an earlier command left', 'ln -s $OUT made; rm -r folder; ln -s $OUT folder', {
    next: 'echo x > made/new; echo x > folder/new2',
  }),
  outside('writes to a hard link that was there', 'echo x >> hard', {
    prepare: hardLink,
    effect: ({ out }) => (readFileSync(`${out}/file`, 'utf8') === 'before\n' ? undefined : 'written'),
  }),
  outside('changes the mode of a hard link that was there', 'chmod 777 hard; touch -d 2001-01-01 hard', {
    prepare: hardLink,
    effect: ({ out }) => ((lstatSync(`${out}/file`).mode & 0o777) === 0o777 ? 'changed' : undefined),
  }),
  outside('truncates a hard link that was there', ': > hard; perl -e \'truncate("hard", 0)\'', {
    prepare: hardLink,
    effect: ({ out }) => (readFileSync(`${out}/file`, 'utf8') === 'before\n' ? undefined : 'written'),
  }),
  outside('makes a hard link', 'ln $OUT/file made; echo x >> made'),
  outside('makes a hard link outside', 'ln file $OUT/new'),
  outside('moves a file out', 'mv file $OUT/new'),
  outside('moves a file in', 'mv $OUT/file in'),
  outside('removes a file', 'rm -f $OUT/file; rmdir $OUT/folder; perl -e \'unlink "$ENV{OUT}/file"\''),
  outside('changes the mode of a file', 'chmod 777 $OUT/file $OUT/folder'),
  outside('changes the time of a file', 'touch -d 2001-01-01 $OUT/file'),
  outside('truncates a file', 'perl -e \'truncate("$ENV{OUT}/file", 0)\''),
  outside(
    'sets an attribute of a file',
    `python3 -c 'import os; os.setxattr(os.environ["OUT"]+"/file", "user.probe", b"x")'; true`,
    {
      needs: ['python3'],
      prepare: (world) => {
        world.variables.CHANGED = String(lstatSync(`${world.out}/file`).ctimeMs);
      },
      effect: ({ out, variables }) =>
        String(lstatSync(`${out}/file`).ctimeMs) === variables.CHANGED ? undefined : 'changed',
    },
  ),
  outside(
    'creates a file without a name and links it',
    `perl -e 'sysopen(my $f, "$ENV{OUT}", 020200002) or die; syscall(265, -100, "/proc/self/fd/" . fileno($f), -100, "$ENV{OUT}/new", 0x400)'`,
  ),
  outside('exchanges two files', `perl -e 'syscall(316, -100, "$ENV{WS}/file", -100, "$ENV{OUT}/file", 2)'`),
  outside(
    'creates a device, a pipe and a socket',
    'mkfifo $OUT/pipe; mknod $OUT/device c 1 3; mknod $OUT/whiteout c 0 0',
  ),
  outside('writes into a pipe that is read', 'echo x > $OUT/pipe || true', {
    needs: hasLandlock() ? [] : ['Landlock'],
    prepare({ out, variables, cleanUp }) {
      execFileSync('mkfifo', ['-m', '666', `${out}/pipe`]);
      const reader = openSync(`${out}/pipe`, constants.O_RDWR | constants.O_NONBLOCK);
      cleanUp(() => closeSync(reader));
      variables.READER = String(reader);
    },
    effect({ variables }) {
      try {
        return readSync(Number(variables.READER), Buffer.alloc(10)) > 0 ? 'text in the pipe' : undefined;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined; // empty
        throw error;
      }
    },
  }),
  outside('writes by Git', 'git init -q $OUT/new; git config --global probe.a b'),
  outside(
    'writes objects of Git',
    'GIT_OBJECT_DIRECTORY=$OUT/objects git hash-object -w file; git clone -q . $OUT/clone',
  ),
  outside('unpacks an archive with absolute names', 'tar -xPf archive.tar; true', {
    prepare({ ws, out }) {
      writeFileSync(`${out}/new`, 'x');
      execFileSync('tar', ['-cPf', `${ws}/archive.tar`, `${out}/new`]);
      rmSync(`${out}/new`);
    },
  }),
  outside(
    'writes to descriptors that it has inherited',
    `for fd in /proc/self/fd/* /proc/[0-9]*/fd/*; do echo x > $fd/../../out/new; echo x > $fd/new; done`,
    { control: 'none' },
  ),
  {
    name: 'changes the filter of system calls through its descriptor',
    script: perlOnDescriptors,
    effect({ store }) {
      const filter = readdirSync(store).find((name) => name.startsWith('seccomp-'))!;
      const mode = lstatSync(`${store}/${filter}`).mode & 0o777;
      return mode === 0o400 ? undefined : `mode ${mode.toString(8)}`;
    },
    control: 'none',
  },
  outside('binds a folder', 'mkdir bound; mount --bind $OUT bound; echo x > bound/new; umount bound', {
    controlAs: 'root',
  }),
  outside(
    'mounts the root again',
    'mount -o remount,rw /; mount -o remount,rw,bind /; mount -o remount,rw,bind $OUT; echo x > $OUT/new',
  ),
  outside(
    'mounts in a namespace of its own',
    `unshare -Urm sh -c 'mount -o remount,rw,bind /; mount -o remount,rw /; echo x > $OUT/new'`,
  ),
  outside('mounts in a sandbox of its own', `bwrap --bind / / sh -c 'echo x > $OUT/new'`),
  outside(
    'writes through the overlay of its command',
    'for f in $STORE/commands/*/merged0 $STORE/commands/*/lower0; do echo x > $f/../../../../out/new; echo x > $f/new; done',
    { control: 'none' },
  ),
  {
    name: 'writes to the store of the sandbox',
    script: 'echo x > $STORE/$TAG; mkdir -p $STORE/commands/$TAG; echo x > $STORE/commands/$TAG/a; chmod -R 777 $STORE',
    effect: ({ store, tag }) => [`${store}/${tag}`, `${store}/commands/${tag}`].find((path) => existsSync(path)),
    prepare: ({ store }) => mkdirSync(`${store}/commands`, { recursive: true }),
    control: 'outside',
  },
  outside('writes to the stored runs', 'echo x >> $JOURNALS/run/journal.jsonl; echo x > $JOURNALS/new'),
  outside(
    'changes a folder that is replaced by a link meanwhile',
    `echo x > folder/new; echo x > folder/a; echo ::ready; ${waits}`,
    {
      during({ ws, out }) {
        renameSync(`${ws}/folder`, `${ws}/folder-old`);
        symlinkSync(out, `${ws}/folder`);
      },
      control: 'none',
    },
  ),
  outside('changes the open folder that is replaced by a link meanwhile', `echo x > new; echo ::ready; ${waits}`, {
    during({ ws, out }) {
      renameSync(ws, `${ws}-old`);
      symlinkSync(out, ws);
    },
    mayFail: true,
    control: 'none',
  }),
  {
    name: 'renames the open folder',
    script: 'mv $WS $WS-new; rm -rf $OUT',
    effect: (world) => (existsSync(world.ws) && existsSync(world.out) ? undefined : 'moved'),
    control: 'outside',
  },
  ...[
    '/',
    '/etc',
    '/usr',
    '/usr/bin',
    '/usr/local/bin',
    '/var/lib',
    '/var/spool',
    '/opt',
    '/root',
    '/boot',
    '/run',
    '/sys/fs/cgroup',
  ].map(system),
  ...['/tmp', '/var/tmp', '/dev/shm'].map(shared),
  {
    name: 'creates shared memory of the machine',
    script: "perl -e 'shmget($ENV{KEY}, 4096, 01666) // die'",
    prepare(world) {
      const key = process.pid * 1000 + Number(world.tag.split('-').at(-2));
      world.variables.KEY = String(key);
      world.cleanUp(() => world.isControl && execFileSync('ipcrm', ['-M', String(key)]));
    },
    effect: ({ variables }) =>
      readFileSync('/proc/sysvipc/shm', 'utf8')
        .split('\n')
        .find((line) => line.trim().startsWith(`${variables.KEY} `)),
    needs: ['ipcrm'],
    control: 'outside',
  },
  setting('/proc/sys/kernel/core_pattern', 'echo "|/tmp/$TAG" > /proc/sys/kernel/core_pattern'),
  setting(
    '/proc/sys/user/max_user_namespaces',
    'echo $(($(cat /proc/sys/user/max_user_namespaces) + 1)) > /proc/sys/user/max_user_namespaces',
  ),
  setting(
    '/proc/sys/vm/overcommit_ratio',
    'echo $(($(cat /proc/sys/vm/overcommit_ratio) + 1)) > /proc/sys/vm/overcommit_ratio',
  ),
  {
    name: 'changes the name of the machine',
    script: 'hostname towpath-probe; echo towpath-probe > /proc/sys/kernel/hostname; unshare -u hostname towpath-probe',
    effect: () => (hostname() === 'towpath-probe' ? 'changed' : undefined),
    control: 'none',
  },
];
