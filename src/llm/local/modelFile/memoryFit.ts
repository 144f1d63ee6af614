import { groupDigits, type LocalizedMessage, message, t } from '../../../protocol/text/l10n.ts';
import { firstContext } from './contextSize.ts';

export interface MachineMemory {
  /** Bytes. */
  freeMemory: number;
  totalMemory: number;
}

interface FitRequest {
  /** The weights, as large as their files. */
  bytes: number;
  /** Of context; taken from the weights when the model does not say it. */
  bytesPerToken?: number;
  /** Tokens that the context may come to by the settings. */
  contextSize: number;
  trainedContext?: number;
}

export interface MemoryFit {
  verdict: 'fits' | 'tight' | 'too-large';
  /** Bytes: weights, the context that it begins with and what the engine needs to work. */
  needs: number;
  /** Tokens that the context can come to in the free memory, at most what is allowed and trained; 0 when not even the weights fit. */
  contextSize: number;
  /** The verdict's reason, as a sentence for people. */
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
export function memoryFit(model: FitRequest, machine: MachineMemory): MemoryFit {
  const wanted = wantedOf(model);
  const least = Math.min(wanted, firstContext);
  const base = model.bytes * 1.02 + engineBytes;
  const needs = Math.round(base + least * perToken(model));
  const free = machine.freeMemory * usable;
  const begun = Math.max(0, Math.min(least, tokensIn(free - base, model)));
  const grown = Math.min(wanted, tokensIn(contextBytes(model.bytes, machine.freeMemory), model));
  const contextSize = Math.max(begun, grown);
  const [about, freeOnes, all] = [needs, machine.freeMemory, machine.totalMemory].map(gigabytes) as LocalizedMessage[];
  const values = [about!, groupDigits(least), freeOnes!, all!];
  const plain = () => t('It needs about {0} with {1} tokens of context; {2} of {3} are free.', ...values);
  if (needs <= free) return { verdict: 'fits', needs, contextSize, reason: plain() };
  if (contextSize >= 4096) {
    const reason = t(
      'It needs about {0} with {1} tokens of context; {2} of {3} are free, enough for {4} tokens.',
      ...values,
      contextSize,
    );
    return { verdict: 'tight', needs, contextSize, reason };
  }
  if (needs <= machine.totalMemory * usable) {
    const reason = t(
      'It needs about {0} with {1} tokens of context; {2} of {3} are free. Close other programs first.',
      ...values,
    );
    return { verdict: 'tight', needs, contextSize, reason };
  }
  return { verdict: 'too-large', needs, contextSize, reason: plain() };
}

/**
 * Tokens that a model's conversations come to on this machine, whatever is free at the moment: what is sent before a conversation is
 * made for a window of that size, and read again when it is another one.
 */
export function usualWindow(model: FitRequest, { totalMemory }: Pick<MachineMemory, 'totalMemory'>): number {
  const wanted = wantedOf(model);
  const grown = tokensIn(contextBytes(model.bytes, totalMemory * usuallyFree), model);
  return Math.min(wanted, Math.max(firstContext, grown));
}

const wantedOf = ({ contextSize, trainedContext = contextSize }: FitRequest): number =>
  Math.min(contextSize, trainedContext);

const perToken = ({ bytes, bytesPerToken = bytes / 32_768 }: FitRequest): number => bytesPerToken;

const tokensIn = (bytes: number, model: FitRequest): number => Math.floor(bytes / perToken(model) / 256) * 256 || 0;

const units = [
  { from: 0.95e9, bytes: 1e9, whole: '{0} GB', part: '{0}.{1} GB' },
  { from: 0.1e6, bytes: 1e6, whole: '{0} MB', part: '{0}.{1} MB' },
  { from: Number.NEGATIVE_INFINITY, bytes: 1e3, whole: '{0} kB', part: '{0}.{1} kB' },
] as const;

/** `40 kB`, `0.2 MB`, `640 MB`, `2.5 GB`: decimal, as download pages have it. */
export function gigabytes(bytes: number): LocalizedMessage {
  const unit = units.find(({ from }) => bytes >= from) ?? units[2];
  const tenths = Math.round((bytes / unit.bytes) * 10);
  if (bytes / unit.bytes >= 100 || tenths % 10 === 0) return message(unit.whole, Math.round(bytes / unit.bytes));
  return message(unit.part, Math.floor(tenths / 10), tenths % 10);
}

/** The same for people. */
export const inGigabytes = (bytes: number): string => t(gigabytes(bytes));
