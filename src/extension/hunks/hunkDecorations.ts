import * as vscode from 'vscode';
import { t } from '../../protocol/text/l10n.ts';
import { settings } from '../settings/settings.ts';
import type { DocumentHunk, RunHunks } from './runHunks.ts';

/** Milliseconds after a key until the decorations follow the text; until then the editor moves them. */
const pauseMs = 200;

/**
 * Decorations of the hunks of the displayed run in visible editors, and their CodeLenses. A hunk with an individual approval or a review has a
 * mark in the gutter only.
 */
export class HunkDecorations implements vscode.Disposable {
  private readonly changedLines = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor('diffEditor.insertedLineBackground'),
    overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.addedForeground'),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
  private readonly removedLines = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    borderWidth: '1px 0 0 0',
    borderStyle: 'dashed',
    borderColor: new vscode.ThemeColor('editorGutter.deletedBackground'),
    overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.deletedForeground'),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
  private readonly gutter = vscode.window.createTextEditorDecorationType({
    dark: { gutterIconPath: markOf('#4dabf7') },
    light: { gutterIconPath: markOf('#1864ab') },
    gutterIconSize: 'contain',
  });
  private readonly lenses = new vscode.EventEmitter<void>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private hasKeys = false;
  private readonly watches: vscode.Disposable[];

  constructor(
    private readonly hunks: RunHunks,
    private readonly failed: (error: unknown) => void,
  ) {
    const later = (pause: number) => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.show().catch(this.failed), pause);
    };
    const changed = () => {
      this.lenses.fire();
      later(0);
    };
    this.watches = [
      this.changedLines,
      this.removedLines,
      this.gutter,
      this.lenses,
      hunks.onDidChange(changed),
      vscode.window.onDidChangeVisibleTextEditors(() => later(0)),
      vscode.window.onDidChangeActiveTextEditor(() => later(0)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => hunks.has(document) && later(pauseMs)),
      vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration('towpath.editor') && changed()),
      vscode.languages.registerCodeLensProvider(
        { scheme: 'file' },
        { onDidChangeCodeLenses: this.lenses.event, provideCodeLenses: (document) => this.lensesOf(document) },
      ),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const one of this.watches) one.dispose();
  }

  private async show(): Promise<void> {
    const isOff = settings()['editor.decorations'] === 'off';
    const { activeTextEditor } = vscode.window;
    this.setKeys(activeTextEditor !== undefined && (await this.hunks.hunks(activeTextEditor.document)).length > 0);
    for (const editor of vscode.window.visibleTextEditors) {
      const { document } = editor;
      const hunks = isOff ? [] : await this.hunks.hunks(document);
      const prominent = hunks.filter(isProminent);
      editor.setDecorations(this.changedLines, prominent.filter(hasLines).map(decorationOf));
      editor.setDecorations(this.removedLines, prominent.filter((hunk) => !hasLines(hunk)).map(decorationOf));
      editor.setDecorations(this.gutter, hunks.map(decorationOf));
    }
  }

  /** Enables the keys of the commands for hunks where the active editor has some; elsewhere they keep their meaning. */
  private setKeys(areUsable: boolean): void {
    if (areUsable === this.hasKeys) return;
    this.hasKeys = areUsable;
    void vscode.commands.executeCommand('setContext', 'towpath.changesInEditor', areUsable);
  }

  private async lensesOf(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    if (settings()['editor.decorations'] === 'off' || !this.hunks.has(document)) return [];
    const hunks = await this.hunks.hunks(document);
    return hunks.filter(isProminent).flatMap(({ start, key }) => {
      const range = new vscode.Range(start, 0, start, 0);
      const lens = (title: string, command: string) =>
        new vscode.CodeLens(document.validateRange(range), { title, command, arguments: [document.uri, key] });
      return [lens(t('Undo'), 'towpath.undoChangeAtCursor'), lens(t('Mark as Reviewed'), 'towpath.markChangeReviewed')];
    });
  }
}

const isProminent = ({ automatic, reviewed }: DocumentHunk): boolean =>
  !reviewed && (automatic || settings()['editor.decorations'] === 'all');

const hasLines = ({ start, end }: DocumentHunk): boolean => start < end;

const decorationOf = ({ start, end, automatic }: DocumentHunk): vscode.DecorationOptions => ({
  range: new vscode.Range(start, 0, Math.max(start, end - 1), 0),
  hoverMessage: automatic
    ? t('Changed by this run without an individual approval.')
    : t('Changed by this run, allowed by you.'),
});

function markOf(color: string): vscode.Uri {
  const image = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect x="6" width="3" height="16" fill="${color}"/></svg>`;
  return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(image).toString('base64')}`);
}
