import assert from 'node:assert/strict';
import { findApproval, type PendingApproval, parseCallKey } from '../../../src/extension/approvals/findApproval.ts';

/** Kimi K2 gives the first edit of every run this id. */
const first = 'functions.fs_edit:0';
const approval = (id: string, runId: string, order: number, toolCallId = first): PendingApproval => ({
  request: { id, runId, call: { id: toolCallId, name: 'fs.edit', arguments: {} } },
  order,
});
const ofA = approval('approval-a', 'run-a', 1);
const ofB = approval('approval-b', 'run-b', 2);
const laterOfB = approval('approval-b2', 'run-b', 3, 'functions.fs_edit:1');
const nothing = { reviewed: new Set<string>(), shown: undefined };

describe('which approval is answered', () => {
  const cases: [name: string, ...Parameters<typeof findApproval>, expected: PendingApproval | undefined][] = [
    ['a card: its run’s, of two calls with one id', [ofA, ofB], { runId: 'run-b', toolCallId: first }, nothing, ofB],
    ['a card of the other run', [ofB, ofA], { runId: 'run-a', toolCallId: first }, nothing, ofA],
    ['a card whose approval was settled', [ofA], { runId: 'run-b', toolCallId: first }, nothing, undefined],
    ['a key: the shown run’s', [ofA, ofB], undefined, { ...nothing, shown: 'run-b' }, ofB],
    ['a key: the review in front', [ofA, ofB], undefined, { reviewed: new Set(['approval-a']), shown: 'run-b' }, ofA],
    ['a key: the oldest, where the shown run has none', [laterOfB, ofB], undefined, { ...nothing, shown: 'c' }, ofB],
    ['a key: nothing, where none waits', [], undefined, { ...nothing, shown: 'run-a' }, undefined],
  ]; // biome-ignore format: a table
  for (const [name, open, key, looking, expected] of cases)
    it(name, () => assert.equal(findApproval(open, key, looking), expected));

  it('arguments of a command that name no call are none', () => {
    const key = { runId: 'run-a', toolCallId: first };
    for (const given of [undefined, null, 'run-a', [key], { runId: 'run-a' }, { runId: 1, toolCallId: first }])
      assert.equal(parseCallKey(given), undefined);
    assert.deepEqual(parseCallKey({ ...key, more: true }), key);
  });
});
