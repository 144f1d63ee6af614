/**
 * Sequence whose memory may be unable to truncate. A recurrent or hybrid memory returns only to a checkpoint. For a truncation without one,
 * the engine evaluates all remaining tokens at once, without a check for an abort and without counting them, so each truncation goes to a
 * recorded checkpoint.
 */
export interface RewindableSequence<Token> {
  readonly nextTokenIndex: number;
  /** First token in all layers of the memory; a recurrent or hybrid memory has only the last one. */
  readonly stateCellsStartIndex: number;
  readonly needsCheckpoints: boolean;
  compareContextTokens(tokens: Token[]): { firstDifferentIndex: number };
  adaptStateToTokens(tokens: Token[], allowShift: boolean): Promise<void>;
  takeCheckpoint(): Promise<void>;
}

/** Lengths in tokens. The engine does not list its checkpoints. */
const checkpoints = new WeakMap<object, Set<number>>();

export async function takeRecordedCheckpoint<Token>(sequence: RewindableSequence<Token>): Promise<void> {
  if (!sequence.needsCheckpoints) return;
  await sequence.takeCheckpoint();
  checkpoints.set(sequence, new Set([...checkpointLengths(sequence), sequence.nextTokenIndex]));
}

/** Forgets the checkpoints that the engine removed with the end of the sequence. */
export function forgetCheckpointsBeyond(sequence: object, length: number): void {
  checkpoints.set(sequence, new Set(checkpointLengths(sequence).filter((one) => one <= length)));
}

export const checkpointLengths = (sequence: object): number[] => [...(checkpoints.get(sequence) ?? [])];

/** Returns the tokens of a prompt that the memory can reuse, which are fewer than the equal ones if it cannot be truncated there. */
export function reusableTokens<Token>(sequence: RewindableSequence<Token>, prompt: Token[]): number {
  const shared = sequence.compareContextTokens(prompt).firstDifferentIndex;
  const canEndThere = shared >= sequence.nextTokenIndex || shared > sequence.stateCellsStartIndex;
  if (!sequence.needsCheckpoints || canEndThere) return shared;
  return Math.max(0, ...checkpointLengths(sequence).filter((length) => length <= shared));
}

/** Truncates the sequence to the reusable part of the prompt. Returns its tokens. */
export async function truncateToReusable<Token>(sequence: RewindableSequence<Token>, prompt: Token[]): Promise<number> {
  await sequence.adaptStateToTokens(prompt.slice(0, reusableTokens(sequence, prompt)), false);
  forgetCheckpointsBeyond(sequence, sequence.nextTokenIndex);
  return sequence.nextTokenIndex;
}
