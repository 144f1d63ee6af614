import { readFile } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command, ProcessIdentity } from '../../protocol/run/events.ts';
import { graceTime, hasMarker, processLabel, sendSignal } from './processes.ts';
import { hasAncestor, processTable, type TableEntry, tableEntry } from './processTable.ts';

/** A command of a call whose end nobody recorded. */
interface LeftCommand {
  runId: string;
  toolCallId: string;
  command: Command;
  process?: ProcessIdentity;
}

/** One that is at work. `processes` are named as people and models read it: `bash (4711)`. */
export interface OrphanedCommand extends LeftCommand {
  processes: string[];
}

/** Commands that outlived the editor that ran them, as far as this window has heard of them. */
export class LeftCommands {
  private readonly known = new Map<string, LeftCommand>();

  /** Hears of one; gives its processes, `undefined` where nobody can tell whether it has any. */
  async look(left: LeftCommand): Promise<string[] | undefined> {
    this.known.set(left.command.marker, left);
    return (await processesLeft(left))?.map(processLabel);
  }

  /** Those that are at work now; the others are forgotten. */
  async atWork(): Promise<OrphanedCommand[]> {
    const found: OrphanedCommand[] = [];
    for (const left of [...this.known.values()]) {
      const processes = (await processesLeft(left))?.map(processLabel) ?? [];
      if (processes.length > 0) found.push({ ...left, processes });
      else this.known.delete(left.command.marker);
    }
    return found;
  }

  /** The same command, in the same folder, that is at work: it is not run a second time beside itself. */
  async twinOf(line: string, folder: string): Promise<OrphanedCommand | undefined> {
    const isTwin = ({ command }: LeftCommand) => command.folder === folder && sameWords(command.line, line);
    if (![...this.known.values()].some(isTwin)) return undefined;
    return (await this.atWork()).find(isTwin);
  }

  /** Ends it: asks, and after a while kills. Gives what is alive of it then. */
  async end({ command, process }: LeftCommand): Promise<string[]> {
    const asked = performance.now();
    const found = new Map<number, TableEntry>();
    let killed: number | undefined;
    for (;;) {
      const all = await processTable();
      for (const one of (await processesLeft({ command, process })) ?? []) found.set(one.pid, one);
      const alive = [...found.values()].filter(({ pid, began }) => all.get(pid)?.began === began);
      const waited = performance.now() - asked;
      if (alive.length === 0 || (killed !== undefined && waited - killed > 1000)) return alive.map(processLabel);
      if (waited >= graceTime) killed ??= waited;
      for (const { pid } of alive) sendSignal(pid, killed === undefined ? 'SIGTERM' : 'SIGKILL');
      await sleep(waited < 500 ? 50 : 250);
    }
  }
}

const sameWords = (one: string, other: string) =>
  one.trim().replaceAll(/\s+/g, ' ') === other.trim().replaceAll(/\s+/g, ' ');

/** By what this process is known, as long as it lives; undefined when it has ended or the system does not say. */
export async function processIdentity(pid: number): Promise<ProcessIdentity | undefined> {
  const [entry, boot] = await Promise.all([tableEntry(pid), bootId()]);
  const began = entry?.began;
  return began ? { pid, began, ...(boot && { boot }) } : undefined;
}

/** It is alive: the very same process. */
export async function isAlive(process: ProcessIdentity): Promise<boolean> {
  const now = await processIdentity(process.pid);
  return now !== undefined && now.began === process.began && now.boot === process.boot;
}

/**
 * What is at work of a command: what carries its mark (Linux), its first process, if that is the very same, and what is in
 * its group or descends from it. Undefined where nobody can tell. An editor that the command has started, and we are in, is
 * not of it.
 */
async function processesLeft({
  command,
  process: first,
}: Pick<LeftCommand, 'command' | 'process'>): Promise<TableEntry[] | undefined> {
  if (process.platform === 'win32') return undefined;
  const [all, boot] = await Promise.all([processTable(), bootId()]);
  if (first?.boot !== undefined && first.boot !== boot) return []; // before the machine was started, or on another one
  const leader = first && all.get(first.pid)?.began === first.began ? first.pid : undefined;
  const found = new Map<number, TableEntry>();
  for (const one of all.values()) {
    const isOfLeader =
      leader !== undefined && (one.pid === leader || one.group === leader || hasAncestor(all, one.parent, leader));
    if (isOfLeader || (process.platform === 'linux' && (await hasMarker(one.pid, command.marker))))
      found.set(one.pid, one);
  }
  let ours: number | undefined;
  for (let pid: number | undefined = process.pid; pid && pid > 1; pid = all.get(pid)?.parent)
    if (found.has(pid)) ours = pid;
  if (ours === undefined) return [...found.values()];
  return [...found.values()].filter(({ pid, parent }) => pid !== ours && !hasAncestor(all, parent, ours!));
}

const bootId = () =>
  readFile('/proc/sys/kernel/random/boot_id', 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  );
