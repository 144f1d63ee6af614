import { isObject, type JsonObject } from '../core/json.ts';
import { nonEmptyString } from '../transport/wireFields.ts';

/**
 * Fields for thinking: DeepSeek, vLLM and Qwen; OpenRouter and Groq; GitHub Copilot; Ollama and its proxies; LiteLLM (Anthropic's blocks);
 * OpenRouter (upstream blocks).
 */
const fields = [
  'reasoning_content',
  'reasoning',
  'reasoning_text',
  'thinking',
  'thinking_blocks',
  'reasoning_details',
] as const;

export type ThinkingField = (typeof fields)[number];

export function thinkingToText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(thinkingToText).join('');
  if (!isObject(value)) return '';
  const given = [value.thinking, value.text, value.summary, value.content, value.reasoning];
  return thinkingToText(given.find((one) => nonEmptyString(one) !== undefined || isObject(one) || Array.isArray(one)));
}

interface ThinkingCollector {
  add(delta: JsonObject): string;
  readonly first: ThinkingField | undefined;
}

/** Creates a collector for one reply. Thinking repeated by several fields, in equal or different pieces, is emitted once. */
export function createThinkingCollector(): ThinkingCollector {
  let seen = '';
  let first: ThinkingField | undefined;
  const repeated = new Map<ThinkingField, { from: number; to: number }>();

  const news = (field: ThinkingField, text: string): string => {
    const { from, to } = repeated.get(field) ?? { from: 0, to: 0 };
    const known = seen.slice(to, to + text.length);
    if (text.startsWith(known)) {
      const rest = text.slice(known.length);
      seen += rest;
      repeated.set(field, { from, to: to + text.length });
      return rest;
    }
    const own = seen.slice(from, to) + text; // started like another field, but differs
    seen += own;
    repeated.set(field, { from: seen.length, to: seen.length });
    return own;
  };

  return {
    get first() {
      return first;
    },
    add(delta) {
      let given = '';
      for (const field of fields) {
        const value = delta[field];
        const text = value === undefined || value === null || value === '' ? '' : thinkingToText(value);
        if (text === '') continue;
        first ??= field;
        given += news(field, text);
      }
      return given;
    },
  };
}
