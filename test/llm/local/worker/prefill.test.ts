import assert from 'node:assert/strict';
import { prefillPromptTokens } from '../../../../src/llm/local/worker/prefill.ts';

describe('reading a prompt', () => {
  /** The sizes of the slices, on a machine where each token takes so many milliseconds. */
  async function slicesOf(
    tokens: number,
    msPerToken: number,
    { cached = 0, stopAfter = Number.POSITIVE_INFINITY, at = [] as number[], needsCheckpoints = false } = {},
  ) {
    const checkpoints: number[] = [];
    const sizes: number[] = [];
    const read: number[] = [];
    const stop = new AbortController();
    let ms = 0;
    const sequence = {
      nextTokenIndex: cached,
      stateCellsStartIndex: 0,
      compareContextTokens: () => ({ firstDifferentIndex: cached }),
      needsCheckpoints,
      takeCheckpoint: async () => void checkpoints.push(cached + read.length),
      adaptStateToTokens: () => Promise.resolve(),
      evaluateWithoutGeneratingNewTokens: (part: number[]) => {
        sizes.push(part.length);
        read.push(...part);
        ms += part.length * msPerToken;
        if (sizes.length === stopAfter) stop.abort(new Error('stop'));
        return Promise.resolve();
      },
    };
    const prompt = Array.from({ length: tokens }, (_, index) => index);
    const ended = prefillPromptTokens(
      sequence,
      prompt,
      () => {},
      stop.signal,
      at,
      () => ms,
    );
    const error = await ended.then(
      () => undefined,
      (reason: unknown) => String(reason),
    );
    return { sizes, read, error, checkpoints };
  }

  const machines: [string, number][] = [
    ['a graphics card', 0.01],
    ['a fast processor', 0.5],
    ['a processor', 2],
    ['a slow processor', 5],
    ['a very slow processor', 60],
  ];
  for (const [machine, msPerToken] of machines)
    for (const tokens of [130, 257, 700, 1055, 3567])
      it(`of ${tokens} tokens on ${machine}: whole tiles of 64, all tokens once, no piece beyond a batch`, async () => {
        const { sizes, read } = await slicesOf(tokens, msPerToken);
        assert.ok(
          sizes.slice(0, -1).every((size) => size % 64 === 0),
          String(sizes),
        );
        assert.ok(Math.min(...sizes) >= 64 && Math.max(...sizes) <= 511, String(sizes));
        assert.deepEqual(
          read,
          Array.from({ length: tokens - 1 }, (_, index) => index),
        );
      });

  it('is never in slices of fewer than 64, however long these take', async () => {
    assert.deepEqual((await slicesOf(1 + 128 + 64 * 3, 1000)).sizes, [128, 64, 64, 64]);
  });

  it('takes a rest of less than 64 with the slice before it', async () => {
    assert.deepEqual((await slicesOf(1 + 128 + 64 + 63, 1000)).sizes, [128, 127]);
    assert.deepEqual((await slicesOf(1 + 128 + 448 + 63, 0.01)).sizes, [128, 511]);
    assert.deepEqual((await slicesOf(1 + 128 + 1, 0.01)).sizes, [129]);
  });

  it('reads what little is new in one piece', async () => {
    assert.deepEqual((await slicesOf(1000, 5, { cached: 975 })).sizes, [24]);
    assert.deepEqual((await slicesOf(1000, 5, { cached: 999 })).sizes, []);
  });

  it('is as long at once as the time allows', async () => {
    assert.deepEqual((await slicesOf(1 + 128 + 4 * 128, 2.3)).sizes, [128, 128, 128, 128, 128]); // 130 tokens in 300 ms
    assert.deepEqual((await slicesOf(1 + 128 + 2 * 448, 0.01)).sizes, [128, 448, 448]);
  });

  it('is longer at once after a long while, and a second at most', async () => {
    const { sizes } = await slicesOf(30_001, 3);
    /** The first slice that ends when so much time has gone by. */
    const sizeAt = (ms: number) =>
      sizes.find((_, at) => sizes.slice(0, at + 1).reduce((sum, size) => sum + size) * 3 >= ms);
    assert.deepEqual([1000, 3000, 60_000].map(sizeAt), [128, 128, 320]);
    assert.equal(sizeAt(6000), 192); // a tenth of them is 600 ms: 200 tokens
  });

  it('looks up at Stop after each', async () => {
    const { sizes, error } = await slicesOf(3567, 5, { stopAfter: 3 });
    assert.deepEqual([sizes, error], [[128, 64, 64], 'Error: stop']);
  });

  it('leaves a mark where the opening ends and at its own end, of a model whose memory cannot be cut back', async () => {
    const told = { at: [300], needsCheckpoints: true };
    assert.deepEqual((await slicesOf(1000, 5, told)).checkpoints, [300, 999]);
    assert.deepEqual((await slicesOf(1000, 5, { ...told, at: [300, 600] })).checkpoints, [300, 600, 999]);
    assert.deepEqual((await slicesOf(1000, 5, { ...told, cached: 400 })).checkpoints, [999]);
    assert.deepEqual((await slicesOf(1000, 5, { ...told, cached: 999 })).checkpoints, []);
    assert.deepEqual((await slicesOf(1000, 5, { at: [300] })).checkpoints, []);
  });
});
