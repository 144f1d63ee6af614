import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { heldProgram } from '../commandInput/heldProgram.ts';
import { type CommandTerminal, takeTerminal } from '../commandInput/terminal.ts';
import type { ExceededLimit } from '../commandSandbox/commandLimits.ts';
import type { SandboxedCommand } from '../commandSandbox/commandSandbox.ts';
import { shellLaunchArguments } from '../core/programs.ts';
import { ToolError } from '../core/tool.ts';
import { gitSafetySettings } from './bareRepositories.ts';
import { commandEnvironment } from './environment.ts';
import { CommandOutput, TerminalOutputCleaner } from './output.ts';
import { TerminalLine } from './terminalLine.ts';

// Maximum bytes of output; above, the command is ended.
const maximumOutputBytes = 100 * 1024 * 1024;

export interface CommandExit {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  /** Limit of the sandbox because of which it was ended. */
  exceeded?: ExceededLimit;
}

/**
 * Command line with a process. The owner must end the command or wait for the end, and then release the command. `pid` is undefined after a
 * failed start; `startedAt` is in epoch milliseconds; `output` is the cleaned output so far.
 */
export interface StartedCommand {
  readonly startedAt: number;
  readonly pid: number | undefined;
  readonly marker: string;
  readonly output: CommandOutput;
  /** Resolves at the end, or on too much output. Rejects with `TOOL_EXEC_FAILED` if the start failed. */
  readonly ended: Promise<CommandExit | 'flooded'>;
  /** Resolves at the end of output, or after a number of milliseconds. */
  waitForOutput(atMost: number): Promise<unknown>;
  listen(listener: (text: string) => void): void;
  letGo(): void;
  /** Input of the command; absent if it is empty. */
  readonly terminal?: CommandTerminal;
  /** Ends the line of the output, as an answer in a terminal does. */
  endLine(): void;
  /** The caller ends the command: in a sandbox, its changes are not kept. */
  abandon(): void;
}

/**
 * @param sandbox confines the command; absent, it runs with the permissions of the editor
 * @param takesInput gives a command outside of a sandbox a terminal as its input, if there is one
 */
export async function startCommand(
  line: string,
  folder: string,
  marker: string,
  sandbox?: SandboxedCommand,
  takesInput = false,
): Promise<StartedCommand> {
  const git = await gitSafetySettings();
  const argv = [...shellLaunchArguments(), line];
  const env = {
    ...commandEnvironment(process.env, marker, sandbox ? [...git, ...noGarbageCollection] : git),
    ...sandbox?.environment,
  };
  const terminal = sandbox ? sandbox.terminal : takesInput ? await takeTerminal() : undefined;
  const child = sandbox ? sandbox.spawn(argv, env) : spawnShell(argv, folder, env, terminal);
  const output = new CommandOutput();
  const listeners: ((text: string) => void)[] = [];
  let tooMuch = () => {};
  const flooded = new Promise<'flooded'>((resolve) => {
    tooMuch = () => resolve('flooded');
  });
  let bytes = 0;
  const terminalLine = new TerminalLine();
  const take = (text: string) => {
    if (text === '') return;
    output.add(text);
    for (const listener of listeners) listener(text);
  };
  const streams = [child.stdout, child.stderr].map((stream) => {
    const cleaner = new TerminalOutputCleaner(terminalLine);
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
  const exited = new Promise<CommandExit>((resolve, reject) => {
    child.once('error', ({ code }: NodeJS.ErrnoException) =>
      reject(new ToolError('TOOL_EXEC_FAILED', `The shell could not be started (${code}).`)),
    );
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
  });
  const ended = Promise.race([exited, flooded]);
  ended.catch(() => {}); // waiting callers receive the rejection
  return {
    startedAt: Date.now(),
    pid: child.pid,
    marker,
    output,
    ended,
    waitForOutput: (atMost) => Promise.race([Promise.all(streams), sleep(atMost)]),
    listen: (listener) => void listeners.push(listener),
    abandon() {},
    ...(terminal && { terminal }),
    endLine: () => take(terminalLine.write('\n')),
    letGo() {
      terminal?.close();
      child.stdout.destroy();
      child.stderr.destroy();
      child.unref();
    },
  };
}

/** The user is asked before objects of a repository are removed: Git does not collect them by itself in a sandbox. */
const noGarbageCollection: readonly [string, string][] = [
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
];

function spawnShell(
  [program, ...args]: readonly string[],
  folder: string,
  env: NodeJS.ProcessEnv,
  terminal: CommandTerminal | undefined,
): ChildProcessByStdio<null, Readable, Readable> {
  const [started, ...rest] = terminal ? heldProgram([program!, ...args]) : [program!, ...args];
  const child = spawn(started!, rest, {
    cwd: folder,
    env,
    // Never a pipe as input: bash treats a socket as a remote shell and reads profiles.
    stdio: [terminal?.descriptor ?? 'ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32', // own process group, to be ended together
    windowsHide: true,
  });
  terminal?.started();
  return child as ChildProcessByStdio<null, Readable, Readable>;
}

export const formatCommandExit = ({ exitCode, signal, exceeded }: CommandExit): string =>
  exceeded?.message ?? (signal ? `Ended by ${signal}.` : `Exit code ${exitCode}.`);
