// npm run bench -- snapshot [--100000]: what recording costs before and after a command, beside `lstat` of every file, `git stash create`
// and a copy of the folder, on the same trees in the same run: in the folder for temporary files, and on an XFS disk in a file, if this
// process may mount one and `mkfs.xfs` is there. With --100000 also the largest folder that is recorded.
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { compareSnapshot } from '../../src/tools/snapshot/compareSnapshot.ts';
import { takeSnapshot } from '../../src/tools/snapshot/takeSnapshot.ts';
import { line } from './measure.ts';

const base = mkdtempSync(path.join(tmpdir(), 'towpath-bench-'));
// Git does not pack its objects in the background of the measurement.
const settings = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'gc.auto=0'];
const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-C', folder, ...settings, ...args], { stdio: 'ignore' });

function makeRepository(disk: string, files: number): string {
  const root = path.join(disk, `files-${files}`);
  for (let folder = 0; folder * 100 < files; folder++) {
    mkdirSync(path.join(root, `folder-${folder}`), { recursive: true });
    for (let at = 0; at < 100 && folder * 100 + at < files; at++)
      writeFileSync(
        path.join(root, `folder-${folder}`, `file-${at}.ts`),
        `export const value = ${folder * 100 + at};\n`,
      );
  }
  git(root, 'init', '-q');
  git(root, 'add', '-A');
  git(root, 'commit', '-qm', 'base');
  for (let at = 0; at < 5; at++) writeFileSync(path.join(root, `folder-${at}`, 'file-0.ts'), `// changed ${at}\n`);
  return root;
}

function walk(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === '.git') continue;
    const at = path.join(folder, entry.name);
    if (entry.isDirectory()) walk(at);
    else lstatSync(at, { bigint: true });
  }
}

async function took(work: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 3; round++) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  return Math.min(...times);
}

async function measure(disk: string, name: string, files: number): Promise<void> {
  const root = makeRepository(disk, files);
  const store = path.join(disk, 'store');
  const pack = path.join(disk, 'pack');
  const request = { id: 'one', store, folders: [root], budget: 200_000_000 };
  const record = async () => {
    await takeSnapshot(request);
    await compareSnapshot({ id: 'one', store, pack });
  };
  // No file is young any more, and the first recording reads the sizes of all blobs.
  await new Promise((resolve) => setTimeout(resolve, 2100));
  await record();
  const floor = await took(() => walk(root));
  const both = await took(record);
  const stash = await took(() => git(root, 'stash', 'create'));
  const copy = await took(() => {
    const to = path.join(disk, 'copy');
    execFileSync('cp', ['-r', '--reflink=auto', root, to]);
    rmSync(to, { recursive: true });
  });
  rmSync(path.join(root, '.git'), { recursive: true });
  await record();
  const without = await took(record);
  const values = {
    both: `${both.toFixed(0)} ms`,
    lstat: `${floor.toFixed(0)} ms`,
    'git stash create': `${stash.toFixed(0)} ms`,
    copy: `${copy.toFixed(0)} ms`,
    'without Git': `${without.toFixed(0)} ms`,
  };
  // Small folders cost the start of Git, not the walk.
  const budget = files < 50_000 ? Math.max(2.5, 150 / floor) : 2.5;
  line(`${name}, ${files} files (${(both / floor).toFixed(1)} × lstat)`, values, both / floor, budget);
  rmSync(root, { recursive: true });
  rmSync(store, { recursive: true });
}

/** Mounts an XFS disk in a file, on which files are copied without their contents. Undefined if that is not possible here. */
function mountXfs(): string | undefined {
  const [image, disk] = [path.join(base, 'xfs.image'), path.join(base, 'xfs')];
  try {
    mkdirSync(disk);
    execFileSync('truncate', ['-s', '4G', image]);
    execFileSync('mkfs.xfs', ['-q', image], { stdio: 'ignore' });
    execFileSync('mount', ['-o', 'loop', image, disk], { stdio: 'ignore' });
    return disk;
  } catch {
    console.log('      no XFS: it takes the rights of root, a loop device and mkfs.xfs (Debian: xfsprogs)');
    return undefined;
  }
}

try {
  const sizes = [1000, 10_000, ...(process.argv.includes('--100000') ? [99_000] : [])];
  const type = existsSync('/usr/bin/stat') ? execFileSync('stat', ['-f', '-c', '%T', base]).toString().trim() : 'disk';
  for (const files of sizes) await measure(base, type, files);
  const xfs = mountXfs();
  if (xfs)
    try {
      for (const files of sizes) await measure(xfs, 'xfs', files);
    } finally {
      execFileSync('umount', [xfs]);
    }
} finally {
  rmSync(base, { recursive: true, force: true });
}
