import type { Moved, UndoChange } from '../protocol/events.ts';
import { sentence, t } from '../protocol/l10n.ts';
import { SaidError, toPeople, type Words, wordsOf } from '../protocol/sentence.ts';
import type { BranchFiles } from '../runs/branchFiles.ts';
import type { RunStore } from '../runs/store.ts';
import { after, redoSteps, type UndoMove, undoSteps } from '../runs/undo.ts';
import type { FileForm } from '../tools/tool.ts';
import type { Workspace } from '../tools/workspace.ts';
import {
  changedMeanwhile,
  contentOf,
  doStep,
  type FileStep,
  isChangedSince,
  lookAtStep,
  moveTo,
  type ReadyStep,
  repairTorn,
} from './fileSteps.ts';
import type { RunLog } from './log.ts';
import { movesDone } from './movesDone.ts';

export interface UndoRequest {
  toolCallIds: readonly string[];
  /** Only these files. */
  paths?: readonly string[];
}

/** Names the undo to take back by the number of its event. */
export interface RedoRequest {
  undo: number;
}

/** What the person is asked before anything is undone; paths are workspace-relative. */
export interface UndoQuestion {
  paths: string[];
  /** Those that hold something else than was left behind: undoing them would lose it. */
  changedSince: string[];
}

/** `unchanged`: leave alone what was changed since. */
export type UndoAnswer = 'all' | 'unchanged' | 'none';

export interface UndoResult {
  undone: string[];
  /** What stayed as it is, and why, as a sentence for people. */
  left: { path: string; why: string }[];
}

interface Parts {
  store: RunStore;
  workspace: Workspace;
  /** Why the run's own place, `@state`, is not in the workspace. */
  problem?: Words;
}
type Ask = (question: UndoQuestion) => Promise<UndoAnswer>;

interface Work {
  steps: readonly FileStep[];
  moves: readonly UndoMove[];
  left: UndoResult['left'];
}

/**
 * Puts files back as they were before the chosen calls, after asking. What is there now is kept first, so that undoing loses
 * nothing for good. The run is told, and with it the model. Throws `StoreError` when that cannot be kept.
 */
export async function undo(
  log: RunLog,
  parts: Parts,
  { toolCallIds, paths }: UndoRequest,
  ask: Ask,
): Promise<UndoResult> {
  const done = await work(log, parts, { ...undoSteps(log.run, toolCallIds, paths), left: [] }, ask);
  return recordUndo(log, done, 'has undone your changes of');
}

/** The same for files that another branch, or somebody else, has made other than this run left them. */
export async function restore(log: RunLog, parts: Parts, { files, left }: BranchFiles, ask: Ask): Promise<UndoResult> {
  const steps = files.map((file): FileStep => ({ ...file, place: file.path, paths: [], left: null, toolCallIds: [] }));
  const done = await work(log, parts, { steps, moves: [], left }, ask);
  return recordUndo(log, done, 'has put back, as they are in this conversation');
}

/**
 * Takes an undo back: all of its files hold again what they held before it, or, when one of them was changed since, none is touched and
 * `left` says which. Nothing is lost by it, so nobody is asked.
 */
export async function redo(log: RunLog, parts: Parts, { undo: seq }: RedoRequest): Promise<UndoResult> {
  const undone = log.run.undos?.find((one) => one.seq === seq);
  if (!undone) return { undone: [], left: [] };
  let changed: string[] = [];
  const { changes, moves, paths, toolCallIds, result } = await work(
    log,
    parts,
    { ...redoSteps(undone), left: [] },
    async ({ changedSince }) => {
      changed = changedSince;
      return changed.length > 0 ? 'none' : 'all';
    },
    true,
  );
  if (changed.length > 0)
    return { undone: [], left: changed.map((path) => ({ path, why: t('It was changed since.') })) };
  if (result.undone.length > 0) {
    await log.emit({ type: 'redo', undo: seq, toolCallIds, changes, paths, moves });
    await tellModel(log, 'The user has redone, after an undo,', result.undone);
  }
  return result;
}

