/**
 * Iterates over the items of batches. An async generator needs several microtasks per item, more than the parsing of the item; this
 * iterator needs one and calls the generator once per batch. After a stop no buffered item is delivered.
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
