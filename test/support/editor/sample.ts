import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

/** Copies the sample workspace to `parent/greet` and gives that path. */
export function copySample(parent: string): string {
  const folder = path.join(parent, 'greet');
  cpSync(path.join(projectRoot, 'test', 'fixtures', 'sample'), folder, { recursive: true });
  return folder;
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
