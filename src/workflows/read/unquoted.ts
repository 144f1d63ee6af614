import type { WorkflowFile } from '../plan/schema.ts';
import { typeOf } from '../plan/stateTypes.ts';
import { treeOf } from '../template/template.ts';
import { type Read, readsOf } from './reads.ts';

/** Filters whose value is one word: quoted, or a number. */
const oneWord = /\|\s*(?:quote|int|float|length|count|abs|round(?:\([^()]*\))?)\s*$/;

/**
 * Finds an expression whose value becomes a part of a longer command line as it is, where what it says could end a word or begin another
 * command. Gives the expression, without its braces.
 * @param isSafe the value can only be a number, or stands in the file
 */
export function unquotedIn(command: unknown, isSafe: (read: Read) => boolean): string | undefined {
  if (typeof command !== 'string') return undefined;
  const expressions = [...command.matchAll(/\{\{-?((?:[^}]|\}(?!\}))*?)-?\}\}/g)];
  if (expressions.length === 1 && expressions[0]![0] === command.trim()) return undefined; // it is the whole command
  return expressions
    .map(([, inside]) => inside!.trim())
    .find((inside) => !oneWord.test(inside) && !readsIn(inside).every(isSafe));
}

/** Returns the expressions of a template or an expression; nothing of one with a mistake, which is a problem of its own. */
export function readsIn(text: string, expression = true): Read[] {
  try {
    return readsOf(treeOf(text, expression));
  } catch {
    return [];
  }
}

/** Finds whether a value is a constant of the file, or declared as a number or a truth. */
export function isSafeIn({ variables, state_schema, input_schema }: WorkflowFile, [first, second]: Read): boolean {
  if (first === 'variables' || (first !== undefined && Object.hasOwn(variables, first))) return true;
  const key = first === 'state' ? second : first;
  const written = key === undefined ? undefined : (state_schema[key] ?? input_schema[key]);
  return ['int', 'float', 'bool'].includes(typeOf(written)?.kind ?? '');
}
