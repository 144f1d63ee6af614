import { initialContextTokens } from '../modelFile/contextSize.ts';
import type { InferenceContextShape } from './resizableContext.ts';

const grain = 256;

export interface DeviceMemoryBytes {
  ram: number;
  vram: number;
}

export interface MemoryEstimator {
  budget: number;
  /** True if a sliding-window model can store all tokens, so that its memory can be truncated. */
  keepsAll: boolean;
  needs(shape: InferenceContextShape): Promise<DeviceMemoryBytes>;
  free(): Promise<DeviceMemoryBytes>;
  taken(): DeviceMemoryBytes;
}

export async function maxContextTokens(memory: MemoryEstimator, wanted: number): Promise<number> {
  const fits = (size: number) => mayBe(memory, { size, fullCache: false });
  if (wanted <= initialContextTokens || (await fits(wanted))) return wanted;
  let [least, most] = [initialContextTokens / grain, Math.floor(wanted / grain)];
  while (most - least > 1) {
    const middle = (least + most) >> 1;
    if (await fits(middle * grain)) least = middle;
    else most = middle;
  }
  return least * grain;
}

/**
 * Returns the best context of a size, preferably with all tokens instead of a window; undefined if the memory is insufficient.
 *
 * @param now context to be replaced
 */
export async function bestInferenceContextShape(
  memory: MemoryEstimator,
  size: number,
  now?: InferenceContextShape,
): Promise<InferenceContextShape | undefined> {
  const mayKeepAll = now?.fullCache ?? memory.keepsAll;
  for (const fullCache of mayKeepAll ? [true, false] : [false])
    if (await mayBe(memory, { size, fullCache })) return { size, fullCache };
  return undefined;
}

async function mayBe(memory: MemoryEstimator, shape: InferenceContextShape): Promise<boolean> {
  const [needs, free, taken] = [await memory.needs(shape), await memory.free(), memory.taken()];
  return needs.ram <= memory.budget && needs.ram <= free.ram + taken.ram && needs.vram <= free.vram + taken.vram;
}
