import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as paths from 'node:path';
import { onAbort } from '../../protocol/values/abort.ts';
import type { CommandPipeline, ResolvedProgramInvocation } from '../commands/commandStep.ts';
import type { ReadOnlyCommandLine } from '../commands/readOnly.ts';
import { systemProgramFolders } from '../commands/readOnlyPrograms.ts';
import { ToolError } from '../core/tool.ts';
import { fileContainsSecretsSync } from '../sandbox/secretContent.ts';

interface VectorRun {
  exitCode: number;
  stopped: boolean;
}

// Minimal environment without the user's variables: only arguments control the programs.
const environment = { PATH: systemProgramFolders.join(':'), LANG: 'C.UTF-8', TERM: 'dumb', NO_COLOR: '1' };

/**
 * Runs a checked command line as argument vectors without a shell, with closed standard input. Output and errors arrive in order. An abort
 * kills all processes.
 */
export async function runArgvPipeline(
  { pipelines }: ReadOnlyCommandLine,
  onData: (chunk: Buffer) => void,
  signal: AbortSignal,
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
  { commands }: CommandPipeline,
  onData: (chunk: Buffer) => void,
  signal: AbortSignal,
  ripgrep: string | undefined,
): Promise<number> {
  /** Connects the previous program's output to the next; undefined closes its output. */
  let before: ((next: ChildProcess | undefined) => void) | undefined;
  const codes: Promise<number>[] = [];
  const free = await Promise.all(commands.map((command) => withoutSecretFiles(command, ripgrep, signal)));
  if (signal.aborted) return 128;
  for (const [index, command] of free.entries()) {
    const last = index === commands.length - 1;
    const child = start(command, before !== undefined, ripgrep);
    if (!child) {
      onData(Buffer.from(`${command.words[0]}: not found\n`));
      before?.(undefined);
      before = (next) => next?.stdin?.end();
      codes.push(Promise.resolve(127));
      continue;
    }
    const stopListening = onAbort(signal, () => child.kill('SIGKILL'));
    codes.push(ended(child).finally(stopListening));
    before?.(child);
    if (last) child.stdout?.on('data', onData);
    if (last || command.stderr === 'err') child.stderr?.on('data', onData);
    before = last ? undefined : (next) => connect(child, command, next);
  }
  return (await Promise.all(codes)).at(-1)!;
}

// Maximum bytes of file names from a search.
const maxNames = 4 * 1024 * 1024;

/**
 * Repeats a search without files that contain secrets: a first run returns the names of matching files. Above the limit of names, the
 * second run is omitted.
 */
async function withoutSecretFiles(
  command: ResolvedProgramInvocation,
  ripgrep: string | undefined,
  signal: AbortSignal,
): Promise<ResolvedProgramInvocation> {
  const [spelled, ...args] = command.words;
  const isRipgrep = paths.posix.basename(spelled!) === 'rg';
  const program = command.searches && !signal.aborted ? programFor(spelled!, ripgrep) : undefined;
  if (!program || args.includes('--files')) return command;
  const names = isRipgrep ? ['--files-with-matches', '--null'] : ['-l', '-Z'];
  const found = await outputOf(program, withOptions(args, names), command.folder, signal);
  if (found === undefined)
    throw new ToolError('TOOL_EXEC_FAILED', 'It finds more files than can be looked through for secrets. Search less.');
  const secret = found
    .split('\0')
    .filter((name) => name !== '' && fileContainsSecretsSync(paths.resolve(command.folder, name)));
  const excluded = secret.map((name) => {
    const path = paths.relative(command.folder, paths.resolve(command.folder, name));
    const [plain, last] = [path, paths.basename(path)].map((one) => one.replace(/[\\*?[\]{}!]/g, '\\$&'));
    return isRipgrep ? `--glob=!${path.startsWith('..') ? last : `/${plain}`}` : `--exclude=${last}`;
  });
  return { ...command, words: [spelled!, ...withOptions(args, excluded)] };
}

async function outputOf(program: string, args: string[], folder: string, signal: AbortSignal) {
  const child = spawn(program, args, { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'ignore'] });
  const kill = () => child.kill('SIGKILL');
  const stopListening = onAbort(signal, kill);
  const chunks: Buffer[] = [];
  let bytes = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxNames) kill();
    else chunks.push(chunk);
  });
  await ended(child).finally(stopListening);
  return bytes > maxNames ? undefined : Buffer.concat(chunks).toString('utf8');
}

function withOptions(args: readonly string[], options: readonly string[]): string[] {
  const end = args.indexOf('--');
  return end < 0 ? [...args, ...options] : [...args.slice(0, end), ...options, ...args.slice(end)];
}

function programFor(spelled: string, ripgrep: string | undefined): string | undefined {
  const name = paths.posix.basename(spelled);
  const candidates = systemProgramFolders.map((folder) => paths.posix.join(folder, name));
  return candidates.find((candidate) => existsSync(candidate)) ?? (name === 'rg' ? ripgrep : undefined);
}

function start(command: ResolvedProgramInvocation, piped: boolean, ripgrep: string | undefined) {
  const [spelled, ...args] = command.words;
  const program = programFor(spelled!, ripgrep);
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
 * Connects two programs. When the reader exits, the writer is killed at the next write, as SIGPIPE would; Node's pipes are sockets, and
 * closing a socket would make the writer report an error.
 */
function connect(child: ChildProcess, command: ResolvedProgramInvocation, next: ChildProcess | undefined): void {
  const streams = [child.stdout, command.stderr === 'out' ? child.stderr : null].filter((stream) => stream !== null);
  const leave = () => {
    child.kill(); // a portable signal that allows a cleanup
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
