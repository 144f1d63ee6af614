import { onAbort } from '../../protocol/values/abort.ts';
import { throwIfInterrupted } from '../core/interruption.ts';
import { ToolError } from '../core/tool.ts';

export interface McpRequestOptions {
  signal: AbortSignal;
  timeout: number;
  onprogress?(progress: Progress): void;
}

interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

// Limits of a request: `ms` is the timeout in milliseconds, `subject` begins error messages, `output` receives progress texts.
interface RequestLimits {
  signal: AbortSignal;
  ms: number;
  subject: string;
  output?(text: string): void;
}

// Milliseconds between two progress texts.
const progressInterval = 100;

/**
 * Sends a request with limits. Throws `TOOL_INTERRUPTED` and `TOOL_TIMEOUT` as `ToolError` after cancelling at the server; other errors
 * unchanged.
 */
export async function sendWithTimeout<Result>(
  { signal, ms, subject, output }: RequestLimits,
  send: (request: McpRequestOptions) => Promise<Result>,
): Promise<Result> {
  throwIfInterrupted(signal);
  const ending = new AbortController();
  const stopListening = onAbort(signal, () => ending.abort('Stopped by the person.'));
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    ending.abort(`No answer within ${ms / 1000} s.`);
  }, ms);
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
    clearTimeout(timer);
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
