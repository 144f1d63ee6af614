import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from './targets.ts';

export interface PackageFacts {
  folder: string;
  name: string;
  version: string;
  licence: string;
  author?: string;
  licenceFiles: string[];
}

/** Returns the folder of the package that contains a file: `node_modules/a/node_modules/b/c.js` → `node_modules/a/node_modules/b`. */
export function containingPackageFolder(file: string): string {
  const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];
  if (!folder) throw new Error(`${file} is of no package.`);
  return folder;
}

export function readPackageFacts(folder: string): PackageFacts {
  const absolute = path.resolve(projectRoot, folder);
  const { name, version, license, licenses, author } = JSON.parse(
    readFileSync(path.join(absolute, 'package.json'), 'utf8'),
  );
  const licence = license?.type ?? license ?? licenses?.[0]?.type;
  if (!name || !version || typeof licence !== 'string') throw new Error(`${folder} does not say what it is.`);
  const person = typeof author === 'string' ? author : author?.name;
  const texts = readdirSync(absolute).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  return {
    folder,
    name,
    version,
    licence,
    ...(person && { author: person.replace(/\s*[<(].*/, '') }),
    licenceFiles: texts.sort().map((file) => path.posix.join(folder, file)),
  };
}

export function bundledPackages(metafiles: BuildMetafile[]): string[] {
  const inputs = metafiles
    .flatMap(({ outputs }) => Object.values(outputs))
    .flatMap((output) => Object.entries(output.inputs))
    .filter(([file, { bytesInOutput }]) => bytesInOutput > 0 && file.includes('node_modules/'))
    .map(([file]) => containingPackageFolder(file));
  return [...new Set(inputs)].sort();
}

interface BuildMetafile {
  outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }>;
}

interface Lock {
  packages: Record<string, { name?: string; version: string; integrity?: string }>;
}

export const readNpmLockFile = (): Lock =>
  JSON.parse(readFileSync(path.join(projectRoot, 'package-lock.json'), 'utf8'));
