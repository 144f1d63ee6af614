import assert from 'node:assert/strict';
import type { CheckResult } from '../../../src/check/taskResult.ts';
import { StoredModelCheckResults } from '../../../src/extension/models/storedChecks.ts';

const result = (model: string, passed: boolean): CheckResult => ({
  ...{ 'towpath-check': 1, model, at: 1, towpath: '1', of: 1, writtenPerSecond: 24 },
  tasks: [{ id: 'call', title: 'A plain call', passed, ms: 1, replies: 1, prompt: 1, cached: 0, written: 1 }],
});

function kept(before?: unknown) {
  const values = new Map([['towpath.checks', before]]);
  let changes = 0;
  const memento = {
    get: (name: string) => values.get(name),
    update: async (name: string, value: unknown) => void values.set(name, JSON.parse(JSON.stringify(value))),
  };
  const checks = new StoredModelCheckResults(
    memento as ConstructorParameters<typeof StoredModelCheckResults>[0],
    () => void changes++,
  );
  const reopened = () =>
    new StoredModelCheckResults(memento as ConstructorParameters<typeof StoredModelCheckResults>[0], () => {});
  return { checks, changes: () => changes, reopened };
}

describe('Checks that are kept', () => {
  it('are the newest of each model, and are told', async () => {
    const { checks, changes, reopened } = kept();
    assert.equal(checks.inShort('openai/one'), undefined);
    for (const one of [result('openai/one', false), result('openai/two', true), result('openai/one', true)])
      await checks.keep(one);
    assert.deepEqual(
      checks.all.map(({ model }) => model),
      ['openai/one', 'openai/two'],
    );
    assert.equal(checks.inShort('openai/one'), '1 of 1 task · 24 tokens/s');
    assert.equal(changes(), 3);
    assert.deepEqual(reopened().all, checks.all, 'also after a reload');
  });

  it('are of fifty models at most', async () => {
    const { checks } = kept();
    for (let at = 0; at < 52; at++) await checks.keep(result(`openai/${at}`, true));
    assert.deepEqual(
      [checks.all.length, checks.of('openai/1'), checks.of('openai/2')?.model],
      [50, undefined, 'openai/2'],
    );
  });

  it('of another version are there where they can be read', () => {
    const { checks } = kept([{ model: 'openai/old' }, result('openai/one', true), 7]);
    assert.deepEqual(
      checks.all.map(({ model }) => model),
      ['openai/one'],
    );
    assert.deepEqual(kept('nonsense').checks.all, []);
  });
});
