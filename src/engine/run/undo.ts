import type { SystemNote } from '../../protocol/content/messages.ts';
import type { RepositoryChange } from '../../protocol/content/repositoryChange.ts';
import type { FileChangeByUndo, UndoneMove } from '../../protocol/run/events.ts';
import { message, t } from '../../protocol/text/l10n.ts';
import { type LocalizableText, localize, messageOf, UserFacingError } from '../../protocol/text/localized.ts';
import type { RestorableRunBranchFiles } from '../../runs/branchFiles.ts';
import type { RunStore } from '../../runs/store.ts';
import {
  isUndoMove,
  redoOperations,
  type UndoMove,
  undoOperations,
  withLaterRestorations,
} from '../../runs/undoSteps.ts';
import type { FileModeAndEncoding } from '../../tools/core/tool.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { pathsForModel } from '../../tools/policy/pathsForModel.ts';
import type { RunLog } from '../core/runLog.ts';
import {
  applyRepositoryUndo,
  type PreparedRepositoryUndo,
  prepareRepositoryUndo,
  previewRepositoryUndo,
  type RepositoryUndoPreview,
  redoOfRepositoryUndo,
} from './applyRepositoryUndo.ts';
import { existsInWorkspace } from './emptyFolders.ts';
import {
  applyUndoStep,
  fileChangedMeanwhileError,
  isFileChangedSinceStep,
  moveInWorkspace,
  type PreparedUndoStep,
  prepareUndoStep,
  readUndoStepContent,
  repairPartialUndoWrites,
  storeFoundContent,
  type UndoFileOperation,
  type UndoFileStep,
} from './fileSteps.ts';
import { planRepositoryUndos, type RepositoryUndo } from './planRepositoryUndo.ts';
import { createReturnedFileFinder } from './returnedFiles.ts';
import {
  countAppliedUndoOperations,
  isFolderEmptiedBeforeUndo,
  isUndoResultCovered,
  listedUndoPaths,
  type Origin,
  pathAfterUndoOperations,
  pathWithoutMoves,
  undoOperationOrigins,
} from './undoProgress.ts';

export interface UndoRequest {
  toolCallIds: readonly string[];
  paths?: readonly string[];
}

export interface RedoRequest {
  undo: number;
}

/**
 * Confirmation before an undo; paths are workspace-relative. `changedSince`: files with later changes, which the undo would lose;
 * `sameTime`: files and repositories that something else may have changed at the same time, absent if none. No path is in both lists.
 * `repositories`: effects on Git; their paths are among `paths`.
 */
export interface UndoConfirmationRequest {
  paths: string[];
  changedSince: string[];
  sameTime?: string[];
  repositories?: RepositoryUndoPreview[];
}

/** Files to restore: `unchanged` excludes both lists of the request; paths are chosen paths of the request. */
export type UndoConfirmationAnswer = 'all' | 'unchanged' | 'none' | readonly string[];

export interface UndoResult {
  undone: string[];
  left: { path: string; why: string }[];
}

interface Dependencies {
  store: RunStore;
  workspace: Workspace;
  problem?: LocalizableText;
}
/** Confirms an undo with the user. */
export type UndoConfirmation = (question: UndoConfirmationRequest) => Promise<UndoConfirmationAnswer>;

interface Work {
  operations: readonly UndoFileOperation[];
  repositories?: readonly RepositoryUndo[];
  left: UndoResult['left'];
}

/**
 * Restores files to the state before the chosen calls, after a confirmation. Current contents are stored first, so that nothing is lost.
 * The run and the model are informed. Throws `StoreError` if storing fails.
 */
export async function undoFileChanges(
  log: RunLog,
  parts: Dependencies,
  { toolCallIds, paths }: UndoRequest,
  ask: UndoConfirmation,
): Promise<UndoResult> {
  const operations = undoOperations(log.run, toolCallIds, paths).map((one) => withLaterRestorations(log.run, one));
  const repositories = planRepositoryUndos(log.run, toolCallIds, paths);
  const done = await applyUndoOperations(log, parts, { operations, repositories, left: [] }, ask);
  return recordUndo(log, done, 'has undone your changes of', (paths) => ({
    line: message('You undid the changes in {0}', paths),
    whole: true,
  }));
}

