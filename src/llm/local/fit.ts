export interface Machine {
  /** Bytes. */
  freeMemory: number;
  totalMemory: number;
}

export interface FitRequest {
  /** The weights, as large as their files. */
  bytes: number;
  /** Of context; taken from the weights when the model does not say it. */
  bytesPerToken?: number;
  /** Tokens that the settings ask for. */
  contextSize: number;
  trainedContext?: number;
}

export interface Fit {
  verdict: 'fits' | 'tight' | 'too-large';
  /** Bytes: weights, context and what the engine needs to work. */
  needs: number;
  /** Tokens that would fit in the free memory, at most what was asked for and trained; 0 when not even the weights do. */
  contextSize: number;
  /** The verdict's reason, as a sentence. */
  reason: string;
}

/** The engine's own buffers. */
const engineBytes = 256 * 1024 ** 2;
/** The system and the editor want some of it back. */
const usable = 0.9;

/**
 * Whether a model runs in this machine's memory. An estimate, on the safe side; memory of graphics cards is not counted,
 * because only a loaded GPU engine knows it.
 */
export function fitOf(model: FitRequest, machine: Machine): Fit {
  const wanted = Math.min(model.contextSize, model.trainedContext ?? model.contextSize);
  const perToken = model.bytesPerToken ?? model.bytes / 32_768;
  const base = model.bytes * 1.02 + engineBytes;
  const needs = Math.round(base + wanted * perToken);
  const free = machine.freeMemory * usable;
  const contextSize = Math.max(0, Math.min(wanted, Math.floor((free - base) / perToken / 256) * 256 || 0));
  const has = `${inGigabytes(machine.freeMemory)} of ${inGigabytes(machine.totalMemory)} are free`;
  const needed = `needs about ${inGigabytes(needs)} with ${wanted.toLocaleString('en-US')} tokens of context`;
  if (needs <= free) return { verdict: 'fits', needs, contextSize: wanted, reason: `It ${needed}; ${has}.` };
  if (contextSize >= 4096)
    return { verdict: 'tight', needs, contextSize, reason: `It ${needed}; ${has}: room for ${contextSize} tokens.` };
  if (needs <= machine.totalMemory * usable)
    return { verdict: 'tight', needs, contextSize, reason: `It ${needed}; ${has}. Close other programs first.` };
  return { verdict: 'too-large', needs, contextSize, reason: `It ${needed}; ${has}.` };
}

/** `40 kB`, `0.2 MB`, `640 MB`, `2.5 GB`: decimal, as download pages have it. */
export function inGigabytes(bytes: number): string {
  const [size, unit] =
    bytes >= 0.95e9 ? [bytes / 1e9, 'GB'] : bytes >= 0.1e6 ? [bytes / 1e6, 'MB'] : [bytes / 1e3, 'kB'];
  return `${size >= 100 ? Math.round(size) : Math.round(size * 10) / 10} ${unit}`;
}
