import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  contextSizeCandidates,
  contextSizeForTokens,
  tokensWithReply,
} from '../../../../src/llm/local/modelFile/contextSize.ts';
import {
  bestInferenceContextShape,
  type MemoryEstimator,
  maxContextTokens,
} from '../../../../src/llm/local/worker/contextPlan.ts';
import {
  type ContextResizeDependencies,
  InferenceContextLostError,
  type InferenceContextShape,
  ResizableContext,
} from '../../../../src/llm/local/worker/resizableContext.ts';
import { removeSequenceStateLeftovers, type SequenceSlot } from '../../../../src/llm/local/worker/stateTransfer.ts';
import { Sequence, upTo } from '../sequence.ts';

const never = new AbortController().signal;
const first: InferenceContextShape = { size: 8192, fullCache: false };

describe('a context that grows', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'growing-'));
  /** What happened, in order. */
  let told: string[] = [];
  /** The files that there were when a context was made. */
  let files: string[] = [];
  beforeEach(() => {
    [told, files] = [[], []];
  });
  afterEach(() => assert.deepEqual(readdirSync(folder), [], 'no file is left'));
  after(() => rmSync(folder, { recursive: true }));

  const begin = (more: Partial<ContextResizeDependencies<Sequence>> = {}) => {
    const make = async (shape: InferenceContextShape) => {
      told.push(`made ${shape.size}`);
      files = readdirSync(folder);
      for (const name of files) assert.equal(statSync(path.join(folder, name)).mode & 0o777, 0o600);
      return toContext(shape);
    };
    const growing = new ResizableContext<number, Sequence>(toContext(first), {
      make,
      shapeOf: async (size, now) => ({ ...now, size }),
      most: 32_768,
      areOfOneKind: () => true,
      bytesPerToken: 4,
      folder,
      send: (message) =>
        told.push(message.type === 'growing' ? `growing to ${message.size}` : `of ${message.contextSize}`),
      log: () => {},
      ...more,
    });
    let losses = 0;
    growing.onLoss = () => {
      losses++;
    };
    /** A run's next prompt; gives how many of its tokens were there. */
    const ask = async (key: string | undefined, prompt: number[], signal = never): Promise<number> => {
      await growing.reach({ tokens: prompt.length, key, prompt }, signal);
      const { value, giveBack } = await growing.slots.borrow(key, signal);
      try {
        const there = value.sequence.compareContextTokens(prompt).firstDifferentIndex;
        value.sequence.tokens = prompt.slice(0, value.sequence.contextSize);
        return there;
      } finally {
        giveBack();
      }
    };
    return { growing, ask, losses: () => losses };
  };

  it('goes on from what all runs had read', async () => {
    const { growing, ask, losses } = begin();
    await ask('one', upTo(3000, 1));
    await ask('two', upTo(5000, 90_000));
    assert.equal(await ask('one', upTo(9000, 1)), 3000);
    assert.equal(await ask('two', upTo(6000, 90_000)), 5000);
    assert.deepEqual([growing.shape.size, files.length, losses()], [16_384, 2, 0]);
    assert.deepEqual(told, ['growing to 16384', 'made 16384', 'of 32768']);
  });

  it('at once to what is needed, and not beyond what it may', async () => {
    const { growing, ask } = begin({ most: 20_000 });
    await ask('one', upTo(17_000));
    assert.equal(growing.shape.size, 20_000);
    assert.equal(await ask('one', upTo(30_000)), 17_000);
    assert.deepEqual(told, ['growing to 20000', 'made 20000', 'of 20000']);
  });

  it('to what memory has, where that is less', async () => {
    const { growing, ask } = begin({
      shapeOf: async (size, now) => (size > 16_384 ? undefined : { ...now, size }),
    });
    await ask('one', upTo(30_000));
    assert.equal(growing.shape.size, 16_384);
    await ask('one', upTo(31_000));
    assert.equal(told.length, 3, 'and is left in peace then');
  });

  it('is cut to the prompt before: marks to be cut back to are lost with the context', async () => {
    const { ask } = begin();
    await ask('one', upTo(5000));
    assert.equal(await ask('one', [...upTo(4000), ...upTo(6000, 50_000)]), 4000);
  });

  it('waits for who is at work, and lets nobody begin meanwhile', async () => {
    const { growing, ask } = begin();
    const loan = await growing.slots.borrow('two', never);
    const asking = ask('one', upTo(9000)).then(() => told.push('one is asked'));
    const later = ask('three', upTo(100)).then(() => told.push('three is asked'));
    assert.equal(growing.slots.take(growing.slots.all()[0]!.value), undefined, 'nor is anything looked after');
    loan.giveBack();
    await Promise.all([asking, later]);
    assert.deepEqual(told.slice(0, 3), ['growing to 16384', 'made 16384', 'of 32768']);
  });

  it('some that need it at once: it grows for each as far as is left', async () => {
    const { growing, ask } = begin();
    await Promise.all([
      ask('one', upTo(9000, 1)),
      ask('two', upTo(15_000, 90_000)),
      ask('three', upTo(20_000, 200_000)),
    ]);
    assert.equal(growing.shape.size, 32_768);
    assert.deepEqual(
      told.filter((line) => line.startsWith('made')),
      ['made 16384', 'made 32768'],
    );
  });

  it('Stop while it waits: nothing has happened, and the others go on', async () => {
    const { growing, ask } = begin();
    const loan = await growing.slots.borrow('two', never);
    const stop = new AbortController();
    const asking = assert.rejects(ask('one', upTo(9000), stop.signal), { message: 'stopped' });
    const later = ask('three', upTo(100));
    stop.abort(new Error('stopped'));
    await Promise.all([asking, later]);
    loan.giveBack();
    assert.deepEqual(told, []);
  });

  it('Stop while states are saved: it stays as it was', async () => {
    const { growing, ask } = begin();
    await ask('one', upTo(3000));
    const { sequence } = seatOf(growing, 'one');
    const stop = new AbortController();
    const save = sequence.saveStateToFile.bind(sequence);
    sequence.saveStateToFile = async (file) => {
      stop.abort(new Error('stopped'));
      await save(file);
    };
    await assert.rejects(ask('one', upTo(9000), stop.signal), { message: 'stopped' });
    assert.deepEqual(told, ['growing to 16384', 'of 32768']);
    assert.equal(await ask('one', upTo(3500)), 3000);
  });

  it('where the larger one cannot be had, the one before comes back with all of it, and it is not tried again', async () => {
    const { growing, ask } = begin({
      make: async (shape) => {
        told.push(`made ${shape.size}`);
        if (shape.size > 8192) throw new Error('no memory');
        return toContext(shape);
      },
    });
    await ask('one', upTo(3000, 1));
    await ask('two', upTo(5000, 90_000));
    assert.equal(await ask('one', upTo(9000, 1)), 3000);
    assert.equal(await ask('two', upTo(6000, 90_000)), 5000);
    assert.equal(growing.most, 8192);
    await ask('one', upTo(9000, 1));
    assert.deepEqual(told, ['growing to 16384', 'made 16384', 'made 8192', 'of 8192']);
  });

  it('where that cannot be had either, it is lost', async () => {
    const { ask } = begin({
      make: async () => {
        throw new Error('no memory');
      },
    });
    await ask('one', upTo(3000));
    await assert.rejects(ask('one', upTo(9000)), InferenceContextLostError);
  });

  it('of another kind nothing is taken: it is read again, or from the disk', async () => {
    const { ask, losses } = begin({ areOfOneKind: () => false });
    await ask('one', upTo(3000, 1));
    assert.equal(await ask('one', upTo(9000, 1)), 0);
    assert.equal(losses(), 2);
  });

  const harms: [string, (file: string, to: Sequence) => void][] = [
    ['the engine refuses it', (_, to) => Object.assign(to, { refuses: true })],
    ['it is of other tokens', (file) => writeFileSync(file, JSON.stringify(upTo(3000, 7)))],
    ['it is gone', (file) => rmSync(file)],
  ];
  for (const [what, harm] of harms)
    it(`a state is not believed when ${what}`, async () => {
      const { ask, losses } = begin({
        make: async (shape) => {
          const context = toContext(shape);
          for (const name of readdirSync(folder)) harm(path.join(folder, name), context.sequences[0]!);
          return context;
        },
      });
      await ask('one', upTo(3000, 1));
      assert.equal(await ask('one', upTo(9000, 1)), 0);
      assert.equal(losses(), 2);
    });

  it('a disk that is full costs the reading, not the reply', async () => {
    const { ask } = begin({ bytesPerToken: 1e15 });
    await ask('one', upTo(3000));
    assert.equal(await ask('one', upTo(9000)), 0);
  });

  it('without a folder it uses one of its own, which is gone then', async () => {
    const own: string[] = [];
    const { growing, ask } = begin({ folder: undefined });
    await ask('one', upTo(3000));
    const { sequence } = seatOf(growing, 'one');
    const save = sequence.saveStateToFile.bind(sequence);
    sequence.saveStateToFile = (file) => {
      own.push(path.dirname(file));
      assert.equal(statSync(path.dirname(file)).mode & 0o777, 0o700);
      return save(file);
    };
    assert.equal(await ask('one', upTo(9000)), 3000);
    assert.deepEqual(own.map(existsSync), [false]);
  });

  it('what a process left that was killed at it goes with the next', async () => {
    const left = mkdtempSync(path.join(tmpdir(), 'left-'));
    for (const name of ['carried-999999999.1.part', `carried-${process.pid}.2.part`, 'run-1.3.part'])
      writeFileSync(path.join(left, name), '');
    const own = path.join(tmpdir(), 'towpath-carried-999999999-abc');
    mkdirSync(own, { recursive: true });
    await removeSequenceStateLeftovers(left);
    assert.equal(existsSync(own), false);
    assert.deepEqual(readdirSync(left), [`carried-${process.pid}.2.part`, 'run-1.3.part']);
    rmSync(left, { recursive: true });
    await removeSequenceStateLeftovers(left);
  });
});

