import path from 'node:path';
import {
  getLlama,
  LlamaGrammarEvaluationState,
  LlamaLogLevel,
  type LlamaModel,
  type TokenPredictor,
} from 'node-llama-cpp';
import { PromptLookupTokenPredictor } from '../../src/llm/local/worker/promptLookup.ts';
import { writeHeavyModel } from '../support/heavyModel.ts';
import { writeRandomModel } from '../support/randomModel.ts';
import { line } from './measure.ts';

const rounds = 7;
/** Of the seconds of CPU without: where it is no gain, it costs no more than this. */
const budget = 1.05;

const file = Array.from(
  { length: 240 },
  (_, at) => `export const value_${at} = measure(input_${at}, scale_${at});`,
).join(' ');
/** With another word in four places. */
const changed = file.replaceAll(/value_(30|90|150|210) /g, 'total_$1 ');

interface Said {
  /** Whatever it takes: how much of it can be expected. */
  always?: true;
  prompt: string;
  schema?: object;
  temperature: number;
  tokens: number;
}

/**
 * What it is worth to expect what stood there before (`promptLookup.ts`), by a model whose layers cost what they cost: an answer that says a
 * file again with a change here and there, as it is and held to a grammar, and words that were not said before; with it and without, in
 * turns. `expected`: tokens of an answer that came with the one before. On a processor that is busy with each token it is no gain.
 * @param folder for models
 */
export async function lookups(folder: string): Promise<void> {
  console.log('\nAnswers with what stood there before expected again, beside the same without; CPU for a token');
  const llama = await getLlama({ gpu: false, build: 'never', skipDownload: true, logLevel: LlamaLogLevel.error });
  const repeating = path.join(folder, 'repeating.gguf');
  const on = (marker: string, text: string) => ({ on: marker, steps: [{ text }] });
  const json = JSON.stringify({ text: changed });
  writeHeavyModel({ name: 'Repeating', scenarios: [on('[[text]]', changed), on('[[json]]', json)] }, repeating, 16);
  const other = path.join(folder, 'other.gguf');
  writeRandomModel(other, { layers: 16, width: 1024 });
  const asked = (marker: string) => `<|im_start|>user\n${file}\n${marker}<|im_end|>\n<|im_start|>assistant\n`;
  const schema = { type: 'object', properties: { text: { type: 'string' } } };

  const repeats = await llama.loadModel({ modelPath: repeating });
  await compared('a file again', repeats, { prompt: asked('[[text]]'), temperature: 0, tokens: 400 });
  await compared('a file again, by a grammar', repeats, {
    prompt: asked('[[json]]'),
    schema,
    temperature: 0,
    tokens: 400,
  });
  await compared('… expected whatever it takes', repeats, {
    prompt: asked('[[text]]'),
    temperature: 0,
    tokens: 400,
    always: true,
  });
  await repeats.dispose();
  const says = await llama.loadModel({ modelPath: other });
  await compared('other words', says, { prompt: 'along the canal '.repeat(16), temperature: 1, tokens: 100 });
  await llama.dispose();

  async function compared(
    what: string,
    model: LlamaModel,
    { prompt, schema, temperature, tokens, always }: Said,
  ): Promise<void> {
    const context = await model.createContext({ contextSize: 4096, threads: 1, sequences: 2 });
    const grammar = schema && (await llama.createGrammarForJsonSchema(schema as never));
    const predictor: TokenPredictor = new PromptLookupTokenPredictor(always && (() => 0)) as never;
    const sides = [context.getSequence({ tokenPredictor: predictor }), context.getSequence()].map((sequence) => ({
      sequence,
      all: [] as number[],
      written: 0,
    }));
    const begins = model.tokenize(prompt, true);
    for (let round = 0; round <= rounds; round++)
      for (const side of sides) {
        const { sequence } = side;
        await sequence.adaptStateToTokens(begins.slice(0, -1), false);
        await sequence.evaluateWithoutGeneratingNewTokens(begins.slice(sequence.nextTokenIndex, -1));
        const grammarEvaluationState = grammar && new LlamaGrammarEvaluationState({ model, grammar });
        const before = process.cpuUsage();
        side.written = 0;
        for await (const _ of sequence.evaluate(begins.slice(-1), { temperature, grammarEvaluationState }))
          if (++side.written === tokens) break;
        const { user, system } = process.cpuUsage(before);
        if (round > 0) side.all.push((user + system) / 1000 / side.written);
      }
    const { used } = sides[0]!.sequence.tokenPredictions;
    const [own, without] = sides.map(({ all }) => Math.min(...all)) as [number, number];
    const share = used / (sides[0]!.written * (rounds + 1));
    const numbers = {
      expected: `${Math.round(share * 100)} %`,
      with: `${own.toFixed(2)} ms`,
      without: `${without.toFixed(2)} ms`,
    };
    line(what, { ...numbers, ratio: (own / without).toFixed(2) }, own / without, always ? Infinity : budget);
    await context.dispose();
  }
}
