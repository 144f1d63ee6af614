import * as z from 'zod';
import type { ModelInfo } from '../client.ts';
import { word } from '../fields.ts';
import { unreadable } from '../http.ts';
import type { Endpoint } from '../providerErrors.ts';

const listSchema = z.object({ models: z.array(z.object({ model: word, name: word }).catch({})) });

/** `{models: [{model: "llama3.2:3b"}]}`; older servers have the `name` alone. */
export function modelsIn(endpoint: Endpoint, body: unknown): ModelInfo[] {
  const list = listSchema.safeParse(body);
  if (!list.success) throw unreadable(endpoint, JSON.stringify(body));
  return list.data.models.flatMap(({ model, name }): ModelInfo[] => {
    const id = model ?? name;
    return id === undefined ? [] : [{ id }];
  });
}
