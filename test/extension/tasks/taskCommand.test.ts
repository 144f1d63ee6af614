import assert from 'node:assert/strict';
import {
  delegationRefusal,
  parseTaskCommand,
  taskCommandText,
  taskRequestOf,
} from '../../../src/extension/tasks/taskCommand.ts';
import { toEnglishText } from '../../../src/protocol/text/l10n.ts';

describe('The text after /task', () => {
  for (const [text, parsed] of [
    ['reviewer Review the parser', { agent: 'reviewer', prompt: 'Review the parser' }],
    ['.claude/agents/a.md Look\n\n- here\n', { agent: '.claude/agents/a.md', prompt: 'Look\n\n- here' }],
    ['"Code Reviewer"  Look', { agent: 'Code Reviewer', prompt: 'Look' }],
    ['worker', { agent: 'worker' }],
    ['"Code Reviewer"', { agent: 'Code Reviewer' }],
    ['  ', {}],
    ['', {}],
  ] as const)
    it(`${JSON.stringify(text)} names an agent and its task`, () => assert.deepEqual(parseTaskCommand(text), parsed));

  for (const [agent, prompt] of [
    ['reviewer', 'Review the parser'],
    ['Code Reviewer', 'Look\nhere'],
  ] as const)
    it(`${agent}: what a picker sends reads the same when it is typed`, () => {
      const text = taskCommandText(agent, prompt);
      assert.match(text, /^\/task /);
      assert.deepEqual(parseTaskCommand(text.slice('/task '.length)), { agent, prompt });
    });

  it('becomes a request whose title is its first line', () => {
    assert.deepEqual(taskRequestOf('reviewer', 'Review the parser\nand its tests'), {
      title: 'Review the parser',
      prompt: 'Review the parser\nand its tests',
      agent: 'reviewer',
    });
    const { title, prompt } = taskRequestOf('worker', '🙂'.repeat(100));
    assert.deepEqual([title, prompt], [`${'🙂'.repeat(59)}…`, '🙂'.repeat(100)]);
  });
});

describe('Delegation by the user', () => {
  const possible = { parallel: 4, isTrusted: true, speaker: { workflowId: 'chat', agentId: 'towpath' } };
  const file = '.github/agents/builder.agent.md';
  const plan = { workflowId: 'chat', agentId: 'plan' };
  for (const [name, more, refusal] of [
    ['Work', {}, undefined],
    ['an agent of the repository', { speaker: { workflowId: file, agentId: 'plan' } }, undefined],
    ['an unknown window', { window: undefined }, undefined],
    ['a window that just suffices', { window: 16_000 }, undefined],
    [
      'a small window',
      { window: 15_999 },
      'The context window of the selected model (15,999 tokens) is too small to delegate: at least 16,000 are needed.',
    ],
    ['Plan', { speaker: plan }, 'Plan does not delegate. Pick the agent Work first.'],
    [
      'the reviewer',
      { speaker: { workflowId: 'chat', agentId: 'review' } },
      'Reviewer does not delegate. Pick the agent Work first.',
    ],
    ['0 tasks', { parallel: 0 }, 'Delegation is switched off: the setting towpath.tasks.parallel is 0.'],
    [
      'a run of a workflow',
      { hasNodes: true },
      'This run follows a workflow, which delegates nothing. Start a new run first.',
    ],
    [
      'an untrusted window, whatever else is true',
      { isTrusted: false, parallel: 0, speaker: plan },
      'This workspace is not trusted, so nothing is delegated. Trust it first (Manage Workspace Trust).',
    ],
  ] as const)
    it(`${name}: ${refusal ? 'is refused with a sentence' : 'is possible'}`, () => {
      const found = delegationRefusal({ ...possible, ...more } as Parameters<typeof delegationRefusal>[0]);
      assert.equal(found && toEnglishText(found), refusal);
    });
});
