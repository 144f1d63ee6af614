import assert from 'node:assert/strict';
import { newRun } from '../../../src/protocol/run/run.ts';
import { toEnglishText } from '../../../src/protocol/text/l10n.ts';
import { WorkflowLimits } from '../../../src/workflows/run/limits.ts';
import { reply } from '../../support/provider.ts';
import { Stage } from '../stage.ts';

const usage = (cost: number | undefined, totalTokens = 10) => ({
  ...{ promptTokens: 5, completionTokens: 5, totalTokens },
  ...(cost !== undefined && { cost }),
});

describe('an agent of a file', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const agent = (more: string) => `nodes: [{name: a, agent: {instructions: You look., ${more}}, prompt: Look.}]`;
  const looking = () => reply.call('fs_find', { pattern: '*' });

  for (const [key, turns] of [
    ['max_turns: 3', 3],
    ['maxTurns: 2', 2],
    ['max_turns: 400', 20],
  ] as const)
    it(`with ${key} makes ${turns} model calls`, async () => {
      stage = await Stage.of(agent(key), looking);
      assert.equal((await stage.start()).error?.code, 'ENGINE_MAX_TURNS_EXCEEDED');
      assert.equal(stage.provider.requests.length, turns);
    });

  for (const [more, setting, sent] of [
    ['temperature: 0.2', undefined, 0.2],
    ['temperature: 0', 1.5, 0],
    ['max_turns: 3', 1.5, 1.5],
    ['max_turns: 3', undefined, undefined],
  ] as const)
    it(`with ${more} is asked at temperature ${sent ?? 'of the provider'}${setting ? ` where the setting is ${setting}` : ''}`, async () => {
      stage = await Stage.of(agent(more), [reply.text('Done.')]);
      if (setting !== undefined) stage.temperature = setting;
      await stage.start();
      assert.equal((stage.provider.requests[0]!.body as { temperature?: number }).temperature, sent);
    });
});

describe('a limit of a workflow', () => {
  const cases: [what: string, limits: object, cost: number | undefined, minutes: number, told: string | undefined][] = [
    ['nothing', {}, 100, 1000, undefined],
    ['less than it may cost', { cost: 1 }, 1.9, 0, undefined],
    [
      'what it may cost',
      { cost: 1 },
      2,
      0,
      'The limit of $1 of this workflow is reached: $1.00. Continue to allow the same amount again.',
    ],
    ['less than its time', { minutes: 2 }, 9, 1.9, undefined],
    [
      'its time',
      { minutes: 2 },
      9,
      2,
      'The limit of 2 minutes of this workflow is reached. Continue to allow the same amount again.',
    ],
  ];
  for (const [what, limits, cost, minutes, told] of cases)
    it(`counts from where it went on: ${what}`, () => {
      const run = { ...newRun('r'), usage: usage(1) };
      let now = 0;
      const one = new WorkflowLimits(limits, run, () => now);
      run.usage = usage(cost, 20);
      now = minutes * 60_000;
      assert.equal(one.reached?.message, told);
    });

  it('of money does not hold where no price is known, and says so', () => {
    const run = { ...newRun('r'), usage: usage(undefined) };
    const one = new WorkflowLimits({ cost: 1 }, run);
    assert.equal(one.doubt, undefined);
    run.usage = usage(undefined, 20);
    assert.match(toEnglishText(one.doubt!), /is unknown/);
  });

  const call = 'uses: llm.call, with: {messages: [{role: user, content: Hi}]}, output: said';
  const flow = `
limits: {minutes: 5}
nodes:
  - {name: a, ${call}}
  - {name: inner, uses: workflow.run, with: {workflow: inner}}
  - {name: c, foreach: [1, 2], max_workers: 1, ${call}}
`;

  it('lets the run rest with a sentence wherever it is; going on loses and repeats nothing', async () => {
    const stage = await Stage.of(flow, () => {
      stage.ahead += 600_000;
      return reply.text('Hello');
    });
    try {
      stage.others = { inner: `limits: {minutes: 1}\nnodes: [{name: b, ${call}}, {name: b2, ${call}}]` };
      const codes: unknown[] = [];
      for (let result = await stage.start(); codes.push(result.error?.code ?? result.phase) < 9; ) {
        if (result.phase === 'Completed') break;
        stage.build();
        result = await stage.continue();
      }
      assert.deepEqual(codes, [...Array.from({ length: 4 }, () => 'WORKFLOW_LIMIT_REACHED'), 'Completed']);
      assert.equal(stage.provider.requests.length, 5);
    } finally {
      await stage.end();
    }
  });

  it('hands back after a turn of an agent', async () => {
    const stage = await Stage.of(
      'limits: {minutes: 5}\nnodes: [{name: a, agent: {instructions: You look.}, prompt: Look.}]',
      () => {
        stage.ahead += 600_000;
        return reply.call('fs_find', { pattern: `${stage.ahead}` });
      },
    );
    try {
      const { phase, error } = await stage.start();
      assert.deepEqual(
        [phase, error?.code, stage.provider.requests.length],
        ['WaitingUser', 'WORKFLOW_LIMIT_REACHED', 1],
      );
    } finally {
      await stage.end();
    }
  });
});

describe("a limit of the person's money in a workflow", () => {
  const asks = (with_: string) => `messages: [{role: user, content: ${with_}}]`;
  const flow = `
nodes:
  - {name: a, uses: llm.call, with: {${asks('A')}}, on_error: {continue: true, retry: 2}}
  - {name: b, steps: [{uses: llm.stream, with: {${asks('B1')}}}, {uses: llm.retry, with: {${asks('B2')}}}], on_error: {continue: true}}
  - {name: c, foreach: [1, 2, 3], uses: llm.call, with: {${asks('"C{{ item }}"')}}, on_error: {continue: true}}
  - {name: d, uses: llm.tools, with: {${asks('D')}, tools: [fs.read]}, on_error: {goto: f}}
  - {name: e, uses: workflow.run, with: {workflow: inner}}
  - {name: f, agent: {instructions: You look.}, prompt: F}
`;
  const inner = `nodes: [{name: g, uses: llm.call, with: {${asks('G')}}, on_error: {continue: true}}]`;

  it('lets it rest at whichever call would pass it, and go on at that very node: nothing fails, is lost or is asked twice', async () => {
    const stage = await Stage.of(flow, () => reply.text('Hello'));
    try {
      stage.others = { inner };
      stage.price = { input: 0, output: 1_000_000 };
      stage.runLimit = 0.5;
      let allowed = 0;
      let rests = 0;
      let result = await stage.start();
      while (result.phase !== 'Completed' && rests < 60) {
        assert.deepEqual([result.phase, result.error?.code], ['WaitingUser', 'LIMIT_RUN_REACHED']);
        rests++;
        allowed += 1;
        stage.build();
        await stage.engine.raiseLimit(stage.runId, { of: 'run', more: 1, to: allowed });
        result = await stage.continue();
      }
      const asked = stage.provider.requests.map(
        ({ body }) => body.messages.findLast(({ role }) => role === 'user')?.content,
      );
      assert.deepEqual(
        [asked.map((words) => words?.match(/[A-G][1-3]?(?=\n|<|$)/)?.[0] ?? words).toSorted(), result.phase],
        [['A', 'B1', 'B2', 'C1', 'C2', 'C3', 'D', 'G', 'F'].toSorted(), 'Completed'],
      );
      assert.ok(rests >= 9);
      assert.ok(!stage.steps.some((step) => step.startsWith('failed')), stage.steps.join());
    } finally {
      await stage.end();
    }
  });
});
