/** Problem reported by a language server. `path` is absolute; lines count from 1; `source` is the server and its code: `ts 2322`. */
export interface LanguageProblem {
  path: string;
  line: number;
  severity: 'error' | 'warning' | 'info';
  message: string;
  source?: string;
}

/**
 * Location of a symbol. `path` is absolute, undefined if not a file; `name` is its last segment, for locations that cannot be shown. Lines
 * and columns count from 1.
 */
export interface CodeLocation {
  path: string | undefined;
  name: string;
  line: number;
}

export interface CodeSymbol extends CodeLocation {
  symbol: string;
  kind: string;
  container?: string;
  endLine?: number;
}

export interface OpenEditor {
  path: string | undefined;
  name: string;
  active: boolean;
  unsaved: boolean;
  selection?: { startLine: number; endLine: number; text: string };
}

/**
 * Language features of the editor. Input paths are real and checked; returned paths come from language servers and must be checked before
 * use. Undefined if no server answers.
 */
export interface LanguageService {
  /** Returns the problems of one file, which is opened if necessary, or all problems reported so far. */
  diagnostics(path?: string): Promise<LanguageProblem[]>;
  workspaceSymbols(query: string): Promise<CodeSymbol[] | undefined>;
  documentSymbols(path: string): Promise<CodeSymbol[] | undefined>;
  definitions(path: string, line: number, column: number): Promise<CodeLocation[] | undefined>;
  references(path: string, line: number, column: number): Promise<CodeLocation[] | undefined>;
  openEditors(): OpenEditor[];
}
