import type { SendToHost } from '../ipc/ipc.ts';

/** Tokens that the engine's attention works on at once on a processor: fewer than these it takes one by one. */
const tile = 64;
/**
 * Tokens evaluated between two looks at Stop, whole tiles. The most and a rest that joins them are within the engine's batch of 512,
 * which would be cut in two.
 */
const slices = { least: tile, first: 2 * tile, most: 7 * tile };
/**
 * Milliseconds that a slice should take, where a tile does not take longer. Each goes through all that was read before, which few long
 * ones do less often: so it may take this share of the time that reading has taken already.
 */
const patience = { least: 80, share: 1 / 20, most: 1000 };

/** The part of node-llama-cpp's context sequence that is needed here. */
interface Sequence<Token> {
  readonly nextTokenIndex: number;
  adaptStateToTokens(tokens: Token[], allowShift: boolean): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: Token[]): Promise<unknown>;
  /** Of a model whose memory cannot be cut back: it can be taken up again where one was taken. */
  readonly needsCheckpoints: boolean;
  takeCheckpoint(): Promise<void>;
}

/**
 * Evaluates what is new of the prompt, in slices: the engine itself would not look up before it has read everything.
 * Returns the number of tokens that were there already.
 * @param opening tokens that other conversations begin with, too
 */
export async function readPrompt<Token>(
  sequence: Sequence<Token>,
  prompt: Token[],
  tell: SendToHost,
  signal: AbortSignal,
  opening = 0,
  now: () => number = () => performance.now(),
): Promise<number> {
  const end = prompt.length - 1; // the last one is evaluated with the reply
  await sequence.adaptStateToTokens(prompt.slice(0, end), false);
  const cached = sequence.nextTokenIndex;
  const startedAt = now();
  let slice = slices.first;
  for (let at = cached; at < end; ) {
    signal.throwIfAborted();
    const sliceAt = now();
    const ms = Math.round(sliceAt - startedAt);
    if (end - cached > slices.first) tell({ type: 'reading', tokens: at - cached, total: end - cached, ms });
    const next = sequence.needsCheckpoints && at < opening ? Math.min(opening, end) : end;
    const part = prompt.slice(at, next - at < slice + tile ? next : at + slice); // no piece shorter than a tile is left
    await sequence.evaluateWithoutGeneratingNewTokens(part);
    at += part.length;
    if (at === next && sequence.needsCheckpoints) await sequence.takeCheckpoint(); // a conversation, or this turn, may be taken up again here
    const wanted = Math.min(patience.most, Math.max(patience.least, (now() - startedAt) * patience.share));
    const fitting = (part.length * wanted) / Math.max(1, now() - sliceAt);
    slice = Math.min(slices.most, Math.max(slices.least, Math.floor(fitting / tile) * tile));
  }
  signal.throwIfAborted();
  return cached;
}
