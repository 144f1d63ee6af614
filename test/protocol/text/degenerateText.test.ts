import assert from 'node:assert/strict';
import { isDegenerateAnswer } from '../../../src/protocol/text/degenerateText.ts';

const instructions = 'You keep the record of the work of a coding agent.\nWrite at most 60 words, no introduction.\n';
const looped = "I'm glad to see that the test passed. ";

const answers: [what: string, answer: string, isDegenerate: boolean][] = [
  ['a copy of the instructions', `${instructions}\n---\n\nPerson: Fix it.`, true],
  ['a copy of one of their lines, indented', 'Well:\n  Write at most 60 words, no introduction.', true],
  ['a loop', `You have a good story to tell.\n${looped.repeat(4)}`, true],
  ['a loop that was cut off', `A story.\n${looped.repeat(5)}I'm glad to`, true],
  ['a loop of lines', `The latest commit is:\n${'- parser: accept empty lines\n'.repeat(6)}`, true],
  ['a loop of one character', `no${'o'.repeat(100)}`, true],
  ['a loop behind a long text', `All of this is new and different. ${'Work! '.repeat(900)}`, true],
  ['a summary', 'The person wants the test in test/parser.test.ts fixed. parse("-1") returned NaN.', false],
  [
    'a list whose lines begin in the same way',
    '- added src/a.ts\n- added src/b.ts\n- added src/c.ts\n- added src/d.ts',
    false,
  ],
  ['a line of dashes', `parser: accept minus signs\n\n${'-'.repeat(72)}`, false],
  ['something said twice', `${looped}${looped}`, false],
  ['nothing', '', false],
];

describe('an answer that cannot be used', () => {
  for (const [what, answer, isDegenerate] of answers)
    it(`${isDegenerate ? 'is' : 'is not'} ${what}`, () =>
      assert.equal(isDegenerateAnswer(answer, instructions), isDegenerate));
});
