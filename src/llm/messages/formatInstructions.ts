import type { ChatRequest } from '../core/client.ts';

/** Returns instructions for models without structured output. DeepSeek requires the word "JSON" in the prompt, else the answer is blank. */
export function responseFormatInstructions({ responseFormat }: ChatRequest): string {
  if (!responseFormat) return '';
  if (responseFormat.type === 'json_object') return 'Answer with one JSON object and nothing else.';
  return `Answer with one JSON object of this schema and nothing else: ${JSON.stringify(responseFormat.schema)}`;
}