/** Restores files changed by another branch or by others to the state of this run. */
export async function restoreFilesOfConversationBranch(
  log: RunLog,
  parts: Dependencies,
  { files, left }: RestorableRunBranchFiles,
  ask: UndoConfirmation,
): Promise<UndoResult> {
  const operations = files.map(
    (file, order): UndoFileStep => ({
      ...file,
      at: file.path,
      place: file.path,
      paths: [],
      left: null,
      toolCallIds: [],
      order,
    }),
  );
  const done = await applyUndoOperations(log, parts, { operations, left }, ask);
  return recordUndo(log, done, 'has put back, as they are in this conversation', (paths) => ({
    line: message(
      'The model is informed: you {0}',
      message('have restored, as in this conversation: {0}. Read again before you edit', paths),
    ),
  }));
}

/**
 * Redoes an undo: all files, or none if one has changed since, with the names in `left`. No data is lost, therefore no confirmation is
 * needed.
 */
export async function redoFileChanges(
  log: RunLog,
  parts: Dependencies,
  { undo: seq }: RedoRequest,
): Promise<UndoResult> {
  const undone = log.run.undos?.find((one) => one.seq === seq);
  if (!undone) return { undone: [], left: [] };
  let changed: string[] = [];
  const repositories = (undone.repositories ?? []).map(
    (one): RepositoryUndo => ({ change: redoOfRepositoryUndo(one), toolCallIds: undone.toolCallIds, pushed: [] }),
  );
  const { result, toolCallIds, ...effects } = await applyUndoOperations(
    log,
    parts,
    { operations: redoOperations(undone), repositories, left: [] },
    async ({ changedSince }) => {
      changed = changedSince;
      return changed.length > 0 ? 'none' : 'all';
    },
    true,
  );
  if (changed.length > 0)
    return { undone: [], left: changed.map((path) => ({ path, why: t('It has changed since.') })) };
  if (result.undone.length > 0) {
    await log.emit({ type: 'redo', undo: seq, toolCallIds, ...effects });
    const action = toolCallIds.length > 0 ? 'has redone your changes of' : 'has taken back what was restored';
    const redone = (paths: string): SystemNote => ({
      line: message('You redid the changes in {0}', paths),
      whole: true,
    });
    await reportToModel(log, `The user ${action}:`, result.undone, toolCallIds.length > 0 ? redone : undefined);
  }
  return result;
}

export async function recordUndo(log: RunLog, done: Done, action: string, noteOf: NoteOf): Promise<UndoResult> {
  const { result, ...effects } = done;
  if (result.undone.length === 0) return result;
  await log.emit({ type: 'undo', ...effects });
  await reportToModel(log, `The person ${action}:`, result.undone, noteOf);
  return result;
}

type NoteOf = (paths: string) => SystemNote;

function reportToModel(log: RunLog, heading: string, paths: readonly string[], noteOf?: NoteOf): Promise<void> {
  const names = named(paths);
  const content = `${heading} ${named(pathsForModel(paths))}. Read again before you edit.`;
  return log.emit({ type: 'message', message: { role: 'system', content, ...(noteOf && { note: noteOf(names) }) } });
}

interface Done {
  result: UndoResult;
  changes: FileChangeByUndo[];
  moves: UndoneMove[];
  paths: string[];
  toolCallIds: string[];
  repositories?: RepositoryChange[];
}

interface Ready extends PreparedUndoStep {
  step: UndoFileStep;
  index: number;
  now: string | undefined;
  expected: string | null;
  isLate: boolean;
}

/**
 * Applies the operations in order. Effects of an interrupted undo are detected and skipped.
 *
 * @param isWhole applies nothing if any step fails the check
 */
