import type { SendInferenceEvent } from '../ipc/ipc.ts';

/** Tokens that the engine's attention processes at once on a CPU; a smaller number is processed one by one. */
const tile = 64;
/**
 * Tokens per slice between two abort checks, in whole tiles. The maximum with a joined rest fits the engine's batch of 512, which would be
 * split otherwise.
 */
const slices = { least: tile, first: 2 * tile, most: 7 * tile };
/**
 * Target milliseconds of a slice, unless one tile takes longer. Every slice scans all earlier tokens, so fewer and longer slices are
 * faster: a slice may take this share of the elapsed prefill.
 */
const patience = { least: 80, share: 1 / 20, most: 1000 };

interface Sequence<Token> {
  readonly nextTokenIndex: number;
  adaptStateToTokens(tokens: Token[], allowShift: boolean): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: Token[]): Promise<unknown>;
  /** True if the memory cannot be truncated; a sequence is then reusable only from a checkpoint. */
  readonly needsCheckpoints: boolean;
  takeCheckpoint(): Promise<void>;
}

/**
 * Evaluates the new part of the prompt in slices, because the engine itself checks for an abort only after the whole prompt. Returns the
 * number of reused tokens.
 *
 * @param opening tokens shared with other conversations
 */
export async function prefillPromptTokens<Token>(
  sequence: Sequence<Token>,
  prompt: Token[],
  send: SendInferenceEvent,
  signal: AbortSignal,
  opening = 0,
  now: () => number = () => performance.now(),
): Promise<number> {
  const end = prompt.length - 1; // the last token is evaluated with the reply
  await sequence.adaptStateToTokens(prompt.slice(0, end), false);
  const cached = sequence.nextTokenIndex;
  const startedAt = now();
  let slice = slices.first;
  for (let at = cached; at < end; ) {
    signal.throwIfAborted();
    const sliceAt = now();
    const ms = Math.round(sliceAt - startedAt);
    if (end - cached > slices.first) send({ type: 'reading', tokens: at - cached, total: end - cached, ms });
    const next = sequence.needsCheckpoints && at < opening ? Math.min(opening, end) : end;
    const part = prompt.slice(at, next - at < slice + tile ? next : at + slice); // no slice shorter than a tile remains
    await sequence.evaluateWithoutGeneratingNewTokens(part);
    at += part.length;
    if (at === next && sequence.needsCheckpoints) await sequence.takeCheckpoint(); // a conversation or this turn may resume from this position
    const wanted = Math.min(patience.most, Math.max(patience.least, (now() - startedAt) * patience.share));
    const fitting = (part.length * wanted) / Math.max(1, now() - sliceAt);
    slice = Math.min(slices.most, Math.max(slices.least, Math.floor(fitting / tile) * tile));
  }
  signal.throwIfAborted();
  return cached;
}
