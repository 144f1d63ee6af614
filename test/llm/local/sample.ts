/**
 * Calls of 40 tools, written by random weights under the call grammar: prints how many there were of which kind, and fails at
 * one that is no JSON, throws, or is refused by its tool for what a grammar could have held. Run by `sampled.test.ts`.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import type { Token } from 'node-llama-cpp';
import { stripPlaceholderNulls } from '../../../src/llm/local/host/stripNulls.ts';
import { toGrammarSchema } from '../../../src/llm/local/ipc/grammarSchema.ts';
import type { JsonSchema } from '../../../src/protocol/content/tools.ts';
import { writeRandomModel } from '../../support/randomModel.ts';

const schemas: Record<string, JsonSchema> = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'toolSchemas.json'), 'utf8'),
);
/** Calls of each tool; 25 before a release. */
const perTool = Number(process.env.TOWPATH_SAMPLED ?? 2);
const longest = 400;
/** What no grammar can hold: the tool's own check says it to the model, which then mends its call. */
const beyondGrammar = new Set([
  'pattern',
  'format',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'uniqueItems',
  'if',
]);

/** The class whose grammar the engine makes for a call's arguments; the package keeps it to itself. */
async function callGrammar(): Promise<new (...parts: unknown[]) => ParamsGrammar> {
  const file = '../../../node_modules/node-llama-cpp/dist/evaluator/LlamaChat/utils/FunctionCallParamsGrammar.js';
  return (await import(new URL(file, import.meta.url).href)).FunctionCallParamsGrammar;
}
interface ParamsGrammar {
  parseParams(text: string): { params: unknown };
}

const folder = mkdtempSync(path.join(tmpdir(), 'sampled-'));
try {
  console.log(JSON.stringify(await sample()));
} finally {
  rmSync(folder, { recursive: true });
}

async function sample() {
  const library = await import('node-llama-cpp');
  const file = path.join(folder, 'random.gguf');
  writeRandomModel(file, { words: wordsOf(schemas) });
  const llama = await library.getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    logLevel: library.LlamaLogLevel.error,
  });
  try {
    const model = await llama.loadModel({ modelPath: file });
    const context = await model.createContext({ contextSize: 2048, threads: 1 });
    const sequence = context.getSequence();
    const Grammar = await callGrammar();
    const closing = new library.TokenBias(model.tokenizer);
    for (const text of ['"', '}', ']', '"}', '"]', '\n\n\n\n']) closing.set(text as never, { logit: 8 });
    // Parts of a character by themselves would make no text: only where a name or a value is made of them.
    for (let byte = 0x80; byte < 0x100; byte++) closing.set((4 + byte) as Token, { logit: -50 });

    const write = async (
      schema: JsonSchema,
      seed: number,
    ): Promise<{ text: string; grammar: ParamsGrammar } | undefined> => {
      const grammar = new Grammar(llama, {}, {}, 'tool', schema);
      await sequence.clearHistory();
      const tokens = [];
      const grammarEvaluationState = new library.LlamaGrammarEvaluationState({ model, grammar: grammar as never });
      for await (const token of sequence.evaluate(model.tokenize('{'), {
        grammarEvaluationState,
        temperature: 2,
        topK: 0,
        topP: 1,
        seed,
        tokenBias: closing,
      })) {
        tokens.push(token);
        if (tokens.length > longest) return undefined;
        const text = model.detokenize(tokens.slice(-8));
        if (text.endsWith('\n\n\n\n')) return { text: model.detokenize(tokens), grammar };
      }
      return { text: model.detokenize(tokens), grammar };
    };

    const counts = { calls: 0, tooLong: 0, valid: 0, numbers: 0, beyond: 0, bad: 0 };
    for (const [name, schema] of Object.entries(schemas)) {
      const grammarSchema = toGrammarSchema(schema);
      assert.ok(grammarSchema, name);
      const check = new Ajv2020({
        strict: false,
        allErrors: true,
        verbose: true,
        logger: false,
        validateFormats: false,
      }).compile(withoutOldWords(schema));
      for (let seed = 1, written = 0; written < perTool; seed++) {
        assert.ok(seed < perTool * 8, `${name} hardly ever comes to an end`);
        const call = await write(grammarSchema, seed);
        if (!call) {
          counts.tooLong++; // a real call would be cut by the window: nothing of it is run
          continue;
        }
        written++;
        counts.calls++;
        const args = stripPlaceholderNulls(JSON.parse(call.text), schema);
        const errors = check(args) ? [] : (check.errors ?? []);
        if (errors.length === 0) {
          counts.valid++;
          counts.bad += refusedByEngine(call) ? 1 : 0;
        } else if (errors.some(isOddNumber)) counts.numbers++;
        else {
          counts.beyond++;
          const unexplained = errors.filter((error) => !isBeyondGrammar(error, errors));
          assert.deepEqual(
            unexplained.map(({ instancePath, keyword }) => ({ instancePath, keyword })),
            [],
            `${name}: ${call.text}`,
          );
        }
      }
    }
    return { ...counts, tools: Object.keys(schemas).length };
  } finally {
    await llama.dispose();
  }
}

/** The engine throws at integers like `7e20`: the client then reads the arguments itself. */
function refusedByEngine({ text, grammar }: { text: string; grammar: ParamsGrammar }): boolean {
  try {
    grammar.parseParams(text);
    return false;
  } catch (error) {
    assert.match(text, /\de[-+]?\d/i, String(error));
    return true;
  }
}

/** `1e-3` where an integer is wanted, `1e999` where a number is: the number grammar knows neither. */
function isOddNumber({ keyword, params, data }: ErrorObject & { data?: unknown }): boolean {
  return keyword === 'type' && /integer|number/.test(String(params.type)) && typeof data === 'number';
}

function isBeyondGrammar(error: ErrorObject, all: readonly ErrorObject[]): boolean {
  if (isReason(error)) return true;
  // Alternatives fail together: one for such a reason, the others because they are not what was meant.
  return all.some(
    ({ keyword, instancePath }) =>
      ['anyOf', 'oneOf'].includes(keyword) &&
      error.instancePath.startsWith(instancePath) &&
      all.some((one) => isReason(one) && one.instancePath.startsWith(instancePath)),
  );
}

function isReason(error: ErrorObject): boolean {
  if (beyondGrammar.has(error.keyword) || error.schemaPath.includes('/then/') || isOddNumber(error)) return true;
  return error.keyword === 'additionalProperties' && Boolean(error.parentSchema?.patternProperties);
}

/** Plain names of properties and values of enums as whole words: the calls get shorter, the grammar stays the same. */
function wordsOf(value: unknown): string[] {
  const words = new Set(Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)));
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, inner] of Object.entries(node)) {
      if (/^[ -~]+$/.test(key)) words.add(`"${key}"`).add(`"${key}": `);
      if (typeof inner === 'string' && inner.length < 20) words.add(`"${inner}"`);
      visit(inner);
    }
  };
  visit(value);
  for (const word of [
    'null',
    'true',
    'false',
    '": "',
    '", "',
    '": ',
    ', "',
    '"}',
    '"]',
    ' the',
    ' boat',
    'canal',
    'é',
    '–',
    '漢',
    '🚣',
  ])
    words.add(word);
  return [...words];
}

/** Ajv knows each draft by its address. */
function withoutOldWords({ $schema: _, ...schema }: JsonSchema): JsonSchema {
  return schema;
}
