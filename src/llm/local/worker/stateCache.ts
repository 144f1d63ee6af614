import { promises as fs } from 'node:fs';
import path from 'node:path';
import type { SendInferenceEvent } from '../ipc/ipc.ts';
import type { SequenceStateCacheOptions } from '../ipc/stateCacheOptions.ts';
import { readInferenceSpeeds, writeInferenceSpeeds } from './measuredSpeeds.ts';
import {
  averageWithKnown,
  estimatedSequenceStateSaveMs,
  type InferenceSpeeds,
  isSequenceStateRestoreWorthwhile,
} from './restorePolicy.ts';
import { checkpointLengths, reusableTokens, takeRecordedCheckpoint } from './rewindableSequence.ts';
import type { SequenceSlots } from './slots.ts';
import {
  isIntactSequenceStateFile,
  readSequenceStates,
  removeOtherSequenceStates,
  removeSequenceState,
  type SavedSequenceState,
  saveSequenceState,
  touchSequenceState,
  trimSequenceStates,
} from './stateFiles.ts';
import type { SequenceSlot } from './stateTransfer.ts';
import {
  clearSequence,
  reloadWrittenStates,
  type StorableSequence,
  unreachableLengths,
  type WrittenSequenceState,
  writeCheckpointStates,
  writeSequenceState,
} from './writtenStates.ts';

interface KeeperParts<Sequence> extends SequenceStateCacheOptions {
  identity(): Promise<string>;
  bytesPerToken: number;
  slots: SequenceSlots<SequenceSlot<Sequence>>;
  log(text: string): void;
}

const leastTokens = 256;
const restMs = 5000;
/** Maximum milliseconds of a save while other requests may wait; a prefill would take far longer. */
const maxMs = 3000;
const ofFree = 0.1;
/** Times that each state is written and read when a sequence is saved at a checkpoint. */
const loadAndSave = 2;

interface Held {
  key?: string;
  unsaved: boolean;
  /** Lengths of the prompts to which the next prompt of the run may return. */
  promptEnds?: readonly number[];
  timer?: NodeJS.Timeout;
}

/**
 * Cache of sequence states on disk. States are saved when a run is idle, when a run is evicted, and before the model is unloaded. A run
 * that is not in memory starts with the state that shares most tokens with its prompt, from any run.
 *
 * A memory that cannot be truncated is saved at the ends of prompts too: a template may render the reply otherwise than it was generated.
 */
export class SequenceStateCache<Token extends number, Sequence extends StorableSequence<Token>> {
  private readonly held = new Map<SequenceSlot<Sequence>, Held>();
  private readonly saving = new Map<string, Promise<void>>();
  private readonly speeds: Promise<InferenceSpeeds>;
  private bytesPerToken: number;

  constructor(private readonly parts: KeeperParts<Sequence>) {
    this.speeds = parts.identity().then((identity) => readInferenceSpeeds(parts.folder, identity));
    this.bytesPerToken = parts.bytesPerToken;
  }

  /**
   * Prepares a slot for its borrower: saves the state of another owner and restores the best state for the prompt. Returns true if a state
   * was restored. Throws the signal's reason.
   */
  async enter(
    seat: SequenceSlot<Sequence>,
    key: string | undefined,
    prompt: Token[],
    send: SendInferenceEvent,
    signal: AbortSignal,
  ): Promise<boolean> {
    const held = this.of(seat);
    clearTimeout(held.timer);
    const { sequence } = seat;
    if (key !== undefined && held.key === key) {
      const shared = sequence.compareContextTokens(prompt).firstDifferentIndex;
      if (shared - reusableTokens(sequence, prompt) < leastTokens) return false;
    } else await this.saved(seat, maxMs, { isEvicted: true });
    Object.assign(held, { key: undefined, unsaved: false, promptEnds: undefined }); // without an owner until the restore is complete
    if (key !== undefined) await this.saving.get(key);
    const isBack = await this.restore(sequence, key, prompt, send, signal);
    held.key = key;
    return isBack;
  }

