import { promises as fs } from 'node:fs';
import { forgetCheckpointsBeyond, type RewindableSequence, takeRecordedCheckpoint } from './rewindableSequence.ts';
import { createUnfinishedSequenceStateFile } from './stateFiles.ts';

export interface StorableSequence<Token extends number> extends RewindableSequence<Token> {
  readonly contextSize: number;
  readonly contextTokens: Token[];
  clearHistory(): Promise<void>;
  eraseContextTokenRanges(ranges: { start: number; end: number }[]): Promise<void>;
  saveStateToFile(file: string): Promise<unknown>;
  loadStateFromFile(file: string, risk: { acceptRisk: true }): Promise<void>;
}

/** State in an unfinished file that the engine has written. */
export interface WrittenSequenceState {
  begun: string;
  tokens: Uint32Array;
  from: number;
}

export async function writeSequenceState<Token extends number>(
  sequence: StorableSequence<Token>,
  folder: string,
  key: string,
): Promise<WrittenSequenceState> {
  const begun = await createUnfinishedSequenceStateFile(folder, key);
  const tokens = Uint32Array.from(sequence.contextTokens);
  const from = Math.max(0, sequence.stateCellsStartIndex);
  try {
    await sequence.saveStateToFile(begun);
  } catch (error) {
    await fs.rm(begun, { force: true });
    throw error;
  }
  return { begun, tokens, from };
}

/**
 * Truncates a sequence to its checkpoints and writes a state at each, until one may not be written.
 *
 * @param lengths longest first
 */
export async function* writeCheckpointStates<Token extends number>(
  sequence: StorableSequence<Token>,
  lengths: readonly number[],
  { folder, key, mayWrite }: { folder: string; key: string; mayWrite(count: number): Promise<boolean> },
): AsyncGenerator<WrittenSequenceState> {
  for (const [index, length] of lengths.entries()) {
    if (!(await mayWrite(index + 1))) return;
    await sequence.eraseContextTokenRanges([{ start: length, end: sequence.nextTokenIndex }]);
    forgetCheckpointsBeyond(sequence, sequence.nextTokenIndex);
    if (sequence.nextTokenIndex !== length) return;
    yield await writeSequenceState(sequence, folder, key);
  }
}

/**
 * Loads the states again, shortest first, after the sequence was truncated, and takes their checkpoints. Rejects if the engine does.
 *
 * @param written the whole state first
 */
export async function reloadWrittenStates<Token extends number>(
  sequence: StorableSequence<Token>,
  written: readonly WrittenSequenceState[],
): Promise<void> {
  for (const state of [...written].reverse()) {
    if (sequence.nextTokenIndex === state.tokens.length) continue;
    await sequence.loadStateFromFile(state.begun, { acceptRisk: true });
    if (state !== written[0]) await takeRecordedCheckpoint(sequence);
  }
}

export async function clearSequence<Token extends number>(sequence: StorableSequence<Token>): Promise<void> {
  await sequence.clearHistory();
  forgetCheckpointsBeyond(sequence, 0);
}

/** Returns those of the lengths, longest first, to which a state of the whole sequence cannot be truncated. */
export function unreachableLengths<Token extends number>(
  { needsCheckpoints, stateCellsStartIndex }: StorableSequence<Token>,
  lengths: readonly number[],
): number[] {
  if (!needsCheckpoints) return [];
  return [...new Set(lengths)].filter((length) => length <= stateCellsStartIndex).sort((one, two) => two - one);
}
