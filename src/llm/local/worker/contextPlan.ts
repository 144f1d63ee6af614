import { firstContext } from '../modelFile/contextSize.ts';
import type { Shape } from './resizableContext.ts';

const grain = 256;

export interface Bytes {
  ram: number;
  vram: number;
}

export interface MemoryUse {
  budget: number;
  /** True if a sliding-window model can store all tokens, so that its memory can be truncated. */
  keepsAll: boolean;
  needs(shape: Shape): Promise<Bytes>;
  free(): Promise<Bytes>;
  taken(): Bytes;
}

export async function maxContextTokens(memory: MemoryUse, wanted: number): Promise<number> {
  const fits = (size: number) => mayBe(memory, { size, fullCache: false });
  if (wanted <= firstContext || (await fits(wanted))) return wanted;
  let [least, most] = [firstContext / grain, Math.floor(wanted / grain)];
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
export async function contextShapeOf(memory: MemoryUse, size: number, now?: Shape): Promise<Shape | undefined> {
  const mayKeepAll = now?.fullCache ?? memory.keepsAll;
  for (const fullCache of mayKeepAll ? [true, false] : [false])
    if (await mayBe(memory, { size, fullCache })) return { size, fullCache };
  return undefined;
}

async function mayBe(memory: MemoryUse, shape: Shape): Promise<boolean> {
  const [needs, free, taken] = [await memory.needs(shape), await memory.free(), memory.taken()];
  return needs.ram <= memory.budget && needs.ram <= free.ram + taken.ram && needs.vram <= free.vram + taken.vram;
}