  /** Returns the context tokens needed to restore the best state of the prompt; 0 if there is none or the run is in memory. */
  async wants(key: string | undefined, prompt: Token[]): Promise<number> {
    const exists = [...this.held.values()].some((held) => held.key === key);
    if (key === undefined || exists) return 0;
    await this.saving.get(key);
    const [best] = await this.usableFor(prompt);
    if (
      !best ||
      !isSequenceStateRestoreWorthwhile(
        { ...best, bytes: best.state.bytes },
        await this.speeds,
        Date.now(),
        this.parts.share,
      )
    )
      return 0;
    return best.tokens < leastTokens ? 0 : best.state.tokens.length + 1;
  }

  /** @param lengths of the prompts, in tokens, to which the next prompt of the run may return; a checkpoint is taken at each end */
  setPromptEnds(seat: SequenceSlot<Sequence>, lengths: readonly number[]): void {
    this.of(seat).promptEnds = lengths;
  }

  forget(seat: SequenceSlot<Sequence>): void {
    clearTimeout(this.held.get(seat)?.timer);
    this.held.delete(seat);
  }

  left(seat: SequenceSlot<Sequence>): void {
    const held = this.of(seat);
    clearTimeout(held.timer);
    if (held.key === undefined || !isName(held.key)) return;
    held.unsaved = true;
    this.rests(seat, held);
  }

  async hasRead(tokens: number, ms: number): Promise<void> {
    if (tokens >= leastTokens && ms > 0) await this.measured('readPerSecond', (tokens * 1000) / ms);
  }

  async saveAll(ms: number): Promise<void> {
    for (const seat of this.held.keys()) await this.saveIdle(seat, ms);
    await Promise.all(this.saving.values());
  }

  private rests(seat: SequenceSlot<Sequence>, held: Held): void {
    clearTimeout(held.timer);
    held.timer = setTimeout(() => void this.saveIdle(seat, maxMs), this.parts.restMs ?? restMs);
    held.timer.unref();
  }

  private of(seat: SequenceSlot<Sequence>): Held {
    const known = this.held.get(seat);
    if (known) return known;
    const held = { unsaved: false };
    this.held.set(seat, held);
    return held;
  }

  private async saveIdle(seat: SequenceSlot<Sequence>, ms: number): Promise<void> {
    const held = this.of(seat);
    if (!held.unsaved) return;
    const giveBack = this.parts.slots.take(seat);
    if (!giveBack) return this.rests(seat, held); // the slot, or all slots, are in use
    await this.saved(seat, ms, { free: giveBack });
    giveBack();
  }

