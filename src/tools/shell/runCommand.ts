import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { outcomeDetails } from '../../protocol/content/tools.ts';
import { onAbort } from '../../protocol/values/abort.ts';
import { PromptWatch } from '../commandInput/promptWatch.ts';
import { takesInput } from '../commandInput/takesInput.ts';
import type { SandboxedCommand } from '../commandSandbox/commandSandbox.ts';
import { storeLongOutput } from '../core/storedOutput.ts';
import { type ToolContext, ToolError } from '../core/tool.ts';
import type { BackgroundCommands } from './background.ts';
import type { RunningCommand } from './backgroundCommand.ts';
import { bareRepositoryRefusal } from './bareRepositories.ts';
import { type CommandOutputMirror, throttleLiveOutput } from './liveOutput.ts';
import { processIdentity } from './orphanedCommands.ts';
import { OutputSilenceDetector } from './outputSilence.ts';
import type { PausableTimeout } from './pausableTimeout.ts';
import {
  type CommandProcess,
  endCommandProcesses,
  processEndGraceMs,
  processLabel,
  requestProcessGroupEnd,
} from './processes.ts';
import { confine, deniedWrites, sandboxNote } from './sandboxedRun.ts';
import type { CommandQuestions } from './sandboxQuestions.ts';
import { type CommandExit, formatCommandExit, startCommand } from './spawnCommand.ts';

// Milliseconds that a stop waits for the command, and then for the storage of its output.
const stopPatience = 20;

interface RunOptions {
  /** Unlimited if absent. */
  timeout?: PausableTimeout;
  mirror?: CommandOutputMirror;
  marker?: string;
  background: BackgroundCommands;
  /** Background start: the result follows the first output. */
  goesOn?: boolean;
  /** Confines the command: its changes are kept when it ends by itself, and else forgotten. `exit` ends it, to run it outside. */
  confined?:
    | { sandbox: SandboxedCommand; questions: Pick<CommandQuestions, 'answered' | 'detach'>; exit?: AbortSignal }
    | undefined;
  /** Receives the paths that the sandbox did not let the command write, and the number of files that it changed. */
  onDenial?(paths: readonly string[], changed: number): void;
}

/**
 * Runs a command line until the end, the timeout or a stop; then all processes are gone, or the remaining processes are named. Or moves the
 * command to the background on request of the call or the user. Data and errors like `shell.run`; undefined if it has left the sandbox.
 */
