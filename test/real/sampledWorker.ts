// Process of a local model whose sampling a file decides: seed, and what a request cannot name.
import { readFileSync } from 'node:fs';
import { LlamaChat } from 'node-llama-cpp';

const file = process.env.TOWPATH_TEST_SAMPLING;
const { generateResponse } = LlamaChat.prototype;
LlamaChat.prototype.generateResponse = function (history, options) {
  const sampling = file === undefined ? {} : JSON.parse(readFileSync(file, 'utf8'));
  return generateResponse.call(this, history, { ...options, ...sampling }) as never;
};
await import('../../src/llm/local/worker/worker.ts');
