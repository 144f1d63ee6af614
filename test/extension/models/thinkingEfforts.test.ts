import assert from 'node:assert/strict';
import { SelectedThinkingEfforts } from '../../../src/extension/models/thinkingEfforts.ts';

function remembered(before?: unknown) {
  const values = new Map([['towpath.thinkingEfforts', before]]);
  let changes = 0;
  const memento = {
    get: (name: string, otherwise?: unknown) => values.get(name) ?? otherwise,
    update: async (name: string, value: unknown) => void values.set(name, JSON.parse(JSON.stringify(value))),
  } as ConstructorParameters<typeof SelectedThinkingEfforts>[0];
  const efforts = new SelectedThinkingEfforts(memento, () => void changes++);
  return { efforts, changes: () => changes, reopened: () => new SelectedThinkingEfforts(memento, () => {}) };
}

describe('the thinking effort that a model had last', () => {
  it('is the default at first, then what was selected, also after a reload', async () => {
    const { efforts, changes, reopened } = remembered();
    assert.equal(efforts.of('openai/one'), undefined);
    await efforts.select('openai/one', 'high');
    await efforts.select('openai/two', 'off');
    await efforts.select('openai/one', 'low');
    assert.deepEqual([efforts.of('openai/one'), efforts.of('openai/two')], ['low', 'off']);
    assert.equal(reopened().of('openai/one'), 'low');
    await efforts.select('openai/one', undefined);
    assert.deepEqual([reopened().of('openai/one'), reopened().of('openai/two')], [undefined, 'off']);
    assert.equal(changes(), 4);
  });

  it('of a later version that this one does not know is the default', () => {
    assert.equal(remembered([['openai/one', 'extreme']]).efforts.of('openai/one'), undefined);
  });

  it('is kept for the last hundred models', async () => {
    const { efforts } = remembered();
    for (let nth = 0; nth <= 100; nth++) await efforts.select(`openai/${nth}`, 'high');
    assert.deepEqual([efforts.of('openai/0'), efforts.of('openai/1')], [undefined, 'high']);
  });
});
