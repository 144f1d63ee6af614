import type { RunEventBody } from '../../protocol/run/events.ts';
import type { OtherChange } from './otherChanges.ts';

/** Changes of a call by comparison, for its `tool-end` event, or for a `command-changes` event. */
export type RecordedChanges = Pick<
  Extract<RunEventBody, { type: 'command-changes' }>,
  'changes' | 'unrecorded' | 'lost' | 'lostCount' | 'lines' | 'repositories'
>;

/** Recording of the open folders during one call, or during some time of a background command. */
export interface FileRecording {
  /** Identifies the state before the call, for a comparison after a kill; absent if the call is not recorded. */
  readonly snapshot?: string;
  /**
   * Compares the open folders with the state before the call. Never rejects.
   * @param newPack returns the path of the pack for the contents
   * @param settled resolves when the file tools at work have ended, whose changes are left out
   */
  end(newPack: () => Promise<string>, settled?: () => Promise<unknown>): Promise<RecordedChanges>;
  /** Forgets the state before the call, which did not start or whose changes are stored. */
  forget(): void;
  /** Goes on after the call, whose command is in the background now. */
  continueInBackground(): void;
  /** Marks all changes: something else may have made them. */
  markAsShared(): void;
  /** Leaves out what an earlier recording contains, which ended after this one has begun. */
  startAfter(recorded: RecordedChanges): void;
  /** Leaves out changes that the run makes by a file tool. */
  exceptChange(change: OtherChange): void;
  /** Leaves out these workspace-relative paths, and what is below. */
  exceptPaths(paths: readonly string[]): void;
}

/**
 * `background`: recording of background commands of the run. `withoutGit`: the call may remove a repository. `promised`: files, and `.git` of repositories (absolute real paths), that must be recorded. `report` is called if the
 * recording takes noticeable time.
 */
export interface RecordedCall {
  runId: string;
  background?: boolean;
  withoutGit?: boolean;
  promised?: readonly string[];
  signal: AbortSignal;
  report(): void;
}

/** Recording of a call whose changes are not compared. */
export const createEmptyRecording = (recorded: RecordedChanges): FileRecording => ({
  end: async () => recorded,
  forget() {},
  continueInBackground() {},
  markAsShared() {},
  startAfter() {},
  exceptChange() {},
  exceptPaths() {},
});
