/**
 * How many threads write a reply: one less than the machine has cores, so that the editor keeps one, and one less for
 * each core that others keep busy (`load`: tasks that want one, a mean of the last minute). The threads wait for each
 * other at every step: where they have no core of their own, three take more than ten times as long as one.
 */
export function threadsFor(cores: number, load: number): number {
  return Math.max(1, Math.min(cores - 1, Math.round(cores - load)));
}
