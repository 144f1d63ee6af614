import { randomUUID } from 'node:crypto';
import * as paths from 'node:path';
import type { RunEventBody, StoredFileChange } from '../../protocol/run/events.ts';
import { raceWithAbort } from '../../protocol/values/abort.ts';
import { throwInterrupted } from '../core/interruption.ts';
import type { ResolvedWorkspaceRoot } from '../core/pathSyntax.ts';
import { ToolError } from '../core/tool.ts';
import { openFolderRoots, type Workspace } from '../core/workspace.ts';
import { relativePathInside, resolveWorkspaceRoots } from '../sandbox/paths.ts';
import type { CompareRequest, compareSnapshot, RecordedChange, RecordedState } from './compareSnapshot.ts';
import type { SnapshotRequest, takeSnapshot } from './takeSnapshot.ts';

/** Changes of a call by comparison, for its `tool-end` event. */
export type RecordedChanges = Pick<
  Extract<RunEventBody, { type: 'tool-end' }>,
  'changes' | 'unrecorded' | 'lost' | 'lines'
>;

/** Recording of the open folders during one call. */
export interface FileRecording {
  /** Identifies the state before the call, for a comparison after a kill; absent if the call is not recorded. */
  readonly snapshot?: string;
  /**
   * Compares the open folders with the state before the call. Never rejects.
   * @param newPack returns the path of the pack for the contents
   */
  end(newPack: () => Promise<string>): Promise<RecordedChanges>;
}

/** Records what calls do to the files of the open folders, so that it can be shown and undone. */
export interface FileRecorder {
  /**
   * Records the state before a call. Throws `TOOL_INTERRUPTED` on abort, and `STORE_FULL` if the disk is full: the call must not start.
   * @param report called if the recording takes noticeable time
   */
  begin(signal: AbortSignal, report: () => void): Promise<FileRecording>;
  /** Returns the recording of a call that was interrupted by the end of its window. */
  interrupted(snapshot: string): FileRecording;
}

interface FileRecorderOptions {
  workspace: Pick<Workspace, 'roots' | 'virtual'>;
  /** Folder for snapshots, absolute. */
  store: string;
  isOn(): boolean;
  /** Maximum bytes to store for one call. */
  budget(): number;
  /** Tests if a command of the window may change files beside the call. */
  isBusy?(): boolean;
  take(request: SnapshotRequest): ReturnType<typeof takeSnapshot>;
  compare(request: CompareRequest): ReturnType<typeof compareSnapshot>;
}

/** Milliseconds until a recording is reported. */
const noticeableMs = 300;
const maxChanges = 20_000;
const maxLost = 100;

export function createFileRecorder(options: FileRecorderOptions): FileRecorder {
  const { workspace, store, take, compare } = options;
  const active = new Set<{ isShared: boolean }>();
  const busy = () => options.isBusy?.() === true;
  const recordingOf = (id: string, own: { isShared: boolean }): FileRecording => ({
    snapshot: id,
    async end(newPack) {
      try {
        const compared = await compare({ id, store, pack: await newPack() });
        if ('problem' in compared)
          return { unrecorded: compared.problem === 'disk-full' ? 'failed' : compared.problem };
        if (compared.changes.length > maxChanges) return { unrecorded: 'too-many-files' };
        const roots = await resolveWorkspaceRoots(openFolderRoots(workspace.roots));
        const isMixed = own.isShared || busy();
        const lost = [...compared.lost.map(({ path }) => path), ...compared.deletedFolders].flatMap(
          (path) => relativePathInside(roots, path) ?? [],
        );
        return {
          changes: compared.changes.flatMap((change) => toStoredChange(roots, change, isMixed) ?? []).sort(inOrder),
          ...(compared.lines && { lines: compared.lines }),
          ...(lost.length > 0 && { lost: lost.slice(0, maxLost) }),
        };
      } catch {
        return { unrecorded: 'failed' };
      } finally {
        active.delete(own);
      }
    },
  });
  return {
    interrupted: (snapshot) => recordingOf(snapshot, { isShared: true }),
    async begin(signal, report) {
      if (!options.isOn()) return notRecorded('off');
      const roots = await resolveWorkspaceRoots(openFolderRoots(workspace.roots));
      if (workspace.virtual || roots.length === 0) return { end: async () => ({}) };
      const own = { isShared: active.size > 0 || busy() };
      for (const other of active) other.isShared = true;
      active.add(own);
      const timer = setTimeout(report, noticeableMs);
      const id = randomUUID();
      try {
        const folders = roots.map(({ realPath }) => realPath);
        const taken = await raceWithAbort(
          take({ id, store, folders, budget: options.budget() }),
          signal,
          throwInterrupted,
        );
        if (!('problem' in taken)) return recordingOf(id, own);
        if (taken.problem === 'disk-full') throw new ToolError('STORE_FULL', diskFull);
        active.delete(own);
        return notRecorded(taken.problem);
      } catch (error) {
        active.delete(own);
        if (error instanceof ToolError) throw error;
        return notRecorded('failed');
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** Deletions first, from the deepest; then the others, folders before their contents: an undo goes the other way. */
function inOrder(one: StoredFileChange, other: StoredFileChange): number {
  const isDeletion = Number(other.after === null) - Number(one.after === null);
  if (isDeletion !== 0) return isDeletion;
  return (one.path < other.path ? -1 : 1) * (one.after === null ? -1 : 1);
}

const diskFull = 'The command was not started: the disk is full, so its changes could not be undone.';

const notRecorded = (unrecorded: RecordedChanges['unrecorded']): FileRecording => ({
  end: async () => ({ unrecorded }),
});

function toStoredChange(
  roots: readonly ResolvedWorkspaceRoot[],
  { path, before, after }: RecordedChange,
  isMixed: boolean,
): StoredFileChange | undefined {
  const relative = relativePathInside(roots, paths.normalize(path));
  if (relative === undefined) return undefined;
  const isEdit = before?.isText === true && after?.isText === true;
  const beforeKind = before && !isEdit ? before.kind : undefined;
  const afterKind = after && !after.isText ? after.kind : undefined;
  return {
    path: relative,
    before: idOf(before),
    after: idOf(after),
    ...(beforeKind && { kind: beforeKind }),
    ...(before && { mode: before.mode }),
    ...(afterKind && { afterKind }),
    ...(after && { afterMode: after.mode }),
    ...(isMixed && { mixed: true }),
  };
}

const idOf = (state: RecordedState | null): string | null => state?.id ?? null;
