import type { ToolCallKey } from '../../protocol/content/callKey.ts';
import type { RunEvent, RunEventBody } from '../../protocol/run/events.ts';
import type { FileRecorder, FileRecording } from '../snapshot/fileRecorder.ts';

interface Options {
  recorder: FileRecorder;
  /** Records an event of a run that may be at rest. */
  emit(runId: string, body: RunEventBody): Promise<unknown>;
  /** Returns the path for a new pack of contents of a run. */
  newPack(runId: string): Promise<string>;
  isAtWork(toolCallId: string): boolean;
}

interface OpenRecording extends ToolCallKey {
  recording: FileRecording;
}

/** Records what background commands change: from the end of their call to each rest of the run, and to their end. */
export class BackgroundRecordings {
  private readonly open: OpenRecording[] = [];
  private work: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: Options) {}

  /** Begins the record of a command, before the recording of its call ends. Undefined if it is not recorded. */
  async begin(key: ToolCallKey, continues: FileRecording): Promise<FileRecording | undefined> {
    const { signal } = new AbortController();
    const call = { background: { runId: key.runId, toolCallId: key.toolCallId }, continues, signal, report() {} };
    const recording = await this.options.recorder.begin(call).catch(() => undefined);
    if (recording?.snapshot === undefined) return undefined;
    this.open.push({ ...key, recording });
    return recording;
  }

  /** Excepts recorded changes of the run by other means: file tools, an undo, a redo. */
  onEvent(event: RunEvent): void {
    const isRecorded = event.type === 'undo' || event.type === 'redo' || event.type === 'tool-end';
    if (!isRecorded || !event.changes?.length) return;
    const changes = event.changes.map((one) => ({
      ...one,
      path: 'at' in one && one.at !== undefined ? one.at : one.path,
    }));
    this.options.recorder.noteRecordedChanges(event.runId, changes);
  }

  /** Writes the changes of the background commands of a run. */
  rest(runId: string): Promise<void> {
    return this.inTurn(async () => {
      for (const one of this.open.filter((open) => open.runId === runId)) {
        this.remove(one);
        const isAtWork = this.options.isAtWork(one.toolCallId);
        await this.write(one, isAtWork ? await this.begin(one, one.recording) : undefined);
      }
    });
  }

  /** Writes the last changes of a command that has ended. */
  end({ runId, toolCallId }: ToolCallKey): Promise<void> {
    return this.inTurn(async () => {
      const one = this.open.find((open) => open.runId === runId && open.toolCallId === toolCallId);
      if (!one) return;
      this.remove(one);
      await this.write(one);
    });
  }

  private async write({ runId, toolCallId, recording }: OpenRecording, next?: FileRecording): Promise<void> {
    const recorded = await recording.end(() => this.options.newPack(runId));
    const snapshot = next?.snapshot !== undefined && { snapshot: next.snapshot };
    await this.options.emit(runId, { type: 'command-changes', toolCallId, ...recorded, ...snapshot });
  }

  private remove(one: OpenRecording): void {
    this.open.splice(this.open.indexOf(one), 1);
  }

  // A command that ends during a rest is recorded after it.
  private inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.work.then(work);
    this.work = done.catch(() => undefined);
    return done;
  }
}
