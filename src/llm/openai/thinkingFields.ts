import { isObject, type JsonObject } from '../core/json.ts';
import { wordIn } from '../transport/wireFields.ts';

/**
 * The fields that servers write thinking into: DeepSeek, vLLM and Qwen; OpenRouter and Groq; GitHub Copilot; Ollama's own and proxies of it;
 * LiteLLM, with the blocks of Anthropic; OpenRouter, with those of its upstream.
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

/** Thinking as the text of a part, or of blocks; what is encrypted or a signature is no text. */
export function textOfThinking(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textOfThinking).join('');
  if (!isObject(value)) return '';
  const given = [value.thinking, value.text, value.summary, value.content, value.reasoning];
  return textOfThinking(given.find((one) => wordIn(one) !== undefined || isObject(one) || Array.isArray(one)));
}

interface ThinkingCollector {
  /** Returns what a delta, or a whole message, says of thinking that was not said yet. */
  add(delta: JsonObject): string;
  /** The field that spoke first. */
  readonly first: ThinkingField | undefined;
}

/** Reads the thinking of one reply. A text that several fields repeat, in the same pieces or in others, is given once. */
export function collectThinking(): ThinkingCollector {
  let said = '';
  let first: ThinkingField | undefined;
  /** What a field has repeated of `said`: from its last own words up to where it is. */
  const repeated = new Map<ThinkingField, { from: number; to: number }>();

  const news = (field: ThinkingField, text: string): string => {
    const { from, to } = repeated.get(field) ?? { from: 0, to: 0 };
    const known = said.slice(to, to + text.length);
    if (text.startsWith(known)) {
      const rest = text.slice(known.length);
      said += rest;
      repeated.set(field, { from, to: to + text.length });
      return rest;
    }
    const own = said.slice(from, to) + text; // it began as another one did, and is not the same
    said += own;
    repeated.set(field, { from: said.length, to: said.length });
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
        const text = value === undefined || value === null || value === '' ? '' : textOfThinking(value);
        if (text === '') continue;
        first ??= field;
        given += news(field, text);
      }
      return given;
    },
  };
}
