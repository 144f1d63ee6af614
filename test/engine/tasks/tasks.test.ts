import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TaskAgent, TaskOptions } from '../../../src/engine/tasks/taskOptions.ts';
import type { ToolCall } from '../../../src/protocol/content/messages.ts';
import { parseExportedRuns } from '../../../src/protocol/run/exchange.ts';
import { runToMarkdown } from '../../../src/protocol/run/exportMarkdown.ts';
import { pendingCalls } from '../../../src/protocol/run/pending.ts';
import type { TaskState } from '../../../src/protocol/run/run.ts';
import { isTaskAtWork } from '../../../src/protocol/run/tasks.ts';
import { RunStore } from '../../../src/runs/store.ts';
import { eventually } from '../../support/eventually.ts';
import { routedClient } from '../../support/routedClient.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

const agents: Record<string, TaskAgent> = {
  explorer: agentOf('explorer', false),
  worker: agentOf('worker', true),
};

function agentOf(id: string, mayChange: boolean): TaskAgent {
  return {
    id,
    name: id === 'explorer' ? 'Explorer' : 'Worker',
    mayChange,
    turnOptions: (run) => ({
      agent: { id, name: id, instructions: `You are the ${id}.` },
      ...(!mayChange && { allows: ({ name }) => run.onlyReads(name) }),
    }),
  };
}

const task = (prompt: string, more: Record<string, unknown> = {}, id?: string): ToolCall =>
  call('task.run', { title: prompt, prompt, ...more }, id);

/** What the run was told of a task, or why it did not start. */
interface Told {
  status?: string;
  result: string;
  reason?: string;
  outputId?: string;
  code?: string;
  message?: string;
}

const reportOf = ({ data, error }: { data?: Told; error?: Told }): Told => (data ?? error)!;

