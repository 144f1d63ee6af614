import { message } from '../../../protocol/text/l10n.ts';
import { type LocalizableText, messageOf } from '../../../protocol/text/localized.ts';
import { type GgufHeader, type GgufValue, InvalidGgufError, readGgufHeader } from './ggufHeader.ts';

export interface GgufInfo {
  name?: string;
  architecture: string;
  sizeLabel?: string;
  parameters: number;
  quantisation?: string;
  trainedContext?: number;
  /** Trained tokens before context extension; some models encode positions differently in a larger context. */
  originalContext?: number;
  layers?: number;
  bytesPerToken?: number;
  licence?: string;
  hasChatTemplate: boolean;
  /** True if the chat template knows thinking. */
  thinks?: true;
  parts: number;
}

export function readGgufInfo(path: string): GgufInfo {
  return toGgufInfo(readGgufHeader(path));
}

export function readModelFileDescription(path: string): { info: GgufInfo } | { trouble: LocalizableText } {
  try {
    return { info: readGgufInfo(path) };
  } catch (error) {
    if (error instanceof InvalidGgufError) return { trouble: messageOf(error) };
    return { trouble: message('It cannot be read ({0}).', String((error as NodeJS.ErrnoException).code)) };
  }
}

const thinkingMark = /<think|enable_thinking|\[THINK\]|START_THINKING|<\|channel\|>/;

function toGgufInfo({ metadata, parameters }: GgufHeader): GgufInfo {
  const text = (key: string) => textOf(metadata.get(key));
  const number = (key: string) => numberOf(metadata.get(key));
  const architecture = text('general.architecture') ?? 'unknown';
  const layers = number(`${architecture}.block_count`);
  const fileType = number('general.file_type');
  return dropUndefined({
    name: text('general.name'),
    architecture,
    sizeLabel: text('general.size_label'),
    parameters,
    quantisation: fileType === undefined ? undefined : quantisations[fileType],
    trainedContext: number(`${architecture}.context_length`),
    originalContext: number(`${architecture}.rope.scaling.original_context_length`),
    layers,
    bytesPerToken: bytesPerToken(metadata, architecture, layers),
    licence: text('general.license'),
    thinks: thinkingMark.test(text('tokenizer.chat_template') ?? '') || undefined,
    hasChatTemplate: metadata.has('tokenizer.chat_template'),
    parts: number('split.count') || 1,
  });
}

/**
 * Returns the bytes of keys and values of all layers in half precision. Models with a sliding window or attention-free layers need less.
 */
function bytesPerToken(
  metadata: Map<string, GgufValue>,
  architecture: string,
  layers: number | undefined,
): number | undefined {
  const value = (key: string) => metadata.get(`${architecture}.${key}`);
  const heads = numberOf(value('attention.head_count'));
  const width = numberOf(value('embedding_length'));
  const headWidth = heads && width ? width / heads : undefined;
  const keyWidth = numberOf(value('attention.key_length')) ?? headWidth;
  const valueWidth = numberOf(value('attention.value_length')) ?? headWidth;
  if (layers === undefined || keyWidth === undefined || valueWidth === undefined) return undefined;
  const shared = value('attention.head_count_kv');
  const perLayer = typeof shared === 'object' ? shared.numbers : undefined;
  const headsOfAllLayers = perLayer?.length
    ? perLayer.reduce((sum, count) => sum + count, 0)
    : layers * (numberOf(shared) ?? heads ?? 1);
  return headsOfAllLayers * (keyWidth + valueWidth) * 2;
}

const quantisations: Record<number, string> = {
  0: 'F32',
  1: 'F16',
  2: 'Q4_0',
  3: 'Q4_1',
  7: 'Q8_0',
  8: 'Q5_0',
  9: 'Q5_1',
  10: 'Q2_K',
  11: 'Q3_K_S',
  12: 'Q3_K_M',
  13: 'Q3_K_L',
  14: 'Q4_K_S',
  15: 'Q4_K_M',
  16: 'Q5_K_S',
  17: 'Q5_K_M',
  18: 'Q6_K',
  19: 'IQ2_XXS',
  20: 'IQ2_XS',
  21: 'Q2_K_S',
  22: 'IQ3_XS',
  23: 'IQ3_XXS',
  24: 'IQ1_S',
  25: 'IQ4_NL',
  26: 'IQ3_S',
  27: 'IQ3_M',
  28: 'IQ2_S',
  29: 'IQ2_M',
  30: 'IQ4_XS',
  31: 'IQ1_M',
  32: 'BF16',
  36: 'TQ1_0',
  37: 'TQ2_0',
  38: 'MXFP4',
};

const textOf = (value: GgufValue | undefined) => (typeof value === 'string' && value !== '' ? value : undefined);
const numberOf = (value: GgufValue | undefined) => (typeof value === 'number' ? value : undefined);

function dropUndefined(info: { [Key in keyof GgufInfo]: GgufInfo[Key] | undefined }): GgufInfo {
  return Object.fromEntries(Object.entries(info).filter(([, value]) => value !== undefined)) as unknown as GgufInfo;
}
