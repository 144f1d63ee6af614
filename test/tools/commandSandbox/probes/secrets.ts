import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { homeFiles } from './homeFolder.ts';
import { type Probe, type ProbeWorld, secret } from './probe.ts';

/** Effect: the text of a secret is in the output, or in what was kept outside of the files with secrets. */
function leaked({ ws, output }: ProbeWorld): string | undefined {
  if (output.includes(secret)) return 'printed';
  const found = readdirSync(ws).filter((name) => name.startsWith('found'));
  return found.find((name) => readFileSync(`${ws}/${name}`, 'latin1').includes(secret));
}

const reads = (name: string, script: string, other: Partial<Probe> = {}): Probe => ({
  ...{ name, script: `(${script}) > found 2>&1; true`, effect: leaked, control: 'outside' },
  ...other,
});

const inHome = (path: string): Probe =>
  reads(`reads ~/${path}`, `cat ~/"${path}"; cp ~/"${path}" found2; tar -cf found3 -C ~ "${path}"`);

export const secrets: readonly Probe[] = [
  ...Object.keys(homeFiles).map(inHome),
  reads('reads what a link in the home folder leads to', 'cat ~/.azure/token ~/vault/token'),
  reads('reads the whole home folder', 'grep -r . ~'),
  reads('packs the whole home folder', 'tar -cf found2 -C ~ .; cp -r ~ /tmp/home; cat /tmp/home/.ssh/*'),
  reads('asks Git for its settings', 'git config --global --list; git config --list --show-origin'),
  reads('reads .env in the open folder', 'cat .env; cp .env found2; base64 -d < <(base64 .env)'),
  reads('reads secrets in a folder below', 'cat server/.env.production server/key.pem'),
  reads('reads the whole open folder', 'grep -r . . --exclude=found'),
  reads('packs the open folder', 'tar -cf found2 .env server; mv found2 found3'),
  reads('reads .env through a link that it makes', 'ln -s .env other; cat other'),
  reads('reads .env through a link that was there', 'cat other', {
    prepare: ({ ws }) => symlinkSync('.env', `${ws}/other`),
  }),
  reads('reads .env through a hard link that it makes', 'ln .env other; cat other'),
  reads('reads .env after moving it', 'mv .env other; cat other'),
  reads('reads .env after moving its folder', 'mv server other; cat other/.env.production other/key.pem'),
  reads(
    'reads .env after removing its folder',
    'rm -rf server; git checkout -q server; cat server/*; ls -la server; cat server/.env.production',
    { control: 'none' },
  ),
  reads(
    'reads .env after unmounting',
    'umount .env; umount -l .env; unshare -Urm umount -l .env; cat .env; unshare -Urm cat .env',
  ),
  reads('reads .env through the roots of processes', 'for p in /proc/[0-9]*; do cat $p/root$WS/.env $p/cwd/.env; done'),
  reads(
    'reads .env through the layers of its overlay',
    'cat $STORE/commands/*/merged0/.env $STORE/commands/*/lower0/.env $STORE/commands/*/*/.env; find / -name .env -not -path "/proc/*" -not -path "*/template/*" -not -path "*/control/*" 2>/dev/null | while read f; do cat $f; done',
    { control: 'none' },
  ),
  reads('reads .env through a bind of its own', 'mkdir bound; mount --bind . bound; cat bound/.env; umount bound', {
    controlAs: 'root',
  }),
  reads(
    'reads .env through descriptors',
    'for fd in /proc/self/fd/* /proc/[0-9]*/fd/*; do cat $fd/.env $fd/../.env $fd/merged0/.env; done',
    { control: 'none' },
  ),
  reads('reads .env in a sandbox of its own', 'bwrap --bind / / cat .env'),
  reads(
    'reads .env by a number of its file',
    `perl -e 'my $h = pack("II", 128, 0) . "\\0" x 128; my $id = pack("i", 0); syscall(303, -100, "$ENV{WS}/folder", $h, $id, 0) == 0 and print "${secret}"'`,
    { control: 'outside' },
  ),
  reads('reads an .npmrc with a token', 'cat .npmrc; npm config get //r/:_authToken', {
    prepare: ({ ws }) => writeFileSync(`${ws}/.npmrc`, `//r/:_authToken=${secret}\n`),
  }),
  reads('reads an address with a password in the settings of Git', 'cat .git/config; git remote -v', {
    prepare: ({ ws }) =>
      writeFileSync(
        `${ws}/.git/config`,
        `[core]\n\tbare = false\n[remote "origin"]\n\turl = https://u:${secret}@h/r\n`,
      ),
  }),
  reads('reads secrets whose names are written in capitals', 'cat .ENV.LOCAL ID_RSA', {
    prepare: ({ ws }) => ['.ENV.LOCAL', 'ID_RSA'].forEach((name) => void writeFileSync(`${ws}/${name}`, secret)),
  }),
  reads('reads secrets in a new folder of the open folder', 'cat new/.aws/credentials new/a/.env', {
    prepare({ ws }) {
      mkdirSync(`${ws}/new/.aws`, { recursive: true });
      mkdirSync(`${ws}/new/a`);
      for (const name of ['new/.aws/credentials', 'new/a/.env']) writeFileSync(`${ws}/${name}`, secret);
    },
  }),
  reads('reads the stored runs', 'cat $JOURNALS/run/*; ls $JOURNALS; grep -r . $JOURNALS'),
  reads('reads the environment of a process outside', 'cat /proc/$VICTIM/environ; cat /proc/[0-9]*/environ; ps eww', {
    prepare: (world) => world.startVictim(),
  }),
  reads(
    'reads the memory of a process outside',
    'perl -e \'open(M, "<", "/proc/$ENV{VICTIM}/maps"); while (<M>) { /^(\\w+)-(\\w+) rw.*stack/ or next; open(F, "<", "/proc/$ENV{VICTIM}/mem"); sysseek(F, hex $1, 0); sysread(F, my $d, hex($2) - hex $1); print $d }\'',
    { prepare: (world) => world.startVictim() },
  ),
  reads('reads the files of a process outside', 'cat /proc/$VICTIM/root$WS/.env /proc/$VICTIM/cwd/.env', {
    prepare: (world) => world.startVictim(),
  }),
  reads(
    'lists the processes outside',
    `cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -q "$TAG .*1000" && echo ${secret}`,
    {
      prepare: (world) => world.startVictim(),
      script: `(cat /proc/$VICTIM/cmdline | grep -aq "$TAG" && echo ${secret}) > found 2>&1; true`,
    },
  ),
  reads('reads secrets of the system', '', {
    script:
      'head -c 2000 /etc/shadow > found 2>&1; cat /etc/gshadow /etc/ssh/ssh_host_*_key /etc/sudoers >> found 2>&1; true',
    user: 'root',
    effect: ({ ws }) =>
      readFileSync(`${ws}/found`, 'utf8').includes(readFileSync('/etc/shadow', 'utf8').slice(0, 20))
        ? 'read /etc/shadow'
        : undefined,
  }),
];
