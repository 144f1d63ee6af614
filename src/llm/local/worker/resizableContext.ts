import { contextFor, contextsFrom } from '../modelFile/contextSize.ts';
import { createSlots, type Slots } from './slots.ts';
import { type CarriedSequence, type CarrierParts, type SequenceSlot, StateTransfer } from './stateTransfer.ts';

/** How a context is made. */
export interface Shape {
  /** Tokens of each sequence. */
  size: number;
  /** Of a model that looks back through a window: all that it has read is kept. */
  fullCache: boolean;
}

export interface Context<Sequence> extends Shape {
  /** As many as those of the one before. */
  sequences: readonly Sequence[];
  /** Gives its memory back. */
  close(): Promise<void>;
}

export interface GrowingParts<Sequence> extends CarrierParts {
  /** Throws where there is not the memory for it. */
  make(shape: Shape): Promise<Context<Sequence>>;
  /** The best way to make one of that size in the memory that there is, when the present one is gone; undefined: none. */
  shapeOf(size: number, now: Shape): Promise<Shape | undefined>;
  /** Tokens that it may come to. */
  most: number;
  /** What one of them has read the other can go on from. */
  areOfOneKind(one: Shape, other: Shape): boolean;
  tell(message: { type: 'growing'; size: number } | { type: 'grown'; contextSize: number }): void;
}

/** The part of node-llama-cpp's context sequence that is needed here. */
interface GrowingSequence<Token extends number> extends CarriedSequence<Token> {
  adaptStateToTokens(tokens: Token[], allowShift: boolean): Promise<void>;
}

interface Need<Token> {
  tokens: number;
  /** Whose prompt it is. */
  key: string | undefined;
  prompt: Token[];
}

/** There is no context any more: neither a larger one nor that which was. */
export class ContextLost extends Error {}

/**
 * A context that is made anew, larger, when a conversation needs it, with all that was read: nobody is at work then. Where the larger
 * one cannot be had, the one before comes back, and is what there is until the model is loaded again.
 */
export class ResizableContext<Token extends number, Sequence extends GrowingSequence<Token>> {
  readonly slots: Slots<SequenceSlot<Sequence>>;
  /** Told of a seat that does not hold any more what it held. */
  onLoss: (seat: SequenceSlot<Sequence>) => void = () => {};
  /** Counts what is done of growing, for whoever looks whether it goes on. */
  steps = 0;
  private readonly seats: readonly SequenceSlot<Sequence>[];
  private largest: number;

  constructor(
    private context: Context<Sequence>,
    private readonly parts: GrowingParts<Sequence>,
  ) {
    this.seats = context.sequences.map((sequence) => ({ sequence }));
    this.slots = createSlots(this.seats);
    this.largest = Math.max(parts.most, context.size);
  }

  get shape(): Shape {
    return this.context;
  }

  /** Tokens that it may come to. */
  get most(): number {
    return this.largest;
  }

  get sequences(): Sequence[] {
    return this.seats.map(({ sequence }) => sequence);
  }

  /** Makes it large enough, or as large as it may be. Throws the signal's reason, or `ContextLost`. */
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

  /** Undefined: another one has made it so meanwhile, or there is no memory for more. */
  private async larger(need: Need<Token>): Promise<Shape | undefined> {
    if (this.isEnough(need)) return undefined;
    for (const size of contextsFrom(contextFor(need.tokens, this.largest), this.context.size)) {
      const shape = await this.parts.shapeOf(size, this.context);
      if (shape) return shape;
    }
    return undefined;
  }

  private async grow(shape: Shape, { key, prompt }: Need<Token>, signal: AbortSignal): Promise<void> {
    const { tell, log, areOfOneKind } = this.parts;
    const startedAt = performance.now();
    const before = this.context;
    const carrier = new StateTransfer<Token, Sequence>(this.parts);
    tell({ type: 'growing', size: shape.size });
    try {
      for (const { value: seat, key: owner } of this.slots.all()) {
        signal.throwIfAborted();
        if (owner === undefined) continue; // nobody comes back to it
        // Where it can be cut back to is lost with the context: it is cut before.
        if (owner === key) await seat.sequence.adaptStateToTokens(prompt.slice(0, -1), false);
        await carrier.save(seat);
        this.steps++;
      }
      signal.throwIfAborted();
      await this.replace(shape);
      let tokens = 0;
      for (const seat of this.seats) {
        const there = areOfOneKind(before, this.context) ? await carrier.load(seat) : 0;
        if (there === 0) this.onLoss(seat);
        tokens += there;
        this.steps++;
      }
      const ms = Math.round(performance.now() - startedAt);
      log(`context of ${before.size} tokens has ${this.context.size} now: ${tokens} carried over, ${ms} ms`);
    } finally {
      await carrier.clear();
      tell({ type: 'grown', contextSize: this.largest });
    }
  }

  private async replace(shape: Shape): Promise<void> {
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
      throw new ContextLost(`out of memory: not even ${before.size} tokens are to be had any more`, { cause: error });
    }
  }

  private put(context: Context<Sequence>): void {
    this.context = context;
    for (const [index, seat] of this.seats.entries()) seat.sequence = context.sequences[index]!;
    this.steps++;
  }
}
