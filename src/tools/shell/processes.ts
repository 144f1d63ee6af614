import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { endTreeCommand } from '../core/programs.ts';
import { markerName } from './environment.ts';
import { hasAncestor, processTable } from './processTable.ts';

/** A process of a command. */
export interface CommandProcess {
  pid: number;
  name: string;
  group: number;
}

/** How long processes have to end by themselves once asked to, in milliseconds; after that they are killed. */
export const graceTime = 5000;

/**
 * What is still alive of a command: its process group, its descendants, and (Linux) what left both but still carries the
 * command's mark in its environment. Elsewhere only the group is known.
 */
export async function processesOf(leader: number, marker: string): Promise<CommandProcess[]> {
  if (process.platform !== 'linux')
    return groupIsAlive(leader) ? [{ pid: leader, name: 'command', group: leader }] : [];
  const all = await processTable();
  const own: CommandProcess[] = [];
  for (const { pid, name, group, parent } of all.values())
    if (group === leader || hasAncestor(all, parent, leader) || (await hasMarker(pid, marker)))
      own.push({ pid, name, group });
  return own;
}

/** Asks the process group of a command to end, and waits for nothing; on Windows it is ended with its children. */
export function askToEnd(leader: number): void {
  if (process.platform === 'win32') void endTree(leader);
  else sendSignal(-leader, 'SIGTERM');
}

/**
 * Ends the processes of a command, all or only its group: asks, and after the grace time (milliseconds) kills. Resolves to what
 * is still alive of the command then.
 */
export async function endProcesses(
  leader: number,
  marker: string,
  scope: 'all' | 'group',
  grace: () => number = () => graceTime,
): Promise<CommandProcess[]> {
  if (process.platform === 'win32') return endTree(leader);
  const asked = performance.now();
  const told = new Set<number>();
  let killed: number | undefined;
  const tell = (pid: number, signal: NodeJS.Signals) => {
    if (signal === 'SIGKILL' || !told.has(pid)) sendSignal(pid, signal);
    told.add(pid);
  };
  tell(-leader, 'SIGTERM');
  for (;;) {
    // A process may start another while it is being ended, so each round looks again.
    const alive = await processesOf(leader, marker);
    const wanted = scope === 'all' ? alive : alive.filter(({ group }) => group === leader);
    const waited = performance.now() - asked;
    // By the clock alone a machine that looks slowly would give up before it has killed anything.
    if (wanted.length === 0 || (killed !== undefined && waited - killed > 1000)) return alive;
    const signal = waited < grace() ? 'SIGTERM' : 'SIGKILL';
    if (signal === 'SIGKILL') killed ??= waited;
    for (const { pid, group } of wanted) tell(group === leader ? -leader : pid, signal);
    await sleep(waited < 500 ? 50 : 250); // looking at all processes takes its time, which others need
  }
}

function endTree(leader: number): Promise<CommandProcess[]> {
  return new Promise((resolve) => {
    const [program, ...args] = endTreeCommand(leader);
    const killer = spawn(program, args, { stdio: 'ignore', windowsHide: true });
    killer.once('close', () => resolve([])).once('error', () => resolve([]));
  });
}

export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it is gone, which is what was wanted
  }
}

function groupIsAlive(leader: number): boolean {
  try {
    return process.kill(-leader, 0);
  } catch {
    return false;
  }
}

/** It carries the command's mark in its environment. */
export async function hasMarker(pid: number, marker: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  return environment.includes(`${markerName}=${marker}\0`);
}

/** As people and models read it: `node (4711)`. */
export const processLabel = ({ pid, name }: Pick<CommandProcess, 'pid' | 'name'>): string => `${name} (${pid})`;
