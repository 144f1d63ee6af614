import assert from 'node:assert/strict';
import { joinRunSnapshotParts, splitRunSnapshot } from '../../../src/protocol/panel/runParts.ts';
import { restoreRunDictionaries } from '../../../src/protocol/run/run.ts';
import { toDictionary } from '../../../src/protocol/values/dictionary.ts';
import { longConversation } from '../../support/longRun.ts';
import { runOf } from '../../webview/conversation.ts';

describe('a long run in parts', () => {
  const sent = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value));
  const run = runOf('run-1', longConversation(1200));
  run.calls['of-a-node'] = { status: 'done', ok: true };

  it('is the same run when it is put together, and was not changed', () => {
    const before = sent(run);
    const { parts, rest } = splitRunSnapshot(run);
    assert.equal(parts.length, 5);
    assert.deepEqual(sent(run), before);
    assert.deepEqual(Object.keys(rest.calls), ['of-a-node']);
    const again = joinRunSnapshotParts(sent(parts), sent(rest), 1200);
    assert.deepEqual(
      restoreRunDictionaries(again!),
      restoreRunDictionaries({ ...sent(run), calls: toDictionary(before.calls) }),
    );
  });

  it('is nothing without one of them, or with those of another run', () => {
    const { parts, rest } = splitRunSnapshot(run);
    for (const wrong of [parts.slice(1), parts.slice(0, -1), [...parts.slice(0, 2), ...parts.slice(3)], []])
      assert.equal(joinRunSnapshotParts(wrong, sent(rest), 1200), undefined);
    const others = parts.map((part) => ({ ...part, runId: 'run-2' }));
    assert.equal(joinRunSnapshotParts(others, sent(rest), 1200), undefined);
  });

  it('is one message when it is short', () => {
    const short = runOf('run-1', longConversation(100));
    assert.deepEqual(splitRunSnapshot(short), { parts: [], rest: short });
  });
});
