import { dirname } from 'node:path';
import type { KeptChange } from '../protocol/events.ts';
import { sentence, t } from '../protocol/l10n.ts';
import { SaidError, toPeople, type Words, wordsOf } from '../protocol/sentence.ts';
import type { BranchFile, BranchFiles } from '../runs/branchFiles.ts';
import type { RunStore } from '../runs/store.ts';
import { type UndoMove, type UndoStep, undoSteps } from '../runs/undo.ts';
import { findTarget, type Target } from '../tools/files/change.ts';
import { encodeAs, sha256 } from '../tools/files/text.ts';
import { putRight } from '../tools/files/torn.ts';
import { sweepLeftovers } from '../tools/gate/leftovers.ts';
import { resolvePath } from '../tools/gate/paths.ts';
import { createFile, createFolder, createLink, replaceFile } from '../tools/gate/write.ts';
import type { Workspace } from '../tools/workspace.ts';
import type { RunLog } from './log.ts';

export interface UndoRequest {
  toolCallIds: readonly string[];
  /** Only these files. */
  paths?: readonly string[];
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

/** Of an undo, or of a file that a branch left otherwise. */
type Step = UndoStep & Partial<Pick<BranchFile, 'of' | 'known'>>;

interface Ready {
  step: Step;
  target: Target;
  /** The text to go back to, or what was deleted as it was on disk; null: no file. */
  content: string | Buffer | null;
}

interface Parts {
  store: RunStore;
  workspace: Workspace;
  /** Why the run's own place, `@state`, is not in the workspace. */
  problem?: Words;
}
type Ask = (question: UndoQuestion) => Promise<UndoAnswer>;

/**
 * Puts files back as they were before the chosen calls, after asking. What is there now is kept first, so that undoing loses
 * nothing for good. The run is told, and with it the model. Throws `StoreError` when that cannot be kept.
 */
export function undo(log: RunLog, parts: Parts, { toolCallIds, paths }: UndoRequest, ask: Ask): Promise<UndoResult> {
  return putAllBack(
    log,
    parts,
    { ...undoSteps(log.run, toolCallIds, paths), left: [] },
    ask,
    'has undone your changes of',
  );
}

/** The same for files that another branch, or somebody else, has made other than this run left them. */
export function restore(log: RunLog, parts: Parts, { files, left }: BranchFiles, ask: Ask): Promise<UndoResult> {
  const steps = files.map((file): Step => ({ ...file, paths: [], left: null, toolCallIds: [] }));
  return putAllBack(log, parts, { steps, moves: [], left }, ask, 'has put back, as they are in this conversation');
}

/** @param words for the model: what the person has done with these files */
async function putAllBack(
  log: RunLog,
  { store, workspace, problem }: Parts,
  { steps, moves, left }: { steps: readonly Step[]; moves: readonly UndoMove[]; left: UndoResult['left'] },
  ask: Ask,
  words: string,
): Promise<UndoResult> {
  const { run } = log;
  const result: UndoResult = { undone: [], left: [...left] };
  const ready: Ready[] = [];
  for (const step of steps)
    try {
      if (problem !== undefined && isOfRun(step.path)) throw new SaidError(problem);
      const content = await contentOf(store, run.id, step);
      await afterKilledUndo(workspace, store, run.id, step, content);
      const target = await findTarget(workspace, step.path);
      if (Buffer.isBuffer(content) && ![step.left, step.to].includes(idOf(target.before)))
        throw new SaidError(sentence('Something else is there now.'));
      if (!step.known || idOf(target.before) !== step.to) ready.push({ step, content, target });
    } catch (error) {
      result.left.push({ path: step.path, why: messageOf(error) });
    }
  const isChangedSince = ({ step, target }: Ready) => {
    const now = idOf(target.before);
    return now !== step.to && (step.known ? !step.known.includes(now) : now !== step.left || step.mixed === true);
  };
  const changedSince = ready.filter(isChangedSince).map(({ step }) => step.path);
  const asked = [...ready.map(({ step }) => step.path), ...moves.map(({ to }) => to)];
  const answer = asked.length > 0 ? await ask({ paths: asked, changedSince }) : 'none';
  if (answer === 'none') return { undone: [], left: result.left };

  const changes: KeptChange[] = [];
  const undone: string[] = [];
  const calls = new Set<string>();
  const movedFrom = new Set<Ready>();
  const isUndone = ({ step }: Ready) => answer === 'all' || !changedSince.includes(step.path);
  for (const [index, one] of ready.entries()) {
    const { step, target } = one;
    if (!isUndone(one)) {
      result.left.push({ path: step.path, why: t('It was changed since.') });
      continue;
    }
    try {
      const before = target.before === null ? null : await store.contents.keep(run.id, target.before);
      const source = sourceOf(one, ready.slice(index + 1).filter(isUndone));
      if (source) await moveBack(workspace, source.target, target);
      else if (!movedFrom.has(one)) await putBack(workspace, one);
      if (source) movedFrom.add(source);
      changes.push({ path: step.path, before, after: step.to });
      undone.push(...step.paths);
      for (const id of step.toolCallIds) calls.add(id);
      result.undone.push(step.path);
    } catch (error) {
      result.left.push({ path: step.path, why: messageOf(error) });
    }
  }
  for (const { from, to, toolCallId } of moves)
    try {
      if (problem !== undefined && isOfRun(to)) throw new SaidError(problem);
      const [folder, place] = [await resolve(workspace, to, 'rename'), await resolve(workspace, from, 'create')];
      await workspace.move(folder, place);
      calls.add(toolCallId);
      undone.push(to);
      result.undone.push(to);
    } catch (error) {
      result.left.push({ path: to, why: messageOf(error) });
    }
  if (result.undone.length > 0) {
    await log.emit({ type: 'undo', toolCallIds: [...calls], changes, paths: undone });
    const content = `The person ${words}: ${named(result.undone)}. Read again before you edit.`;
    await log.emit({ type: 'message', message: { role: 'system', content } });
  }
  return result;
}

/** The file that was moved away from here and is still the same: moving it back keeps its mode, encoding and history. */
function sourceOf({ step, target, content }: Ready, ready: readonly Ready[]): Ready | undefined {
  if (content === null || target.before !== null) return undefined;
  const isSource = (other: Ready) =>
    other.content === null &&
    other.target.before === content &&
    other.step.toolCallIds.some((id) => step.toolCallIds.includes(id));
  return ready.find(isSource);
}

async function moveBack(workspace: Workspace, from: Target, to: Target): Promise<void> {
  const now = await findTarget(workspace, from.input);
  if (now.before !== from.before || now.file.path !== from.file.path)
    throw new SaidError(sentence('It changed while you were asked.'));
  await workspace.move(now.file.path, await resolve(workspace, to.input, 'create'));
}

const resolve = async (workspace: Workspace, path: string, operation: 'rename' | 'create') =>
  (await resolvePath(workspace.roots, path, operation)).path;

/** The file is looked at again: what changed while the question was open is not overwritten. */
async function putBack(workspace: Workspace, { step, target, content }: Ready): Promise<void> {
  const now = await findTarget(workspace, target.input);
  if (now.before !== target.before || now.file.path !== target.file.path)
    throw new SaidError(sentence('It changed while you were asked.'));
  const { path } = now.file;
  // Put back already: by hand, or by an undo that was killed right after it.
  if (idOf(now.before) === step.to) return sweepLeftovers(dirname(path));
  if (content === null) await workspace.delete(path);
  else if (typeof content === 'string' && now.before === null && step.form)
    await createFile(path, encodeAs(content, step.form), step.form.mode);
  else if (typeof content === 'string') await workspace.writeText(path, content, now.before, { exactly: true });
  else if (now.before !== null && step.was?.kind === 'file') await replaceFile(path, content);
  else if (step.was?.kind === 'link') await createLink(path, content.toString());
  else if (step.was?.kind === 'folder') await createFolder(path, step.was.mode);
  else await createFile(path, content, step.was?.mode);
}

/** An undo before this one may have been killed while it wrote in place: that is no change of somebody else. */
async function afterKilledUndo(
  workspace: Workspace,
  { contents }: RunStore,
  runId: string,
  { path, left }: UndoStep,
  to: Ready['content'],
): Promise<void> {
  if (typeof to !== 'string' || left === null) return;
  const before = await contents.read(runId, left).catch(() => undefined);
  if (before !== undefined) await putRight(workspace, { path, before, after: to });
}

async function contentOf({ contents }: RunStore, runId: string, step: Step): Promise<Ready['content']> {
  const { to, was, of = runId } = step;
  if (to === null) return null;
  return was ? contents.readBytes(of, to) : contents.read(of, to);
}

const named = (paths: readonly string[]) =>
  [...paths.slice(0, 50), ...(paths.length > 50 ? [`${paths.length - 50} more`] : [])].join(', ');
const isOfRun = (path: string) => path.startsWith('@state/');
const idOf = (text: string | null) => (text === null ? null : sha256(text));
const messageOf = (error: unknown) => toPeople(wordsOf(error));
