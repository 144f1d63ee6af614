import type { KeptChange } from '../protocol/run.ts';
import type { RunStore } from '../runs/store.ts';
import { type UndoStep, undoSteps } from '../runs/undo.ts';
import { findTarget, type Target } from '../tools/files/change.ts';
import { sha256 } from '../tools/files/text.ts';
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
  /** What stayed as it is, and why, as a sentence. */
  left: { path: string; why: string }[];
}

interface Ready {
  step: UndoStep;
  target: Target;
  /** The text to go back to; null: no file. */
  text: string | null;
}

/**
 * Puts files back as they were before the chosen calls, after asking. What is there now is kept first, so that undoing loses
 * nothing for good. The run is told, and with it the model. Throws `StoreError` when that cannot be kept.
 */
export async function undo(
  log: RunLog,
  { store, workspace }: { store: RunStore; workspace: Workspace },
  { toolCallIds, paths }: UndoRequest,
  ask: (question: UndoQuestion) => Promise<UndoAnswer>,
): Promise<UndoResult> {
  const { run } = log;
  const result: UndoResult = { undone: [], left: [] };
  const ready: Ready[] = [];
  for (const step of undoSteps(run, toolCallIds, paths))
    try {
      const text = step.to === null ? null : await store.contents.read(run.id, step.to);
      ready.push({ step, text, target: await findTarget(workspace, step.path) });
    } catch (error) {
      result.left.push({ path: step.path, why: messageOf(error) });
    }
  const changed = ready.filter(({ step, target }) => idOf(target.before) !== step.left);
  const done = changed.filter(({ text, target }) => target.before === text);
  const changedSince = changed.filter((one) => !done.includes(one)).map(({ step }) => step.path);
  const answer = ready.length > 0 ? await ask({ paths: ready.map(({ step }) => step.path), changedSince }) : 'none';
  if (answer === 'none') return { undone: [], left: result.left };

  const changes: KeptChange[] = [];
  const calls = new Set<string>();
  for (const { step, target, text } of ready) {
    if (answer === 'unchanged' && changedSince.includes(step.path)) {
      result.left.push({ path: step.path, why: 'It was changed since.' });
      continue;
    }
    try {
      const before = target.before === null ? null : await store.contents.keep(run.id, target.before);
      await putBack(workspace, target, text);
      changes.push({ path: step.path, before, after: step.to });
      for (const id of step.toolCallIds) calls.add(id);
      result.undone.push(step.path);
    } catch (error) {
      result.left.push({ path: step.path, why: messageOf(error) });
    }
  }
  if (changes.length > 0) {
    await log.emit({ type: 'undo', toolCallIds: [...calls], changes });
    const content = `The person has undone your changes of: ${result.undone.join(', ')}. Read again before you edit.`;
    await log.emit({ type: 'message', message: { role: 'system', content } });
  }
  return result;
}

/** The file is looked at again: what changed while the question was open is not overwritten. */
async function putBack(workspace: Workspace, target: Target, text: string | null): Promise<void> {
  const now = await findTarget(workspace, target.input);
  if (now.before !== target.before || now.file.path !== target.file.path)
    throw new Error('It changed while you were asked.');
  if (now.before === text) return;
  if (text === null) await workspace.delete(now.file.path);
  else await workspace.writeText(now.file.path, text);
}

const idOf = (text: string | null) => (text === null ? null : sha256(text));
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
