import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createAdapter, type LLMAdapter, type RetryWait } from '../../src/llm/adapter/adapter.ts';
import { reply, startProvider } from '../support/provider.ts';
import { clientFor, greeting } from './serve.ts';

// The same file is the provider in a process of its own, which can be put to sleep and woken up.
if (process.argv[2] === 'provide') await provide();
else describe('a provider that sleeps', tests);

/** Its first answer goes on and on, the others are short. Says its port; asked anything, how many requests came. */
async function provide(): Promise<void> {
  const provider = await startProvider((_, count) =>
    count === 0 ? reply.text('Half of ').endless('and on ', 20) : reply.text('Back.'),
  );
  process.on('message', () => process.send?.(provider.requests.length));
  process.send?.(provider.port);
}

const idleMs = 500;

function tests(): void {
  // Windows knows no SIGSTOP; the client has no code of its own for any system.
  if (process.platform === 'win32') return;

  it('N38 in the middle of an answer: one timeout, the text is kept, and nothing is asked again after waking', async () => {
    await withSleeper(async (provider, adapter) => {
      const waits: RetryWait[] = [];
      let heard = '';
      let asleep = false;
      const result = await adapter.complete(greeting, {
        signal: new AbortController().signal,
        onRetry: (wait) => waits.push(wait),
        onChunk: ({ content }) => {
          heard += content ?? '';
          if (!asleep && heard.includes('and on 1 and on')) asleep = provider.kill('SIGSTOP');
        },
      });
      assert.ok(asleep, 'it was put to sleep');
      assert.deepEqual([result.error?.code, result.attempts, waits], ['LLM_TIMEOUT', 1, []], JSON.stringify(result));
      assert.match(result.error?.message ?? '', /127\.0\.0\.1.* stopped responding for 500 ms/);
      assert.deepEqual(result.message, { role: 'assistant', content: heard, incomplete: true });
      assert.match(heard, /^Half of and on 1 and on/);

      provider.kill('SIGCONT');
      await new Promise((resolve) => setTimeout(resolve, 2 * idleMs));
      assert.equal(await asked(provider), 1);
      const atWaking = heard;
      const second = await adapter.complete(greeting, { signal: new AbortController().signal });
      assert.deepEqual([second.message?.content, await asked(provider)], ['Back.', 2], JSON.stringify(second));
      assert.equal(heard, atWaking, 'nothing of the first answer comes late');
    });
  });

  it('N38 before an answer: asked as often as it would be awake, and not again after waking', async () => {
    await withSleeper(async (provider, adapter) => {
      provider.kill('SIGSTOP');
      const result = await adapter.complete(greeting, { signal: new AbortController().signal });
      assert.deepEqual([result.error?.code, result.attempts, result.message], ['LLM_TIMEOUT', 3, undefined]);

      provider.kill('SIGCONT');
      await new Promise((resolve) => setTimeout(resolve, 2 * idleMs));
      const count = await asked(provider);
      assert.ok(count <= 3, `${count} requests`);
      const second = await adapter.complete(greeting, { signal: new AbortController().signal });
      assert.equal(await asked(provider), count + 1, JSON.stringify(second));
    });
  });
}

async function withSleeper(run: (provider: ChildProcess, adapter: LLMAdapter) => Promise<void>): Promise<void> {
  const provider = fork(fileURLToPath(import.meta.url), ['provide'], { execArgv: ['--import', 'tsx'] });
  try {
    const url = `http://127.0.0.1:${await nextMessage(provider)}/v1`;
    const client = clientFor(url, { fetchLimits: { connectMs: idleMs, idleMs } });
    await run(provider, createAdapter(client, { idleMs, retries: 2, baseDelayMs: 20 }));
  } finally {
    provider.kill('SIGKILL'); // the only one that a sleeper hears
  }
}

function asked(provider: ChildProcess): Promise<number> {
  provider.send('how many requests?');
  return nextMessage(provider);
}

function nextMessage(provider: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const gone = () => reject(new Error('The provider is gone.'));
    provider.once('exit', gone);
    provider.once('message', (message) => {
      provider.off('exit', gone);
      resolve(message as number);
    });
  });
}