describe('how large a context is', () => {
  const table: [tokens: number, most: number, size: number][] = [
    [0, 32_768, 8192],
    [8192, 32_768, 8192],
    [8193, 32_768, 16_384],
    [40_000, 32_768, 32_768],
    [9000, 12_288, 12_288],
    [0, 4096, 4096],
  ];
  for (const [tokens, most, size] of table)
    it(`${tokens} tokens, ${most} at most: ${size}`, () => assert.equal(contextSizeForTokens(tokens, most), size));

  it('has room for a reply of the usual length, or of the one that is asked for, and for a short one at least', () =>
    assert.deepEqual(
      [undefined, 400, 9000, 8].map((maxTokens) => tokensWithReply(5000, maxTokens)),
      [9096, 5400, 9096, 5320],
    ));

  it('grows to the next best where memory is short', () =>
    assert.deepEqual(
      [
        [32_768, 8192],
        [20_000, 8192],
        [8192, 8192],
      ].map(([from, to]) => contextSizeCandidates(from!, to!)),
      [[32_768, 16_384], [20_000, 16_384], []],
    ));

  /** A kilobyte for each token, and another one where all that was read is kept. */
  const memory = (budget: number, more: Partial<MemoryEstimator> = {}): MemoryEstimator => ({
    budget: budget * 1000,
    keepsAll: false,
    needs: async ({ size, fullCache }) => ({ ram: size * (fullCache ? 2000 : 1000), vram: 0 }),
    free: async () => ({ ram: 1e9, vram: Number.POSITIVE_INFINITY }),
    taken: () => ({ ram: 0, vram: 0 }),
    ...more,
  });

  const mosts: [what: string, most: Promise<number>, expected: number][] = [
    ['as much as is wanted', maxContextTokens(memory(40_000), 32_768), 32_768],
    ['as much as memory has', maxContextTokens(memory(12_345), 32_768), 12_288],
    ['never less than it begins with', maxContextTokens(memory(1000), 32_768), 8192],
    ['less where that is wanted', maxContextTokens(memory(1000), 2048), 2048],
  ];
  for (const [what, most, expected] of mosts) it(what, async () => assert.equal(await most, expected));

  const all: InferenceContextShape = { size: 8192, fullCache: true };
  const windows = memory(40_000, { keepsAll: true });
  const others = memory(40_000, { free: async () => ({ ram: 9e6, vram: Number.POSITIVE_INFINITY }) });
  const shapes: [what: string, shape: Promise<InferenceContextShape | undefined>, fullCache: boolean | undefined][] = [
    ['it', bestInferenceContextShape(memory(20_000), 16_384), false],
    ['none', bestInferenceContextShape(memory(10_000), 16_384), undefined],
    ['all that was read, of a model with a window', bestInferenceContextShape(windows, 16_384), true],
    ['the window alone', bestInferenceContextShape({ ...windows, budget: 20e6 }, 16_384), false],
    [
      'the window alone, where it was so before',
      bestInferenceContextShape(windows, 16_384, { ...all, fullCache: false }),
      false,
    ],
    ['none, where others have taken it meanwhile', bestInferenceContextShape(others, 16_384, all), undefined],
    [
      'it, with what the one before gives back',
      bestInferenceContextShape({ ...others, taken: () => ({ ram: 8e6, vram: 0 }) }, 16_384),
      false,
    ],
    [
      'none of a graphics card',
      bestInferenceContextShape(memory(20_000, { free: async () => ({ ram: 1e9, vram: -1 }) }), 16_384),
      undefined,
    ],
  ];
  for (const [what, shape, fullCache] of shapes)
    it(`memory for ${what}`, async () =>
      assert.deepEqual(await shape, fullCache === undefined ? undefined : { size: 16_384, fullCache }));
});

const seatOf = ({ slots }: ResizableContext<number, Sequence>, owner: string): SequenceSlot<Sequence> =>
  slots.all().find(({ key }) => key === owner)!.value;

function toContext(shape: InferenceContextShape) {
  const sequences = Array.from({ length: 2 }, () => new Sequence(false, 4, shape.size));
  const close = async () => {
    for (const sequence of sequences) sequence.tokens = [];
  };
  return { ...shape, sequences, close };
}
