import { type StdioOptions, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { projectRoot } from './editor/project.ts';

const parentWatch = path.join(import.meta.dirname, 'editor', 'parent-watch.cjs');

/** A command line of Node that runs `script` (TypeScript too) and ends when the process that started it does. */
export function node(...scriptAndArguments: string[]): string[] {
  return ['--import', 'tsx', '--require', parentWatch, ...scriptAndArguments];
}

/** The script behind the command `name` of an installed package. */
export function binary(packageName: string, name = packageName): string {
  const require = createRequire(path.join(projectRoot, 'package.json'));
  const manifest = require.resolve(`${packageName}/package.json`);
  const { bin } = require(manifest);
  return path.join(path.dirname(manifest), typeof bin === 'string' ? bin : bin[name]);
}

export interface CommandOptions {
  /** Aborting it ends the command. */
  signal?: AbortSignal;
  /** Beside our own environment. */
  env?: Record<string, string>;
  /** The file that its output goes to, as a descriptor; ours when not given. */
  output?: number;
}

/** Runs Node in the project's folder without input. Code 1 also stands for a signal. */
export function runCommand(
  args: string[],
  { signal, env: added, output }: CommandOptions = {},
): Promise<{ code: number }> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, ...added };
    const stdio: StdioOptions = ['ignore', output ?? 'inherit', output ?? 'inherit'];
    const child = spawn(process.execPath, args, { cwd: projectRoot, env, stdio });
    const end = () => {
      child.kill();
      setTimeout(() => child.kill('SIGKILL'), 20_000).unref(); // it had its time to tidy up
    };
    if (signal?.aborted) end();
    signal?.addEventListener('abort', end);
    child.once('error', reject);
    child.once('exit', (code) => {
      signal?.removeEventListener('abort', end);
      resolve({ code: code ?? 1 });
    });
  });
}
