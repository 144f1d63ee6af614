import assert from 'node:assert/strict';
import type { RunEvent } from '../../src/protocol/run/events.ts';
import { isStoredEvent } from '../../src/protocol/run/fold.ts';
import { createIsolatedListener } from '../../src/protocol/values/listeners.ts';

/** Tells where a listener fails: at an event, and at which one of all. */
export type Fails = (event: RunEvent, index: number) => boolean;

/** A listener that fails, and one that is told after it. */
export class FailingListener {
  /** Events that the other one received. */
  readonly received: RunEvent[] = [];
  failures = 0;
  reports = 0;
  private count = 0;
  private readonly others: (event: RunEvent) => void;

  constructor(private readonly fails: Fails) {
    const failing = (event: RunEvent) => {
      const index = this.count++;
      if (!this.fails(event, index)) return undefined;
      this.failures++;
      if (index % 2 === 0) throw new Error(`a listener at ${event.type}`);
      return Promise.reject(new Error(`a listener after ${event.type}`));
    };
    this.others = createIsolatedListener<RunEvent>(
      [failing, (event) => this.received.push(event)],
      () => this.reports++,
    );
  }

  /** Throws by itself, too, as a program without other listeners would. */
  readonly tell = (event: RunEvent): void => {
    const before = this.failures;
    this.others(event);
    if (this.failures > before) throw new Error('the only listener');
  };
}

/** Events as they are on record, without times, ids of processes and measures; a reply without an end is cut anywhere. */
export const comparable = (events: readonly RunEvent[]): string[] =>
  events
    .filter((event) => isStoredEvent(event) && event.type !== 'command-start')
    .map((event) =>
      JSON.stringify(event, (key, value) => {
        if (varying.has(key)) return undefined;
        return typeof value === 'string' ? value.replace(/(tick \d+ )+$/, 'tick ') : value;
      }),
    );

/** Words of an event: what goes on at the same time is listed as it came. */
const inAnyOrder = (event: string): string => (event.match(/[\w-]+/g) ?? []).toSorted().join(' ');

const varying = new Set([
  'at',
  'seq',
  'runId',
  'ms',
  'waitedMs',
  'id',
  'pid',
  'startTime',
  'marker',
  'process',
  'queued',
  'batch',
  'interruptedAt',
  'sent',
  'filling',
  'where',
  'location',
  'folder',
  'undo',
]);

/** Rejections that nobody handled while `work` ran. */
export async function unhandledDuring(work: () => Promise<void>): Promise<unknown[]> {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', note);
  try {
    await work();
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off('unhandledRejection', note);
    for (const listener of others) process.on('unhandledRejection', listener);
  }
  return unhandled;
}

/** All that is seen of a run from outside. */
export interface Life {
  /** What its methods gave. */
  results: unknown[];
  /** Events that were told. */
  told: readonly RunEvent[];
  /** Events on record. */
  kept: readonly string[];
  files: unknown;
}

/**
 * Lives the same life with a listener that fails nowhere, at every type of event, and at every `nth` event: all of them are alike.
 * @param live gives what came of a life with this listener
 * @param isOrdered false where parts of it go on at the same time
 */
export async function checkLives(live: (listener: FailingListener) => Promise<Life>, nth: number, isOrdered: boolean) {
  const lines = (events: readonly string[]) => (isOrdered ? events : events.map(inAnyOrder).toSorted());
  const told = (events: readonly RunEvent[]) => lines(comparable(events));
  const seen = ({ results, kept, files, told: events }: Life) => ({
    ...{ results, files },
    ...{ kept: lines(kept), told: told(events) },
  });
  const whole = new FailingListener(() => false);
  const expected = await live(whole);
  const types = [...new Set(expected.told.map(({ type }) => type))];
  const places: [string, Fails][] = [
    ...types.map((one): [string, Fails] => [one, ({ type }) => type === one]),
    ...expected.told.flatMap(({ type }, at): [string, Fails][] =>
      at % nth === 0 ? [[`${type} (${at})`, (_, index) => index === at]] : [],
    ),
    ['every event', () => true],
  ];
  for (const [place, fails] of places) {
    const listener = new FailingListener(fails);
    let life!: Life;
    const unhandled = await unhandledDuring(async () => {
      life = await live(listener);
    });
    assert.deepEqual(unhandled, [], place);
    assert.ok(listener.failures > 0 || place.includes('('), `it failed at ${place}`);
    assert.equal(listener.reports, listener.failures, place);
    assert.deepEqual(told(listener.received), told(life.told), `${place}: the other listener received all`);
    assert.deepEqual(seen(life), seen(expected), place);
  }
  return { types, lives: places.length };
}
