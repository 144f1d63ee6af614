import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { because } from '../../protocol/content/tools.ts';
import { storedOutput } from '../core/storedOutput.ts';
import { type ToolContext, ToolError } from '../core/tool.ts';
import type { BackgroundCommands } from './background.ts';
import { whyRefused } from './bareRepositories.ts';
import { type CommandMirror, liveOutput } from './liveOutput.ts';
import { processIdentity } from './orphanedCommands.ts';
import { Quiet } from './outputSilence.ts';
import { askToEnd, type CommandProcess, endProcesses, processLabel } from './processes.ts';
import { type Exit, exitText, startCommand } from './spawnCommand.ts';

/** Milliseconds that a stop gives a command to end, and then the disk to keep what it wrote. */
const stopPatience = 20;

interface RunOptions {
  /** Milliseconds after which it is ended; as long as it likes without it. */
  timeout?: number;
  mirror?: CommandMirror;
  marker?: string;
  background: BackgroundCommands;
  /** It is to go on: its result comes when it has said what it has to say first. */
  goesOn?: boolean;
}

/**
 * Runs a command line to its end, its time limit or the stop, whatever comes first; then nothing of it is left, or what is left is
 * named. Or it goes on in the background, because the call or the person says so: then it is no longer the call's. Data and
 * errors as `shell.run` gives them.
 */
export async function runCommand(
  line: string,
  folder: string,
  context: ToolContext,
  { timeout, mirror, marker = randomUUID(), background, goesOn = false }: RunOptions,
) {
  const started = await startCommand(line, folder, marker);
  const { kept } = started;
  let isCallsOwn = true;
  const live = liveOutput((text) => {
    if (isCallsOwn) context.output(text);
    mirror?.write(text);
  });
  started.listen(live.add);
  const quiet = goesOn ? new Quiet(background.after) : undefined;
  if (quiet) started.listen(quiet.heard);

  const ending = new AbortController();
  const outOfTime = new AbortController();
  const timedOut =
    timeout === undefined
      ? undefined
      : sleep(timeout, 'timeout' as const, { signal: outOfTime.signal }).catch(() => 'timeout' as const);
  const { signal } = context;
  const stopped = new Promise<'stopped'>((resolve) => {
    const stop = () => resolve('stopped');
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true, signal: ending.signal });
  });
  const tellOfIt = async () => {
    const identity = started.pid === undefined ? undefined : await processIdentity(started.pid);
    if (identity && !ending.signal.aborted) context.commandStarted(identity);
  };
  const told = tellOfIt().catch(() => {}); // its mark is known already
  const letGoOn = background.offer(marker);
  let how = 'It could not be started.';
  const over = () => {
    outOfTime.abort();
    live.end();
    mirror?.end(how);
    started.letGo();
  };
  try {
    const possible = [started.ended, stopped, letGoOn.asked, ...(timedOut ? [timedOut] : [])];
    const end = await Promise.race([...possible, ...(quiet ? [quiet.settled] : [])]);
    if (end === 'quiet' || end === 'goes on') return await goOn(end === 'goes on');
    how = inWords(end);
    if (typeof end === 'string') return await cutShort(end);
    // What it left in its group ends with it; what made itself independent, a daemon, stays and is named.
    const left = await endProcesses(started.pid!, marker, 'group');
    await started.heard(100);
    return { exitCode: end.exitCode, ...(end.signal && { signal: end.signal }), ...(await result(left)) };
  } finally {
    ending.abort();
    quiet?.end();
    letGoOn.end();
    if (isCallsOwn) over();
  }

  /** The stop, and the time that only the person lets it overstep, are none of its ends any more. */
  async function goOn(byPerson: boolean) {
    live.end();
    isCallsOwn = false;
    const { runId, toolCallId } = context;
    const text = kept.text();
    const going = background.take({
      runId,
      toolCallId,
      line,
      folder,
      started,
      timedOut: byPerson ? undefined : timedOut,
      over(words) {
        how = words;
        over();
      },
    });
    await told; // what is told of it comes before it is left
    context.commandGoesOn(await going.background());
    const note = byPerson && 'The person let it go on in the background.';
    return {
      id: going.id,
      running: true,
      ...(await storedOutput(text, kept.dropped, 'output', context)),
      ...(note && { note }),
    };
  }

  async function result(left: CommandProcess[], keeping: Pick<ToolContext, 'keepOutput'> = context) {
    const told = await storedOutput(kept.text(), kept.dropped, 'output', keeping);
    const why = whyRefused(told.output);
    return { ...told, ...(why && { note: why }), ...(left.length > 0 && { stillRunning: left.map(processLabel) }) };
  }

  /** Answered at once; what has not ended by then is looked for and killed in the background. */
  async function stoppedResult() {
    askToEnd(started.pid!);
    await Promise.race([Promise.all([started.ended, started.heard(stopPatience)]), sleep(stopPatience)]);
    const late = () => Promise.reject(new Error('The disk is slow.'));
    const details = await result([], {
      keepOutput: (text) => Promise.race([context.keepOutput(text), sleep(stopPatience).then(late)]),
    });
    endProcesses(started.pid!, marker, 'all').catch(() => {}); // by their mark, where they have left their parents
    return details;
  }

  async function cutShort(end: 'timeout' | 'stopped' | 'flooded'): Promise<never> {
    const details = await (end === 'stopped'
      ? stoppedResult()
      : result(await endProcesses(started.pid!, marker, 'all')));
    if (end === 'stopped')
      throw new ToolError(
        'TOOL_INTERRUPTED',
        'Stopped while it ran; the command was ended with its children.',
        details,
      );
    if (end === 'flooded')
      throw new ToolError(
        'TOOL_EXEC_FAILED',
        'It wrote more than 100 MiB and was ended. Write less, or to a file.',
        because('OUTPUT_LIMIT', details),
      );
    const message = `It did not end within ${timeout! / 1000} s and was ended with its children.`;
    throw new ToolError(
      'TOOL_TIMEOUT',
      `${message} Give a longer timeoutSeconds, run less, or run it in the background.`,
      details,
    );
  }
}

function inWords(end: Exit | 'timeout' | 'stopped' | 'flooded'): string {
  if (end === 'timeout') return 'Ended: its time was over.';
  if (end === 'stopped') return 'Stopped.';
  if (end === 'flooded') return 'Ended: it wrote too much.';
  return exitText(end);
}
