import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import type { Workspace } from '../tools/core/workspace.ts';
import { decodeText, encodeText } from '../tools/sandbox/fileText.ts';
import { removeTree } from '../tools/sandbox/fileTree.ts';
import { readRegularFile, readRegularFileSync } from '../tools/sandbox/regularFile.ts';
import { createFile, replaceFile } from '../tools/sandbox/writeFile.ts';

/** Folder of a task. Paths are relative, with `/`; `read` returns undefined for a missing file. */
export interface CheckTaskFolderAccess {
  read(path: string): string | undefined;
  write(path: string, text: string): void;
  paths(): string[];
}

/** Maximum bytes read from a file. */
const maxBytes = 1 << 20;

/** Workspace for the tools from a folder without an editor. `root`: real path. */
export const folderWorkspace = (root: string, ripgrep: string | undefined): Workspace => ({
  roots: [{ name: path.basename(root), path: root }],
  trusted: true,
  ripgrep,
  openText: () => undefined,
  isDirty: () => false,
  async writeText(file, text, before) {
    const found = before !== null && existsSync(file) ? decodeText(await readRegularFile(file, maxBytes)) : undefined;
    const bytes = encodeText({ ...(found ?? { encoding: 'utf8', bom: false }), text });
    await (found ? replaceFile(file, bytes) : createFile(file, bytes));
    return text;
  },
  async move(from, to) {
    await mkdir(path.dirname(to), { recursive: true });
    await rename(from, to);
  },
  unsavedIn: () => [],
  delete: (file, listed) => removeTree(file, listed),
});

export const createCheckTaskFolderAccess = (root: string): CheckTaskFolderAccess => ({
  read: (file) => readRegularFileSync(path.join(root, file), maxBytes)?.toString(), // the model may have replaced the file by a link or folder
  write(file, text) {
    const absolutePath = path.join(root, file);
    mkdirSync(path.dirname(absolutePath), { recursive: true });
    writeFileSync(absolutePath, text);
  },
  paths: () =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
      .sort(),
});
