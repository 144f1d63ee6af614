import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const person = ['-c', 'user.name=t', '-c', 'user.email=t@t'];

/** Runs Git in a folder, and returns its output without the last line break. */
export const gitIn = (folder: string, ...args: string[]): string =>
  execFileSync('git', [...person, ...args], { cwd: folder, encoding: 'utf8', stdio: 'pipe' }).trimEnd();

export function put(folder: string, file: string, text: string): void {
  mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
  writeFileSync(path.join(folder, file), text);
}

export function commit(folder: string, file: string, text: string): string {
  put(folder, file, text);
  gitIn(folder, 'add', '--', file);
  gitIn(folder, 'commit', '-qm', `Change ${file}`);
  return gitIn(folder, 'rev-parse', 'HEAD');
}

/** A repository `canal` with a file and a worktree `canal-open` on the branch `towpath/open`, in a temporary folder. */
export function newWorktree(): { beside: string; root: string; folder: string } {
  const beside = realpathSync(mkdtempSync(path.join(tmpdir(), 'worktree-')));
  const [root, folder] = [path.join(beside, 'canal'), path.join(beside, 'canal-open')];
  mkdirSync(root);
  gitIn(root, 'init', '-q', '-b', 'main');
  put(root, '.gitignore', '.env\nnode_modules/\nlocal/\n*.log\n');
  put(root, 'gate.txt', 'shut\n');
  gitIn(root, 'add', '.');
  gitIn(root, 'commit', '-qm', 'Shut the gate');
  gitIn(root, 'worktree', 'add', '-q', '-b', 'towpath/open', folder);
  return { beside, root, folder };
}
