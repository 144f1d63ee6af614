import assert from 'node:assert/strict';
import type { ToolCall } from '../../../src/protocol/content/messages.ts';
import type { RunEvent, RunEventBody } from '../../../src/protocol/run/events.ts';
import { applyEvent } from '../../../src/protocol/run/fold.ts';
import { isAwaitingApproval } from '../../../src/protocol/run/pending.ts';
import { newRun } from '../../../src/protocol/run/run.ts';
import { callWithCorrectedArguments, correctedArgumentsOf } from '../../../src/protocol/run/understoodArguments.ts';

describe('A call as it is understood', () => {
  const cases: [sent: ToolCall['arguments'], meant: ToolCall['arguments'], understood: object | undefined][] = [
    [{ path: 'a' }, { path: 'a' }, undefined],
    [
      { path: 'a ', limit: null, content: 'x' },
      { path: 'a', content: 'x' },
      { arguments: { path: 'a' }, leftOut: ['limit'] },
    ],
    [
      { input: { path: 'a', with: null } },
      { path: 'a', with: null },
      { arguments: { path: 'a', with: null }, leftOut: ['input'] },
    ],
    [{ edits: '[1]' }, { edits: [1] }, { arguments: { edits: [1] } }],
    [{}, { all: true }, { arguments: { all: true } }],
  ];
  for (const [sent, meant, understood] of cases)
    it(`has its arguments again from what is recorded: ${JSON.stringify(sent)}`, () => {
      const recorded = correctedArgumentsOf(sent, meant);
      assert.deepEqual(recorded, understood);
      const call = { id: 'c', name: 't', arguments: sent };
      const whole = callWithCorrectedArguments(call, recorded && { understood: recorded });
      assert.deepEqual(whole, { ...call, arguments: meant });
      assert.equal(callWithCorrectedArguments(call, recorded && { understood: recorded }), whole);
    });

  it('stays so when it is asked about, and asked about again', () => {
    const run = newRun('r');
    const question = { id: 'q', what: 'Read a', where: '/a', why: '' };
    const events: RunEventBody[] = [
      { type: 'call-arguments', toolCallId: 'c', arguments: { path: 'a' } },
      { type: 'approval-request', toolCallId: 'c', name: 'fs.read', question, proposed: { location: 'l' } },
      { type: 'question', toolCallId: 'c', question },
      { type: 'approval', toolCallId: 'c', decision: 'allow', waitedMs: 1 },
      { type: 'tool-start', toolCallId: 'c', name: 'fs.read' },
      { type: 'tool-end', toolCallId: 'c', name: 'fs.read', ok: true, ms: 1 },
    ];
    for (const [index, event] of events.entries()) {
      applyEvent(run, { runId: 'r', seq: index + 1, at: 1, ...event } as RunEvent);
      assert.equal(
        isAwaitingApproval(run.calls.c),
        event.type === 'approval-request' || event.type === 'question' || event.type === 'approval',
        event.type,
      );
      assert.deepEqual(run.calls.c!.understood, { arguments: { path: 'a' } }, event.type);
    }
  });
});
