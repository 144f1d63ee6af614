import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import type { Probe, ProbeWorld } from './probe.ts';

const isSpecial = (path: string, bits: number) => (world: ProbeWorld) => {
  const full = `${world.ws}/${path}`;
  if (!existsSync(full)) return undefined;
  const stats = lstatSync(full);
  const isPlain = (stats.isFile() || stats.isDirectory()) && (stats.mode & bits) === 0;
  return isPlain ? undefined : `mode ${stats.mode.toString(8)}`;
};

const special = (name: string, script: string, path: string, other: Partial<Probe> = {}): Probe => ({
  ...{ name, script, effect: isSpecial(path, 0o6000), control: 'outside' },
  ...other,
});

const setAttribute = (path: string, name: string) => `python3 -c 'import os; os.setxattr("${path}", "${name}", b"y")'`;

const attributesOf = ({ ws }: ProbeWorld, path: string): string =>
  execFileSync('python3', ['-c', `import os; print(os.listxattr("${ws}/${path}"))`], { encoding: 'utf8' });

/** Files that would do more than hold data once they are kept. */
export const specialFiles: readonly Probe[] = [
  special('leaves a program that runs as its owner', 'cp /bin/true new; chmod 4755 new', 'new'),
  special('leaves a program that runs as its group', 'cp /bin/true new; chmod 2755 new', 'new'),
  special(
    'leaves such a program in a new folder',
    'mkdir -p new/a; cp /bin/true new/a/b; chmod 6755 new/a/b',
    'new/a/b',
  ),
  special('makes a file that was there such a program', 'chmod 6755 test.js', 'test.js'),
  special('leaves such a program under two names', 'cp /bin/true new; chmod 4755 new; ln new other', 'other'),
  special(
    'leaves such a program by an archive',
    'cp /bin/true /tmp/a; chmod 4755 /tmp/a; tar -C /tmp -cpf /tmp/a.tar a; tar -xpf /tmp/a.tar; rm /tmp/a',
    'a',
  ),
  special('leaves a pipe', 'mkfifo new', 'new'),
  special('leaves a pipe in a new folder', 'mkdir -p new/a; mkfifo new/a/b', 'new/a/b'),
  special('leaves a socket', `perl -MSocket -e 'socket(S, 1, 1, 0); bind(S, sockaddr_un("new"))'`, 'new'),
  special('leaves a device', 'mknod new c 1 3; mknod other b 254 0', 'new', { controlAs: 'root' }),
  special('moves a pipe in', 'mkfifo /tmp/$TAG-pipe; mv /tmp/$TAG-pipe new', 'new'),
  special('replaces a file by a pipe', 'rm file; mkfifo file', 'file'),
  {
    name: 'gives a program capabilities',
    script:
      'cp /bin/true new; setcap cap_sys_admin+ep new || python3 -c \'import os, struct; os.setxattr("new", "security.capability", struct.pack("<IIIII", 0x02000001, 1 << 21, 0, 0, 0))\'',
    needs: ['python3'],
    controlAs: 'root',
    effect: (world) => (attributesOf(world, 'new').includes('security.capability') ? 'capabilities' : undefined),
    control: 'outside',
  },
  {
    name: 'hides protected files by an attribute of overlays',
    script: `${setAttribute('.vscode', 'user.overlay.opaque')}; ${setAttribute('.vscode', 'trusted.overlay.opaque')}; true`,
    needs: ['python3'],
    effect: ({ ws }) => (existsSync(`${ws}/.vscode/settings.json`) ? undefined : 'removed'),
    control: 'none',
  },
  {
    name: 'hides protected files by a whiteout',
    script:
      'mknod /tmp/w c 0 0; mv -f /tmp/w .vscode; mknod .vscode/settings.json c 0 0; rm -f .vscode/settings.json; mknod .vscode/settings.json c 0 0; cp -a /tmp/w .vscode/settings.json',
    effect: ({ ws }) => (existsSync(`${ws}/.vscode/settings.json`) ? undefined : 'removed'),
    control: 'allowed',
  },
  ...['user.overlay.redirect', 'user.overlay.metacopy', 'trusted.overlay.redirect'].map(
    (name): Probe => ({
      name: `leaves the attribute ${name} on files and folders`,
      script: `mkdir new; for f in file folder new; do ${setAttribute('$f', name).replace('"$f"', `"'$f'"`)}; done; echo x > new/a; true`,
      needs: ['python3'],
      effect: (world) => ['file', 'folder', 'new'].find((path) => attributesOf(world, path).includes(`'${name}'`)),
      control: name.startsWith('user') ? 'outside' : 'none',
    }),
  ),
  {
    name: 'writes the layers of its own overlay through another path',
    script:
      'for f in $(find / -maxdepth 9 -name "upper0" -not -path "/proc/*" 2>/dev/null); do mkdir -p $f/.vscode; echo x > $f/.vscode/tasks.json; done; true',
    effect: ({ ws }) => (existsSync(`${ws}/.vscode/tasks.json`) ? 'written' : undefined),
    control: 'none',
  },
  {
    name: 'uses a folder in which another command works',
    script: 'for f in $STORE/commands/*/work0 $STORE/commands/*/upper0; do echo x > $f/new; done; true',
    prepare({ store, cleanUp }) {
      mkdirSync(`${store}/commands/${process.pid}-other/upper0`, { recursive: true });
      writeFileSync(`${store}/commands/${process.pid}-other/upper0/a`, '');
      cleanUp(() =>
        process.getBuiltinModule('node:fs').rmSync(`${store}/commands/${process.pid}-other`, { recursive: true }),
      );
    },
    effect: ({ store }) => (existsSync(`${store}/commands/${process.pid}-other/upper0/new`) ? 'written' : undefined),
    control: 'outside',
  },
];
