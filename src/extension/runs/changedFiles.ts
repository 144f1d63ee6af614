import path from 'node:path';
import * as vscode from 'vscode';
import { callIdsBeforeRecording } from '../../engine/run/recordedCalls.ts';
import type { ChangedFileRow, HostMessage, ViewMessage } from '../../protocol/panel/panelMessages.ts';
import type { RunEvent, StoredFileChange } from '../../protocol/run/events.ts';
import { callsInStartOrder, type Run } from '../../protocol/run/run.ts';
import { type FileChangedByRun, foldFileChanges } from '../../protocol/run/runFiles.ts';
import { createDictionary, sortedDictionaryKeys, toDictionary } from '../../protocol/values/dictionary.ts';
import type { RunStore } from '../../runs/store.ts';
import { currentContentId } from '../../tools/changes/changeState.ts';
import { compareFileVersions, readCurrentFileText } from '../../tools/changes/compareChanges.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { FileCommitStatusCache } from '../commit/committed.ts';
import { toCallName, undoneCallName } from '../dialogs/undoQuestion.ts';
import { isFileReviewed, type StoredFileReview } from '../review/reviewedHunks.ts';
import type { DecisionFile } from '../settings/decisionFile.ts';

interface Dependencies {
  shown(): string | undefined;
  store: RunStore;
  workspace: Workspace;
  reviewed: DecisionFile;
  post(message: HostMessage): void;
  failed(error: unknown): void;
}

type Folded = Pick<Run, 'id' | 'seq' | 'files' | 'undos'> & { ran?: true | 'old' };

/** Origin of the changes of a file: the command that made all of them, and whether something else may have changed the file meanwhile. */
interface Origin {
  by?: string;
  sameTime?: true;
}

/** Maximum of rows sent to the panel; the number of further rows is sent, too. */
const maxRows = 200;
/** Milliseconds within which events and saves are combined. */
const pauseMs = 100;
/** Maximum of runs with stored reviews. */
const maxReviewed = 100;

/**
 * Changed files of the displayed run, compared with the disk when an event concerns a file, and sent to the panel. Files with their
 * original content and files committed since are omitted. Folds the events of the run itself.
 */
export class ChangedFiles implements vscode.Disposable {
  private run: Folded | undefined;
  private readonly shown = new Map<string, ChangedFileRow>();
  private readonly names = new Map<string, string>();
  private readonly origins = new Map<string, Origin>();
  /** Names of the calls with recorded changes, by id. */
  private readonly recorded = new Map<string, string>();
  private readonly events: RunEvent[] = [];
  private readonly touched = new Set<string>();
  private all = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private looking: Promise<void> = Promise.resolve();
  /** Listener to changes of the rows and their reviews, also of the displayed run. */
  onRows: () => void = () => {};
  private readonly committed = new FileCommitStatusCache(() => this.later(() => true));
  private readonly watches: vscode.Disposable[];

