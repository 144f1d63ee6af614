import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import { t } from '../../protocol/text/l10n.ts';
import { onAbort } from '../../protocol/values/abort.ts';
import { ToolError } from '../../tools/core/tool.ts';
import { decodeText, maxTextFileBytes } from '../../tools/sandbox/fileText.ts';
import { readRegularFile } from '../../tools/sandbox/regularFile.ts';

/** Options of a save. An abort of `signal` ends the wait; `report` receives the reason of a long wait. */
export interface SaveOptions {
  signal?: AbortSignal;
  report?(text: string): void;
  /** Milliseconds: the maximum duration of a save, and the time until the wait is reported. */
  patience: { limit: number; silent: number };
}

/**
 * Saves a document with all formatters, code actions and extensions of the editor. On a timeout, restores the text `held` before throwing,
 * so that a late save changes nothing. Throws `ToolError`.
 * @returns the text on disk
 */
export async function saveDocument(document: vscode.TextDocument, held: string, saving: SaveOptions): Promise<string> {
  const ended = await endOf(document.save(), saving);
  if (ended === 'saved') return savedText(document).catch(() => document.getText()); // saved, even if deleted since
  await replaceDocumentText(document, held);
  const { limit } = saving.patience;
  throw ended === 'refused'
    ? new ToolError('TOOL_EXEC_FAILED', 'The editor could not save this file, so it was left as it was.')
    : new ToolError(
        ended === 'late' ? 'TOOL_TIMEOUT' : 'TOOL_INTERRUPTED',
        `The editor was not done with saving this file${ended === 'late' ? ` after ${Math.ceil(limit / 1000)} s` : ''}: a formatter, or ` +
          'another extension that runs when files are saved, did not end. The change was taken back.',
      );
}

async function endOf(saved: Thenable<boolean>, { signal, report, patience }: SaveOptions) {
  const over = new AbortController();
  const { signal: isOver } = over;
  const after = (ms: number) => sleep(ms, undefined, { signal: isOver, ref: false });
  after(patience.silent).then(
    () => report?.(`${t('Saving: waiting for a formatter or another extension that runs on save.')}\n`),
    () => undefined,
  );
  let stopListening = () => {};
  const stopped = new Promise<void>((resolve) => {
    stopListening = onAbort(signal, () => resolve());
  });
  try {
    return await Promise.race([
      Promise.resolve(saved).then(
        (done) => (done ? ('saved' as const) : ('refused' as const)),
        () => 'refused' as const,
      ),
      after(patience.limit).then(() => 'late' as const),
      stopped.then(async () => {
        await after(stillSaved);
        return 'stopped' as const;
      }),
    ]);
  } finally {
    stopListening();
    over.abort();
  }
}

/** Milliseconds for a save to end after a stop. */
const stillSaved = 400;

async function savedText(document: vscode.TextDocument): Promise<string> {
  const bytes = await readRegularFile(document.uri.fsPath, 2 * maxTextFileBytes);
  const { encoding } = document;
  const decoded = encoding.startsWith('utf') ? decodeText(bytes) : undefined;
  return decoded?.text ?? (await vscode.workspace.decode(bytes, { encoding })).replace(/^\uFEFF/, '');
}

export async function replaceDocumentText(document: vscode.TextDocument, text: string): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  const everything = new vscode.Range(0, 0, document.lineCount, 0);
  edit.replace(document.uri, document.validateRange(everything), text);
  if (!(await vscode.workspace.applyEdit(edit)))
    throw new ToolError('TOOL_EXEC_FAILED', 'The editor refused this change; the file may be read-only.');
}