async function recordUndo(log: RunLog, done: Done, words: string): Promise<UndoResult> {
  const { changes, moves, paths, toolCallIds, result } = done;
  if (result.undone.length === 0) return result;
  await log.emit({ type: 'undo', toolCallIds, changes, paths, moves });
  await tellModel(log, `The person ${words}:`, result.undone);
  return result;
}

function tellModel(log: RunLog, about: string, paths: readonly string[]): Promise<void> {
  const content = `${about} ${named(paths)}. Read again before you edit.`;
  return log.emit({ type: 'message', message: { role: 'system', content } });
}

interface Done {
  result: UndoResult;
  changes: UndoChange[];
  moves: Moved[];
  /** Of the calls' own changes and moves. */
  paths: string[];
  toolCallIds: string[];
}

/** A step that can be done, and the path at which its file is before any move. */
type Ready = ReadyStep & { now: string };

/**
 * First files go that were not there before, then folders and files are moved, then the others get their contents. Whatever a kill
 * interrupted is found done, and goes on.
 * @param isWhole when one step cannot be looked at, nothing is done
 */
async function work(log: RunLog, parts: Parts, { steps, moves, left }: Work, ask: Ask, isWhole = false): Promise<Done> {
  const { store, workspace, problem } = parts;
  const { run } = log;
  const done: Done = { result: { undone: [], left: [...left] }, changes: [], moves: [], paths: [], toolCallIds: [] };
  const leave = (path: string, error: unknown) => done.result.left.push({ path, why: toPeople(wordsOf(error)) });
  const checkPlace = (path: string) => {
    if (problem !== undefined && path.startsWith('@state/')) throw new SaidError(problem);
  };

  const made = await movesDone(workspace, moves, (path) => isFilledSince(workspace, steps, path));
  const open = moves.filter((move) => !made.has(move));
  const ready: Ready[] = [];
  for (const step of steps)
    try {
      checkPlace(step.path);
      const content = await contentOf(store, run.id, step);
      const now = pathNow(step, moves, made);
      if (now !== undefined) await repairTorn(workspace, store, run.id, { left: step.left, path: now }, content);
      const one = isReplacedByMove(step, made)
        ? { step, content, found: { id: null }, isDone: true }
        : await lookAtStep(workspace, step, content, now);
      if (!step.known || !one.isDone) ready.push({ ...one, now: now ?? step.place });
    } catch (error) {
      leave(step.path, error);
    }
  if (isWhole && done.result.left.length > 0) return done;
  const changedSince = ready.filter(isChangedSince).map(({ step }) => step.path);
  const asked = [...ready.map(({ step }) => step.path), ...moves.map(({ paths }) => paths[0]!)];
  const answer = asked.length > 0 ? await ask({ paths: asked, changedSince }) : 'none';
  if (answer === 'none') return done;

  const isChosen = (one: Ready) => answer === 'all' || !isChangedSince(one);
  const chosen = ready.filter(isChosen);
  const changes = new Map<Ready, UndoChange>();
  const movedAway = new Set<Ready>();
  /** @param following steps among which the file may be that comes back by a move, with its mode, encoding and history */
  const put = async (one: Ready, path: string, following: readonly Ready[] = []) => {
    try {
      const before = one.isDone ? one.step.left : await storeFound(store, run.id, one);
      const source = sourceOf(one, following, movedAway);
      if (source) await moveBack(workspace, source, one);
      const form = source || movedAway.has(one) ? undefined : await doStep(workspace, one, path);
      if (source) movedAway.add(source);
      changes.set(one, changeOf(one, before, form));
    } catch (error) {
      leave(one.step.path, error);
    }
  };
  const failed = new Set<UndoMove>();
  if (moves.length === 0) for (const [index, one] of chosen.entries()) await put(one, one.now, chosen.slice(index + 1));
  else {
    for (const one of chosen) if (one.content === null) await put(one, one.now);
    for (const move of open)
      try {
        for (const path of [move.from, move.to]) checkPlace(path);
        await moveTo(workspace, move.from, move.to);
      } catch (error) {
        leave(move.paths[0]!, error);
        failed.add(move);
      }
    for (const one of chosen) if (one.content !== null) await put(one, pathThen(one.step, moves, failed));
  }
  for (const one of ready) if (!isChosen(one)) leave(one.step.path, new SaidError(sentence('It was changed since.')));

  const finished = chosen.filter((one) => changes.has(one));
  const moved = moves.filter((move) => !failed.has(move));
  done.result.undone = [...finished.map(({ step }) => step.path), ...moved.map(({ paths }) => paths[0]!)];
  done.changes = finished.map((one) => changes.get(one)!);
  done.moves = moved.map(({ from, to }) => ({ from, to }));
  done.paths = [...finished.map(({ step }) => step), ...moved].flatMap(({ paths }) => paths);
  done.toolCallIds = [
    ...new Set([...finished.map(({ step }) => step), ...moved].flatMap(({ toolCallIds }) => toolCallIds)),
  ];
  return done;
}

