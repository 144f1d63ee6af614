import { isAncestorOrDescendantPath, isUndoMove, StepPositions } from '../../runs/undoSteps.ts';
import { readFileModeAndEncoding } from '../../tools/sandbox/fileText.ts';
import { hasMode, type PreparedUndoStep, type UndoFileOperation } from './fileSteps.ts';

/** Step in the order of the operations. `now`: current path; undefined: another operation leaves the content `expected` there. */
interface OrderedStep extends PreparedUndoStep {
  index: number;
  now: string | undefined;
  expected: string | null;
}

/** Finds the step whose file returns by a move of equal text, with mode, encoding and history, when another step removes the text. */
export function createReturnedFileFinder<Step extends OrderedStep>(
  operations: readonly UndoFileOperation[],
  ready: ReadonlyMap<number, Step>,
): (removed: PreparedUndoStep & { index: number }, isTaken: (target: Step) => boolean) => Promise<Step | undefined> {
  const positions = new StepPositions();
  const moves: number[] = [];
  const targets = new Map<PreparedUndoStep['content'], Step[]>();
  for (const [index, operation] of operations.entries()) {
    if (isUndoMove(operation)) moves.push(index);
    else positions.add(operation.at, index);
    const one = ready.get(index);
    if (one && isFree(one)) targets.set(one.content, [...(targets.get(one.content) ?? []), one]);
  }
  return async ({ index, step, content, found, isDone }, isTaken) => {
    const { before: text = null, file } = found.target ?? {};
    const equal = content === null && text !== null && !isDone ? targets.get(text) : undefined;
    if (!equal || !file) return undefined;
    const { mode } = step.leftForm ?? (await readFileModeAndEncoding(file)); // permissions that the user changed since stay
    const end = moves.find((one) => one > index) ?? operations.length;
    return equal.find(
      (target) =>
        target.index > index &&
        target.index < end &&
        !isTaken(target) &&
        hasMode({ ...found, mode }, target.step) &&
        !isAncestorOrDescendantPath(step.at, target.step.at) &&
        !positions.hasBetween(target.step.at, index, target.index),
    );
  };
}

const isFree = ({ step, content, found, isDone, now, expected }: OrderedStep): boolean =>
  typeof content === 'string' && step.left === null && !isDone && (now === undefined ? expected : found.id) === null;
