import type { SendInferenceEvent } from '../ipc/ipc.ts';
import { type RewindableSequence, takeRecordedCheckpoint, truncateToReusable } from './rewindableSequence.ts';

/** Tokens that the engine's attention processes at once on a CPU; a smaller number is processed one by one. */
const tile = 64;
/**
 * Tokens per slice between two abort checks, in whole tiles. The maximum with a joined rest fits the engine's batch of 512, which would be
 * split otherwise.
 */
const slices = { least: tile, first: 2 * tile, most: 7 * tile };
/**
 * Target milliseconds of a slice, unless one tile takes longer. Every slice scans the weights and all earlier tokens, so fewer and longer
 * slices are faster: slices of one tile cost some models a twentieth. A slice may take this share of the elapsed prefill.
 */
const patience = { least: 300, share: 1 / 10, most: 1000 };

interface Sequence<Token> extends RewindableSequence<Token> {
  evaluateWithoutGeneratingNewTokens(tokens: Token[]): Promise<unknown>;
}

/**
 * Evaluates the new part of the prompt in slices, because the engine itself checks for an abort only after the whole prompt. Returns the
 * number of reused tokens.
 *
 * @param checkpoints lengths at which the prompt may be reused by another prompt
 */
export async function prefillPromptTokens<Token>(
  sequence: Sequence<Token>,
  prompt: Token[],
  send: SendInferenceEvent,
  signal: AbortSignal,
  checkpoints: readonly number[] = [],
  now: () => number = () => performance.now(),
): Promise<number> {
  const end = prompt.length - 1; // the last token is evaluated with the reply
  const cached = await truncateToReusable(sequence, prompt.slice(0, end));
  const startedAt = now();
  let slice = slices.first;
  for (let at = cached; at < end; ) {
    signal.throwIfAborted();
    const sliceAt = now();
    const ms = Math.round(sliceAt - startedAt);
    if (end - cached > slices.first) send({ type: 'reading', tokens: at - cached, total: end - cached, ms });
    const next = sequence.needsCheckpoints ? Math.min(end, ...checkpoints.filter((length) => length > at)) : end;
    const part = prompt.slice(at, next - at < slice + tile ? next : at + slice); // no slice shorter than a tile remains
    await sequence.evaluateWithoutGeneratingNewTokens(part);
    at += part.length;
    if (at === next) await takeRecordedCheckpoint(sequence); // a conversation or a turn may resume from this position
    const wanted = Math.min(patience.most, Math.max(patience.least, (now() - startedAt) * patience.share));
    const fitting = (part.length * wanted) / Math.max(1, now() - sliceAt);
    slice = Math.min(slices.most, Math.max(slices.least, Math.round(fitting / tile) * tile));
  }
  signal.throwIfAborted();
  return cached;
}
