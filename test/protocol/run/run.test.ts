import assert from 'node:assert/strict';
import type { Message } from '../../../src/protocol/content/messages.ts';
import { viewMessageSchema } from '../../../src/protocol/panel/panelMessages.ts';
import { type RunEvent, type RunEventBody, runEventSchema } from '../../../src/protocol/run/events.ts';
import { applyEvent } from '../../../src/protocol/run/fold.ts';
import { pendingCalls } from '../../../src/protocol/run/pending.ts';
import { newRun, type Run } from '../../../src/protocol/run/run.ts';

function fold(...bodies: RunEventBody[]): Run {
  const run = newRun('run-1');
  for (const [index, body] of bodies.entries()) applyEvent(run, place(body, index + 1));
  return run;
}
const place = (body: RunEventBody, seq: number) => ({ runId: 'run-1', seq, at: 1000 + seq, ...body }) as RunEvent;

const asked: RunEventBody = {
  type: 'message',
  message: {
    role: 'assistant',
    content: 'I change it.',
    toolCalls: [{ id: 'c1', name: 'fs.write', arguments: { path: 'a' } }],
  },
};
const question = { id: 'q1', what: 'Write a', where: '/w/a', why: 'It changes a file.' };

describe('a run is the fold of its events', () => {
  it('a countdown goes on while the person says something, and whatever befalls a command', () => {
    const progress = { type: 'progress', text: 'Slow down', until: 99_000 } as const;
    const meanwhile: RunEventBody[] = [
      { type: 'queued', text: 'And then?' },
      { type: 'queued-change', queued: 3, text: 'And now?', when: 'done' },
      { type: 'queued-remove', queued: 3 },
      { type: 'title', title: 'Named' },
      { type: 'pin', pinned: true },
      { type: 'command-end', toolCallId: 'c9', by: 'itself', exitCode: 0 },
    ];
    const run = fold({ type: 'phase', phase: 'Running' }, progress, ...meanwhile);
    assert.equal(run.progress?.until, 99_000);
    const answered = fold(progress, { type: 'chunk', content: 'So' });
    assert.equal(answered.progress, undefined);
  });

  it('streams into what is live, and the whole message takes its place', () => {
    const live = fold(
      { type: 'chunk', thinking: 'hm' },
      { type: 'chunk', content: 'Hel' },
      { type: 'chunk', content: 'lo' },
      { type: 'chunk', toolCall: { index: 1, name: 'fs.read' } },
      { type: 'chunk', toolCall: { index: 1, argumentsText: '{"pa' } },
    );
    assert.deepEqual(live.live, {
      content: 'Hello',
      thinking: 'hm',
      calls: [
        { name: '', argumentsText: '' },
        { name: 'fs.read', argumentsText: '{"pa' },
      ],
    });
    const whole = fold(
      { type: 'chunk', content: 'Hel' },
      { type: 'message', message: { role: 'assistant', content: 'Hello' } },
    );
    assert.equal(whole.live, undefined);
    assert.deepEqual(whole.messages, [{ role: 'assistant', content: 'Hello' }]);
  });

  const changes = [{ path: 'a', before: null, after: 'f'.repeat(64) }];
  const stages: [string, RunEventBody, object][] = [
    ['asked', { type: 'question', toolCallId: 'c1', question }, { status: 'asking', question }],
    [
      'allowed',
      { type: 'approval', toolCallId: 'c1', decision: 'allow', waitedMs: 5 },
      { status: 'allowed', decision: 'allow' },
    ],
    ['started', { type: 'tool-start', toolCallId: 'c1', name: 'fs.write' }, { status: 'running', startedAt: 1005 }],
    ['heard', { type: 'tool-output', toolCallId: 'c1', text: 'ok\n10%' }, { output: 'ok\n10%' }],
    ['drawn anew', { type: 'tool-output', toolCallId: 'c1', text: '\r20%' }, { output: 'ok\n20%' }],
    [
      'done',
      { type: 'tool-end', toolCallId: 'c1', name: 'fs.write', ok: true, ms: 7, changes },
      { status: 'done', ok: true, ms: 7, changes },
    ],
  ];
  for (const [name, , expected] of stages)
    it(`knows a call that is ${name}`, () => {
      const until = stages.slice(0, stages.findIndex((stage) => stage[0] === name) + 1).map((stage) => stage[1]);
      const call = fold({ type: 'run-start', workflowId: 'chat', agentId: 'towpath', model: 'm' }, asked, ...until)
        .calls.c1!;
      assert.deepEqual({ ...call, ...expected }, { ...call });
    });

  it('ignores what it has already seen', () => {
    const run = fold({ type: 'queued', text: 'a' });
    applyEvent(run, place({ type: 'queued', text: 'b' }, 1));
    assert.deepEqual(run.queued, [{ text: 'a', queued: 1, when: 'turn' }]);
  });

  it('takes what is only shown under the number of what was stored before it, and nothing older', () => {
    const run = fold({ type: 'queued', text: 'a' });
    for (const content of ['Hel', 'lo']) applyEvent(run, place({ type: 'chunk', content }, 1));
    applyEvent(run, place({ type: 'chunk', content: ', old' }, 0));
    assert.deepEqual([run.live?.content, run.seq], ['Hello', 1]);
  });

  it('gives queued words to the model in order', () => {
    const run = fold(
      { type: 'queued', text: 'one' },
      { type: 'queued', text: 'two' },
      { type: 'message', message: { role: 'user', content: 'one' } },
    );
    assert.deepEqual(run.queued, [{ text: 'two', queued: 2, when: 'turn' }]);
  });

  it('sums what was used', () => {
    const used: RunEventBody = {
      type: 'usage',
      attempts: 1,
      model: 'm',
      ms: 1,
      usage: { promptTokens: 10, completionTokens: 2, totalTokens: 12, cachedTokens: 8 },
    };
    const run = fold(used, used);
    assert.deepEqual(run.usage, {
      promptTokens: 20,
      completionTokens: 4,
      totalTokens: 24,
      cachedTokens: 16,
      thinkingTokens: 0,
    });
    assert.equal(run.contextTokens, 12);
  });
});

