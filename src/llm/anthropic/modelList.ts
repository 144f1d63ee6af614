import * as z from 'zod';
import type { ModelInfo } from '../core/client.ts';
import type { ModelPage } from '../models/modelListPages.ts';
import { unreadableAnswer } from '../transport/http.ts';
import type { Endpoint } from '../transport/providerErrors.ts';
import { list, size, word } from '../transport/wireFields.ts';

const modelSchema = z.object({
  id: z.string().min(1),
  max_input_tokens: size,
  context_window: size,
  context_length: size,
});
const pageSchema = z.union([
  z.object({ data: list, has_more: z.boolean().optional().catch(undefined), last_id: word }),
  z.array(z.unknown()).transform((data) => ({ data, has_more: false, last_id: undefined })),
]);

/**
 * Parses `{data: [{id, max_input_tokens}], has_more, last_id}`. Returns the models and the id after which the next page begins. Gateways
 * omit the size, use OpenAI's names, or send a bare list.
 */
export function modelsIn(endpoint: Endpoint, body: unknown): ModelPage {
  const page = pageSchema.safeParse(body);
  if (!page.success) throw unreadableAnswer(endpoint, JSON.stringify(body));
  const { data, has_more: more, last_id: next } = page.data;
  return { models: data.flatMap(toModel), next: more ? next : undefined };
}

function toModel(one: unknown): ModelInfo[] {
  const { success, data: model } = modelSchema.safeParse(one);
  if (!success) return [];
  const contextWindow = model.max_input_tokens ?? model.context_window ?? model.context_length;
  return [{ id: model.id, ...(contextWindow !== undefined && { contextWindow }) }];
}
