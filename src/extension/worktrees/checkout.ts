import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { isolatedGit } from '../../tools/core/isolatedGit.ts';
import { parseGitStatus } from './gitOutput.ts';

/** State of a folder that Git has checked out. Files are relative to `topLevel`. */
interface Checkout {
  topLevel: string;
  /** Git's own folder of this checkout. */
  gitFolder: string;
  /** Full name of the branch (`refs/heads/…`); undefined for a detached HEAD. */
  branch?: string;
  changed: readonly string[];
  conflicts: readonly string[];
  untracked: readonly string[];
  /** Folders end with a slash. */
  ignored: readonly string[];
  /** Files in Git's folder that belong to unfinished work, such as `rebase-merge`. */
  unfinished: readonly string[];
}

/** Files in Git's folder of a checkout that exist during an operation or while a process of Git works. */
const operationFiles = [
  ...['rebase-merge', 'rebase-apply', 'sequencer', 'BISECT_LOG', 'index.lock', 'HEAD.lock'],
  ...['MERGE_HEAD', 'MERGE_AUTOSTASH', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'NOTES_MERGE_PARTIAL'],
];
const statusOptions = ['--untracked-files=all', '--ignored=matching', '--ignore-submodules=none'];
const maxOutputBytes = 256 * 1024 * 1024;

/** Reads the state of a checkout without writing to it. Undefined if Git fails or reports anything unknown. */
export async function readCheckout(folder: string): Promise<Checkout | undefined> {
  try {
    const [topLevel, gitFolder] = await readGitLines(folder, 'rev-parse', '--show-toplevel', '--absolute-git-dir');
    const output = await readGitOutput(folder, 'status', '--porcelain=v2', '-z', '--branch', ...statusOptions);
    const status = parseGitStatus(output);
    if (topLevel === undefined || gitFolder === undefined || !status) return undefined;
    const { branch, ...files } = status;
    const unfinished = operationFiles.filter((name) => existsSync(path.join(gitFolder, name)));
    return {
      topLevel,
      gitFolder,
      ...files,
      unfinished,
      ...(branch !== undefined && { branch: `refs/heads/${branch}` }),
    };
  } catch {
    return undefined;
  }
}

export async function readGitLines(folder: string, ...args: string[]): Promise<string[]> {
  return (await readGitOutput(folder, ...args)).split('\n').filter(Boolean);
}

/**
 * Runs a command of Git that prints files with `-z`; exit code 1 stands for none. Throws the error of the process.
 * @param input files for the standard input
 */
export async function readGitFiles(
  folder: string,
  args: readonly string[],
  input: readonly string[] = [],
): Promise<string[]> {
  const call = isolatedGit(folder, args);
  const running = promisify(execFile)(call.program, call.args, { ...call.options, maxBuffer: maxOutputBytes });
  running.child.stdin?.on('error', () => {}); // the exit code reports a process that reads no more
  running.child.stdin?.end(input.map((file) => `${file}\0`).join(''));
  const output = await running.catch((error) => {
    if (error.code === 1) return { stdout: '' };
    throw error;
  });
  return output.stdout.split('\0').filter(Boolean);
}

/** Runs a command of Git without hooks, locks and transports. Throws the error of the process. */
export async function readGitOutput(folder: string, ...args: string[]): Promise<string> {
  const call = isolatedGit(folder, args);
  return (await promisify(execFile)(call.program, call.args, { ...call.options, maxBuffer: maxOutputBytes })).stdout;
}
