import * as z from 'zod';
import type { ModelInfo } from '../client.ts';
import { list, size } from '../fields.ts';
import { unreadable } from '../http.ts';
import { isObject } from '../json.ts';
import { type Endpoint, errorInStream } from '../providerErrors.ts';

const modelSchema = z.object({
  id: z.string().min(1),
  context_length: size,
  context_window: size,
  max_model_len: size,
  max_context_length: size,
  meta: z.object({ n_ctx: size, n_ctx_train: size }).catch({}),
});
const listSchema = z.union([z.array(z.unknown()), z.object({ data: list }).transform(({ data }) => data)]);

/** `{data: [{id}]}` (OpenAI) or the list itself (Together); the window's size has a name of its own everywhere. */
export function modelsIn(endpoint: Endpoint, body: unknown): ModelInfo[] {
  const read = listSchema.safeParse(body);
  if (!read.success && isObject(body) && body.error) throw errorInStream(endpoint, body); // LM Studio: 200 to a wrong path
  if (!read.success) throw unreadable(endpoint, JSON.stringify(body));
  return read.data.flatMap((one): ModelInfo[] => {
    const { success, data: model } = modelSchema.safeParse(one);
    if (!success) return [];
    const contextWindow =
      model.context_length ??
      model.context_window ??
      model.max_model_len ??
      model.max_context_length ??
      model.meta.n_ctx ??
      model.meta.n_ctx_train;
    return [{ id: model.id, ...(contextWindow !== undefined && { contextWindow }) }];
  });
}
