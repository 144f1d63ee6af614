import assert from 'node:assert/strict';
import * as z from 'zod';
import type { ToolOutcome } from '../../../src/protocol/content/tools.ts';
import { toEnglishText } from '../../../src/protocol/text/l10n.ts';
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  createSideEffectTool,
  editableApprovalText,
} from '../../../src/tools/core/tool.ts';
import { matchesApprovedPlanView, toApprovedPlanView } from '../../../src/tools/host/userRevision.ts';
import { sha256 } from '../../../src/tools/sandbox/fileText.ts';
import { eventually } from '../../support/eventually.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { type Conversation, conversation, data, error } from '../conversation.ts';

let workspace: TemporaryWorkspace;
beforeEach(async () => {
  workspace = await temporaryWorkspace({ 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'b\n' });
});
afterEach(() => workspace.cleanup());

const edit = (path: string, oldText: string, newText: string): [string, unknown] => [
  'fs.edit',
  { path, edits: [{ oldText, newText }] },
];
const write = (path: string, content: string): [string, unknown] => ['fs.write', { path, content }];
const yes: ApprovalAnswer = { decision: 'allow' };
const no: ApprovalAnswer = { decision: 'deny' };
const codes = (outcomes: ToolOutcome[]) => outcomes.map((one) => (one.ok ? 'ok' : one.error.code));

/** What was told, in order, each line with the number of its call. */
/** But for `command-start`: who is over soon leaves nothing to be found again by. */
const told = ({ events }: Conversation) =>
  events
    .filter(({ type }) => type !== 'command-start' && type !== 'approval-request')
    .map((event) => {
      if (!('toolCallId' in event)) return event.type;
      const which = event.toolCallId.replace('call-', '');
      if (event.type === 'question') return `${which} ? ${event.question.what}`;
      if (event.type === 'approval') return `${which} ${event.decision}${event.edited ? ' as changed' : ''}`;
      if (event.type === 'tool-end') return `${which} ${event.ok ? 'ok' : event.code}`;
      return `${which} ${event.type}`;
    });

/** A person who answers by hand: each question waits until its answer is given. */
function byHand() {
  const answers = new Map<ApprovalRequest, (answer: ApprovalAnswer) => void>();
  const gone: ApprovalRequest[] = [];
  const approve = (request: ApprovalRequest, signal: AbortSignal) => {
    signal.addEventListener('abort', () => gone.push(request));
    return new Promise<ApprovalAnswer>((resolve) => answers.set(request, resolve));
  };
  const open = async (count: number) => {
    while (answers.size < count) await new Promise((resolve) => setTimeout(resolve, 1));
    return [...answers.keys()];
  };
  return {
    approve,
    open,
    gone,
    answer: (request: ApprovalRequest, answer: ApprovalAnswer) => answers.get(request)!(answer),
  };
}

