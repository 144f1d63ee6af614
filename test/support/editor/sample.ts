import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { projectRoot } from './project.ts';

/** A new temporary folder. Whoever asks for it removes it; what is left when this process ends goes then. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'towpath-editor-'));
  temporaryFolders.push(folder);
  return folder;
}

const temporaryFolders: string[] = [];
process.once('exit', () => {
  for (const folder of temporaryFolders) {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    } catch {} // a browser that is still ending writes into it: the system's tidying has to do
  }
});

const sample = path.join(projectRoot, 'test', 'fixtures', 'sample');

/** Copies the sample workspace to `parent/greet` and gives that path. */
export function copySample(parent: string): string {
  const folder = path.join(parent, 'greet');
  cpSync(sample, folder, { recursive: true });
  return folder;
}

/** The sample workspace as relative paths and their texts. */
export function sampleFiles(): Record<string, string> {
  return Object.fromEntries(filesOf(sample).map((file) => [file, readFileSync(path.join(sample, file), 'utf8')]));
}

/** Makes a workspace of relative paths and their texts in `parent/workspace` and gives that path. */
export function writeWorkspace(parent: string, files: Record<string, string>): string {
  const folder = path.join(parent, 'workspace');
  mkdirSync(folder);
  writeFiles(folder, files);
  return folder;
}

/** Writes files by their relative paths into `folder`. */
export function writeFiles(folder: string, files: Record<string, string>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.join(folder, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  }
}

/** Writes the files that are other than these, and removes all but these; what Git keeps stays. */
export function restoreFiles(folder: string, files: Record<string, string>): void {
  const found = filesOf(folder).filter((file) => !file.startsWith(`.git${path.sep}`));
  for (const file of found) if (files[file.replaceAll(path.sep, '/')] === undefined) rmSync(path.join(folder, file));
  const isOther = ([file, text]: [string, string]) =>
    !existsSync(path.join(folder, file)) || readFileSync(path.join(folder, file), 'utf8') !== text;
  writeFiles(folder, Object.fromEntries(Object.entries(files).filter(isOther)));
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
}
