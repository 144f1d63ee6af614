import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { promises as fs, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { RunEventBody, StoredEvent } from '../../src/protocol/run/events.ts';
import { applyEvent } from '../../src/protocol/run/fold.ts';
import { type Run, restoreRunDictionaries } from '../../src/protocol/run/run.ts';
import { removeRestingSequenceStates } from '../../src/runs/modelStates.ts';
import { RunStore, type WritableRun } from '../../src/runs/store.ts';

const day = 24 * 60 * 60 * 1000;

describe('a deleted run', () => {
  let folder: string;
  let store: RunStore;
  let today: number;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'deleted-'));
    today = 1_700_000_000_000;
    store = new RunStore(folder, () => today);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const deletedFolder = () => path.join(folder, 'deleted');
  async function add(open: WritableRun, ...bodies: RunEventBody[]): Promise<void> {
    for (const body of bodies) {
      const event = { runId: open.run.id, seq: open.run.seq + 1, at: 1000 + open.run.seq, ...body } as StoredEvent;
      await open.append(event);
      applyEvent(open.run, event);
    }
  }
  /** A run with words, a kept content and a state of its own. */
  async function keptRun(words: string): Promise<{ id: string; run: Run; content: string }> {
    const id = RunStore.newId();
    const open = await store.create(id);
    await add(
      open,
      { type: 'run-start', workflowId: 'package:a/b', agentId: 'c', model: '' },
      { type: 'message', message: { role: 'user', content: words } },
      { type: 'phase', phase: 'WaitingUser' },
    );
    const run = restoreRunDictionaries(structuredClone(open.run));
    await open.close();
    const content = await store.contents.keep(id, `before: ${words}`);
    await fs.mkdir(store.stateFolder(id), { recursive: true });
    await fs.writeFile(path.join(store.stateFolder(id), 'workflow.md'), words);
    return { id, run, content };
  }
  async function isWhole({ id, run, content }: Awaited<ReturnType<typeof keptRun>>): Promise<void> {
    const words = run.messages[0]!.content;
    assert.deepEqual(await store.read(id), run);
    assert.equal(await store.contents.read(id, content), `before: ${words}`);
    assert.equal(await fs.readFile(path.join(store.stateFolder(id), 'workflow.md'), 'utf8'), words);
    assert.equal((await store.list()).find((one) => one.id === id)?.title, words);
    const open = await store.open(id);
    await open.close();
  }

  it('what a local model had read of it goes at once, and of no other run; a sweep takes what stayed', async () => {
    const [one, other] = [await keptRun('one'), await keptRun('other')];
    await fs.mkdir(store.modelStates, { recursive: true });
    const files = [one, other].flatMap(({ id }) => [`${id}.1.state`, `${id}.1.json`]);
    const write = () => Promise.all(files.map((name) => fs.writeFile(path.join(store.modelStates, name), 'read')));
    await write();
    await store.delete(one.id);
    const left = files.filter((name) => name.startsWith(other.id)).sort();
    assert.deepEqual((await fs.readdir(store.modelStates)).sort(), left);
    await write(); // as if the window had died in between
    await store.sweep();
    assert.deepEqual((await fs.readdir(store.modelStates)).sort(), left);
  });

  it('and others lose what a local model had read on request, but none at work here or in another window', async () => {
    const [resting, here, elsewhere] = [await keptRun('a'), await keptRun('b'), await keptRun('c')];
    await fs.mkdir(store.modelStates, { recursive: true });
    for (const { id } of [resting, here, elsewhere])
      for (const ending of ['state', 'json'])
        await fs.writeFile(path.join(store.modelStates, `${id}.1.${ending}`), 'x');
    const open = await store.open(elsewhere.id);
    await removeRestingSequenceStates(folder, new Set([here.id]));
    const left = [here, elsewhere].flatMap(({ id }) => [`${id}.1.json`, `${id}.1.state`]).sort();
    assert.deepEqual((await fs.readdir(store.modelStates)).sort(), left);
    await open.close();
    await removeRestingSequenceStates(path.join(folder, 'missing'), new Set());
  });

  it('comes back whole: its words, what it changed, its state, its title', async () => {
    const [one, other] = [await keptRun('add a flag'), await keptRun('and a test')];
    const name = await store.delete(one.id);
    assert.deepEqual(
      (await store.list()).map(({ title }) => title),
      ['and a test'],
    );
    await assert.rejects(store.read(one.id), { message: /does not exist/ });
    await assert.rejects(store.contents.read(one.id, one.content));
    const [deleted, ...others] = await store.deleted.list();
    assert.deepEqual([deleted?.title, deleted?.name, deleted?.daysLeft, others], ['add a flag', name, 30, []]);
    assert.equal(await store.deleted.restore(name), one.id);
    assert.deepEqual(await store.deleted.list(), []);
    await isWhole(one);
    await isWhole(other);
    await assert.rejects(store.deleted.restore(name), { message: 'This deleted run no longer exists.' });
  });

  it('is listed with the days that are left, the last one first', async () => {
    await store.delete((await keptRun('first')).id);
    today += 12.5 * day;
    await store.delete((await keptRun('second')).id);
    const left = async () => (await store.deleted.list()).map(({ title, daysLeft }) => `${title} ${daysLeft}`);
    assert.deepEqual(await left(), ['second 30', 'first 18']);
    today += 17 * day;
    assert.deepEqual(await left(), ['second 13', 'first 1']);
    today += day;
    assert.deepEqual(await left(), ['second 12']);
    today -= 365 * day; // a clock that went back
    assert.deepEqual(await left(), ['second 30', 'first 30']);
  });

  it('is removed 30 days later, and others are not', async () => {
    const first = await store.delete((await keptRun('first')).id);
    today += 10 * day;
    const second = await store.delete((await keptRun('second')).id);
    await fs.writeFile(path.join(deletedFolder(), 'notes.txt'), 'not ours');
    today += 20 * day - 1;
    await store.deleted.sweep();
    assert.equal((await store.deleted.list()).length, 2);
    today += 1;
    await Promise.all([store.deleted.sweep(), new RunStore(folder, () => today).deleted.sweep()]);
    assert.deepEqual((await fs.readdir(deletedFolder())).sort(), [second, 'notes.txt']);
    await assert.rejects(store.deleted.restore(first), { message: /deleted run no longer exists/ });
  });

  it('is removed at once when that is asked for, also where a removal was cut off', async () => {
    const name = await store.delete((await keptRun('a secret')).id);
    await store.deleted.remove(name);
    assert.deepEqual(await fs.readdir(deletedFolder()), []);
    await assert.rejects(store.deleted.remove(name), { message: /deleted run no longer exists/ });
    const other = await store.delete((await keptRun('another')).id);
    await fs.rename(path.join(deletedFolder(), other), path.join(deletedFolder(), `removing.${other}`));
    assert.deepEqual(await store.deleted.list(), [], 'half of a run is none');
    await store.deleted.sweep();
    assert.deepEqual(await fs.readdir(deletedFolder()), []);
  });

  it('cannot be one that is at work, here or in another window', async () => {
    const one = await keptRun('one');
    const open = await store.open(one.id);
    await assert.rejects(store.delete(one.id), { code: 'STORE_LOCKED' });
    await assert.rejects(new RunStore(folder).delete(one.id), { code: 'STORE_LOCKED' });
    await open.close();
    const lock = path.join(folder, 'runs', one.id, 'lock');
    await fs.writeFile(lock, JSON.stringify({ pid: 1, id: 'another process, alive' }));
    await assert.rejects(store.delete(one.id), { code: 'STORE_LOCKED' });
    await fs.rm(lock);
    await isWhole(one);
  });

  it('comes back free, although the window that deleted it was killed with its lock', async () => {
    const one = await keptRun('one');
    const name = await store.delete(one.id);
    for (const pid of [process.pid, 2 ** 22 + 1]) {
      await fs.writeFile(path.join(deletedFolder(), name, 'lock'), JSON.stringify({ pid, id: 'x' }));
      await store.deleted.restore(name);
      await isWhole(one);
      await fs.rename(path.join(folder, 'runs', one.id), path.join(deletedFolder(), name));
    }
  });

  it('does not come back over another one, and not from outside', async () => {
    const one = await keptRun('one');
    const name = await store.delete(one.id);
    await fs.cp(path.join(deletedFolder(), name), path.join(folder, 'runs', one.id), { recursive: true });
    await assert.rejects(store.deleted.restore(name), { message: 'This run is already in the list.' });
    await isWhole(one);
    const foreign = ['', '../runs', `../runs/${one.id}`, `1.${one.id}/..`, '1.run-../../x', one.id, `removing.${name}`];
    for (const other of foreign) {
      await assert.rejects(store.deleted.restore(other), { message: /deleted run no longer exists/ });
      await assert.rejects(store.deleted.remove(other), { message: /deleted run no longer exists/ });
    }
    assert.equal((await store.deleted.list()).length, 1);
  });

  it('still names what it follows, so that nobody clears that away', async () => {
    await store.delete((await keptRun('one')).id);
    assert.deepEqual(await store.workflowIds(), ['package:a/b']);
  });

  it('gives its contents up first when the quota is full', async () => {
    const [old, newer] = [await keptRun('x'.repeat(92)), await keptRun('y'.repeat(92))];
    const name = await store.delete(newer.id);
    await store.contents.trim(150, new Set());
    assert.equal((await store.contents.read(old.id, old.content)).length, 100);
    await store.deleted.restore(name);
    await assert.rejects(store.contents.read(newer.id, newer.content), { message: /no longer stored/ });
    assert.deepEqual(await store.read(newer.id), newer.run);
  });

  it('is private', async () => {
    const name = await store.delete((await keptRun('one')).id);
    const mode = async (file: string) => ((await fs.stat(file)).mode & 0o777).toString(8);
    assert.deepEqual([await mode(deletedFolder()), await mode(path.join(deletedFolder(), name))], ['700', '700']);
  });

  it('is in one place and whole, whichever of two windows deletes it and brings it back', async () => {
    const runs = await Promise.all(Array.from({ length: 10 }, (_, at) => keptRun(`run ${at}`)));
    const other = new RunStore(folder, () => today);
    for (let round = 0; round < 20; round++) {
      today++;
      const names = (await store.deleted.list()).map(({ name }) => name);
      await Promise.allSettled(
        [store, other].flatMap((window) => [
          ...runs.map(({ id }) => window.delete(id)),
          ...names.map((name) => window.deleted.restore(name)),
          window.list(),
          window.deleted.list(),
        ]),
      );
      const places = [...(await store.list()), ...(await other.deleted.list())].map(({ id }) => id);
      assert.deepEqual(places.sort(), runs.map(({ id }) => id).sort());
    }
    for (const { name } of await store.deleted.list()) await store.deleted.restore(name);
    for (const one of runs) await isWhole(one);
  });

  it('is in one place and whole, wherever the window that deletes it is killed', async () => {
    const runs = await Promise.all(Array.from({ length: 5 }, (_, at) => keptRun(`run ${at}`)));
    for (const steps of [1, 2, 5, 6, 9, 13]) {
      const child = spawn(process.execPath, ['--import', 'tsx', path.join(import.meta.dirname, 'deleter.ts'), folder], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const exited = once(child, 'exit');
      let seen = 0;
      for await (const _ of createInterface(child.stdout)) if (++seen === steps) child.kill('SIGKILL');
      await exited;
      assert.ok(seen >= steps);
      const places = [...(await store.list()), ...(await store.deleted.list())].map(({ id }) => id);
      assert.deepEqual(places.sort(), runs.map(({ id }) => id).sort());
    }
    for (const { name } of await store.deleted.list()) await store.deleted.restore(name);
    for (const one of runs) await isWhole(one);
  });
});
