import * as vscode from 'vscode';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import { type ApprovalRequest, editableApprovalText } from '../../tools/core/tool.ts';

const scheme = 'towpath-review';

/**
 * Review of one approval. `uri` is the editable side, with the approval's id as authority. `untouched` is the initial text as normalized by
 * the editor; undefined if earlier work of the user was restored. `seen`: the review was opened.
 */
interface Review {
  request: ApprovalRequest;
  uri: vscode.Uri;
  untouched?: string;
  seen: boolean;
}

/**
 * Review editors of approvals: the diff, the command, or the arguments as JSON. The text is editable if the approval allows edits; `edited`
 * returns the user's version. Implemented as a file system with a private scheme instead of untitled documents, so that saving never asks
 * for a location.
 */
export class ApprovalReviewEditors implements vscode.FileSystemProvider {
  private readonly reviews = new Map<string, Review>();
  private readonly files = new Map<string, { bytes: Uint8Array; readonly: boolean; written: number }>();
  private readonly fileEvents = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.fileEvents.event;

  register(): vscode.Disposable {
    void this.closeSettled(); // closes tabs of an earlier window, whose approvals are obsolete
    return vscode.Disposable.from(
      this.fileEvents,
      vscode.workspace.registerFileSystemProvider(scheme, this, { isCaseSensitive: true }),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document.uri.scheme === scheme) this.updateChangedContext();
      }),
      vscode.window.tabGroups.onDidChangeTabs(() => {
        this.updateSeveralContext();
        void this.closeSettled(); // a tab may appear after its approval is settled
      }),
      vscode.window.tabGroups.onDidChangeTabGroups(() => this.updateSeveralContext()),
    );
  }

  async open(requests: readonly ApprovalRequest[]): Promise<void> {
    const reviews = await Promise.all(requests.map((request) => this.prepare(request)));
    const [first, ...more] = reviews;
    const opening = more.length > 0 ? this.openAll(reviews) : this.openOne(first!);
    await this.openedOrClosed(reviews, opening);
    for (const review of reviews) review.seen = true;
  }

  private async openOne({ request, uri }: Review): Promise<void> {
    const title = t('{0} (proposed)', escapeInvisibleInLine(request.plan.what));
    const options = { preview: true };
    if (request.plan.change)
      await vscode.commands.executeCommand('vscode.diff', this.before(request), uri, title, options);
    else await vscode.window.showTextDocument(uri, options);
  }

  /** Waits for an editor to open. An editor closed in between may never report. */
  private async openedOrClosed(reviews: readonly Review[], opening: Promise<void>): Promise<void> {
    const ids = reviews.map(({ request }) => request.id);
    let listener: vscode.Disposable | undefined;
    const closed = new Promise<void>((resolve) => {
      listener = vscode.window.tabGroups.onDidChangeTabs((change) => {
        if (change.closed.some((tab) => this.idsIn(tab).some((id) => id !== undefined && ids.includes(id)))) resolve();
      });
    });
    await Promise.race([opening, closed]).finally(() => listener?.dispose());
  }

  /** Returns the user's version; undefined if unchanged. */
  edited(request: ApprovalRequest): string | undefined {
    const review = this.reviews.get(request.id);
    const text = review && (openDocument(review.uri)?.getText() ?? this.saved(review.uri));
    if (text === undefined || text === review?.untouched || text === editableApprovalText(request)) return undefined;
    // An editor may add a final line end on save; a command has none.
    return request.plan.command === undefined ? text : text.replace(/\r?\n$/, '');
  }

  has(request: ApprovalRequest): boolean {
    return this.reviews.get(request.id)?.seen === true;
  }

  /** Returns the ids of the approvals in an active common review; empty for other tabs. */
  severalInFront(): ReadonlySet<string> {
    return this.unsettled(this.severalIn(frontTab()));
  }

  get oneInFront(): string | undefined {
    const tab = frontTab();
    return tab && this.idOf(uriOf(tab));
  }

  inFront(): ReadonlySet<string> {
    return this.unsettled(this.idsIn(frontTab()));
  }

  private unsettled(ids: readonly (string | undefined)[]): ReadonlySet<string> {
    return new Set(ids.filter((id) => id !== undefined && this.reviews.has(id)) as string[]);
  }

  private idsIn(tab: vscode.Tab | undefined): (string | undefined)[] {
    const several = this.severalIn(tab);
    return several.length > 0 ? several : [tab && this.idOf(uriOf(tab))];
  }

  /** Returns the ids of a tab with several diffs; the editor's API has no type for this input. */
  private severalIn(tab: vscode.Tab | undefined): string[] {
    const { textDiffs } = Object(tab?.input) as { textDiffs?: { modified?: vscode.Uri }[] };
    const ids = Array.isArray(textDiffs) ? textDiffs.map(({ modified }) => this.idOf(modified)) : [];
    return ids.every((id) => id !== undefined) ? ids : []; // foreign tab that includes one of these texts
  }

  idOf(uri: vscode.Uri | undefined): string | undefined {
    return uri?.scheme === scheme ? uri.authority.replace(/^before\./, '') : undefined;
  }

  async forget(request: ApprovalRequest): Promise<void> {
    const review = this.reviews.get(request.id);
    if (!review) return;
    this.reviews.delete(request.id);
    this.updateChangedContext();
    const document = openDocument(review.uri);
    if (document?.isDirty) await document.save(); // otherwise closing would show a save dialog
    await this.closeSettled();
    this.updateSeveralContext();
    for (const uri of this.files.keys()) if (this.idOf(vscode.Uri.parse(uri)) === request.id) this.files.delete(uri);
  }

  private async closeSettled(): Promise<void> {
    const settled = allTabs().filter((tab) => {
      return !tab.isDirty && this.idsIn(tab).every((id) => id !== undefined && !this.reviews.has(id));
    });
    if (settled.length === 0) return;
    try {
      await vscode.window.tabGroups.close(settled, true);
    } catch {
      // Already closed, or the next tab change retries.
    }
  }

  private async openAll(reviews: Review[]): Promise<void> {
    const title = t('Towpath: {0} calls (proposed)', reviews.length);
    const sides = reviews.map(({ request, uri }) => [uri, this.before(request), uri]);
    await vscode.commands.executeCommand('vscode.changes', title, sides);
    this.updateSeveralContext();
  }

  private async prepare(request: ApprovalRequest): Promise<Review> {
    const known = this.reviews.get(request.id);
    if (known) return known;
    const { change, command } = request.plan;
    const editable = editableApprovalText(request);
    const text = request.draft ?? editable ?? change?.after ?? command ?? '';
    const uri = this.file(request.id, nameOf(request), text, editable === undefined);
    const review: Review = { request, uri, seen: false };
    this.reviews.set(request.id, review);
    const document = await vscode.workspace.openTextDocument(review.uri, { encoding: 'utf8' });
    if (request.draft === undefined) review.untouched = document.getText();
    return review;
  }

  private before(request: ApprovalRequest): vscode.Uri {
    return this.file(`before.${request.id}`, nameOf(request), request.plan.change?.before ?? '', true);
  }

  private file(authority: string, name: string, text: string, readonly: boolean): vscode.Uri {
    const uri = vscode.Uri.from({ scheme, authority, path: `/${name}` });
    this.files.set(uri.toString(), { bytes: Buffer.from(text), readonly, written: 1 });
    return uri;
  }

  private saved(uri: vscode.Uri): string | undefined {
    const file = this.files.get(uri.toString());
    return file && Buffer.from(file.bytes).toString();
  }

  private updateChangedContext(): void {
    const changed = [...this.reviews.values()].filter(({ request }) => this.edited(request) !== undefined);
    const uris = changed.map(({ uri }) => uri.toString());
    void vscode.commands.executeCommand('setContext', 'towpath.changedReviews', uris);
  }

  private updateSeveralContext(): void {
    void vscode.commands.executeCommand('setContext', 'towpath.reviewsSeveral', this.severalInFront().size > 0);
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const { bytes, readonly, written } = this.found(uri);
    return {
      type: vscode.FileType.File,
      ctime: 0,
      mtime: written,
      size: bytes.byteLength,
      ...(readonly && { permissions: vscode.FilePermission.Readonly }),
    };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    return this.found(uri).bytes;
  }

  writeFile(uri: vscode.Uri, bytes: Uint8Array): void {
    const file = this.found(uri);
    if (file.readonly) throw vscode.FileSystemError.NoPermissions(uri);
    this.files.set(uri.toString(), { bytes, readonly: false, written: file.written + 1 });
    this.fileEvents.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  watch = (): vscode.Disposable => new vscode.Disposable(() => {});
  readDirectory = (): [] => [];
  createDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }
  delete(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }
  rename(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  private found(uri: vscode.Uri) {
    const file = this.files.get(uri.toString());
    if (!file) throw vscode.FileSystemError.FileNotFound(uri);
    return file;
  }
}

const nameOf = ({ plan: { change, command } }: ApprovalRequest) =>
  change?.path ?? (command === undefined ? 'arguments.json' : 'command.sh');

const frontTab = () => vscode.window.tabGroups.activeTabGroup.activeTab;

const allTabs = () => vscode.window.tabGroups.all.flatMap((group) => group.tabs);

const openDocument = (uri: vscode.Uri) =>
  vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());

function uriOf({ input }: vscode.Tab): vscode.Uri | undefined {
  if (input instanceof vscode.TabInputTextDiff) return input.modified;
  return input instanceof vscode.TabInputText ? input.uri : undefined;
}
