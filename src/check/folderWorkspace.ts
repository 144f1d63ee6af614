import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { decodeText, encodeText } from '../tools/files/text.ts';
import { readPlain } from '../tools/gate/plainFile.ts';
import { removeTree } from '../tools/gate/tree.ts';
import { createFile, replaceFile } from '../tools/gate/write.ts';
import type { Workspace } from '../tools/workspace.ts';

/** The folder of a task. Paths are relative to it, with `/`. */
export interface Folder {
  /** Undefined where there is no such file. */
  read(path: string): string | undefined;
  write(path: string, text: string): void;
  /** All files. */
  paths(): string[];
}

/** No task needs more of a file. */
const mostBytes = 1 << 20;

/** A folder as a workspace that nobody has open in an editor. `root`: its real path. */
export const folderWorkspace = (root: string, ripgrep: string | undefined): Workspace => ({
  roots: [{ name: path.basename(root), path: root }],
  trusted: true,
  ripgrep,
  openText: () => undefined,
  isDirty: () => false,
  async writeText(file, text, before) {
    const found = before !== null && existsSync(file) ? decodeText(await readPlain(file, mostBytes)) : undefined;
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

/** The same folder as a task and its judge see it. */
export const folderAt = (root: string): Folder => ({
  read: (file) => readIfPlain(path.join(root, file)),
  write(file, text) {
    const place = path.join(root, file);
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, text);
  },
  paths: () =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
      .sort(),
});

/** A model may have made a pipe, a link or anything else of it: that is no such file. */
function readIfPlain(file: string): string | undefined {
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
  let opened: number | undefined;
  try {
    opened = openSync(file, flags);
    const stats = fstatSync(opened);
    return stats.isFile() && stats.size <= mostBytes ? readFileSync(opened, 'utf8') : undefined;
  } catch {
    return undefined;
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}
