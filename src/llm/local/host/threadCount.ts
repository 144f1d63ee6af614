/**
 * Returns the number of threads: one less than the cores, for the editor, and one less per busy core (`load`: mean number of runnable tasks
 * in the last minute). Threads synchronize at every step: without free cores, three threads take more than ten times as long as one.
 */
export function inferenceThreadCount(cores: number, load: number): number {
  return Math.max(1, Math.min(cores - 1, Math.round(cores - load)));
}
