import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SequenceStateCacheOptions } from '../../../../src/llm/local/ipc/stateCacheOptions.ts';
import {
  type InferenceSpeeds,
  isSequenceStateRestoreWorthwhile,
} from '../../../../src/llm/local/worker/restorePolicy.ts';
import { createSequenceSlots } from '../../../../src/llm/local/worker/slots.ts';
import { SequenceStateCache } from '../../../../src/llm/local/worker/stateCache.ts';
import { eventually } from '../../../support/eventually.ts';
import { Sequence, upTo } from '../sequence.ts';

const never = new AbortController().signal;

// Holds states-belong-to-their-model.
describe('what a model has read, on disk', () => {
  const root = mkdtempSync(path.join(tmpdir(), 'keeper-'));
  const folder = path.join(root, 'model-states');
  const runs = path.join(root, 'runs');
  const logged: string[] = [];
  let told: string[] = [];
  beforeEach(() => {
    mkdirSync(runs, { recursive: true });
    logged.length = 0;
    told = [];
  });
  afterEach(() => rmSync(root, { recursive: true }));

  /** A model's process with these sequences. */
  const begin = (
    sequences: Sequence[],
    { identity = 'one', ...more }: Partial<SequenceStateCacheOptions> & { identity?: string } = {},
  ) => {
    const slots = createSequenceSlots(sequences.map((sequence) => ({ sequence })));
    const keeper = new SequenceStateCache<number, Sequence>({
      folder,
      folders: [],
      runs,
      bytes: 1e9,
      restMs: 1,
      share: Number.POSITIVE_INFINITY,
      identity: async () => identity,
      bytesPerToken: 4,
      slots,
      log: (text) => logged.push(text),
      ...more,
    });
    /** A run's next prompt; gives how many of its tokens were there. */
    const ask = async (key: string | undefined, prompt: number[], signal = never): Promise<number> => {
      if (key) mkdirSync(path.join(runs, key), { recursive: true });
      const { value, giveBack } = await slots.borrow(key, signal);
      try {
        await keeper.enter(value, key, prompt, (event) => told.push(event.type), signal);
        const there = value.sequence.compareContextTokens(prompt).firstDifferentIndex;
        value.sequence.tokens = [...prompt];
        return there;
      } finally {
        keeper.left(value);
        giveBack();
      }
    };
    return { keeper, ask, slots };
  };
  const names = (ending: string) =>
    existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(ending)) : [];
  const kept = (key: string, tokens: number) =>
    eventually(`${key} is kept`, () => logged.some((line) => line.includes(`${key}: ${tokens} tokens`)));
  const bytesKept = () => names('.state').reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0);

  it('a run that rests is kept, and taken up by the next process', async () => {
    await begin([new Sequence()]).ask('run-a', upTo(1000));
    await kept('run-a', 1000);
    assert.equal(await begin([new Sequence()]).ask('run-a', upTo(1200)), 1000);
    assert.deepEqual(told, ['restoring', 'restored']);
  });

  it('nobody else can read it', async () => {
    await begin([new Sequence()]).ask('run-a', upTo(1000));
    await kept('run-a', 1000);
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    for (const name of readdirSync(folder)) assert.equal(statSync(path.join(folder, name)).mode & 0o777, 0o600, name);
  });

  it('of a run there is the newest alone', async () => {
    const { ask } = begin([new Sequence()]);
    for (const count of [500, 900, 1400]) {
      await ask('run-a', upTo(count));
      await kept('run-a', count);
    }
    await eventually('one is left', () => names('.state').length === 1 && names('.json').length === 1);
  });

  it('what is drafted is not saved', async () => {
    const sequence = new Sequence();
    const { ask } = begin([sequence]);
    const asked = ask('run-a', upTo(1000));
    sequence.drafted = 3;
    await asked;
    await kept('run-a', 1000);
  });

  it('a run that makes place for another is kept before, and is there when it comes back', async () => {
    const { ask } = begin([new Sequence()], { restMs: 60_000 });
    await ask('run-a', upTo(1000));
    assert.equal(await ask('run-b', upTo(1000, 5000)), 0);
    assert.equal(await ask('run-a', upTo(1100)), 1000);
    assert.equal(await ask('run-b', upTo(1100, 5000)), 1000);
  });

  it('a request of no run is not kept, and what was there before it is', async () => {
    const { ask, keeper } = begin([new Sequence()], { restMs: 60_000 });
    await ask('run-a', upTo(1000));
    await ask(undefined, upTo(700, 9000));
    await keeper.saveAll(1000);
    assert.deepEqual(
      names('.json').map((name) => name.split('.')[0]),
      ['run-a'],
    );
  });

  it('a new run begins with what another has of its beginning', async () => {
    await begin([new Sequence()]).ask('run-a', upTo(1000));
    await kept('run-a', 1000);
    const prompt = [...upTo(600), ...upTo(300, 7000)];
    assert.equal(await begin([new Sequence()]).ask('run-b', prompt), 600);
  });

  it('and so does a request of no run', async () => {
    await begin([new Sequence()]).ask('run-a', upTo(1000));
    await kept('run-a', 1000);
    assert.equal(await begin([new Sequence()]).ask(undefined, [...upTo(600), ...upTo(300, 7000)]), 600);
  });

  it('but not where it could not be cut back to it', async () => {
    await begin([new Sequence(true)]).ask('run-a', upTo(1000));
    await kept('run-a', 1000);
    assert.equal(await begin([new Sequence(true)]).ask('run-b', [...upTo(600), ...upTo(300, 7000)]), 0);
    assert.equal(await begin([new Sequence(true)]).ask('run-a', upTo(1200)), 1000);
  });

  it('what was read in a larger context waits for one as large, and says so', async () => {
    await begin([new Sequence(false, 4, 16_384)]).ask('run-a', upTo(9000));
    await kept('run-a', 9000);
    const { ask, keeper } = begin([new Sequence()], { restMs: 60_000 });
    assert.deepEqual(
      [
        await keeper.wants('run-a', upTo(9100)),
        await keeper.wants('run-b', [...upTo(600), ...upTo(300, 50_000)]),
        await keeper.wants('run-b', upTo(900, 50_000)),
        await keeper.wants(undefined, upTo(9100)),
      ],
      [9001, 9001, 0, 0],
    );
    assert.equal(await ask('run-a', upTo(8000)), 0);
    assert.equal(await keeper.wants('run-a', upTo(9100)), 0, 'it is in memory');
    assert.equal(names('.state').length, 1, 'it is there still');
    assert.equal(await begin([new Sequence(false, 4, 16_384)]).ask('run-a', upTo(8500)), 8500);
  });

  it('what is not in memory any more is looked for on disk', async () => {
    const sequence = new Sequence();
    const { ask, keeper, slots } = begin([sequence], { restMs: 1 });
    await ask('run-a', upTo(1000));
    await kept('run-a', 1000);
    sequence.tokens = [];
    keeper.forget(slots.all()[0]!.value);
    assert.equal(await ask('run-a', upTo(1100)), 1000);
  });

  it('what is in memory already is not looked for', async () => {
    await begin([new Sequence()]).ask('run-a', upTo(1000));
    await kept('run-a', 1000);
    const sequence = new Sequence();
    const { ask } = begin([sequence], { restMs: 60_000 });
    await ask('run-b', upTo(900));
    told = [];
    sequence.did = [];
    assert.equal(await ask('run-c', upTo(1000)), 900);
    assert.deepEqual([told, sequence.did], [[], ['save']]);
  });

  it('is cleared before it is loaded, and has a mark there where it cannot be cut back', async () => {
    await begin([new Sequence(true)]).ask('run-a', upTo(1000));
    await kept('run-a', 1000);
    const sequence = new Sequence(true);
    await begin([sequence]).ask('run-a', upTo(1200));
    assert.deepEqual(sequence.did.slice(0, 3), ['clear', 'load', 'checkpoint']);
  });

  it('what the engine refuses is cleared away, and the next best is tried', async () => {
    const { ask } = begin([new Sequence()]);
    for (const [key, count] of [
      ['run-a', 1000],
      ['run-b', 800],
    ] as const) {
      await ask(key, upTo(count));
      await kept(key, count);
    }
    const sequence = new Sequence();
    sequence.refuses = true;
    assert.equal(await begin([sequence]).ask('run-a', upTo(1200)), 0);
    assert.deepEqual(sequence.did.slice(0, 6), ['clear', 'load', 'clear', 'clear', 'load', 'clear']);
  });

  const harms: [string, (file: string) => void][] = [
    [
      'a byte of it is another',
      (file) => writeFileSync(file, readFileSync(file, 'latin1').replace('7', '8'), 'latin1'),
    ],
    ['its end is missing', (file) => writeFileSync(file, readFileSync(file).subarray(0, 900))],
    ['it is longer', (file) => writeFileSync(file, `${readFileSync(file, 'latin1')} `)],
    ['it is empty', (file) => writeFileSync(file, '')],
    ['it is gone', (file) => rmSync(file)],
  ];
  for (const [what, harm] of harms)
    it(`the engine never sees a file when ${what}`, async () => {
      await begin([new Sequence()]).ask('run-a', upTo(1000));
      await kept('run-a', 1000);
      await eventually('it is there', () => names('.state').length === 1); // what is told may be of the process before
      harm(path.join(folder, names('.state')[0]!));
      const sequence = new Sequence();
      assert.equal(await begin([sequence], { restMs: 60_000 }).ask('run-a', upTo(1200)), 0);
      assert.deepEqual([sequence.did, names('.state'), names('.json')], [[], [], []]);
    });

  it('nor when what says what it is says nothing', async () => {
    await begin([new Sequence()]).ask('run-a', upTo(1000));
    await kept('run-a', 1000);
    writeFileSync(path.join(folder, names('.json')[0]!), '{"identity":"one","tokens":');
    const sequence = new Sequence();
    assert.equal(await begin([sequence], { restMs: 60_000 }).ask('run-a', upTo(1200)), 0);
    assert.deepEqual(sequence.did, []);
  });

  it('nor that of another model, engine or context', async () => {
    await begin([new Sequence()]).ask('run-a', upTo(1000));
    await kept('run-a', 1000);
    const sequence = new Sequence();
    assert.equal(await begin([sequence], { identity: 'other', restMs: 60_000 }).ask('run-a', upTo(1200)), 0);
    assert.deepEqual(sequence.did, []);
    assert.equal(names('.state').length, 1, 'it waits for its own');
  });

  it('Stop in the check of a file ends it there, and the file stays', async () => {
    await begin([new Sequence()]).ask('run-a', upTo(1000));
    await kept('run-a', 1000);
    const stop = new AbortController();
    const { keeper } = begin([new Sequence()]);
    const reason = new Error('stopped');
    const entering = keeper.enter(
      { sequence: new Sequence() },
      'run-a',
      upTo(1200),
      (event) => {
        if (event.type === 'restoring') stop.abort(reason);
      },
      stop.signal,
    );
    await assert.rejects(entering, (error) => error === reason);
    assert.equal(names('.state').length, 1);
  });

  it('Stop before anything of a run is there leaves what is kept of it', async () => {
    const { ask, keeper } = begin([new Sequence()], { restMs: 60_000 });
    await ask('run-a', upTo(1000));
    await ask('run-b', upTo(800, 5000));
    const stop = new AbortController();
    told.push = (...events) => {
      stop.abort(new Error('stopped'));
      return events.length;
    };
    await assert.rejects(ask('run-a', upTo(1200), stop.signal), { message: 'stopped' });
    await keeper.saveAll(1000);
    told = [];
    assert.equal(await begin([new Sequence()]).ask('run-a', upTo(1200)), 1000);
  });

  it('nothing is kept of a run that was deleted, also in this very moment', async () => {
    const { ask, keeper } = begin([new Sequence()], { restMs: 60_000 });
    await ask('run-a', upTo(1000));
    rmSync(path.join(runs, 'run-a'), { recursive: true });
    await keeper.saveAll(1000);
    assert.deepEqual(names('.state'), []);
    const sequence = new Sequence();
    const late = begin([sequence], { restMs: 60_000 });
    await late.ask('run-b', upTo(1000));
    const save = sequence.saveStateToFile.bind(sequence);
    sequence.saveStateToFile = async (file) => {
      await save(file);
      rmSync(path.join(runs, 'run-b'), { recursive: true });
    };
    await late.keeper.saveAll(1000);
    assert.deepEqual([names('.state'), names('.json'), sequence.did], [[], [], ['save']]);
  });

  it('a run that rested while the context grew is kept after it', async () => {
    const { ask, keeper, slots } = begin([new Sequence()]);
    const asking = ask('run-a', upTo(1000));
    const giveBack = await slots.alone(never);
    await asking;
    await keeper.saveAll(1000);
    assert.deepEqual(names('.state'), []);
    giveBack();
    await kept('run-a', 1000);
  });

  it('a run at work is left alone', async () => {
    const sequence = new Sequence();
    const { ask, keeper, slots } = begin([sequence], { restMs: 60_000 });
    await ask('run-a', upTo(1000));
    const loan = await slots.borrow('run-a', never);
    await keeper.saveAll(1000);
    assert.deepEqual(sequence.did, []);
    loan.giveBack();
    await keeper.saveAll(1000);
    assert.deepEqual(sequence.did, ['save']);
  });

  it('who comes while it is saved waits for the engine alone, not for the check', async () => {
    const sequence = new Sequence();
    const { ask, keeper } = begin([sequence], { restMs: 60_000 });
    await ask('run-a', upTo(1000));
    let saved = () => {};
    const save = sequence.saveStateToFile.bind(sequence);
    sequence.saveStateToFile = async (file) => {
      await new Promise<void>((resolve) => {
        saved = resolve;
      });
      await save(file);
    };
    const saving = keeper.saveAll(1000);
    await eventually('it is at it', () => names('.part').length === 1);
    const order: string[] = [];
    const asking = ask('run-a', upTo(1100)).then(() => order.push('asked'));
    saved();
    await Promise.all([asking, saving.then(() => order.push('kept'))]);
    assert.deepEqual(order, ['asked', 'kept']);
  });

  it('takes no longer than it may where somebody waits', async () => {
    const large = new Sequence(false, 4);
    const { ask, keeper } = begin([large], { restMs: 60_000, bytesPerToken: 1e6 } as never);
    await ask('run-a', upTo(1000)); // a gigabyte, as far as is known
    await keeper.saveAll(1000);
    assert.deepEqual(large.did, []);
    await keeper.saveAll(60_000);
    assert.deepEqual(large.did, ['save']);
  });

  it('fifty runs stay within the limit, the oldest go first', async () => {
    const more = { bytes: 1_000_000, bytesPerToken: 100, restMs: 60_000 } as never;
    const { ask, keeper } = begin([new Sequence(false, 100)], more);
    for (const index of upTo(50)) {
      await ask(`run-${index}`, upTo(1000, index * 10_000));
      await keeper.saveAll(1000);
      // The times of a quick machine may be the same.
      for (const name of names('.json').filter((one) => one.startsWith(`run-${index}.`)))
        utimesSync(path.join(folder, name), index, index);
      assert.ok(bytesKept() <= 1_000_000, `${bytesKept()} bytes after run ${index}`);
    }
    const left = names('.state').map((name) => Number(/\d+/.exec(name)![0]));
    assert.deepEqual(
      left.sort((one, two) => one - two),
      upTo(10, 40),
    );
  });

  it('those of other workspaces count, and go when they are older', async () => {
    const other = path.join(root, 'elsewhere');
    await begin([new Sequence(false, 100)], { folder: other, bytesPerToken: 100 } as never).ask('run-x', upTo(1000));
    await kept('run-x', 1000);
    await eventually('it is whole', () => readdirSync(other).some((name) => name.endsWith('.json')));
    for (const name of readdirSync(other)) utimesSync(path.join(other, name), 1, 1);
    const more = { folders: [other], bytes: 150_000, bytesPerToken: 100 } as never;
    await begin([new Sequence(false, 100)], more).ask('run-a', upTo(1000));
    await kept('run-a', 1000);
    assert.deepEqual(
      readdirSync(other).filter((name) => name.endsWith('.state')),
      [],
    );
  });

  it('what kills have left behind goes when it is old, and the states of runs that are not there', async () => {
    mkdirSync(folder, { mode: 0o700 });
    for (const name of ['run-a.1.part', 'run-a.2.state', 'run-a.3.json', 'run-gone.4.state', 'run-gone.4.json']) {
      writeFileSync(path.join(folder, name), '{}');
      if (!name.startsWith('run-gone')) utimesSync(path.join(folder, name), 1, 1);
    }
    writeFileSync(path.join(folder, 'run-a.5.part'), 'at work on it');
    await begin([new Sequence()]).ask('run-a', upTo(1000));
    await kept('run-a', 1000);
    const left = readdirSync(folder).filter((name) => /\.\d\./.test(name));
    assert.deepEqual(left, ['run-a.5.part']);
  });

  it('is not kept where restoring takes too long beside reading', async () => {
    const { ask, keeper } = begin([new Sequence()], { share: 0 });
    await keeper.hasRead(1000, 1000);
    await ask('run-a', upTo(1000));
    await kept('run-a', 1000); // nobody has restored anything yet
    const next = begin([new Sequence()], { share: 0, restMs: 60_000 });
    assert.equal(await next.ask('run-a', upTo(1200)), 1000, 'it is tried once');
    assert.deepEqual([names('.state'), names('.json')], [[], []]);
    await next.keeper.saveAll(1000);
    assert.deepEqual(names('.state'), [], 'and not kept again');
  });
});

describe('whether a state is worth restoring', () => {
  const now = Date.UTC(2026, 0, 1);
  const state = { tokens: 1000, bytes: 1e6 };
  const rows: [what: string, speeds: InferenceSpeeds, expected: boolean][] = [
    ['nothing is known', {}, true],
    ['nobody has restored', { readPerSecond: 100 }, true],
    ['half the time of reading', { readPerSecond: 100, restoredPerSecond: 2e5, restoredAt: now }, true],
    ['a little more', { readPerSecond: 100, restoredPerSecond: 1.99e5, restoredAt: now }, false],
    ['a graphics card', { readPerSecond: 1e5, restoredPerSecond: 1e6, restoredAt: now }, false],
    ['that was two days ago', { readPerSecond: 1e5, restoredPerSecond: 1e6, restoredAt: now - 48 * 3600e3 }, true],
  ];
  for (const [what, speeds, expected] of rows)
    it(what, () => assert.equal(isSequenceStateRestoreWorthwhile(state, speeds, now), expected));
});
