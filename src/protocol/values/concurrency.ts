export type ConcurrencyLimiter = <Value>(work: () => Promise<Value>) => Promise<Value>;

/**
 * Runs work with at most `most` at a time; waiting work starts in order.
 *
 * @param failsTogether a failure rejects the waiting work with its error, and that work does not start
 */
export function createConcurrencyLimiter(most: number, failsTogether = false): ConcurrencyLimiter {
  const waiting: { start: () => void; fail: (error: unknown) => void }[] = [];
  let working = 0;
  return async (work) => {
    if (working < most) working++;
    else await new Promise<void>((start, fail) => waiting.push({ start, fail }));
    try {
      return await work();
    } catch (error) {
      if (failsTogether) for (const { fail } of waiting.splice(0)) fail(error);
      throw error;
    } finally {
      const next = waiting.shift(); // receives the slot of this work
      if (next) next.start();
      else working--;
    }
  };
}

/** Maps with at most `most` items at a time, in order. A failed item rejects the whole; the items of other workers continue. */
export async function mapLimit<Item, Value>(
  items: readonly Item[],
  most: number,
  work: (item: Item) => Promise<Value>,
): Promise<Value[]> {
  const results = new Array<Value>(items.length);
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  return results;
}
