import { randomUUID } from 'node:crypto';
import { lstat, rm } from 'node:fs/promises';
import * as paths from 'node:path';
import type { LaterFileChange } from '../../protocol/run/events.ts';
import { parentFolders } from '../../protocol/run/runFiles.ts';
import { message } from '../../protocol/text/l10n.ts';
import { raceWithAbort } from '../../protocol/values/abort.ts';
import type { FileCoverage } from '../commands/loss/coverage.ts';
import { throwInterrupted } from '../core/interruption.ts';
import type { ResolvedWorkspaceRoot } from '../core/pathSyntax.ts';
import { ToolError } from '../core/tool.ts';
import { openFolderRoots, type Workspace } from '../core/workspace.ts';
import { relativePathInside, resolvePath, resolveWorkspaceRoots } from '../sandbox/paths.ts';
import type { CompareRequest, compareSnapshot } from './compareSnapshot.ts';
import { filesSince, repositorySince } from './earlierRecord.ts';
import { createEmptyRecording, type FileRecording, type RecordedCall, type RecordedChanges } from './fileRecording.ts';
import { maxSnapshotEntries } from './limits.ts';
import { changesSeen, type OtherChange, type PathChange, type PathState, withoutOtherChanges } from './otherChanges.ts';
import type { SnapshotRequest, takeSnapshot } from './takeSnapshot.ts';

/** Records what calls do to the files of the open folders, so that it can be shown and undone. */
export interface FileRecorder {
  /**
   * Records the state before a call. Throws if the call must not start: `TOOL_INTERRUPTED` on abort, `STORE_FULL` if the disk is full, and
   * `E_PRECONDITION_FAILED` if a promised file is not recorded.
   */
  begin(call: RecordedCall): Promise<FileRecording>;
  /** Tells whether the recording of the next call will hold these files and repositories. */
  readonly covers: FileCoverage;
  /** Returns the recording of a call that was interrupted by the end of its window. */
  interrupted(snapshot: string): FileRecording;
  /** Notes that an editor or a file tool changes a file (absolute path) beside the recorded calls. */
  noteChange(path: string): void;
  /** Notes that a background command of a run now applies its changes, beside the recorded calls. */
  noteBackgroundChanges(runId: string): void;
}

interface FileRecorderOptions {
  workspace: Pick<Workspace, 'roots' | 'virtual'>;
  /** Folder for snapshots, absolute. */
  store: string;
  isOn(): boolean;
  /** Maximum bytes to store for one call. */
  budget(): number;
  /** Tests if a command may change files beside the call: in the background, or left running. @param but run whose commands do not count */
  isBusy?(but?: string): Promise<boolean>;
  take(request: SnapshotRequest): ReturnType<typeof takeSnapshot>;
  compare(request: CompareRequest): ReturnType<typeof compareSnapshot>;
  /** Removes a snapshot that is not compared. */
  discard(request: { store: string; id: string }): Promise<unknown>;
}

/** `isShared`: something else may change files during the call. `others`: files that an editor or a file tool has changed during the call. */
interface ActiveRecording {
  /** Absent after an interruption. */
  runId?: string;
  isBackground: boolean;
  isShared: boolean;
  readonly others: Set<string>;
  earlier: RecordedChanges;
  readonly otherChanges: OtherChange[];
  readonly exceptedPaths: Set<string>;
}

/** Milliseconds until a recording is reported, and until it is given up. */
const noticeableMs = 300;
const maxRecordingMs = 15_000;
/** Milliseconds until folders that could not be recorded are tried again, and until an undo is promised again. */
const retryMs = 300_000;
const maxChanges = 20_000;
const maxLost = 100;

