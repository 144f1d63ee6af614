import * as z from 'zod';
import type { ThinkingEffort } from '../../protocol/values/thinkingEffort.ts';
import { optionalPositiveNumberSchema, tolerantObjectSchema } from '../transport/wireFields.ts';

export interface OllamaModel {
  /** Absent: the server (before 0.6.4) does not report capabilities, so each is tried. */
  tools?: boolean;
  thinking?: boolean;
  vision?: boolean;
  /** True for gpt-oss, whose thinking is a level (`low`, `medium`, `high`) and no boolean. */
  thinkingLevels: boolean;
  maximumContext?: number;
  /** Context tokens of the Modelfile; absent: the server's default (often 4096). */
  contextSize?: number;
}

export const defaultOllamaModelCapabilities: OllamaModel = { thinkingLevels: false };

const text = z.string().optional().catch(undefined);
const showSchema = z.object({
  capabilities: z.array(z.unknown()).optional().catch(undefined),
  details: z.object({ family: text, families: z.array(z.unknown()).catch([]) }).catch({ families: [] }),
  model_info: tolerantObjectSchema,
  parameters: text,
});

export function toOllamaModel(body: unknown): OllamaModel {
  const { success, data } = showSchema.safeParse(body);
  if (!success) return defaultOllamaModelCapabilities;
  const { capabilities, details, model_info: info, parameters = '' } = data;
  const maximumContext = optionalPositiveNumberSchema.parse(
    Object.entries(info).find(([key]) => key.endsWith('.context_length'))?.[1],
  );
  const contextSize = Number(/^num_ctx\s+(\d+)/m.exec(parameters)?.[1] ?? 0);
  return {
    ...(capabilities && {
      tools: capabilities.includes('tools'),
      thinking: capabilities.includes('thinking'),
      vision: capabilities.includes('vision'),
    }),
    thinkingLevels: [details.family, ...details.families].some((family) => family === 'gptoss' || family === 'gpt-oss'),
    ...(maximumContext !== undefined && { maximumContext }),
    ...(contextSize > 0 && { contextSize }),
  };
}

/** Returns the efforts that a model accepts: levels for gpt-oss, which always thinks, else a switch. */
export function ollamaThinkingEfforts({ thinking, thinkingLevels }: OllamaModel): readonly ThinkingEffort[] {
  if (!thinking) return [];
  return thinkingLevels ? ['low', 'medium', 'high'] : ['off'];
}

/** Returns the effective context in tokens: Ollama bounds the requested size by the trained size. */
export function ollamaContextSize(model: OllamaModel, asked: number | undefined): number | undefined {
  const size = asked ?? model.contextSize;
  return size === undefined ? undefined : Math.min(size, model.maximumContext ?? size);
}

export function learnOllamaModelCapability(rejection: string, model: OllamaModel): OllamaModel | undefined {
  const what = /does not support (tools|thinking)/i.exec(rejection)?.[1]?.toLowerCase();
  if (what === 'tools' && model.tools !== false) return { ...model, tools: false };
  if (what === 'thinking' && model.thinking !== false) return { ...model, thinking: false };
  return undefined;
}
