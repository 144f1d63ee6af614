import { t } from '../../../protocol/text/l10n.ts';
import { type MachineMemory, type MemoryFit, memoryFit } from './memoryFit.ts';

export interface RecommendedModel {
  name: string;
  address: string;
  bytes: number;
  bytesPerToken: number;
  trainedContext: number;
  licence: string;
  readonly goodFor: string;
}

export const recommendedModels: readonly RecommendedModel[] = [
  {
    name: 'Qwen3 1.7B',
    address: 'hf:ggml-org/Qwen3-1.7B-GGUF:Q4_K_M',
    bytes: 1.28e9,
    bytesPerToken: 114_688,
    trainedContext: 40_960,
    licence: 'Apache-2.0',
    get goodFor() {
      return t('Small machines: questions and tiny edits; thinks before it answers');
    },
  },
  {
    name: 'Qwen3 4B Instruct 2507',
    address: 'hf:unsloth/Qwen3-4B-Instruct-2507-GGUF:Q4_K_M',
    bytes: 2.5e9,
    bytesPerToken: 147_456,
    trainedContext: 262_144,
    licence: 'Apache-2.0',
    get goodFor() {
      return t('Most laptops: instructions and tools; answers without thinking first');
    },
  },
  {
    name: 'Qwen3 8B',
    address: 'hf:Qwen/Qwen3-8B-GGUF:Q4_K_M',
    bytes: 5.03e9,
    bytesPerToken: 147_456,
    trainedContext: 40_960,
    licence: 'Apache-2.0',
    get goodFor() {
      return t('16 GB or more: better edits; thinks before it answers');
    },
  },
  {
    name: 'gpt-oss 20B',
    address: 'hf:unsloth/gpt-oss-20b-GGUF:Q4_K_M',
    bytes: 11.6e9,
    bytesPerToken: 49_152,
    trainedContext: 131_072,
    licence: 'Apache-2.0',
    get goodFor() {
      return t('24 GB or more: reasoning and tools; fast for its size (a few experts run at a time)');
    },
  },
  {
    name: 'Qwen3 Coder 30B A3B Instruct',
    address: 'hf:unsloth/Qwen3-Coder-30B-A3B-Instruct-GGUF:Q4_K_M',
    bytes: 18.6e9,
    bytesPerToken: 98_304,
    trainedContext: 262_144,
    licence: 'Apache-2.0',
    get goodFor() {
      return t('32 GB or more: made for coding with tools; fast for its size (a few experts run at a time)');
    },
  },
];

/**
 * Returns the recommended model: the largest that fits and takes at most a quarter of the memory, so that generation without a GPU and the
 * download stay fast; else the smallest.
 */
export function bestModelForMachine(machine: MachineMemory, contextSize: number): RecommendedModel {
  const good = recommendedModels.filter(
    (model) =>
      model.bytes <= machine.totalMemory / 4 && recommendedModelFit(model, machine, contextSize).verdict === 'fits',
  );
  return good.at(-1) ?? recommendedModels[0]!;
}

export function recommendedModelFit(model: RecommendedModel, machine: MachineMemory, contextSize: number): MemoryFit {
  return memoryFit({ ...model, contextSize }, machine);
}
