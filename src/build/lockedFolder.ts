import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { readNpmLockFile, readPackageFacts } from './shippedPackages.ts';
import { projectRoot } from './targets.ts';

export const enginePackageFolder = (engine: string, folder: string): string =>
  lockedPackageFolder(`@node-llama-cpp/${engine}`, folder);

/**
 * Returns the folder of a package in the locked version, relative to the project. A package that is not installed is downloaded into the
 * existing `folder`, and the checksum must match the lock file.
 */
export function lockedPackageFolder(wanted: string, folder: string): string {
  const installed = `node_modules/${wanted}`;
  const { version, integrity, name } = readNpmLockFile().packages[installed] ?? {};
  if (isInstalled(installed, wanted, version)) return installed;
  if (!version || !integrity || name) throw new Error(`The lock file does not know ${wanted}.`);
  const archive = fetchPackage(`${wanted}@${version}`, folder);
  checkSum(archive, integrity);
  execFileSync('tar', ['-xzf', path.basename(archive)], { cwd: folder });
  rmSync(archive);
  return path.relative(projectRoot, path.join(folder, 'package')).split(path.sep).join('/');
}

function isInstalled(folder: string, wanted: string, locked: string | undefined): boolean {
  try {
    const { name, version } = readPackageFacts(folder);
    return name === wanted && version === locked; // an override installs another package
  } catch {
    return false;
  }
}

function fetchPackage(specifier: string, into: string): string {
  const shell = process.platform === 'win32'; // npm is a script on Windows
  execFileSync('npm', ['pack', specifier, '--silent', '--prefer-offline'], { cwd: into, shell });
  const archive = readdirSync(into).find((name) => name.endsWith('.tgz'));
  if (!archive) throw new Error(`npm pack ${specifier} left no archive.`);
  return path.join(into, archive);
}

function checkSum(file: string, integrity: string): void {
  const [algorithm, expected] = integrity.split(/-(.*)/, 2) as [string, string];
  const sum = createHash(algorithm).update(readFileSync(file)).digest('base64');
  if (sum !== expected) throw new Error(`${path.basename(file)} is not what the lock file names: its sum is another.`);
}