it('a call without a result is pending', () => {
  const messages: Message[] = [
    { role: 'assistant', content: '', toolCalls: ['a', 'b', 'c'].map((id) => ({ id, name: 'x', arguments: {} })) },
    { role: 'tool', content: '', toolResults: [{ toolCallId: 'b', content: '' }] },
  ];
  assert.deepEqual(
    pendingCalls(messages).map((pending) => pending.id),
    ['a', 'c'],
  );
});

describe('what crosses the border is checked', () => {
  const strangers: unknown[] = [
    { type: 'approve', toolCallId: 'c1' },
    { type: 'send', text: '' },
    { type: 'send', text: 'x', approve: true },
    { type: 'show-question', toolCallId: 'c1' },
    { type: 'show-question', runId: 'r', toolCallId: 'c1', decision: 'allow' },
    { type: 'deny', toolCallId: 'c1' },
    { type: 'undo', toolCallIds: ['c1'] },
    { type: 'action', action: 'workbench.action.terminal.new' },
    { type: 'answer', chosen: { runId: 'r', toolCallId: 'c1', choices: [{ chosen: [0] }] }, decision: 'allow' },
    { type: 'answer', chosen: { runId: 'r', toolCallId: 'c1', choices: [{ chosen: [5] }] } },
    { type: 'answer', chosen: { toolCallId: 'c1', choices: [{ chosen: [0] }] } },
    { type: 'open-run', runId: 7 },
    null,
    'ready',
  ];
  for (const message of strangers)
    it(`the host takes no ${JSON.stringify(message)}`, () =>
      assert.equal(viewMessageSchema.safeParse(message).success, false));

  it('half an event is none', () => {
    assert.equal(runEventSchema.safeParse({ type: 'chunk', content: 'x' }).success, false);
    assert.equal(runEventSchema.safeParse(place({ type: 'chunk', content: 'x' }, 1)).success, true);
  });
});
