import { mkdirSync, mkdtempSync } from 'node:fs';
import path from 'node:path';
import { enginePackageByPlatform } from '../llm/local/engineInstall/missingEngine.ts';

export type BuildTarget = keyof typeof enginePackageByPlatform | 'universal';

export const buildTargets = [...Object.keys(enginePackageByPlatform), 'universal'] as BuildTarget[];

/** Returns the maximum package size in bytes. `universal` has no engine and serves all platforms without their own package. */
export const maxPackageBytes = (target: BuildTarget) => (target === 'universal' ? 3 : 18) * 1_000_000;

export function currentBuildTarget(): BuildTarget {
  return buildTargets.find((target) => target === `${process.platform}-${process.arch}`) ?? 'universal';
}

export const projectRoot = path.resolve(import.meta.dirname, '../..');

/** Creates an empty folder inside the project, so that its packages resolve; the caller removes the folder. */
export function createTemporaryBuildFolder(): string {
  const dist = path.join(projectRoot, 'dist');
  mkdirSync(dist, { recursive: true });
  return mkdtempSync(path.join(dist, 'package-'));
}
