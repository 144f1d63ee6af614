// npm run bench -- snapshot [--100000]: what recording costs before and after a command, beside `lstat` of every file, `git stash create`
// and a copy of the folder, on the same trees in the same run. With --100000 also the largest folder that is recorded.
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { compareSnapshot } from '../../src/tools/snapshot/compareSnapshot.ts';
import { takeSnapshot } from '../../src/tools/snapshot/takeSnapshot.ts';
import { line } from './measure.ts';

const base = mkdtempSync(path.join(tmpdir(), 'towpath-bench-'));
const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-C', folder, ...author, ...args], { stdio: 'ignore' });

function makeRepository(files: number): string {
  const root = path.join(base, `files-${files}`);
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

try {
  const sizes = [1000, 10_000, ...(process.argv.includes('--100000') ? [99_000] : [])];
  for (const files of sizes) {
    const root = makeRepository(files);
    const store = path.join(base, 'store');
    const request = { id: 'one', store, folders: [root], budget: 200_000_000 };
    await takeSnapshot(request); // the first reads the sizes of all blobs
    await compareSnapshot({ id: 'one', store, pack: path.join(base, 'pack') });
    await new Promise((resolve) => setTimeout(resolve, 2100)); // no file is young any more
    const floor = await took(() => walk(root));
    const both = await took(async () => {
      await takeSnapshot(request);
      await compareSnapshot({ id: 'one', store, pack: path.join(base, 'pack') });
    });
    const stash = await took(() => git(root, 'stash', 'create'));
    const copy = await took(() => {
      const to = path.join(base, 'copy');
      execFileSync('cp', ['-r', '--reflink=auto', root, to]);
      rmSync(to, { recursive: true });
    });
    const ratio = both / floor;
    const values = {
      both: `${both.toFixed(0)} ms`,
      lstat: `${floor.toFixed(0)} ms`,
      'git stash create': `${stash.toFixed(0)} ms`,
      copy: `${copy.toFixed(0)} ms`,
    };
    // Small folders cost the start of Git, not the walk.
    const budget = files < 50_000 ? Math.max(2.5, 150 / floor) : 2.5;
    line(`before and after, ${files} files (× lstat)`, values, ratio, budget);
    rmSync(root, { recursive: true });
  }
} finally {
  rmSync(base, { recursive: true, force: true });
}
