/**
 * Creates a cache of work on lists that grow, such as the messages of a conversation: each request has a list of its own, which contains
 * the objects of the list before it. The returned function returns the state of the beginning of `list`, to which the caller adds the
 * elements from `from` to `end`. The state is a new one if the beginning of the list is another one.
 */
export function createGrowingListCache<Element extends object, State>(
  create: () => State,
): (list: readonly Element[], end?: number) => { state: State; from: number } {
  const byFirst = new WeakMap<Element, { elements: Element[]; state: State }>();
  return (list, end = list.length) => {
    const first = list[0];
    if (first === undefined || end === 0) return { state: create(), from: 0 };
    let known = byFirst.get(first);
    if (!known || !isBeginning(known.elements, list, end)) known = { elements: [], state: create() };
    byFirst.set(first, known);
    const from = known.elements.length;
    for (let at = from; at < end; at++) known.elements.push(list[at]!);
    return { state: known.state, from };
  };
}

function isBeginning(elements: readonly object[], list: readonly object[], end: number): boolean {
  if (elements.length > end) return false;
  for (let at = 0; at < elements.length; at++) if (elements[at] !== list[at]) return false; // faster than `every`
  return true;
}

/** A set or map of which only additions are made. */
export interface GrowingSet {
  has(value: string): boolean;
  add(value: string): unknown;
}
export interface GrowingMap {
  get(key: string): string | undefined;
  set(key: string, value: string): unknown;
}

/** Returns a set that contains `base` and keeps its own additions, without a copy. */
export function extendSet(base: GrowingSet): GrowingSet {
  const own = new Set<string>();
  return { has: (value) => own.has(value) || base.has(value), add: (value) => own.add(value) };
}

export function extendMap(base: GrowingMap): GrowingMap {
  const own = new Map<string, string>();
  return { get: (key) => own.get(key) ?? base.get(key), set: (key, value) => own.set(key, value) };
}
