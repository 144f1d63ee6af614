import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ExecutionEngine } from '../../src/engine/run/engine.ts';
import { createAdapter } from '../../src/llm/adapter/adapter.ts';
import { withDeadline } from '../../src/llm/core/deadlines.ts';
import type { RunEvent } from '../../src/protocol/run/events.ts';
import { RunStore } from '../../src/runs/store.ts';
import { builtinTools } from '../../src/tools/host/builtinTools.ts';
import { createToolHost } from '../../src/tools/host/host.ts';
import { defaultChatWorkflow } from '../../src/workflows/run/chatWorkflow.ts';
import { temporaryWorkspace } from '../support/workspace.ts';
import { inMs, line, median, part, startLateness } from './measure.ts';
import { type Stage, stages } from './stopStages.ts';

// Stop in every stage of a run, from the click to its end as the panel is told it; and beside it, how late another process of
// this machine was woken meanwhile, which asked for 30 ms: that much no program is to blame for. A row is within the budget
// when 19 of 20 stops are, and the slowest one is but for the slowest waking. STOPS: how often each; STAGES: which ones.

const budgetMs = 100;
const allow = { decision: 'allow' } as const;
const stops = Number(process.env.STOPS ?? 40);
const asked = new RegExp(process.env.STAGES ?? '');

const folder = mkdtempSync(path.join(tmpdir(), 'towpath-stop-'));
const workspace = await temporaryWorkspace({ 'a.txt': 'one\n' });
const lateness = await startLateness(30);
try {
  console.log(`from Stop to the end of the run, ${stops} times each: within ${budgetMs} ms`);
  for (const [name, prepare] of Object.entries(stages)) if (asked.test(name)) await measure(name, await prepare());
} finally {
  lateness.close();
  workspace.cleanup();
  rmSync(folder, { recursive: true });
}
process.exit();

async function measure(name: string, stage: Stage): Promise<void> {
  const told: number[] = [];
  await lateness.take();
  const times = Math.min(stops, stage.most ?? stops);
  for (let stop = 0; stop < times; stop++) told.push(await stopOnce(stage));
  const late = await lateness.take();
  await stage.close?.();
  const [p95, most, latest] = [part(told, 0.95), Math.max(...told), Math.max(...late)];
  const numbers = { median: median(told), p95, most, 'woken late, most': latest };
  const columns = Object.fromEntries(Object.entries(numbers).map(([column, ms]) => [column, inMs(ms)]));
  line(name, columns, Math.max(p95, most - latest), budgetMs);
}

async function stopOnce({
  client,
  parts,
  host,
  workflow = defaultChatWorkflow,
  before,
  approve,
  ...stage
}: Stage): Promise<number> {
  const { when = (event: RunEvent) => event.type === 'phase' } = stage;
  let there = () => {};
  const reached = new Promise<void>((resolve) => {
    there = resolve;
  });
  let going = before === undefined;
  let began = 0;
  let told = 0;
  let after = 0;
  const adapter = createAdapter(client(), { retries: 3, ...stage.limits }, parts);
  const engine = new ExecutionEngine({
    store: new RunStore(folder),
    host: host ?? createToolHost({ workspace, tools: builtinTools(), approve: approve ?? (async () => allow) }),
    workflow: async () => workflow,
    model: async () => ({
      id: 'bench/stop',
      model: 'stop',
      adapter,
      contextWindow: going ? stage.contextWindow : undefined,
    }),
    workspace: async () => ({ names: ['sample'] }),
    maxTurns: () => 2,
    onEvent: (event: RunEvent) => {
      if (told > 0) after++;
      if (began > 0 && event.type === 'phase') told = performance.now();
      if (going && when(event)) there();
    },
  });
  const runId = RunStore.newId();
  const userInput = stage.userInput?.() ?? 'hi';
  await before?.(engine, runId);
  going = true;
  const done = before ? engine.continue({ runId, userInput }) : engine.start({ runId, userInput });
  const early = done.then((result) => {
    if (began === 0) throw new Error(`The run ended by itself: ${JSON.stringify(result)}`);
  });
  await withDeadline(Promise.race([reached, early]), { ms: 60_000, expired: () => new Error('It never came so far.') });
  await Promise.race([new Promise((resolve) => setTimeout(resolve, 30)), early]);
  began = performance.now();
  const kept = engine.stop(runId);
  const { error } = await done;
  const ended = performance.now();
  await kept;
  if (error?.code !== 'ENGINE_ABORTED' || told === 0 || after > 0)
    throw new Error(`${error?.code}, told: ${told > 0}, and ${after} events after it`);
  return Math.max(told, ended) - began;
}
