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
