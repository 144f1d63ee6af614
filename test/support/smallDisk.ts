import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const run = (program: string, ...args: string[]) => void execFileSync(program, args, { stdio: 'pipe' });

/** Why no disk can be mounted here; undefined: one can. */
export function whyNotMounted(): string | undefined {
  if (process.platform !== 'linux') return 'a small disk is mounted on Linux alone';
  const folder = mkdtempSync(path.join(tmpdir(), 'towpath-disk-'));
  try {
    run('mount', '-t', 'tmpfs', '-o', 'size=64k', 'towpath-test', folder);
    run('umount', folder);
    return undefined;
  } catch {
    return 'mounting a small disk takes the rights of root';
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Puts what is in the folder on a disk of its own with so many KiB. */
export function mountSmall(folder: string, kb: number): void {
  const aside = `${folder}.aside`;
  renameSync(folder, aside);
  mkdirSync(folder, { mode: 0o700 });
  mountEmpty(folder, kb);
  cpSync(aside, folder, { recursive: true });
  rmSync(aside, { recursive: true });
}

/** An empty disk stands in the place of the folder, with so many KiB. */
export const mountEmpty = (folder: string, kb: number): void =>
  run('mount', '-t', 'tmpfs', '-o', `size=${kb}k`, 'towpath-test', folder);

/** Space is made on it, and it may be written to. */
export const growDisk = (folder: string): void => run('mount', '-o', 'remount,rw,size=64m', folder);

export const remountReadOnly = (folder: string): void => run('mount', '-o', 'remount,ro', folder);

export const unmount = (folder: string): void => run('umount', '--lazy', folder);
