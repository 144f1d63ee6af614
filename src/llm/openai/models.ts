import * as z from 'zod';
import type { ModelInfo } from '../core/client.ts';
import { isObject } from '../core/json.ts';
import { unreadableAnswerError } from '../transport/http.ts';
import { type Endpoint, streamErrorToError } from '../transport/providerErrors.ts';
import {
  optionalBooleanSchema,
  optionalNonEmptyStringSchema,
  optionalPositiveNumberSchema,
  tolerantListSchema,
} from '../transport/wireFields.ts';

const modelSchema = z.object({
  id: z.string().min(1),
  context_length: optionalPositiveNumberSchema,
  context_window: optionalPositiveNumberSchema,
  max_model_len: optionalPositiveNumberSchema,
  max_context_length: optionalPositiveNumberSchema,
  meta: z.object({ n_ctx: optionalPositiveNumberSchema, n_ctx_train: optionalPositiveNumberSchema }).catch({}),
});
const listSchema = z.union([
  z.array(z.unknown()),
  z.object({ data: tolerantListSchema }).transform(({ data }) => data),
]);

const purposeSchema = z.object({
  type: optionalNonEmptyStringSchema, // Together
  capabilities: z.object({ completion_chat: optionalBooleanSchema }).catch({}), // Mistral
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
  if (!read.success) throw unreadableAnswerError(endpoint, JSON.stringify(body));
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
