import assert from 'node:assert/strict';
import type { RunEventBody, StoredEvent } from '../../../src/protocol/run/events.ts';
import {
  cacheShareOf,
  countRunUsage,
  generationSpeedOf,
  groupUsageDays,
  knownModelCost,
  median,
  sumUsageCounts,
  toolSuccessRate,
  usageCountsToCsv,
} from '../../../src/protocol/run/insights.ts';

const noon = (day: number) => new Date(2026, 10, day, 12).getTime();
type Body = RunEventBody & { at?: number };
const events = (...bodies: Body[]): StoredEvent[] =>
  bodies.map((body, index) => ({ runId: 'run-1', seq: index + 1, at: noon(1), ...body }) as StoredEvent);

const start: Body = { type: 'run-start', workflowId: 'chat', agentId: '', model: 'openai/gpt' };
const usage = (prompt: number, written: number, more: object = {}): Body => ({
  type: 'usage',
  usage: { promptTokens: prompt, completionTokens: written, totalTokens: prompt + written, ...more },
  attempts: 1,
  model: 'gpt',
  ms: 2000,
});
const end = (toolCallId: string, ok: boolean, ms: number, code?: string): Body => ({
  type: 'tool-end',
  toolCallId,
  name: 'fs.edit',
  ok,
  ms,
  ...(code && { code }),
});

describe('what runs took', () => {
  it('is counted by day and model, and a call without a price costs nobody knows what', () => {
    const counts = countRunUsage(
      events(
        start,
        usage(100, 20, { cachedTokens: 60, cost: 0.5 }),
        { ...usage(50, 20), delayMs: 1000 } as Body,
        { type: 'model', model: 'ollama/qwen', at: noon(2) },
        { ...usage(10, 5), model: 'qwen', at: noon(2) } as Body,
        { type: 'attempt', attempt: 1, code: 'X', message: '', waitMs: 5, model: 'qwen', at: noon(2) },
        { type: 'attempt', attempt: 2, code: 'X', message: '', model: 'qwen', at: noon(2) },
        { type: 'phase', phase: 'Failed', error: { code: 'ENGINE_ABORTED', message: '' }, at: noon(2) },
      ),
    );
    const [second, first] = groupUsageDays(counts.models);
    assert.deepEqual(
      [first!.day, first!.model, second!.day, second!.model],
      ['2026-11-01', 'openai/gpt', '2026-11-02', 'ollama/qwen'],
    );
    assert.equal(knownModelCost(first!), 0.5);
    assert.equal(first!.unpriced, 1);
    assert.equal(knownModelCost(second!), undefined);
    assert.equal(cacheShareOf(first!), 0.4);
    assert.equal(generationSpeedOf(first!), 40 / 3);
    assert.deepEqual([second!.retries, second!.failures, second!.stops], [1, 1, 1]);
  });

  it('has of each tool how its calls ended, how long they took, and how long an answer was waited for', () => {
    const approval = (toolCallId: string, waitedMs: number, automatic?: string): Body => ({
      type: 'approval',
      toolCallId,
      decision: 'allow',
      waitedMs,
      ...(automatic && { automatic }),
    });
    const { tools } = countRunUsage(
      events(
        start,
        {
          type: 'message',
          message: { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'fs.edit', arguments: {} }] },
        },
        approval('a', 4000),
        end('a', true, 10),
        { ...approval('b', 2000), name: 'fs.edit' } as Body,
        end('b', false, 30, 'E_STALE'),
        { ...approval('c', 0, 'It only reads.'), name: 'fs.edit' } as Body,
        end('c', false, 0, 'TOOL_DENIED'),
        end('d', false, 7, 'TOOL_INTERRUPTED'),
      ),
    );
    assert.deepEqual(tools, [
      { tool: 'fs.edit', done: 1, failed: 1, denied: 1, interrupted: 1, ms: [10, 30], waits: [4000, 2000] },
    ]);
    assert.equal(toolSuccessRate(tools[0]!), 0.5);
    assert.equal(median(tools[0]!.waits), 3000);
  });

  it('counts what a branch has from another run there alone, and nothing that was imported', () => {
    const fork = events(
      { ...start, parent: { run: 'run-0', seq: 3 } } as Body,
      usage(100, 20, { cost: 1 }),
      end('a', true, 1),
      usage(7, 3, { cost: 2 }),
    );
    const counts = countRunUsage(fork);
    assert.equal(counts.models[0]!.calls, 1);
    assert.equal(knownModelCost(counts.models[0]!), 2);
    assert.deepEqual(counts.tools, []);
    const imported = countRunUsage(events({ ...start, imported: true } as Body, end('a', true, 1)));
    assert.deepEqual(imported, { runs: 0, models: [], tools: [] });
  });

  it('adds up', () => {
    const one = countRunUsage(events(start, usage(100, 20, { cost: 1 }), end('a', true, 1)));
    const both = sumUsageCounts([one, one]);
    assert.equal(both.runs, 2);
    assert.equal(both.models.length, 1);
    assert.equal(both.models[0]!.cost, 2);
    assert.deepEqual(both.tools[0]!.ms, [1, 1]);
    assert.equal(one.tools[0]!.ms.length, 1, 'what is added up is left as it is');
  });

  it('names of strangers are names: they pollute nothing and break no table', () => {
    const evil = '__proto__';
    const { models, tools } = countRunUsage(
      events(
        start,
        { ...usage(1, 1), asked: evil } as Body,
        { ...end(evil, true, 1), name: '=HYPERLINK("x"),\n' } as Body,
      ),
    );
    assert.equal(models[0]!.model, evil);
    const csv = usageCountsToCsv({ runs: 1, models, tools });
    assert.ok(csv.includes(`"'=HYPERLINK(""x""),\n",1,0`), csv);
    assert.equal(({} as { calls?: number }).calls, undefined);
  });

  it('as CSV: what is not known is an empty field', () => {
    const csv = usageCountsToCsv(countRunUsage(events(start, usage(100, 20))));
    assert.match(csv, /^day,model,calls,tokens read,/);
    assert.match(csv, /\r\n2026-11-01,openai\/gpt,1,100,0,20,,1,10,0,0,0\r\n/);
  });

  const medians: [values: number[], is: number | undefined][] = [
    [[], undefined],
    [[3], 3],
    [[9, 1], 5],
    [[9, 1, 2], 2],
  ];
  for (const [values, is] of medians)
    it(`the median of ${values.join(', ') || 'nothing'}`, () => assert.equal(median(values), is));
});
