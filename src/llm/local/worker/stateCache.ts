import { promises as fs } from 'node:fs';
import path from 'node:path';
import type { SendToHost } from '../ipc/ipc.ts';
import type { KeepOptions } from '../ipc/stateCacheOptions.ts';
import { readSpeeds, writeSpeeds } from './measuredSpeeds.ts';
import { isWorth, mean, type Speeds, savingMs } from './restorePolicy.ts';
import type { Slots } from './slots.ts';
import {
  beginState,
  isIntactState,
  keepState,
  removeState,
  type State,
  statesIn,
  touchState,
  trimStates,
} from './stateFiles.ts';
import type { SequenceSlot } from './stateTransfer.ts';

/** The part of node-llama-cpp's context sequence that is needed here. */
interface CachedSequence<Token extends number> {
  readonly nextTokenIndex: number;
  readonly contextSize: number;
  readonly contextTokens: Token[];
  readonly stateCellsStartIndex: number;
  compareContextTokens(tokens: Token[]): { firstDifferentIndex: number };
  clearHistory(): Promise<void>;
  eraseContextTokenRanges(ranges: { start: number; end: number }[]): Promise<void>;
  takeCheckpoint(): Promise<void>;
  saveStateToFile(file: string): Promise<unknown>;
  loadStateFromFile(file: string, risk: { acceptRisk: true }): Promise<void>;
}

interface KeeperParts<Sequence> extends KeepOptions {
  /** Of what is kept now, and what may be taken: another one when the context is. */
  identity(): Promise<string>;
  /** An estimate, until one was saved. */
  bytesPerToken: number;
  slots: Slots<SequenceSlot<Sequence>>;
  log(text: string): void;
}

/** Tokens that are read in no time. */
const leastTokens = 256;
const restMs = 5000;
/** Milliseconds that saving may take where somebody might come, or waits for the place: reading it again would take far longer. */
const mostMs = 3000;
/** Of what is free on the disk, what all states may take. */
const ofFree = 0.1;

interface Held {
  /** Whose tokens they are. */
  key?: string;
  /** There are tokens that no file has. */
  unsaved: boolean;
  timer?: NodeJS.Timeout;
}

/**
 * What a model has read, kept on disk: of a run that rests, of one that has to make place for another, and of all before the model goes
 * out of memory. A run that is not in memory begins with the state that has most of its prompt, its own or another's.
 */
export class Keeper<Token extends number, Sequence extends CachedSequence<Token>> {
  private readonly held = new Map<SequenceSlot<Sequence>, Held>();
  /** By run, until its file has its name. */
  private readonly saving = new Map<string, Promise<void>>();
  private readonly speeds: Promise<Speeds>;
  private bytesPerToken: number;

  constructor(private readonly parts: KeeperParts<Sequence>) {
    this.speeds = parts.identity().then((identity) => readSpeeds(parts.folder, identity));
    this.bytesPerToken = parts.bytesPerToken;
  }

  /**
   * Whoever had borrowed it comes again, or another: then what it holds is kept, and what is known of the prompt is restored. True:
   * something was. Throws the signal's reason.
   */
  async enter(
    seat: SequenceSlot<Sequence>,
    key: string | undefined,
    prompt: Token[],
    tell: SendToHost,
    signal: AbortSignal,
  ): Promise<boolean> {
    const held = this.of(seat);
    clearTimeout(held.timer);
    if (key !== undefined && held.key === key) return false;
    await this.saved(seat, mostMs);
    Object.assign(held, { key: undefined, unsaved: false }); // nobody's, until what is there is this one's
    if (key !== undefined) await this.saving.get(key);
    const isBack = await this.restore(seat.sequence, key, prompt, tell, signal);
    held.key = key;
    return isBack;
  }

  /** Tokens that a context has to hold for what is kept of the prompt; 0: nothing is, or it is in memory. */
  async wants(key: string | undefined, prompt: Token[]): Promise<number> {
    const isThere = [...this.held.values()].some((held) => held.key === key);
    if (key === undefined || isThere) return 0;
    await this.saving.get(key);
    const [best] = await this.usableFor(prompt);
    if (!best || !isWorth({ ...best, bytes: best.state.bytes }, await this.speeds, Date.now(), this.parts.share))
      return 0;
    return best.tokens < leastTokens ? 0 : best.state.tokens.length + 1;
  }

