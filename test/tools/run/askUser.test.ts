import assert from 'node:assert/strict';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation, data, error } from '../conversation.ts';

const answers = [{ label: 'SQLite', why: 'One file.' }, { label: 'Postgres' }];
const question = { question: 'Which database?', answers };
const named = (...labels: string[]) => labels.map((label) => ({ label }));

describe('tools: ask.person', () => {
  let workspace: TemporaryWorkspace;
  beforeEach(async () => {
    workspace = await temporaryWorkspace();
  });
  afterEach(() => workspace.cleanup());

  it('asks what it was given, without a question of the gate, under every preset and where nothing is trusted', async () => {
    for (const preset of ['ask-everything', 'reads-free', 'autopilot'] as const) {
      const talk = conversation(workspace, { policy: { preset } });
      assert.deepEqual(await data(talk.call('ask.person', { questions: [question] })), {
        answers: [{ question: 'Which database?', chosen: ['SQLite'] }],
      });
      assert.deepEqual([talk.questioned, talk.asked], [[[question]], []]);
    }
    Object.defineProperty(workspace, 'trusted', { value: false });
    const { host } = conversation(workspace);
    assert.ok(host.getVisibleTools({ agentId: '' }).some(({ name }) => name === 'ask.person'));
  });

  it('does not begin while the model writes, nor beside others', () => {
    const { host } = conversation(workspace);
    const call = { id: 'a', name: 'ask.person', arguments: { questions: [question] } };
    assert.equal(host.isFree(call, 'run'), false);
  });

  it('a rule that denies it holds', async () => {
    const rules = [{ tool: 'ask.*', effect: 'deny' as const, scope: 'user' as const }];
    const talk = conversation(workspace, { policy: { rules } });
    assert.equal((await error(talk.call('ask.person', { questions: [question] }))).code, 'TOOL_DENIED');
    assert.deepEqual(talk.questioned, []);
  });

  it('tells what was chosen in words, what was written beside it, and pictures', async () => {
    const image = { mediaType: 'image/png', data: 'iVBORw0KGgoAAAANSUhEUg==', name: 'sketch.png' };
    const many = { question: 'Which checks?', answers: named('Lint', 'Types', 'Tests'), many: true };
    const choices = [{ chosen: [], words: 'neither' }, { chosen: [0, 2] }];
    const talk = conversation(workspace, { says: { choices, said: 'And soon.', attachments: [image] } });
    const outcome = await talk.call('ask.person', { questions: [question, many] });
    assert.deepEqual(outcome, {
      ok: true,
      data: {
        answers: [
          { question: 'Which database?', chosen: [], words: 'neither' },
          { question: 'Which checks?', chosen: ['Lint', 'Tests'] },
        ],
        said: 'And soon.',
      },
      attachments: [image],
    });
  });

  const refused: [says: string, questions: unknown, why: RegExp][] = [
    ['no question', [], /questions: is empty/],
    ['a fifth question', Array.from({ length: 5 }, (_, index) => ({ ...question, question: `${index}?` })), /more than 4 questions: ask the rest afterwards/],
    ['the same question twice', [question, question], /questions: has "Which database\?" twice/],
    ['a sixth answer', [{ ...question, answers: named('a', 'b', 'c', 'd', 'e', 'f') }], /questions\[0\]\.answers: needs 2 to 5 answers; the user can always write another one/],
    ['one answer', [{ ...question, answers: named('a') }], /needs 2 to 5 answers/],
    ['an empty label', [{ ...question, answers: named('a', ' ') }], /answers\[1\]\.label: is empty/],
    ['an empty question', [{ ...question, question: '' }], /questions\[0\]\.question: is empty/],
    ['a label of a page', [{ ...question, answers: named('a', 'b'.repeat(101)) }], /label: is longer than 100 characters/],
    ['an answer twice', [{ ...question, answers: named('Yes', ' yes') }], /answers: has "yes" twice/],
    ['an answer twice in other letters', [{ ...question, answers: named('Ａ', 'a') }], /answers: has "a" twice/],
    ['something else', [{ ...question, allow: true }], /[Uu]nrecognized key/],
  ]; // biome-ignore format: a table
  for (const [says, questions, why] of refused)
    it(`refuses ${says}, and says so`, async () => {
      const talk = conversation(workspace);
      const { code, message } = await error(talk.call('ask.person', { questions }));
      assert.equal(code, 'TOOL_ARGS_INVALID');
      assert.match(message, why);
      assert.deepEqual(talk.questioned, []);
    });
});
