import path from 'node:path';
import type { ChatRequest } from '../../src/llm/core/client.ts';
import {
  createLocalModelClient,
  type LocalModelClient,
  type LocalModelClientOptions,
} from '../../src/llm/local/host/client.ts';
import { cpuSeconds } from '../support/cpuSeconds.ts';
import { writeRandomModel } from '../support/randomModel.ts';
import { type LlamaBench, llamaBench } from './llamaBench.ts';
import { line } from './measure.ts';

/** Tokens of a prompt, and how often each is read by either: a long one takes its time. */
type Reads = readonly [tokens: number, rounds: number][];
const reads: Reads = [
  [1024, 7],
  [4096, 5],
  [16_384, 3],
];
/** Tokens that are written, after so many that were read, by a model that takes its time for each as those do that people use. */
const writes = { tokens: 128, depth: 512, rounds: 9, model: { layers: 16, width: 1024 } };
/** Of the speed of llama.cpp's own tool. */
const least = 0.95;
/** One thread: several wait for each other by spinning, which counts as work and is the machine's weather. */
const threads = 1;
/** That of the model's process. */
const nice = 5;

/**
 * Tokens for each second of CPU, beside llama.cpp's own tool with the same file, threads, depth and nice value, in turns.
 * @param folder for a larger model
 */
export async function speeds(options: LocalModelClientOptions, folder: string): Promise<void> {
  const peer = await llamaBench();
  if (typeof peer === 'string') {
    console.log(`\nSpeed beside llama.cpp's own tool: not compared, ${peer}.`);
    return;
  }
  console.log(
    `\nTokens for each second of CPU, beside llama.cpp's own tool; at least ${least} of its speed, ${threads} thread`,
  );
  for (const speed of await readingSpeeds(options, peer, reads)) print(speed);
  const larger = path.join(folder, 'larger.gguf');
  writeRandomModel(larger, writes.model);
  print(await writingSpeed({ ...options, modelPath: larger }, peer));
}

/** Tokens for each second of CPU, of Towpath and of llama.cpp's own tool. */
export interface ComparedSpeeds {
  what: string;
  ours: number;
  theirs: number;
}

function print({ what, ours, theirs }: ComparedSpeeds): void {
  const [ratio, perSecond] = [ours / theirs, (rate: number) => `${rate.toFixed(0)}/s`];
  line(what, { own: perSecond(ours), other: perSecond(theirs), ratio: ratio.toFixed(3) }, 1 / ratio, 1 / least);
}

/** @param reads lengths of prompts, ascending @param letters of a token; random models have one for each */
export async function readingSpeeds(
  options: LocalModelClientOptions,
  peer: LlamaBench,
  reads: Reads,
  letters = 1,
): Promise<ComparedSpeeds[]> {
  const client = createLocalModelClient({ ...options, contextSize: 0, threads, oneRun: true });
  const ask = (tokens: number) => askOf(client, tokens * letters, 1);
  const speeds: ComparedSpeeds[] = [];
  await ask(reads.at(-1)![0]); // its context is as large as it will be
  const args = (tokens: number) => [...sameOf(options.modelPath), '-n', '0', '-p', `${tokens}`];
  for (const [tokens, rounds] of reads) {
    const [little, all] = [await ask(1), await ask(tokens)];
    const own: Side = {
      tokens: all.read - little.read,
      start: async () => (await ask(1)).seconds,
      all: async () => (await ask(tokens)).seconds,
    };
    const other: Side = {
      tokens: tokens - 1,
      start: () => peer.seconds(args(1), nice),
      all: () => peer.seconds(args(tokens), nice),
    };
    speeds.push(await compare(`reading ${tokens.toLocaleString('en-US')} tokens`, own, other, rounds));
  }
  await client.dispose();
  return speeds;
}

async function writingSpeed(options: LocalModelClientOptions, peer: LlamaBench): Promise<ComparedSpeeds> {
  const client = createLocalModelClient({ ...options, contextSize: 0, threads, oneRun: true });
  const { tokens, depth, rounds } = writes;
  const args = (count: number) => [...sameOf(options.modelPath), '-p', '0', '-d', `${depth}`, '-n', `${count}`];
  const write = (count: number) => askOf(client, depth, count, 'writing');
  const { written } = await write(tokens + 1); // fewer, where it comes to an end
  const own: Side = {
    tokens: written - 1,
    start: async () => (await write(1)).seconds,
    all: async () => (await write(written)).seconds,
  };
  const other: Side = {
    tokens,
    start: () => peer.seconds(args(1), nice),
    all: () => peer.seconds(args(tokens + 1), nice),
  };
  const speed = await compare(`writing ${written - 1} tokens after ${depth}`, own, other, rounds);
  await client.dispose();
  return speed;
}

const sameOf = (modelPath: string) => ['-m', modelPath, '-t', `${threads}`, '-r', '1', '--no-warmup', '-o', 'jsonl'];

/** So many tokens, in seconds of CPU, of which those go off that it takes to begin. */
interface Side {
  tokens: number;
  start?(): Promise<number>;
  all(): Promise<number>;
}

/** In turns, so that both have the same weather, and each by its best: others at work on the machine take caches, and never give any. */
async function compare(what: string, own: Side, other: Side, rounds: number): Promise<ComparedSpeeds> {
  const sides = [own, other].map((side) => ({ side, starts: [] as number[], alls: [] as number[] }));
  for (let round = 0; round < rounds; round++)
    for (const { side, starts, alls } of sides) {
      starts.push((await side.start?.()) ?? 0);
      alls.push(await side.all());
    }
  const [ours, theirs] = sides.map(({ side, starts, alls }) => side.tokens / (Math.min(...alls) - Math.min(...starts)));
  return { what, ours: ours!, theirs: theirs! };
}

let others = 0;

/** A prompt of about so many letters. @param key of what was read of it before; none when not given */
async function askOf(client: LocalModelClient, letters: number, maxTokens: number, key?: string) {
  const cacheKey = key ?? `other-${++others}`;
  const content = `${cacheKey} ${'along the canal '.repeat(letters / 16)}`.slice(0, letters);
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
  const { promptTokens, cachedTokens = 0, completionTokens } = usage!;
  return { seconds, read: promptTokens - cachedTokens, written: completionTokens };
}