// Holds approved-plan-is-executed.
describe('several questions of one reply', () => {
  it('are asked at the same time, and what is allowed runs in order', async () => {
    const talk = conversation(workspace);
    await talk.reply(write('a.txt', 'A'), ['shell.run', { command: 'cat a.txt' }], write('b.txt', 'B'));
    assert.equal(new Set(talk.asked.map(({ batch }) => batch)).size, 1);
    assert.deepEqual(told(talk), [
      '1 ? Replace a.txt',
      '2 ? Run a command',
      '3 ? Replace b.txt',
      '1 allow',
      '2 allow',
      '3 allow',
      '1 tool-start',
      '1 ok',
      '2 tool-start',
      '2 tool-output',
      '2 ok',
      '3 tool-start',
      '3 ok',
    ]);
  });

  it('each has its own answer', async () => {
    const { reply } = conversation(workspace, {
      answer: async ({ plan }) => (plan.what === 'Replace b.txt' ? { decision: 'deny', words: 'Not b.' } : yes),
    });
    const outcomes = await reply(write('a.txt', 'A'), write('b.txt', 'B'), write('c.txt', 'C'));
    assert.deepEqual(codes(outcomes), ['ok', 'TOOL_DENIED', 'ok']);
    assert.deepEqual(workspace.effects, ['write a.txt', 'write c.txt']);
  });

  it('a later one is about the file as the earlier one leaves it, and each keeps its own pre-image', async () => {
    const talk = conversation(workspace);
    await talk.reply(
      edit('a.txt', 'one', '1'),
      edit('a.txt', 'two', '2'),
      write('new.txt', 'x'),
      edit('new.txt', 'x', 'y'),
    );
    assert.deepEqual(
      talk.asked.map(({ plan, note }) => [plan.change?.before, plan.change?.after, note]),
      [
        ['one\ntwo\nthree\n', '1\ntwo\nthree\n', undefined],
        ['1\ntwo\nthree\n', '1\n2\nthree\n', undefined],
        [null, 'x', undefined],
        ['x', 'y', undefined],
      ],
    );
    assert.deepEqual([workspace.read('a.txt'), workspace.read('new.txt')], ['1\n2\nthree\n', 'y']);
    const changes = talk.events.flatMap((event) => (event.type === 'tool-end' ? (event.changes ?? []) : []));
    assert.deepEqual(
      changes.map(({ before }) => (before === null ? null : talk.kept.get(before))),
      ['one\ntwo\nthree\n', '1\ntwo\nthree\n', null, 'x'],
    );
  });

  it('a no to the first withdraws the question that was built on it, which is asked anew', async () => {
    const person = byHand();
    const talk = conversation(workspace, { answer: person.approve });
    const done = talk.reply(edit('a.txt', 'one', '1'), edit('a.txt', 'two', '2'), write('b.txt', 'B'));
    const [first, second, third] = await person.open(3);
    person.answer(first!, no);
    const [, , , anew] = await person.open(4);
    assert.deepEqual(person.gone, [second]);
    assert.deepEqual(anew!.plan.change?.after, 'one\n2\nthree\n');
    person.answer(anew!, yes);
    person.answer(third!, yes);
    assert.deepEqual(codes(await done), ['TOOL_DENIED', 'ok', 'ok']);
  });

  it('what was allowed together and is another by its turn is asked about again', async () => {
    const talk = conversation(workspace, { answer: async ({ note }) => (note ? no : yes) });
    const outcomes = await talk.reply(['shell.run', { command: 'echo four >> a.txt' }], edit('a.txt', 'one', '1'));
    assert.deepEqual(codes(outcomes), ['ok', 'TOOL_DENIED']);
    assert.deepEqual(
      talk.asked.map(({ plan, note }) => [plan.change?.after, note]),
      [
        [undefined, undefined],
        ['1\ntwo\nthree\n', undefined],
        ['1\ntwo\nthree\nfour\n', 'The content has changed since it was shown.'],
      ],
    );
    assert.equal(workspace.read('a.txt'), 'one\ntwo\nthree\nfour\n');
  });

  it('what cannot be told yet, and what names the same file after it, is told or asked in its turn', async () => {
    const { reply, asked } = conversation(workspace);
    const outcomes = await reply(
      ['shell.run', { command: 'echo x > made.txt' }],
      edit('made.txt', 'x', 'y'),
      ['fs.delete', { path: 'b.txt' }],
      write('b.txt', 'anew'),
      write('b.txt', 'anew'),
    );
    assert.deepEqual(codes(outcomes), ['ok', 'ok', 'ok', 'ok', 'E_PRECONDITION_FAILED']);
    const batches = [...new Set(asked.map(({ batch }) => batch))];
    assert.deepEqual(
      asked.map(({ plan, batch }) => `${batches.indexOf(batch)} ${plan.what}`),
      ['0 Run a command', '0 Delete b.txt', '1 Edit made.txt', '2 Create b.txt'],
    );
  });

  const secret = { effect: 'deny', tool: 'fs.*', path: 'private/**', scope: 'user' } as const;
  const refused: [name: string, call: [string, unknown], code: string][] = [
    ['a rule refuses', write('private/x.txt', 'y'), 'TOOL_DENIED'],
    ['leads outside', write('../x.txt', 'x'), 'E_SANDBOX_VIOLATION'],
    ['lies in a place that is never written', write('.git/config', 'x'), 'E_SANDBOX_VIOLATION'],
    ['fails its checks', ['fs.write', { path: 'x.txt', text: 'x' }], 'TOOL_ARGS_INVALID'],
    ['looks for a text that is not there', edit('b.txt', 'nowhere', 'x'), 'E_PRECONDITION_FAILED'],
    ['is no tool at all', ['fs.wirte', {}], 'TOOL_NOT_AVAILABLE'],
    ['only reads', ['fs.read', { path: 'a.txt' }], 'ok'],
    ['reads what a rule keeps', ['fs.read', { path: 'private/x.txt' }], 'TOOL_DENIED'],
  ];
  for (const [name, call, code] of refused)
    it(`one that ${name} does not part those before and after it`, async () => {
      workspace.write('private/x.txt', 'x');
      const talk = conversation(workspace, { policy: { rules: [secret] } });
      const outcomes = await talk.reply(write('a.txt', 'A'), call, write('c.txt', 'C'), edit('a.txt', 'A', 'AA'));
      assert.deepEqual(codes(outcomes), ['ok', code, 'ok', 'ok']);
      assert.deepEqual(
        talk.asked.map(({ plan, note }) => [plan.what, note]),
        [
          ['Replace a.txt', undefined],
          ['Create c.txt', undefined],
          ['Edit a.txt', undefined],
        ],
      );
      assert.equal(new Set(talk.asked.map(({ batch }) => batch)).size, 1);
      assert.equal(workspace.read('a.txt'), 'AA');
    });

  it('one that turns out to be possible in its turn is asked about then, and so is what was built on it', async () => {
    const talk = conversation(workspace);
    const outcomes = await talk.reply(
      ['shell.run', { command: 'echo x > made.txt' }],
      edit('made.txt', 'x', 'y'),
      write('b.txt', 'B'),
      edit('made.txt', 'y', 'z'),
    );
    assert.deepEqual(codes(outcomes), ['ok', 'ok', 'ok', 'ok']);
    const batches = [...new Set(talk.asked.map(({ batch }) => batch))];
    assert.deepEqual(
      talk.asked.map(({ plan, batch }) => `${batches.indexOf(batch)} ${plan.what}`),
      ['0 Run a command', '0 Replace b.txt', '1 Edit made.txt', '1 Edit made.txt'],
    );
    assert.deepEqual([workspace.read('made.txt'), workspace.read('b.txt')], ['z\n', 'B']);
  });

  it('a no to what was asked before counts in what is asked after it', async () => {
    const talk = conversation(workspace, {
      answer: async ({ plan }) => (plan.what === 'Replace b.txt' ? no : yes),
    });
    const outcomes = await talk.reply(
      ['shell.run', { command: 'echo x > made.txt' }],
      edit('made.txt', 'x', 'y'),
      write('b.txt', 'B'),
      ['fs.move', { from: 'made.txt', to: 'moved.txt' }],
      edit('b.txt', 'b', 'bb'),
    );
    assert.deepEqual(codes(outcomes).slice(0, 3), ['ok', 'ok', 'TOOL_DENIED']);
    const last = talk.asked.findLast(({ plan }) => plan.what === 'Edit b.txt');
    assert.deepEqual([last?.plan.change?.before, workspace.read('b.txt')], ['b\n', 'bb\n']);
  });

  it('a command’s time limit is part of what was allowed', async () => {
    const talk = conversation(workspace);
    await talk.reply(['shell.run', { command: 'true', timeoutSeconds: 90 }]);
    const { plan } = talk.asked[0]!;
    assert.equal(plan.timeLimit, 90);
    assert.equal(matchesApprovedPlanView(plan, toApprovedPlanView(plan)), true);
    assert.equal(matchesApprovedPlanView({ ...plan, timeLimit: 3600 }, toApprovedPlanView(plan)), false);
  });

  it('"Allow for this run" answers the others of its kind, but no protected place, and no earlier no', async () => {
    const person = byHand();
    const talk = conversation(workspace, { answer: person.approve });
    const done = talk.reply(
      write('a.txt', 'A'),
      write('b.txt', 'B'),
      write('.vscode/x.json', '{}'),
      write('c.txt', 'C'),
    );
    const [a, b, settings, c] = await person.open(4);
    person.answer(c!, no);
    await new Promise((resolve) => setTimeout(resolve, 5));
    person.answer(a!, { decision: 'allow-run' });
    await eventually('both are written', () => workspace.effects.length === 2);
    assert.deepEqual(person.gone, [b]);
    assert.deepEqual(workspace.effects, ['write a.txt', 'write b.txt']);
    person.answer(settings!, no);
    assert.deepEqual(codes(await done), ['ok', 'ok', 'TOOL_DENIED', 'TOOL_DENIED']);
  });

  it('a call that cannot be done any more in its turn takes its question away', async () => {
    const person = byHand();
    const talk = conversation(workspace, { answer: person.approve });
    const done = talk.reply(['shell.run', { command: 'echo other > a.txt' }], edit('a.txt', 'one', '1'));
    const [command, question] = await person.open(2);
    person.answer(command!, yes);
    assert.deepEqual(codes(await done), ['ok', 'E_PRECONDITION_FAILED']);
    assert.deepEqual(person.gone, [question]);
  });

  it('a stop ends all of them', async () => {
    const person = byHand();
    const talk = conversation(workspace, { answer: person.approve });
    const done = talk.reply(write('a.txt', 'A'), write('b.txt', 'B'));
    const open = await person.open(2);
    talk.stop.abort();
    for (const request of open) person.answer(request, yes);
    assert.deepEqual(codes(await done), ['TOOL_INTERRUPTED', 'TOOL_INTERRUPTED']);
    assert.deepEqual([person.gone.length, workspace.effects], [2, []]);
    assert.deepEqual(told(talk), [
      '1 ? Replace a.txt',
      '2 ? Replace b.txt',
      '1 TOOL_INTERRUPTED',
      '2 TOOL_INTERRUPTED',
    ]);
  });
});