export function createFileRecorder(options: FileRecorderOptions): FileRecorder {
  const { workspace, store, take, compare } = options;
  const active = new Set<ActiveRecording>();
  let givenUp: { folders: string; until: number; reason: RecordedChanges['unrecorded'] } | undefined;
  let promisesFrom = 0;
  const keyOf = (roots: readonly ResolvedWorkspaceRoot[]) => JSON.stringify(roots.map(({ realPath }) => realPath));
  const reasonToSkip = (roots: readonly ResolvedWorkspaceRoot[]) =>
    givenUp?.folders === keyOf(roots) && Date.now() < givenUp.until ? givenUp.reason : undefined;
  const discard = (id: string) => void options.discard({ store, id }).catch(() => {});
  const notRecorded = (unrecorded: RecordedChanges['unrecorded'], promised: readonly string[]): FileRecording => {
    if (promised.length > 0) throw brokenPromise();
    return createEmptyRecording({ unrecorded });
  };
  /** Error for a call whose approval promised an undo that is not possible. The next approval will say so. */
  const brokenPromise = () => {
    promisesFrom = Date.now() + retryMs;
    return new ToolError('E_PRECONDITION_FAILED', notPromised);
  };
  const busy = (but?: string) => Promise.resolve(options.isBusy?.(but)).then(Boolean, () => true);
  /** Recordings of the background commands of a run and of its calls follow each other. */
  const isApart = (one: ActiveRecording, other: ActiveRecording) =>
    one.runId === other.runId && (one.isBackground || other.isBackground);
  const recordingOf = (id: string, own: ActiveRecording): FileRecording => ({
    snapshot: id,
    async end(newPack, settled) {
      try {
        const pack = await newPack();
        const certain = own.otherChanges.length;
        const compared = await compare({ id, store, pack });
        await settled?.();
        if ('problem' in compared) {
          discard(id);
          return { unrecorded: compared.problem === 'disk-full' ? 'failed' : compared.problem };
        }
        // What existed before comes first: only created files are left out.
        const isAbove = compared.changes.length > maxChanges;
        const kept = isAbove ? compared.changes.filter(({ before }) => before !== null) : compared.changes;
        if (kept.length > maxChanges) return { unrecorded: 'too-many-files' };
        const roots = await resolveWorkspaceRoots(openFolderRoots(workspace.roots));
        const isShared = own.isShared || (await busy(own.isBackground ? own.runId : undefined));
        const others = new Set([...own.others].map((path) => relativePathInside(roots, path)));
        const lost = [...compared.lost, ...compared.deletedFolders].flatMap(
          (path) => relativePathInside(roots, path) ?? [],
        );
        const isExcepted = (path: string) =>
          [path, ...parentFolders([{ path }])].some((one) => own.exceptedPaths.has(one));
        const repositories = compared.repositories.flatMap((one) => {
          const path = relativePathInside(roots, one.path);
          if (path === undefined || isExcepted(path)) return [];
          const files = one.files.map((file) =>
            file.isLink ? { ...file, name: relativePathInside(roots, file.name) ?? file.name } : file,
          );
          const since = repositorySince({ ...one, path, files }, own.earlier);
          return since ? [{ ...since, ...(isShared && { mixed: true as const }) }] : [];
        });
        const isAlone = own.otherChanges.length + own.exceptedPaths.size === 0;
        const inside = kept.flatMap((change): PathChange[] => {
          const path = relativePathInside(roots, paths.normalize(change.path));
          return path === undefined || isExcepted(path) ? [] : [{ ...change, path }];
        });
        return {
          changes: withoutOtherChanges(filesSince(inside, own.earlier.changes), [
            ...own.otherChanges.slice(0, certain),
            ...changesSeen(own.otherChanges.slice(certain), inside),
          ])
            .map(toStoredChange)
            .map((change) => (isShared || others.has(change.path) ? { ...change, mixed: true as const } : change))
            .sort(inOrder),
          ...(compared.lines && isAlone && { lines: compared.lines }),
          ...(repositories.length > 0 && { repositories }),
          ...(isAbove && { unrecorded: 'too-many-files' as const }),
          ...(lost.length > 0 && { lost: lost.slice(0, maxLost) }),
          ...(lost.length > maxLost && { lostCount: lost.length }),
        };
      } catch {
        discard(id);
        return { unrecorded: 'failed' };
      } finally {
        active.delete(own);
      }
    },
    forget() {
      active.delete(own);
      discard(id);
    },
    continueInBackground() {
      own.isBackground = true;
    },
    markAsShared() {
      own.isShared = true;
    },
    startAfter(recorded) {
      own.earlier = recorded;
    },
    exceptChange(change) {
      own.otherChanges.push(change);
    },
    exceptPaths(excepted) {
      for (const path of excepted) own.exceptedPaths.add(path);
    },
  });
  const newRecording = () => ({
    others: new Set<string>(),
    earlier: {},
    otherChanges: [],
    exceptedPaths: new Set<string>(),
  });
  return {
    interrupted: (snapshot) => recordingOf(snapshot, { ...newRecording(), isBackground: false, isShared: true }),
    noteChange(path) {
      for (const one of active) one.others.add(path);
    },
    noteBackgroundChanges(runId) {
      for (const one of active) if (!one.isBackground || one.runId !== runId) one.isShared = true;
    },
    async covers(files) {
      if (!options.isOn()) return { isWhole: false, reason: message('Cannot be undone: recording is off.') };
      if (workspace.virtual || Date.now() < promisesFrom || (await busy())) return notCovered;
      const roots = await resolveWorkspaceRoots(openFolderRoots(workspace.roots));
      const reason = reasonToSkip(roots);
      if (reason === 'too-many-files') return { isWhole: false, reason: message(tooManyFiles, maxSnapshotEntries) };
      if (reason) return notCovered;
      const sizes: { path: string; bytes: number }[] = [];
      for (const path of files) {
        const stats = await lstat(path).catch(() => undefined);
        const isPlain = paths.basename(path) === '.git' ? stats : stats?.isFile() && (await isWritable(roots, path));
        if (!stats || !isPlain || relativePathInside(roots, path) === undefined) return notCovered;
        if (stats.isFile()) sizes.push({ path, bytes: stats.size });
      }
      const large = filesAbove(sizes, options.budget() / 2);
      return large.length > 0 ? { isWhole: false, large } : { isWhole: true };
    },
    async begin({ runId, background = false, withoutGit = false, promised = [], signal, report }) {
      if (!options.isOn()) {
        if (active.size === 0) await rm(store, { recursive: true, force: true }).catch(() => {}); // may hold secrets
        return notRecorded('off', promised);
      }
      const roots = await resolveWorkspaceRoots(openFolderRoots(workspace.roots));
      if (workspace.virtual || roots.length === 0) return createEmptyRecording({});
      const key = keyOf(roots);
      const reason = reasonToSkip(roots);
      if (reason) return notRecorded(reason, promised);
      const isShared = await busy(background ? runId : undefined);
      const own: ActiveRecording = { ...newRecording(), runId, isBackground: background, isShared };
      for (const other of active) if (!isApart(own, other)) own.isShared = other.isShared = true;
      active.add(own);
      const timer = setTimeout(report, noticeableMs);
      const id = randomUUID();
      try {
        const folders = roots.map(({ realPath }) => realPath);
        const taking = take({ id, store, folders, budget: options.budget(), withoutGit, first: promised });
        const taken = await raceWithAbort(
          taking,
          AbortSignal.any([signal, AbortSignal.timeout(maxRecordingMs)]),
          () => {
            const forget = () => discard(id);
            void taking.then(forget, forget);
            return signal.aborted ? throwInterrupted() : Promise.reject(new Error('It took too long.'));
          },
        );
        if (!('problem' in taken)) {
          const recording = recordingOf(id, own);
          if (taken.holdsFirst) return recording;
          recording.forget();
          throw brokenPromise();
        }
        if (taken.problem === 'disk-full') throw new ToolError('STORE_FULL', diskFull);
        active.delete(own);
        givenUp = { folders: key, until: Date.now() + retryMs, reason: taken.problem };
        return notRecorded(taken.problem, promised);
      } catch (error) {
        active.delete(own);
        if (error instanceof ToolError) throw error;
        givenUp = { folders: key, until: Date.now() + retryMs, reason: 'failed' };
        return notRecorded('failed', promised);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

const notCovered = { isWhole: false } as const;
const tooManyFiles = 'Cannot be undone: the workspace has more than {0} files.';

/** Returns the largest files, without which the others are not above the limit in bytes. */
function filesAbove<File extends { bytes: number }>(files: readonly File[], maxBytes: number): File[] {
  const sorted = [...files].sort((one, other) => one.bytes - other.bytes);
  let left = maxBytes;
  const above = sorted.findIndex(({ bytes }) => {
    left -= bytes;
    return left < 0;
  });
  return above < 0 ? [] : sorted.slice(above).reverse();
}

/** Tests if an undo can write this real path: a name that every file tool accepts, and no read-only file. */
async function isWritable(roots: readonly ResolvedWorkspaceRoot[], path: string): Promise<boolean> {
  const relative = relativePathInside(roots, path);
  const stats = await lstat(path).catch(() => undefined);
  if (relative === undefined || !stats || !(stats.mode & 0o200)) return false;
  const resolved = await resolvePath(roots, relative, 'delete').catch(() => undefined);
  return resolved?.path === path;
}

/** Deletions first, from the deepest; then the others, folders before their contents: an undo goes the other way. */
function inOrder(one: LaterFileChange, other: LaterFileChange): number {
  const isDeletion = Number(other.after === null) - Number(one.after === null);
  if (isDeletion !== 0) return isDeletion;
  return (one.path < other.path ? -1 : 1) * (one.after === null ? -1 : 1);
}

const diskFull = 'The command was not started: the disk is full, so its changes could not be undone.';

const notPromised =
  'The files that this command discards could not be recorded, so it did not run. Call it again to ask without Undo.';

function toStoredChange({ path, before, after, seq }: PathChange): LaterFileChange {
  const isEdit = before?.isText === true && after?.isText === true;
  const beforeKind = before && !isEdit ? before.kind : undefined;
  const afterKind = after && !after.isText ? after.kind : undefined;
  return {
    path,
    before: idOf(before),
    after: idOf(after),
    ...(beforeKind && { kind: beforeKind }),
    ...(before?.mode !== undefined && { mode: before.mode }),
    ...(afterKind && { afterKind }),
    ...(after?.mode !== undefined && { afterMode: after.mode }),
    ...(seq !== undefined && { seq }),
  };
}

const idOf = (state: PathState | null): string | null => state?.id ?? null;
