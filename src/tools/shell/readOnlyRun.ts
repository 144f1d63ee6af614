import type { ReadOnlyCommandLine } from '../commands/readOnly.ts';
import { storeLongOutput } from '../core/storedOutput.ts';
import { type ToolContext, ToolError } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import { runArgvPipeline } from './argvPipeline.ts';
import { type CommandOutputMirror, throttleLiveOutput } from './liveOutput.ts';
import { CommandOutput, TerminalOutputCleaner } from './output.ts';

/** Timeout in milliseconds and output limit in bytes of a read-only command; more needs an approval. */
export const readOnlyCommandTimeAndOutputLimit = 60_000;
const outputLimit = 64 * 1024;

/**
 * Runs a read-only command without approval: the checked argument vectors, without a shell. Data like `shell.run`, without `signal` and
 * `stillRunning`. Throws `TOOL_TIMEOUT` after `timeout` milliseconds and `TOOL_INTERRUPTED` on a stop, with the output in `details`. Output
 * above 64 KiB is truncated, and the command is ended.
 */
export async function runReadOnlyCommand(
  line: ReadOnlyCommandLine,
  timeout: number,
  { ripgrep }: Pick<Workspace, 'ripgrep'>,
  context: ToolContext,
  mirror?: CommandOutputMirror,
) {
  const output = new CommandOutput();
  const cleaner = new TerminalOutputCleaner();
  const live = throttleLiveOutput((text) => {
    context.output(text);
    mirror?.write(text);
  });
  const full = new AbortController();
  const time = AbortSignal.timeout(timeout);
  let bytes = 0;
  const take = (text: string) => {
    output.add(text);
    live.add(text);
  };
  let reason = 'It could not be started.';
  try {
    const signal = AbortSignal.any([context.signal, time, full.signal]);
    const onData = (chunk: Buffer) => {
      const left = outputLimit - bytes;
      bytes += chunk.length;
      if (left > 0) take(cleaner.add(chunk.subarray(0, left)));
      if (bytes > outputLimit) full.abort();
    };
    const { exitCode } = await runArgvPipeline(line, onData, signal, ripgrep);
    take(cleaner.end());
    const stored = await storeLongOutput(output.text(), output.dropped, 'output', context);
    reason = signal.aborted ? 'Ended.' : `Exit code ${exitCode}.`;
    if (context.signal.aborted) throw new ToolError('TOOL_INTERRUPTED', 'Stopped while it ran.', stored);
    if (time.aborted)
      throw new ToolError(
        'TOOL_TIMEOUT',
        `It did not end within ${timeout / 1000} s and was ended. Read less at once.`,
        stored,
      );
    if (!full.signal.aborted) return { exitCode, ...stored };
    const cut = 'It wrote more than 64 KiB and was ended there. Read less at once.';
    return { exitCode: null, ...stored, cut: [stored.cut, cut].filter(Boolean).join(' ') };
  } finally {
    live.end();
    mirror?.end(reason);
  }
}
