/** Returns the candidates closest to a misspelled `name`, nearest first; empty if no candidate is close. */
export function closestNames(name: string, candidates: Iterable<string>, count = 3): string[] {
  const wanted = fold(name).slice(0, 100);
  const farthest = Math.max(1, Math.floor(wanted.length / 3));
  const scored: { candidate: string; distance: number }[] = [];
  for (const candidate of candidates) {
    const folded = fold(candidate).slice(0, 100);
    const contained =
      Math.min(wanted.length, folded.length) > 2 && (folded.includes(wanted) || wanted.includes(folded));
    if (!contained && Math.abs(wanted.length - folded.length) > farthest) continue; // the difference in length alone exceeds the limit
    const distance = wanted === folded ? 0 : contained ? 1 : editDistance(wanted, folded);
    if (distance <= farthest) scored.push({ candidate, distance });
  }
  scored.sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
  return scored.slice(0, count).map(({ candidate }) => candidate);
}

export function didYouMean(name: string, candidates: Iterable<string>): string {
  const near = closestNames(name, candidates).map((candidate) => JSON.stringify(candidate));
  return near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : '';
}

const fold = (name: string) =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');

export function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(replaced, previous[j]! + 1, current[j - 1]! + 1));
    }
    previous = current;
  }
  return previous[b.length]!;
}
