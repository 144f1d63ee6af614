import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { StoredEvent } from '../../src/protocol/run/events.ts';
import { storedEventSchema } from '../../src/protocol/run/events.ts';
import {
  appendedListFormatVersion,
  eventVersions,
  heldRunFormatVersion,
  repositoryFormatVersion,
  serverQuestionFormatVersion,
  storedRunFormatVersion,
} from '../../src/protocol/run/eventVersions.ts';
import { readOnlyReasonMessages } from '../../src/protocol/text/readOnlyReason.ts';
import { checksum } from '../../src/runs/journal.ts';
import { RunStore } from '../../src/runs/store.ts';

/** Event types of format version 1. A type that is not among them is unknown to the first Towpath, and has a version. */
const firstTypes = [
  ...['run-start', 'title', 'pin', 'limit-raise', 'instructions', 'model', 'agent', 'message', 'queued'],
  ...['queued-change', 'queued-remove', 'approval', 'tool-start', 'command-start', 'ask', 'answer', 'tool-end'],
  ...['command-end', 'undo', 'usage', 'attempt', 'outline', 'node', 'compaction', 'mended', 'phase'],
];

/** Stored runs with every event type of a later version, and an image that is stored by its hash. */
const names = [
  'approval',
  'asked',
  'background',
  'collected',
  'denied',
  'interrupted',
  'recorded',
  'sandbox',
  'tasks',
  'understood',
] as const;
const stored = path.join(import.meta.dirname, '../fixtures/kept/runs');
type Line = StoredEvent & { version?: number };
const linesOf = (name: string): Line[] =>
  readFileSync(path.join(stored, name, 'journal.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line.slice(9)));
const versionOf = (event: Line) =>
  event.type === 'node' && event.grown
    ? appendedListFormatVersion
    : event.type === 'approval' && event.holds
      ? heldRunFormatVersion
      : 'repositories' in event
        ? repositoryFormatVersion
        : event.type === 'ask' && event.by !== undefined
          ? serverQuestionFormatVersion
          : JSON.stringify(event).includes('"storedAs"')
            ? 2
            : (eventVersions[event.type] ?? undefined);

describe('format versions of stored events', () => {
  it('every type that version 1 does not have names the version that introduced it', () => {
    const types = storedEventSchema.options.flatMap(({ shape }) => [...shape.type.values]);
    assert.deepEqual(Object.keys(eventVersions).sort(), types.filter((type) => !firstTypes.includes(type)).sort());
    for (const [type, version] of Object.entries(eventVersions))
      assert.ok(version > 1 && version <= storedRunFormatVersion, type);
  });

  it('every line of such a type, and every line with a stored image, has its version, and no other line', () => {
    const events = names.flatMap(linesOf);
    for (const event of events) assert.equal(event.version, versionOf(event), `${event.type} ${event.seq}`);
    const types = new Set<string>(events.map(({ type }) => type));
    for (const type of Object.keys(eventVersions)) assert.ok(types.has(type), `a stored run has ${type}`);
    assert.ok(events.some((event) => event.type === 'message' && event.version === 2));
    assert.ok(events.some((event) => event.type === 'node' && event.version === appendedListFormatVersion));
    assert.ok(events.some((event) => event.type === 'approval' && event.version === heldRunFormatVersion));
    assert.ok(events.some((event) => event.type === 'tool-end' && event.version === repositoryFormatVersion));
    assert.ok(events.some((event) => event.type === 'ask' && event.version === serverQuestionFormatVersion));
  });

  for (const name of names)
    it(`${name}: a reader of an earlier version finds each of these lines, and shows the run read-only`, async () => {
      const folder = mkdtempSync(path.join(tmpdir(), 'versions-'));
      try {
        const [{ runId }] = linesOf(name) as [Line];
        const journal = path.join(folder, 'runs', runId, 'journal.jsonl');
        const filter = (file: string) => path.basename(file) !== 'summary.json'; // which knows the journal's size
        cpSync(path.join(stored, name), path.dirname(journal), { recursive: true, filter });
        const lines = readFileSync(journal, 'utf8').split('\n');
        const store = new RunStore(folder);
        assert.equal((await store.read(runId)).readOnly, undefined);
        for (const [index, event] of linesOf(name).entries()) {
          if (event.version === undefined) continue;
          // What such a line is for this reader, a line of today's version is for an earlier one: its type is unknown there.
          const later = Buffer.from(
            JSON.stringify({ ...event, type: 'as-yet-unknown', version: storedRunFormatVersion + 1 }),
          );
          writeFileSync(journal, lines.with(index + 1, `${checksum(later)} ${later}`).join('\n'));
          const { readOnly, damage } = await store.read(runId);
          assert.equal(readOnly, 'continuedByNewer', `${event.type} ${event.seq}`);
          assert.equal(damage, undefined);
          await assert.rejects(store.open(runId), {
            code: 'STORE_DAMAGED',
            message: readOnlyReasonMessages.continuedByNewer,
          });
        }
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
});
