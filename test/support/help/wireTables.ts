import type { ChatRequest } from '../../../src/llm/core/client.ts';
import { type ProviderPresetId, providerPresets } from '../../../src/llm/models/providerPresets.ts';
import { toOllamaWireRequest as toOllama } from '../../../src/llm/ollama/wire.ts';
import { toOpenAIWireRequest as toChatCompletions } from '../../../src/llm/openai/wire.ts';

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
  model: 'The name of the selected model',
  messages: 'The system prompt and the whole conversation; sent text never changes',
  tools: 'The tool descriptions, identical for users with the same tools, in a fixed order',
  tool_choice: '`auto`',
  stream: '`true`',
  stream_options: '`{"include_usage": true}`: the numbers of read, written and cached tokens',
  return_progress: '`true`: the progress of the prompt is shown',
  truncate: '`false`: a prompt that does not fit is rejected, not truncated',
  shift: '`false`: the same for an answer',
  max_tokens: 'The limit of a workflow step',
  temperature: 'As set by a workflow step',
  top_p: 'As set by a workflow step',
  stop: 'As set by a workflow step',
  response_format: 'The format that a workflow step requires',
  format: 'The format that a workflow step requires',
  reasoning_effort:
    '`low`, `medium` or `high`, by the thinking effort or `towpath.thinkingBudget`, for models that support it; `none` for *Off*',
  think: 'By the thinking effort or `towpath.thinkingBudget`, for models that think; `false` for *Off*',
  options: 'Limits of a step, and `num_ctx`: `window` of `towpath.providers`, else 16,384',
};

/** The fields of what one of these servers is sent, by name. */
export function fieldsSentTo(server: ProviderPresetId | 'ollama', asked: ChatRequest): string[] {
  if (server === 'ollama')
    return Object.keys(toOllama(asked, { model: { thinking: true, thinkingLevels: false }, contextSize: 16_384 }).body);
  return Object.keys(toChatCompletions(asked, { provider: server, ...providerPresets[server].flags }));
}

function table(server: ProviderPresetId | 'ollama'): string {
  const always = fieldsSentTo(server, request);
  const rows = fieldsSentTo(server, { ...request, ...more }).map((field) => {
    if (!words[field]) throw new Error(`The field ${field} has no description.`);
    return `| \`${field}\` | ${always.includes(field) ? 'always' : 'if set'} | ${words[field]} |`;
  });
  return ['| field | sent | content |', '|---|---|---|', ...rows].join('\n');
}

/** What each of the servers that a team shares is sent, made by what sends it. */
export const wireTables: Record<string, () => string> = {
  sent_llama_server: () => table('llama-server'),
  sent_vllm: () => table('vllm'),
  sent_ollama: () => table('ollama'),
};
