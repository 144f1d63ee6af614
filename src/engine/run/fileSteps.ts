import { readlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { RemovedFileKind } from '../../protocol/run/events.ts';
import { message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';
import type { RunBranchFileState } from '../../runs/branchFiles.ts';
import type { RunStore } from '../../runs/store.ts';
import type { UndoMove, UndoStep } from '../../runs/undoSteps.ts';
import { currentContentId } from '../../tools/changes/changeState.ts';
import { repairInterruptedFile } from '../../tools/changes/tornWrites.ts';
import { sweepTempFiles } from '../../tools/core/tempFiles.ts';
import type { FileModeAndEncoding } from '../../tools/core/tool.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { type ChangeTarget, findChangeTarget } from '../../tools/files/planChange.ts';
import { encodeForFile, readFileModeAndEncoding, sha256 } from '../../tools/sandbox/fileText.ts';
import { removeTree } from '../../tools/sandbox/fileTree.ts';
import { openForReading } from '../../tools/sandbox/openFile.ts';
import { type ResolvedPath, resolvePath } from '../../tools/sandbox/paths.ts';
import { createFile, createFolder, createLink, replaceFile } from '../../tools/sandbox/writeFile.ts';
import { existsInWorkspace, isEmptyOrNestedEmptyFolder, removeEmptyTree } from './emptyFolders.ts';

export type UndoFileStep = UndoStep & Partial<Pick<RunBranchFileState, 'of' | 'known' | 'bytes'>>;

export type UndoFileOperation = UndoFileStep | UndoMove;

interface Found {
  id: string | null;
  kind?: RemovedFileKind;
  /** Permissions of a file, if the step has them. */
  mode?: number;
  target?: ChangeTarget;
}

/**
 * Step with the content to write (null: no file) and the current content. `isDone`: the content is in place already, restored manually or
 * by an interrupted undo.
 */
export interface PreparedUndoStep {
  step: UndoFileStep;
  content: string | Buffer | null;
  found: Found;
  isDone: boolean;
}

/**
 * Checks the file of a step.
 *
 * @param path current path of the file
 * @throws UserFacingError if something is there that must not be replaced
 */
export async function prepareUndoStep(
  workspace: Workspace,
  step: UndoFileStep,
  content: PreparedUndoStep['content'],
  path: string,
): Promise<PreparedUndoStep> {
  const found = await findContent(workspace, step, path);
  const isDone = isContent(found, step.to, step.was?.kind) && hasMode(found, step);
  const isKnown =
    isDone || isContent(found, step.left, step.leftKind) || isBetween(step, found) || step.known?.includes(found.id);
  if (!isKnown && (Buffer.isBuffer(content) || step.leftKind))
    throw new UserFacingError(message('Something else is there now.'));
  return { step, content, found, isDone };
}

/** Tests if a file has the permissions of the state that the step restores; true if they are not recorded. */
export const hasMode = ({ mode }: Found, { was, form }: UndoFileStep): boolean =>
  mode === undefined || mode === (was?.mode ?? form?.mode ?? mode);

async function findContent(workspace: Workspace, step: UndoFileStep, path: string): Promise<Found> {
  const found = await findContentOfKind(workspace, step, path);
  if (step.leftMode === undefined || found.id === null || (found.kind !== undefined && found.kind !== 'file'))
    return found;
  const file = found.target?.file ?? (await resolvePath(workspace.roots, path, 'delete'));
  return { ...found, mode: (await readFileModeAndEncoding(file)).mode };
}

async function findContentOfKind(
  workspace: Workspace,
  { to, was, left, leftKind, bytes = [] }: UndoFileStep,
  path: string,
): Promise<Found> {
  for (const [id, kind] of [
    [to, was?.kind] as const,
    [left, leftKind] as const,
    ...bytes.map((id) => [id, 'file'] as const),
  ])
    if (kind && id !== null && (await currentContentId(workspace, { path, kind, before: id })) === id)
      return { id, kind };
  if ((to === null || left === null) && (await isEmptyFolder(workspace, path))) return { id: null };
  const target = await findChangeTarget(workspace, path, 'restore');
  return { id: target.before === null ? null : sha256(target.before), target };
}

const isEmptyFolder = async (workspace: Workspace, path: string): Promise<boolean> =>
  (await existsInWorkspace(workspace, path)) && (await isEmptyOrNestedEmptyFolder(workspace, path));

/** Ids of texts, bytes and link targets are comparable only with equal kinds. */
function isContent(found: Found, id: string | null, kind: RemovedFileKind | undefined): boolean {
  const formOfKind = (one: RemovedFileKind | undefined) => (one === undefined ? 'file' : one);
  return found.id === id && (id === null || formOfKind(found.kind) === formOfKind(kind));
}

const isBetween = ({ to, was, left, leftKind }: UndoFileStep, { id }: Found): boolean =>
  id === null && to !== null && left !== null && was?.kind !== leftKind;

export function isFileChangedSinceStep({ step, found, isDone }: PreparedUndoStep): boolean {
  if (isDone) return false;
  if (step.known) return !step.known.includes(found.id);
  if (isBetween(step, found)) return false;
  const hasOtherMode = step.leftMode !== undefined && found.mode !== undefined && found.mode !== step.leftMode;
  return !isContent(found, step.left, step.leftKind) || hasOtherMode || step.mixed === true;
}

/**
 * Checks the file again and applies the step, so that changes during the confirmation are not overwritten. Returns the form of a removed
 * file.
 */
export async function applyUndoStep(
  workspace: Workspace,
  one: PreparedUndoStep,
  path: string,
): Promise<FileModeAndEncoding | undefined> {
  const { step, content } = one;
  if (content !== null && step.left === null && step.was?.kind !== 'folder') await removeEmptyTree(workspace, path);
  const { found, isDone } = await prepareUndoStep(workspace, step, content, path);
  if (isDone) {
    const file = found.target?.file ?? (await resolvePath(workspace.roots, path, 'delete'));
    await sweepTempFiles(dirname(file.path));
    return undefined;
  }
  if (found.id !== one.found.id || found.kind !== one.found.kind || isMoved(one.found, found, path))
    throw fileChangedMeanwhileError();
  const operation = found.kind === undefined ? 'restore' : 'delete';
  const file = found.target?.file ?? (await resolvePath(workspace.roots, path, operation));
  const isText = found.id !== null && found.kind === undefined;
  const { kind, mode } = step.was ?? {};
  const isForeign = found.target?.foreign === true; // only the editor can write this encoding
  const staysText = typeof content === 'string' && isText;
  const form =
    isText && !isForeign && !staysText
      ? await readFileModeAndEncoding(file)
      : found.kind === 'file' && found.mode !== undefined
        ? { mode: found.mode }
        : undefined;
  const isReplaced = kind === 'file' && (isText || found.kind === 'file');
  if (found.kind === 'folder') {
    await removeEmptyTree(workspace, path);
    if (await existsInWorkspace(workspace, path)) throw new UserFacingError(message('Something else is there now.'));
  }
  if (found.kind !== 'folder' && found.id !== null && !isReplaced && !staysText)
    await (hasStoredBytes(step) ? removeTree(file.path) : workspace.delete(file.path));
  if (content === null) return form;
  if (typeof content === 'string') {
    if (!staysText && step.form) await createFile(file.path, encodeForFile(content, step.form), step.form.mode);
    else if (staysText && !isForeign && step.form && !workspace.isDirty(file.path))
      return rewriteAs(file, content, step.form);
    else await workspace.writeText(file.path, content, staysText ? found.target!.before : null, { exactly: true });
  } else if (isReplaced) await replaceFile(file.path, content, mode);
  else if (kind === 'link') await createLink(file.path, content.toString());
  else if (kind === 'folder') await createFolder(file.path, mode);
  else await createFile(file.path, content, mode);
  return form;
}

async function rewriteAs(file: ResolvedPath, text: string, form: NonNullable<UndoFileStep['form']>) {
  const before = await readFileModeAndEncoding(file);
  const mode = form.mode ?? before.mode;
  await replaceFile(file.path, encodeForFile(text, form), mode);
  return mode === undefined || (before.mode === mode && before.encoding === form.encoding) ? undefined : before;
}

const isMoved = ({ target: before }: Found, { target: now }: Found, path: string): boolean =>
  before !== undefined && now !== undefined && before.input === path && before.file.path !== now.file.path;

export const fileChangedMeanwhileError = () => new UserFacingError(message('It changed while the approval was open.'));

/** Repairs a partial write of an interrupted undo, which is not a foreign change. */
export async function repairPartialUndoWrites(
  workspace: Workspace,
  { contents }: RunStore,
  runId: string,
  { left, leftKind, path }: Pick<UndoFileStep, 'left' | 'leftKind' | 'path'>,
  to: PreparedUndoStep['content'],
): Promise<void> {
  if (typeof to !== 'string' || left === null || leftKind) return;
  const before = await contents.read(runId, left).catch(() => undefined);
  if (before !== undefined) await repairInterruptedFile(workspace, { path, before, after: to });
}

/** The content of any file of such a step is stored first, so that its removal needs no trash. */
const hasStoredBytes = ({ leftMode, bytes }: UndoFileStep): boolean => leftMode !== undefined || bytes !== undefined;

/** Stores the current content of a step's file, so that nothing is lost, and returns its ID; null if there is no file. */
export async function storeFoundContent(
  workspace: Workspace,
  { contents }: RunStore,
  runId: string,
  { step, found: { id, kind, target }, now }: PreparedUndoStep & { now: string | undefined },
): Promise<string | null> {
  const text = target?.before ?? null;
  if (text !== null) return contents.keep(runId, text);
  if (kind === undefined || id === null || !hasStoredBytes(step) || now === undefined) return id;
  if (kind === 'folder') return contents.keep(runId, '');
  const file = await resolvePath(workspace.roots, now, 'delete');
  if (kind === 'link') return contents.keep(runId, await readlink(file.path));
  const { handle } = await openForReading(file);
  try {
    return await contents.keep(runId, await handle.readFile());
  } finally {
    await handle.close();
  }
}

export async function readUndoStepContent(
  { contents }: RunStore,
  runId: string,
  step: UndoFileStep,
): Promise<PreparedUndoStep['content']> {
  const { to, was, of = runId } = step;
  if (to === null) return null;
  return was ? contents.readBytes(of, to) : contents.read(of, to);
}

export async function moveInWorkspace(workspace: Workspace, from: string, to: string): Promise<void> {
  const source = await resolvePath(workspace.roots, from, 'rename');
  await removeEmptyTree(workspace, to);
  const target = await resolvePath(workspace.roots, to, 'create');
  await workspace.move(source.path, target.path);
}
