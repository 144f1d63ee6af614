import { onAbort } from '../../protocol/values/abort.ts';
import { throwIfInterrupted } from '../core/interruption.ts';
import { ToolError } from '../core/tool.ts';

export interface McpRequestOptions {
  signal: AbortSignal;
  timeout: number;
  onprogress?(progress: Progress): void;
  headers?: Record<string, string>;
}

interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

// Limits of a request: `ms` is the timeout in milliseconds of the clock, `subject` begins error messages, `output` receives progress texts.
interface RequestLimits {
  signal: AbortSignal;
  ms: number;
  clock: RequestClock;
  subject: string;
  output?(text: string): void;
}

/** Timeouts of a server's requests. They do not run while the server waits for the user. */
export class RequestClock {
  private readonly timers = new Set<RequestTimer>();
  private pauses = 0;

  /** Calls `onLate` once after so many milliseconds. Returns a function that stops the timer. */
  start(ms: number, onLate: () => void): () => void {
    const timer: RequestTimer = { left: ms, onLate };
    this.timers.add(timer);
    if (this.pauses === 0) resume(timer);
    return () => {
      pause(timer);
      this.timers.delete(timer);
    };
  }

  async pauseDuring<Result>(work: () => Promise<Result>): Promise<Result> {
    this.pauses += 1;
    for (const timer of this.timers) pause(timer);
    try {
      return await work();
    } finally {
      this.pauses -= 1;
      if (this.pauses === 0) for (const timer of this.timers) resume(timer);
    }
  }
}

interface RequestTimer {
  left: number;
  onLate(): void;
  running?: { handle: NodeJS.Timeout; since: number };
}

function resume(timer: RequestTimer): void {
  timer.running ??= { handle: setTimeout(timer.onLate, timer.left), since: performance.now() };
}

function pause(timer: RequestTimer): void {
  if (!timer.running) return;
  clearTimeout(timer.running.handle);
  timer.left = Math.max(0, timer.left - (performance.now() - timer.running.since));
  timer.running = undefined;
}

// Milliseconds between two progress texts.
const progressInterval = 100;

/**
 * Sends a request with limits. Throws `TOOL_INTERRUPTED` and `TOOL_TIMEOUT` as `ToolError` after cancelling at the server; other errors
 * unchanged.
 */
export async function sendWithTimeout<Result>(
  { signal, ms, clock, subject, output }: RequestLimits,
  send: (request: McpRequestOptions) => Promise<Result>,
): Promise<Result> {
  throwIfInterrupted(signal);
  const ending = new AbortController();
  const stopListening = onAbort(signal, () => ending.abort('Stopped by the person.'));
  let late = false;
  const stopTimer = clock.start(ms, () => {
    late = true;
    ending.abort(`No answer within ${ms / 1000} s.`);
  });
  try {
    return await send({
      signal: ending.signal,
      timeout: 2 ** 31 - 1,
      ...(output && { onprogress: progressTo(output) }),
    });
  } catch (error) {
    const cancelled = 'was told to cancel. It may have had its effect.';
    if (signal.aborted) throw new ToolError('TOOL_INTERRUPTED', `Stopped while it ran; the server ${cancelled}`);
    if (late) throw new ToolError('TOOL_TIMEOUT', `${subject} did not answer within ${ms / 1000} s and ${cancelled}`);
    throw error;
  } finally {
    stopTimer();
    stopListening();
  }
}

function progressTo(output: (text: string) => void) {
  let last = Number.NEGATIVE_INFINITY;
  return ({ progress, total, message }: Progress) => {
    if (performance.now() - last < progressInterval) return;
    last = performance.now();
    const share = total === undefined ? `${progress}` : `${progress} of ${total}`;
    output(`${share}${message ? `: ${message.slice(0, 500)}` : ''}\n`);
  };
}
