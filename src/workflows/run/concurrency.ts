export type ConcurrencyLimit = <Value>(work: () => Promise<Value>) => Promise<Value>;

export function concurrencyLimit(most: number): ConcurrencyLimit {
  const working = new Set<Promise<unknown>>();
  return async (work) => {
    while (working.size >= most) await Promise.race(working).catch(() => {});
    const done = work();
    working.add(done);
    try {
      return await done;
    } finally {
      working.delete(done);
    }
  };
}
