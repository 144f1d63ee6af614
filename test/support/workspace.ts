import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as paths from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import type { Workspace, WorkspaceRoot } from '../../src/tools/core/workspace.ts';
import { decodeText, encodeText } from '../../src/tools/sandbox/fileText.ts';
import { removeTree } from '../../src/tools/sandbox/fileTree.ts';
import { createFile, replaceFile } from '../../src/tools/sandbox/writeFile.ts';

/** A real `Workspace` over a temporary folder; what the editor would hold in memory is set by the test. */
export interface TemporaryWorkspace extends Workspace {
  roots: WorkspaceRoot[];
  trusted: boolean;
  /** What the pretended editor makes of a text that it saves; not of a new file's. */
  onSave?: (text: string) => string;
  /** The only root's real path, unless the options name others. */
  readonly root: string;
  /** Opens a file in the pretended editor; with `text`, it holds that as an unsaved change. */
  openInEditor(path: string, text?: string): void;
  write(path: string, content: string | Buffer): void;
  read(path: string): string;
  exists(path: string): boolean;
  /** Everything that was written and deleted, as workspace-relative paths, in order. */
  readonly effects: string[];
  cleanup(): void;
}

export interface TemporaryWorkspaceOptions {
  trusted?: boolean;
  ripgrep?: string;
  /** Several roots as folders of the temporary folder; the files' paths then begin with them. */
  folders?: string[];
}

export async function temporaryWorkspace(
  files: Record<string, string | Buffer> = {},
  options: TemporaryWorkspaceOptions = {},
): Promise<TemporaryWorkspace> {
  const workspace = workspaceIn(realpathSync(await mkdtemp(paths.join(tmpdir(), 'towpath-'))), options);
  for (const [path, content] of Object.entries(files)) workspace.write(path, content);
  return workspace;
}

/** The same in the folder `ws` of a folder, as it is there already; it is made where it is not. */
export function workspaceIn(
  outer: string,
  { trusted = true, ripgrep = rgPath, folders = [] }: TemporaryWorkspaceOptions = {},
): TemporaryWorkspace {
  const root = paths.join(outer, 'ws');
  const at = (path: string) => paths.resolve(root, path);
  const open = new Map<string, { text: string; dirty: boolean }>();
  const workspace: TemporaryWorkspace = {
    roots: folders.length > 0 ? folders.map((name) => ({ name, path: at(name) })) : [{ name: 'ws', path: root }],
    trusted,
    ripgrep,
    root,
    effects: [],
    openText: (path) => open.get(path)?.text,
    isDirty: (path) => open.get(path)?.dirty ?? false,
    async writeText(path, proposed, before, { exactly } = {}) {
      const text = (!exactly && before !== null && workspace.onSave?.(proposed)) || proposed;
      const found = before !== null && existsSync(path) ? decodeText(readFileSync(path)) : undefined;
      const bytes = encodeText({ ...(found ?? { encoding: 'utf8', bom: false }), text });
      await (found ? replaceFile(path, bytes) : createFile(path, bytes));
      if (open.has(path)) open.set(path, { text, dirty: false });
      workspace.effects.push(`write ${paths.relative(root, path)}`);
      return text;
    },
    async move(from, to) {
      mkdirSync(paths.dirname(to), { recursive: true });
      renameSync(from, to);
      const held = open.get(from);
      if (held) open.set(to, held);
      open.delete(from);
      workspace.effects.push(`move ${paths.relative(root, from)} ${paths.relative(root, to)}`);
    },
    unsavedIn: (folder) =>
      [...open].flatMap(([path, { dirty }]) => (dirty && path.startsWith(folder + paths.sep) ? [path] : [])),
    async delete(path, listed) {
      await removeTree(path, listed);
      for (const held of [...open.keys()]) if (held === path || held.startsWith(path + paths.sep)) open.delete(held);
      workspace.effects.push(`delete ${paths.relative(root, path)}`);
    },
    openInEditor(path, text) {
      open.set(at(path), { text: text ?? workspace.read(path), dirty: text !== undefined });
    },
    write(path, content) {
      mkdirSync(paths.dirname(at(path)), { recursive: true });
      writeFileSync(at(path), content);
    },
    read: (path) => readFileSync(at(path), 'utf8'),
    exists: (path) => existsSync(at(path)),
    cleanup: () => rmSync(outer, { recursive: true, force: true }),
  };
  mkdirSync(root, { recursive: true });
  for (const folder of folders) mkdirSync(at(folder));
  return workspace;
}
