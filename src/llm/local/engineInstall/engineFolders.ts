import { promises as fs, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LocalizedMessage } from '../../../protocol/text/l10n.ts';
import { inspectInstalledEngines } from './engines.ts';
import { type EnginePlatform, type ExtensionBuildInfo, thisMachine, unavailableEngineReason } from './missingEngine.ts';

/** Reads the package description beside the programs in `dist`; undefined in a checkout. */
export function readExtensionBuildInfo(dist: string): ExtensionBuildInfo | undefined {
  try {
    return JSON.parse(readFileSync(path.join(dist, 'target.json'), 'utf8'));
  } catch {
    return undefined;
  }
}

/** Returns the `node_modules` of the engine's library: beside the programs in a package, the project's in a checkout. */
export function engineLibraryNodeModulesFolder(dist: string): string {
  return readExtensionBuildInfo(dist) ? path.join(dist, 'node_modules') : path.join(path.dirname(dist), 'node_modules');
}

/**
 * Returns the `node_modules` for local models: the copy in `storage` (with GPU engines) if its version matches the packaged library; else
 * the packaged folder.
 */
export function engineNodeModulesFolder(dist: string, storage: string): string {
  const own = engineLibraryNodeModulesFolder(dist);
  const version = engineLibraryVersion(own);
  const copy = version === undefined ? undefined : engineVersionNodeModulesFolder(storage, version);
  return copy && engineLibraryVersion(copy) === version ? copy : own;
}

export const engineVersionNodeModulesFolder = (storage: string, version: string) =>
  path.join(enginesFolder(storage), version, 'node_modules');

export const enginesFolder = (storage: string) => path.join(storage, 'engines');

export async function removeOtherEngines(storage: string, version: string | undefined): Promise<void> {
  const folder = enginesFolder(storage);
  const entries = await fs.readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries)
    if (entry.isDirectory() && entry.name !== version)
      await fs.rm(path.join(folder, entry.name), { recursive: true, force: true }).catch(() => {}); // in use: removed next time
}

export function engineLibraryVersion(modules: string): string | undefined {
  try {
    return JSON.parse(readFileSync(path.join(modules, 'node-llama-cpp', 'package.json'), 'utf8')).version;
  } catch {
    return undefined;
  }
}

/** Returns the reason that no local model can run, known before a download; undefined if a model can run. */
export function missingEngineReason(
  dist: string,
  machine: EnginePlatform = thisMachine(),
): LocalizedMessage | undefined {
  const own = engineLibraryNodeModulesFolder(dist);
  const isInstalled = engineLibraryVersion(own) !== undefined && inspectInstalledEngines(own).installed.length > 0;
  return isInstalled && machine.glibc
    ? undefined
    : unavailableEngineReason(machine, readExtensionBuildInfo(dist), false);
}

export const engineLibraryFile = (modules: string) =>
  pathToFileURL(path.join(modules, 'node-llama-cpp', 'dist', 'index.js')).href;
