// @invariant background-changes-are-recorded: While a background command is at work, either its changes are recorded or those of a call of
// its run that are recorded themselves; each record begins before the last one ends.
import { setTimeout } from 'node:timers/promises';
import type { ToolCallKey } from '../../protocol/content/callKey.ts';
import type { RunEvent, RunEventBody } from '../../protocol/run/events.ts';
import {
  createEmptyRecording,
  type FileRecording,
  type RecordedCall,
  type RecordedChanges,
} from '../snapshot/fileRecording.ts';
import type { OtherChange } from '../snapshot/otherChanges.ts';

interface Options {
  begin(call: RecordedCall): Promise<FileRecording>;
  /** Records an event of a run that may be at rest. Resolves to the error, if any. */
  emit(runId: string, body: RunEventBody): Promise<unknown>;
  /** Returns the path for a new pack of contents of a run. */
  newPack(runId: string): Promise<string>;
  /** Returns the calls of the background commands of a run that are at work, in the order of their starts. */
  atWork(runId: string): string[];
}

/**
 * - `calls`: recorded calls at work; `starting`: event numbers of recorded calls that wait for the record before them; `starts`: those of
 * other calls at work; `writes`: file tools at work.
 * - `recordings`: begun and not ended; `meanwhile`: what file tools change while a recording begins.
 * - `hasFailed`: the last changes could not be stored; `work`: the steps so far, one after the other.
 */
interface RunState {
  calls: number;
  isAtRest: boolean;
  open?: { toolCallId: string; recording: FileRecording } | undefined;
  readonly starting: Map<string, number>;
  readonly starts: Map<string, number>;
  readonly writes: Map<string, { ended: Promise<void>; end(): void }>;
  readonly recordings: Set<FileRecording>;
  meanwhile?: OtherChange[] | undefined;
  hasFailed: boolean;
  work: Promise<unknown>;
}

/** Changes of a call, and the state of the files from which the record of background commands goes on. */
export type EndedRecording = RecordedChanges & { snapshot?: string };

/** Records what background commands change, from the end of their call on: until another recorded call, each rest of the run, and their end. */
export class BackgroundRecordings {
  private readonly runs = new Map<string, RunState>();

  constructor(private readonly options: Options) {}

  /** Ends the record before a call whose own recording has begun. */
  callStarts({ runId, toolCallId }: ToolCallKey, recording: FileRecording): Promise<void> {
    return this.inTurn(runId, async (run) => {
      run.calls++;
      await this.write(runId, run, undefined, recording);
      run.starting.delete(toolCallId);
    });
  }

  /** Ends the recording of a call. The changes of a command that goes on in the background follow later. */
  callEnds(key: ToolCallKey, recording: FileRecording, newPack: () => Promise<string>): Promise<EndedRecording> {
    const { runId, toolCallId } = key;
    return this.inTurn(runId, async (run) => {
      run.calls--;
      const atWork = this.options.atWork(runId);
      if (atWork.includes(toolCallId) && recording.snapshot !== undefined && !run.open) {
        recording.continueInBackground();
        if (atWork.length > 1) recording.markAsShared();
        run.open = { toolCallId, recording };
        run.recordings.add(recording);
        return { snapshot: recording.snapshot };
      }
      run.open?.recording.markAsShared(); // it began before this call ended
      const begun = !run.open && run.calls === 0 ? await this.begin(runId, run) : undefined;
      run.open ??= begun;
      const next = run.open?.recording;
      const recorded = await recording.end(newPack);
      begun?.recording.startAfter(recorded);
      return { ...recorded, ...(next?.snapshot !== undefined && { snapshot: next.snapshot }) };
    });
  }

  /** Writes the changes until now, so that an undo includes them. */
  async record(runId: string): Promise<void> {
    if (this.runs.has(runId)) await this.inTurn(runId, (run) => this.renew(runId, run));
  }

  /** Writes the changes until now. Later ones follow after the returned function: by then an undo or redo is on record, and left out. */
  async hold(runId: string): Promise<() => void> {
    let release = () => {};
    if (!this.runs.has(runId)) return release;
    const released = new Promise<void>((resolve) => (release = resolve));
    await new Promise<void>((resolve) => {
      void this.inTurn(runId, async (run) => {
        await this.renew(runId, run).finally(resolve);
        await released;
      });
    });
    return release;
  }

  /** Writes the last changes of a command that has ended. */
  async commandEnded({ runId, toolCallId }: ToolCallKey): Promise<void> {
    if (!this.runs.has(runId)) return;
    await this.inTurn(runId, async (run) => {
      if (run.open?.toolCallId === toolCallId || this.options.atWork(runId).length === 0) await this.renew(runId, run);
    });
  }