describe('a call that the person changes before allowing it', () => {
  /** Answers the first question with a change, the others with yes. */
  const changing = (edited: string) => {
    let first = true;
    return async (): Promise<ApprovalAnswer> => {
      const answer = { ...yes, ...(first && { edited }) };
      first = false;
      return answer;
    };
  };

  it('a file gets the person’s text, and the model is told the difference', async () => {
    const talk = conversation(workspace, { answer: changing('ONE\ntwo\n3\n') });
    const { changedByPerson, sha256: sum, ...rest } = await data(talk.call(...edit('a.txt', 'one', '1')));
    assert.equal(workspace.read('a.txt'), 'ONE\ntwo\n3\n');
    assert.equal(changedByPerson, '@@ -1,1 +1,1 @@\n-1\n+ONE\n@@ -3,1 +3,1 @@\n-three\n+3');
    assert.deepEqual([sum, rest], [sha256('ONE\ntwo\n3\n'), { path: 'a.txt', matched: 'exact', added: 2, removed: 2 }]);
    const end = talk.events.find((event) => event.type === 'tool-end');
    assert.equal(end?.type === 'tool-end' && talk.kept.get(end.changes![0]!.after!), 'ONE\ntwo\n3\n');
    assert.deepEqual(told(talk), ['1 ? Edit a.txt', '1 allow as changed', '1 tool-start', '1 ok']);
  });

  it('a command is run as changed, and its failure says so, too', async () => {
    const { call } = conversation(workspace, { answer: changing('echo mine') });
    const { output, changedByPerson } = await data(call('shell.run', { command: 'echo theirs' }));
    assert.deepEqual([output, changedByPerson], ['mine\n', 'echo mine']);
    const failing = conversation(workspace, { answer: changing('sleep 30') });
    const { code, details } = await error(failing.call('shell.run', { command: 'true', timeoutSeconds: 1 }));
    assert.deepEqual([code, (details as { changedByPerson: string }).changedByPerson], ['TOOL_TIMEOUT', 'sleep 30']);
  });

  const counter = createSideEffectTool(
    { name: 'count', description: '', arguments: { to: z.int() } },
    'change',
    async ({ to }) => ({
      what: 'Count',
      where: 'here',
      why: 'x',
      grant: 'count',
      run: async () => to,
    }),
  );

  it('arguments are checked again and run as changed', async () => {
    const { call, asked } = conversation(workspace, { tools: [counter], answer: changing('{"to": 5}') });
    assert.deepEqual(await data(call('count', { to: 3 })), { value: 5, changedByPerson: { to: 5 } });
    assert.equal(editableApprovalText(asked[0]!), '{\n  "to": 3\n}');
  });

  for (const [edited, problem] of [
    ['{"to": 5', /It is not JSON/],
    ['[5]', /not a JSON object/],
    ['{"to": "five"}', /to: expected number/],
    ['{"to": 5, "__proto__": {}}', /"__proto__" is not an argument/],
  ] as const)
    it(`${edited} cannot be used: the person is told and asked again, with what was written`, async () => {
      const { call, asked } = conversation(workspace, { tools: [counter], answer: changing(edited) });
      assert.deepEqual(await call('count', { to: 3 }), { ok: true, data: 3 });
      assert.deepEqual([asked.length, asked[1]!.draft], [2, edited]);
      assert.match(asked[1]!.note!, problem);
    });

  it('a secret’s path changed to an ordinary file is free to read', async () => {
    workspace.write('.env', 'KEY=CANARY');
    const { call } = conversation(workspace, { answer: changing('{"path":"b.txt"}') });
    const { text, changedByPerson } = await data(call('fs.read', { path: '.env' }));
    assert.deepEqual([text, changedByPerson], ['b', { path: 'b.txt' }]);
  });

  it('an ordinary file’s path changed to a secret is asked about as that', async () => {
    workspace.write('.env', 'KEY=CANARY');
    workspace.write('.env.local', 'KEY=CANARY');
    const { call, asked } = conversation(workspace, { answer: changing('{"path":".env.local"}') });
    await data(call('fs.read', { path: '.env' }));
    assert.deepEqual(
      asked.map(({ plan }) => plan.what),
      ['Read .env', 'Read .env.local'],
    );
  });

  it('a change that makes it a protected one is asked about as that', async () => {
    workspace.write('package.json', '{}');
    const edited = '{"scripts":{"postinstall":"x"}}';
    const { call, asked } = conversation(workspace, { answer: changing(edited) });
    await data(call(...write('package.json', '{"scripts":{"test":"x"}}')));
    assert.deepEqual(
      asked.map(({ plan, note }) => [plan.why, plan.change?.after, note !== undefined]),
      [
        [
          'It determines which packages are installed. Allow for This Run applies to this file only.',
          '{"scripts":{"test":"x"}}',
          false,
        ],
        ['Its scripts run automatically on install.', edited, true],
      ],
    );
    assert.equal(workspace.read('package.json'), edited);
  });

  const push = { scope: 'user', effect: 'deny', tool: 'shell.run', command: 'git push' } as const;
  for (const [whose, policies] of [
    ['own', { policy: { rules: [push] } }],
    ['agent’s', { agentPolicy: { rules: [push] } }],
  ] as const)
    it(`a command changed to what the ${whose} rules deny is not run: the person is told and asked again`, async () => {
      const answers: ApprovalAnswer[] = [
        { ...yes, edited: 'true; git push' },
        { ...yes, edited: 'echo mine' },
      ];
      const { call, asked } = conversation(workspace, { ...policies, answer: async () => answers.shift()! });
      const { output } = await data(call('shell.run', { command: 'git status' }));
      assert.deepEqual(
        [output, asked.map(({ plan, draft }) => [plan.command, draft])],
        [
          'mine\n',
          [
            ['git status', undefined],
            ['git status', 'true; git push'],
          ],
        ],
      );
      assert.match(asked[1]!.note!, /^Your change is invalid\. Denied by .*“shell\.run git push”\.$/);
    });

  it('a path changed to what a rule denies is not read', async () => {
    workspace.write('.env', 'KEY=CANARY');
    const rules = [{ scope: 'user', effect: 'deny', tool: 'fs.*', path: 'b.txt' }] as const;
    const answers: ApprovalAnswer[] = [{ ...yes, edited: '{"path":"b.txt"}' }, no];
    const { call, asked } = conversation(workspace, { policy: { rules }, answer: async () => answers.shift()! });
    assert.equal((await error(call('fs.read', { path: '.env' }))).code, 'TOOL_DENIED');
    assert.match(asked[1]!.note!, /Denied by your rule/);
  });

  it('a file that changed during the review is asked about again, with the person’s text', async () => {
    const { call, asked } = conversation(workspace, {
      answer: async ({ note }) => {
        workspace.write('a.txt', 'somebody else\n');
        return note ? no : { ...yes, edited: 'mine\n' };
      },
    });
    assert.equal((await error(call(...write('a.txt', 'A')))).code, 'TOOL_DENIED');
    assert.deepEqual(
      asked.map(({ plan }) => [plan.change?.before, plan.change?.after]),
      [
        ['one\ntwo\nthree\n', 'A'],
        ['somebody else\n', 'mine\n'],
      ],
    );
    assert.deepEqual(workspace.effects, []);
  });

  it('is allowed once, whatever else the answer says', async () => {
    const { call, grants } = conversation(workspace, { answer: { decision: 'allow-run', edited: 'mine\n' } });
    await data(call(...write('a.txt', 'A')));
    assert.deepEqual([...grants], []);
  });

  it('a long difference is cut and says so', async () => {
    const { call } = conversation(workspace, { answer: changing('mine\n'.repeat(5000)) });
    const { changedByPerson } = await data<{ changedByPerson: string }>(call(...write('a.txt', 'A')));
    assert.match(changedByPerson, /\(\d+ more characters: read the file\)$/);
    assert.ok(changedByPerson.length < 9000);
  });
});

