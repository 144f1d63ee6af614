import type { RunEvent } from '../../protocol/run/events.ts';

const deliveryMs = 17;

/** Monotonic clock in milliseconds. `after` returns its cancellation. */
export interface Clock {
  now(): number;
  after(ms: number, run: () => void): () => void;
}

export class PanelEventQueue {
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

  flush(): void {
    this.cancel?.();
    this.cancel = undefined;
    if (this.events.length === 0) return;
    this.lastAt = this.clock.now();
    this.send(this.events.splice(0));
  }
}

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
    const timer = setTimeout(run, Math.ceil(ms)); // fractions of a millisecond would be truncated
    return () => clearTimeout(timer);
  },
};
