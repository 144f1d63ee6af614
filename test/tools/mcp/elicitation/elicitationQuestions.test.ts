import assert from 'node:assert/strict';
import type { UserQuestionChoice, UserQuestions } from '../../../../src/protocol/content/questions.ts';
import { toEnglishText } from '../../../../src/protocol/text/l10n.ts';
import { parseElicitation } from '../../../../src/tools/mcp/elicitation/elicitationForm.ts';
import { askForm } from '../../../../src/tools/mcp/elicitation/elicitationQuestions.ts';

const send: UserQuestionChoice = { chosen: [0] };
const decline: UserQuestionChoice = { chosen: [1] };
const wrote = (words: string): UserQuestionChoice => ({ chosen: [], words });
const chose = (...chosen: number[]): UserQuestionChoice => ({ chosen });

/** Shows a form to a user with these answers, page by page. */
async function asked(properties: object, required: string[], ...pages: UserQuestionChoice[][]) {
  const form = parseElicitation({ message: 'Who are you?', requestedSchema: { type: 'object', properties, required } });
  if (form?.mode !== 'form') assert.fail('no form');
  const shown: UserQuestions[][] = [];
  const answer = await askForm(form, {
    server: 'tickets',
    localizer: toEnglishText,
    ask: async (questions) => {
      shown.push([...questions]);
      return { choices: pages[shown.length - 1] ?? [] };
    },
  });
  return { answer, shown };
}

describe('MCP: a form as questions in the panel', () => {
  it('names the server and its message, offers values and defaults, and sends only with Send', async () => {
    const properties = {
      name: { type: 'string', title: 'Name', description: 'As printed' },
      color: { type: 'string', enum: ['red', 'blue'], default: 'blue' },
      news: { type: 'boolean' },
    };
    const { answer, shown } = await asked(properties, ['name'], [wrote('Ada'), chose(0), chose(2), send]);
    assert.deepEqual(shown, [
      [
        { question: 'The MCP server "tickets" asks: Who are you?\nName – As printed', answers: [] },
        { question: 'color', answers: [{ label: 'red' }, { label: 'blue', why: 'Default' }] },
        { question: 'news', answers: [{ label: 'Yes' }, { label: 'No' }, { label: 'Leave empty' }] },
        { question: 'Send this to "tickets"?', answers: [{ label: 'Send' }, { label: 'Decline' }] },
      ],
    ]);
    assert.deepEqual(answer, { action: 'accept', content: { name: 'Ada', color: 'red' } });
  });

  it('a form without fields is a question by itself', async () => {
    const { answer, shown } = await asked({}, [], [send]);
    assert.deepEqual(
      shown[0]!.map(({ question }) => question),
      ['The MCP server "tickets" asks: Who are you?'],
    );
    assert.deepEqual(answer, { action: 'accept', content: {} });
  });

  it('a value that does not fit is asked for again, three times at most', async () => {
    const age = { age: { type: 'integer', minimum: 18 } };
    const { answer, shown } = await asked(age, ['age'], [wrote('four'), send], [wrote('4'), send], [wrote('40'), send]);
    assert.match(shown[1]![0]!.question, /^age: this value does not fit\.\n/);
    assert.deepEqual(answer, { action: 'accept', content: { age: 40 } });
    const never = await asked(age, ['age'], [wrote('1'), send], [wrote('2'), send], [wrote('3'), send]);
    assert.deepEqual([never.answer, never.shown.length], [{ action: 'decline' }, 3]);
  });

  it('more than three fields come in pages; declining one declines all', async () => {
    const fields = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, { type: 'string' }]));
    const texts = ['a', 'b', 'c'].map(wrote);
    const whole = await asked(fields, [], [...texts, send], [wrote('d'), send]);
    assert.deepEqual(whole.shown[0]!.at(-1)!.answers[0], { label: 'Continue' });
    assert.deepEqual(whole.answer, { action: 'accept', content: { a: 'a', b: 'b', c: 'c', d: 'd' } });
    const half = await asked(fields, [], [...texts, send], [wrote('d'), decline]);
    assert.deepEqual(half.answer, { action: 'decline' });
  });

  it('several choices can be selected or written, by their titles', async () => {
    const titles: Record<string, string> = { r: 'Red', g: 'Green', b: 'Blue' };
    const items = { anyOf: Object.entries(titles).map(([value, title]) => ({ const: value, title })) };
    const list = { colors: { type: 'array', items } };
    const selected = await asked(list, ['colors'], [chose(0, 2), send]);
    assert.equal(selected.shown[0]![0]!.many, true);
    assert.deepEqual(selected.answer, { action: 'accept', content: { colors: ['r', 'b'] } });
    const written = await asked(list, ['colors'], [wrote('green, Blue'), send]);
    assert.deepEqual(written.answer, { action: 'accept', content: { colors: ['g', 'b'] } });
  });

  it('a long list of choices is named in the question', async () => {
    const days = { day: { type: 'string', enum: ['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa'] } };
    const { answer, shown } = await asked(days, ['day'], [wrote('fr'), send]);
    assert.match(shown[0]![0]!.question, /day – Mo · Tu · We · Th · Fr · Sa$/);
    assert.deepEqual(answer, { action: 'accept', content: { day: 'Fr' } });
  });

  it('a message in place of an answer declines', async () => {
    assert.deepEqual((await asked({ a: { type: 'string' } }, [])).answer, { action: 'decline' });
  });

  it('hidden characters and long texts of the server are shown as such', async () => {
    const { shown } = await asked(
      { a: { type: 'string', title: `x\u202e${'y'.repeat(400)}` } },
      [],
      [wrote('a'), send],
    );
    const [, title] = shown[0]![0]!.question.split('\n');
    assert.match(title!, /^x⟨U\+202E⟩y+…$/);
    assert.ok(title!.length <= 301);
  });
});
