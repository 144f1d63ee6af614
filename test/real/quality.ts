// Tasks of the model check that a small model passes, by changes of prompt, tools and sampling. Each task counts once per seed.
// npx tsx test/real/quality.ts <file.gguf> <results.jsonl> [--variants base,greedy] [--seeds 3] [--first 1] [--tasks call,edit]
//   [--written 150] [--replies 4]
// The results of all calls with the same file are printed at the end, with confidence intervals of 95 %.
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { rgPath } from '@vscode/ripgrep';
import { runModelCheckTasks } from '../../src/check/checkModel.ts';
import { modelCheckTasks } from '../../src/check/tasks.ts';
import { createAdapter } from '../../src/llm/adapter/adapter.ts';
import type { LLMClient } from '../../src/llm/core/client.ts';
import { createLocalModelClient } from '../../src/llm/local/host/client.ts';
import { withTextToolCallParsing } from '../../src/llm/textCalls/textCalls.ts';
import { buildWorker } from '../llm/local/setup.ts';
import { type Variant, variants } from './variants.ts';

interface Result {
  model: string;
  variant: string;
  task: string;
  seed: number;
  passed: boolean;
  why?: string;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    variants: { type: 'string', default: Object.keys(variants).join(',') },
    seeds: { type: 'string', default: '3' },
    first: { type: 'string', default: '1' },
    tasks: { type: 'string' },
    written: { type: 'string', default: '150' },
    replies: { type: 'string', default: '4' },
  },
});
const [modelPath, resultFile] = positionals;
if (!modelPath || !resultFile) throw new Error('Which model, and which file for the results?');

const folder = mkdtempSync(path.join(tmpdir(), 'quality-'));
const samplingFile = path.join(folder, 'sampling.json');
process.env.TOWPATH_TEST_SAMPLING = samplingFile;
const workerPath = await buildWorker('test/real/sampledWorker.ts');
const model = path.basename(modelPath);
const limits = { written: Number(values.written), replies: Number(values.replies) };
const chosen = values.tasks?.split(',');
const tasks = modelCheckTasks.filter(({ id }) => chosen === undefined || chosen.includes(id));
const contextWindow = 8192;

for (const name of values.variants.split(',')) await tryVariant(name, variants[name]!);
rmSync(folder, { recursive: true });
print(readResults());

/** One process for all seeds: each reads only its own tokens again. */
async function tryVariant(variant: string, { sampling = {}, change = (request) => request }: Variant): Promise<void> {
  const options = { workerPath, modelPath: modelPath!, threads: 1, gpu: false, oneRun: true } as const;
  const client = createLocalModelClient({ ...options, contextSize: contextWindow });
  const changed: LLMClient = {
    ...client,
    chatStream(request, signal) {
      const turn = request.messages.filter(({ role }) => role === 'assistant').length;
      return client.chatStream(change(request, turn), signal);
    },
  };
  const adapter = createAdapter(withTextToolCallParsing(changed), { connectMs: 0, firstTokenMs: 0 });
  for (const task of tasks)
    for (let seed = Number(values.first); seed < Number(values.first) + Number(values.seeds); seed++) {
      writeFileSync(samplingFile, JSON.stringify({ ...sampling, seed }));
      await runModelCheckTasks({
        model: { id: `local/${model}`, model, adapter, contextWindow, onThisMachine: true },
        towpath: '0',
        ripgrep: rgPath,
        signal: new AbortController().signal,
        tasks: [task],
        limits,
        tried: ({ id, passed, why }) => keep({ model, variant, task: id, seed, passed, ...(why && { why }) }),
      });
    }
  await client.dispose();
}

function keep(result: Result): void {
  appendFileSync(resultFile!, `${JSON.stringify(result)}\n`);
}

function readResults(): Result[] {
  if (!existsSync(resultFile!)) return [];
  const lines = readFileSync(resultFile!, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Result).filter((result) => result.model === model);
}

function print(results: readonly Result[]): void {
  console.log(model);
  for (const variant of new Set(results.map((result) => result.variant))) {
    const own = results.filter((result) => result.variant === variant);
    const passed = own.filter((result) => result.passed).map(({ task }) => task);
    const [low, high] = wilsonInterval(passed.length, own.length);
    const byTask = [...new Set(passed)].map((task) => `${task} ${passed.filter((one) => one === task).length}`);
    const share = `${passed.length} of ${own.length} (${percent(low)} to ${percent(high)})`;
    console.log(`  ${variant.padEnd(30)} ${share}  ${byTask.join(', ')}`);
  }
}

/** Confidence interval of 95 % of a share: https://en.wikipedia.org/wiki/Binomial_proportion_confidence_interval. */
function wilsonInterval(hits: number, count: number): [low: number, high: number] {
  const z = 1.96;
  const share = hits / count;
  const centre = share + z ** 2 / (2 * count);
  const half = z * Math.sqrt((share * (1 - share)) / count + z ** 2 / (4 * count ** 2));
  return [Math.max(0, (centre - half) / (1 + z ** 2 / count)), (centre + half) / (1 + z ** 2 / count)];
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
