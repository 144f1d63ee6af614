import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SequenceStateCacheOptions } from '../../../../src/llm/local/ipc/stateCacheOptions.ts';
import {
  forgetCheckpointsBeyond,
  takeRecordedCheckpoint,
  truncateToReusable,
} from '../../../../src/llm/local/worker/rewindableSequence.ts';
import { createSequenceSlots } from '../../../../src/llm/local/worker/slots.ts';
import { SequenceStateCache } from '../../../../src/llm/local/worker/stateCache.ts';
import { readSequenceStates } from '../../../../src/llm/local/worker/stateFiles.ts';
import { Sequence, upTo } from '../sequence.ts';

const never = new AbortController().signal;

describe('on disk, of a memory that cannot be cut back', () => {
  const root = mkdtempSync(path.join(tmpdir(), 'keeper-'));
  const folder = path.join(root, 'model-states');
  const runs = path.join(root, 'runs');
  const reply = upTo(100, 90_000);
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  after(() => rmSync(root, { recursive: true }));

  /** A process; `say` gives how many tokens of the prompt were there before they and a reply of 100 tokens were. */
  const begin = (more: Partial<SequenceStateCacheOptions> & { bytesPerToken?: number } = {}, canBeCut = false) => {
    const sequence = new Sequence(!canBeCut, 100);
    const slots = createSequenceSlots([{ sequence }]);
    const keeper = new SequenceStateCache<number, Sequence>({
      ...{ folder, folders: [], runs, bytes: 1e9, restMs: 60_000, share: Number.POSITIVE_INFINITY },
      ...{ identity: async () => 'one', bytesPerToken: 100, slots, log: () => {} },
      ...more,
    });
    const say = async (key: string, prompt: number[], answer = prompt.length): Promise<number> => {
      mkdirSync(path.join(runs, key), { recursive: true });
      const { value, giveBack } = await slots.borrow(key, never);
      await keeper.enter(value, key, prompt, () => {}, never);
      const there = await truncateToReusable(sequence, prompt);
      for (const length of new Set([answer, prompt.length].filter((one) => one > there))) {
        sequence.tokens = prompt.slice(0, length);
        await takeRecordedCheckpoint(sequence);
      }
      sequence.tokens.push(...reply);
      keeper.setPromptEnds(value, [answer, prompt.length]);
      keeper.left(value);
      giveBack();
      return there;
    };
    return { sequence, keeper, say, save: () => keeper.saveAll(10_000) };
  };
  const states = async () =>
    (await readSequenceStates(folder, 'one')).map(({ key, tokens }) => `${key} ${tokens.length}`).sort();
  const otherwise = (prompt: number[]) => [...prompt, ...upTo(50, 70_000)];

  it('its states are those at the end and at the ends of prompts, and it is afterwards as it was', async () => {
    const { sequence, say, save } = begin();
    await say('run-a', upTo(1000), 600);
    const before = sequence.contextTokens;
    await save();
    assert.deepEqual(await states(), ['run-a 1000', 'run-a 1100', 'run-a 600']);
    assert.deepEqual(sequence.contextTokens, before);
    assert.deepEqual(sequence.checkpoints, [600, 1000]);
    for (const [prompt, there] of [
      [[...upTo(1000), ...reply, 1], 1100],
      [otherwise(upTo(1000)), 1000],
      [otherwise(upTo(600)), 600],
      [otherwise(upTo(599)), 0],
    ] as [number[], number][])
      assert.equal(await begin().say('run-b', prompt), there);
  });

  it('one that can be cut back has one state', async () => {
    const { sequence, say, save } = begin({}, true);
    await say('run-a', upTo(1000), 600);
    await save();
    assert.deepEqual([await states(), sequence.did], [['run-a 1100'], ['save']]);
  });

  it('newer states replace the older, but not the one that the next message may return to', async () => {
    const first = begin();
    await first.say('run-a', upTo(1000));
    await first.save();
    const second = begin();
    await second.say('run-a', otherwise([...upTo(1000), ...reply]), 1000);
    await second.save();
    assert.deepEqual(await states(), ['run-a 1000', 'run-a 1150', 'run-a 1250']);
    const third = begin();
    await third.say('run-a', otherwise(upTo(1000)));
    await third.save();
    assert.deepEqual(await states(), ['run-a 1050', 'run-a 1150']);
  });

  it('a run that makes place for another has them, and is not loaded again', async () => {
    const { sequence, say } = begin();
    await say('run-a', upTo(1000));
    await say('run-b', upTo(1000, 5000));
    assert.deepEqual(sequence.did, ['checkpoint', 'save', 'cut to 1000', 'save', 'checkpoint']);
    assert.equal(await say('run-a', otherwise(upTo(1000))), 1000);
  });

  it('what is lost of a run in memory is taken from disk', async () => {
    const { sequence, say, save } = begin();
    await say('run-a', upTo(1000));
    await save();
    sequence.checkpoints = [];
    forgetCheckpointsBeyond(sequence, 0);
    assert.equal(await say('run-a', otherwise(upTo(1000))), 1000);
  });

  it('without time or room for all it is the whole that is saved', async () => {
    const short = begin();
    await short.say('run-a', upTo(1000));
    short.sequence.saveMs = 2;
    await short.keeper.saveAll(1);
    assert.deepEqual(await states(), ['run-a 1100']);
    const small = begin({ bytes: 150_000 });
    await small.say('run-b', upTo(1000));
    await small.save();
    assert.deepEqual(await states(), ['run-b 1100'], 'and what is older goes');
  });

  it('a run whose state the engine does not take back is read from disk', async () => {
    const { sequence, say, save } = begin();
    await say('run-a', upTo(1000));
    sequence.refuses = true;
    await save();
    assert.deepEqual(sequence.tokens, []);
    sequence.refuses = false;
    assert.equal(await say('run-a', otherwise(upTo(1000))), 1000);
  });
});
