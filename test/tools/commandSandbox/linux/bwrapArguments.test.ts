import assert from 'node:assert/strict';
import { bwrapArguments } from '../../../../src/tools/commandSandbox/linux/bwrapArguments.ts';
import type { SandboxPolicy } from '../../../../src/tools/commandSandbox/sandboxPolicy.ts';

const policy: SandboxPolicy = {
  uid: 1000,
  gid: 100,
  overlays: [{ shown: '/home/ann/ws', merged: '/var/runs/1/merged' }],
  writable: [],
  readOnly: [],
  hidden: [],
  kernelFiles: ['/proc/sys'],
  tmp: '/var/runs/1/tmp',
  tmpTargets: ['/tmp', '/var/tmp'],
};

/** Expects the mounts of the policy: one a line, without those that every policy has. */
function check(change: Partial<SandboxPolicy>, expected: string): void {
  const args = bwrapArguments({ ...policy, ...change }).join(' ');
  const mounts = args.slice(args.indexOf('/var/runs/1/tmp /var/tmp') + '/var/runs/1/tmp /var/tmp'.length);
  const lines = mounts.replace(/ (?=--(?!tmpfs))|(?<!0111) (?=--tmpfs)/g, '\n').trim();
  assert.equal(lines, expected.trim().replace(/^ +/gm, ''));
}

const bind = (path: string) => ({ source: path, target: path });

describe('the arguments of bwrap', () => {
  it('isolate a command without privileges', () =>
    assert.equal(
      bwrapArguments({ ...policy, seccompDescriptor: 5 }).join(' '),
      [
        '--unshare-user --unshare-ipc --unshare-pid --unshare-uts --uid 1000 --gid 100',
        '--cap-drop ALL --new-session --die-with-parent --seccomp 5',
        '--ro-bind / / --proc /proc --dev /dev --tmpfs /run --ro-bind /proc/sys /proc/sys',
        '--bind /var/runs/1/tmp /tmp --bind /var/runs/1/tmp /var/tmp',
        '--bind /var/runs/1/merged /home/ann/ws --perms 0111 --tmpfs /var/runs/1/merged',
        '--remount-ro /run --remount-ro /var/runs/1/merged',
      ].join(' '),
    ));

  it('mount outer folders first, so that none covers an open folder', () =>
    check(
      {
        overlays: [
          { shown: '/data/ws/part', merged: '/tmp/m/2' },
          { shown: '/data/ws', merged: '/tmp/m/1' },
        ],
        writable: [{ source: '/caches/npm', target: '/home/ann/.npm' }, bind('/data')],
        readOnly: [bind('/data/ws/node_modules'), bind('/run/current-system')],
      },
      `
      --bind /data /data
      --bind /tmp/m/1 /data/ws
      --ro-bind /run/current-system /run/current-system
      --bind /tmp/m/2 /data/ws/part
      --bind /caches/npm /home/ann/.npm
      --ro-bind /data/ws/node_modules /data/ws/node_modules
      --remount-ro /run`,
    ));

  it('hide secrets of the home and of an open folder after the folder is shown', () =>
    check(
      {
        hidden: [
          { path: '/home/ann/.ssh', kind: 'folder' },
          { path: '/home/ann/ws/.env', kind: 'file' },
          { path: '/home/ann/.gitconfig', kind: 'settings' },
        ],
      },
      `
      --bind /var/runs/1/merged /home/ann/ws
      --perms 0111 --tmpfs /home/ann/.ssh
      --dev-bind /dev/null /home/ann/.gitconfig
      --ro-bind /dev/null /home/ann/ws/.env
      --perms 0111 --tmpfs /var/runs/1/merged
      --remount-ro /run
      --remount-ro /home/ann/.ssh
      --remount-ro /var/runs/1/merged`,
    ));

  it('hide a folder around an open folder before the open folder is shown', () =>
    check(
      {
        overlays: [{ shown: '/home/ann/.config/Code/ws', merged: '/tmp/m/1' }],
        hidden: [
          { path: '/home/ann/.config/Code', kind: 'folder' },
          { path: '/home/ann/.config/Code/ws/.env', kind: 'file' },
        ],
      },
      `
      --perms 0111 --tmpfs /home/ann/.config/Code
      --bind /tmp/m/1 /home/ann/.config/Code/ws
      --ro-bind /dev/null /home/ann/.config/Code/ws/.env
      --remount-ro /run
      --remount-ro /home/ann/.config/Code`,
    ));

  it('do not create what a private or hidden folder covers already', () =>
    check(
      {
        overlays: [{ shown: '/tmp/ws', merged: '/tmp/m/1' }],
        writable: [bind('/home/ann/.aws/cli')],
        hidden: [
          { path: '/run/user/1000/bus', kind: 'file' },
          { path: '/tmp/other/key.pem', kind: 'file' },
          { path: '/tmp/ws/key.pem', kind: 'file' },
          { path: '/home/ann/.aws', kind: 'folder' },
          { path: '/home/ann/.aws/credentials', kind: 'file' },
          { path: '/home/ann/.aws/cli', kind: 'folder' },
        ],
      },
      `
      --perms 0111 --tmpfs /home/ann/.aws
      --bind /tmp/m/1 /tmp/ws
      --bind /home/ann/.aws/cli /home/ann/.aws/cli
      --ro-bind /dev/null /tmp/ws/key.pem
      --remount-ro /run
      --remount-ro /home/ann/.aws`,
    ));

  const refused = ['', '/', 'ws', './ws', '--bind', '/ws/', '/ws/../etc', '/a//b', '/a\0b'];
  for (const path of refused)
    it(`refuse the path ${JSON.stringify(path)} anywhere`, () => {
      const changes: Partial<SandboxPolicy>[] = [
        { overlays: [{ shown: path, merged: '/m' }] },
        { overlays: [{ shown: '/ws', merged: path }] },
        { writable: [{ source: path, target: '/a' }] },
        { readOnly: [{ source: '/a', target: path }] },
        { hidden: [{ path, kind: 'file' }] },
        { tmp: path },
        { tmpTargets: [path] },
      ];
      for (const change of changes)
        assert.throws(() => bwrapArguments({ ...policy, ...change }), /Not an absolute, normalized path/);
    });
});