export async function applyUndoOperations(
  log: RunLog,
  parts: Dependencies,
  { operations, repositories = [], left }: Work,
  ask: UndoConfirmation,
  isWhole = false,
): Promise<Done> {
  const { store, workspace, problem } = parts;
  const { run } = log;
  const done: Done = { result: { undone: [], left: [...left] }, changes: [], moves: [], paths: [], toolCallIds: [] };
  const leave = (path: string, error: unknown) => done.result.left.push({ path, why: localize(messageOf(error)) });
  const checkStatePath = (path: string) => {
    if (problem !== undefined && path.startsWith('@state/')) throw new UserFacingError(problem);
  };

  const first = await countAppliedUndoOperations(workspace, operations);
  const origins = undoOperationOrigins(operations, first);
  const inOrder = [...operations.entries()].sort(([, one], [, other]) => one.order - other.order);
  const ready = new Map<number, Ready>();
  for (const [index, step] of inOrder)
    if (!isUndoMove(step))
      try {
        checkStatePath(step.path);
        const one = await prepare(log, parts, operations, index, first, origins.get(index));
        if (!step.known || !one.isDone) ready.set(index, one);
      } catch (error) {
        leave(step.path, error);
      }
  const readyRepositories: PreparedRepositoryUndo[] = [];
  for (const one of repositories)
    await prepareRepositoryUndo(parts, run.id, one).then(
      (ready) => readyRepositories.push(ready),
      (error) => leave(one.change.path, error),
    );
  if (isWhole && done.result.left.length > 0) return done;
  const steps = [...ready.values()];
  const moves = operations.filter(isUndoMove);
  const changed = steps.filter(isFileChangedSinceStep);
  const isMixed = ({ change }: RepositoryUndo) => change.mixed === true;
  const sameTime = [
    ...changed.flatMap(({ step }) => (step.sameTime ? [step.path] : [])),
    ...readyRepositories.filter(isMixed).map(({ change }) => change.path),
  ];
  const changedSince = changed.flatMap(({ step }) => (step.sameTime ? [] : [step.path]));
  const asked = [
    ...listedUndoPaths([...steps.map(({ step }) => step), ...moves]),
    ...readyRepositories.map(({ change }) => change.path),
  ];
  const question = {
    paths: asked,
    changedSince,
    ...(sameTime.length > 0 && { sameTime }),
    ...(readyRepositories.length > 0 && { repositories: readyRepositories.map(previewRepositoryUndo) }),
  };
  const answer = asked.length > 0 ? await ask(question) : 'none';
  if (answer === 'none') return done;

  const isListed = Array.isArray(answer) ? new Set<string>(answer) : undefined;
  const isAsked = new Set(asked);
  const isChosen = (one: Ready) =>
    answer === 'all' ||
    (isListed && isAsked.has(one.step.path) ? isListed.has(one.step.path) : !isFileChangedSinceStep(one));
  const changes = new Map<Ready, FileChangeByUndo>();
  const failed = new Set<UndoMove>();
  const movedBack = new Set<Ready>();
  const findReturnedFile = createReturnedFileFinder(operations, ready);
  const put = async (one: Ready) => {
    if (movedBack.has(one)) return;
    const isBefore = one.index < first;
    const path = isBefore ? (one.now ?? one.step.at) : pathWithoutMoves(operations, one.step.at, one.index, failed);
    const found = one.now === undefined && !one.isDone ? await lookAgain(workspace, one, path) : one;
    const before = found.isDone
      ? one.step.left
      : await storeFoundContent(workspace, store, run.id, { ...found, now: path });
    const target = isBefore ? undefined : await findReturnedFile(found, (other) => movedBack.has(other));
    if (target && isChosen(target)) {
      movedBack.add(target);
      const to = pathWithoutMoves(operations, target.step.at, target.index, failed);
      await moveBack(workspace, found, path, to);
      changes.set(target, changeOf(target, null, undefined, to));
    }
    const isGone = target !== undefined || (one.isDone && one.now === undefined);
    const form = isGone ? undefined : await applyUndoStep(workspace, found, path);
    changes.set(one, changeOf(found, before, form, isBefore ? one.step.at : path));
  };
  const move = async (index: number, one: UndoMove) => {
    const [from, to] = [one.from, one.to].map((path) => pathWithoutMoves(operations, path, index, failed));
    for (const path of [from!, to!]) checkStatePath(path);
    if (
      !(await existsInWorkspace(workspace, from!)) &&
      ((await existsInWorkspace(workspace, to!)) || isFolderEmptiedBeforeUndo(operations, index))
    )
      return;
    await moveInWorkspace(workspace, from!, to!);
  };
  const restored: { paths: string[]; toolCallIds: string[] }[] = [];
  const chosen = steps.filter(isChosen);
  const late = chosen.filter(({ isLate }) => isLate);
  const onTime = [...operations.entries()].flatMap(([index, one]): (Ready | [number, UndoMove])[] => {
    if (isUndoMove(one)) return index < first ? [] : [[index, one]];
    const step = ready.get(index);
    return step && !step.isLate && isChosen(step) ? [step] : [];
  });
  const putRepositories = async () => {
    for (const one of readyRepositories) {
      const { path } = one.change;
      if (isListed ? !isListed.has(path) : answer === 'unchanged' && isMixed(one)) {
        leave(path, new UserFacingError(message(reasonToLeave({ sameTime: true }))));
        continue;
      }
      const change = await applyRepositoryUndo(parts, run.id, one).catch((error) => leave(path, error));
      if (typeof change !== 'object') continue;
      done.repositories = [...(done.repositories ?? []), change];
      restored.push({ paths: [path], toolCallIds: one.toolCallIds });
      for (const name of one.prepared.left)
        leave(`${path}/${name}`, new UserFacingError(message('It has changed since.')));
    }
  };
  if (isWhole) await putRepositories(); // a `.git` file keeps its folder: it goes first and comes last
  for (const one of [...late, ...onTime])
    if (Array.isArray(one))
      await move(...one).catch((error) => {
        leave(one[1].paths[0]!, error);
        failed.add(one[1]);
      });
    else await put(one).catch((error) => leave(one.step.path, error));
  for (const one of steps)
    if (!isChosen(one)) leave(one.step.path, new UserFacingError(message(reasonToLeave(one.step))));
  if (!isWhole) await putRepositories();

  const finished = steps.filter((one) => changes.has(one));
  const moved = moves.filter((one) => !failed.has(one));
  const all = [...finished.map(({ step }) => step), ...moved];
  done.result.undone = [...listedUndoPaths(all), ...restored.map(({ paths }) => paths[0]!)];
  done.changes = finished.map((one) => changes.get(one)!);
  done.moves = moved.map((one) => ({ from: one.from, to: one.to, step: operations.indexOf(one) }));
  const applied = [...all, ...restored];
  done.paths = applied.flatMap(({ paths }) => paths);
  done.toolCallIds = [...new Set(applied.flatMap(({ toolCallIds }) => toolCallIds))];
  return done;
}

