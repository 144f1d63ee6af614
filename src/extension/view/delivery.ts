import type { RunEvent } from '../../protocol/run/events.ts';

/** Milliseconds between two deliveries: fewer than 60 a second, and a screen shows no more. */
const deliveryMs = 17;

/** Time as deliveries see it: milliseconds that never go back. */
export interface Clock {
  now(): number;
  /** Runs once after so many milliseconds; the result takes that back. */
  after(ms: number, run: () => void): () => void;
}

/** Events on their way to the panel: in order, those of the same moment together, neighbouring pieces as one. */
export class Delivery {
  private events: RunEvent[] = [];
  private lastAt = Number.NEGATIVE_INFINITY;
  private cancel?: () => void;

  constructor(
    private readonly send: (events: RunEvent[]) => void,
    private readonly clock: Clock = systemClock,
  ) {}

  add(event: RunEvent): void {
    const last = this.events.at(-1);
    const joined = last && joinPieces(last, event);
    if (joined) this.events[this.events.length - 1] = joined;
    else this.events.push(event);
    this.cancel ??= this.clock.after(Math.max(0, this.lastAt + deliveryMs - this.clock.now()), () => this.flush());
  }

  /** Sends what there is now, for something that has to be told after it. */
  flush(): void {
    this.cancel?.();
    this.cancel = undefined;
    if (this.events.length === 0) return;
    this.lastAt = this.clock.now();
    this.send(this.events.splice(0));
  }
}

/** Two pieces of the same text, or of the same call's arguments, as one; undefined when they are not. */
function joinPieces(one: RunEvent, next: RunEvent): RunEvent | undefined {
  if (one.type !== 'chunk' || next.type !== 'chunk' || one.runId !== next.runId || one.node !== next.node)
    return undefined;
  if (next.contentIsThinking) return undefined;
  if (!one.toolCall && !next.toolCall) {
    const content = (one.content ?? '') + (next.content ?? '');
    const thinking = (one.thinking ?? '') + (next.thinking ?? '');
    return { ...next, ...(one.contentIsThinking && { contentIsThinking: true }), content, thinking };
  }
  const [call, more] = [one.toolCall, next.toolCall];
  if (!call || !more || call.index !== more.index || hasText(one) || hasText(next)) return undefined;
  const name = more.name || call.name;
  const argumentsText = (call.argumentsText ?? '') + (more.argumentsText ?? '');
  return { ...next, toolCall: { index: call.index, ...(name && { name }), argumentsText } };
}

const hasText = (event: { content?: string; thinking?: string }) => Boolean(event.content || event.thinking);

const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.ceil(ms)); // a fraction of a millisecond would be cut off
    return () => clearTimeout(timer);
  },
};
