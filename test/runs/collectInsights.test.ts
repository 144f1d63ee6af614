import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RunEventBody } from '../../src/protocol/run/events.ts';
import { collectUsageInsights } from '../../src/runs/collectInsights.ts';
import { RunStore } from '../../src/runs/store.ts';

describe('what is counted beside journals', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'insights-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function run(id: string, ...bodies: RunEventBody[]): Promise<string> {
    const open = await new RunStore(folder).create(id);
    const start: RunEventBody = { type: 'run-start', workflowId: 'chat', agentId: '', model: 'm/x' };
    for (const [index, body] of [start, ...bodies].entries())
      await open.append({ runId: id, seq: index + 1, at: Date.now(), ...body } as never);
    await open.close();
    return path.join(folder, 'runs', id);
  }
  const end: RunEventBody = { type: 'tool-end', toolCallId: 'a', name: 'fs.read', ok: true, ms: 5 };
  const done = async () => (await collectUsageInsights([folder])).counts.tools[0]?.done;

  it('is believed while the journal is as it was, and counted anew when it is not', async () => {
    const place = await run('run-a', end);
    assert.equal(await done(), 1);
    const kept = path.join(place, 'insights.json');
    assert.equal(statSync(kept).mode & 0o777, 0o600);
    writeFileSync(kept, readFileSync(kept, 'utf8').replace('"done":1', '"done":7'));
    assert.equal(await done(), 7, 'it is not counted twice');
    const open = await new RunStore(folder).open('run-a');
    await open.append({ runId: 'run-a', seq: 3, at: 1, ...end } as never);
    await open.close();
    assert.equal(await done(), 2);
  });

  const spoiled: [name: string, text: string][] = [
    ['is lost', ''],
    ['is no JSON', '{'],
    ['is of another kind', '{"version":2,"counts":{}}'],
    ['says nonsense', '{"version":1,"journalBytes":1,"journalTime":1,"counts":{"runs":"x"}}'],
  ];
  for (const [name, text] of spoiled)
    it(`is counted again when it ${name}`, async () => {
      const place = await run('run-a', end);
      writeFileSync(path.join(place, 'insights.json'), text);
      assert.equal(await done(), 1);
    });

  it('says how many runs it could not read, and counts the damaged as far as they go', async () => {
    await run('run-a', end);
    const torn = await run('run-b', end);
    appendFileSync(path.join(torn, 'journal.jsonl'), 'torn');
    const lost = await run('run-c', end);
    writeFileSync(path.join(lost, 'journal.jsonl'), 'nothing of ours\n');
    const { counts, unread } = await collectUsageInsights([folder, path.join(folder, 'not-there')]);
    assert.equal(counts.runs, 2);
    assert.equal(unread, 1);
  });

  it('leaves a store that cannot be written as it is', async () => {
    const place = await run('run-a', end);
    rmSync(path.join(place, 'insights.json'), { force: true });
    const journal = path.join(place, 'journal.jsonl');
    const { atime, mtime } = statSync(journal);
    await collectUsageInsights([folder]);
    utimesSync(journal, atime, mtime);
    assert.ok(existsSync(path.join(place, 'insights.json')));
    assert.deepEqual(
      (await new RunStore(folder).list()).map(({ id }) => id),
      ['run-a'],
    );
  });
});
