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
  const contentsOf = async (id: string) =>
    (await fs.readdir(path.join(folderOf(id), 'contents'))).filter((name) => !name.endsWith('.output')).length;
  const keep = (id: string, times: number) =>
    Promise.all(Array.from({ length: times }, (_, at) => store.contents.keep(id, `${at}`.padStart(100))));
  async function age(id: string, days: number): Promise<void> {
    const then = (Date.now() - days * 24 * hour) / 1000;
    const files = await fs.readdir(path.join(folderOf(id), 'contents'));
    for (const name of files) await fs.utimes(path.join(folderOf(id), 'contents', name), then, then);
  }
  /** Newer runs, so that the runs before are not among the newest ten. */
  const tenRuns = () => Promise.all(Array.from({ length: 10 }, (_, at) => keptRun(`newer ${at}`)));

  it('is not trimmed where another window has the run open, whatever this one knows of it', async () => {
    const [elsewhere, other] = [await keptRun('a'), await keptRun('b')];
    await keep(elsewhere, 3);
    await keep(other, 3);
    const lock = await acquireRunLock(path.join(folderOf(elsewhere), 'lock'));
    await new RunStore(folder).contents.trim(0, new Set());
    assert.deepEqual([await contentsOf(elsewhere), await contentsOf(other)], [3, 0]);
    await lock.release();
    await age(elsewhere, 20);
    await tenRuns();
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
    for (const id of [one, other]) await age(id, 20);
    await tenRuns();
    await new RunStore(folder).contents.trim(300, new Set());
    assert.equal((await contentsOf(one)) + (await contentsOf(other)), 3);
  });

  it('stays for 14 days and for the newest ten runs, unless the user was informed before the next work', async () => {
    const [old, recent] = [await keptRun('a'), await keptRun('b')];
    await keep(old, 3);
    await age(old, 60);
    await keep(recent, 3);
    await age(recent, 10);
    await tenRuns();
    const window = new RunStore(folder);
    const [started, trim] = [Date.now(), (since: number) => window.contents.trim(200, new Set(), { since })];
    const notice = await trim(started);
    assert.deepEqual([await contentsOf(old), await contentsOf(recent)], [0, 3], 'only the old run of many loses some');
    const tomorrow = new Date(Date.now() - 10 * 24 * hour);
    tomorrow.setHours(24, 0, 0, 0);
    assert.deepEqual(notice, { before: tomorrow.getTime() });
    assert.equal(await trim(started), undefined, 'informed once');
    assert.equal(await contentsOf(recent), 3, 'that work began before the notice');
    assert.equal(await trim(Date.now() + 1000), undefined);
    assert.equal(await contentsOf(recent), 2, 'and no more than the quota needs');
  });

  it('of the newest ten runs is old, and still named before it goes', async () => {
    const id = await keptRun('a');
    await keep(id, 3);
    await age(id, 60);
    const trim = () => new RunStore(folder).contents.trim(100, new Set());
    assert.ok('before' in (await trim())!);
    assert.equal(await contentsOf(id), 3);
    assert.equal(await trim(), undefined, 'another window knows of the notice');
    assert.equal(await contentsOf(id), 1);
  });

  it('is above the quota rather than gone within 7 days, and the user is informed once', async () => {
    const id = await keptRun('a');
    await keep(id, 3);
    const window = new RunStore(folder);
    for (const expected of [{ bytes: 300 }, undefined]) {
      assert.deepEqual(await window.contents.trim(100, new Set()), expected);
      assert.equal(await contentsOf(id), 3);
    }
    await keep(await keptRun('b'), 1);
    assert.equal(await window.contents.trim(100, new Set()), undefined);
    await window.contents.trim(0, new Set());
    assert.equal(await contentsOf(id), 0, 'a quota of 0 stores nothing');
  });

  it('counts the working files of the recording, and frees those first', async () => {
    const id = await keptRun('a');
    await keep(id, 3);
    await age(id, 60);
    await tenRuns();
    const pack = path.join(store.snapshotsFolder, 'current.pack');
    await fs.mkdir(store.snapshotsFolder);
    await fs.writeFile(pack, 'x'.repeat(1000));
    const trim = (bytes: number) =>
      new RunStore(folder).contents.trim(bytes, new Set(), { reclaim: () => fs.rm(pack, { force: true }) });
    await trim(1300);
    assert.ok(existsSync(pack));
    await trim(1200);
    assert.deepEqual([existsSync(pack), await contentsOf(id)], [false, 3]);
  });

  it('has outputs of commands beside it, as much again, without a guarantee', async () => {
    const id = await keptRun('a');
    await keep(id, 3);
    const [old, newer] = [
      await store.contents.keepOutput(id, 'o'.repeat(300)),
      await store.contents.keepOutput(id, 'n'),
    ];
    const then = (Date.now() - hour) / 1000;
    await fs.utimes(path.join(folderOf(id), 'contents', `${old}.output`), then, then);
    assert.equal(await new RunStore(folder).contents.trim(300, new Set()), undefined);
    await assert.rejects(store.contents.read(id, old), { message: 'This content is no longer stored.' });
    assert.deepEqual([await store.contents.read(id, newer), await contentsOf(id)], ['n', 3]);
  });

  it('is deleted on request, but not of a run at work, or open elsewhere', async () => {
    const [atWork, elsewhere, other] = [await keptRun('a'), await keptRun('b'), await keptRun('c')];
    for (const id of [atWork, elsewhere, other]) await keep(id, 1);
    const lock = await acquireRunLock(path.join(folderOf(elsewhere), 'lock'));
    const output = await store.contents.keepOutput(other, 'output');
    await store.contents.remove('contents', Number.POSITIVE_INFINITY, new Set([atWork]));
    assert.deepEqual(await Promise.all([atWork, elsewhere, other].map(contentsOf)), [1, 1, 0]);
    assert.equal(await store.contents.read(other, output), 'output');
    await store.contents.remove('outputs', Date.now() - hour, new Set());
    assert.equal((await store.contents.list('outputs')).length, 1);
    await store.contents.remove('outputs', Number.POSITIVE_INFINITY, new Set());
    assert.deepEqual(await store.contents.list('outputs'), []);
    await lock.release();
  });

  it('goes with a branch, like the outputs of its commands', async () => {
    const id = await keptRun('a');
    const [content, output] = [await store.contents.keep(id, 'c'), await store.contents.keepOutput(id, 'o')];
    const open = await store.open(id);
    const call = { runId: id, at: 1, toolCallId: 'one', name: 'shell.run' } as const;
    await open.append({ ...call, seq: 2, type: 'tool-start' });
    const changes = [{ path: 'a', before: content, after: null }];
    await open.append({ ...call, seq: 3, type: 'tool-end', ok: true, ms: 1, outputId: output, changes });
    await open.append({ runId: id, seq: 4, at: 1, type: 'phase', phase: 'WaitingUser' });
    await open.close();
    const branch = await store.fork(id, 4);
    await store.deleted.remove(await store.delete(id));
    assert.deepEqual(
      [await store.contents.read(branch, content), await store.contents.read(branch, output)],
      ['c', 'o'],
    );
  });

  it('is swept of what kills left behind, and of nothing else', async () => {
    const id = await keptRun('a');
    const [content] = await keep(id, 1);
    const uuid = '0b6a3f0e-6f0c-4b7a-9d55-0123456789ab';
    const left = ['lock', 'summary.json', 'journal.jsonl', `contents/${content}`].map((name) => `${name}.${uuid}`);
    left.push(`contents/${content}.output.${uuid}`, `contents/${uuid}.pack.tmp`);
    left.push('lock.over-0123456789abcdef', `lock.over-0123456789abcdef.${uuid}`, 'lock');
    const stays = ['notes.txt', 'journal.jsonl.damaged-1763812345678', 'lock.old', `state.${uuid}`];
    for (const name of [...left, ...stays]) await fs.writeFile(path.join(folderOf(id), name), 'x');
    await fs.writeFile(path.join(folderOf(id), 'lock'), '{"id":"x","pid":4194305}'); // of no process
    const recorder = ['one.pack.tmp', `${uuid}.index`, 'old.snapshot', 'young.snapshot', 'one.pack', 'current'];
    await fs.mkdir(store.snapshotsFolder);
    for (const name of recorder) await fs.writeFile(path.join(store.snapshotsFolder, name), 'x');
    const then = Date.now() / 1000 - 15 * 24 * 3600;
    await fs.utimes(path.join(store.snapshotsFolder, 'old.snapshot'), then, then);
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
    assert.deepEqual(await fs.readdir(store.snapshotsFolder), ['current', 'one.pack', 'young.snapshot']);
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
