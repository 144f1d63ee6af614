import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Running process. `began` is the system's start time; pid and start time identify the process. */
export interface ProcessTableEntry {
  pid: number;
  name: string;
  parent: number;
  group: number;
  began: string;
}

/** Returns running processes without zombies; empty on Windows, where no caller needs the table. */
export async function readProcessTable(platform = process.platform): Promise<Map<number, ProcessTableEntry>> {
  const entries = platform === 'linux' ? await fromProc() : platform === 'win32' ? [] : await fromPs();
  return new Map(entries.map((entry) => [entry.pid, entry]));
}

/** Milliseconds within which Linux assigns no id twice, also on a machine that starts thousands of processes a second. */
const uniqueIdMs = 5000;

/**
 * Returns the processes of Linux with an id from that of a process on, which include all that it has started. Linux assigns ids in order, and
 * begins anew after the last.
 *
 * @param age milliseconds since the start of the process
 */
export async function readYoungerProcesses(first: number, age: number): Promise<Map<number, ProcessTableEntry>> {
  const newest = Number((await readFile('/proc/loadavg', 'latin1').catch(() => '')).split(' ')[4]);
  if (!newest || age > uniqueIdMs) return readProcessTable();
  const entries = await fromProc((pid) =>
    newest < first ? pid >= first || pid <= newest : pid >= first && pid <= newest,
  );
  return new Map(entries.map((entry) => [entry.pid, entry]));
}

async function fromProc(isWanted = (_pid: number) => true): Promise<ProcessTableEntry[]> {
  const entries: ProcessTableEntry[] = [];
  for (const name of await readdir('/proc')) {
    const found = /^\d+$/.test(name) && isWanted(Number(name)) && (await entryOf(Number(name)));
    if (found) entries.push(found);
  }
  return entries;
}

export async function readProcessTableEntry(pid: number): Promise<ProcessTableEntry | undefined> {
  return process.platform === 'linux' ? entryOf(pid) : (await readProcessTable()).get(pid);
}

async function entryOf(pid: number): Promise<ProcessTableEntry | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [, name, fields = ''] = /^\d+ \((.*)\) (\S .*)/s.exec(text) ?? []; // the name may contain any character
  const [state, parent, group] = fields.split(' ');
  if (name === undefined || state === 'Z' || state === 'X') return undefined;
  return { pid, name, parent: Number(parent), group: Number(group), began: fields.split(' ')[19] ?? '' };
}

const psLine = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/;

async function fromPs(): Promise<ProcessTableEntry[]> {
  const options = { env: { ...process.env, LC_ALL: 'C' }, maxBuffer: 20_000_000 };
  const listed = await promisify(execFile)('ps', ['-axo', 'pid=,ppid=,pgid=,state=,lstart=,comm='], options);
  return listed.stdout.split('\n').flatMap((line) => {
    const [, pid, parent, group, state, began, name] = psLine.exec(line) ?? [];
    if (name === undefined || state!.startsWith('Z')) return [];
    return { pid: Number(pid), name, parent: Number(parent), group: Number(group), began: began! };
  });
}

export function hasAncestorProcess(
  all: ReadonlyMap<number, Pick<ProcessTableEntry, 'parent'>>,
  parent: number,
  wanted: number,
): boolean {
  for (let steps = 0; steps < 100 && parent > 1; steps++) {
    if (parent === wanted) return true;
    parent = all.get(parent)?.parent ?? 0;
  }
  return false;
}