async function prepare(
  { run }: RunLog,
  { store, workspace }: Dependencies,
  operations: readonly UndoFileOperation[],
  index: number,
  first: number,
  origin: Origin | undefined,
): Promise<Ready> {
  const step = operations[index] as UndoFileStep;
  const content = await readUndoStepContent(store, run.id, step);
  const one = { step, content, index, expected: step.left, isLate: false };
  if (!origin) {
    const now = pathAfterUndoOperations(operations, step.at, index + 1, first);
    if (isUndoResultCovered(operations, index, first))
      return { ...one, now: undefined, found: { id: null }, isDone: true };
    await repairPartialUndoWrites(workspace, store, run.id, { ...step, path: now }, content);
    const prepared = await prepareUndoStep(workspace, step, content, now);
    return { ...one, ...prepared, now, isLate: !prepared.isDone };
  }
  if (!('path' in origin)) {
    const found = { id: step.left, ...(step.leftKind && { kind: step.leftKind }) };
    const isMixed = origin.id !== step.left && !origin.isOtherForm;
    const mixed = isMixed ? { step: { ...step, mixed: true as const } } : {};
    return { ...one, ...mixed, now: undefined, found, isDone: false, expected: origin.id };
  }
  await repairPartialUndoWrites(workspace, store, run.id, { ...step, path: origin.path }, content);
  return { ...one, ...(await prepareUndoStep(workspace, step, content, origin.path)), now: origin.path };
}

async function lookAgain(workspace: Workspace, one: Ready, path: string): Promise<Ready> {
  const { found, isDone } = await prepareUndoStep(workspace, one.step, one.content, path);
  if (!isDone && found.id !== one.step.left && found.id !== one.expected) throw fileChangedMeanwhileError();
  return { ...one, found, isDone };
}

function changeOf(
  { step, found, isDone, index }: Ready,
  before: string | null,
  form: FileModeAndEncoding | undefined,
  at: string,
): FileChangeByUndo {
  const { path, place: shownPath, paths, to, was, leftForm } = step;
  const kind = isDone ? step.leftKind : found.kind;
  const afterMode = step.leftMode === undefined || to === null ? undefined : (was?.mode ?? step.form?.mode);
  return {
    path,
    before,
    after: to,
    ...(kind && { kind }),
    ...(form ?? (isDone && (to === null || step.form) ? leftForm : undefined)),
    ...(was?.kind && { afterKind: was.kind }),
    ...(afterMode !== undefined && { afterMode }),
    ...(shownPath !== path && { place: shownPath }),
    ...((paths.length !== 1 || paths[0] !== path) && { paths }),
    at,
    step: index,
  };
}

async function moveBack(workspace: Workspace, one: Ready, from: string, to: string): Promise<void> {
  const now = await prepareUndoStep(workspace, one.step, null, from);
  const { target } = now.found;
  const isSamePath = one.now === undefined || target?.file.path === one.found.target?.file.path || one.now !== from;
  if (now.found.id !== one.found.id || !isSamePath) throw fileChangedMeanwhileError();
  await moveInWorkspace(workspace, from, to);
}

const reasonToLeave = ({ sameTime }: Pick<UndoFileStep, 'sameTime'>) =>
  sameTime ? 'Something else may have changed it at the same time.' : 'It has changed since.';

/** Paths for the user, each once. A folder is not listed beside its contents. */
const named = (paths: readonly string[]) =>
  [...paths.slice(0, 50), ...(paths.length > 50 ? [`${paths.length - 50} more`] : [])].join(', ');
