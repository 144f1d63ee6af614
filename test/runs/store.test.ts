import assert from 'node:assert/strict';
import { existsSync, promises as fs, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RunEventBody, StoredEvent } from '../../src/protocol/run/events.ts';
import { applyEvent } from '../../src/protocol/run/fold.ts';
import { restoreRunDictionaries } from '../../src/protocol/run/run.ts';
import { Journal, StoreError } from '../../src/runs/journal.ts';
import { RunStore, type WritableRun } from '../../src/runs/store.ts';

describe('kept runs', () => {
  let folder: string;
  let store: RunStore;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'runs-'));
    store = new RunStore(folder);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const journalOf = (id: string) => path.join(folder, 'runs', id, 'journal.jsonl');
  const say = (content: string): RunEventBody => ({ type: 'message', message: { role: 'user', content } });
  async function add(open: WritableRun, ...bodies: RunEventBody[]): Promise<void> {
    for (const body of bodies) {
      const event = { runId: open.run.id, seq: open.run.seq + 1, at: 1000 + open.run.seq, ...body } as StoredEvent;
      await open.append(event);
      applyEvent(open.run, event);
    }
  }
  async function keptRun(...texts: string[]): Promise<string> {
    const id = RunStore.newId();
    const open = await store.create(id);
    await add(open, ...texts.map(say), { type: 'phase', phase: 'WaitingUser' });
    await open.close();
    return id;
  }

  it('come back as they were told', async () => {
    const id = RunStore.newId();
    const open = await store.create(id);
    await add(
      open,
      { type: 'run-start', workflowId: 'chat', agentId: 'towpath', model: 'm' },
      say('hi'),
      {
        type: 'message',
        message: {
          role: 'assistant',
          content: '',
          toolCalls: [{ id: 'c', name: 'fs.read', arguments: { path: 'ä' } }],
        },
      },
      { type: 'tool-start', toolCallId: 'c', name: 'fs.read' },
    );
    const told = restoreRunDictionaries(structuredClone(open.run));
    await open.close();
    assert.deepEqual(await store.read(id), told);
  });

  it('tell what they follow by their first lines, and nothing when those cannot be read', async () => {
    const damaged = await keptRun('one');
    await fs.writeFile(journalOf(damaged), 'x');
    const begun = await store.create(RunStore.newId());
    const open = await store.create(RunStore.newId());
    await add(
      open,
      { type: 'run-start', workflowId: 'package:a/b', agentId: 'c', model: '' },
      say('x'.repeat(100_000)),
    );
    assert.deepEqual((await store.workflowIds()).sort(), ['package:a/b', undefined, undefined]);
    await Promise.all([begun.close(), open.close()]);
  });

  it('go on where they were', async () => {
    const id = await keptRun('one');
    const open = await store.open(id);
    await add(open, say('two'));
    await open.close();
    const run = await store.read(id);
    assert.deepEqual(run.messages, [
      { role: 'user', content: 'one' },
      { role: 'user', content: 'two' },
    ]);
  });

  it('survive a torn end at every byte, and keep what was torn', async () => {
    const id = await keptRun('one', 'two');
    const whole = await fs.readFile(journalOf(id));
    const lines = whole.toString().split('\n').length - 2; // without the header and the empty end
    for (let cut = whole.indexOf(10) + 1; cut < whole.length; cut++) {
      await fs.writeFile(journalOf(id), whole.subarray(0, cut));
      const run = await store.read(id);
      assert.equal(
        run.seq,
        whole.subarray(0, cut).toString().split('\n').length - 2,
        `cut at ${cut} of ${lines} lines`,
      );
    }
    await fs.writeFile(journalOf(id), whole.subarray(0, whole.length - 3));
    const open = await store.open(id);
    await add(open, say('three'));
    await open.close();
    assert.deepEqual(
      (await store.read(id)).messages.map((message) => message.content),
      ['one', 'two', 'three'],
    );
    const beside = await fs.readdir(path.dirname(journalOf(id)));
    assert.equal(beside.filter((name) => name.includes('.damaged-')).length, 1);
  });

  it('notice a flipped bit and list the other runs all the same', async () => {
    const good = await keptRun('good');
    const bad = await keptRun('bad');
    const bytes = await fs.readFile(journalOf(bad));
    bytes[bytes.indexOf('bad')]! ^= 1;
    await fs.writeFile(journalOf(bad), Buffer.concat([bytes, Buffer.from('\n')]));
    await fs.rm(path.join(folder, 'runs', bad, 'summary.json'));
    const list = await store.list();
    assert.deepEqual(
      list.map(({ id, damaged }) => [id, damaged !== undefined]).sort(),
      [
        [good, false],
        [bad, true],
      ].sort(),
    );
  });

  it('refuse a record of a newer kind', async () => {
    const id = await keptRun('one');
    await fs.writeFile(journalOf(id), '{"towpath-run":2}\n');
    await assert.rejects(store.open(id), { code: 'STORE_DAMAGED', message: /newer version of Towpath/ });
  });

  it('are listed newest first with their first words, also when the summary is lost', async () => {
    const first = await keptRun('add a flag\nand a test');
    const second = await keptRun('x'.repeat(200));
    const open = await store.open(second);
    await add(open, say('more'));
    await open.close();
    const expected = [
      { id: second, title: `${'x'.repeat(79)}…`, phase: 'WaitingUser', createdAt: 1000, updatedAt: 1002, live: false },
      { id: first, title: 'add a flag', phase: 'WaitingUser', createdAt: 1000, updatedAt: 1001, live: false },
    ];
    assert.deepEqual(await store.list(), expected);
    for (const id of [first, second]) await fs.rm(path.join(folder, 'runs', id, 'summary.json'));
    assert.deepEqual(await store.list(), expected);
  });

  it('belong to one writer at a time; a dead writer lets go', async () => {
    const id = await keptRun('one');
    const lock = path.join(folder, 'runs', id, 'lock');
    await fs.writeFile(lock, JSON.stringify({ pid: 1, id: 'another process, alive' }));
    await assert.rejects(store.open(id), { code: 'STORE_LOCKED' });
    await assert.rejects(store.delete(id), { code: 'STORE_LOCKED' });
    await fs.writeFile(lock, JSON.stringify({ pid: 2 ** 22 + 1, id: 'no such process' }));
    const open = await store.open(id);
    await assert.rejects(store.open(id), { code: 'STORE_LOCKED' });
    await open.close();
    assert.equal(existsSync(lock), false);
  });

  it('that another window takes over go on there, and nothing of the first one is mixed in', async () => {
    const id = await keptRun('one');
    const first = await store.open(id);
    await add(first, say('two'));
    const lock = path.join(folder, 'runs', id, 'lock');
    const other = new RunStore(folder);
    await assert.rejects(other.takeOver(id), { code: 'STORE_LOCKED' }, 'from this very process nothing is taken');
    await fs.writeFile(
      lock,
      JSON.stringify({ ...JSON.parse(await fs.readFile(lock, 'utf8')), id: 'of another process' }),
    );
    await other.takeOver(id);
    const second = await other.open(id);
    await add(second, say('three'));
    await assert.rejects(add(first, say('late')), {
      code: 'STORE_LOCKED',
      message: /^Another window took over this run/,
    });
    await first.close();
    await add(second, say('four'));
    await second.close();
    assert.deepEqual(
      (await store.read(id)).messages.map((message) => message.content),
      ['one', 'two', 'three', 'four'],
    );
    assert.deepEqual((await fs.readdir(path.dirname(lock))).sort(), ['journal.jsonl', 'summary.json']);
  });

  it('are made once, also where files have one name each', async () => {
    const id = await keptRun('one');
    await assert.rejects(store.create(id), { code: 'ENGINE_RUN_EXISTS' });
    const { link } = fs;
    fs.link = () => Promise.reject(Object.assign(new Error('no links'), { code: 'EPERM' }));
    try {
      await assert.rejects(store.create(id), { code: 'ENGINE_RUN_EXISTS' });
      await (await store.create(RunStore.newId())).close();
    } finally {
      fs.link = link;
    }
    assert.deepEqual((await store.read(id)).messages, [{ role: 'user', content: 'one' }]);
    await (await store.open(id)).close();
  });

  it('are gone when deleted', async () => {
    const id = await keptRun('one');
    await store.delete(id);
    assert.deepEqual(await store.list(), []);
    for (const asked of [store.read(id), store.open(id), store.delete(id), store.takeOver(id)])
      await assert.rejects(asked, { code: 'ENGINE_RUN_NOT_FOUND', message: /does not exist/ });
  });

  it('cannot be named outside their folder', async () => {
    for (const id of ['../x', 'run-../../x', '', 'run-a/b'])
      await assert.rejects(store.read(id), { message: /does not exist/ });
  });

  it('are written again where the disk has failed once, and not where it fails twice', async () => {
    const id = RunStore.newId();
    const open = await store.create(id);
    const { append } = Journal.prototype;
    let failures = 1;
    Journal.prototype.append = function (event) {
      if (failures-- > 0) throw StoreError.from(Object.assign(new Error('i/o error'), { code: 'EIO' }));
      return append.call(this, event);
    };
    try {
      await add(open, say('once'));
      failures = 2;
      await assert.rejects(add(open, say('twice')), { code: 'STORE_FAILED' });
    } finally {
      Journal.prototype.append = append;
    }
    await open.close();
    assert.deepEqual((await store.read(id)).messages, [{ role: 'user', content: 'once' }]);
  });

  it('are private', async () => {
    const id = await keptRun('one');
    const mode = async (file: string) => ((await fs.stat(file)).mode & 0o777).toString(8);
    assert.deepEqual([await mode(path.dirname(journalOf(id))), await mode(journalOf(id))], ['700', '600']);
  });

  describe('keep contents', () => {
    const run = RunStore.newId();
    const fileOf = (id: string, runId = run) => path.join(folder, 'runs', runId, 'contents', id);
    beforeEach(async () => (await store.create(run)).close());

    it('not for a run whose folder is gone: it does not come back as contents alone', async () => {
      await fs.rm(path.join(folder, 'runs', run), { recursive: true });
      await assert.rejects(store.contents.keep(run, 'text'), { code: 'STORE_DAMAGED' });
      assert.equal(existsSync(path.join(folder, 'runs', run)), false);
    });

    it('by what they are, once', async () => {
      const id = await store.contents.keep(run, 'text\r\n');
      assert.equal(await store.contents.keep(run, 'text\r\n'), id);
      assert.equal(await store.contents.read(run, id), 'text\r\n');
      await fs.writeFile(fileOf(id), 'other');
      await assert.rejects(store.contents.read(run, id), { code: 'STORE_DAMAGED' });
    });

    it('within a quota: the oldest go first, those of a run at work stay', async () => {
      const working = RunStore.newId();
      await (await store.create(working)).close();
      const [old, spared, newer] = [
        await store.contents.keep(run, 'a'.repeat(100)),
        await store.contents.keep(working, 'b'.repeat(100)),
        await store.contents.keep(run, 'c'.repeat(100)),
      ];
      const age = async (file: string, seconds: number) => fs.utimes(file, seconds, seconds);
      await age(fileOf(old), 1);
      await age(fileOf(spared, working), 2);
      await age(fileOf(newer), 3);
      assert.ok(await store.contents.trim(200, new Set([working])), 'the user is informed before');
      await store.contents.trim(200, new Set([working]));
      await assert.rejects(store.contents.read(run, old), { message: 'This content is no longer stored.' });
      assert.equal((await store.contents.read(run, newer)).length, 100);
      await store.contents.trim(0, new Set([working]));
      await assert.rejects(store.contents.read(run, newer));
      assert.equal((await store.contents.read(working, spared)).length, 100);
    });
  });
});
