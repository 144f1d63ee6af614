// What it takes to list and to search a thousand runs, to count what they took, and to open one of 50,000 records: in CPU, and in
// memory. Exits with 1 when a person would feel it.
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { insightsHtml } from '../../src/extension/records/insightsPage.ts';
import type { StoredEvent } from '../../src/protocol/run/events.ts';
import { usageCountsToCsv } from '../../src/protocol/run/insights.ts';
import { collectUsageInsights } from '../../src/runs/collectInsights.ts';
import { journalHeader, journalLineOf } from '../../src/runs/journal.ts';
import { RunStore } from '../../src/runs/store.ts';
import { compare, inMs, line } from './measure.ts';

const [runs, turns, records] = [1000, 20, 50_000];
const folder = mkdtempSync(path.join(tmpdir(), 'history-'));
const words = 'list parse value folder window button reply branch journal index error token stream cache'.split(' ');
const text = (seed: number, count: number) =>
  Array.from({ length: count }, (_, at) => words[(seed * 7 + at * (seed + 3)) % words.length]).join(' ');

/** What Insights counts of an answer: the call of a model, and one of a tool, which the person was asked about. */
function took(at: number): object[] {
  const tokens = { promptTokens: 1000 + at, completionTokens: 100, totalTokens: 1100 + at, cost: 0.01 };
  const of = { toolCallId: `c${at}`, name: `tool.${at % 7}` };
  return [
    { type: 'usage', usage: tokens, attempts: 1, model: 'm', asked: `p/m${at % 5}`, ms: 900 },
    { type: 'approval', ...of, decision: 'allow', waitedMs: 2000 + at },
    { type: 'tool-end', ...of, ok: at % 9 > 0, ms: 10 + at },
  ];
}

function write(id: string, messages: number, counted = true): void {
  const place = path.join(folder, 'runs', id);
  mkdirSync(place, { recursive: true });
  const events: object[] = [{ type: 'run-start', workflowId: 'chat', agentId: 'a', model: 'p/m' }];
  for (let at = 0; at < messages; at++) {
    const role = at % 2 === 0 ? 'user' : 'assistant';
    events.push({ type: 'message', message: { role, content: `${id} ${at} ${text(at, role === 'user' ? 20 : 120)}` } });
    if (role === 'assistant' && counted) events.push(...took(at));
  }
  events.push({ type: 'phase', phase: 'WaitingUser' });
  const bytes = events.map((event, at) =>
    journalLineOf({ runId: id, seq: at + 1, at: startedAt(id) + at, ...event } as StoredEvent, at),
  );
  appendFileSync(path.join(place, 'journal.jsonl'), Buffer.concat([Buffer.from(journalHeader), ...bytes]));
}

/** A few runs a day. */
const startedAt = (id: string) => Number(/\d+/.exec(id)?.[0] ?? 0) * 20_000_000 + 1;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const megabytes = async () => {
  for (let times = 0; times < 3; times++) {
    collect();
    await wait(20);
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1_000_000;
};
const cpu = async (work: () => Promise<unknown>) => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

for (let run = 0; run < runs; run++) write(`run-${run}`, turns * 2);
const store = new RunStore(folder);
const made = await cpu(() => store.list());
line('the index made anew, once', { CPU: inMs(made) }, made, 5000);
const before = await megabytes();
const costs = (await compare(
  {
    list: async () => void (await store.list()),
    word: async () => void (await store.search('run-999')),
    words: async () => void (await store.search('journal stream value')),
    nothing: async () => void (await store.search('nowhere to be found')),
  },
  2,
)) as Record<'list' | 'word' | 'words' | 'nothing', number>;
line(`${runs} runs listed`, { CPU: inMs(costs.list) }, costs.list, 100);
line('… searched for one of them', { CPU: inMs(costs.word) }, costs.word, 100);
line('… for what is in all of them', { CPU: inMs(costs.words) }, costs.words, 100);
line('… for what is in none', { CPU: inMs(costs.nothing) }, costs.nothing, 100);
const after = (await megabytes()) - before;
line('what stays in memory of it', { MB: after.toFixed(1) }, after, 5);

const counting = await cpu(() => collectUsageInsights([folder]));
line('what they took, counted once', { CPU: inMs(counting) }, counting, 5000);
const { again: counted } = (await compare({ again: async () => void (await collectUsageInsights([folder])) }, 2)) as {
  again: number;
};
line('… and asked for again', { CPU: inMs(counted) }, counted, 500);
const found = await collectUsageInsights([folder]);
const drawing = await cpu(async () => insightsHtml({ ...found, scope: 'workspace' }, { script: '', nonce: '' }));
line('… drawn as a page', { CPU: inMs(drawing) }, drawing, 100);
const saving = await cpu(async () => usageCountsToCsv(found.counts));
line('… saved as CSV', { CPU: inMs(saving) }, saving, 100);

write('run-long', records - 2, false);
const empty = await megabytes();
let opened: Awaited<ReturnType<RunStore['open']>> | undefined;
const opening = await cpu(async () => {
  opened = await store.open('run-long');
});
line(`a run of ${records} records opened`, { CPU: inMs(opening) }, opening, 2000);
const held = (await megabytes()) - empty;
line('… and held', { MB: held.toFixed(1) }, held, 100);
const listing = await cpu(() => store.list());
line('the list beside it, while it is open', { CPU: inMs(listing) }, listing, 200);
await opened?.close();
const again = await cpu(() => store.list());
line('… and when it rests', { CPU: inMs(again) }, again, 200);
rmSync(folder, { recursive: true });
