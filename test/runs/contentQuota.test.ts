import assert from 'node:assert/strict';
import { existsSync, promises as fs, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { StoredEvent } from '../../src/protocol/run/events.ts';
import { applyEvent } from '../../src/protocol/run/fold.ts';
import { mapLimit } from '../../src/protocol/values/concurrency.ts';
import { acquireRunLock } from '../../src/runs/lock.ts';
import { RunStore } from '../../src/runs/store.ts';

const hour = 60 * 60 * 1000;

describe('what is kept beside runs', () => {
  let folder: string;
  let store: RunStore;
  const now = Date.now() + 2 * hour;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'quota-'));
    store = new RunStore(folder, () => now);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function keptRun(words: string): Promise<string> {
    const id = RunStore.newId();
    const open = await store.create(id);
    const message = { role: 'user', content: words } as const;
    const event = { runId: id, seq: 1, at: 1, type: 'message', message } as StoredEvent;
    await open.append(event);
    applyEvent(open.run, event);
    await open.close();
    return id;
  }
  const folderOf = (id: string) => path.join(folder, 'runs', id);
  const contentsOf = async (id: string) => (await fs.readdir(path.join(folderOf(id), 'contents'))).length;
  const keep = (id: string, times: number) =>
    Promise.all(Array.from({ length: times }, (_, at) => store.contents.keep(id, `${at}`.padStart(100))));

  it('is not trimmed where another window has the run open, whatever this one knows of it', async () => {
    const [elsewhere, other] = [await keptRun('a'), await keptRun('b')];
    await keep(elsewhere, 3);
    await keep(other, 3);
    const lock = await acquireRunLock(path.join(folderOf(elsewhere), 'lock'));
    await new RunStore(folder).contents.trim(0, new Set());
    assert.deepEqual([await contentsOf(elsewhere), await contentsOf(other)], [3, 0]);
    await lock.release();
    await new RunStore(folder).contents.trim(100, new Set());
    assert.equal(await contentsOf(elsewhere), 1);
    assert.equal(existsSync(path.join(folderOf(other), 'lock')), false);
  });

  it('is counted again only where something came or went, and a lost or wrong count is no harm', async () => {
    const [one, other] = [await keptRun('a'), await keptRun('b')];
    await keep(one, 2);
    await keep(other, 2);
    await store.contents.trim(1000, new Set());
    const sizes = path.join(folder, 'sizes.json');
    const counted = JSON.parse(await fs.readFile(sizes, 'utf8')) as Record<string, { stamp: number; bytes: number }>;
    assert.deepEqual(
      Object.values(counted).map(({ bytes }) => bytes),
      [200, 200],
    );
    await keep(other, 5);
    await store.contents.trim(1000, new Set());
    const again = JSON.parse(await fs.readFile(sizes, 'utf8')) as typeof counted;
    assert.deepEqual([again[`runs/${one}`], again[`runs/${other}`]?.bytes], [counted[`runs/${one}`], 500]);
    for (const wrong of ['', '{"runs/x":1}', '[]']) {
      await fs.writeFile(sizes, wrong);
      await new RunStore(folder).contents.trim(700, new Set());
      assert.deepEqual([await contentsOf(one), await contentsOf(other)], [2, 5]);
    }
    await new RunStore(folder).contents.trim(300, new Set());
    assert.equal((await contentsOf(one)) + (await contentsOf(other)), 3);
  });

  it('is swept of what kills left behind, and of nothing else', async () => {
    const id = await keptRun('a');
    const [content] = await keep(id, 1);
    const uuid = '0b6a3f0e-6f0c-4b7a-9d55-0123456789ab';
    const left = ['lock', 'summary.json', 'journal.jsonl', `contents/${content}`].map((name) => `${name}.${uuid}`);
    left.push('lock.over-0123456789abcdef', `lock.over-0123456789abcdef.${uuid}`, 'lock');
    const stays = ['notes.txt', 'journal.jsonl.damaged-1763812345678', 'lock.old', `state.${uuid}`];
    for (const name of [...left, ...stays]) await fs.writeFile(path.join(folderOf(id), name), 'x');
    await fs.writeFile(path.join(folderOf(id), 'lock'), '{"id":"x","pid":4194305}'); // of no process
    const begun = RunStore.newId();
    await fs.mkdir(folderOf(begun));
    await fs.writeFile(path.join(folderOf(begun), 'journal.jsonl'), '{"to');
    const beginning = await store.create(RunStore.newId());
    const before = await fs.readFile(path.join(folderOf(id), 'journal.jsonl'));
    await new RunStore(folder).sweep();
    for (const name of [...left, ...stays]) assert.ok(existsSync(path.join(folderOf(id), name)), `${name} is young`);
    await store.sweep();
    assert.deepEqual(
      left.filter((name) => existsSync(path.join(folderOf(id), name))),
      [],
    );
    assert.deepEqual(
      stays.filter((name) => !existsSync(path.join(folderOf(id), name))),
      [],
    );
    assert.deepEqual(
      [existsSync(folderOf(begun)), existsSync(path.join(folderOf(beginning.run.id), 'lock'))],
      [false, true],
    );
    assert.deepEqual(await fs.readFile(path.join(folderOf(id), 'journal.jsonl')), before);
    assert.equal((await store.contents.read(id, content!)).length, 100);
    await beginning.close();
  });

  it('of a thousand runs is read a few at a time', async () => {
    let [working, most] = [0, 0];
    const squares = await mapLimit(
      Array.from({ length: 100 }, (_, at) => at),
      4,
      async (at) => {
        most = Math.max(most, ++working);
        await new Promise((resolve) => setImmediate(resolve));
        working--;
        return at * at;
      },
    );
    assert.deepEqual([most, squares.length, squares[99]], [4, 100, 9801]);
    await assert.rejects(
      mapLimit([1, 2], 4, () => Promise.reject(new Error('no'))),
      /no/,
    );
    assert.deepEqual(await mapLimit([], 4, async () => 1), []);
  });
});
