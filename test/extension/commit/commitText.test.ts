import assert from 'node:assert/strict';
import { commitMessagePrompt, extractCommitMessage } from '../../../src/extension/commit/commitText.ts';

const limits = { subject: 20, line: 30 };
const check = (answer: string, message: string, within = limits) =>
  assert.equal(extractCommitMessage(answer, within), message);

describe('an answer as a commit message', () => {
  const cases: [what: string, answer: string, message: string][] = [
    ['one line', 'Mend the lock', 'Mend the lock'],
    ['a body keeps its paragraphs and list', 'Mend it\n\nWhy.\n\n- one\n- two\n', 'Mend it\n\nWhy.\n\n- one\n- two'],
    ['a body that stands right below', 'Mend it\nIt was broken.', 'Mend it\n\nIt was broken.'],
    ['a fence', '```text\nMend it\n\nWhy.\n```', 'Mend it\n\nWhy.'],
    ['a fence that has only begun', '```', ''],
    ['a fence that is announced', 'Here is the message:\n\n```\nMend it\n```\nShall I?', 'Mend it'],
    ['an announcement', 'Sure, here it is:\n\nMend it', 'Mend it'],
    ['a label', 'Commit message: Mend it', 'Mend it'],
    ['quotes', '"Mend it"', 'Mend it'],
    ['a loop', `The newest commit is:\n${'- parser: accept empty lines\n'.repeat(5)}`, ''],
    ['a copy of the instructions', `${commitMessagePrompt(limits)}\n\nparser: accept lines`, ''],
    ['bold', '**Mend it**\n\n**Why** is said.', 'Mend it\n\n**Why** is said.'],
    ['code at its beginning is no quote', '`lock` is mended', '`lock` is mended'],
    ['a colon at the end is no announcement', 'Mend these:\n- a', 'Mend these:\n\n- a'],
    ['lines of Windows', 'Mend it\r\n\r\nWhy.\r\n', 'Mend it\n\nWhy.'],
    ['a flood of empty lines', `Mend it:${'\n'.repeat(4000)}x`, 'Mend it:\n\nx'],
    [
      'a rest of the first line stands apart',
      'Mend the lock of the gate\nIt broke.',
      'Mend the lock of…\n\n…the gate\n\nIt broke.',
    ],
    ['nothing but blanks', ' \n\n', ''],
    ['a first line as long as may be', 'x'.repeat(20), 'x'.repeat(20)],
    [
      'a first line that is too long goes on below',
      'Mend the lock of the second gate\n\nIt broke.',
      'Mend the lock of…\n\n…the second gate\n\nIt broke.',
    ],
    ['a first line without blanks', 'x'.repeat(25), `${'x'.repeat(19)}…\n\n…${'x'.repeat(6)}`],
    [
      'a long line is broken between words, in a list below its words',
      'Mend it\n\n- the lock of the second gate is closed now',
      'Mend it\n\n- the lock of the second gate\n  is closed now',
    ],
    ['numbers of a list', 'A\n\n10. the lock of the second gate', 'A\n\n10. the lock of the second\n    gate'],
    [
      'an address stays whole',
      'Mend it\n\nSee https://example.com/a/long/address/of/it for more',
      'Mend it\n\nSee\nhttps://example.com/a/long/address/of/it\nfor more',
    ],
    [
      'a language without blanks is broken anywhere, and no character in two',
      `修\n\n${'锁'.repeat(29)}😀锁`,
      `修\n\n${'锁'.repeat(29)}\n😀锁`,
    ],
    ['nothing is hidden in it', 'Mend\u202e it', 'Mend⟨U+202E⟩ it'],
  ];
  for (const [what, answer, message] of cases) it(what, () => check(answer, message));

  it('limits that leave no room still give all words', () => {
    const text = extractCommitMessage('Mend the 锁锁锁 now\n\n- a b', { subject: 1, line: 1 });
    assert.equal(text.replace(/[\s…-]/g, ''), 'Mendthe锁锁锁nowab');
  });

  it('every beginning of an answer is within the limits', () => {
    const answer = 'Mend the lock of the second gate\n\n- it was broken since the spring, and nobody had seen it';
    for (let end = 0; end <= answer.length; end++) {
      const [first = '', ...body] = extractCommitMessage(answer.slice(0, end), limits).split('\n');
      assert.ok(first.length <= 20 && body.every((line) => line.length <= 30), first);
    }
  });
});
