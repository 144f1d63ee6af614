import type { OpenAICompatibilityFlags } from './wireFlags.ts';

/** `optional`: a server that may require a key; `none`: no authentication, except by a proxy. */
export type ApiKeyRequirement = 'needed' | 'optional' | 'none';

export interface ProviderPreset {
  label: string;
  baseUrl: string;
  key: ApiKeyRequirement;
  flags: Omit<OpenAICompatibilityFlags, 'provider'>;
}

export const providerPresets = {
  deepseek: {
    label: 'DeepSeek',
    baseUrl: 'https://api.deepseek.com/v1',
    key: 'needed',
    flags: { returnThinking: 'all', thinking: 'none', schemaInPrompt: true },
  },
  openrouter: {
    label: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    key: 'needed',
    flags: { returnThinking: 'calls', thinking: 'reasoning' },
  },
  groq: {
    label: 'Groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    key: 'needed',
    flags: { completionTokens: true, thinking: 'effort' },
  },
  mistral: {
    label: 'Mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    key: 'needed',
    // usage is always sent, and the parameter for it is rejected
    flags: { callIds: 'nine', thinking: 'none', omit: ['stream_options'] },
  },
  xai: {
    label: 'xAI',
    baseUrl: 'https://api.x.ai/v1',
    key: 'needed',
    flags: { thinking: 'effort' },
  },
  together: {
    label: 'Together',
    baseUrl: 'https://api.together.xyz/v1',
    key: 'needed',
    flags: { thinking: 'effort' },
  },
  lmstudio: {
    label: 'LM Studio',
    baseUrl: 'http://127.0.0.1:1234/v1',
    key: 'none',
    flags: { thinking: 'effort' },
  },
  'llama-server': {
    label: 'llama-server',
    baseUrl: 'http://127.0.0.1:8080/v1',
    key: 'optional',
    flags: { thinking: 'none', readingProgress: true },
  },
  vllm: {
    label: 'vLLM',
    baseUrl: 'http://127.0.0.1:8000/v1',
    key: 'optional',
    flags: { thinking: 'effort' },
  },
} satisfies Record<string, ProviderPreset>;

export type ProviderPresetId = keyof typeof providerPresets;
