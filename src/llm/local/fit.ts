import { firstContext } from './contextSize.ts';

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
  /** Tokens that the context may come to by the settings. */
  contextSize: number;
  trainedContext?: number;
}

export interface Fit {
  verdict: 'fits' | 'tight' | 'too-large';
  /** Bytes: weights, the context that it begins with and what the engine needs to work. */
  needs: number;
  /** Tokens that the context can come to in the free memory, at most what is allowed and trained; 0 when not even the weights fit. */
  contextSize: number;
  /** The verdict's reason, as a sentence. */
  reason: string;
}

/** The engine's own buffers. */
const engineBytes = 256 * 1024 ** 2;
/** The system and the editor want some of it back. */
export const usable = 0.9;
const usuallyFree = 0.6;

/** Bytes that a context may take of so much free memory beside weights of that size: a third of it, and nothing that those need. */
export const contextBytes = (weights: number, free: number): number =>
  Math.max(0, Math.min(free / 3, free * usable - weights * 1.02 - engineBytes));

/**
 * Whether a model runs in this machine's memory. An estimate, on the safe side; memory of graphics cards is not counted,
 * because only a loaded GPU engine knows it.
 */
export function fitOf(model: FitRequest, machine: Machine): Fit {
  const wanted = wantedOf(model);
  const least = Math.min(wanted, firstContext);
  const base = model.bytes * 1.02 + engineBytes;
  const needs = Math.round(base + least * perToken(model));
  const free = machine.freeMemory * usable;
  const begun = Math.max(0, Math.min(least, tokensIn(free - base, model)));
  const grown = Math.min(wanted, tokensIn(contextBytes(model.bytes, machine.freeMemory), model));
  const contextSize = Math.max(begun, grown);
  const has = `${inGigabytes(machine.freeMemory)} of ${inGigabytes(machine.totalMemory)} are free`;
  const needed = `needs about ${inGigabytes(needs)} with ${least.toLocaleString('en-US')} tokens of context`;
  if (needs <= free) return { verdict: 'fits', needs, contextSize, reason: `It ${needed}; ${has}.` };
  if (contextSize >= 4096)
    return { verdict: 'tight', needs, contextSize, reason: `It ${needed}; ${has}: room for ${contextSize} tokens.` };
  if (needs <= machine.totalMemory * usable)
    return { verdict: 'tight', needs, contextSize, reason: `It ${needed}; ${has}. Close other programs first.` };
  return { verdict: 'too-large', needs, contextSize, reason: `It ${needed}; ${has}.` };
}

/**
 * Tokens that a model's conversations come to on this machine, whatever is free at the moment: what is sent before a conversation is
 * made for a window of that size, and read again when it is another one.
 */
export function usualWindow(model: FitRequest, { totalMemory }: Pick<Machine, 'totalMemory'>): number {
  const wanted = wantedOf(model);
  const grown = tokensIn(contextBytes(model.bytes, totalMemory * usuallyFree), model);
  return Math.min(wanted, Math.max(firstContext, grown));
}

const wantedOf = ({ contextSize, trainedContext = contextSize }: FitRequest): number =>
  Math.min(contextSize, trainedContext);

const perToken = ({ bytes, bytesPerToken = bytes / 32_768 }: FitRequest): number => bytesPerToken;

const tokensIn = (bytes: number, model: FitRequest): number => Math.floor(bytes / perToken(model) / 256) * 256 || 0;

/** `40 kB`, `0.2 MB`, `640 MB`, `2.5 GB`: decimal, as download pages have it. */
export function inGigabytes(bytes: number): string {
  const [size, unit] =
    bytes >= 0.95e9 ? [bytes / 1e9, 'GB'] : bytes >= 0.1e6 ? [bytes / 1e6, 'MB'] : [bytes / 1e3, 'kB'];
  return `${size >= 100 ? Math.round(size) : Math.round(size * 10) / 10} ${unit}`;
}
