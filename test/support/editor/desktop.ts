import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { downloadAndUnzipVSCode, SilentReporter } from '@vscode/test-electron';
import { projectRoot } from './project.ts';

export type Desktop = { executable: string } | { missing: string };

/**
 * Desktop VS Code from `.vscode-test/`, downloaded on first use, or the reason why it cannot be had here. Offline the answer
 * comes at once. `TOWPATH_TEST_EDITOR=server` says not to try, `desktop` not to do without.
 */
export async function findDesktop(): Promise<Desktop> {
  const wanted = process.env.TOWPATH_TEST_EDITOR;
  if (wanted === 'server') return { missing: 'TOWPATH_TEST_EDITOR says server' };
  if (!hasDisplay()) {
    if (wanted === 'desktop') throw new Error('Desktop VS Code needs a display; without one, use xvfb-run -a.');
    return { missing: 'there is no display' };
  }
  try {
    const executable = await downloadAndUnzipVSCode({
      cachePath: path.join(projectRoot, '.vscode-test'),
      reporter: new SilentReporter(),
      timeout: 10_000,
    });
    return { executable };
  } catch (error) {
    if (wanted === 'desktop') throw error;
    return { missing: `it cannot be downloaded (${error instanceof Error ? error.message : error})` };
  }
}

function hasDisplay(): boolean {
  return process.platform !== 'linux' || Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY);
}

/** The person's own VS Code where `code` is on the path, else `findDesktop`. */
export async function findOwnDesktop(): Promise<Desktop> {
  // In a terminal of a remote window `code` only talks to the window it belongs to.
  const isRemote = process.env.VSCODE_IPC_HOOK_CLI !== undefined;
  const isWanted = process.env.TOWPATH_TEST_EDITOR !== 'server' && hasDisplay() && !isRemote;
  const name = process.platform === 'win32' ? 'code.cmd' : 'code';
  const own = (process.env.PATH ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, name))
    .find((file) => existsSync(file));
  return isWanted && own ? { executable: own } : findDesktop();
}

/**
 * Opens a window with the extension under development and nothing of the person's own settings or extensions. `home` keeps
 * its data. `closed` settles when the window is; `stop` closes it.
 */
export function openDesktop(
  executable: string,
  options: { folder: string; home: string },
): { closed: Promise<void>; stop(): void } {
  const userDataDir = path.join(options.home, 'user-data');
  const child = spawn(
    executable,
    [
      '--new-window',
      '--wait',
      `--extensionDevelopmentPath=${projectRoot}`,
      `--user-data-dir=${userDataDir}`,
      `--extensions-dir=${path.join(options.home, 'extensions')}`,
      '--disable-workspace-trust',
      '--skip-welcome',
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      options.folder,
    ],
    { stdio: 'ignore', shell: process.platform === 'win32' },
  );
  return {
    closed: new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', () => resolve());
    }),
    stop: () => stopDesktop(child, userDataDir),
  };
}

/** `code` is a small program that starts the real one apart from itself; the real one's process id is in its lock file. */
function stopDesktop(child: ChildProcess, userDataDir: string): void {
  try {
    process.kill(Number(readFileSync(path.join(userDataDir, 'code.lock'), 'utf8')));
  } catch {} // closed already
  child.kill();
}
