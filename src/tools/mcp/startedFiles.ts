import { createHash } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import type { WorkspaceRoot } from '../core/workspace.ts';
import { readRegularFile } from '../sandbox/regularFile.ts';
import type { McpServerDefinition } from './config/config.ts';

// Maximum bytes of a hashed program; larger files count by size.
const maxBytes = 20_000_000;

/**
 * Returns the real paths of files in the open folders, existing or not, named by a server's command: the program, scripts and configuration
 * in arguments and variables, the module of `-m`, and entry files of a started folder.
 */
export function serverCommandFiles(definition: McpServerDefinition, roots: readonly WorkspaceRoot[]): string[] {
  if (definition.type !== 'stdio') return [];
  const { command, args, cwd, env } = definition;
  const variables = Object.values(env).flatMap((value) => (value ?? '').split(path.delimiter));
  const words = [
    command,
    ...args,
    ...args.map((word) => word.replace(/^-[^=]*=/, '')),
    ...variables.flatMap((value) => value.split(/[\s=]+/)),
  ];
  const modules = args.filter((_, at) => args[at - 1] === '-m').flatMap((name) => modulePaths(name));
  const named = [...words, ...modules].filter((word) => word !== '' && !word.startsWith('-') && !word.includes('\0'));
  const folders = [cwd, ...named.map((word) => path.resolve(cwd, word)).filter(isFolder)].filter((folder) =>
    isInside(roots, folder),
  );
  const entries = entryNames.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  const files = named.flatMap((word) => [cwd, ...folders].map((folder) => path.resolve(folder, word)));
  return [...new Set([...files, ...entries].map(realPath))].filter((file) => isInside(roots, file) && !isFolder(file));
}

export async function hashFileStates(files: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files) {
    const bytes = await readRegularFile(file, maxBytes).catch(
      (error) => `${(error as NodeJS.ErrnoException).code} ${sizeOf(file)}`,
    );
    hash.update(JSON.stringify([file, bytes.length])).update(bytes);
  }
  return hash.digest('hex');
}

const entryNames = ['index.js', 'index.mjs', 'index.cjs', 'index.ts', '__main__.py', '__init__.py', 'package.json'];

const modulePaths = (name: string): string[] => {
  const below = name.replaceAll('.', '/');
  return [`${below}.py`, `${below}/__init__.py`, `${below}/__main__.py`];
};

function isFolder(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}

function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

const isInside = (roots: readonly WorkspaceRoot[], file: string): boolean =>
  roots.some((root) => {
    const below = path.relative(realPath(root.path), realPath(file));
    return root.mount === undefined && !below.startsWith('..') && !path.isAbsolute(below);
  });
