/** One workspace root. `path` is absolute on the machine of the tools; `name` is the prefix of paths if there are several roots. */
export interface WorkspaceRoot {
  name: string;
  path: string;
  /**
   * Mount next to the open folders, reachable only by name (`@pkg/…`; the folders are then `@project`). `read` is read-only; `run` belongs
   * to the run and is written without approval.
   */
  mount?: 'read' | 'run';
  /** Real paths of files that start a configured server; each change of these files needs an approval. */
  startedFiles?: readonly string[];
}

export const openFolderRoots = <Root extends WorkspaceRoot>(roots: readonly Root[]): Root[] =>
  roots.filter((root) => root.mount === undefined);

/** Folder of the window without a disk on this machine. `address` is the editor's URI, like `memfs:/project`. */
export interface VirtualFolder {
  name: string;
  address: string;
}

export interface VirtualFiles {
  readonly folders: readonly VirtualFolder[];
  below(address: string, names: readonly string[]): string;
  /** Returns the kind and size; undefined if nothing exists. Does not follow links. */
  look(address: string): Promise<Pick<TreeEntry, 'kind' | 'size'> | undefined>;
  list(address: string): Promise<{ name: string; kind: TreeEntry['kind'] }[]>;
  read(address: string): Promise<Uint8Array>;
}

/**
 * Entry of a folder tree on disk. `path` is relative to the folder, with `/`; the folder itself is ''. `other` is a pipe, a socket or a
 * device. `size` is in bytes, `mode` holds the permissions, `target` is the unresolved target of a link.
 */
export interface TreeEntry {
  path: string;
  kind: 'file' | 'folder' | 'link' | 'other';
  size: number;
  mode: number;
  /** Last write time and identity of a file; any replacement has another value. */
  version?: string;
  target?: string;
}

export interface FileWriteOptions {
  /** The editor must not reformat the text on save. */
  exactly?: true;
  /** If aborted before the editor has saved, the change is reverted and `writeText` fails. */
  signal?: AbortSignal;
  report?(text: string): void;
  drops?: readonly string[];
}

/** Update of a document's frontmatter. A key without a value is removed. */
export interface FrontmatterUpdate {
  values: Record<string, unknown>;
  drops: readonly string[];
}

/**
 * Open workspace for tools: all paths are absolute and already checked (`sandbox/paths.ts`). The editor's state wins over the disk: reads
 * return unsaved text, and changes go through the editor to allow undo.
 */
export interface Workspace {
  readonly roots: readonly WorkspaceRoot[];
  /** Virtual folders of a window without any folder on disk; then `roots` holds only mounts. */
  readonly virtual?: VirtualFiles | undefined;
  readonly trusted: boolean;
  readonly ripgrep: string | undefined;
  openText(path: string): string | undefined;
  /** Decodes bytes other than UTF-8 with the editor's encoding for the file; undefined if no encoding reproduces the same bytes. */
  decodeText?(path: string, bytes: Buffer): Promise<string | undefined>;
  isDirty(path: string): boolean;
  /**
   * Creates or replaces a file's text as one undo step, saves the file and creates missing folders. `before` is the required current text
   * (null: no file may exist); absent, anything is replaced. Byte order mark, encoding and line endings of other lines are preserved.
   * Throws `ToolError` without any change.
   * @returns the text on disk afterwards, possibly changed by formatters, code actions or other extensions on save
   */
  writeText(path: string, text: string, before?: string | null, options?: FileWriteOptions): Promise<string>;
  /** Merges new frontmatter values by the file's own rules; undefined means a plain replacement. Throws `ToolError`. */
  mergeFrontmatter?(
    path: string,
    before: Record<string, unknown>,
    update: Record<string, unknown>,
  ): FrontmatterUpdate | undefined;
  /** Moves a file or folder to a free path, with the editor's unsaved state. Creates missing folders. */
  move(from: string, to: string): Promise<void>;
  unsavedIn(folder: string): string[];
  /**
   * Moves a file, a link or a folder to the trash if available, else removes it; links are not followed. A folder must contain exactly the
   * listed entries, else `E_PRECONDITION_FAILED`.
   */
  delete(path: string, listed?: readonly TreeEntry[]): Promise<void>;
  /**
   * Starts to watch a file before a change, if a language server has reported on the file. The returned function resolves within one second
   * after the change to the new errors as text.
   */
  watchProblems?(path: string): ((signal: AbortSignal) => Promise<string[]>) | undefined;
}
