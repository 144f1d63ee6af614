import { mkdirSync, mkdtempSync } from 'node:fs';
import path from 'node:path';

/** The platforms as the editor's installer names them, each with its engine, an npm package of `@node-llama-cpp`. */
export const engines = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'darwin-x64': 'mac-x64',
  'darwin-arm64': 'mac-arm64-metal',
  'win32-x64': 'win-x64',
  'win32-arm64': 'win-arm64',
} as const;

/** `universal` has no engine: it is for every platform without a package of its own. */
export type Target = keyof typeof engines | 'universal';

export const targets = [...Object.keys(engines), 'universal'] as Target[];

/** The most that a package may take, in bytes. */
export const budgetOf = (target: Target) => (target === 'universal' ? 3 : 18) * 1_000_000;

/** The package for this machine. */
export function ownTarget(): Target {
  return targets.find((target) => target === `${process.platform}-${process.arch}`) ?? 'universal';
}

export const projectRoot = path.resolve(import.meta.dirname, '../..');

/** An empty folder inside the project, where its packages are found. Who asked removes it. */
export function temporaryFolder(): string {
  const dist = path.join(projectRoot, 'dist');
  mkdirSync(dist, { recursive: true });
  return mkdtempSync(path.join(dist, 'package-'));
}
