import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { keptText } from '../keptText.ts';
import { type ToolContext, ToolError } from '../tool.ts';
import { gitSafety, whyRefused } from './bareRepositories.ts';
import { commandEnvironment } from './environment.ts';
import { identityOf } from './left.ts';
import { type CommandMirror, liveOutput } from './live.ts';
import { Cleaner, CommandOutput } from './output.ts';
import { askToEnd, type CommandProcess, endProcesses } from './processes.ts';

/** A command that writes more than this is not going to end well. */
const maximumOutputBytes = 100 * 1024 * 1024;
/** Milliseconds that a stop gives a command to end, and then the disk to keep what it wrote. */
const stopPatience = 20;

/**
 * Runs a command line to its end, its time limit (in milliseconds) or the stop, whatever comes first; then nothing of it is
 * left, or what is left is named. Data and errors as `shell.run` gives them.
 */
export async function runCommand(
  command: string,
  folder: string,
  timeout: number,
  context: ToolContext,
  mirror?: CommandMirror,
  marker: string = randomUUID(),
) {
  const git = await gitSafety();
  const [shell, ...options] = shellCommand();
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(shell!, [...options, command], {
    cwd: folder,
    env: commandEnvironment(process.env, marker, git),
    stdio: ['ignore', 'pipe', 'pipe'], // never a pipe as input: bash takes a socket there for a remote shell, and reads profiles
    detached: process.platform !== 'win32', // a process group of its own, which can be ended as one
    windowsHide: true,
  });
  const kept = new CommandOutput();
  const live = liveOutput((text) => {
    context.output(text);
    mirror?.write(text);
  });
  let tooMuch = () => {};
  const flooded = new Promise<'flooded'>((resolve) => {
    tooMuch = () => resolve('flooded');
  });
  let bytes = 0;
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
  const { signal } = context;
  const stopped = new Promise<'stopped'>((resolve) => {
    const stop = () => resolve('stopped');
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true, signal: ending.signal });
  });
  let how = 'It could not be started.';
  const tellOfIt = async () => {
    const identity = child.pid === undefined ? undefined : await identityOf(child.pid);
    if (identity && !ending.signal.aborted) context.commandStarted(identity);
  };
  tellOfIt().catch(() => {}); // its mark is known already
  try {
    const end = await Promise.race([exited, timedOut, stopped, flooded]);
    how = inWords(end);
    if (typeof end === 'string') return await cutShort(end);
    // What it left in its group ends with it; what made itself independent, a daemon, stays and is named.
    const left = await endProcesses(child.pid!, marker, 'group');
    await Promise.race([Promise.all(streams), sleep(100)]);
    return { exitCode: end.exitCode, ...(end.signal && { signal: end.signal }), ...(await result(left)) };
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw new ToolError(
      'TOOL_EXEC_FAILED',
      `The shell could not be started (${(error as NodeJS.ErrnoException).code}).`,
    );
  } finally {
    ending.abort();
    live.end();
    mirror?.end(how);
    child.stdout.destroy();
    child.stderr.destroy();
    child.unref();
  }

  async function result(left: CommandProcess[], keeping: Pick<ToolContext, 'keepOutput'> = context) {
    const told = await keptText(kept.text(), kept.dropped, 'output', keeping);
    const why = whyRefused(told.output);
    return { ...told, ...(why && { note: why }), ...(left.length > 0 && { stillRunning: left.map(named) }) };
  }

  /** Answered at once; what has not ended by then is looked for and killed in the background. */
  async function stoppedResult() {
    askToEnd(child.pid!);
    await Promise.race([Promise.all([exited, ...streams]), sleep(stopPatience)]);
    const late = () => Promise.reject(new Error('The disk is slow.'));
    const details = await result([], {
      keepOutput: (text) => Promise.race([context.keepOutput(text), sleep(stopPatience).then(late)]),
    });
    endProcesses(child.pid!, marker, 'all').catch(() => {}); // by their mark, where they have left their parents
    return details;
  }

  async function cutShort(end: 'timeout' | 'stopped' | 'flooded'): Promise<never> {
    const details = await (end === 'stopped' ? stoppedResult() : result(await endProcesses(child.pid!, marker, 'all')));
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

function inWords(end: Exit | 'timeout' | 'stopped' | 'flooded'): string {
  if (end === 'timeout') return 'Ended: its time was over.';
  if (end === 'stopped') return 'Stopped.';
  if (end === 'flooded') return 'Ended: it wrote too much.';
  return end.signal ? `Ended by ${end.signal}.` : `Exit code ${end.exitCode}.`;
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