  /** It does not hold what it held. */
  forget(seat: SequenceSlot<Sequence>): void {
    clearTimeout(this.held.get(seat)?.timer);
    this.held.delete(seat);
  }

  /** The job is done, the seat is given back. */
  left(seat: SequenceSlot<Sequence>): void {
    const held = this.of(seat);
    clearTimeout(held.timer);
    if (held.key === undefined || !isName(held.key)) return;
    held.unsaved = true;
    this.rests(seat, held);
  }

  /** What was read of a prompt. */
  async hasRead(tokens: number, ms: number): Promise<void> {
    if (tokens >= leastTokens && ms > 0) await this.measured('readPerSecond', (tokens * 1000) / ms);
  }

  /** Saves what rests and is not saved, as far as that takes no longer. */
  async saveAll(ms: number): Promise<void> {
    for (const seat of this.held.keys()) await this.saveIdle(seat, ms);
    await Promise.all(this.saving.values());
  }

  private rests(seat: SequenceSlot<Sequence>, held: Held): void {
    clearTimeout(held.timer);
    held.timer = setTimeout(() => void this.saveIdle(seat, mostMs), this.parts.restMs ?? restMs);
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
    if (!giveBack) return this.rests(seat, held); // somebody is at work, in it or at all of them
    await this.saved(seat, ms, giveBack);
    giveBack();
  }

