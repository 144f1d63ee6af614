import assert from 'node:assert/strict';
import { chatWorkflowId, reviewAgent, workAgent } from '../../../src/protocol/content/agents.ts';
import type { Message } from '../../../src/protocol/content/messages.ts';
import { newRun, type Run } from '../../../src/protocol/run/run.ts';
import { parseReviewFindings, type ReviewFinding, reviewOfRun } from '../../../src/workflows/agents/reviewFindings.ts';

/** `src/a.ts:3-5 error text`; a finding of a file has no line. */
const shown = ({ path, line, endLine, severity, text }: ReviewFinding) =>
  `${path}${line ? `:${line}${endLine ? `-${endLine}` : ''}` : ''} ${severity} ${text}`;
const check = (answer: string, expected: string[], counts: { unreadable?: number; omitted?: number } = {}) => {
  const { findings, unreadable, omitted } = parseReviewFindings(answer);
  assert.deepEqual(findings.map(shown), expected);
  assert.deepEqual({ unreadable, omitted }, { unreadable: 0, omitted: 0, ...counts });
};

describe('the findings in a reviewer’s answer', () => {
  const asked = '- [src/a.ts:12](src/a.ts#L12): error: `it` is `null` here';
  for (const [form, answer, expected] of [
    ['the form of the instructions', asked, 'src/a.ts:12 error `it` is `null` here'],
    ['a range', '- [a.ts:3-5](a.ts#L3-L5): warning: why', 'a.ts:3-5 warning why'],
    ['a line only in the address', '* [my file.ts](my%20file.ts#L4) note: why', 'my file.ts:4 note why'],
    ['the form of compilers', 'src/a.ts:12:3: warning: why', 'src/a.ts:12 warning why'],
    ['code', '1. `src/a b.ts:12` — error — why', 'src/a b.ts:12 error why'],
    ['bold, and a severity in parentheses', '- **src/a.ts:12** (Critical): why', 'src/a.ts:12 error why'],
    ['a bold severity', '- src/a.ts:12 **error:** `x` is *not* y', 'src/a.ts:12 error `x` is *not* y'],
    ['no separator before the text', '- src/a.ts:12: note `x` is null', 'src/a.ts:12 note `x` is null'],
    ['the severity first', '- **Error**: `src/a.ts#L12` - why', 'src/a.ts:12 error why'],
    ['the severity first, in brackets', '- [minor] src/a.ts:12 why', 'src/a.ts:12 note why'],
    ['a spelled line', '- `src/a.ts` line 12: medium: why', 'src/a.ts:12 warning why'],
    ['spelled lines', '- src/a.ts (lines 3-5): error: why', 'src/a.ts:3-5 error why'],
    ['a heading', '### src/a.ts:12 — bug: why', 'src/a.ts:12 error why'],
    ['no severity', '- src/a.ts:12: why', 'src/a.ts:12 warning why'],
    ['no line', '- README.md: note: why', 'README.md note why'],
    ['line 0', '- src/a.ts:0: error: why', 'src/a.ts error why'],
    ['a path of Windows', '- `src\\a.ts:12`: error: why', 'src\\a.ts:12 error why'],
  ] as const)
    it(`are read from ${form}`, () => check(answer, [expected]));

  it('include indented lines below them, and end before other text', () =>
    check('- a.ts:1: error: first\n  second\n\n  not this\n- b.ts:2: note: other\nThe end.', [
      'a.ts:1 error first\nsecond',
      'b.ts:2 note other',
    ]));

  it('are not made of other text', () =>
    check(
      [
        'There is no problem.',
        'In `src/a.ts:12` the loop ends; src/b.ts:3 calls it.',
        '- I read src/a.ts:12 and src/b.ts.',
        '- src/a.ts:12 calls it',
        '- error handling is complete',
        'Note: the diff was shortened.',
        '```ts\nconst a: number = 1;\n```',
      ].join('\n'),
      [],
    ));

  it('count items that name no file', () =>
    check('- error: the tests are missing\n- [note] nothing checks this\n- a.ts:1: error: why', ['a.ts:1 error why'], {
      unreadable: 2,
    }));

  it('are limited, with the number of the others', () => {
    const { findings, omitted } = parseReviewFindings(
      Array.from({ length: 5000 }, (_, at) => `- a.ts:${at + 1}: error: why`).join('\n'),
    );
    assert.deepEqual([findings.length, omitted], [100, 4900]);
    const [long] = parseReviewFindings(`- a.ts:1: error: ${'x'.repeat(100_000)}`).findings;
    assert.equal(long!.text.length, 2000);
  });

  it('keep hostile paths and texts as they are, as data', () =>
    check(
      [
        '- ../../etc/passwd:1: error: why',
        '- [/etc/passwd:1](command:workbench.action.quit): error: [go](command:evil)',
        '- C:\\Windows\\a.ini: error: <b>why</b>',
        '- a.ts:9999999: error: why',
      ].join('\n'),
      ['../../etc/passwd:1 error why', '/etc/passwd:1 error [go](command:evil)', 'a.ts:9999999 error why'],
      { unreadable: 1 },
    ));

  it('take no more than a moment for text that is made to be slow', () => {
    for (const part of ['*', '_', '`', '[', '- [a', '(', 'a:', ' ', '#', '- a.ts:1', 'a.'])
      parseReviewFindings(`- ${part.repeat(400_000)}\n${`- ${part.repeat(50)}\n`.repeat(2000)}`);
  });
});

describe('the review of a run', () => {
  const answer = (content: string, more = {}): Message => ({ role: 'assistant', content, ...more });
  const user: Message = { role: 'user', content: '- a.ts:1: error: of the user' };
  const runOf = (messages: Message[], more: Partial<Run> = {}): Run => ({
    ...newRun('r'),
    workflowId: chatWorkflowId,
    agentId: reviewAgent,
    models: [
      { model: 'p/one', at: 0 },
      { model: 'p/two', at: 3 },
    ],
    messages,
    ...more,
  });
  const found = (run: Run) => {
    const review = reviewOfRun(run);
    return review && [review.index, review.model, ...review.findings.map(shown)];
  };
  const first = [user, answer('- a.ts:1: error: first')];

  it('is its newest answer with findings, and names the model', () => {
    assert.deepEqual(found(runOf(first)), [1, 'p/one', 'a.ts:1 error first']);
    const second = [...first, user, answer('- a.ts:2: error: second')];
    assert.deepEqual(found(runOf(second)), [3, 'p/two', 'a.ts:2 error second']);
    assert.deepEqual(found(runOf([...second, user, answer('Because it is null.')])), [
      3,
      'p/two',
      'a.ts:2 error second',
    ]);
  });

  it('is not text between calls, and not of another agent', () => {
    const calls = [{ id: 'c', name: 'fs.read', arguments: {} }];
    assert.equal(found(runOf([user, answer('- a.ts:1: error: first', { toolCalls: calls })])), undefined);
    assert.equal(found(runOf(first, { agentId: workAgent })), undefined);
    assert.equal(found(runOf(first, { workflowId: 'w.yaml' })), undefined);
    assert.equal(found(runOf([user])), undefined);
  });
});
