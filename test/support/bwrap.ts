import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

/** Tests for a system on which an unprivileged `bwrap` can start a program. */
export const canRunBwrap = (): boolean =>
  process.platform === 'linux' &&
  spawnSync('bwrap', [
    '--unshare-user',
    '--unshare-pid',
    '--ro-bind',
    '/',
    '/',
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    'true',
  ]).status === 0;

export const hasProgram = (name: string): boolean => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;

/** Tests for a kernel that can keep processes from writing into named pipes: Landlock with a version from 2 on. */
export const hasLandlock = (): boolean =>
  spawnSync('perl', ['-e', 'exit(syscall(444, 0, 0, 1) >= 2 ? 0 : 1)']).status === 0;

export interface BwrapResult {
  code: number | null;
  output: string;
}

/** Runs `bwrap` with a shell command; `filter` is a file that becomes descriptor 3. */
export function runBwrap(args: readonly string[], command: string, filter?: string): BwrapResult {
  const descriptor = filter === undefined ? undefined : openSync(filter, 'r');
  try {
    const { status, stdout, stderr } = spawnSync('bwrap', [...args, 'sh', '-c', command], {
      encoding: 'utf8',
      timeout: 60_000,
      stdio: ['ignore', 'pipe', 'pipe', ...(descriptor === undefined ? [] : [descriptor])],
    });
    return { code: status, output: `${stdout}${stderr}`.trim() };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