  constructor(private readonly parts: Dependencies) {
    const watcher = vscode.workspace.createFileSystemWatcher('**/*');
    const touch = ({ fsPath }: vscode.Uri) => {
      const name = this.names.get(path.normalize(fsPath));
      if (name !== undefined) this.later(() => !this.touched.add(name));
    };
    this.watches = [
      watcher,
      watcher.onDidChange(touch),
      watcher.onDidCreate(touch),
      watcher.onDidDelete(touch),
      vscode.workspace.onDidSaveTextDocument(({ uri }) => touch(uri)),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.committed.dispose();
    for (const one of this.watches) one.dispose();
  }

  show(run: Run | null): void {
    this.names.clear();
    this.shown.clear();
    this.origins.clear();
    this.recorded.clear();
    this.run = run ? { id: run.id, seq: run.seq } : undefined;
    if (run && this.run && !run.imported) {
      this.run.files = run.files && toDictionary(structuredClone(run.files));
      this.run.undos = run.undos && structuredClone(run.undos);
      const calls = callsInStartOrder(run);
      const isOld = callIdsBeforeRecording(run).length > 0 && !calls.some(([, { unrecorded }]) => unrecorded);
      if (run.ran) this.run.ran = isOld ? 'old' : true;
      for (const [id, { snapshot, changes }] of calls) {
        if (snapshot !== undefined) this.recorded.set(id, undoneCallName(run, id) ?? id);
        this.noteOrigins(id, changes);
      }
    }
    this.onRows();
    this.later(() => true);
  }

  onEvent(event: RunEvent): void {
    if (event.runId !== this.parts.shown()) return;
    const counts =
      event.type === 'undo' ||
      event.type === 'redo' ||
      (event.type === 'tool-end' && (event.changes?.length || event.moved || event.unrecorded)) ||
      (event.type === 'command-changes' && (event.changes?.length || event.unrecorded)) ||
      (event.type === 'tool-start' && (event.snapshot !== undefined || isUnrecordedCommand(event)));
    if (counts) this.later(() => this.events.push(event) === 0);
  }

  async rows(runId: string): Promise<{ row: ChangedFileRow; file: FileChangedByRun; absolute: string | undefined }[]> {
    await this.looking;
    const files = (this.run?.id === runId && this.run.files) || createDictionary<FileChangedByRun>();
    return [...this.shown.values()].flatMap((row) => {
      const file = files[row.path];
      return file ? [{ row, file, absolute: this.absolutePath(row.path) }] : [];
    });
  }

  /** Stores a review of the current content; a later change needs a new review. */
  review({ runId, path: name, id, reviewed }: Extract<ViewMessage, { type: 'review-file' }>): void {
    this.storeReview(runId, name, reviewed ? id : undefined);
  }

  /** Stores the review of a file, see `StoredFileReview`. */
  storeReview(runId: string, name: string, review: StoredFileReview | undefined): void {
    const { [name]: _, ...others } = this.reviewedIn(runId);
    this.parts.reviewed.update(runId, review === undefined ? others : { ...others, [name]: review });
    for (const forgotten of Object.keys(this.parts.reviewed.all()).slice(0, -maxReviewed))
      this.parts.reviewed.update(forgotten, undefined);
    if (this.run?.id === runId) this.notifyOf(this.run);
  }

  /** Returns the stored reviews of a run by path. */
  readonly reviewedIn = (runId: string): Record<string, unknown> => Object(this.parts.reviewed.get(runId));

  /** @param note returns true to check all files */
  private later(note: () => boolean): void {
    this.all = note() || this.all;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.looking = this.looking.then(() => this.look()).catch((error) => this.parts.failed(error));
    }, pauseMs);
  }

  private async look(): Promise<void> {
    const { run } = this;
    this.fold();
    if (!run) return;
    const names = this.all ? sortedDictionaryKeys(run.files ?? createDictionary()) : [...this.touched];
    if (this.all) this.shown.clear();
    this.all = false;
    this.touched.clear();
    for (const name of names) {
      const file = run.files?.[name];
      const row = file && (await this.rowOf(run.id, name, file));
      if (run !== this.run) return; // another run is displayed
      if (row) this.shown.set(name, row);
      else this.shown.delete(name);
    }
    if (run.id !== this.parts.shown()) return;
    this.notifyOf(run);
  }

  private notifyOf(run: Folded): void {
    const reviewed = this.reviewedIn(run.id);
    const rows = [...this.shown.values()].map((row) =>
      isFileReviewed(reviewed[row.path], row.id) ? { ...row, reviewed: true } : row,
    );
    const sum = (of: 'added' | 'removed') => rows.reduce((total, row) => total + (row[of] ?? 0), 0);
    const own: ChangedFileRow[] = [];
    const byCall = new Map<string, ChangedFileRow[]>();
    for (const row of rows) {
      const { by } = this.origins.get(row.path) ?? {};
      if (by === undefined) own.push(row);
      else if (!byCall.get(by)?.push(row)) byCall.set(by, [row]);
    }
    const groups = [...byCall].map(([id, { length }]) => ({ by: this.recorded.get(id)!, files: length }));
    const grouped = [...byCall.values()].flatMap((rows, group) => rows.map((row) => ({ ...row, group })));
    this.parts.post({
      type: 'files',
      runId: run.id,
      rows: [...own, ...grouped].slice(0, maxRows),
      count: rows.length,
      added: sum('added'),
      removed: sum('removed'),
      more: Math.max(0, own.length - maxRows),
      ...(groups.length > 0 && { groups }),
      ...(run.ran && { ran: run.ran }),
    });
    this.onRows();
  }

  private noteOrigins(toolCallId: string, changes: readonly StoredFileChange[] = []): void {
    const isRecorded = this.recorded.has(toolCallId);
    for (const { path: name, mixed } of changes) {
      const before = this.origins.get(name);
      const by = isRecorded && (!before || before.by !== undefined) && { by: toolCallId };
      const sameTime = (mixed || before?.sameTime) && { sameTime: true as const };
      this.origins.set(name, { ...by, ...sameTime });
    }
  }

  private fold(): void {
    const { run } = this;
    for (const event of this.events.splice(0)) {
      if (!run || event.runId !== run.id || event.seq <= run.seq) continue;
      if (event.type === 'tool-start' && event.snapshot !== undefined)
        this.recorded.set(event.toolCallId, toCallName({ line: event.command?.line ?? event.title, name: event.name }));
      else if (event.type === 'tool-start') run.ran = true;
      foldFileChanges(run, event);
      if (event.type === 'undo' || event.type === 'redo' || (event.type === 'tool-end' && event.moved)) this.all = true;
      if (event.type !== 'tool-end' && event.type !== 'command-changes') continue;
      if (event.unrecorded) run.ran = true;
      this.noteOrigins(event.toolCallId, event.changes);
      for (const { path: name } of event.changes ?? []) this.touched.add(name);
    }
  }

  /** Returns undefined if the file has no visible change. */
  private async rowOf(runId: string, name: string, file: FileChangedByRun): Promise<ChangedFileRow | undefined> {
    const { workspace, store } = this.parts;
    const absolute = this.absolutePath(name);
    if (absolute) this.names.set(path.normalize(absolute), name);
    if (file.from !== undefined) return { path: name, id: '', made: 'moved', from: file.from };
    const now = await readCurrentFileText(workspace, name);
    if (now?.file) this.names.set(path.normalize(now.file), name);
    const read = async (id: string | null) => (id === null ? null : store.contents.read(runId, id));
    if (file.kind !== undefined && file.after === null) {
      if (now?.id !== null) return undefined;
      const text = file.kind === 'file' ? await read(file.before).catch(() => null) : null;
      const since = text === null || text.includes('\0') ? undefined : compareFileVersions(text, null, null);
      return { path: name, id: '', made: 'deleted', ...(since && { added: 0, removed: since.removed }) };
    }
    if (file.kind !== undefined || file.afterKind !== undefined) return this.rowWithoutText(name, file);
    if (!now) return { path: name, id: file.after?.slice(0, 12) ?? '' };
    if (now.id === file.before) return undefined;
    if (absolute && (await this.committed.has(absolute, now.text, file.at))) return undefined;
    const since = await Promise.all([read(file.before), read(file.after)]).then(
      ([before, left]) => compareFileVersions(before, left, now.text),
      () => undefined, // no longer stored
    );
    const made = file.before === null ? 'new' : now.id === null ? 'deleted' : undefined;
    const isMixed = file.mixed || (since ? since.others : now.id !== file.after);
    return {
      path: name,
      id: now.id?.slice(0, 12) ?? '',
      ...(since && { added: since.added, removed: since.removed }),
      ...(made && { made }),
      ...(isMixed && this.mixed(name)),
    };
  }

  private mixed = (name: string): Pick<ChangedFileRow, 'mixed'> => ({
    mixed: this.origins.get(name)?.sameTime ? 'same-time' : true,
  });

  /** Row of a change between contents that are not text on both sides. */
  private async rowWithoutText(
    name: string,
    { before, after, afterKind, mixed }: FileChangedByRun,
  ): Promise<ChangedFileRow | undefined> {
    const kind = afterKind === 'link' || afterKind === 'folder' ? afterKind : 'file';
    const id = await currentContentId(this.parts.workspace, { path: name, kind, before: after }).catch(() => undefined);
    if (id === before) return undefined;
    const made = before === null ? 'new' : id === null ? 'deleted' : undefined;
    return {
      path: name,
      id: id?.slice(0, 12) ?? '',
      ...(made && { made }),
      ...((mixed || id !== after) && this.mixed(name)),
    };
  }

  private absolutePath(relative: string): string | undefined {
    const { roots } = this.parts.workspace;
    const name = relative.replace(/^@project\//, '');
    if (roots.length === 1) return path.join(roots[0]!.path, name);
    const [first, ...rest] = name.split('/');
    const root = roots.find((one) => one.name === first);
    return root && path.join(root.path, ...rest);
  }
}

const isUnrecordedCommand = ({ command, snapshot }: Extract<RunEvent, { type: 'tool-start' }>): boolean =>
  command !== undefined && snapshot === undefined;
