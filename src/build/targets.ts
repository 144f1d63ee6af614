import { mkdirSync, mkdtempSync } from 'node:fs';
import path from 'node:path';
import { engineOf } from '../llm/local/engineInstall/missingEngine.ts';

/** `universal` has no engine: it is for every platform without a package of its own. */
export type BuildTarget = keyof typeof engineOf | 'universal';

export const targets = [...Object.keys(engineOf), 'universal'] as BuildTarget[];

/** The most that a package may take, in bytes. */
export const budgetOf = (target: BuildTarget) => (target === 'universal' ? 3 : 18) * 1_000_000;

/** The package for this machine. */
export function ownTarget(): BuildTarget {
  return targets.find((target) => target === `${process.platform}-${process.arch}`) ?? 'universal';
}

export const projectRoot = path.resolve(import.meta.dirname, '../..');

/** An empty folder inside the project, where its packages are found. Who asked removes it. */
export function temporaryFolder(): string {
  const dist = path.join(projectRoot, 'dist');
  mkdirSync(dist, { recursive: true });
  return mkdtempSync(path.join(dist, 'package-'));
}
