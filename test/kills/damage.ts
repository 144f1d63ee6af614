import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Run } from '../../src/protocol/run/run.ts';
import { RunStore } from '../../src/runs/store.ts';
import type { Played, Stage } from './case.ts';
import type { Breach } from './invariants.ts';
import { randomOf } from './random.ts';
import { otherRun } from './window.ts';

type Random = (below: number) => number;

/** What happens to the bytes of a record; half of all are flips. */
const harms: Record<string, (bytes: Buffer, random: Random) => Buffer> = {
  'a bit is flipped': flip,
  'it is cut': (bytes, random) => bytes.subarray(0, random(bytes.length)),
  'another bit is flipped': flip,
  'a line is missing': (bytes, random) => withLines(bytes, (lines, at) => lines.toSpliced(at, 1), random),
  'a bit more is flipped': flip,
  'a line occurs twice': (bytes, random) => withLines(bytes, (lines, at) => lines.toSpliced(at, 0, lines[at]!), random),
  'and one more bit': flip,
  'two lines are swapped': (bytes, random) =>
    withLines(bytes, (lines, at) => lines.with(at, lines[at + 1]!).with(at + 1, lines[at]!), random),
  'one bit again': flip,
  'a block is zeros': (bytes, random) => {
    const at = random(bytes.length);
    return Buffer.from(bytes).fill(0, at, Math.min(bytes.length, at + 4096));
  },
};

function flip(bytes: Buffer, random: Random): Buffer {
  const flipped = Buffer.from(bytes);
  const at = random(bytes.length);
  flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << random(8)), at);
  return flipped;
}

/** Lines but the first, which names the format, and never the last of all: its loss is a shorter run. */
function withLines(bytes: Buffer, change: (lines: string[], at: number) => string[], random: Random): Buffer {
  const lines = bytes.toString('latin1').split('\n');
  return Buffer.from(change(lines, 1 + random(lines.length - 4)).join('\n'), 'latin1');
}

/** Damages of the record of a run that is over, one after the other; each is looked at, and taken back. */
export async function playDamages(stage: Stage, numbers: readonly number[], seed: number): Promise<Played[]> {
  const folder = stage.begin('undo');
  const store = new RunStore(path.join(folder, 'store'));
  const id = readdirSync(path.join(folder, 'store', 'runs')).find((one) => one !== otherRun)!;
  const journal = path.join(folder, 'store', 'runs', id, 'journal.jsonl');
  const whole = readFileSync(journal);
  const original = await store.read(id);
  const names = Object.keys(harms);
  const played: Played[] = [];
  for (const number of numbers) {
    const harm = names[number % names.length]!;
    const random = randomOf(seed * 1_000_003 + number * 7919);
    random(2);
    const bytes = harms[harm]!(whole, random);
    writeFileSync(journal, bytes);
    const breaches = bytes.equals(whole) || isShorterRun(bytes, whole) ? [] : await look(store, id, original);
    const others = (await store.list()).filter((one) => one.id === otherRun && one.damaged === undefined);
    if (others.length !== 1) breaches.push({ invariant: 'K1', what: 'the other run is not listed any more' });
    played.push({ name: `damage/${number}`, kills: 0, harmed: [harm], breaches });
  }
  rmSync(folder, { recursive: true });
  return played;
}

/** A cut at the end of a line is a run that was less far. */
const isShorterRun = (bytes: Buffer, whole: Buffer) =>
  bytes.at(-1) === 10 && whole.subarray(0, bytes.length).equals(bytes);

async function look(store: RunStore, id: string, original: Run): Promise<Breach[]> {
  const breaches: Breach[] = [];
  const listed = (await store.list()).find((run) => run.id === id);
  if (!listed?.damaged && !listed?.readOnly)
    breaches.push({ invariant: 'unsaid', what: 'the list says nothing of it' });
  const run = await store.read(id).catch(() => undefined);
  if (!run) return breaches; // it cannot be opened, which is said
  if (!run.damage?.length && !run.readOnly)
    breaches.push({ invariant: 'unsaid', what: 'the opened run says nothing of it' });
  for (const what of believedIn(run, original)) breaches.push({ invariant: 'believed', what });
  return breaches;
}

/** What the run says that never was. */
function believedIn(run: Run, original: Run): string[] {
  const said = new Set(original.messages.map((message) => JSON.stringify(message)));
  const messages = [...run.messages, ...(run.damage ?? []).flatMap((one) => one.messages)];
  const invented = messages
    .filter((message) => !said.has(JSON.stringify(message)))
    .map(() => 'a message that nobody wrote');
  const calls = Object.entries(run.calls).flatMap(([callId, { ok, code, changes, moved }]) => {
    const known = original.calls[callId];
    const isKnown = (one: unknown, other: unknown) =>
      one === undefined || JSON.stringify(one) === JSON.stringify(other);
    const same =
      known &&
      isKnown(ok, known.ok) &&
      isKnown(code, known.code) &&
      isKnown(changes, known.changes) &&
      isKnown(moved, known.moved);
    return same ? [] : ['a call that was not so'];
  });
  return [...new Set([...invented, ...calls])];
}
