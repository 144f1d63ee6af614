import assert from 'node:assert/strict';
import { createCachedSettingsReader } from '../../../src/extension/settings/cachedSettings.ts';

describe('what is kept of the settings', () => {
  function settings() {
    let [reads, turns] = [0, 50];
    const listeners = new Set<() => void>();
    const listen = (changed: () => void) => {
      listeners.add(changed);
      return { dispose: () => void listeners.delete(changed) };
    };
    const now = createCachedSettingsReader(() => {
      reads++;
      return { turns };
    });
    const set = (value: number) => {
      turns = value;
      for (const changed of listeners) changed();
    };
    return { now, listen, set, listeners, reads: () => reads };
  }

  it('is read once, however often it is asked for, and again after each change', () => {
    const { now, listen, set, reads } = settings();
    now.watch(listen);
    for (let event = 0; event < 10_000; event++) assert.equal(now().turns, 50);
    assert.equal(reads(), 1);
    set(3);
    set(4);
    for (let event = 0; event < 10_000; event++) assert.equal(now().turns, 4);
    assert.equal(reads(), 2, 'not for a change that nobody asked after');
  });

  it('is true at once for who hears of the change, too', () => {
    const { now, listen, set } = settings();
    const heard: number[] = [];
    now.watch(listen);
    listen(() => heard.push(now().turns));
    now();
    set(3);
    assert.deepEqual(heard, [3]);
  });

  it('is read whenever it is asked for where nobody tells of changes', () => {
    const { now, listen, set, listeners } = settings();
    set(3);
    assert.equal(now().turns, 3);
    const watching = now.watch(listen);
    now();
    watching.dispose();
    set(4);
    assert.equal(now().turns, 4);
    assert.equal(listeners.size, 0);
  });

  it('cannot be changed by who asks', () => {
    const { now, listen } = settings();
    now.watch(listen);
    assert.throws(() => Object.assign(now(), { turns: 1 }), TypeError);
  });
});
