import { readFile } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessIdentity, RecordedCommandLine } from '../../protocol/content/commandRecord.ts';
import { processEndGraceMs, processHasMarker, processLabel, sendSignal } from './processes.ts';
import { hasAncestorProcess, type ProcessTableEntry, readProcessTable, readProcessTableEntry } from './processTable.ts';

interface LeftCommand {
  runId: string;
  toolCallId: string;
  command: RecordedCommandLine;
  process?: ProcessIdentity;
}

export interface OrphanedCommand extends LeftCommand {
  processes: string[];
}

export class OrphanedCommands {
  private readonly known = new Map<string, LeftCommand>();

  async look(left: LeftCommand): Promise<string[] | undefined> {
    this.known.set(left.command.marker, left);
    return (await processesLeft(left))?.map(processLabel);
  }

  async atWork(): Promise<OrphanedCommand[]> {
    const found: OrphanedCommand[] = [];
    for (const left of [...this.known.values()]) {
      const processes = (await processesLeft(left))?.map(processLabel) ?? [];
      if (processes.length > 0) found.push({ ...left, processes });
      else this.known.delete(left.command.marker);
    }
    return found;
  }

  /** Returns a running command with the same line and folder, to avoid a parallel second run. */
  async twinOf(line: string, folder: string): Promise<OrphanedCommand | undefined> {
    const isTwin = ({ command }: LeftCommand) => command.folder === folder && isSameCommand(command.line, line);
    if (![...this.known.values()].some(isTwin)) return undefined;
    return (await this.atWork()).find(isTwin);
  }

  /** Ends a command: asks, and kills after a grace time. Returns the survivors. */
  async end({ command, process }: LeftCommand): Promise<string[]> {
    const asked = performance.now();
    const found = new Map<number, ProcessTableEntry>();
    let killed: number | undefined;
    for (;;) {
      const all = await readProcessTable();
      for (const one of (await processesLeft({ command, process })) ?? []) found.set(one.pid, one);
      const alive = [...found.values()].filter(({ pid, began }) => all.get(pid)?.began === began);
      const waited = performance.now() - asked;
      if (alive.length === 0 || (killed !== undefined && waited - killed > 1000)) return alive.map(processLabel);
      if (waited >= processEndGraceMs) killed ??= waited;
      for (const { pid } of alive) sendSignal(pid, killed === undefined ? 'SIGTERM' : 'SIGKILL');
      await sleep(waited < 500 ? 50 : 250);
    }
  }
}

const isSameCommand = (one: string, other: string) =>
  one.trim().replaceAll(/\s+/g, ' ') === other.trim().replaceAll(/\s+/g, ' ');

/** Returns the identity of a process; undefined if ended or unsupported. */
export async function processIdentity(pid: number): Promise<ProcessIdentity | undefined> {
  const [entry, boot] = await Promise.all([readProcessTableEntry(pid), bootId()]);
  const began = entry?.began;
  return began ? { pid, began, ...(boot && { boot }) } : undefined;
}

export async function isProcessAlive(process: ProcessIdentity): Promise<boolean> {
  const now = await processIdentity(process.pid);
  return now !== undefined && now.began === process.began && now.boot === process.boot;
}

/**
 * Returns the running processes of a command: processes with the marker (Linux), the first process if identical, its group and descendants.
 * Undefined if unknown. Excludes an editor that the command started and that runs this code.
 */
async function processesLeft({
  command,
  process: first,
}: Pick<LeftCommand, 'command' | 'process'>): Promise<ProcessTableEntry[] | undefined> {
  if (process.platform === 'win32') return undefined;
  const [all, boot] = await Promise.all([readProcessTable(), bootId()]);
  if (first?.boot !== undefined && first.boot !== boot) return []; // from before a reboot, or from another machine
  const leader = first && all.get(first.pid)?.began === first.began ? first.pid : undefined;
  const found = new Map<number, ProcessTableEntry>();
  for (const one of all.values()) {
    const isOfLeader =
      leader !== undefined &&
      (one.pid === leader || one.group === leader || hasAncestorProcess(all, one.parent, leader));
    if (isOfLeader || (process.platform === 'linux' && (await processHasMarker(one.pid, command.marker))))
      found.set(one.pid, one);
  }
  let ours: number | undefined;
  for (let pid: number | undefined = process.pid; pid && pid > 1; pid = all.get(pid)?.parent)
    if (found.has(pid)) ours = pid;
  if (ours === undefined) return [...found.values()];
  return [...found.values()].filter(({ pid, parent }) => pid !== ours && !hasAncestorProcess(all, parent, ours!));
}

const bootId = () =>
  readFile('/proc/sys/kernel/random/boot_id', 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  );