export async function runCommand(
  line: string,
  folder: string,
  context: ToolContext,
  { timeout, mirror, marker = randomUUID(), background, goesOn = false, confined, onDenial }: RunOptions,
) {
  const sandbox = confined?.sandbox;
  const { prompts } = background;
  const begun = performance.now();
  const process = await startCommand(line, folder, marker, sandbox, prompts && takesInput(line, goesOn)).catch(
    async (error) => {
      await sandbox?.discard();
      throw error;
    },
  );
  const ofCall = new AbortController();
  let going: RunningCommand | undefined;
  const confinement = sandbox && confine(process, sandbox, beforeChanges, ofCall.signal);
  const started = confinement?.started ?? process;
  const { output } = started;
  let isCallsOwn = true;
  const live = throttleLiveOutput((text) => {
    if (isCallsOwn) context.output(text);
    mirror?.write(text);
  });
  started.listen(live.add);
  const quiet = goesOn ? new OutputSilenceDetector(background.after) : undefined;
  if (quiet) started.listen(quiet.onOutput);
  const { terminal } = started;
  const { runId, toolCallId } = context;
  const watch =
    prompts && terminal && started.pid !== undefined
      ? new PromptWatch({
          ...{ key: { runId, toolCallId }, terminal, pid: started.pid, prompts },
          ...(timeout && { pause: timeout.pause }),
          onLineEnd: started.endLine,
        })
      : undefined;
  if (watch) started.listen(watch.onOutput);

  const ending = new AbortController();
  const timedOut = timeout?.expired;
  const { signal } = context;
  let stopListening = () => {};
  const stopped = new Promise<'stopped'>((resolve) => {
    stopListening = onAbort(signal, (reason) => {
      ofCall.abort(reason);
      resolve('stopped');
    });
  });
  let forgetExit = () => {};
  const leaving = new Promise<'left'>((resolve) => {
    forgetExit = onAbort(confined?.exit, () => confinement?.leave() && resolve('left'));
  });
  const recordStart = async () => {
    const identity = started.pid === undefined ? undefined : await processIdentity(started.pid);
    if (identity && !ending.signal.aborted) context.commandStarted(identity);
  };
  const recorded = recordStart().catch(() => {}); // the marker is already recorded
  const letGoOn = background.offer(marker);
  let reason = 'It could not be started.';
  const over = () => {
    timeout?.end();
    live.end();
    mirror?.end(reason);
    watch?.end();
    started.letGo();
  };
  try {
    const ends = [started.ended, stopped, leaving, ...(timedOut ? [timedOut] : [])];
    const first = await Promise.race([...ends, letGoOn.asked, ...(quiet ? [quiet.settled] : [])]);
    const end = first === 'quiet' || first === 'goes on' ? await Promise.race([...ends, untilAnswered(first)]) : first;
    if (end === 'quiet' || end === 'goes on') return await goOn(end === 'goes on');
    reason = endText(end);
    if (end === 'left') return await leave();
    if (typeof end === 'string') return await cutShort(end);
    // Processes left in the group are ended; an independent daemon survives and is named.
    const age = performance.now() - begun;
    const left = await endCommandProcesses(started.pid!, marker, sandbox?.leavesProcesses ? 'all' : 'group', { age });
    await started.waitForOutput(100);
    if (end.exceeded) {
      await sandbox?.discard();
      throw new ToolError(
        'TOOL_EXEC_FAILED',
        `${end.exceeded.message} It has changed nothing. Use less, or ask with the reason in \`outside\`.`,
        outcomeDetails(end.exceeded.reason, await result(left)),
      );
    }
    const report = await confinement?.report;
    const denied = deniedWrites(report, output.text(), folder, end);
    const note = sandboxNote(report, denied, folder);
    onDenial?.(denied, report && 'changed' in report ? report.changed : 0);
    const stored = await result(left);
    return {
      exitCode: end.exitCode,
      ...(end.signal && { signal: end.signal }),
      ...stored,
      ...(note && { note: [stored.note, note].filter(Boolean).join(' ') }),
    };
  } finally {
    ending.abort();
    stopListening();
    forgetExit();
    quiet?.end();
    letGoOn.end();
    if (isCallsOwn) over();
    if (isCallsOwn && !signal.aborted) void sandbox?.discard(); // else when its processes are gone
  }

  function beforeChanges() {
    timeout?.end();
    if (going) background.applies(going);
  }

  /** A question of the command belongs to its call. */
  async function untilAnswered<Result>(result: Result): Promise<Result> {
    await confined?.questions.answered();
    return result;
  }

  /** Detaches the command from the stop and from the timeout; after a decision of the user, the timeout no longer applies. */
  async function goOn(byPerson: boolean) {
    live.end();
    isCallsOwn = false;
    stopListening(); // a stop of the run is none of the command
    forgetExit();
    confined?.questions.detach();
    const text = output.text();
    going = background.take({
      runId,
      toolCallId,
      line,
      folder,
      started,
      timedOut: byPerson ? undefined : timedOut,
      ...(sandbox?.network && { network: sandbox.network }),
      async note(end) {
        if (end.exceeded) return `${end.exceeded.message} It has changed nothing.`;
        const report = await confinement?.report;
        return sandboxNote(report, deniedWrites(report, output.text(), folder, end), folder);
      },
      over(text) {
        reason = text;
        over();
        void sandbox?.discard();
      },
    });
    await recorded; // the report precedes the end of the call
    context.commandGoesOn(await going.background());
    const note = byPerson && 'The person let it go on in the background.';
    return {
      id: going.id,
      running: true,
      ...(await storeLongOutput(text, output.dropped, 'output', context)),
      ...(note && { note }),
    };
  }

  async function result(left: CommandProcess[], keeping: Pick<ToolContext, 'keepOutput'> = context) {
    const stored = await storeLongOutput(output.text(), output.dropped, 'output', keeping);
    const note = [bareRepositoryRefusal(stored.output), watch?.note()].filter(Boolean).join(' ');
    return { ...stored, ...(note && { note }), ...(left.length > 0 && { stillRunning: left.map(processLabel) }) };
  }

  /** Returns at once; remaining processes are killed in the background. */
  async function stoppedResult() {
    requestProcessGroupEnd(started.pid!);
    await Promise.race([Promise.all([started.ended, started.waitForOutput(stopPatience)]), sleep(stopPatience)]);
    const late = () => Promise.reject(new Error('The disk is slow.'));
    const details = await result([], {
      keepOutput: (text) => Promise.race([context.keepOutput(text), sleep(stopPatience).then(late)]),
    });
    // By the marker, for processes without their parent.
    endCommandProcesses(started.pid!, marker, 'all')
      .catch(() => {})
      .finally(() => sandbox?.discard());
    return details;
  }

  /** Ends the command before it starts again outside; a stop does not wait for processes that want to end by themselves. */
  async function leave(): Promise<undefined> {
    await endCommandProcesses(started.pid!, marker, 'all', { grace: () => (signal.aborted ? 0 : processEndGraceMs) });
    await sandbox?.discard();
  }

  async function cutShort(end: 'timeout' | 'stopped' | 'flooded'): Promise<never> {
    started.abandon();
    await confinement?.settled(); // its changes are being kept
    const details = await (end === 'stopped'
      ? stoppedResult()
      : result(await endCommandProcesses(started.pid!, marker, 'all')));
    if (end !== 'stopped') await sandbox?.discard();
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
        outcomeDetails('OUTPUT_LIMIT', details),
      );
    const message = `It did not end within ${timeout!.limit / 1000} s and was ended with its children.`;
    throw new ToolError(
      'TOOL_TIMEOUT',
      `${message} Give a longer timeoutSeconds, run less, or run it in the background.`,
      details,
    );
  }
}

function endText(end: CommandExit | 'timeout' | 'stopped' | 'flooded' | 'left'): string {
  if (end === 'left') return 'Ended: it runs outside of the sandbox.';
  if (end === 'timeout') return 'Ended: its time was over.';
  if (end === 'stopped') return 'Stopped.';
  if (end === 'flooded') return 'Ended: it wrote too much.';
  return formatCommandExit(end);
}
