import { relative } from 'node:path';
import type { ExceededLimit } from '../commandSandbox/commandLimits.ts';
import type { SandboxedCommand, SandboxReport } from '../commandSandbox/commandSandbox.ts';
import { deniedPaths } from '../commandSandbox/deniedPaths.ts';
import type { CommandExit, StartedCommand } from './spawnCommand.ts';

interface Confinement {
  /** The command; it has ended when its changes are kept. */
  started: StartedCommand;
  /** An error if the changes could not be kept; undefined if the command did not end by itself. Never rejects. */
  report: Promise<SandboxReport | Error | undefined>;
  /** Resolves when no change is being kept. */
  settled(): Promise<unknown>;
  /** Abandons the command, unless its changes are being kept or were kept; then returns false. */
  leave(): boolean;
}

/**
 * Keeps the changes of a sandboxed command when it ends by itself.
 * @param onEnd called when it has ended, before its changes are kept
 */
export function confine(
  command: StartedCommand,
  sandbox: SandboxedCommand,
  onEnd: () => void,
  signal: AbortSignal,
): Confinement {
  let keeping: Promise<SandboxReport> | undefined;
  let isAbandoned = false;
  let exceeded: ExceededLimit | undefined;
  const report = command.ended
    .then(async (end) => {
      if (end === 'flooded' || isAbandoned) return undefined;
      onEnd();
      exceeded = await sandbox.exceededLimit();
      if (exceeded || isAbandoned) return undefined;
      keeping = sandbox.keep(signal);
      return keeping;
    })
    .catch((error) => (error instanceof Error ? error : new Error(String(error))));
  const ended = Promise.all([command.ended, report]).then(([end]) =>
    exceeded && typeof end === 'object' ? { ...end, exceeded } : end,
  );
  ended.catch(() => {}); // waiting callers receive the rejection
  const abandon = () => {
    isAbandoned = true;
  };
  const leave = () => {
    if (keeping) return false;
    abandon();
    return true;
  };
  const settled = async () => keeping?.catch(() => undefined);
  return { started: { ...command, ended, abandon }, report, settled, leave };
}

/** Returns the paths (absolute) that a command could not write because of the sandbox. */
export const deniedWrites = (
  report: SandboxReport | Error | undefined,
  output: string,
  folder: string,
  { exitCode }: CommandExit,
): string[] =>
  !report || report instanceof Error || exitCode === 0 ? [] : deniedPaths(output, folder, report.isWritable);

/**
 * Returns what the model must know about the sandbox after a command. Undefined if nothing was blocked.
 * @param denied see `deniedWrites`; those below the folder of the command are shown relative to it
 */
export function sandboxNote(
  report: SandboxReport | Error | undefined,
  denied: readonly string[],
  folder: string,
): string | undefined {
  if (!report) return undefined;
  if (report instanceof Error) return `Nothing that it changed was kept, because of an error: ${report.message}`;
  const { blocked, discarded, conflicts, special, failed } = report;
  const hosts = blocked.map(({ host, port }) => `${host}:${port}`);
  const written = denied.map((path) => (path.startsWith(`${folder}/`) ? relative(folder, path) : path));
  const limits = [
    hosts.length > 0 && `no network access to ${hosts.join(', ')}`,
    written.length > 0 && `cannot write ${written.join(', ')}`,
  ].filter(Boolean);
  const notKept: [paths: readonly string[], reason: string][] = [
    [discarded, 'because they are protected'],
    [conflicts, 'because they changed meanwhile'],
    [failed, 'because of an error'],
    [special, 'because they are no files'],
  ];
  const notes = [
    ...(limits.length > 0 ? [`Sandbox: ${limits.join('; ')}. Ask with the reason in \`outside\`.`] : []),
    ...notKept.flatMap(([paths, reason]) => (paths.length > 0 ? [`Not kept, ${reason}: ${listed(paths)}.`] : [])),
  ];
  return notes.length > 0 ? notes.join(' ') : undefined;
}

const maxListed = 10;

const listed = (paths: readonly string[]): string =>
  paths.length > maxListed
    ? `${paths.slice(0, maxListed).join(', ')} and ${paths.length - maxListed} more`
    : paths.join(', ');