const isIn = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** Path at which a step's file is before the moves that are not made yet; undefined: a move takes away first what is there. */
function pathNow(
  { path, place, left }: FileStep,
  moves: readonly Moved[],
  made: ReadonlySet<Moved>,
): string | undefined {
  if (left !== null) return moves.filter((move) => made.has(move)).reduce(after, path);
  const open = moves.filter((move) => !made.has(move));
  const before = [...open].reverse().reduce((at, { from, to }) => after(at, { from: to, to: from }), place);
  return before === place && open.some(({ from }) => isIn(from, place)) ? undefined : before;
}

/** Path at which it is after them. */
function pathThen({ path, place, left }: FileStep, moves: readonly UndoMove[], failed: ReadonlySet<UndoMove>): string {
  if (left === null) return failed.size > 0 ? path : place;
  return moves.filter((move) => !failed.has(move)).reduce<string>(after, path);
}

/** A file that had to go before something was moved into its place, which has been done. */
const isReplacedByMove = ({ path, to, left }: FileStep, made: ReadonlySet<Moved>): boolean =>
  to === null && left !== null && [...made].some((move) => isIn(move.to, path));

/** Whether what a step puts below this path after the moves is there. */
async function isFilledSince(workspace: Workspace, steps: readonly FileStep[], path: string): Promise<boolean> {
  for (const step of steps) {
    if (step.to === null || step.left !== null || !isIn(path, step.place)) continue;
    const there = await lookAtStep(workspace, step, '', step.place).catch(() => undefined);
    if (there?.isDone) return true;
  }
  return false;
}

/** Stores what is there now, so that nothing is lost for good; returns its id. What is no text is stored already. */
async function storeFound(
  { contents }: RunStore,
  runId: string,
  { found: { id, target } }: Ready,
): Promise<string | null> {
  const text = target?.before ?? null;
  return text === null ? id : contents.keep(runId, text);
}

function changeOf({ step, found, isDone }: Ready, before: string | null, form: FileForm | undefined): UndoChange {
  const { path, place, paths, to, was } = step;
  const kind = isDone ? step.leftKind : found.kind;
  return {
    path,
    before,
    after: to,
    ...(kind && { kind }),
    ...form,
    ...(was?.kind && { afterKind: was.kind }),
    ...(place !== path && { place }),
    ...((paths.length !== 1 || paths[0] !== path) && { paths }),
  };
}

/** The file that was moved away from here and is still the same. */
function sourceOf({ found, content }: Ready, following: readonly Ready[], used: ReadonlySet<Ready>): Ready | undefined {
  if (typeof content !== 'string' || found.id !== null) return undefined;
  const isSource = (other: Ready) =>
    other.content === null && other.found.target?.before === content && !used.has(other);
  return following.find(isSource);
}

async function moveBack(workspace: Workspace, from: Ready, to: Ready): Promise<void> {
  const now = await lookAtStep(workspace, from.step, null, from.now);
  const { target } = now.found;
  if (now.found.id !== from.found.id || target?.file.path !== from.found.target?.file.path) throw changedMeanwhile();
  await moveTo(workspace, from.now, to.now);
}

const named = (paths: readonly string[]) =>
  [...paths.slice(0, 50), ...(paths.length > 50 ? [`${paths.length - 50} more`] : [])].join(', ');
