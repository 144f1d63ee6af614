import * as z from 'zod';
import type { ModelInfo } from '../core/client.ts';
import type { ModelPage } from '../models/modelListPages.ts';
import { unreadableAnswer } from '../transport/http.ts';
import type { Endpoint } from '../transport/providerErrors.ts';
import { list, size, word } from '../transport/wireFields.ts';

const modelSchema = z.object({
  name: z.string().min(1),
  inputTokenLimit: size,
  supportedGenerationMethods: z.array(z.unknown()).optional().catch(undefined),
});
const pageSchema = z.union([
  z.object({ models: list, nextPageToken: word }),
  z.strictObject({}).transform(() => ({ models: [], nextPageToken: undefined })),
]);

/**
 * Parses `{models: [{name: "models/…", inputTokenLimit, supportedGenerationMethods}]}`. Returns the models that support conversations, and
 * the token of the next page.
 */
export function modelsIn(endpoint: Endpoint, body: unknown): ModelPage {
  const page = pageSchema.safeParse(body);
  if (!page.success) throw unreadableAnswer(endpoint, JSON.stringify(body));
  const { models, nextPageToken: next } = page.data;
  return { models: models.flatMap(toModel), next };
}

function toModel(one: unknown): ModelInfo[] {
  const { success, data: model } = modelSchema.safeParse(one);
  if (!success || model.supportedGenerationMethods?.includes('generateContent') === false) return [];
  const { name, inputTokenLimit: contextWindow } = model;
  return [{ id: name.replace(/^models\//, ''), ...(contextWindow !== undefined && { contextWindow }) }];
}
