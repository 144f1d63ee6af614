import type { ModelInfo } from '../client.ts';
import { unreadable } from '../http.ts';
import { isObject } from '../json.ts';
import type { Endpoint } from '../providerErrors.ts';

/** `{data: [{id}]}` (OpenAI) or the list itself (Together); the window's size has a name of its own everywhere. */
export function modelsIn(endpoint: Endpoint, body: unknown): ModelInfo[] {
  const list = isObject(body) ? body.data : body;
  if (!Array.isArray(list)) throw unreadable(endpoint, JSON.stringify(body));
  return list.flatMap((model): ModelInfo[] => {
    if (!isObject(model) || typeof model.id !== 'string' || model.id === '') return [];
    const meta = isObject(model.meta) ? model.meta : {};
    const sizes = [model.context_length, model.context_window, model.max_model_len, model.max_context_length];
    const contextWindow = [...sizes, meta.n_ctx, meta.n_ctx_train].find((size) => typeof size === 'number' && size > 0);
    return [{ id: model.id, ...(typeof contextWindow === 'number' && { contextWindow }) }];
  });
}
