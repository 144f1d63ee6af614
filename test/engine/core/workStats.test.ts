import assert from 'node:assert/strict';
import { startWorkStats } from '../../../src/engine/core/workStats.ts';
import type { RunEvent, RunEventBody } from '../../../src/protocol/run/events.ts';
import { applyEvent } from '../../../src/protocol/run/fold.ts';
import { newRun } from '../../../src/protocol/run/run.ts';
import { call } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

const used = (totalTokens: number, cost?: number): RunEventBody => ({
  type: 'usage',
  usage: { promptTokens: totalTokens, completionTokens: 0, totalTokens, ...(cost !== undefined && { cost }) },
  attempts: 1,
  model: 'm',
  ms: 1,
});
const changed = (toolCallId: string, ...paths: string[]): RunEventBody[] => {
  const changes = paths.map((path) => ({ path, before: null, after: 'x' }));
  return [
    { type: 'tool-start', toolCallId, name: 'fs.write' },
    { type: 'tool-end', toolCallId, name: 'fs.write', ok: true, ms: 1, changes },
  ];
};
const moved = (toolCallId: string, to: string): RunEventBody[] => [
  { type: 'tool-start', toolCallId, name: 'fs.move' },
  { type: 'tool-end', toolCallId, name: 'fs.move', ok: true, ms: 1, moved: { from: 'old', to } },
];

/** A second passes with each event. */
function took(before: RunEventBody[], since: RunEventBody[]) {
  const run = newRun('run-1');
  const tell = (body: RunEventBody) => {
    const place = { runId: run.id, seq: run.seq + 1, at: (run.seq + 1) * 1000 };
    applyEvent(run, { ...place, ...body } as RunEvent);
  };
  before.forEach(tell);
  const work = startWorkStats(run, () => run.seq * 1000 + 1);
  since.forEach(tell);
  return work(50);
}

describe('what the work took', () => {
  const undone: RunEventBody = { type: 'undo', toolCallIds: ['1'], changes: [{ path: 'a', before: 'x', after: null }] };
  const cases: [says: string, before: RunEventBody[], since: RunEventBody[], gives: object][] = [
    ['nothing at first', [], [], { ms: 0, tokens: 0, files: 0 }],
    ['each file once', [], [...changed('1', 'a', 'b'), ...changed('2', 'a')], { ms: 4000, tokens: 0, files: 2 }],
    ['a move as one file', [], moved('1', 'new'), { ms: 2000, tokens: 0, files: 1 }],
    ['money where it is known', [], [used(10, 0.25), used(5, 0.5)], { ms: 2000, tokens: 15, cost: 0.75, files: 0 }],
    ['nothing of before', [used(10, 0.25), ...changed('1', 'a')], [used(7, 1), ...changed('2', 'b')], { ms: 3000, tokens: 7, cost: 1, files: 1 }],
    ['nothing of what was undone', [], [...changed('1', 'a', 'b'), undone], { ms: 3000, tokens: 0, files: 1 }],
  ]; // biome-ignore format: a table
  for (const [says, before, since, gives] of cases)
    it(says, () => assert.deepEqual(took(before, since), { turns: 50, ...gives }));

  it('is on record when the limit is reached, each time anew', async () => {
    const writes = ['a', 'b', 'c'].map((path) => ({ calls: [call('fs.write', { path, content: path })] }));
    const talk = new Conversation(await temporaryWorkspace({}), writes);
    try {
      talk.maxTurns = 2;
      await talk.start();
      assert.deepEqual({ ...(await talk.kept()).took, ms: 0 }, { turns: 2, ms: 0, tokens: 30, files: 2 });
      talk.maxTurns = 1;
      await talk.continue();
      assert.deepEqual({ ...(await talk.kept()).took, ms: 0 }, { turns: 1, ms: 0, tokens: 15, files: 1 });
      await talk.continue();
      assert.equal((await talk.kept()).took, undefined, 'it has come to another end');
    } finally {
      await talk.end();
    }
  });
});
