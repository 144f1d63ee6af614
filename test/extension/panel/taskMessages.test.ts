import assert from 'node:assert/strict';
import { sendToTask } from '../../../src/extension/panel/taskMessages.ts';
import { type Notice, viewMessageSchema } from '../../../src/protocol/panel/panelMessages.ts';

describe('A message to a task', () => {
  const message = { type: 'say-to-task', runId: 'run-1', task: 't1', text: 'Look at the tests, too' } as const;
  const given: unknown[][] = [];
  const notices: Notice[] = [];
  const send = (isReceived: boolean) =>
    sendToTask(message, {
      engine: { sayToTask: async (...all) => given.push(all) > 0 && isReceived },
      conversation: { notice: (notice) => notices.push(notice) },
    });
  beforeEach(() => {
    given.length = 0;
    notices.length = 0;
  });

  it('is given to the task', async () => {
    assert.equal(await send(true), true);
    assert.deepEqual(given, [['run-1', 't1', { userInput: message.text }]]);
    assert.deepEqual(notices, []);
  });

  it('returns to the message box with a notice if the task has ended', async () => {
    assert.equal(await send(false), false);
    assert.deepEqual(
      notices.map(({ text }) => text),
      ['The task has ended. Your message is in the message box of the run.'],
    );
  });

  it('and acts on its calls have ids of any length that a provider gives', () => {
    const task = 't'.repeat(256);
    const key = { runId: 'run-1', toolCallId: `${task}:${'c'.repeat(256)}` };
    for (const one of [
      { ...message, task },
      { type: 'stop-task', runId: 'run-1', task },
      { type: 'deny', ...key },
    ])
      viewMessageSchema.parse(one);
  });

  for (const stranger of [
    { ...message, text: '' },
    { ...message, decision: 'allow' },
    { ...message, task: 1 },
    { type: 'stop-task', task: 't1' },
    { type: 'stop-task', runId: 'run-1', task: '' },
  ])
    it(`is refused as ${JSON.stringify(stranger)}`, () =>
      assert.equal(viewMessageSchema.safeParse(stranger).success, false));
});