// Holds tasks-only-narrow.
describe('engine: tasks', () => {
  let talk: Conversation;
  let atOnce = 0;
  let mostAtOnce = 0;
  const options: TaskOptions = {
    parallel: () => 4,
    agent: async (id = 'explorer') => {
      const agent = agents[id];
      if (!agent) throw new Error(`There is no agent ${id}.`);
      return agent;
    },
    confirmSpending: async () => true,
  };

  async function begin(scripts: Record<string, ScriptedReply[]>, more: Partial<TaskOptions> = {}) {
    talk = new Conversation(await temporaryWorkspace({ 'a.txt': 'one\n', 'b.txt': 'two\n' }), []);
    const client = routedClient(scripts);
    talk.model = client;
    talk.tasks = { ...options, ...more };
    atOnce = mostAtOnce = 0;
    talk.told = (event) => {
      if (event.type === 'request' && event.task) mostAtOnce = Math.max(mostAtOnce, ++atOnce);
      if (event.type === 'usage' && event.task) atOnce--;
    };
    talk.build();
    return client;
  }

  afterEach(() => talk.end());

  const tasksOf = async (): Promise<TaskState[]> => Object.values((await talk.kept()).tasks ?? {});
  const reports = async () =>
    (await talk.kept()).messages.flatMap((one) =>
      one.role === 'tool' ? one.toolResults.map(({ content }) => reportOf(JSON.parse(content))) : [],
    );

  it('have their own conversation, and return their last answer and nothing else', async () => {
    const client = await begin({
      go: [{ calls: [task('Look at a')] }, { text: 'All known.' }],
      'Look at a': [{ text: 'Reading.', calls: [call('fs.read', { path: 'a.txt' })] }, { text: 'It says one.' }],
    });
    const { success } = await talk.start('go');
    assert.ok(success);
    assert.deepEqual(await reports(), [{ status: 'done', result: 'It says one.', steps: 2 }]);
    const [state] = await tasksOf();
    assert.deepEqual(
      [state!.status, state!.name, state!.steps, state!.messages.map(({ role }) => role).join(' ')],
      ['done', 'Explorer', 2, 'user assistant tool assistant'],
    );
    const own = client.requests.filter(({ messages }) => messages[0]!.content === 'Look at a');
    assert.equal(own.length, 2);
    assert.match(own[0]!.systemPrompt!, /You are the explorer/);
    const names = own[0]!.tools!.map(({ name }) => name);
    for (const name of ['fs.write', 'shell.run', 'task.run', 'ask.person', 'plan.update'])
      assert.ok(!names.includes(name), name);
    assert.ok(names.includes('fs.read'));
    const last = client.requests.at(-1)!;
    assert.ok(!JSON.stringify(last.messages).includes('Reading.'));
    const run = await talk.kept();
    assert.equal(run.usage.totalTokens, 4 * 15, 'the usage of tasks counts in the run');
    assert.equal(state!.usage.totalTokens, 2 * 15);
  });

  it('work side by side, at most as many as the setting says, and each result returns', async () => {
    const names = ['t1', 't2', 't3', 't4', 't5'];
    await begin(
      {
        go: [{ calls: names.map((name) => task(name)) }, { text: 'Done.' }],
        ...Object.fromEntries(
          names.map((name) => [name, [{ calls: [call('fs.read', { path: 'a.txt' })] }, { text: `${name} is known.` }]]),
        ),
      },
      { parallel: () => 2 },
    );
    await talk.start('go');
    assert.equal(mostAtOnce, 2);
    assert.deepEqual(
      (await reports()).map(({ result }) => result),
      names.map((name) => `${name} is known.`),
    );
  });

  it('that may change files work one after the other', async () => {
    const names = ['w1', 'w2', 'w3'];
    await begin({
      go: [{ calls: names.map((name) => task(name, { agent: 'worker' })) }, { text: 'Done.' }],
      ...Object.fromEntries(
        names.map((name) => [
          name,
          [
            { calls: [call('fs.write', { path: `${name}.txt`, content: `${name}\n` })] },
            { text: `${name} is written.` },
          ],
        ]),
      ),
    });
    await talk.start('go');
    assert.equal(mostAtOnce, 1);
    assert.deepEqual(
      talk.questions,
      names.map((name) => `Create ${name}.txt`),
    );
    for (const name of names) assert.equal(talk.file(`${name}.txt`), `${name}\n`);
  });

  it('take turns with a local model, each to its end', async () => {
    const names = ['t1', 't2', 't3'];
    const client = await begin({
      go: [{ calls: names.map((name) => task(name)) }, { text: 'Done.' }],
      ...Object.fromEntries(
        names.map((name) => [name, [{ calls: [call('fs.read', { path: 'a.txt' })] }, { text: `${name} is known.` }]]),
      ),
    });
    talk.onThisMachine = true;
    talk.build();
    await talk.start('go');
    assert.deepEqual(
      client.requests.map(({ messages }) => messages[0]!.content),
      ['go', 't1', 't1', 't2', 't2', 't3', 't3', 'go'],
    );
    assert.deepEqual(new Set(client.requests.map(({ cacheKey }) => cacheKey)).size, 4, 'each has its own cache');
  });

  it('do not hold up the others when one is stopped, one is denied, one loops to its limit and one fails', async () => {
    const reads = Array.from(
      { length: 25 },
      (_, nth): ScriptedReply => ({ calls: [call('fs.read', { path: 'a.txt', offset: nth + 1 })] }),
    );
    await begin({
      go: [
        {
          calls: [
            task('hangs', {}, 'hangs'),
            task('denied', { agent: 'worker' }),
            task('long'),
            task('good'),
            task('nobody', { agent: 'nobody' }),
          ],
        },
        { text: 'Three are known.' },
      ],
      hangs: [{ text: 'Waiting. ', endless: true }],
      denied: [{ calls: [call('fs.write', { path: 'x.txt', content: 'x' })] }, { text: 'I was not allowed to.' }],
      long: reads,
      good: [{ text: 'Good.' }],
    });
    talk.answers = [{ decision: 'deny' }];
    talk.maxTurns = 50;
    const ended = talk.start('go');
    await eventually('the long task ends', () =>
      talk.events.some((event) => event.type === 'task-end' && event.limit === 'steps'),
    );
    await talk.engine.stopTask(talk.runId, 'hangs');
    const { success } = await ended;
    assert.ok(success);
    const all = await reports();
    assert.deepEqual(
      all.map(({ status, reason }) => [status, reason]),
      [
        ['stopped', 'The user stopped it.'],
        ['done', undefined],
        ['stopped', 'It reached its limit of steps.'],
        ['done', undefined],
        [undefined, undefined],
      ],
    );
    assert.match(all[0]!.result, /^Waiting\. tick 1 /);
    assert.equal(all[1]!.result, 'I was not allowed to.');
    assert.match(all[4]!.message!, /There is no agent nobody/);
    const run = await talk.kept();
    const replies = run.messages.filter(({ role }) => role === 'assistant').length;
    const steps = Object.values(run.tasks!).reduce((sum, { steps }) => sum + steps, 0);
    const usages = talk.events.filter(({ type }) => type === 'usage').length;
    assert.equal(usages, replies + steps - 1, 'each step is counted once; the stopped one told no usage');
  });

  it('go on after a reload where they were, and their calls are asked for again', async () => {
    const client = await begin({
      go: [{ calls: [task('Write x', { agent: 'worker' }, 'w'), task('hangs', {}, 'h')] }, { text: 'Both are done.' }],
      'Write x': [
        { calls: [call('fs.read', { path: 'a.txt' }, 'r')] },
        { calls: [call('fs.write', { path: 'x.txt', content: 'x\n' }, 'x')] },
        { text: 'x is written.' },
      ],
      hangs: [{ text: 'Slow. ', endless: true }],
    });
    talk.answers = ['wait'];
    void talk.start('go');
    await eventually('it asks', () => talk.questions.length === 1);
    await talk.engine.close();
    assert.equal(talk.file('x.txt'), undefined);
    const before = client.requests.length;
    talk.model = routedClient({
      go: [{ text: '' }, { text: 'Both are done.' }],
      'Write x': [{}, {}, { text: 'x is written.' }],
      hangs: [{ text: 'Now it ends.' }, { text: 'Now it ends.' }],
    });
    talk.answers = [{ decision: 'allow' }];
    talk.build();
    const { success } = await talk.continue();
    assert.ok(success);
    assert.equal(talk.file('x.txt'), 'x\n');
    assert.deepEqual(
      (await reports()).map(({ status, result }) => [status, result]),
      [
        ['done', 'x is written.'],
        ['done', 'Now it ends.'],
      ],
    );
    assert.equal(talk.questions.length, 2);
    assert.ok(before > 0);
    const [w] = await tasksOf();
    assert.equal(w!.messages.filter(({ role }) => role === 'user').length, 1);
  });

  it('hear what the user says to them, and the run hears nothing of it', async () => {
    await begin({
      go: [{ calls: [task('Look', { agent: 'worker' }, 'l')] }, { text: 'Done.' }],
      Look: [{ calls: [call('fs.write', { path: 'x.txt', content: 'x' })] }, { text: 'I look at b instead.' }],
    });
    talk.answers = ['wait'];
    const ended = talk.start('go');
    await eventually('it asks', () => talk.questions.length === 1);
    assert.equal(await talk.engine.sayToTask(talk.runId, 'l', { userInput: 'Look at b.' }), true);
    talk.allowWaiting();
    await ended;
    assert.equal(await talk.engine.sayToTask(talk.runId, 'l', { userInput: 'More.' }), false);
    const [state] = await tasksOf();
    assert.deepEqual(
      state!.messages.map(({ role, content }) => [role, content]),
      [
        ['user', 'Look'],
        ['assistant', ''],
        ['tool', ''],
        ['user', 'Look at b.'],
        ['assistant', 'I look at b instead.'],
      ],
    );
    assert.deepEqual(state!.waiting, []);
    assert.ok(!JSON.stringify((await talk.kept()).messages).includes('Look at b.'));
  });

  it('rest while the run pauses, and go on with it', async () => {
    await begin({
      go: [{ calls: [task('Look', { agent: 'worker' }, 'l')] }, { text: 'Done.' }],
      Look: [{ calls: [call('fs.write', { path: 'x.txt', content: 'x' })] }, { text: 'Looked.' }],
    });
    talk.answers = ['wait'];
    const ended = talk.start('go');
    await eventually('it asks', () => talk.questions.length === 1);
    talk.engine.pause(talk.runId);
    talk.allowWaiting();
    await ended;
    assert.equal((await tasksOf())[0]!.status, 'running');
    assert.equal((await talk.kept()).phase, 'WaitingUser');
    assert.deepEqual(await reports(), []);
    await talk.continue();
    assert.equal((await reports())[0]!.result, 'Looked.');
  });

  it('end with what they have found when the user stops the run and says something else', async () => {
    await begin({
      go: [{ calls: [task('hangs', {}, 'h')] }, { text: 'Something else, then.' }],
      hangs: [{ text: 'First. ', endless: true }],
    });
    const ended = talk.start('go');
    await eventually('it works', () => talk.events.some((event) => event.type === 'chunk' && event.task === 'h'));
    await talk.engine.stop(talk.runId);
    await ended;
    assert.ok(isTaskAtWork((await tasksOf())[0]!));
    await talk.continue('Something else.');
    assert.equal((await tasksOf())[0]!.status, 'stopped');
    const run = await talk.kept();
    assert.deepEqual(
      run.messages.map(({ role, content }) => [role, content]),
      [
        ['user', 'go'],
        ['assistant', ''],
        ['tool', ''],
        ['user', 'Something else.'],
        ['assistant', 'Something else, then.'],
      ],
    );
  });

  it('go on when the user says something after a reload, and the run hears it then', async () => {
    await begin({
      go: [{ calls: [task('slow', {}, 's')] }, { text: 'Done, and noted.' }],
      slow: [{ text: 'First. ', endless: true }],
    });
    void talk.start('go');
    await eventually('it works', () => talk.events.some((event) => event.type === 'chunk' && event.task === 's'));
    await talk.engine.close();
    talk.model = routedClient({
      go: [{}, { text: 'Done, and noted.' }],
      slow: [{ text: 'Found.' }, { text: 'Found.' }],
    });
    talk.build();
    await talk.continue('Be brief.');
    const run = await talk.kept();
    assert.deepEqual(
      run.messages.map(({ role, content }) => [role, content]),
      [
        ['user', 'go'],
        ['assistant', ''],
        ['tool', ''],
        ['user', 'Be brief.'],
        ['assistant', 'Done, and noted.'],
      ],
    );
    assert.equal((await reports())[0]!.result, 'Found.');
  });

  it('end at their limit of time, and waiting for the user costs none', async () => {
    await begin(
      {
        go: [{ calls: [task('asks', { agent: 'worker' }), task('hangs')] }, { text: 'Done.' }],
        asks: [{ calls: [call('fs.write', { path: 'x.txt', content: 'x' })] }, { text: 'Allowed after a while.' }],
        hangs: [{ text: 'On and on. ', endless: true }],
      },
      { maxMs: 300 },
    );
    talk.answers = ['wait'];
    const ended = talk.start('go');
    await eventually('one ends', () => talk.events.some(({ type }) => type === 'task-end'));
    talk.allowWaiting();
    await ended;
    assert.deepEqual(
      (await reports()).map(({ status, reason }) => [status, reason]),
      [
        ['done', undefined],
        ['stopped', 'It reached its limit of time.'],
      ],
    );
  });

  it('spend the money of the run, and are asked about before they could exceed it', async () => {
    const asked: unknown[] = [];
    await begin(
      {
        go: [{ calls: [task('t1'), task('t2')] }, { text: 'Not done.' }],
        t1: [{ text: 'One.' }],
        t2: [{ text: 'Two.' }],
      },
      {
        confirmSpending: async (question) => {
          asked.push(question);
          return false;
        },
      },
    );
    talk.price = { input: 0, output: 1_000_000 };
    talk.runLimit = 50;
    talk.build();
    await talk.start('go');
    assert.deepEqual(asked, [{ runId: talk.runId, tasks: 2, limit: 50, of: 'run' }]);
    assert.deepEqual(
      (await reports()).map(({ code }) => code),
      ['TOOL_DENIED', 'TOOL_DENIED'],
    );
    assert.equal((await talk.kept()).tasks, undefined);
  });

  it('are asked about before they could exceed the limit of the day', async () => {
    const asked: unknown[] = [];
    let spent = 150;
    await begin(
      {
        go: [{ calls: [task('t1')] }, { text: 'Not done.' }, { calls: [task('t1')] }, { text: 'Done.' }],
        t1: [{ text: 'One.' }],
      },
      {
        today: async () => ({ spent, limit: 200 }),
        confirmSpending: async ({ of, limit }) => asked.push([of, limit]) > 1,
      },
    );
    talk.price = { input: 0, output: 1_000_000 };
    talk.build();
    await talk.start('go');
    assert.deepEqual(asked, [['day', 200]]);
    spent = 0;
    await talk.continue('go on');
    assert.equal(asked.length, 1, 'what is expected is less than what is left');
    assert.deepEqual(
      (await tasksOf()).map(({ status }) => status),
      ['done'],
    );
  });

  it('fail alone at the limit of money, and the run rests with its question', async () => {
    const names = ['t1', 't2', 't3'];
    await begin(
      {
        go: [{ calls: names.map((name) => task(name)) }, { text: 'Never asked for.' }],
        ...Object.fromEntries(names.map((name) => [name, [{ text: `${name} is known.` }]])),
      },
      { parallel: () => 1 },
    );
    talk.price = { input: 0, output: 1_000_000 };
    talk.runLimit = 12;
    talk.build();
    const { phase, error } = await talk.start('go');
    assert.deepEqual([phase, error?.code], ['WaitingUser', 'LIMIT_RUN_REACHED']);
    assert.deepEqual(
      (await reports()).map(({ status, result }) => [status, result]),
      [
        ['done', 't1 is known.'],
        ['done', 't2 is known.'],
        ['failed', ''],
      ],
    );
    assert.equal((await tasksOf())[2]!.error?.code, 'LIMIT_RUN_REACHED');
    assert.equal((await talk.kept()).usage.cost, 15);
  });

  it('count in the steps of the run', async () => {
    await begin({
      go: [{ calls: [task('t')] }, { text: 'Never asked for.' }],
      t: [
        { calls: [call('fs.read', { path: 'a.txt' })] },
        { calls: [call('fs.read', { path: 'b.txt' })] },
        { text: 'x' },
      ],
    });
    talk.maxTurns = 4;
    talk.build();
    const { error } = await talk.start('go');
    assert.equal(error?.code, 'ENGINE_MAX_TURNS_EXCEEDED');
    assert.equal((await reports())[0]!.result, 'x');
  });

  it('store a long answer, which the run reads by its id', async () => {
    const long = Array.from({ length: 900 }, (_, nth) => `line ${nth}`).join('\n');
    await begin({
      go: [{ calls: [task('t')] }, { text: 'Done.' }],
      t: [{ text: long }],
    });
    await talk.start('go');
    const [{ result, outputId = '?' }] = (await reports()) as [Told];
    assert.equal(result.length, 4000);
    assert.ok(long.startsWith(result.slice(0, -1)));
    const run = await talk.kept();
    const [id] = Object.values(run.calls).flatMap((state) => state.outputId ?? []);
    assert.ok(id?.startsWith(outputId));
    assert.equal(await talk.store.contents.read(talk.runId, id!), long);
  });

  it('are not offered to tasks, to small windows, when switched off, or without an engine for them', async () => {
    const client = await begin({ go: [{ text: 'Hi.' }] }, { parallel: () => 0 });
    await talk.start('go');
    assert.ok(!client.requests[0]!.tools!.some(({ name }) => name === 'task.run'));
    await talk.end();
    const small = await begin({ go: [{ text: 'Hi.' }] });
    talk.contextWindow = 15_000;
    talk.build();
    await talk.start('go');
    assert.ok(!small.requests[0]!.tools!.some(({ name }) => name === 'task.run'));
  });

  it('are given by the user, too, and the run hears of the end', async () => {
    await begin({
      '/task explorer Look at a': [{}, { text: 'The explorer says: one.' }],
      'Look at a': [{ text: 'It says one.' }],
    });
    await talk.engine.start({
      runId: talk.runId,
      userInput: '/task explorer Look at a',
      task: { title: 'Look at a', prompt: 'Look at a', agent: 'explorer' },
    });
    assert.equal((await reports())[0]!.result, 'It says one.');
    const run = await talk.kept();
    assert.equal(run.messages.at(-1)!.content, 'The explorer says: one.');
  });

  it('need an approval where everything does', async () => {
    await begin({ go: [{ calls: [task('Look')] }, { text: 'Denied.' }] });
    talk.preset = 'ask-everything';
    talk.answers = [{ decision: 'deny' }];
    talk.build();
    await talk.start('go');
    assert.deepEqual(talk.questions, ['Give a task to an agent: Look']);
    assert.equal((await talk.kept()).tasks, undefined);
  });

  it('are undone with the run', async () => {
    await begin({
      go: [{ calls: [task('w', { agent: 'worker' }, 'w')] }, { text: 'Done.' }],
      w: [{ calls: [call('fs.write', { path: 'x.txt', content: 'x' }, 'x')] }, { text: 'Written.' }],
    });
    await talk.start('go');
    assert.equal(talk.file('x.txt'), 'x');
    await talk.engine.undo(talk.runId, { toolCallIds: ['w:x'] }, talk.workspace, async () => 'all');
    assert.equal(talk.file('x.txt'), undefined);
  });

  it('go with an exported run, and rest there for good', async () => {
    await begin({
      go: [{ calls: [task('done'), task('hangs', {}, 'h')] }],
      done: [{ calls: [call('fs.read', { path: 'a.txt' })] }, { text: 'It says key-of-nobody-12345.' }],
      hangs: [{ text: 'Slow. ', endless: true }],
    });
    void talk.start('go');
    await eventually('one ends', () => talk.events.some(({ type }) => type === 'task-end'));
    await talk.engine.close();
    const hide = (text: string) => text.replaceAll('key-of-nobody-12345', '***');
    const text = JSON.stringify(await talk.store.exported(talk.runId, hide));
    assert.ok(!text.includes('key-of-nobody'));
    const markdown = runToMarkdown(await talk.kept(), hide);
    assert.match(markdown, /## Explorer: done\n\n> done\n\n- `fs\.read` `a\.txt`[\s\S]*It says /);
    assert.ok(!markdown.includes('key-of-nobody'));
    const runs = parseExportedRuns(JSON.parse(text), RunStore.newId);
    const folder = mkdtempSync(path.join(tmpdir(), 'tasks-'));
    try {
      const store = new RunStore(folder);
      await store.bring(runs);
      const run = await store.read(runs[0]!.id);
      assert.deepEqual(
        Object.values(run.tasks!).map(({ status, messages }) => [status, messages.at(-1)!.content.slice(0, 10)]),
        [
          ['done', 'It says **'],
          ['stopped', 'Slow. tick'],
        ],
      );
      assert.deepEqual(pendingCalls(run.messages), []);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
