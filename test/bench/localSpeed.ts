import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ChatRequest } from '../../src/llm/client.ts';
import { createLocalClient, type LocalClient, type LocalClientOptions } from '../../src/llm/local/client.ts';
import { writeRandomModel } from '../support/randomModel.ts';
import { type LlamaBench, llamaBench } from './llamaBench.ts';
import { line, median } from './measure.ts';

/** Tokens of a prompt, and how often each is read by either: a long one takes its time. */
const reads: [tokens: number, rounds: number][] = [
  [1024, 7],
  [4096, 5],
  [16_384, 3],
];
/** Tokens that are written, after so many that were read, by a model that takes its time for each as those do that people use. */
const writes = { tokens: 128, depth: 512, rounds: 5, model: { layers: 12, width: 1024 } };
/** Of the speed of llama.cpp's own tool. */
const least = 0.95;
/** One thread: several wait for each other by spinning, which counts as work and is the machine's weather. */
const threads = 1;
/** That of the model's process. */
const nice = 5;
const ticksPerSecond = 100;

/**
 * Tokens for each second of CPU, beside llama.cpp's own tool with the same file, threads, depth and nice value, in turns.
 * @param folder for a larger model
 */
export async function speeds(options: LocalClientOptions, folder: string): Promise<void> {
  const peer = await llamaBench();
  if (typeof peer === 'string') {
    console.log(`\nSpeed beside llama.cpp's own tool: not compared, ${peer}.`);
    return;
  }
  console.log(
    `\nTokens for each second of CPU, beside llama.cpp's own tool; at least ${least} of its speed, ${threads} thread`,
  );
  await readingOf(options.modelPath, options, peer);
  const larger = path.join(folder, 'larger.gguf');
  writeRandomModel(larger, writes.model);
  await writingOf(larger, options, peer);
}

async function readingOf(modelPath: string, options: LocalClientOptions, peer: LlamaBench): Promise<void> {
  const client = createLocalClient({ ...options, modelPath, contextSize: 0, threads, oneRun: true });
  await ask(client, reads.at(-1)![0], 1); // its context is as large as it will be
  const args = (tokens: number) => [...sameOf(modelPath), '-n', '0', '-p', `${tokens}`];
  for (const [tokens, rounds] of reads) {
    const rates = await inTurns(rounds, {
      own: async () => {
        const { seconds, read } = await ask(client, tokens, 1);
        return read / seconds;
      },
      other: async () => {
        const start = await peer.seconds(args(1), nice);
        return (tokens - 1) / ((await peer.seconds(args(tokens), nice)) - start);
      },
    });
    tell(`reading ${tokens.toLocaleString('en-US')} tokens`, rates);
  }
  await client.dispose();
}

async function writingOf(modelPath: string, options: LocalClientOptions, peer: LlamaBench): Promise<void> {
  const client = createLocalClient({ ...options, modelPath, contextSize: 0, threads, oneRun: true });
  const { tokens, depth, rounds } = writes;
  const args = (count: number) => [...sameOf(modelPath), '-p', '0', '-d', `${depth}`, '-n', `${count}`];
  const cacheKey = 'writing';
  await ask(client, depth, 1, cacheKey);
  const rates = await inTurns(rounds, {
    own: async () => {
      const start = await ask(client, depth, 1, cacheKey);
      const { seconds, written } = await ask(client, depth, tokens + 1, cacheKey);
      return (written - 1) / (seconds - start.seconds);
    },
    other: async () => {
      const start = await peer.seconds(args(1), nice);
      return tokens / ((await peer.seconds(args(tokens + 1), nice)) - start);
    },
  });
  tell(`writing ${tokens} tokens after ${depth}`, rates);
  await client.dispose();
}

const sameOf = (modelPath: string) => ['-m', modelPath, '-t', `${threads}`, '-r', '1', '--no-warmup', '-o', 'jsonl'];

/** The median of each, which take turns so that both have the same weather. */
async function inTurns(rounds: number, of: Record<'own' | 'other', () => Promise<number>>) {
  const rates: Record<'own' | 'other', number[]> = { own: [], other: [] };
  for (let round = 0; round < rounds; round++)
    for (const name of ['own', 'other'] as const) rates[name].push(await of[name]());
  return { own: median(rates.own), other: median(rates.other) };
}

function tell(what: string, { own, other }: Record<'own' | 'other', number>): void {
  const perSecond = (rate: number) => `${rate.toFixed(0)}/s`;
  line(what, { own: perSecond(own), other: perSecond(other), ratio: (own / other).toFixed(3) }, other / own, 1 / least);
}

let others = 0;

/** A prompt of about so many tokens, each of which is a letter. @param key of what was read of it before; none when not given */
async function ask(client: LocalClient, tokens: number, maxTokens: number, key?: string) {
  const cacheKey = key ?? `other-${++others}`;
  const content = `${cacheKey} ${'along the canal '.repeat(tokens / 16)}`.slice(0, tokens);
  const request: ChatRequest = {
    model: 'random',
    systemPrompt: cacheKey,
    messages: [{ role: 'user', content }],
    maxTokens,
    temperature: 0,
    cacheKey,
  };
  const before = cpuSeconds(client.pid());
  const { usage } = await client.chat(request);
  const seconds = cpuSeconds(client.pid()) - before;
  return { seconds, read: usage!.promptTokens - usage!.cachedTokens!, written: usage!.completionTokens };
}

function cpuSeconds(pid: number | undefined): number {
  if (pid === undefined) return 0;
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) / ticksPerSecond;
}
