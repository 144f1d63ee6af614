import type { ChatRequest } from '../../../src/llm/client.ts';
import { toWire as toOllama } from '../../../src/llm/ollama/wire.ts';
import { toWire as toChatCompletions } from '../../../src/llm/openai/wire.ts';
import { type PresetId, presets } from '../../../src/llm/presets.ts';

/** A request of a run: with all that one may ask for. */
const request: ChatRequest = {
  model: 'gpt-oss-20b', // which can be told how much to think
  systemPrompt: 'You are Towpath.',
  messages: [{ role: 'user', content: 'Hello.' }],
  tools: [{ name: 'fs.read', description: 'Read a file.', parameters: { type: 'object', properties: {} } }],
  cacheKey: 'run-1',
};

/** What a person has set, or a workflow says. */
const more: Partial<ChatRequest> = {
  maxTokens: 1000,
  temperature: 0,
  topP: 1,
  stopSequences: ['END'],
  thinkingBudget: 4000,
  responseFormat: { type: 'json_schema', name: 'answer', schema: { type: 'object', properties: {} } },
};

const words: Record<string, string> = {
  model: 'The model’s name, as it was picked',
  messages: 'The system prompt, and the whole conversation each time, of which nothing that was sent before changes',
  tools: 'The descriptions of the tools, alike for everybody with the same tools, in an order that never changes',
  tool_choice: '`auto`',
  stream: '`true`',
  stream_options: '`{"include_usage": true}`: how many tokens were read, written and found in the cache',
  return_progress: '`true`: how far it is with reading is shown',
  truncate: '`false`: what does not fit is refused, and not cut off without a word',
  shift: '`false`: the same for an answer that does not fit',
  max_tokens: 'The limit that a step of a workflow has',
  temperature: 'As a step of a workflow says',
  top_p: 'As a step of a workflow says',
  stop: 'As a step of a workflow says',
  response_format: 'The form of answer that a step of a workflow wants',
  format: 'The form of answer that a step of a workflow wants',
  reasoning_effort: '`low`, `medium` or `high`, by `towpath.thinkingBudget`, of models that are known to take it',
  think: 'By `towpath.thinkingBudget`, of a model that thinks',
  options: 'A step’s limits, and `num_ctx`: the window that `towpath.providers` says for the model, else 16,384',
};

/** The fields of what one of these servers is sent, by name. */
export function fieldsSentTo(server: PresetId | 'ollama', asked: ChatRequest): string[] {
  if (server === 'ollama')
    return Object.keys(toOllama(asked, { model: { thinking: true, thinkingLevels: false }, contextSize: 16_384 }).body);
  return Object.keys(toChatCompletions(asked, { provider: server, ...presets[server].flags }));
}

function table(server: PresetId | 'ollama'): string {
  const always = fieldsSentTo(server, request);
  const rows = fieldsSentTo(server, { ...request, ...more }).map((field) => {
    if (!words[field]) throw new Error(`Nobody says what ${field} is.`);
    return `| \`${field}\` | ${always.includes(field) ? 'always' : 'when it is set'} | ${words[field]} |`;
  });
  return ['| field | sent | what |', '|---|---|---|', ...rows].join('\n');
}

/** What each of the servers that a team shares is sent, made by what sends it. */
export const wireTables: Record<string, () => string> = {
  sent_llama_server: () => table('llama-server'),
  sent_vllm: () => table('vllm'),
  sent_ollama: () => table('ollama'),
};
