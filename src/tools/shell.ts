import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { checkShowableCommand } from './gate/commands.ts';
import { resolvePath } from './gate/paths.ts';
import { quoted } from './gate/spelling.ts';
import { commandEnvironment } from './shell/environment.ts';
import { Cleaner, HeadAndTail } from './shell/output.ts';
import { type CommandProcess, endProcesses } from './shell/processes.ts';
import { askingTool, type ToolContext, ToolError } from './tool.ts';

const defaultTimeoutSeconds = 600;
/** A command that writes more than this is not going to end well. */
const maximumOutputBytes = 100 * 1024 * 1024;
/** Live output goes to the card at most this often, in milliseconds, and no more at once than a card shows. */
const outputInterval = 50;
const outputAtOnce = 20_000;

/**
 * `shell.run`: one command line in the workspace. Data: `{ exitCode, signal?, output, cut?, stillRunning? }`; an exit code other than 0 is
 * an answer, not a failure. Past its time `TOOL_TIMEOUT`, stopped `TOOL_INTERRUPTED`, both with the output in `details`.
 */
export const shellTool = askingTool(
  {
    name: 'shell.run',
    description: 'Run a shell command in the workspace. It gets no input.',
    arguments: {
      command: z.string().min(1),
      cwd: z.string().optional().describe('Folder, default the workspace'),
      timeoutSeconds: z.int().min(1).max(3600).optional().describe('Default 600'),
    },
  },
  'execute',
  async ({ command, cwd, timeoutSeconds = defaultTimeoutSeconds }, { workspace }) => {
    checkShowableCommand(command);
    if (command.trim() === '') throw new ToolError('TOOL_ARGS_INVALID', 'command: give a command.');
    const place = cwd ?? defaultFolder(workspace.roots);
    const folder = await resolvePath(workspace.roots, place, 'list');
    return {
      what: 'Run a command',
      where: folder.path,
      why: 'A command can do anything that you can do.',
      command,
      grant: cwd === undefined ? `shell.run ${command}` : `shell.run ${command} (in ${folder.relative})`,
      async run(context) {
        const now = await resolvePath(workspace.roots, place, 'list');
        if (now.path !== folder.path)
          throw new ToolError('E_PRECONDITION_FAILED', `${quoted(folder.relative)} is another folder than was shown.`);
        return runCommand(command, folder.path, timeoutSeconds * 1000, context);
      },
    };
  },
);

/** With several folders open a command runs in the first, as a new terminal would. */
const defaultFolder = (roots: readonly { name: string }[]) => (roots.length > 1 ? roots[0]!.name : '.');

async function runCommand(command: string, folder: string, timeout: number, { signal, output }: ToolContext) {
  const marker = randomUUID();
  const [shell, ...options] = shellCommand();
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(shell!, [...options, command], {
    cwd: folder,
    env: commandEnvironment(process.env, marker),
    stdio: ['ignore', 'pipe', 'pipe'], // never a pipe as input: bash takes a socket there for a remote shell, and reads profiles
    detached: process.platform !== 'win32', // a process group of its own, which can be ended as one
    windowsHide: true,
  });
  const kept = new HeadAndTail();
  const live = liveOutput(output);
  let bytes = 0;
  let tooMuch = () => {};
  const flooded = new Promise<'flooded'>((resolve) => {
    tooMuch = () => resolve('flooded');
  });
  const streams = [child.stdout, child.stderr].map((stream) => {
    const cleaner = new Cleaner();
    const take = (text: string) => {
      kept.add(text);
      live.add(text);
    };
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maximumOutputBytes) tooMuch();
      else take(cleaner.add(chunk));
    });
    return new Promise<void>((resolve) => {
      stream.once('close', () => {
        take(cleaner.end());
        resolve();
      });
    });
  });
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (exitCode, signalName) => resolve({ exitCode, signal: signalName }));
  });
  const ending = new AbortController();
  const timedOut = sleep(timeout, 'timeout' as const, { signal: ending.signal }).catch(() => 'timeout' as const);
  const stopped = new Promise<'stopped'>((resolve) => {
    const stop = () => resolve('stopped');
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true, signal: ending.signal });
  });
  try {
    const end = await Promise.race([exited, timedOut, stopped, flooded]);
    if (typeof end === 'string') return await cutShort(end);
    // What it left in its group ends with it; what made itself independent, a daemon, stays and is named.
    const left = await endProcesses(child.pid!, marker, 'group');
    await Promise.race([Promise.all(streams), sleep(100)]);
    return {
      exitCode: end.exitCode,
      ...(end.signal && { signal: end.signal }),
      ...kept.result(),
      ...(left.length > 0 && { stillRunning: left.map(named) }),
    };
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw new ToolError(
      'TOOL_EXEC_FAILED',
      `The shell could not be started (${(error as NodeJS.ErrnoException).code}).`,
    );
  } finally {
    ending.abort();
    live.end();
    child.stdout.destroy();
    child.stderr.destroy();
    child.unref();
  }

  async function cutShort(end: 'timeout' | 'stopped' | 'flooded'): Promise<never> {
    const ended = endProcesses(child.pid!, marker, 'all');
    // A stop is answered at once; what has not ended by then is killed in the background.
    const survivors = await (end === 'stopped' ? Promise.race([ended, sleep(50, [])]) : ended);
    const details = { ...kept.result(), ...(survivors.length > 0 && { stillRunning: survivors.map(named) }) };
    if (end === 'stopped')
      throw new ToolError(
        'TOOL_INTERRUPTED',
        'Stopped while it ran; the command was ended with its children.',
        details,
      );
    if (end === 'flooded')
      throw new ToolError(
        'TOOL_EXEC_FAILED',
        'It wrote more than 100 MiB and was ended. Write less, or to a file.',
        details,
      );
    const message = `It did not end within ${timeout / 1000} s and was ended with its children.`;
    throw new ToolError('TOOL_TIMEOUT', `${message} Give a longer timeoutSeconds, or run less.`, details);
  }
}

interface Exit {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
}

const named = ({ pid, name }: CommandProcess) => `${name} (${pid})`;

/** Without profiles: they are the person's, may print, ask or start things. */
function shellCommand(): string[] {
  if (process.platform === 'win32') return ['powershell.exe', '-NoLogo', '-NoProfile', '-NonInteractive', '-Command'];
  const bash = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash', '/run/current-system/sw/bin/bash'].find(
    existsSync,
  );
  return bash ? [bash, '--norc', '--noprofile', '-c'] : ['/bin/sh', '-c'];
}

/** Gathers what arrives within an interval, and of a flood only the newest. */
function liveOutput(output: (text: string) => void) {
  let waiting = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting !== '') output(waiting);
    waiting = '';
  };
  return {
    add(text: string) {
      waiting = (waiting + text).slice(-outputAtOnce);
      timer ??= setTimeout(flush, outputInterval);
    },
    end: flush,
  };
}
