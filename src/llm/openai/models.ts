import * as z from 'zod';
import type { ModelInfo } from '../core/client.ts';
import { isObject } from '../core/json.ts';
import { unreadableAnswer } from '../transport/http.ts';
import { type Endpoint, streamErrorToError } from '../transport/providerErrors.ts';
import { booleanField, listField, nonEmptyStringField, positiveNumberField } from '../transport/wireFields.ts';

const modelSchema = z.object({
  id: z.string().min(1),
  context_length: positiveNumberField,
  context_window: positiveNumberField,
  max_model_len: positiveNumberField,
  max_context_length: positiveNumberField,
  meta: z.object({ n_ctx: positiveNumberField, n_ctx_train: positiveNumberField }).catch({}),
});
const listSchema = z.union([z.array(z.unknown()), z.object({ data: listField }).transform(({ data }) => data)]);

const purposeSchema = z.object({
  type: nonEmptyStringField, // Together
  capabilities: z.object({ completion_chat: booleanField }).catch({}), // Mistral
  architecture: z.object({ output_modalities: z.array(z.string()).optional().catch(undefined) }).catch({}), // OpenRouter
});
const otherTypes = /^(embeddings?|rerank|moderation|image|audio|video|transcribe)$/;

function isForTalk(model: unknown): boolean {
  const { success, data } = purposeSchema.safeParse(model);
  if (!success) return true;
  const { type = '', capabilities, architecture } = data;
  if (capabilities.completion_chat === false || otherTypes.test(type)) return false;
  return architecture.output_modalities?.includes('text') ?? true;
}

/**
 * Parses `{data: [{id}]}` (OpenAI) or a bare list (Together); the field of the context size varies. Models reported for other purposes are
 * omitted; OpenAI's list reports no purpose.
 */
export function parseModelList(endpoint: Endpoint, body: unknown): ModelInfo[] {
  const read = listSchema.safeParse(body);
  if (!read.success && isObject(body) && body.error) throw streamErrorToError(endpoint, body); // LM Studio answers 200 to a wrong path
  if (!read.success) throw unreadableAnswer(endpoint, JSON.stringify(body));
  return read.data.flatMap((one): ModelInfo[] => {
    const { success, data: model } = modelSchema.safeParse(one);
    if (!success || !isForTalk(one)) return [];
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
