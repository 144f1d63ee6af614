import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { onAbort, raceWithAbort } from '../../../src/protocol/values/abort.ts';

const listenersOf = ({ signal }: AbortController) => getEventListeners(signal, 'abort').length;
const never = new Promise<never>(() => {});

describe('an abort', () => {
  it('is heard once, with its reason', () => {
    const stop = new AbortController();
    const heard: unknown[] = [];
    onAbort(stop.signal, (reason) => heard.push(reason));
    assert.deepEqual(heard, []);
    stop.abort('enough');
    stop.abort('again');
    assert.deepEqual(heard, ['enough']);
  });

  it('that has happened is heard before the return', () => {
    const heard: unknown[] = [];
    const stop = onAbort(AbortSignal.abort('before'), (reason) => heard.push(reason));
    assert.deepEqual(heard, ['before']);
    stop();
  });

  it('is not heard by a removed listener, and by each of two equal ones', () => {
    const stop = new AbortController();
    let heard = 0;
    const listener = () => heard++;
    const remove = onAbort(stop.signal, listener);
    onAbort(stop.signal, listener);
    assert.equal(listenersOf(stop), 2);
    remove();
    remove();
    assert.equal(listenersOf(stop), 1);
    stop.abort();
    assert.equal(heard, 1);
  });

  it('never comes without a signal', async () => {
    onAbort(undefined, () => assert.fail())();
    assert.equal(await raceWithAbort(Promise.resolve(1), undefined), 1);
  });
});

describe('a race with an abort', () => {
  it('gives what the promise gives, and leaves no listener', async () => {
    const stop = new AbortController();
    assert.equal(await raceWithAbort(Promise.resolve(1), stop.signal), 1);
    await assert.rejects(raceWithAbort(Promise.reject(new Error('no')), stop.signal), /^Error: no$/);
    assert.equal(listenersOf(stop), 0);
  });

  it('rejects with the reason at an abort, before and during the wait', async () => {
    const stop = new AbortController();
    const raced = raceWithAbort(never, stop.signal);
    stop.abort(new Error('enough'));
    await assert.rejects(raced, stop.signal.reason);
    await assert.rejects(raceWithAbort(Promise.resolve(1), stop.signal), stop.signal.reason);
    assert.equal(listenersOf(stop), 0);
  });

  it('ignores a late rejection', async () => {
    const unhandled: unknown[] = [];
    const hear = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', hear);
    try {
      await assert.rejects(raceWithAbort(Promise.reject(new Error('late')), AbortSignal.abort(new Error('first'))), {
        message: 'first',
      });
      await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual(unhandled, []);
    } finally {
      process.off('unhandledRejection', hear);
    }
  });

  it('gives or throws what is chosen for an abort', async () => {
    const aborted = AbortSignal.abort('enough');
    assert.equal(await raceWithAbort(never, aborted, (reason) => `stopped: ${reason}`), 'stopped: enough');
    const fail = () => {
      throw new Error('chosen');
    };
    await assert.rejects(raceWithAbort(never, aborted, fail), { message: 'chosen' });
  });
});
