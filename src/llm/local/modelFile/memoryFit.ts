import { byteSizeMessage } from '../../../protocol/text/byteSizes.ts';
import { type LocalizedMessage, t, withDigitGrouping } from '../../../protocol/text/l10n.ts';
import { initialContextTokens } from './contextSize.ts';

export interface MachineMemory {
  freeMemory: number;
  totalMemory: number;
}

interface FitRequest {
  bytes: number;
  bytesPerToken?: number;
  contextSize: number;
  trainedContext?: number;
}

export interface MemoryFit {
  verdict: 'fits' | 'tight' | 'too-large';
  needs: number;
  /** Tokens of context that fit the free memory, bounded by settings and training; 0 if the weights do not fit. */
  contextSize: number;
  reason: string;
}

const engineBytes = 256 * 1024 ** 2;
export const usableMemoryShare = 0.9;
const usuallyFree = 0.6;

/** Returns the maximum bytes of a context: at most a third of the free memory, and never memory that the weights need. */
export const maxContextBytes = (weights: number, free: number): number =>
  Math.max(0, Math.min(free / 3, free * usableMemoryShare - weights * 1.02 - engineBytes));

/** Estimates conservatively if a model fits the memory. Graphics memory is not counted, because only a loaded GPU engine can measure it. */
export function memoryFit(model: FitRequest, machine: MachineMemory): MemoryFit {
  const wanted = wantedOf(model);
  const least = Math.min(wanted, initialContextTokens);
  const base = model.bytes * 1.02 + engineBytes;
  const needs = Math.round(base + least * perToken(model));
  const free = machine.freeMemory * usableMemoryShare;
  const begun = Math.max(0, Math.min(least, tokensIn(free - base, model)));
  const grown = Math.min(wanted, tokensIn(maxContextBytes(model.bytes, machine.freeMemory), model));
  const contextSize = Math.max(begun, grown);
  const [needed, freeOnes, all] = [needs, machine.freeMemory, machine.totalMemory].map(
    byteSizeMessage,
  ) as LocalizedMessage[];
  const values = [needed!, withDigitGrouping(least), freeOnes!, all!];
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
  if (needs <= machine.totalMemory * usableMemoryShare) {
    const reason = t(
      'It needs about {0} with {1} tokens of context; {2} of {3} are free. Close other programs first.',
      ...values,
    );
    return { verdict: 'tight', needs, contextSize, reason };
  }
  return { verdict: 'too-large', needs, contextSize, reason: plain() };
}

/**
 * Returns the usual context of a model on this machine, independent of the current free memory. Prompts are built for a stable size,
 * because another size would require a new prefill.
 */
export function usualLocalContextSize(model: FitRequest, { totalMemory }: Pick<MachineMemory, 'totalMemory'>): number {
  const wanted = wantedOf(model);
  const grown = tokensIn(maxContextBytes(model.bytes, totalMemory * usuallyFree), model);
  return Math.min(wanted, Math.max(initialContextTokens, grown));
}

const wantedOf = ({ contextSize, trainedContext = contextSize }: FitRequest): number =>
  Math.min(contextSize, trainedContext);

const perToken = ({ bytes, bytesPerToken = bytes / 32_768 }: FitRequest): number => bytesPerToken;

const tokensIn = (bytes: number, model: FitRequest): number => Math.floor(bytes / perToken(model) / 256) * 256 || 0;
