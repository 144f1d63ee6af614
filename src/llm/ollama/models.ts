import * as z from 'zod';
import type { ModelInfo } from '../core/client.ts';
import { unreadableAnswer } from '../transport/http.ts';
import type { Endpoint } from '../transport/providerErrors.ts';
import { list, word } from '../transport/wireFields.ts';

const listSchema = z.object({ models: list.pipe(z.array(z.object({ model: word, name: word }).catch({}))) });

/** Parses `{models: [{model: "llama3.2:3b"}]}`; older servers send only `name`. */
export function modelsIn(endpoint: Endpoint, body: unknown): ModelInfo[] {
  const read = listSchema.safeParse(body);
  if (!read.success) throw unreadableAnswer(endpoint, JSON.stringify(body));
  return read.data.models.flatMap(({ model, name }): ModelInfo[] => {
    const id = model ?? name;
    return id === undefined ? [] : [{ id }];
  });
}
