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
  print(await writingSpeed({ ...options, modelPath: larger }, peer, writes));
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
  const read = async (length: number): Promise<Work> => {
    const { seconds, read: tokens } = await askOf(client, length, 1);
    return { seconds, tokens };
  };
  const speeds: ComparedSpeeds[] = [];
  await begin(client, reads.at(-1)![0] * letters); // its context is as large as it will be
  const args = (tokens: number) => [...sameOf(options.modelPath), '-n', '0', '-p', `${tokens}`];
  for (const [tokens, rounds] of reads) {
    const own: Side = { start: () => read(1), all: () => read(tokens * letters) };
    const other: Side = {
      start: async () => ({ tokens: 1, seconds: await peer.seconds(args(1), nice) }),
      all: async () => ({ tokens, seconds: await peer.seconds(args(tokens), nice) }),
    };
    speeds.push(await compare(`reading ${tokens.toLocaleString('en-US')} tokens`, own, other, rounds));
  }
  await client.dispose();
  return speeds;
}

/** Stops as soon as the model is loaded, in a context for so many letters. */
async function begin(client: LocalModelClient, letters: number): Promise<void> {
  for await (const { progress } of client.chatStream(requestOf(letters, 1))) if ((progress?.fraction ?? 0) > 0) break;
  await askOf(client, 1, 1); // the slice in hand has been read
}

/** @param written number of tokens, after so many that were read @param letters of a token */
export async function writingSpeed(
  options: LocalModelClientOptions,
  peer: LlamaBench,
  { tokens, depth, rounds }: { tokens: number; depth: number; rounds: number },
  letters = 1,
): Promise<ComparedSpeeds> {
  const client = createLocalModelClient({ ...options, contextSize: 0, threads, oneRun: true });
  const args = (count: number) => [...sameOf(options.modelPath), '-p', '0', '-d', `${depth}`, '-n', `${count}`];
  const write = async (count: number): Promise<Work> => {
    const { seconds, written } = await askOf(client, depth * letters, count, 'writing');
    return { seconds, tokens: written };
  };
  await write(tokens + 1); // what it writes after is read once
  const own: Side = { start: () => write(1), all: () => write(tokens + 1) };
  const other: Side = {
    start: async () => ({ tokens: 1, seconds: await peer.seconds(args(1), nice) }),
    all: async () => ({ tokens: tokens + 1, seconds: await peer.seconds(args(tokens + 1), nice) }),
  };
  const speed = await compare(`writing ${tokens} tokens after ${depth}`, own, other, rounds);
  await client.dispose();
  return speed;
}

const sameOf = (modelPath: string) => ['-m', modelPath, '-t', `${threads}`, '-r', '1', '--no-warmup', '-o', 'jsonl'];

interface Work {
  tokens: number;
  /** Of CPU. */
  seconds: number;
}

/** `start`: the part of `all` that it takes to begin. */
interface Side {
  start(): Promise<Work>;
  all(): Promise<Work>;
}

/** In turns, so that both have the same weather, and each by its best: others at work on the machine take caches, and never give any. */
async function compare(what: string, own: Side, other: Side, rounds: number): Promise<ComparedSpeeds> {
  const sides = [own, other].map((side) => ({ side, starts: [] as Work[], alls: [] as Work[] }));
  for (let round = 0; round < rounds; round++)
    for (const { side, starts, alls } of sides) {
      starts.push(await side.start());
      alls.push(await side.all());
    }
  const [ours, theirs] = sides.map(({ starts, alls }) => {
    const [start, all] = [best(starts), best(alls)];
    return (all.tokens - start.tokens) / (all.seconds - start.seconds);
  });
  return { what, ours: ours!, theirs: theirs! };
}

const best = (all: readonly Work[]) => all.reduce((one, other) => (other.seconds < one.seconds ? other : one));

let others = 0;

/** A prompt of about so many letters. @param key of what was read of it before; none when not given */
function requestOf(letters: number, maxTokens: number, key?: string): ChatRequest {
  const cacheKey = key ?? `other-${++others}`;
  const content = `${cacheKey} ${'along the canal '.repeat(letters / 16)}`.slice(0, letters);
  const messages = [{ role: 'user' as const, content }];
  return { model: 'random', systemPrompt: cacheKey, messages, maxTokens, temperature: 0, cacheKey };
}

async function askOf(client: LocalModelClient, letters: number, maxTokens: number, key?: string) {
  const before = cpuSeconds(client.pid());
  const { usage } = await client.chat(requestOf(letters, maxTokens, key));
  const seconds = cpuSeconds(client.pid()) - before;
  const { promptTokens, cachedTokens = 0, completionTokens } = usage!;
  return { seconds, read: promptTokens - cachedTokens, written: completionTokens };
}