  /** Resolves once the engine has saved it: what is left to be done is looked for in `saving`. */
  private saved(seat: SequenceSlot<Sequence>, ms: number, free = () => {}): Promise<void> {
    const { key } = this.of(seat);
    if (key === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      const saving = this.save(seat, ms, () => {
        free();
        resolve();
      }).finally(() => {
        if (this.saving.get(key) === saving) this.saving.delete(key);
        resolve();
      });
      this.saving.set(key, saving);
    });
  }

  /** @param free called once the sequence is not needed any more */
  private async save(seat: SequenceSlot<Sequence>, ms: number, free: () => void): Promise<void> {
    const { key, unsaved } = this.of(seat);
    const { sequence } = seat;
    const { folder, share, log } = this.parts;
    const tokens = sequence.nextTokenIndex;
    if (key === undefined || !unsaved || tokens < leastTokens) return;
    const bytes = tokens * this.bytesPerToken;
    const speeds = await this.speeds;
    if (savingMs(bytes, speeds) > ms || !isWorth({ tokens, bytes }, speeds, Date.now(), share)) return;
    try {
      if (!(await this.isThere(key)) || !(await this.makeRoom(bytes))) return;
      const identity = await this.parts.identity();
      const begun = await beginState(folder, key);
      // What was drafted is in the engine's memory, and no token of the conversation.
      await sequence.eraseContextTokenRanges([{ start: tokens, end: sequence.contextSize }]);
      const held = Uint32Array.from(sequence.contextTokens);
      const from = Math.max(0, sequence.stateCellsStartIndex);
      const startedAt = performance.now();
      try {
        await sequence.saveStateToFile(begun);
      } catch (error) {
        await fs.rm(begun, { force: true });
        throw error;
      }
      const took = performance.now() - startedAt;
      this.of(seat).unsaved = false;
      free();
      const state = await keepState(begun, { identity, tokens: held, from, isThere: () => this.isThere(key) });
      if (!state) return;
      this.bytesPerToken = state.bytes / held.length;
      await this.measured('savedPerSecond', (state.bytes * 1000) / Math.max(1, took));
      log(
        `kept on disk what was read of ${key}: ${held.length} tokens, ${state.bytes} bytes, ${Math.round(this.bytesPerToken)} of each token, ${Math.round(took)} ms`,
      );
    } catch (error) {
      log(`what was read of ${key} could not be kept on disk: ${error}`);
    }
  }

  private async restore(
    sequence: Sequence,
    key: string | undefined,
    prompt: Token[],
    tell: SendToHost,
    signal: AbortSignal,
  ) {
    const { share, log } = this.parts;
    for (const { state, tokens } of await this.usableFor(prompt)) {
      if (state.tokens.length >= sequence.contextSize) continue; // of a larger context
      const gain = {
        tokens: tokens - sequence.compareContextTokens(prompt).firstDifferentIndex,
        bytes: state.bytes,
      };
      if (gain.tokens < leastTokens || !isWorth(gain, await this.speeds, Date.now(), share)) return false;
      const startedAt = performance.now();
      tell({ type: 'restoring', file: state.file });
      const isRight = await this.take(sequence, state, signal);
      tell({ type: 'restored' });
      const ms = Math.max(1, performance.now() - startedAt);
      if (!isRight) {
        log(`what was kept on disk of ${state.key} is damaged, or not there any more`);
        await removeState(state.file);
        continue;
      }
      log(`took ${tokens} tokens of ${key ?? 'a request of no run'} from disk in ${Math.round(ms)} ms`);
      await this.measured('restoredPerSecond', (state.bytes * 1000) / ms);
      await touchState(state);
      if (!isWorth(gain, await this.speeds, Date.now(), share)) await removeState(state.file);
      return true;
    }
    return false;
  }

  /** What is kept, and how much of the prompt that has, the best first. */
  private async usableFor(prompt: Token[]): Promise<{ state: State; tokens: number }[]> {
    const states = await statesIn(this.parts.folder, await this.parts.identity());
    return states
      .map((state) => ({ state, tokens: usable(state, prompt) }))
      .sort((one, two) => two.tokens - one.tokens || one.state.bytes - two.state.bytes);
  }

  /** False: it is not what was kept, and the sequence holds what it held, or nothing. */
  private async take(sequence: Sequence, state: State, signal: AbortSignal): Promise<boolean> {
    if (!(await isIntactState(state, signal))) return false;
    await sequence.clearHistory(); // its checkpoints would be taken for those of what is loaded
    try {
      await sequence.loadStateFromFile(state.file, { acceptRisk: true });
      const { contextTokens } = sequence;
      if (
        contextTokens.length === state.tokens.length &&
        contextTokens.every((token, at) => token === state.tokens[at])
      ) {
        await sequence.takeCheckpoint(); // the file has none
        return true;
      }
    } catch {
      // the engine refused it
    }
    await sequence.clearHistory();
    return false;
  }

  private async makeRoom(bytes: number): Promise<boolean> {
    const { folder, folders, bytes: quota } = this.parts;
    await fs.mkdir(folder, { recursive: true, mode: 0o700 });
    const { bavail, bsize } = await fs.statfs(folder);
    const most = Math.min(quota, (bavail * bsize - bytes) * ofFree) - bytes;
    if (most < 0) return false;
    const all = [...new Set([folder, ...folders])];
    return (await trimStates(all, most, { own: folder, isThere: (key) => this.isThere(key) })) <= most;
  }

  private async isThere(key: string): Promise<boolean> {
    return (await fs.stat(path.join(this.parts.runs, key)).catch(() => undefined)) !== undefined;
  }

  private async measured(what: 'readPerSecond' | 'restoredPerSecond' | 'savedPerSecond', perSecond: number) {
    const speeds = await this.speeds;
    Object.assign(speeds, { [what]: mean(speeds[what], perSecond) });
    if (what === 'restoredPerSecond') speeds.restoredAt = Date.now();
    await writeSpeeds(this.parts.folder, await this.parts.identity(), speeds);
  }
}

/** Tokens of the prompt that a state has, if it can be cut back to them. */
function usable({ tokens, from }: State, prompt: readonly number[]): number {
  let shared = 0;
  const most = Math.min(tokens.length, prompt.length - 1); // the last one of the prompt is always read
  while (shared < most && tokens[shared] === prompt[shared]) shared++;
  return shared === tokens.length || shared > from ? shared : 0;
}

const isName = (key: string): boolean => /^[\w-]{1,120}$/.test(key);
