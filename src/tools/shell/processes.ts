import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { processTreeTerminationCommand } from '../core/programs.ts';
import { commandMarkerVariable } from './environment.ts';
import { hasAncestorProcess, readProcessTable, readYoungerProcesses } from './processTable.ts';

export interface CommandProcess {
  pid: number;
  name: string;
  group: number;
}

export const processEndGraceMs = 5000;

/**
 * Returns the running processes of a command: the group, the descendants, and (Linux) processes with the marker in the environment. Other
 * systems report only the group.
 *
 * @param age milliseconds since the start of the command; with it, only the processes since then are read
 */
export async function findCommandProcesses(leader: number, marker: string, age?: number): Promise<CommandProcess[]> {
  if (process.platform !== 'linux')
    return groupIsAlive(leader) ? [{ pid: leader, name: 'command', group: leader }] : [];
  const all = await (age === undefined ? readProcessTable() : readYoungerProcesses(leader, age));
  const own: CommandProcess[] = [];
  for (const { pid, name, group, parent } of all.values())
    if (group === leader || hasAncestorProcess(all, parent, leader) || (await processHasMarker(pid, marker)))
      own.push({ pid, name, group });
  return own;
}

/** Asks the process group of a command to end, without waiting; on Windows, kills the whole process tree. */
export function requestProcessGroupEnd(leader: number): void {
  if (process.platform === 'win32') void endTree(leader);
  else sendSignal(-leader, 'SIGTERM');
}

/**
 * Ends the processes of a command, or only its group: asks, and kills after the grace time in milliseconds. Resolves to the survivors.
 *
 * @param age see `findCommandProcesses`
 */
export async function endCommandProcesses(
  leader: number,
  marker: string,
  scope: 'all' | 'group',
  { grace = () => processEndGraceMs, age }: { grace?(): number; age?: number } = {},
): Promise<CommandProcess[]> {
  if (process.platform === 'win32') return endTree(leader);
  const asked = performance.now();
  const signaled = new Set<number>();
  let killed: number | undefined;
  const signalOnce = (pid: number, signal: NodeJS.Signals) => {
    if (signal === 'SIGKILL' || !signaled.has(pid)) sendSignal(pid, signal);
    signaled.add(pid);
  };
  signalOnce(-leader, 'SIGTERM');
  for (;;) {
    // Each round looks again, because a dying process may start another.
    const alive = await findCommandProcesses(
      leader,
      marker,
      age === undefined ? undefined : age + performance.now() - asked,
    );
    const wanted = scope === 'all' ? alive : alive.filter(({ group }) => group === leader);
    const waited = performance.now() - asked;
    // A time limit alone would give up on a slow machine before the first kill.
    if (wanted.length === 0 || (killed !== undefined && waited - killed > 1000)) return alive;
    const signal = waited < grace() ? 'SIGTERM' : 'SIGKILL';
    if (signal === 'SIGKILL') killed ??= waited;
    for (const { pid, group } of wanted) signalOnce(group === leader ? -leader : pid, signal);
    await sleep(waited < 500 ? 50 : 250); // listing all processes is expensive
  }
}

function endTree(leader: number): Promise<CommandProcess[]> {
  return new Promise((resolve) => {
    const [program, ...args] = processTreeTerminationCommand(leader);
    const killer = spawn(program, args, { stdio: 'ignore', windowsHide: true });
    killer.once('close', () => resolve([])).once('error', () => resolve([]));
  });
}

export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // already gone
  }
}

function groupIsAlive(leader: number): boolean {
  try {
    return process.kill(-leader, 0);
  } catch {
    return false;
  }
}

export async function processHasMarker(pid: number, marker: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  return environment.includes(`${commandMarkerVariable}=${marker}\0`);
}

export const processLabel = ({ pid, name }: Pick<CommandProcess, 'pid' | 'name'>): string => `${name} (${pid})`;
