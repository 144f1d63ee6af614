import * as z from 'zod';

/** Choice of the next token among the probable ones; names and ranges of llama.cpp. */
interface Sampling {
  temperature: number;
  topP: number;
  topK?: number;
  minP?: number;
}

const share = z.number().min(0).max(1).optional().catch(undefined);

/** Recommendation of a model's publisher in the file. Source: llama.cpp, `general.sampling.*` of GGUF. */
const recommendationSchema = z
  .object({
    temp: z.number().min(0).max(2).optional().catch(undefined),
    top_p: share,
    top_k: z.int().min(0).max(1_000_000).optional().catch(undefined),
    min_p: share,
  })
  .catch({});

/**
 * Returns the sampling of a request: as requested, else as the publisher of the model recommends in its file, else the usual one.
 * Recommended repetition penalties are not used: code and quoted text repeat themselves.
 *
 * @param metadata `general` metadata of the model file
 */
export function samplingOf(requested: { temperature?: number; topP?: number }, metadata: unknown): Sampling {
  const { temp, top_p, top_k, min_p } = recommendationSchema.parse((metadata as { sampling?: unknown })?.sampling);
  return {
    temperature: requested.temperature ?? temp ?? 0.6,
    topP: requested.topP ?? top_p ?? 0.95,
    ...(top_k !== undefined && { topK: top_k }),
    ...(min_p !== undefined && { minP: min_p }),
  };
}