it('all requests of a reply are on record before the first is shown, each with what its approval covers', async () => {
  const { call, events } = conversation(workspace, { answer: no });
  await call(...edit('a.txt', 'one', 'ONE'));
  const [request, question] = events;
  assert.ok(request?.type === 'approval-request' && question?.type === 'question');
  const { question: recorded, proposed, ...about } = request;
  assert.deepEqual(about, { type: 'approval-request', toolCallId: question.toolCallId, name: 'fs.edit' });
  assert.deepEqual([recorded.what, recorded.diff], ['Edit a.txt', question.question.diff]);
  assert.deepEqual(Object.keys(proposed), ['before', 'after', 'location']);
  assert.ok(Object.values(proposed).every((hash) => /^[0-9a-f]{64}$/.test(hash)));
});

it('a question is told in the person’s language, and is in English for records', async () => {
  const { call, asked, events } = conversation(workspace, {
    answer: no,
    tell: (said) => (typeof said === 'string' ? said : `‹${toEnglishText(said)}›`),
  });
  const { message } = await error(call(...edit('a.txt', 'one', 'ONE')));
  const { what, where, why, english } = asked[0]!.plan;
  assert.deepEqual([what, why], ['‹Edit a.txt›', '']);
  assert.deepEqual(english, { what: 'Edit a.txt', where });
  assert.match(message, /^The person did not allow this\./);
  for (const event of events)
    if (event.type === 'question') assert.deepEqual(event.question.english, english);
    else assert.ok(!JSON.stringify(event).includes('‹'), event.type);
});