  /** Follows the rests of a run, and excepts what it changes otherwise. */
  onEvent(event: RunEvent): void {
    const run = this.runs.get(event.runId);
    if (!run) return;
    const { starts, starting, writes, recordings } = run;
    const except = (change: OtherChange) => {
      for (const one of recordings) one.exceptChange(change);
      run.meanwhile?.push(change);
    };
    const exceptPaths = (paths: readonly string[]) => {
      for (const one of recordings) one.exceptPaths(paths);
    };
    switch (event.type) {
      case 'phase':
        run.isAtRest = event.phase !== 'Running';
        if (run.isAtRest) for (const one of writes.values()) one.end(); // also a tool whose end could not be stored
        if (run.isAtRest) writes.clear();
        void this.record(event.runId);
        break;
      case 'tool-start':
        (event.snapshot === undefined ? starts : starting).set(event.toolCallId, event.seq);
        if (event.changes || event.moved) writes.set(event.toolCallId, createEnd());
        break;
      case 'tool-end': {
        const seq = starts.get(event.toolCallId);
        const { changes, moved } = event;
        if (seq !== undefined && (changes?.length || moved)) except({ seq, changes, moved });
        writes.get(event.toolCallId)?.end();
        for (const one of [starts, starting, writes]) one.delete(event.toolCallId);
        break;
      }
      case 'undo':
      case 'redo': {
        const { seq, changes, moves = [], repositories = [] } = event;
        const files = changes.flatMap(({ path, at = path, place = path }) => [path, at, place]);
        const moved = moves.flatMap(({ from, to }) => [from, to]);
        if (moved.length > 0) exceptPaths([...files, ...moved]);
        else except({ seq, changes: changes.map(({ at, ...one }) => ({ ...one, path: at ?? one.path })) });
        exceptPaths(repositories.map(({ path }) => path));
        void this.record(event.runId);
      }
    }
  }

  private async renew(runId: string, run: RunState): Promise<void> {
    if (run.open) await this.write(runId, run, await this.begin(runId, run));
  }

  private async begin(runId: string, run: RunState): Promise<RunState['open']> {
    const [toolCallId, ...others] = this.options.atWork(runId);
    if (toolCallId === undefined) return undefined;
    const { signal } = new AbortController();
    const call = { runId, background: true, signal, report() {} };
    run.meanwhile = [];
    const recording = await this.options.begin(call).catch(() => createEmptyRecording({ unrecorded: 'failed' }));
    for (const one of run.meanwhile) recording.exceptChange(one);
    run.meanwhile = undefined;
    if (run.isAtRest || others.length > 0) recording.markAsShared();
    run.recordings.add(recording);
    return { toolCallId, recording };
  }

  private async write(
    runId: string,
    run: RunState,
    next: RunState['open'],
    following: FileRecording | undefined = next?.recording,
  ): Promise<void> {
    const { open } = run;
    run.open = next;
    if (!open) return;
    const {
      changes = [],
      repositories = [],
      ...recorded
    } = await open.recording.end(
      () => this.options.newPack(runId),
      () => settled(run),
    );
    run.recordings.delete(open.recording);
    following?.startAfter({ changes, repositories });
    // A call that has started, and waits for this, follows.
    const position = run.starting.size > 0 && { seq: Math.min(...run.starting.values()) - 0.5 };
    const unrecorded = recorded.unrecorded ?? (run.hasFailed ? 'failed' : undefined);
    const failure = await this.options.emit(runId, {
      type: 'command-changes',
      toolCallId: open.toolCallId,
      ...recorded,
      ...(unrecorded && { unrecorded }),
      ...(changes.length > 0 && { changes: changes.map((one) => ({ ...position, ...one })) }),
      ...(repositories.length > 0 && { repositories: repositories.map((one) => ({ ...position, ...one })) }),
      ...(next?.recording.snapshot !== undefined && { snapshot: next.recording.snapshot }),
    });
    run.hasFailed = failure !== undefined;
    if (!run.hasFailed) open.recording.forget();
  }

  private inTurn<Result>(runId: string, step: (run: RunState) => Promise<Result>): Promise<Result> {
    const run = this.runs.get(runId) ?? createRunState();
    this.runs.set(runId, run);
    const done = run.work.then(() => step(run));
    const settled = done.then(
      () => undefined,
      () => undefined,
    );
    run.work = settled;
    void settled.then(() => {
      if (run.work === settled && !run.open && run.calls === 0) this.runs.delete(runId);
    });
    return done;
  }
}

const maxSettlingMs = 5000;

/** Resolves when the file tools that are at work now have ended, or take too long. */
const settled = ({ writes }: RunState): Promise<unknown> => {
  const ended = Promise.all([...writes.values()].map((one) => one.ended));
  return writes.size === 0 ? ended : Promise.race([ended, setTimeout(maxSettlingMs, undefined, { ref: false })]);
};

function createEnd(): { ended: Promise<void>; end(): void } {
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  return { ended, end };
}

const createRunState = (): RunState => ({
  calls: 0,
  isAtRest: false,
  starting: new Map(),
  starts: new Map(),
  writes: new Map(),
  recordings: new Set(),
  hasFailed: false,
  work: Promise.resolve(),
});
