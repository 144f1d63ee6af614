import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { shellCommand } from '../core/programs.ts';
import { ToolError } from '../core/tool.ts';
import { gitSafety } from './bareRepositories.ts';
import { commandEnvironment } from './environment.ts';
import { Cleaner, CommandOutput } from './output.ts';
import { TerminalLine } from './terminalLine.ts';

/** A command that writes more than this is not going to end well. */
const maximumOutputBytes = 100 * 1024 * 1024;

/** How the first process of a command ended. */
export interface Exit {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
}

/** A command line that has a process. Whoever has it ends it, or waits for its end, and lets go of it then. */
export interface StartedCommand {
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Undefined where it could not be started. */
  readonly pid: number | undefined;
  /** By which its processes are found. */
  readonly marker: string;
  /** What it has written so far, clean, its beginning and its end. */
  readonly kept: CommandOutput;
  /** Resolves at its own end, or when it has written too much. Rejects with `TOOL_EXEC_FAILED` when it could not be started. */
  readonly ended: Promise<Exit | 'flooded'>;
  /** Resolves when nothing more comes, or after so many milliseconds. */
  heard(atMost: number): Promise<unknown>;
  /** Calls `hear` with each further piece, as `lineUpdates` describes it. */
  listen(hear: (text: string) => void): void;
  letGo(): void;
}

/** Starts a command line in a folder, without input, in a process group of its own. */
export async function startCommand(line: string, folder: string, marker: string): Promise<StartedCommand> {
  const git = await gitSafety();
  const [shell, ...options] = shellCommand();
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(shell!, [...options, line], {
    cwd: folder,
    env: commandEnvironment(process.env, marker, git),
    stdio: ['ignore', 'pipe', 'pipe'], // never a pipe as input: bash takes a socket there for a remote shell, and reads profiles
    detached: process.platform !== 'win32', // a process group of its own, which can be ended as one
    windowsHide: true,
  });
  const kept = new CommandOutput();
  const hearers: ((text: string) => void)[] = [];
  let tooMuch = () => {};
  const flooded = new Promise<'flooded'>((resolve) => {
    tooMuch = () => resolve('flooded');
  });
  let bytes = 0;
  const terminalLine = new TerminalLine();
  const streams = [child.stdout, child.stderr].map((stream) => {
    const cleaner = new Cleaner(terminalLine);
    const take = (text: string) => {
      if (text === '') return;
      kept.add(text);
      for (const hear of hearers) hear(text);
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
    child.once('error', ({ code }: NodeJS.ErrnoException) =>
      reject(new ToolError('TOOL_EXEC_FAILED', `The shell could not be started (${code}).`)),
    );
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
  });
  const ended = Promise.race([exited, flooded]);
  ended.catch(() => {}); // who waits for it hears of it
  return {
    startedAt: Date.now(),
    pid: child.pid,
    marker,
    kept,
    ended,
    heard: (atMost) => Promise.race([Promise.all(streams), sleep(atMost)]),
    listen: (hear) => void hearers.push(hear),
    letGo() {
      child.stdout.destroy();
      child.stderr.destroy();
      child.unref();
    },
  };
}

export const exitText = ({ exitCode, signal }: Exit): string =>
  signal ? `Ended by ${signal}.` : `Exit code ${exitCode}.`;
