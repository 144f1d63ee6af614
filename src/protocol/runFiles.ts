import { createDictionary, type Dictionary, entriesOf } from './dictionary.ts';
import type { KeptChange, Moved } from './events.ts';

/** A file that a run has changed and that is not as it was. Contents by their ids; null: no file. */
export interface RunFile {
  before: string | null;
  /** What the run left in it. */
  after: string | null;
  /** `before` is not a text. */
  kind?: string;
  /** It was moved here as it is, file or folder. */
  from?: string;
  /** Somebody else changed it between changes of the run. */
  mixed?: boolean;
  /** Epoch milliseconds of the newest change. */
  at: number;
  /** What the model has heard that somebody else has made of it. */
  told?: string | null;
}

interface WithFiles {
  files?: Dictionary<RunFile> | undefined;
}

interface Change {
  changes?: readonly KeptChange[] | undefined;
  moved?: Moved | undefined;
  at: number;
}

/** Folds what a call did to files. It looks at no file but those. */
export function changeFiles(run: WithFiles, { changes = [], moved, at }: Change): void {
  if (!moved && changes.every(isOfRun)) return;
  run.files ??= createDictionary();
  const { files } = run;
  for (const { path, before, after, kind } of changes) {
    if (isOfRun({ path })) continue;
    const file = files[path] ?? { before, after: before, at, ...(kind && { kind }) };
    const isMixed = file.after !== before && !kind;
    delete file.told;
    files[path] = { ...file, after, at, ...(isMixed && { mixed: true }) };
    if (file.before === after) delete files[path];
  }
  if (moved) {
    moveFiles(files, moved);
    files[moved.to] = { before: '', after: '', from: moved.from, at };
  }
}

const isOfRun = ({ path }: { path: string }): boolean => path.startsWith('@state/');

/** Folds an undo: `changes` are what it did to texts, `paths` the places of moves that it took back, among others. */
export function undoFiles(run: WithFiles, changes: readonly KeptChange[], paths: readonly string[] = []): void {
  const files = run.files ?? createDictionary<RunFile>();
  for (const { path, after } of changes) {
    const file = files[path];
    if (!file) continue;
    file.after = after;
    delete file.told;
    if (file.before === after) delete files[path];
  }
  for (const to of paths) {
    const from = files[to]?.from;
    if (from === undefined) continue;
    delete files[to];
    moveFiles(files, { from: to, to: from });
  }
}

/** What was changed in a folder that is elsewhere now is there, too. */
function moveFiles(files: Dictionary<RunFile>, { from, to }: Moved): void {
  for (const [path, file] of entriesOf(files)) {
    if (path !== from && !path.startsWith(`${from}/`)) continue;
    delete files[path];
    files[to + path.slice(from.length)] = file;
  }
}
