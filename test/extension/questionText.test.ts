import assert from 'node:assert/strict';
import { batchText, isListable, questionText, withoutLinks } from '../../src/extension/questionText.ts';
import type { ApprovalRequest, Plan } from '../../src/tools/tool.ts';

let count = 0;
const request = (plan: Partial<Plan>, more: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  id: `${++count}`,
  runId: 'run',
  batch: 'batch',
  call: { id: `call-${count}`, name: 'tool', arguments: {} },
  plan: {
    what: 'Edit a.ts',
    where: '/w/a.ts',
    why: 'It changes a file.',
    grant: 'fs.edit',
    run: async () => {},
    ...plan,
  },
  ...more,
});
const command = (text: string, where = '/w') =>
  request({ what: 'Run a command', where, why: 'It can do anything.', command: text, grant: `shell.run ${text}` });

describe('the words of a question', () => {
  const long = `${'x'.repeat(1200)}tail`;
  const single: [name: string, about: ApprovalRequest, edited: string | undefined, detail: string][] = [
    ['a file', request({}), undefined, '/w/a.ts\n\nIt changes a file.'],
    ['a command', command('npm test'), undefined, 'npm test\n\n/w\n\nIt can do anything.'],
    ['a changed command', command('npm test'), 'npm t', 'npm t\n\n/w\n\nIt can do anything.\n\nYou changed it: what runs is what Review… shows.'],
    ['a question asked again', request({}, { note: 'It changed.' }), undefined, 'It changed.\n\n/w/a.ts\n\nIt changes a file.'],
    ['a long command', command(long), undefined, `${'x'.repeat(1200)}\n… (4 more characters: Review… shows all)\n\n/w\n\nIt can do anything.`],
    ['a hidden character', command('echo \u202e'), undefined, 'echo ⟨U+202E⟩\n\n/w\n\nIt can do anything.'],
  ]; // biome-ignore format: a table
  for (const [name, about, edited, detail] of single)
    it(`${name}: all of it, where it is, and why it is asked`, () =>
      assert.deepEqual(questionText(about, edited), { message: about.plan.what, detail }));

  it('a stranger’s name does not push the question out of the dialog', () => {
    const { message } = questionText(request({ what: `Use ${'x'.repeat(100_000)} of the MCP server odd` }));
    assert.equal(message, `Use ${'x'.repeat(296)}… (99726 more characters)`);
  });

  it('several have a line each, the folder that holds them all, and what Cancel means', () => {
    const edited = request({ what: 'Edit sub/b.ts', where: '/w/sub/b.ts' });
    assert.deepEqual(batchText([request({}), edited], 2, new Set([edited])), {
      message: '2 changes',
      detail: '1. Edit a.ts\n2. Edit sub/b.ts – as you changed it\n\nIn /w\n\nIt changes a file.',
    });
    assert.deepEqual(batchText([request({}), command('npm test', '/w/sub')], 5), {
      message: '1 change and 1 command',
      detail:
        '1. Edit a.ts (It changes a file.)\n2. Run: npm test (It can do anything.)\n\nIn /w\n\n' +
        '3 more will be asked about after this. Cancel says no to all 5.',
    });
    const apart = [request({ where: '/w/a' }), request({ where: '/wide/b' })];
    assert.match(batchText(apart, 2).detail, /\n\nIn \/\n/);
  });

  const listable: [name: string, about: ApprovalRequest, expected: boolean][] = [
    ['an ordinary change', request({}), true],
    ['a short command', command('npm test'), true],
    ['a command too long for a line', command('x'.repeat(161)), false],
    ['a command of two lines', command('true\nrm x'), false],
    ['a name too long for a line', request({ what: `Edit ${'x'.repeat(300)}` }), false],
    ['a place that is always asked about', request({ grant: undefined }), false],
    ['a question asked again', request({}, { note: 'It changed.' }), false],
  ];
  for (const [name, about, expected] of listable)
    it(`${name} ${expected ? 'may stand' : 'never stands'} in a list`, () => assert.equal(isListable(about), expected));

  it('a name makes no link in a notification', () =>
    assert.equal(withoutLinks('Edit [x](command:quit).md\n'), 'Edit [x] (command:quit).md ⏎'));
});
