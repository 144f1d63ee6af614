import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatRequest } from '../../src/llm/core/client.ts';
import {
  createLocalModelClient,
  type LocalModelClient,
  type LocalModelClientOptions,
} from '../../src/llm/local/host/client.ts';
import { endBrowser, openBrowser, type TestPage } from '../webview/browser.ts';
import { begin, readyState, runOf } from '../webview/conversation.ts';
import { fresh, isReading } from './localRounds.ts';
import { inMs, line, median, part } from './measure.ts';

const rounds = 4;
const keys = 40;
/** How many times as long as at rest a key may take, in the middle. */
const budget = 1.5;

/** Longer than all keys of a round take. */
const prompt: ChatRequest = {
  model: 'random',
  messages: [{ role: 'user', content: 'along the canal '.repeat(1800) }],
  maxTokens: 1,
};

/** How long a key takes in the panel until what it did is drawn, while the model reads with all cores, beside the same at rest. */
export async function keysWhileItReads(options: LocalModelClientOptions): Promise<void> {
  const threads = availableParallelism();
  console.log(
    `\nA key in the panel until it is drawn, ${rounds} × ${keys} of them: while ${threads} threads read, and at rest`,
  );
  const browser = await openBrowser();
  const client = createLocalModelClient({ ...options, contextSize: 0, threads, oneRun: true });
  try {
    const test = await browser.open('webview/main.ts');
    await test.send({ type: 'state', state: readyState }, { type: 'run', run: runOf('keys', begin) });
    await watchKeys(test);
    await type(test); // what a page does for the first time takes longer
    const delays: Record<'rest' | 'reading', number[]> = { rest: [], reading: [] };
    for (let round = 0; round < rounds; round++) {
      delays.rest.push(...(await type(test)));
      delays.reading.push(...(await whileItReads(client, () => type(test))));
    }
    for (const name of ['rest', 'reading'] as const) {
      const [middle, late] = [median(delays[name]), part(delays[name], 0.95)];
      line(
        `key: ${name}`,
        { p50: inMs(middle), p95: inMs(late), max: inMs(Math.max(...delays[name])) },
        middle,
        Infinity,
      );
    }
    const times = median(delays.reading) / median(delays.rest);
    line('key: while it reads, of that at rest', { times: times.toFixed(2) }, times, budget);
  } finally {
    await client.dispose();
    await browser.close();
    await endBrowser();
  }
}

async function whileItReads<Result>(client: LocalModelClient, work: () => Promise<Result>): Promise<Result> {
  const stop = new AbortController();
  let done: Promise<Result> | undefined;
  try {
    for await (const chunk of client.chatStream(fresh(prompt), stop.signal))
      if (isReading(chunk) && (chunk.progress?.fraction ?? 0) > 0)
        done ??= work().finally(() => stop.abort(new Error('typed')));
  } catch (error) {
    if ((error as Error).message !== 'typed') throw error;
  }
  if (!stop.signal.aborted) throw new Error('It had read before all was typed.');
  return done!;
}

interface Keys {
  delays: number[];
}

/** By the page's own clock, from when the key came to the browser to the frame after it. */
async function watchKeys({ page }: TestPage): Promise<void> {
  await page.locator('[data-testid="composer"] textarea').focus();
  await page.evaluate(`
    globalThis.delays = [];
    addEventListener('keydown', ({ timeStamp }) => requestAnimationFrame(() => {
      const drawn = new MessageChannel(); // comes after the frame
      drawn.port1.onmessage = () => delays.push(performance.now() - timeStamp);
      drawn.port2.postMessage(0);
    }), true);
  `);
}

/** Milliseconds that each key took. */
async function type({ page }: TestPage): Promise<number[]> {
  for (let at = 0; at < keys; at++) {
    await page.keyboard.press('x');
    await sleep(40 + (at % 7)); // nobody types in time with the frames
  }
  return page.evaluate(() => (globalThis as unknown as Keys).delays.splice(0));
}
