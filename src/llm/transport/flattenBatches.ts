/**
 * The items of batches one by one, as an async generator would give them. An async generator takes several turns of
 * the microtask queue for each of its items, and for a hundred thousand of them that is more than reading them costs;
 * this takes one, and goes through the generator below once a batch. After a stop nothing arrives of what was here already.
 */
export function flattenBatches<Item>(
  batches: AsyncGenerator<Item[], void>,
  signal?: AbortSignal,
): AsyncGenerator<Item, void, unknown> {
  let batch: Item[] = [];
  let at = 0;
  let over = false;
  const leave = async () => {
    batch = [];
    at = 0;
    over = true;
    await batches.return();
  };
  const refill = async (): Promise<IteratorResult<Item, void>> => {
    for (;;) {
      if (signal?.aborted && !over) {
        await leave();
        throw signal.reason;
      }
      const { value, done } = await batches.next();
      over ||= done === true;
      if (done) return { value: undefined, done: true };
      batch = value;
      at = 1;
      if (batch.length > 0) return { value: batch[0]!, done: false };
    }
  };
  return {
    next: () =>
      at < batch.length && !signal?.aborted ? Promise.resolve({ value: batch[at++]!, done: false }) : refill(),
    async return() {
      await leave();
      return { value: undefined, done: true };
    },
    async throw(error) {
      await leave();
      throw error;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
