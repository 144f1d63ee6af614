import { promises as fs, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LocalizedMessage } from '../../../protocol/text/l10n.ts';
import { engineState } from './engines.ts';
import { type EngineMachine, type Shipped, thisMachine, withoutEngine } from './missingEngine.ts';

/** What the package that the programs in `dist` came in says about itself; undefined in a checkout. */
export function shippedIn(dist: string): Shipped | undefined {
  try {
    return JSON.parse(readFileSync(path.join(dist, 'target.json'), 'utf8'));
  } catch {
    return undefined;
  }
}

/** The `node_modules` that the engine's library came in: beside the programs in a package, the project's in a checkout. */
export function ownModules(dist: string): string {
  return shippedIn(dist) ? path.join(dist, 'node_modules') : path.join(path.dirname(dist), 'node_modules');
}

/**
 * The `node_modules` that local models run from: the copy in `storage`, where GPU engines are, if one is there for the very
 * version of the library that came with Towpath; else its own.
 */
export function engineModules(dist: string, storage: string): string {
  const own = ownModules(dist);
  const version = libraryVersion(own);
  const copy = version === undefined ? undefined : modulesOfVersion(storage, version);
  return copy && libraryVersion(copy) === version ? copy : own;
}

/** Where a version of the library is copied to, with the GPU engines that were added to it. */
export const modulesOfVersion = (storage: string, version: string) =>
  path.join(enginesFolder(storage), version, 'node_modules');

export const enginesFolder = (storage: string) => path.join(storage, 'engines');

/** Removes the engines that belong to another version of the library, and what is left of a break-off. */
export async function removeOthers(storage: string, version: string | undefined): Promise<void> {
  const folder = enginesFolder(storage);
  const entries = await fs.readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries)
    if (entry.isDirectory() && entry.name !== version)
      await fs.rm(path.join(folder, entry.name), { recursive: true, force: true }).catch(() => {}); // in use: the next time
}

/** Undefined where the library is not, or not whole. */
export function libraryVersion(modules: string): string | undefined {
  try {
    return JSON.parse(readFileSync(path.join(modules, 'node-llama-cpp', 'package.json'), 'utf8')).version;
  } catch {
    return undefined;
  }
}

/** Why no local model can run, before anybody waits for a download; undefined where one can. */
export function missingEngine(dist: string, machine: EngineMachine = thisMachine()): LocalizedMessage | undefined {
  const own = ownModules(dist);
  const isThere = libraryVersion(own) !== undefined && engineState(own).installed.length > 0;
  return isThere && machine.glibc ? undefined : withoutEngine(machine, shippedIn(dist), false);
}

/** The address of the library's own file, as an import takes it. */
export const libraryFile = (modules: string) =>
  pathToFileURL(path.join(modules, 'node-llama-cpp', 'dist', 'index.js')).href;
