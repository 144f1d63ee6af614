import assert from 'node:assert/strict';
import {
  approvalsOfSameReply,
  findApproval,
  type PendingApproval,
  parseCallKey,
} from '../../../src/extension/approvals/findApproval.ts';
import type { RunEvent } from '../../../src/protocol/run/events.ts';
import { applyEvent } from '../../../src/protocol/run/fold.ts';
import { newRun } from '../../../src/protocol/run/run.ts';
import { taskTitleOfCall } from '../../../src/protocol/run/tasks.ts';
import type { ApprovalAnswer, ApprovalRequest } from '../../../src/tools/core/tool.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { conversation } from '../../tools/conversation.ts';

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

describe('approvals of tasks', () => {
  it('share a dialog with those of the same reply, and with none of the run or of another task', async () => {
    const workspace = await temporaryWorkspace();
    const open: { request: ApprovalRequest; answer(answer: ApprovalAnswer): void }[] = [];
    try {
      const approve = (request: ApprovalRequest) =>
        new Promise<ApprovalAnswer>((answer) => void open.push({ request, answer }));
      const { reply } = conversation(workspace, { answer: approve });
      const write = (path: string): [string, object] => ['fs.write', { path, content: 'x' }];
      const replies = [
        reply(write('run.txt')),
        reply(write('first-a.txt'), write('first-b.txt')),
        reply(write('second-a.txt'), write('second-b.txt')),
      ];
      await eventually('all requests are open', () => open.length === 5);
      const groups = open.map((one) =>
        approvalsOfSameReply(open, one)
          .map(({ request }) => request.plan.change!.path)
          .sort(),
      );
      assert.deepEqual([...new Set(groups.map(String))].sort(), [
        'first-a.txt,first-b.txt',
        'run.txt',
        'second-a.txt,second-b.txt',
      ]);
      for (const { answer } of open) answer({ decision: 'deny' });
      await Promise.all(replies);
    } finally {
      workspace.cleanup();
    }
  });

  it('are named by the task whose id begins the id of the call', () => {
    const run = newRun('run');
    const start = { type: 'task-start', title: 'Review tests', agent: 'reviewer', name: 'Reviewer', maxSteps: 20 };
    const event = { runId: 'run', seq: 1, at: 1, task: 'call_1', ...start } as RunEvent;
    applyEvent(run, event);
    const titles = ['call_1:c', 'call_1:c:d', 'call_1', 'call_10:c', 'c'].map((id) => taskTitleOfCall(run, id));
    assert.deepEqual(titles, ['Review tests', 'Review tests', undefined, undefined, undefined]);
    assert.equal(taskTitleOfCall(undefined, 'call_1:c'), undefined);
  });
});
