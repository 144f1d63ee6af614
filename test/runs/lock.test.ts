import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { promises as fs, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import {
  acquireRunLock,
  acquireShortLock,
  findLockHolder,
  isRunLocked,
  runLockTimes,
  takeOverRunLock,
} from '../../src/runs/lock.ts';
import { type LockHolder, thisProcess } from '../../src/runs/storage/lockHolder.ts';
import { eventually } from '../support/eventually.ts';

describe('a lock', () => {
  let folder: string;
  let file: string;
  const usual = { ...runLockTimes };
  const children = new Set<ChildProcess>();
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'lock-'));
    file = path.join(folder, 'lock');
  });
  afterEach(async () => {
    Object.assign(runLockTimes, usual);
    for (const child of children) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
    }
    children.clear();
    rmSync(folder, { recursive: true });
  });

  it('is taken by one of many, and can be looked at meanwhile', async () => {
    for (let round = 0; round < 50; round++) {
      assert.equal(await isRunLocked(file), false);
      const looks = Promise.all(Array.from({ length: 8 }, () => isRunLocked(file)));
      const tries = await Promise.allSettled(Array.from({ length: 8 }, () => acquireRunLock(file)));
      const taken = tries.filter((one) => one.status === 'fulfilled');
      assert.equal(taken.length, 1);
      await looks;
      assert.equal(await isRunLocked(file), true);
      await taken[0]!.value.release();
    }
    assert.deepEqual(await fs.readdir(folder), [], 'nothing is left beside it');
  });

  const gone = 2 ** 22 + 1;
  const me = thisProcess();
  const another: LockHolder = { ...me, id: 'another', pid: process.ppid, since: 1, window: 'another' };
  const minuteAgo = () => Date.now() / 1000 - 60;

  /** What stands in the lock's file, when it last showed life (seconds of the epoch), and whether it can be taken. */
  const cases: [what: string, holder: Partial<LockHolder> | string, beat: () => number, taken: boolean][] = [
    ['of a process that is gone', { ...another, pid: gone }, Date.now, true],
    ['of this very number, in an earlier process', { ...me, id: 'before the restart', started: '1' }, Date.now, true],
    ['of a number that a foreign program has now', { ...another, pid: 1, started: '0' }, Date.now, true],
    ['of another container that shows life', { ...another, namespace: 'pid:[1]' }, () => Date.now() / 1000, false],
    [
      'of another container, with a number that is gone here',
      { ...another, namespace: 'pid:[1]', pid: gone },
      () => Date.now() / 1000,
      false,
    ],
    ['of another container without life', { ...another, namespace: 'pid:[1]' }, minuteAgo, true],
    ['of another machine that shows life', { ...another, boot: 'another' }, () => Date.now() / 1000, false],
    ['of another machine without life', { ...another, boot: 'another' }, minuteAgo, true],
    [
      'without life, and from a clock that was a year ahead',
      { ...another, boot: 'another' },
      () => Date.now() / 1000 + 365 * 86_400,
      true,
    ],
    ['where nobody knows of namespaces, without life', { ...another, namespace: 'unknown' }, minuteAgo, true],
    [
      'of a process whose start nobody knows, that shows life',
      { ...another, started: undefined },
      () => Date.now() / 1000,
      false,
    ],
    ['that is being written', '', () => Date.now() / 1000, false],
    ['that nobody wrote to its end', '{"pid":1', minuteAgo, true],
    ['of the first Towpath, at work', { pid: process.ppid, id: 'alive' }, minuteAgo, false],
    ['of the first Towpath, gone', { pid: gone, id: 'gone' }, () => Date.now() / 1000, true],
    ['of the first Towpath, with this very number', { pid: process.pid, id: 'x' }, () => Date.now() / 1000, true],
  ];
  for (const [what, holder, beat, taken] of cases)
    it(`${what} ${taken ? 'is taken over' : 'is somebody’s'}`, async () => {
      runLockTimes.watch = 20;
      await fs.writeFile(file, typeof holder === 'string' ? holder : JSON.stringify(holder));
      await fs.utimes(file, beat(), beat());
      if (!taken) return assert.rejects(acquireRunLock(file), { code: 'STORE_LOCKED' });
      const lock = await acquireRunLock(file);
      assert.deepEqual([await isRunLocked(file), await lock.isHeld()], [true, true]);
      await lock.release();
      assert.deepEqual(await fs.readdir(folder), []);
    });

  it('whose holder comes back to life while it is watched stays its own', async () => {
    runLockTimes.watch = 200;
    await fs.writeFile(file, JSON.stringify({ ...another, namespace: 'pid:[1]' }));
    await fs.utimes(file, 1, 1);
    const tried = acquireRunLock(file);
    const beating = setInterval(() => void fs.utimes(file, new Date(), new Date()), 10);
    await assert.rejects(tried, { code: 'STORE_LOCKED' }).finally(() => clearInterval(beating));
  });

  it('shows life as long as it is held, whatever this machine’s clock says', async () => {
    runLockTimes.beat = 5;
    const lock = await acquireRunLock(file, 'this window');
    await fs.utimes(file, 1, 1);
    await eventually('it shows life', async () => (await fs.stat(file)).mtimeMs > 1_000_000);
    const { holder } = (await findLockHolder(file))!;
    assert.deepEqual([holder?.window, holder?.pid, holder?.namespace], ['this window', process.pid, me.namespace]);
    await lock.release();
  });

  it('of a living window is taken over when a person says so, and that one knows', async () => {
    runLockTimes.beat = 5;
    await fs.writeFile(file, JSON.stringify({ ...another, started: undefined }));
    await assert.rejects(acquireRunLock(file), { code: 'STORE_LOCKED' });
    const lock = await takeOverRunLock(file);
    assert.deepEqual([lock.fromLiving, await lock.isHeld()], [true, true]);
    await assert.rejects(takeOverRunLock(file), { code: 'STORE_LOCKED' }, 'not from this window itself');
    await fs.writeFile(`${file}.new`, JSON.stringify({ ...another, id: 'taken back' }));
    await fs.rename(`${file}.new`, file); // as who takes it does: the one before may be writing into the old one
    assert.equal(await lock.isHeld(), false);
    await lock.release();
    assert.equal(JSON.parse(await fs.readFile(file, 'utf8')).id, 'taken back', 'what is another’s stays');
  });

  it('that is held for a moment is waited for', async () => {
    const brief = await acquireShortLock(file);
    const taken = acquireRunLock(file);
    await brief.release();
    await (await taken).release();
    const another = await acquireRunLock(file);
    await assert.rejects(acquireShortLock(file), { code: 'STORE_LOCKED' });
    await another.release();
  });

  it('is taken over although one was killed while it was doing that', async () => {
    const dead = JSON.stringify({ ...another, pid: gone });
    await fs.writeFile(file, dead);
    const { createHash } = await import('node:crypto');
    const right = `${file}.over-${createHash('sha256').update(dead).digest('hex').slice(0, 16)}`;
    await fs.writeFile(right, JSON.stringify({ ...another, id: 'killed at it', pid: gone }));
    const lock = await acquireRunLock(file);
    await lock.release();
    assert.deepEqual(await fs.readdir(folder), []);
  });

  /** Starts one of the scripts beside this, and resolves to its first line and a way to read the next. */
  async function start(script: string, args: string[], before: string[] = []) {
    const command = [...before, process.execPath, '--import', 'tsx', path.join(import.meta.dirname, script), ...args];
    const child = spawn(command[0]!, command.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
    children.add(child);
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const next = async (): Promise<string> => (await lines.next()).value;
    return { child, next, first: await next() };
  }

  it('has one owner at a time, whoever of six processes dies with it', async () => {
    const six = await Promise.all(Array.from({ length: 6 }, () => start('contender.ts', [folder, '25'])));
    for (const { child } of six) child.stdin!.write('go\n');
    const told = await Promise.all(six.map(({ next }) => next()));
    assert.deepEqual(
      told.map((line) => JSON.parse(line)),
      Array(6).fill({ taken: 25, twice: 0 }),
    );
  });

  it('of a process that was killed is free at once', async () => {
    const { child, first } = await start('holding.ts', [file]);
    assert.equal(first, `has it ${child.pid}`);
    await assert.rejects(acquireRunLock(file), { code: 'STORE_LOCKED' });
    child.kill('SIGKILL');
    await once(child, 'exit');
    const lock = await acquireRunLock(file);
    assert.equal(lock.fromLiving, false);
    await lock.release();
  });

  const contained = ['unshare', '--pid', '--fork', '--kill-child'];
  if (spawnSync(contained[0]!, [...contained.slice(1), 'true']).status === 0) {
    it('is kept by the holder of another container, and free when that has ended', async () => {
      Object.assign(runLockTimes, { silent: 3000, watch: 1500 });
      const { child, first } = await start('holding.ts', [file], contained);
      assert.match(first, /^has it [1-9]$/, 'its number is one of a container');
      await assert.rejects(acquireRunLock(file), { code: 'STORE_LOCKED' });
      const second = await start('holding.ts', [file], contained);
      assert.match(second.first, /^STORE_LOCKED [1-9]$/, 'also for one that has the same number elsewhere');
      child.kill('SIGKILL');
      await eventually('it is free', async () => {
        const lock = await acquireRunLock(file).catch(() => undefined);
        await lock?.release();
        return lock !== undefined;
      });
    });
  }
});
