import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import * as paths from 'node:path';
import { findHiddenPaths } from '../../../../src/tools/commandSandbox/hiddenPaths.ts';
import { bwrapArguments } from '../../../../src/tools/commandSandbox/linux/bwrapArguments.ts';
import type { SandboxPolicy } from '../../../../src/tools/commandSandbox/sandboxPolicy.ts';
import { canRunBwrap, hasProgram, runBwrap } from '../../../support/bwrap.ts';

describe('a command in bwrap', () => {
  let outer: string;
  let policy: SandboxPolicy;
  const at = (path: string) => paths.join(outer, path);
  const optionsOf = (one: SandboxPolicy) => [...bwrapArguments(one), '--chdir', one.overlays[0]!.shown];

  before(async function () {
    if (!canRunBwrap()) return this.skip();
    outer = realpathSync(mkdtempSync(paths.join('/var/tmp', 'towpath-bwrap-')));
    const files = {
      'home/.ssh/id_rsa': 'key',
      'home/.gitconfig': '[url "https://u:p@h/"]',
      'home/.config/Code/ws/file': 'real',
      'home/.config/Code/ws/.env': 'SECRET=1',
      'vault/credentials': 'key',
      'home/notes': 'notes',
      'merged/file': 'overlay',
      'merged/.env': 'SECRET=1',
      'merged/node_modules/a': '',
      'tmp/mine': '',
    };
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(paths.dirname(at(path)), { recursive: true });
      writeFileSync(at(path), content);
    }
    symlinkSync(at('vault'), at('home/.aws'));
    const shown = at('home/.config/Code/ws');
    policy = {
      uid: process.getuid!(),
      gid: process.getgid!(),
      overlays: [{ shown, merged: at('merged') }],
      writable: [],
      readOnly: [{ source: at('merged/node_modules'), target: `${shown}/node_modules` }],
      hidden: (await findHiddenPaths({ home: at('home'), folders: [shown] })).paths,
      kernelFiles: [],
      tmp: at('tmp'),
      tmpTargets: ['/tmp'],
    };
  });

  after(() => {
    if (outer) rmSync(outer, { recursive: true });
  });

  const cases: [command: string, output: RegExp | string][] = [
    ['cat file', 'overlay'],
    ['cat .env', /Permission denied/],
    ['echo x > .env', /Permission denied/],
    ['cat ../../../.ssh/id_rsa', /No such file/],
    ['ls ../../../.ssh', /Permission denied/],
    ['echo x > ../../../.ssh/id_rsa', /Read-only file system/],
    ['umount ../../../.ssh 2>&1 || true; cat ../../../.ssh/id_rsa', /No such file/],
    ['cat ../../../.gitconfig; echo end', 'end'],
    ['HOME=$PWD/../../.. git config --global --list; echo $?', '0'],
    ['cat ../../../.aws/credentials', /No such file/],
    ['ls ../../../../vault', /Permission denied/],
    ['cat ../../../../merged/.env', /No such file/],
    ['cat ../../../notes', 'notes'],
    ['echo x > ../../../notes', /Read-only file system/],
    ['echo x > node_modules/b', /Read-only file system/],
    ['echo x > /usr/x', /Read-only file system|Permission denied/],
    ['echo x > /run/x', /Read-only file system|Permission denied/],
    ['ls /tmp', /^mine\b/],
    ['ls /run', ''],
    ['ls /dev/shm', ''],
    ['grep CapEff /proc/self/status', /CapEff:\s0{16}$/],
    ['id -u', String(process.getuid?.())],
    ['cat /proc/1/comm', /^(bwrap|sh)$/],
  ];
  for (const [command, output] of cases)
    it(`answers “${command}” with ${output || 'nothing'}`, () => {
      const result = runBwrap(optionsOf(policy), command);
      if (typeof output === 'string') assert.equal(result.output, output);
      else assert.match(result.output, output);
    });

  it('writes to the overlay and to the private folder only', () => {
    assert.deepEqual(runBwrap(optionsOf(policy), 'echo new > file && echo 1 > /tmp/b'), { code: 0, output: '' });
    assert.deepEqual(
      ['merged/file', 'home/.config/Code/ws/file', 'tmp/b'].map((path) => readFileSync(at(path), 'utf8')),
      ['new\n', 'real', '1\n'],
    );
  });

  it('connects to a socket of the outside only if the socket is visible', async function () {
    if (!hasProgram('perl')) return this.skip();
    const path = at('home/socket');
    const server = createServer();
    await new Promise<void>((done) => server.listen(path, done));
    try {
      const connect = (change: Partial<SandboxPolicy>) =>
        runBwrap(
          optionsOf({ ...policy, ...change }),
          `perl -MSocket -e 'socket(S, 1, 1, 0); connect(S, sockaddr_un("${path}")) and print "connected"'`,
        ).output;
      assert.equal(connect({}), 'connected');
      assert.equal(connect({ hidden: [...policy.hidden, { path, kind: 'file' }] }), '');
    } finally {
      server.close();
    }
  });
});
