/** Tells each sentence once, for as long as its client lives; none is told for `undefined`. */
export function tellOnce(onNote: ((note: string) => void) | undefined): (note: string | undefined) => void {
  const told = new Set<string>();
  return (note) => {
    if (note === undefined || told.has(note)) return;
    told.add(note);
    onNote?.(note);
  };
}

/** What every wire says of a budget that goes nowhere. */
export const budgetIgnored = (model: string) => `${model} has no setting for a thinking budget here; it is ignored.`;
