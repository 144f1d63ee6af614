import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RunEventBody } from '../../src/protocol/run/events.ts';
import { readLastMessages } from '../../src/runs/lastMessages.ts';
import { RunStore } from '../../src/runs/store.ts';
import { longConversation, writeJournal } from '../support/longRun.ts';

describe('the last messages of a run', () => {
  let folder: string;
  let store: RunStore;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'runs-'));
    store = new RunStore(folder);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function kept(bodies: readonly RunEventBody[], id = RunStore.newId()) {
    const journal = writeJournal(path.join(folder, 'runs'), id, bodies);
    await store.list(); // writes the summary
    return { id, journal };
  }
  const long = longConversation(2000);

  it('of a long one are what the whole run ends with, under its title', async () => {
    const { id } = await kept(long);
    const [end, whole] = [await store.readLastMessages(id), await store.read(id)];
    assert.ok(end);
    assert.equal(end.title, 'A run of 2000 messages');
    assert.ok(end.messages.length >= 20 && end.messages.length < 500, `${end.messages.length}`);
    assert.notEqual(end.messages[0]!.role, 'tool');
    assert.deepEqual(end.messages, whole.messages.slice(-end.messages.length));
    const calls = end.messages.flatMap((one) => (one.role === 'assistant' ? (one.toolCalls ?? []) : []));
    for (const { id: call } of calls) assert.deepEqual(end.calls[call], whole.calls[call]);
    assert.deepEqual([end.phase, end.seq, end.createdAt], [whole.phase, whole.seq, whole.createdAt]);
  });

  it('are as many as fill a screen, however long each of them is', async () => {
    const bodies: RunEventBody[] = Array.from({ length: 60 }, (_, at) => ({
      type: 'message',
      message: { role: at % 2 ? 'assistant' : 'user', content: `${at} `.repeat(8000) },
    }));
    const { id } = await kept([long[0]!, ...bodies]);
    assert.ok((await store.readLastMessages(id))!.messages.length >= 20);
  });

  it('of a short one are read with the rest', async () => {
    const { id } = await kept(longConversation(40));
    assert.equal(await store.readLastMessages(id), undefined);
  });

  it('are not shown by themselves where the record is damaged or was mended, or its end belongs to a newer version', async () => {
    const { id, journal } = await kept(long);
    const bytes = readFileSync(journal);
    const flipped = Buffer.from(bytes);
    flipped[bytes.length - 5000]! ^= 1;
    writeFileSync(journal, flipped);
    assert.equal(await store.readLastMessages(id), undefined, 'damaged');
    writeFileSync(journal, bytes.subarray(0, -3));
    assert.equal(await store.readLastMessages(id), undefined, 'torn');
    const mended: RunEventBody = { type: 'mended', from: 3, to: 3, places: [40], damage: 'line 4 is damaged' };
    const other = await kept([...long, mended]);
    assert.equal(await store.readLastMessages(other.id), undefined, 'mended');
  });

  it('come from any place of a record: nothing of it needs what stands before', async () => {
    const runs = path.join(import.meta.dirname, '../fixtures/kept/runs');
    for (const id of readdirSync(runs)) {
      const bytes = readFileSync(path.join(runs, id, 'journal.jsonl'));
      for (let size = 200; size < bytes.length; size += 997)
        await assert.doesNotReject(readLastMessages(path.join(runs, id), id, { size, enough: 1 }), `${id}, ${size}`);
    }
  });
});
