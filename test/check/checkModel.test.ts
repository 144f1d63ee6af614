import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { type ModelCheckOptions, runModelCheckTasks } from '../../src/check/checkModel.ts';
import { estimateModelCheck } from '../../src/check/estimate.ts';
import { type CheckResult, checkResultSchema, passedTaskCount } from '../../src/check/taskResult.ts';
import { modelCheckTasks } from '../../src/check/tasks.ts';
import type { SpendingBudget } from '../../src/engine/core/budget.ts';
import { promptPrefixTokens, tokensOfMessages } from '../../src/engine/core/tokenCount.ts';
import { createAdapter } from '../../src/llm/adapter/adapter.ts';
import type { LLMClient } from '../../src/llm/core/client.ts';
import { LLMError } from '../../src/llm/core/errors.ts';
import type { Price } from '../../src/llm/models/prices.ts';
import type { RunEvent } from '../../src/protocol/run/events.ts';
import { call, type ScriptedReply, scriptedClient } from '../support/scriptedClient.ts';
import { doing, endless, failing, playing } from '../support/scriptedTasks.ts';

const modelOf = (client: LLMClient, { price, budget }: { price?: Price; budget?: SpendingBudget } = {}) => ({
  id: 'scripted/one',
  model: 'one',
  contextWindow: 32_768,
  adapter: createAdapter(client, { retries: 0 }, { priceOf: () => price }),
  ...(budget && { budget }),
});

const check = (
  client: LLMClient,
  { price, budget, ...more }: Partial<ModelCheckOptions> & Parameters<typeof modelOf>[1] = {},
) =>
  runModelCheckTasks({
    model: modelOf(client, { price, budget }),
    towpath: '1.0.0',
    ripgrep: rgPath,
    signal: new AbortController().signal,
    ...more,
  });

const only = (id: string) => modelCheckTasks.filter((task) => task.id === id);
const outcomes = ({ tasks: tried }: CheckResult) => tried.map(({ id, why }) => [id, why]);
const leftovers = () => readdirSync(tmpdir()).filter((name) => name.startsWith('towpath-check-'));

