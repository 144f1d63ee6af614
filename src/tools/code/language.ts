/** A problem as a language server reports it. `path` is absolute; lines count from 1. */
export interface LanguageProblem {
  path: string;
  line: number;
  severity: 'error' | 'warning' | 'info';
  message: string;
  /** Who says so, and its code: `ts 2322`. */
  source?: string;
}

/** Where something is: `path` is absolute, undefined for what is no file; lines and columns count from 1. */
export interface CodeLocation {
  path: string | undefined;
  /** The last name of where it is, for what cannot be shown. */
  name: string;
  line: number;
}

export interface CodeSymbol extends CodeLocation {
  symbol: string;
  /** `function`, `class`, … */
  kind: string;
  /** What it is part of. */
  container?: string;
  /** Where it ends, if that is known. */
  endLine?: number;
}

export interface OpenEditor {
  path: string | undefined;
  name: string;
  active: boolean;
  unsaved: boolean;
  /** The first of its selections. `text` is empty for a mere cursor. */
  selection?: { startLine: number; endLine: number; text: string };
}

/**
 * What the editor and its language servers know. Paths given are real and checked; paths it gives are what servers say, to
 * be checked before anything of them is told. Undefined: no server answers for that.
 */
export interface LanguageService {
  /** Of one file, which is opened for its server when it is not; else of everything that servers have reported on. */
  diagnostics(path?: string): Promise<LanguageProblem[]>;
  workspaceSymbols(query: string): Promise<CodeSymbol[] | undefined>;
  documentSymbols(path: string): Promise<CodeSymbol[] | undefined>;
  definitions(path: string, line: number, column: number): Promise<CodeLocation[] | undefined>;
  references(path: string, line: number, column: number): Promise<CodeLocation[] | undefined>;
  openEditors(): OpenEditor[];
}