  private saved(
    seat: SequenceSlot<Sequence>,
    ms: number,
    { isEvicted = false, free = () => {} }: { isEvicted?: boolean; free?: () => void },
  ): Promise<void> {
    const { key } = this.of(seat);
    if (key === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      const saving = this.save(seat, ms, isEvicted, () => {
        free();
        resolve();
      }).finally(() => {
        if (this.saving.get(key) === saving) this.saving.delete(key);
        resolve();
      });
      this.saving.set(key, saving);
    });
  }

  private async save(seat: SequenceSlot<Sequence>, ms: number, isEvicted: boolean, free: () => void): Promise<void> {
    const { key, unsaved, promptEnds = [] } = this.of(seat);
    const { sequence } = seat;
    const { folder, share, log } = this.parts;
    const tokens = sequence.nextTokenIndex;
    if (key === undefined || !unsaved || tokens < leastTokens) return;
    const bytes = tokens * this.bytesPerToken;
    const speeds = await this.speeds;
    if (
      estimatedSequenceStateSaveMs(bytes, speeds) > ms ||
      !isSequenceStateRestoreWorthwhile({ tokens, bytes }, speeds, Date.now(), share)
    )
      return;
    try {
      if (!(await this.exists(key)) || !(await this.freeSpace(bytes))) return;
      const identity = await this.parts.identity();
      // Draft tokens are in the engine's memory but not in the conversation.
      await sequence.eraseContextTokenRanges([{ start: tokens, end: sequence.contextSize }]);
      const lengths = unreachableLengths(sequence, promptEnds).filter((length) => length >= leastTokens);
      const older = lengths.length > 0 ? await this.statesAt(lengths, key, sequence.contextTokens) : [];
      const missing = lengths.filter(
        (length) => checkpointLengths(sequence).includes(length) && !older.some((one) => one.tokens.length === length),
      );
      const startedAt = performance.now();
      const written = [await writeSequenceState(sequence, folder, key)];
      const writtenMs = performance.now() - startedAt;
      if (missing.length > 0) await this.writeEarlier(seat, written, missing, ms - writtenMs, isEvicted);
      this.of(seat).unsaved = false;
      free();
      const states: SavedSequenceState[] = [];
      for (const { begun, ...about } of written) {
        const state = await saveSequenceState(begun, { identity, ...about, exists: () => this.exists(key) });
        if (state) states.push(state);
      }
      const [whole, ...earlier] = states;
      if (!whole || whole.tokens.length !== tokens) return;
      await removeOtherSequenceStates(folder, identity, key, [...states, ...older]);
      this.bytesPerToken = whole.bytes / tokens;
      await this.measured('savedPerSecond', (whole.bytes * 1000) / Math.max(1, writtenMs));
      log(
        [
          `kept on disk what was read of ${key}: ${tokens} tokens, ${whole.bytes} bytes, ${Math.round(this.bytesPerToken)} of each token, ${Math.round(writtenMs)} ms`,
          ...earlier.map((one) => `its first ${one.tokens.length} tokens, ${one.bytes} bytes`),
        ].join('; '),
      );
    } catch (error) {
      log(`what was read of ${key} could not be kept on disk: ${error}`);
    }
  }

  /** Returns the states on disk of the first tokens of a run. */
  private async statesAt(lengths: readonly number[], key: string, tokens: Token[]): Promise<SavedSequenceState[]> {
    const states = await readSequenceStates(this.parts.folder, await this.parts.identity());
    return states.filter(
      (one) =>
        one.key === key &&
        lengths.includes(one.tokens.length) &&
        one.tokens.every((token, index) => token === tokens[index]),
    );
  }

  /** Writes the states at the checkpoints, as far as time and quota last. */
  private async writeEarlier(
    seat: SequenceSlot<Sequence>,
    written: WrittenSequenceState[],
    lengths: readonly number[],
    ms: number,
    isEvicted: boolean,
  ): Promise<void> {
    const { sequence } = seat;
    const { folder, log } = this.parts;
    const held = this.of(seat);
    const speeds = await this.speeds;
    const { size } = await fs.stat(written[0]!.begun);
    const mayWrite = async (count: number) =>
      loadAndSave * estimatedSequenceStateSaveMs(count * size, speeds) <= ms && (await this.freeSpace(count * size));
    try {
      for await (const state of writeCheckpointStates(sequence, lengths, { folder, key: held.key!, mayWrite }))
        written.push(state);
    } catch (error) {
      log(`what was read of ${held.key} is kept on disk only whole: ${error}`);
    }
    try {
      if (!isEvicted) await reloadWrittenStates(sequence, written);
    } catch (error) {
      log(`what was read of ${held.key} is to be found only on disk: ${error}`);
      await clearSequence(sequence);
      held.key = undefined; // restored before the next prompt
    }
  }

  private async restore(
    sequence: Sequence,
    key: string | undefined,
    prompt: Token[],
    send: SendInferenceEvent,
    signal: AbortSignal,
  ) {
    const { share, log } = this.parts;
    for (const { state, tokens } of await this.usableFor(prompt)) {
      if (state.tokens.length >= sequence.contextSize) continue; // from a larger context
      const gain = {
        tokens: tokens - reusableTokens(sequence, prompt),
        bytes: state.bytes,
      };
      if (gain.tokens < leastTokens || !isSequenceStateRestoreWorthwhile(gain, await this.speeds, Date.now(), share))
        return false;
      const startedAt = performance.now();
      send({ type: 'restoring', file: state.file });
      const isRight = await this.take(sequence, state, signal);
      send({ type: 'restored' });
      const ms = Math.max(1, performance.now() - startedAt);
      if (!isRight) {
        log(`what was kept on disk of ${state.key} is damaged, or not there any more`);
        await removeSequenceState(state.file);
        continue;
      }
      log(`took ${tokens} tokens of ${key ?? 'a request of no run'} from disk in ${Math.round(ms)} ms`);
      await this.measured('restoredPerSecond', (state.bytes * 1000) / ms);
      await touchSequenceState(state);
      if (!isSequenceStateRestoreWorthwhile(gain, await this.speeds, Date.now(), share))
        await removeSequenceState(state.file);
      return true;
    }
    return false;
  }

  private async usableFor(prompt: Token[]): Promise<{ state: SavedSequenceState; tokens: number }[]> {
    const states = await readSequenceStates(this.parts.folder, await this.parts.identity());
    return states
      .map((state) => ({ state, tokens: usable(state, prompt) }))
      .sort((one, two) => two.tokens - one.tokens || one.state.bytes - two.state.bytes);
  }

  private async take(sequence: Sequence, state: SavedSequenceState, signal: AbortSignal): Promise<boolean> {
    if (!(await isIntactSequenceStateFile(state, signal))) return false;
    await clearSequence(sequence); // its checkpoints would be mistaken for the checkpoints of the loaded state
    try {
      await sequence.loadStateFromFile(state.file, { acceptRisk: true });
      const { contextTokens } = sequence;
      if (
        contextTokens.length === state.tokens.length &&
        contextTokens.every((token, at) => token === state.tokens[at])
      ) {
        await takeRecordedCheckpoint(sequence); // a file contains no checkpoints
        return true;
      }
    } catch {
      // rejected by the engine
    }
    await clearSequence(sequence);
    return false;
  }

  private async freeSpace(bytes: number): Promise<boolean> {
    const { folder, folders, bytes: quota } = this.parts;
    await fs.mkdir(folder, { recursive: true, mode: 0o700 });
    const { bavail, bsize } = await fs.statfs(folder);
    const most = Math.min(quota, (bavail * bsize - bytes) * ofFree) - bytes;
    if (most < 0) return false;
    const all = [...new Set([folder, ...folders])];
    return (await trimSequenceStates(all, most, { own: folder, exists: (key) => this.exists(key) })) <= most;
  }

  private async exists(key: string): Promise<boolean> {
    return (await fs.stat(path.join(this.parts.runs, key)).catch(() => undefined)) !== undefined;
  }

  private async measured(what: 'readPerSecond' | 'restoredPerSecond' | 'savedPerSecond', perSecond: number) {
    const speeds = await this.speeds;
    Object.assign(speeds, { [what]: averageWithKnown(speeds[what], perSecond) });
    if (what === 'restoredPerSecond') speeds.restoredAt = Date.now();
    await writeInferenceSpeeds(this.parts.folder, await this.parts.identity(), speeds);
  }
}

function usable({ tokens, from }: SavedSequenceState, prompt: readonly number[]): number {
  let shared = 0;
  const most = Math.min(tokens.length, prompt.length - 1); // the last prompt token is always evaluated
  while (shared < most && tokens[shared] === prompt[shared]) shared++;
  return shared === tokens.length || shared > from ? shared : 0;
}

const isName = (key: string): boolean => /^[\w-]{1,120}$/.test(key);
