import { firstContext } from '../modelFile/contextSize.ts';
import type { Shape } from './resizableContext.ts';

/** Tokens between two sizes that are tried. */
const grain = 256;

/** Bytes, of the machine's own memory and of a graphics card's. */
export interface Bytes {
  ram: number;
  vram: number;
}

export interface MemoryUse {
  /** What a context may take of the machine's own. */
  budget: number;
  /** Of a model that looks back through a window: it can be had to keep all that it has read, so that it can be cut back. */
  keepsAll: boolean;
  needs(shape: Shape): Promise<Bytes>;
  /** What is free now, beside the weights and the context that is there. */
  free(): Promise<Bytes>;
  /** What the context takes that is there. */
  taken(): Bytes;
}

/** Tokens, at most `wanted`, of the largest context that has the memory it may take; at least those that every context begins with. */
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
 * The best context of a size: rather one that keeps all that was read than one that keeps a window of it. Undefined: there is no memory
 * for it.
 * @param now the one that it comes after
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
