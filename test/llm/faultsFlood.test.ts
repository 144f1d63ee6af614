import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type AdapterResult, createAdapter } from '../../src/llm/adapter.ts';
import { type ProviderReply, reply, startProvider } from '../support/provider.ts';
import { clientFor, cutAt, greeting, toStream } from './serve.ts';

const MiB = 1024 * 1024;
const chunk = 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n';

/** What a client process tells of its call. */
interface Report {
  result: Pick<AdapterResult, 'success' | 'error' | 'attempts'> & { length: number };
  /** Bytes: the most memory it had during the call beyond what it had before. */
  growth: number;
  /** How late the event loop was during the call, as a multiple of what it is in an idle second. */
  lateness: { usual: number; most: number };
}

// The same file is the client in a process of its own, whose memory and event loop nobody else touches.
if (process.argv[2] === 'call') process.send?.(await callAndMeasure(process.argv[3]!));
else if (process.argv[2] === 'chunks') process.send?.(await readChunks(Number(process.argv[3])));
else describe('a flood', tests);

function tests(): void {
  const megabyte = 'x'.repeat(MiB);
  const line = Array.from({ length: 100 }).reduce<ProviderReply>(
    (sent) => sent.raw(megabyte),
    reply.raw('data: {"choices":[{"index":0,"delta":{"content":"'),
  );
  const bomb = (words: string) => {
    const packed = gzipSync(Buffer.alloc(Math.floor((30 * MiB) / words.length) * words.length, words));
    return reply.raw(Buffer.concat(Array(10).fill(packed))).header('content-encoding', 'gzip');
  };
  const tooLong = /answer of more than 32 MiB/;

  const floods: [says: string, gives: ProviderReply, message: RegExp, bound: number][] = [
    ['S06 an event of 100 MB', line.raw('"}}]}\n\n').raw(reply.text('').bytes()), /event of more than 8 MiB/, 50 * MiB],
    ['S06 a line that never ends', line.hang(), /event of more than 8 MiB/, 50 * MiB],
    [
      'S06 an event of many lines, 100 MB',
      reply.raw(`data: ${'x'.repeat(1000)}\n`.repeat(100_000)).hang(),
      /event of more than 8 MiB/,
      50 * MiB,
    ],
    ['N32 300 MB of packed comments', bomb(': nothing at all, a comment\n'), tooLong, 100 * MiB],
    ['N32 300 MB of packed words', bomb(chunk.replace('x', 'x'.repeat(1000))), tooLong, 100 * MiB],
  ];
  for (const [says, gives, message, bound] of floods) {
    it(`${says}: stopped at its limit, and memory stays flat`, async () => {
      const provider = await startProvider(({ max_tokens: warmUp }) => (warmUp ? reply.text('Hi') : gives));
      try {
        const { result, growth } = await measured('call', provider.url);
        const context = JSON.stringify(result);
        assert.deepEqual([result.success, result.error?.code], [false, 'LLM_BAD_RESPONSE'], context);
        assert.deepEqual([result.attempts, provider.requests.length], [1, 2], context); // the first one was the warm-up
        assert.match(result.error?.message ?? '', message);
        assert.ok(growth < bound, `${Math.round(growth / MiB)} MiB`);
      } finally {
        await provider.close();
      }
    });
  }

  it('S07 a million chunks are all read, and others have their turn as if nothing happened', async () => {
    const { result, lateness } = await measured('chunks', '1000000');
    assert.deepEqual(result, { success: true, attempts: 1, length: 1_000_000 });
    assert.ok(lateness.usual < 10 && lateness.most < 100, JSON.stringify(lateness));
  }).timeout(60_000);
}

function measured(...task: string[]): Promise<Report> {
  const child = fork(fileURLToPath(import.meta.url), task, { execArgv: ['--import', 'tsx'] });
  return new Promise((resolve, reject) => {
    child.once('message', (report) => {
      child.kill();
      resolve(report as Report);
    });
    child.once('exit', (code) => reject(new Error(`The client ended with ${code} and said nothing.`)));
  });
}

async function callAndMeasure(url: string): Promise<Report> {
  const adapter = createAdapter(clientFor(url));
  const { signal } = new AbortController();
  await adapter.complete({ ...greeting, maxTokens: 1 }, { signal }); // what fetch itself needs is there from now on
  return measure(() => adapter.complete(greeting, { signal }));
}

/** In pieces as large as a socket's, none of which has to be waited for: no I/O lets others have their turn. */
async function readChunks(count: number): Promise<Report> {
  const body = Buffer.alloc(count * chunk.length, chunk);
  const end = reply.text('').bytes();
  const places = Array.from({ length: Math.floor(body.length / 16_384) }, (_, at) => (at + 1) * 16_384);
  const pieces = [...cutAt(body, places), end];
  globalThis.fetch = async () => new Response(toStream(pieces), { headers: reply.headers });
  // A million of the shortest chunks is more than an answer may have.
  const client = clientFor('https://models.example/v1', { fetchLimits: { answerBytes: 2 * body.length } });
  return measure(() => createAdapter(client).complete(greeting, { signal: new AbortController().signal }));
}

async function measure(run: () => Promise<AdapterResult>): Promise<Report> {
  const { delay: idle } = await withDelay(() => new Promise((resolve) => setTimeout(resolve, 1000)));
  const before = process.memoryUsage.rss();
  const { delay: busy, value: result } = await withDelay(run);
  const growth = process.resourceUsage().maxRSS * 1024 - before;
  const { success, error, attempts, message } = result;
  return {
    result: { success, attempts, length: message?.content.length ?? 0, ...(error && { error }) },
    growth,
    lateness: { usual: busy.percentile(99) / idle.percentile(99), most: busy.max / idle.max },
  };
}

async function withDelay<Value>(run: () => Promise<Value>): Promise<{ delay: IntervalHistogram; value: Value }> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  const moment = () => new Promise((resolve) => setTimeout(resolve, 20));
  delay.enable();
  await moment(); // it counts from its first tick on
  const value = await run();
  await moment(); // and up to its last
  delay.disable();
  return { delay, value };
}
