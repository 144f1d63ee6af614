import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as paths from 'node:path';
import type { ReadOnlyLine } from '../gate/readOnly.ts';
import { programFolders } from '../gate/readOnlyPrograms.ts';
import type { Step, Steps } from '../gate/step.ts';

export interface VectorRun {
  /** What the last program gave; 127 for one that is not there. */
  exitCode: number;
  /** The signal ended it. */
  stopped: boolean;
}

/** Nothing of a person's environment: what a program is told to do stands in its words alone. */
const environment = { PATH: programFolders.join(':'), LANG: 'C.UTF-8', TERM: 'dumb', NO_COLOR: '1' };

/**
 * Runs a checked command line: its words and nothing else, without a shell, standard input closed. Output comes as it is
 * written, errors among it. When the signal fires, what runs is killed.
 */
export async function runVectors(
  { pipelines }: ReadOnlyLine,
  onData: (chunk: Buffer) => void,
  signal: AbortSignal,
  /** Where to look for ripgrep when the system has none. */
  ripgrep?: string,
): Promise<VectorRun> {
  let exitCode = 0;
  for (const pipeline of pipelines) {
    if (signal.aborted) break;
    if (pipeline.operator === '&&' && exitCode !== 0) continue;
    if (pipeline.operator === '||' && exitCode === 0) continue;
    exitCode = await runPipeline(pipeline, onData, signal, ripgrep);
  }
  return { exitCode, stopped: signal.aborted };
}

async function runPipeline(
  { commands }: Steps,
  onData: (chunk: Buffer) => void,
  signal: AbortSignal,
  ripgrep: string | undefined,
): Promise<number> {
  /** Gives what the program before writes to the next one; without one it is told that nobody reads. */
  let before: ((next: ChildProcess | undefined) => void) | undefined;
  const codes: Promise<number>[] = [];
  for (const [index, command] of commands.entries()) {
    const last = index === commands.length - 1;
    const child = start(command, before !== undefined, ripgrep);
    if (!child) {
      onData(Buffer.from(`${command.words[0]}: not found\n`));
      before?.(undefined);
      before = (next) => next?.stdin?.end();
      codes.push(Promise.resolve(127));
      continue;
    }
    const kill = () => child.kill('SIGKILL');
    signal.addEventListener('abort', kill, { once: true });
    codes.push(ended(child).finally(() => signal.removeEventListener('abort', kill)));
    before?.(child);
    if (last) child.stdout?.on('data', onData);
    if (last || command.stderr === 'err') child.stderr?.on('data', onData);
    before = last ? undefined : (next) => connect(child, command, next);
  }
  return (await Promise.all(codes)).at(-1)!;
}

function start(command: Step, piped: boolean, ripgrep: string | undefined) {
  const [spelled, ...args] = command.words;
  const name = paths.posix.basename(spelled!);
  const places = programFolders.map((place) => paths.posix.join(place, name));
  const program = places.find((place) => existsSync(place)) ?? (name === 'rg' ? ripgrep : undefined);
  if (!program) return undefined;
  return spawn(program, args, {
    cwd: command.folder,
    env: environment,
    stdio: [
      piped ? 'pipe' : 'ignore',
      command.stdout === 'null' ? 'ignore' : 'pipe',
      command.stderr === 'null' ? 'ignore' : 'pipe',
    ],
  });
}

/**
 * What one writes the next reads. When that has enough, the one before is ended by what it writes then, as by a shell's pipe: Node's are
 * sockets, of which it would be told as of a fault when they are closed, and say so.
 */
function connect(child: ChildProcess, command: Step, next: ChildProcess | undefined): void {
  const streams = [child.stdout, command.stderr === 'out' ? child.stderr : null].filter((stream) => stream !== null);
  const leave = () => {
    child.kill(); // by a signal that there is everywhere, and after which it can tidy up
    for (const stream of streams) stream.destroy();
  };
  if (!next) {
    leave();
    return;
  }
  for (const stream of streams) stream.pipe(next.stdin!, { end: false });
  child.once('close', () => next.stdin!.end());
  next.stdin!.on('error', leave);
  next.once('exit', () => {
    for (const stream of streams) stream.unpipe().once('data', leave).resume();
  });
}

function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(127));
    child.once('close', (code) => resolve(code ?? 128));
  });
}
