import type { RunEventBody } from '../../protocol/run/events.ts';

/** Clock of the work of a task: stands still while a call of the task waits for the user. */
export class TaskClock {
  private readonly asking = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private startedAt = 0;
  private left: number;

  /** @param maxMs milliseconds of work until `onEnd` */
  constructor(
    maxMs: number,
    private readonly onEnd: () => void,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.left = maxMs;
    this.start();
  }

  /** Receives the events of the task's calls. */
  observe(event: RunEventBody): void {
    if (event.type === 'approval-request' || (event.type === 'question' && !event.isOver)) this.ask(event.toolCallId);
    else if (event.type === 'approval' || event.type === 'access' || event.type === 'question')
      this.answer(event.toolCallId);
    else if (event.type === 'tool-start' || event.type === 'tool-end') this.answer(event.toolCallId);
  }

  end(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private ask(toolCallId: string): void {
    this.asking.add(toolCallId);
    if (this.timer === undefined) return;
    this.end();
    this.left -= this.now() - this.startedAt;
  }

  private answer(toolCallId: string): void {
    if (this.asking.delete(toolCallId) && this.asking.size === 0) this.start();
  }

  private start(): void {
    this.startedAt = this.now();
    this.timer = setTimeout(this.onEnd, Math.max(0, this.left));
    this.timer.unref();
  }
}
