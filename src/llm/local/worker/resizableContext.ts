import { contextSizeCandidates, contextSizeForTokens } from '../modelFile/contextSize.ts';
import { truncateToReusable } from './rewindableSequence.ts';
import { createSequenceSlots, type SequenceSlots } from './slots.ts';
import { type SequenceSlot, SequenceStateTransfer, type SequenceStateTransferDependencies } from './stateTransfer.ts';
import type { StorableSequence } from './writtenStates.ts';

export interface InferenceContextShape {
  size: number;
  fullCache: boolean;
}

export interface SizedModelContext<Sequence> extends InferenceContextShape {
  sequences: readonly Sequence[];
  close(): Promise<void>;
}

export interface ContextResizeDependencies<Sequence> extends SequenceStateTransferDependencies {
  make(shape: InferenceContextShape): Promise<SizedModelContext<Sequence>>;
  /** Returns the best shape of a size after the current context is closed; undefined if none fits. */
  shapeOf(size: number, now: InferenceContextShape): Promise<InferenceContextShape | undefined>;
  most: number;
  areOfOneKind(one: InferenceContextShape, other: InferenceContextShape): boolean;
  send(message: { type: 'growing'; size: number } | { type: 'grown'; contextSize: number }): void;
}

interface Need<Token> {
  tokens: number;
  key: string | undefined;
  prompt: Token[];
}

export class InferenceContextLostError extends Error {}

/**
 * A context that is recreated with a larger size and all states when a conversation needs more, while no job runs. If the larger context
 * cannot be created, the previous size returns and stays until the model is reloaded.
 */
export class ResizableContext<Token extends number, Sequence extends StorableSequence<Token>> {
  readonly slots: SequenceSlots<SequenceSlot<Sequence>>;
  onLoss: (seat: SequenceSlot<Sequence>) => void = () => {};
  steps = 0;
  private readonly seats: readonly SequenceSlot<Sequence>[];
  private largest: number;

  constructor(
    private context: SizedModelContext<Sequence>,
    private readonly parts: ContextResizeDependencies<Sequence>,
  ) {
    this.seats = context.sequences.map((sequence) => ({ sequence }));
    this.slots = createSequenceSlots(this.seats);
    this.largest = Math.max(parts.most, context.size);
  }

  get shape(): InferenceContextShape {
    return this.context;
  }

  get most(): number {
    return this.largest;
  }

  get sequences(): Sequence[] {
    return this.seats.map(({ sequence }) => sequence);
  }

  /** Grows to the needed or maximum size. Throws the signal's reason, or `InferenceContextLostError`. */
  async reach(need: Need<Token>, signal: AbortSignal, waits?: () => void): Promise<void> {
    if (this.isEnough(need)) return;
    const giveBack = await this.slots.alone(signal, waits);
    try {
      const shape = await this.larger(need);
      if (shape) await this.grow(shape, need, signal);
    } finally {
      giveBack();
    }
  }

  private isEnough({ tokens }: Need<Token>): boolean {
    return tokens <= this.context.size || this.context.size >= this.largest;
  }

  private async larger(need: Need<Token>): Promise<InferenceContextShape | undefined> {
    if (this.isEnough(need)) return undefined;
    for (const size of contextSizeCandidates(contextSizeForTokens(need.tokens, this.largest), this.context.size)) {
      const shape = await this.parts.shapeOf(size, this.context);
      if (shape) return shape;
    }
    return undefined;
  }

  private async grow(shape: InferenceContextShape, { key, prompt }: Need<Token>, signal: AbortSignal): Promise<void> {
    const { send, log, areOfOneKind } = this.parts;
    const startedAt = performance.now();
    const before = this.context;
    const carrier = new SequenceStateTransfer<Token, Sequence>(this.parts);
    send({ type: 'growing', size: shape.size });
    try {
      for (const { value: seat, key: owner } of this.slots.all()) {
        signal.throwIfAborted();
        if (owner === undefined) continue; // a slot without an owner is never reused
        // Recreating the context loses the positions for truncation, so the sequence is truncated before.
        if (owner === key) await truncateToReusable(seat.sequence, prompt.slice(0, -1));
        await carrier.save(seat);
        this.steps++;
      }
      signal.throwIfAborted();
      await this.replace(shape);
      let tokens = 0;
      for (const seat of this.seats) {
        const restoredTokens = areOfOneKind(before, this.context) ? await carrier.load(seat) : 0;
        if (restoredTokens === 0) this.onLoss(seat);
        tokens += restoredTokens;
        this.steps++;
      }
      const ms = Math.round(performance.now() - startedAt);
      log(`context of ${before.size} tokens has ${this.context.size} now: ${tokens} carried over, ${ms} ms`);
    } finally {
      await carrier.clear();
      send({ type: 'grown', contextSize: this.largest });
    }
  }

  private async replace(shape: InferenceContextShape): Promise<void> {
    const before = this.context;
    await before.close();
    try {
      this.put(await this.parts.make(shape));
      return;
    } catch (error) {
      this.parts.log(`the context could not be made with ${shape.size} tokens: ${error}`);
      this.largest = before.size;
    }
    try {
      this.put(await this.parts.make(before));
    } catch (error) {
      throw new InferenceContextLostError(`out of memory: not even ${before.size} tokens are to be had any more`, {
        cause: error,
      });
    }
  }

  private put(context: SizedModelContext<Sequence>): void {
    this.context = context;
    for (const [index, seat] of this.seats.entries()) seat.sequence = context.sequences[index]!;
    this.steps++;
  }
}
