import type { ThinkingEffort } from '../protocol/values/thinkingEffort.ts';
import { anthropicThinkingEfforts } from './anthropic/models.ts';
import { googleThinkingEfforts } from './google/thinking.ts';
import { type ProviderPreset, providerPresets } from './models/providerPresets.ts';
import type { ProviderId } from './models/providers.ts';
import { openAIThinkingEfforts } from './openai/thinking.ts';

/**
 * Returns the efforts that a model of a provider supports, by its name; empty if the model has no setting or is unknown. Ollama reports the
 * capabilities itself (`LLMClient.thinkingEfforts`).
 */
export function supportedThinkingEfforts(provider: ProviderId, model: string): readonly ThinkingEffort[] {
  switch (provider) {
    case 'anthropic':
      return anthropicThinkingEfforts(model);
    case 'google':
      return googleThinkingEfforts(model);
    case 'ollama':
      return [];
    case 'openrouter':
      return effortsAtOpenRouter(model);
    case 'openai':
    case 'openai-responses':
    case 'openai-compatible':
    case 'azure':
      return openAIThinkingEfforts(model);
    default: {
      const { flags }: ProviderPreset = providerPresets[provider];
      return flags.thinking === 'none' ? [] : openAIThinkingEfforts(model);
    }
  }
}

/** OpenRouter converts the setting for every model that thinks; other vendors than these are not known by name. */
function effortsAtOpenRouter(model: string): readonly ThinkingEffort[] {
  if (/claude/i.test(model)) return anthropicThinkingEfforts(model);
  if (/gemini/i.test(model)) return googleThinkingEfforts(model);
  return openAIThinkingEfforts(model);
}
