import path from 'node:path';
import * as vscode from 'vscode';
import { currentFileVersion, type FileVersionOfRun, fileVersionOfRun } from '../../engine/run/runFileVersion.ts';
import type { ChangedFileRow } from '../../protocol/panel/panelMessages.ts';
import type { RunStore } from '../../runs/store.ts';
import { type FileHunk, fileHunks, hunksMissingIn, isComparableText } from '../../tools/changes/fileHunks.ts';
import { sha256 } from '../../tools/sandbox/fileText.ts';
import { activeGitApi } from '../commit/committed.ts';
import { isHunkReviewed, reviewOfContent, reviewWithHunk } from '../review/reviewedHunks.ts';
import type { ChangedFiles } from '../runs/changedFiles.ts';
import type { PanelConversation } from '../runs/conversation.ts';

interface Dependencies {
  changedFiles: ChangedFiles;
  conversation: Pick<PanelConversation, 'runId' | 'run'>;
  store: RunStore;
  failed(error: unknown): void;
}

/** Hunk of the displayed run in a document. */
export interface DocumentHunk extends FileHunk {
  reviewed: boolean;
}

/** Changed text file of the displayed run. `state`: identifies the state that the run has left. */
interface RunFile {
  runId: string;
  row: ChangedFileRow;
  state: string;
  left: () => Promise<FileVersionOfRun | undefined>;
}

interface Computed {
  file: RunFile;
  version: number;
  all: FileHunk[];
  unstaged: FileHunk[];
}

/** Hunks of the displayed run in open documents. Staged and committed hunks are omitted. */
export class RunHunks implements vscode.Disposable {
  private files = new Map<string, RunFile>();
  private computed = new WeakMap<vscode.TextDocument, Computed>();
  private readonly staged = new Map<string, Promise<string | undefined>>();
  private readonly watched = new Set<unknown>();
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private readonly watches: vscode.Disposable[] = [this.changed];
  private updating: Promise<void> = Promise.resolve();

  constructor(private readonly parts: Dependencies) {
    parts.changedFiles.onRows = () => {
      this.updating = this.updating.then(() => this.update()).catch((error) => parts.failed(error));
    };
  }

  dispose(): void {
    for (const one of this.watches) one.dispose();
  }

  /** Paths of the changed files, in the order of the list. */
  async paths(): Promise<string[]> {
    await this.updating;
    return [...this.files.keys()];
  }

  has(document: vscode.TextDocument): boolean {
    return this.fileOf(document) !== undefined;
  }

  /** Returns the hunks of the current text, computed once per version of the document. */
  async hunks(document: vscode.TextDocument): Promise<DocumentHunk[]> {
    await this.updating;
    const computed = await this.compute(document);
    if (!computed) return [];
    const { runId, row } = computed.file;
    const review = this.parts.changedFiles.reviewedIn(runId)[row.path];
    return computed.unstaged.map((hunk) => ({ ...hunk, reviewed: isHunkReviewed(review, row.id, hunk.key) }));
  }

  /** Returns the run and the path in the run of a document. */
  locate(document: vscode.TextDocument): { runId: string; path: string } | undefined {
    const file = this.fileOf(document);
    return file && { runId: file.runId, path: file.row.path };
  }

  async markReviewed(document: vscode.TextDocument, key: string): Promise<void> {
    const computed = await this.compute(document);
    if (!computed) return;
    const { runId, row } = computed.file;
    const review = this.parts.changedFiles.reviewedIn(runId)[row.path];
    const keys = computed.all.map((hunk) => hunk.key);
    this.parts.changedFiles.storeReview(runId, row.path, reviewWithHunk(review, row.id, key, keys));
  }

  private fileOf({ uri }: vscode.TextDocument): RunFile | undefined {
    return uri.scheme === 'file' ? this.files.get(path.normalize(uri.fsPath)) : undefined;
  }

  private async update(): Promise<void> {
    const { changedFiles, conversation } = this.parts;
    const { runId } = conversation;
    const rows = runId === undefined ? [] : await changedFiles.rows(runId);
    const files = new Map<string, RunFile>();
    for (const { row, file, absolute } of rows) {
      if (absolute === undefined || file.kind || file.afterKind || row.made === 'deleted') continue;
      const name = path.normalize(absolute);
      const state = JSON.stringify([runId, row.path, file.before, file.after, file.at]);
      const known = this.files.get(name);
      const left = known?.state === state ? known.left : this.readLater(runId!, row.path);
      files.set(name, { runId: runId!, row, state, left });
    }
    this.files = files;
    this.changed.fire();
    await this.updateReviews();
  }

  /** Reads a run only when one of its files is open. */
  private readLater(runId: string, name: string): RunFile['left'] {
    const { conversation, store } = this.parts;
    const read = async () => {
      const run = await conversation.run();
      return run?.id === runId ? fileVersionOfRun(run, name, (id) => store.contents.read(runId, id)) : undefined;
    };
    let version: ReturnType<typeof read> | undefined;
    return () => {
      version ??= read();
      return version;
    };
  }

  /** Keeps a file reviewed whose hunks are all reviewed, after a change elsewhere in it. */
  private async updateReviews(): Promise<void> {
    for (const document of vscode.workspace.textDocuments) {
      const computed = document.isDirty ? undefined : await this.compute(document);
      if (!computed) continue;
      const { runId, row } = computed.file;
      const review = this.parts.changedFiles.reviewedIn(runId)[row.path];
      const keys = computed.all.map(({ key }) => key);
      const whole = reviewOfContent(review, row.id, keys);
      if (whole && row.id && sha256(document.getText()).startsWith(row.id))
        this.parts.changedFiles.storeReview(runId, row.path, whole);
    }
  }

  private async compute(document: vscode.TextDocument): Promise<Computed | undefined> {
    const file = this.fileOf(document);
    if (!file) return undefined;
    const known = this.computed.get(document);
    if (known && known.version === document.version && known.file.state === file.state) {
      known.file = file;
      return known;
    }
    const left = await file.left();
    const staged = await this.stagedText(document.uri.fsPath);
    const { version } = document;
    const text = document.getText();
    if (!left || !isComparableText(text)) return undefined;
    const now = currentFileVersion(left, text, sha256(text));
    const all = fileHunks(now);
    const unstaged = staged === undefined ? all : hunksMissingIn(staged, now.lines, all);
    const computed = { file, version, all, unstaged };
    this.computed.set(document, computed);
    return computed;
  }

  /** Returns the text of a file in the index of Git; undefined if Git does not track the file. */
  private stagedText(file: string): Promise<string | undefined> {
    const repository = activeGitApi()?.getRepository(vscode.Uri.file(file));
    if (!repository) return Promise.resolve(undefined);
    if (!this.watched.has(repository)) {
      this.watched.add(repository);
      this.watches.push(
        repository.state.onDidChange(() => {
          this.staged.clear();
          this.computed = new WeakMap();
          this.changed.fire();
        }),
      );
    }
    const known = this.staged.get(file) ?? repository.show('', file).catch(() => undefined);
    this.staged.set(file, known);
    return known;
  }
}