describe('Checking a model', () => {
  it('one that does all tasks has done all of them, and nothing of them is left on the disk', async () => {
    const before = leftovers();
    const at: string[] = [];
    const result = await check(playing(doing), {
      progress: ({ done, of, task, text }) => text === undefined && at.push(`${done}/${of} ${task.id}`),
    });
    assert.deepEqual(
      outcomes(result),
      modelCheckTasks.map(({ id }) => [id, undefined]),
    );
    assert.deepEqual(
      at,
      modelCheckTasks.map(({ id }, index) => `${index}/15 ${id}`),
    );
    assert.deepEqual([result.of, passedTaskCount(result), result.ended], [15, 15, undefined]);
    assert.deepEqual(checkResultSchema.parse(JSON.parse(JSON.stringify(result))), result, 'it can be kept');
    assert.deepEqual(
      result.tasks.map(({ replies }) => replies),
      modelCheckTasks.map(({ id }) => doing[id]!.length),
    );
    assert.deepEqual(leftovers(), before);
  });

  for (const { id, title } of modelCheckTasks)
    describe(title, () => {
      it('has ways to fail', () => assert.ok(failing.some(([task]) => task === id)));
      for (const [, how, replies, why] of failing.filter(([task]) => task === id))
        it(`is not done by a model that ${how}`, async () => {
          const [result] = (await check(playing({ [id]: replies }), { tasks: only(id) })).tasks;
          assert.match(result?.why ?? 'it passed', why);
          assert.equal(result?.passed, false);
        });
    });

  it('one that only rambles is told, task by task, what it has not done', async () => {
    const rambling = Object.fromEntries(
      modelCheckTasks.map(({ id }) => [id, [{ text: 'Well, harbours are old. '.repeat(20) }]]),
    );
    const result = await check(playing(rambling));
    assert.equal(passedTaskCount(result), 0);
    for (const { why } of result.tasks) assert.match(why!, /^[A-Z].+\.$/);
  });

  for (const [how, limits, replies, why] of endless)
    it(`one that ${how} is ended, and the next task comes`, async () => {
      const script = { ...doing, call: replies() };
      const result = await check(playing(script), { limits, tasks: [...only('call'), ...only('json')] });
      const [endlessly, next] = result.tasks;
      assert.match(endlessly!.why!, why);
      assert.equal(next!.id, 'json');
      if (limits.ms === undefined) assert.equal(next!.why, undefined); // else it may be over before it has begun
    });

  it('one that asks the person is answered that nobody is there', async () => {
    const asks = {
      calls: [
        call('ask.person', {
          questions: [{ question: 'Which file?', answers: [{ label: 'one' }, { label: 'other' }] }],
        }),
      ],
    };
    const client = playing({ call: [asks, ...doing.call!] });
    assert.deepEqual(outcomes(await check(client, { tasks: only('call') })), [['call', undefined]]);
    assert.match(JSON.stringify(client.requests[1]!.messages), /Nobody is here to answer/);
  });

  it('one that means harm reaches nothing outside, whatever the task is', async () => {
    const canary = path.join(tmpdir(), `canary-${process.pid}`);
    writeFileSync(canary, 'sings');
    const harm: ScriptedReply[] = [
      { calls: [call('shell.run', { command: `rm -f ${canary}` })] },
      { calls: [call('shell.run', { command: `sh report.sh; rm -f ${canary}` })] },
      { calls: [call('fs.write', { path: 'report.sh', content: `rm -f ${canary}\nexit 3\n` })] },
      { calls: [call('fs.write', { path: canary, content: 'dead' }), call('fs.delete', { path: canary })] },
      { calls: [call('shell.run', { command: 'sh report.sh' })] },
      { calls: [call('web.fetch', { url: 'http://127.0.0.1:9/' })] },
      { text: 'Done.' },
    ];
    const events: RunEvent[] = [];
    await check(playing(Object.fromEntries(modelCheckTasks.map(({ id }) => [id, harm]))), {
      record: { keep: async () => {}, onEvent: (event) => events.push(event) },
    });
    assert.ok(existsSync(canary));
    const ran = events.flatMap((event) => (event.type === 'tool-start' && event.command ? [event.command.line] : []));
    assert.deepEqual(ran, ['sh report.sh'], 'in the task that wants it, as it was put there');
    const begun = events.flatMap((event) => (event.type === 'tool-start' ? [event.name] : []));
    assert.deepEqual([...new Set(begun)].sort(), ['fs.write', 'shell.run']);
  });

  it('Stop ends it at once, with what was tried by then', async () => {
    const stop = new AbortController();
    const script = { ...doing, 'two-calls': [{ endless: true }] };
    const result = await check(playing(script), {
      signal: stop.signal,
      record: {
        keep: async () => {},
        onEvent: (event) => event.type === 'chunk' && event.content === 'tick 1 ' && stop.abort(),
      },
    });
    assert.deepEqual(outcomes(result), [['call', undefined]]);
    assert.equal(result.ended, 'It was stopped.');
    const before = await check(playing(doing), { signal: AbortSignal.abort() });
    assert.deepEqual([before.tasks, before.ended], [[], 'It was stopped.']);
  });

  it('one that cannot be asked is not checked, and why is said once', async () => {
    const refusing = scriptedClient([
      { error: new LLMError('LLM_AUTH_FAILED', 'The key was refused.', { status: 401 }) },
    ]);
    const result = await check(refusing);
    assert.deepEqual([result.tasks, result.ended, refusing.requests.length], [[], 'The key was refused.', 1]);
  });

  it('a fault in the middle of a task is that task’s', async () => {
    const broken = { error: new LLMError('LLM_HTTP_ERROR', 'The server has made nonsense.', { status: 500 }) };
    const script = { ...doing, call: [doing.call![0]!, broken] };
    const { tasks: tried } = await check(playing(script), { tasks: [...only('call'), ...only('json')] });
    assert.deepEqual(
      tried.map(({ why }) => why),
      ['The server has made nonsense.', undefined],
    );
  });

  it('costs no more than a run may, all in all, and no more than is left of the day', async () => {
    const price = { input: 0, output: 20_000 }; // ten cents a reply
    const limited = await check(playing(doing), { price, runLimit: () => 0.3 });
    assert.equal(limited.tasks.length, 1);
    assert.match(limited.ended!, /of this run's \$0\.\d+ are spent/);
    assert.equal(limited.cost?.toFixed(2), '0.30');
    const budget: SpendingBudget = {
      admit: async () => ({ refused: { code: 'LIMIT_DAY_REACHED', message: 'Enough for today.' } }),
    };
    const refused = await check(playing(doing), { price, budget });
    assert.deepEqual([refused.tasks, refused.ended], [[], 'Enough for today.']);
  });

  it('is recorded as any run is, before anything is done', async () => {
    const kept: string[] = [];
    const record = { keep: async ({ type }: RunEvent) => void kept.push(type), onEvent: () => {} };
    await check(playing(doing), { tasks: only('call'), record });
    const once = ['run-start', 'tool-start', 'tool-end'];
    const expected = [...once, ...['phase', 'usage'].flatMap((type) => [type, type]), ...Array(4).fill('message')];
    assert.deepEqual(kept.sort(), expected.sort());
    const full = { keep: () => Promise.reject(new Error('The disk is full.')), onEvent: () => {} };
    const client = playing(doing);
    const result = await check(client, { tasks: only('call'), record: full });
    assert.match(result.ended!, /The disk is full/);
    assert.equal(client.requests.length, 0);
  });

  it('is estimated before, from what it sends', async () => {
    const client = playing(doing);
    const result = await check(client);
    const { replies, prompt } = estimateModelCheck(false);
    const sent = client.requests.reduce(
      (sum, { messages, ...prefix }) => sum + promptPrefixTokens(prefix) + tokensOfMessages(messages),
      0,
    );
    assert.equal(replies, client.requests.length);
    assert.ok(Math.abs(prompt / sent - 1) < 0.15, `${prompt} estimated, ${sent} sent`);
    const again = estimateModelCheck(false, { ...result, at: Date.UTC(2026, 10, 24, 12) });
    assert.equal(again.basis, 'as on 24 Nov 2026');
    assert.equal(
      again.ms,
      result.tasks.reduce((sum, { ms }) => sum + ms, 0),
    );
    assert.match(estimateModelCheck(true, { ...result, ended: 'It was stopped.' }).basis, /has not been measured yet/);
  });
});
