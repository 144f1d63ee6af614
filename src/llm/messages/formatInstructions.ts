import type { ChatRequest } from '../core/client.ts';

/** For models that are not told of a format otherwise. DeepSeek wants the word "JSON" in the prompt, or says nothing but blanks. */
export function formatInstructions({ responseFormat }: ChatRequest): string {
  if (!responseFormat) return '';
  if (responseFormat.type === 'json_object') return 'Answer with one JSON object and nothing else.';
  return `Answer with one JSON object of this schema and nothing else: ${JSON.stringify(responseFormat.schema)}`;
}
