import assert from 'node:assert/strict';
import type { Message } from '../../../src/protocol/content/messages.ts';
import { planItemsOfRun } from '../../../src/protocol/run/plan.ts';
import { newRun, type Run } from '../../../src/protocol/run/run.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation, data, error } from '../conversation.ts';

const items = [
  { text: 'Look', status: 'done' },
  { text: 'Change', status: 'active' },
  { text: 'Test', status: 'pending' },
];

describe('tools: plan.update', () => {
  let workspace: TemporaryWorkspace;
  beforeEach(async () => {
    workspace = await temporaryWorkspace();
  });
  afterEach(() => workspace.cleanup());

  it('is free, and counts', async () => {
    const { call, asked } = conversation(workspace);
    assert.deepEqual([await data(call('plan.update', { items })), asked], [{ items: 3, done: 1 }, []]);
  });

  const refused: [string, unknown][] = [
    ['another status', [{ text: 'Look', status: 'maybe' }]],
    ['no text', [{ text: '', status: 'done' }]],
    ['a text without end', [{ text: 'x'.repeat(201), status: 'done' }]],
    ['more than anybody reads', Array(51).fill(items[0])],
  ];
  for (const [name, given] of refused)
    it(`refuses ${name}`, async () =>
      assert.equal(
        (await error(conversation(workspace).call('plan.update', { items: given }))).code,
        'TOOL_ARGS_INVALID',
      ));

  it('the newest list that was accepted is the plan', () => {
    const said = (id: string, list: unknown): Message => ({
      role: 'assistant',
      content: '',
      toolCalls: [{ id, name: 'plan.update', arguments: { items: list as never } }],
    });
    const run: Run = {
      ...newRun('run-1'),
      messages: [said('a', items.slice(0, 1)), said('b', items), said('c', 'nothing'), { role: 'user', content: 'x' }],
      calls: { a: { status: 'done', ok: true }, b: { status: 'done', ok: true }, c: { status: 'done', ok: false } },
    };
    assert.deepEqual(planItemsOfRun(run), items);
    run.calls.b!.ok = false;
    assert.deepEqual(planItemsOfRun(run), items.slice(0, 1));
    assert.deepEqual(planItemsOfRun(newRun('run-2')), []);
  });

  for (const [name, given] of [
    ...refused,
    ['no list', 'nothing'],
    ['another key', [{ ...items[0], by: 'x' }]],
  ] as const)
    it(`a record that says of ${name} that it was accepted has no plan`, () => {
      const toolCalls = [{ id: 'a', name: 'plan.update', arguments: { items: given } }];
      const messages: Message[] = [{ role: 'assistant', content: '', toolCalls }];
      assert.deepEqual(
        planItemsOfRun({ ...newRun('run-1'), messages, calls: { a: { status: 'done', ok: true } } }),
        [],
      );
    });
});
