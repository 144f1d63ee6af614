import { isDeepStrictEqual } from 'node:util';
import stringify from 'safe-stable-stringify';
import { shortenText } from '../../protocol/text/shorten.ts';
import { didYouMean } from '../../tools/core/didYouMean.ts';
import { ToolError } from '../../tools/core/tool.ts';
import type { FrontmatterUpdate } from '../../tools/core/workspace.ts';

type Values = Record<string, unknown>;
/** An operation on a value: any of `set`, `append` and `remove`, without other keys. */
type Operation = { set?: unknown; append?: unknown; remove?: unknown };

/**
 * Returns the changed values of a state document after a partial update. Maps merge, lists append. `{"set": …}` replaces a value (of the
 * document's own maps: each named key), `{"remove": […]}` removes names or items, `{"append": […]}` appends duplicates too. A key without a
 * value is removed; `drops` are the paths that may lose values. Throws `TOOL_ARGS_INVALID`.
 */
export function mergePackageRunState(before: Values, update: Values): FrontmatterUpdate {
  const drops: string[] = [];
  const after = merged(before, update, [], drops) as Values;
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => !isDeepStrictEqual(before[key], after[key]),
  );
  return { values: Object.fromEntries(changed.map((key) => [key, after[key]])), drops };
}

function merged(old: unknown, given: unknown, path: readonly string[], drops: string[]): unknown {
  if (isOperation(given)) return operated(old, given, path, drops);
  const isEmpty = isMap(given) && path.length > 0 && Object.keys(given).length === 0; // an empty map changes nothing
  if (isMap(given) && (old === undefined || (isMap(old) && !isEmpty))) {
    const known = (old ?? {}) as Values;
    const values = Object.entries(given).map(([key, value]) => [
      key,
      merged(own(known, key), value, [...path, key], drops),
    ]);
    return { ...known, ...Object.fromEntries(values) };
  }
  if (!Array.isArray(old) || old.length === 0) return given;
  if (path.length === 1 && typeof given === 'string') return added(old, [given], path);
  if (!Array.isArray(given) || given.length === 0) return given;
  const isWhole = old.every((item, index) => isDeepStrictEqual(item, given[index])); // a list that repeats all old items appends only the new items
  return isWhole ? given : added(old, given, path);
}

function operated(old: unknown, operation: Operation, path: readonly string[], drops: string[]): unknown {
  let value = old;
  if ('remove' in operation) value = without(value, namesIn(operation.remove, path), path, drops);
  if ('set' in operation) value = withSet(value, operation.set, path, drops);
  if (!('append' in operation)) return value;
  if (value !== undefined && !Array.isArray(value)) throw invalid(path, 'append', 'it is no list');
  return added(value ?? [], [operation.append].flat(1), path);
}

function withSet(old: unknown, given: unknown, path: readonly string[], drops: string[]): unknown {
  if (path.length > 1 || !isMap(old) || !isMap(given)) {
    if (path.length === 0) throw invalid(path, 'set', 'name the keys');
    drops.push(path.join('.'));
    return given;
  }
  if (Object.keys(given).length === 0) throw invalid(path, 'set', 'it names nothing; {"remove": […]} names what goes');
  const values = Object.entries(given).map(([key, value]) => [
    key,
    withSet(own(old, key), value, [...path, key], drops),
  ]);
  return { ...old, ...Object.fromEntries(values) };
}

function without(old: unknown, items: unknown[], path: readonly string[], drops: string[]): unknown {
  if (Array.isArray(old)) {
    const absent = items.find((item) => !old.some((one) => isDeepStrictEqual(one, item)));
    if (absent !== undefined) throw invalid(path, 'remove', `there is no ${short(absent)} in it`);
    drops.push(path.join('.'));
    return old.filter((one) => !items.some((item) => isDeepStrictEqual(one, item)));
  }
  if (!isMap(old)) throw invalid(path, 'remove', 'it is no list and no map');
  const absent = items.find((item) => typeof item !== 'string' || !Object.hasOwn(old, item));
  if (absent !== undefined) {
    const hint = typeof absent === 'string' ? didYouMean(absent, Object.keys(old)).trim() : '';
    throw invalid(path, 'remove', `there is no ${short(absent)} in it${hint && `. ${hint.replace(/\?$/, '')}`}`);
  }
  drops.push(...items.map((item) => [...path, String(item)].join('.')));
  return Object.fromEntries(Object.entries(old).filter(([key]) => !items.includes(key)));
}

/** Returns the added items; completed steps and artifacts are sets without duplicates. */
function added(old: readonly unknown[], items: readonly unknown[], path: readonly string[]): unknown[] {
  const isSet = path.length === 1 && (path[0] === 'stepsCompleted' || path[0] === 'artifacts');
  const all = [...old];
  for (const item of items) if (!isSet || !all.some((one) => isDeepStrictEqual(one, item))) all.push(item);
  return all;
}

/**
 * Describes the values lost by a change: removed names, removed list items, and replaced lists and maps. A new text or number under the
 * same name is no loss.
 */
export function describeStateValueLoss(
  before: unknown,
  after: unknown,
  drops: readonly string[],
  path: readonly string[] = [],
): string[] {
  const keyPath = path.join('.');
  if (drops.includes(keyPath)) return [];
  if (Array.isArray(before)) {
    if (!Array.isArray(after)) return before.length > 0 ? [keyPath] : [];
    const left = new Map<string, number>();
    for (const item of after) left.set(canonical(item), (left.get(canonical(item)) ?? 0) + 1);
    const gone = before.filter((item) => {
      const count = left.get(canonical(item)) ?? 0;
      left.set(canonical(item), count - 1);
      return count <= 0;
    });
    return gone.map((item) => `${short(item)} of ${keyPath}`);
  }
  if (!isMap(before)) return [];
  if (!isMap(after)) return Object.keys(before).length > 0 ? [keyPath] : [];
  return Object.entries(before).flatMap(([key, value]) =>
    Object.hasOwn(after, key)
      ? describeStateValueLoss(value, after[key], drops, [...path, key])
      : drops.includes([...path, key].join('.'))
        ? []
        : [[...path, key].join('.')],
  );
}

const isMap = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value);
const isOperation = (value: unknown): value is Operation =>
  isMap(value) && Object.keys(value).length > 0 && Object.keys(value).every((key) => operations.includes(key));
const operations = ['set', 'append', 'remove'];
const own = (values: Values, key: string): unknown => (Object.hasOwn(values, key) ? values[key] : undefined);
const canonical = (value: unknown): string => stringify(value) ?? 'undefined';

const short = (value: unknown): string => shortenText(canonical(value), 80);

function namesIn(value: unknown, path: readonly string[]): unknown[] {
  const items = [value].flat(1);
  if (items.length === 0 || (isMap(value) && path.length === 0)) throw invalid(path, 'remove', 'give a list of names');
  return items;
}

const invalid = (path: readonly string[], operation: string, why: string) =>
  new ToolError('TOOL_ARGS_INVALID', `${['frontmatter', ...path, operation].join('.')}: ${why}. Nothing was written.`);
