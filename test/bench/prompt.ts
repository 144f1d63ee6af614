import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import type { ChatRequest } from '../../src/llm/core/client.ts';
import { createLocalModelClient } from '../../src/llm/local/host/client.ts';
import { writeRandomModel } from '../support/randomModel.ts';
import { drain, fresh, isReading, shortMessages, stopAt } from './localRounds.ts';
import { inMs, line, median } from './measure.ts';

// How long a person waits for the first word after a prompt of an agent's first turn, and the model for them to be free after Stop,
// with slices of as many tokens as the engine's attention takes at once and with half and twice as many. In turns, because the machine
// is another one from minute to minute: the ratios count.

const sizes = [32, 64, 128] as const;
const rounds = Number(process.env.ROUNDS ?? 3);
const words = Number(process.env.WORDS ?? 400);
/** What the tiles have to be worth, beside half of them: to the first word, and until it is free. */
const budgets = { word: 0.75, free: 1.25 };

const folder = mkdtempSync(path.join(tmpdir(), 'bench-'));
const out = path.resolve(import.meta.dirname, '../out');
const modelPath = path.join(folder, 'random.gguf');
writeRandomModel(modelPath, { layers: 12, width: 768, words: ['along', ' the', ' canal'] });
const prompt: ChatRequest = {
  model: 'random',
  messages: [{ role: 'user', content: 'along the canal '.repeat(Math.ceil(words / 3)) }],
  maxTokens: 1,
};

try {
  const workers = new Map<number, string>();
  for (const size of sizes) workers.set(size, await workerWith(size));
  const firsts = new Map<number, number[]>(sizes.map((size) => [size, []]));
  let tokens = 0;
  const frees = new Map<number, number[]>(sizes.map((size) => [size, []]));
  for (let round = 0; round < rounds; round++)
    for (const [size, workerPath] of workers) {
      const client = createLocalModelClient({ workerPath, modelPath, contextSize: 8192, threads: 1, gpu: false });
      await drain(client, { ...fresh(prompt), messages: shortMessages }); // it is loaded
      const startedAt = performance.now();
      for await (const chunk of client.chatStream(fresh(prompt))) {
        tokens = chunk.usage?.promptTokens ?? tokens;
        if (chunk.done) break;
      }
      firsts.get(size)!.push(performance.now() - startedAt);
      const { free } = await stopAt(
        client,
        fresh(prompt),
        (chunk) => isReading(chunk) && (chunk.progress?.fraction ?? 0) > 0.5,
      );
      frees.get(size)!.push(free);
      console.log(`  round ${round + 1}, from ${size}: ${firsts.get(size)!.at(-1)!.toFixed(0)}, ${free.toFixed(0)} ms`);
      await client.dispose();
    }
  console.log(`${tokens} tokens, one thread, medians of ${rounds} rounds (and beside slices of ${sizes[0]})`);
  const base = { word: median(firsts.get(sizes[0])!), free: median(frees.get(sizes[0])!) };
  for (const size of sizes) {
    const [word, free] = [median(firsts.get(size)!), median(frees.get(size)!)];
    const tell = (what: string, ms: number, of: number, most: number) =>
      line(
        `slices from ${size}: ${what}`,
        { took: inMs(ms), times: (ms / of).toFixed(2) },
        ms / of,
        size === 64 ? most : Infinity,
      );
    tell('first word', word, base.word, budgets.word);
    tell('free after Stop', free, base.free, budgets.free);
  }
} finally {
  rmSync(folder, { recursive: true });
}

/** The model's process, with slices that begin at so many tokens. */
async function workerWith(size: number): Promise<string> {
  const outfile = path.join(out, `local-worker-${size}.mjs`);
  const written = 'const tile = 64;';
  await build({
    entryPoints: [path.resolve(import.meta.dirname, '../../src/llm/local/worker/worker.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['node-llama-cpp'],
    logLevel: 'error',
    plugins: [
      {
        name: 'slices',
        setup: ({ onLoad }) =>
          onLoad({ filter: /readPrompt\.ts$/ }, ({ path: file }) => {
            const text = readFileSync(file, 'utf8');
            if (!text.includes(written)) throw new Error(`${file} has other slices.`);
            return { contents: text.replace(written, `const tile = ${size};`), loader: 'ts' };
          }),
      },
    ],
  });
  return outfile;
}
