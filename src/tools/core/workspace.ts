/** One open folder. `path` is its absolute path on the machine the tools run on; `name` prefixes paths when there are several. */
export interface WorkspaceRoot {
  name: string;
  path: string;
  /**
   * A place beside the open folders that only its name leads to (`@pkg/…`; the folders are `@project` then). `read` can only
   * be read; `run` belongs to the run alone and is written without a question.
   */
  mount?: 'read' | 'run';
  /** Files that a configured server is started from, as real paths: a change of one is asked about every time. */
  startedFiles?: readonly string[];
}

/** The open folders among the roots. */
export const foldersOf = <Root extends WorkspaceRoot>(roots: readonly Root[]): Root[] =>
  roots.filter((root) => root.mount === undefined);

/** A folder of the window that is on no disk of this machine. */
export interface VirtualFolder {
  name: string;
  /** `memfs:/project`: what the editor knows it by. */
  address: string;
}

/** What the editor alone reaches: it is read, and nothing in it is changed or run. */
export interface VirtualFiles {
  readonly folders: readonly VirtualFolder[];
  /** The address of what is below a folder. */
  below(address: string, names: readonly string[]): string;
  /** Undefined: there is nothing. No link is followed. */
  look(address: string): Promise<Pick<TreeEntry, 'kind' | 'size'> | undefined>;
  list(address: string): Promise<{ name: string; kind: TreeEntry['kind'] }[]>;
  read(address: string): Promise<Uint8Array>;
}

/** One thing below a folder, as it is on disk. */
export interface TreeEntry {
  /** Relative to the folder, with `/`; the folder itself is ''. */
  path: string;
  /** `other`: a pipe, a socket, a device. */
  kind: 'file' | 'folder' | 'link' | 'other';
  /** Bytes of a file. */
  size: number;
  /** The permissions. */
  mode: number;
  /** When a file was last written, and which it is: anything else there is told from it. */
  version?: string;
  /** Where a link leads, as it is spelled. */
  target?: string;
}

export interface HowToWrite {
  /** Nothing that the editor runs when it saves makes another text of it. */
  exactly?: true;
  /** The change is taken back, and `writeText` fails, when it ends before the editor is done with saving. */
  signal?: AbortSignal;
  /** Hears what is waited for. */
  say?(text: string): void;
  /** Of a `FrontmatterUpdate`. */
  drops?: readonly string[];
}

/** What an update makes of a document's frontmatter. */
export interface FrontmatterUpdate {
  /** The keys that change; one without a value goes. */
  values: Record<string, unknown>;
  /** The places (`variables.tone`) that the update says may lose what they held. */
  drops: readonly string[];
}

/**
 * The open workspace as the tools see it: all paths are absolute and already checked (`sandbox/paths.ts`). The editor's own
 * view wins over the disk: unsaved text is what is read, and changes go through the editor, so that they can be undone.
 */
export interface Workspace {
  readonly roots: readonly WorkspaceRoot[];
  /** The folders of a window none of which is on a disk of this machine: then there are no `roots` but mounts. */
  readonly virtual?: VirtualFiles | undefined;
  /** An untrusted workspace offers no tool that changes or runs anything. */
  readonly trusted: boolean;
  /** Absolute path of a ripgrep binary, when there is one. */
  readonly ripgrep: string | undefined;
  /** The text a person would see in the editor, unsaved changes included; undefined when nothing is open there. */
  openText(path: string): string | undefined;
  /**
   * The text of a file's bytes, which are not UTF-8, in the encoding that the editor has for the file. Undefined when it has none that
   * gives these very bytes back.
   */
  decodeText?(path: string, bytes: Buffer): Promise<string | undefined>;
  /** True when the editor holds changes of that file which are not on disk. */
  isDirty(path: string): boolean;
  /**
   * Creates or replaces the file's text as one undo step and saves it; creates missing folders. `before` is the text it
   * must have until then (null: there must be no file); without it anything is replaced. Byte order mark, encoding and
   * line endings of the other lines stay. Throws `ToolError`, having changed nothing.
   * @returns the text that stands on disk then: what the editor runs when it saves (formatters, code actions, other
   * extensions) may have made another of it
   */
  writeText(path: string, text: string, before?: string | null, how?: HowToWrite): Promise<string>;
  /**
   * What a file's own rules make of new values for its frontmatter; undefined: they take the place of the older ones. Throws
   * `ToolError`.
   */
  mergeFrontmatter?(
    path: string,
    before: Record<string, unknown>,
    update: Record<string, unknown>,
  ): FrontmatterUpdate | undefined;
  /** Moves a file or folder to a path where nothing is, with what the editor holds of it; creates missing folders. */
  move(from: string, to: string): Promise<void>;
  /** Files in a folder of which the editor holds changes that are not on disk, as real paths. */
  unsavedIn(folder: string): string[];
  /**
   * Moves a file, a link or a folder to the trash where there is one, else removes it; no link is followed. A folder must hold
   * exactly what was listed: `E_PRECONDITION_FAILED`.
   */
  delete(path: string, listed?: readonly TreeEntry[]): Promise<void>;
  /**
   * Begins to watch a file that is about to be changed, when a language server has reported on it before. What it gives
   * resolves soon after the change (a second at most) to the errors that were not there before, in words.
   */
  watchProblems?(path: string): ((signal: AbortSignal) => Promise<string[]>) | undefined;
}
