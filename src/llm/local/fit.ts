import { grouped, type Sentence, sentence, t } from '../../protocol/l10n.ts';
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
  /** The verdict's reason, as a sentence for people. */
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
  const [about, freeOnes, all] = [needs, machine.freeMemory, machine.totalMemory].map(gigabytes) as Sentence[];
  const values = [about!, grouped(wanted), freeOnes!, all!];
  const plain = () => t('It needs about {0} with {1} tokens of context; {2} of {3} are free.', ...values);
  if (needs <= free) return { verdict: 'fits', needs, contextSize: wanted, reason: plain() };
  if (contextSize >= 4096) {
    const reason = t(
      'It needs about {0} with {1} tokens of context; {2} of {3} are free: room for {4} tokens.',
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

const units = [
  { from: 0.95e9, bytes: 1e9, whole: '{0} GB', part: '{0}.{1} GB' },
  { from: 0.1e6, bytes: 1e6, whole: '{0} MB', part: '{0}.{1} MB' },
  { from: Number.NEGATIVE_INFINITY, bytes: 1e3, whole: '{0} kB', part: '{0}.{1} kB' },
] as const;

/** `40 kB`, `0.2 MB`, `640 MB`, `2.5 GB`: decimal, as download pages have it. */
export function gigabytes(bytes: number): Sentence {
  const unit = units.find(({ from }) => bytes >= from) ?? units[2];
  const tenths = Math.round((bytes / unit.bytes) * 10);
  if (bytes / unit.bytes >= 100 || tenths % 10 === 0) return sentence(unit.whole, Math.round(bytes / unit.bytes));
  return sentence(unit.part, Math.floor(tenths / 10), tenths % 10);
}

/** The same for people. */
export const inGigabytes = (bytes: number): string => t(gigabytes(bytes));
