import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type AdapterResult, createAdapter } from '../../src/llm/adapter/adapter.ts';
import { longText } from '../support/longText.ts';
import { type ProviderReply, reply, startProvider } from '../support/provider.ts';
import { clientFor, greeting } from './serve.ts';

const MiB = 1024 * 1024;
const chunk = 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n';

/** What a client process tells of its call. */
interface Report {
  result: Pick<AdapterResult, 'success' | 'error' | 'attempts'>;
  /** Bytes: the most memory it had during the call beyond what it had before. */
  growth: number;
}

// The same file is the client in a process of its own, whose memory nobody else touches.
if (process.argv[2] === 'call') process.send?.(await callAndMeasure(process.argv[3]!));
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
    ['N32 300 MB of packed words', bomb(chunk.replace('x', longText('words ', 200))), tooLong, 100 * MiB],
  ];
  for (const [says, gives, message, bound] of floods) {
    it(`${says}: stopped at its limit, and memory stays flat`, async () => {
      const provider = await startProvider(({ max_tokens: warmUp }) => (warmUp ? reply.text('Hi') : gives));
      try {
        const { result, growth } = await measured(provider.url);
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
}

/** V8 lets what is new in a heap grow to 48 MiB before it looks at it; here no more than 12, to see what is really held. */
const young = '--max-semi-space-size=4';

function measured(url: string): Promise<Report> {
  const child = fork(fileURLToPath(import.meta.url), ['call', url], { execArgv: ['--import', 'tsx', young] });
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
  const before = process.memoryUsage.rss();
  const { success, error, attempts } = await adapter.complete(greeting, { signal });
  const growth = mostMemory() - before;
  return { result: { success, attempts, ...(error && { error }) }, growth };
}

/** Bytes: the most that was resident at once. Linux counts what a parent had into a child's `maxRSS`, but not here. */
function mostMemory(): number {
  const status = process.platform === 'linux' ? readFileSync('/proc/self/status', 'utf8') : '';
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? process.resourceUsage().maxRSS;
  return Number(kilobytes) * 1024;
}
