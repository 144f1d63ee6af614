import { message } from '../../protocol/text/l10n.ts';
import { localize, messageOf, UserFacingError } from '../../protocol/text/localized.ts';
import { fileHunks, textWithoutHunk } from '../../tools/changes/fileHunks.ts';
import { findChangeTarget } from '../../tools/files/planChange.ts';
import { sha256 } from '../../tools/sandbox/fileText.ts';
import type { RunLog } from '../core/runLog.ts';
import { currentFileVersion, fileVersionOfRun } from './runFileVersion.ts';
import {
  applyUndoOperations,
  recordUndo,
  type UndoConfirmation,
  type UndoResult,
  type undoFileChanges,
} from './undo.ts';

/** Undo of one hunk of a file. `key`: see `FileHunk`. */
export interface HunkUndoRequest {
  hunk: { path: string; key: string };
}

/**
 * Restores the lines of one hunk to the text before the run. Later changes of the file stay; a hunk with changes of others in it is left.
 * The run and the model are informed.
 */
export async function undoHunk(
  log: RunLog,
  parts: Parameters<typeof undoFileChanges>[1],
  { hunk: { path, key } }: HunkUndoRequest,
  ask: UndoConfirmation,
): Promise<UndoResult> {
  const { contents } = parts.store;
  const { id: runId } = log.run;
  const leave = (error: unknown): UndoResult => ({ undone: [], left: [{ path, why: localize(messageOf(error)) }] });
  const left = await fileVersionOfRun(log.run, path, (id) => contents.read(runId, id));
  if (!left) return leave(new UserFacingError(message('The content before this run is no longer stored.')));
  const text = await findChangeTarget(parts.workspace, path, 'restore').then(
    ({ before }) => before,
    (error: unknown) => leave(error),
  );
  if (typeof text === 'object' && text !== null) return text;
  const version = text === null ? undefined : currentFileVersion(left, text, sha256(text));
  const hunk = version && fileHunks(version).find((one) => one.key === key);
  if (text === null || !version || !hunk)
    return leave(new UserFacingError(message('This change is no longer in the file.')));
  if (hunk.edited)
    return leave(new UserFacingError(message('These lines were also changed by you. Undo would lose your change.')));

  const restored = textWithoutHunk(text, version, hunk);
  const to = left.isNew && restored === '' ? null : await contents.keep(runId, restored);
  const step = { at: path, path, place: path, paths: [], to, left: sha256(text), toolCallIds: [], order: 0 };
  const done = await applyUndoOperations(log, parts, { operations: [step], left: [] }, ask);
  return recordUndo(log, done, actionOnLines(hunk.start, hunk.end), (paths) => ({
    line: message('You undid a part of the changes in {0}', paths),
    whole: true,
  }));
}

/** Action of the user on lines of the text before the undo, counted from 1, for the model. */
function actionOnLines(start: number, end: number): string {
  if (start === end) return `has restored lines that you had removed before line ${start + 1} in`;
  return `has undone your change of ${end - start === 1 ? `line ${end}` : `lines ${start + 1} to ${end}`} in`;
}
