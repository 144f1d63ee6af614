import assert from 'node:assert/strict';
import { ModelCallMeter } from '../../src/check/meter.ts';
import type { RunEvent } from '../../src/protocol/run/events.ts';

const at = { runId: 'run-1', seq: 0, at: 0 };
const progress = (fraction: number): RunEvent => ({ ...at, type: 'progress', text: 'Working', fraction });

function measure(...events: [ms: number, event: RunEvent][]) {
  let now = 0;
  const meter = new ModelCallMeter(() => now);
  for (const [ms, event] of events) {
    now = ms;
    meter.onEvent(event);
  }
  return meter;
}

const request = { ...at, type: 'request', model: 'small' } as RunEvent;
const chunk = { ...at, type: 'chunk', content: 'a' } as RunEvent;
const usage = {
  ...at,
  type: 'usage',
  usage: { promptTokens: 100, completionTokens: 10, totalTokens: 110 },
} as RunEvent;

describe('Speed in a model check', () => {
  it('is that of reading until the first chunk and of writing from then on', () => {
    const { readMs, writeMs } = measure([0, request], [400, chunk], [500, chunk], [600, usage]).measured;
    assert.deepEqual([readMs, writeMs], [400, 200]);
  });

  it('counts a reply that was stopped, too', () => {
    const text = { ...at, type: 'chunk', content: 'The boat lies at the quay. ' } as RunEvent;
    const events: [number, RunEvent][] = [
      [0, request],
      [400, text],
      [900, text],
    ];
    const { replies, written } = measure(...events).measuredWithStoppedReply;
    assert.deepEqual([replies, written > 5], [1, true]);
    const done = measure(...events, [1000, usage]);
    assert.deepEqual(done.measuredWithStoppedReply, done.measured);
  });

  it('does not count the time in which a model is loaded as reading', () => {
    const loading: [number, RunEvent][] = [0, 0.5, 1].map((fraction) => [fraction * 9000, progress(fraction)]);
    const reading: [number, RunEvent][] = [0, 0.5].map((fraction) => [10_000 + fraction * 400, progress(fraction)]);
    const { readMs, writeMs } = measure(
      [0, request],
      ...loading,
      ...reading,
      [10_400, chunk],
      [10_600, usage],
    ).measured;
    assert.deepEqual([readMs, writeMs], [400, 200]);
  });
});
