import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatRequest, ChatStreamChunk } from '../../src/llm/core/client.ts';
import { createLocalModelClient } from '../../src/llm/local/host/client.ts';
import { buildWorker, localModel, tools } from '../llm/local/setup.ts';
import { Whole } from '../llm/local/whole.ts';
import { writeRandomModel } from '../support/randomModel.ts';
import { testScript } from '../support/scripted.ts';
import { keysWhileItReads } from './localKeys.ts';
import { lookups } from './localLookup.ts';
import { drain, fresh, isReading, shortMessages, stopAt } from './localRounds.ts';
import { speeds } from './localSpeed.ts';
import { inMs, line } from './measure.ts';

// What a local model costs the process that uses it: how fast Stop is in each stage, and how much later than asked the
// event loop comes round while the model loads, reads and writes with all cores, beside what it does at rest. Random weights of a
// size that takes its time; the machine's own noise is in all of the numbers. What a key in the panel takes meanwhile, and how fast it
// reads and writes beside llama.cpp's own tool.

const rounds = 5;
/** Milliseconds in which Stop has to be over. */
const stopBudget = 100;

const folder = mkdtempSync(path.join(tmpdir(), 'bench-'));
const modelPath = path.join(folder, 'random.gguf');
writeRandomModel(modelPath, { layers: 4, width: 384, words: ['along', ' the', ' canal'] });
// On a busy machine threads that wait for each other take many times as long: THREADS=1 then.
const threads = Number(process.env.THREADS ?? 0);
const options = { workerPath: await buildWorker(), modelPath, contextSize: 4096, threads, gpu: false } as const;

const prompt: ChatRequest = {
  model: 'random',
  messages: [{ role: 'user', content: 'along the canal '.repeat(220) }],
  cacheKey: 'bench',
};
const short: ChatRequest = { ...prompt, messages: shortMessages, maxTokens: 300 };

try {
  await stops();
  await delays();
  await keysWhileItReads(options);
  await speeds(options, folder);
  await lookups(folder);
} finally {
  rmSync(folder, { recursive: true });
}

async function stops(): Promise<void> {
  const stages: [string, ChatRequest, (chunk: ChatStreamChunk) => boolean, boolean][] = [
    ['loading', short, (chunk) => chunk.progress?.text.startsWith('Loading') ?? false, true],
    ['reading', prompt, (chunk) => (chunk.progress?.fraction ?? 0) > 0 && isReading(chunk), false],
    ['writing', short, (chunk) => chunk.content !== undefined, false],
  ];
  console.log(`Stop, until it has ended, and until the model is free again; the slowest of ${rounds}`);
  for (const [stage, request, when, newClient] of stages) {
    const times: { ended: number; free: number }[] = [];
    let client = createLocalModelClient(options);
    if (!newClient) await drain(client, short);
    for (let round = 0; round < rounds; round++) {
      times.push(await stopAt(client, fresh(request), when));
      if (newClient) {
        await client.dispose();
        client = createLocalModelClient(options);
      }
    }
    await client.dispose();
    const [ended, free] = [Math.max(...times.map((one) => one.ended)), Math.max(...times.map((one) => one.free))];
    line(`Stop: ${stage}`, { ended: inMs(ended), ...(!newClient && { free: inMs(free) }) }, ended, stopBudget);
  }
  await stopsInAQuestion();
}

/** From Stop to the end of a run whose call waits for an answer, and to the first word of its next turn. */
async function stopsInAQuestion(): Promise<void> {
  const scripted = await localModel(testScript(tools));
  const times: { ended: number; free: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const run = await Whole.begin(scripted.client, {}, ['wait']);
    let stoppedAt = 0;
    let free = 0;
    run.onEvent = (event) => {
      if (event.type === 'chunk' && stoppedAt > 0) free ||= performance.now() - stoppedAt;
      if (event.type !== 'question') return;
      setImmediate(() => {
        stoppedAt = performance.now();
        void run.engine.stop(run.runId);
      });
    };
    await run.start('[[write]]');
    const ended = performance.now() - stoppedAt;
    await run.continue('hi');
    await run.end();
    times.push({ ended, free });
  }
  await scripted.close();
  const [ended, free] = [Math.max(...times.map((one) => one.ended)), Math.max(...times.map((one) => one.free))];
  line('Stop: question', { ended: inMs(ended), free: inMs(free) }, ended, stopBudget);
}

async function delays(): Promise<void> {
  console.log('\nEvent-loop delay of the process that uses the model (resolution 1 ms, taken off)');
  await delayIn('idle', () => sleep(1500));
  const client = createLocalModelClient({ ...options, threads: threads || availableParallelism() });
  await delayIn('loading', async () => {
    for await (const chunk of client.chatStream(fresh(short))) if (chunk.content || isReading(chunk)) break;
  });
  await delayIn('reading', async () => {
    for await (const chunk of client.chatStream(fresh(prompt))) if (chunk.content) break;
  });
  await delayIn('writing', () => drain(client, fresh(short)));
  await client.dispose();
  await delayIn('idle again', () => sleep(1500));
}

async function delayIn(stage: string, work: () => Promise<unknown>): Promise<void> {
  const monitor = monitorEventLoopDelay({ resolution: 1 });
  const startedAt = performance.now();
  monitor.enable();
  await work();
  monitor.disable();
  const ms = performance.now() - startedAt;
  const late = (ns: number) => inMs(Math.max(0, ns / 1e6 - 1));
  const [p50, p99] = [late(monitor.percentile(50)), late(monitor.percentile(99))];
  line(`delay: ${stage}`, { p50, p99, max: late(monitor.max), for: inMs(ms) }, monitor.max, Infinity);
}
