import type { RepositoryChange } from '../content/repositoryChange.ts';
import { createDictionary, type Dictionary, sortedDictionaryEntries } from '../values/dictionary.ts';
import type { FileChangeByUndo, FileMove, RunEvent, StoredFileChange, UndoneMove } from './events.ts';

/**
 * File changed by a run. `before` and `after` (state left by the run) are content ids; null: no file. `kind`: `before` is not text. `from`:
 * moved unchanged from this path. `afterKind`: `after` is not text; `afterMode`: permissions of `after`, if recorded. `recorded`: changed
 * first by a command or another recorded call. `mixed`: also changed by someone else. `at`: epoch milliseconds of the newest change. `told`: content id of a foreign change that the model was informed of.
 */
export interface FileChangedByRun {
  before: string | null;
  after: string | null;
  kind?: string;
  afterKind?: string;
  afterMode?: number;
  recorded?: true;
  from?: string;
  mixed?: boolean;
  at: number;
  told?: string | null;
}

/** Undo that can be redone, because no later event changed its files. `files`: earlier entries by path; null: none. */
export interface RedoableUndo {
  seq: number;
  toolCallIds: string[];
  changes: FileChangeByUndo[];
  moves: UndoneMove[];
  repositories?: RepositoryChange[];
  files: [path: string, file: FileChangedByRun | null][];
}

interface WithFiles {
  files?: Dictionary<FileChangedByRun> | undefined;
  undos?: RedoableUndo[] | undefined;
}

const maxUndos = 100;

interface Change {
  changes?: readonly StoredFileChange[] | undefined;
  moved?: FileMove | undefined;
  at: number;
}

export function foldFileChanges(run: WithFiles, event: RunEvent): void {
  if (event.type === 'tool-end' || event.type === 'command-changes') {
    const moved = event.type === 'tool-end' ? event.moved : undefined;
    const paths = [
      ...[...(event.changes ?? []), ...(event.repositories ?? [])].map(({ path }) => path),
      ...(moved ? [moved.from, moved.to] : []),
    ];
    if (paths.length > 0 && run.undos) run.undos = run.undos.filter((one) => !touches(one, paths));
    changeFiles(run, event);
  } else if (event.type === 'undo') {
    const texts = () =>
      new Map(
        sortedDictionaryEntries(run.files ?? createDictionary<FileChangedByRun>()).map(([path, file]) => [
          path,
          JSON.stringify(file),
        ]),
      );
    const before = texts();
    undoFiles(run, event.changes, event.paths);
    if (!event.moves) return;
    const { seq, toolCallIds, changes, moves, repositories } = event;
    const now = texts();
    const files = [...new Set([...before.keys(), ...now.keys()])].flatMap((path): RedoableUndo['files'] =>
      before.get(path) === now.get(path) ? [] : [[path, JSON.parse(before.get(path) ?? 'null')]],
    );
    const undone = { seq, toolCallIds, changes, moves, ...(repositories && { repositories }), files };
    run.undos = [...(run.undos ?? []), undone].slice(-maxUndos);
  } else if (event.type === 'redo') redoFiles(run, event);
}

/** Returns the newest redoable undo of these calls. A later undo of the same files must be redone first. */
export function newestRedoableUndo(
  { undos = [] }: WithFiles,
  isMeant: (undone: RedoableUndo) => boolean,
): RedoableUndo | undefined {
  return undos.findLast(
    (one, index) => isMeant(one) && !undos.slice(index + 1).some((later) => touches(later, pathsOf(one))),
  );
}

const pathsOf = ({ changes, moves, repositories = [] }: Omit<RedoableUndo, 'seq' | 'toolCallIds' | 'files'>) => [
  ...repositories.map(({ path }) => path),
  ...changes.flatMap(({ path, place = path }) => [path, place]),
  ...moves.flatMap(({ from, to }) => [from, to]),
];

function touches(one: RedoableUndo, paths: readonly string[]): boolean {
  const own = new Set(pathsOf(one));
  const parents = parentsOf(paths);
  const ownParents = parentsOf([...own]);
  return paths.some((path) => own.has(path) || ownParents.has(path)) || [...own].some((path) => parents.has(path));
}

const parentsOf = (all: readonly string[]) => parentFolders(all.map((path) => ({ path })));

function redoFiles(
  run: WithFiles,
  { undo, changes, moves, repositories = [] }: Extract<RunEvent, { type: 'redo' }>,
): void {
  const one = run.undos?.find(({ seq }) => seq === undo);
  if (!one || !run.undos) return;
  run.files ??= createDictionary();
  const taken = new Set(pathsOf({ changes, moves }));
  const isTaken = (path: string) => [path, ...parentsOf([path])].some((own) => taken.has(own));
  for (const [path, file] of one.files) {
    if (!isTaken(path)) continue;
    if (file) run.files[path] = { ...file };
    else delete run.files[path];
  }
  const redone = new Set(changes.map(({ path, place = path }) => place));
  const left = {
    ...one,
    changes: one.changes.filter(({ path }) => !redone.has(path)),
    moves: one.moves.filter(({ from }) => !moves.some((done) => done.to === from)),
    repositories: one.repositories?.filter(({ path }) => !repositories.some((done) => done.path === path)) ?? [],
  };
  const isOver = left.changes.length + left.moves.length + left.repositories.length === 0;
  run.undos = run.undos.flatMap((other) => (other !== one ? [other] : isOver ? [] : [left]));
}

function changeFiles(run: WithFiles, { changes = [], moved, at }: Change): void {
  if (!moved && changes.every(isOfRun)) return;
  run.files ??= createDictionary();
  const { files } = run;
  const parents = parentFolders(changes);
  for (const { path, before, after, kind, afterKind, afterMode, mixed } of changes) {
    if (isOfRun({ path }) || ((kind === 'folder' || afterKind === 'folder') && parents.has(path))) continue;
    const {
      afterKind: _,
      afterMode: __,
      ...file
    } = files[path] ?? {
      before,
      after: before,
      at,
      ...(kind && { kind }),
      ...(afterMode !== undefined && { recorded: true as const }),
    };
    const isMixed = mixed || (file.after !== before && !kind);
    delete file.told;
    files[path] = {
      ...file,
      after,
      at,
      ...(afterKind && { afterKind }),
      ...(afterMode !== undefined && { afterMode }),
      ...(isMixed && { mixed: true }),
    };
    if (file.before === after) delete files[path];
  }
  if (moved) {
    moveFiles(files, moved);
    files[moved.to] = { before: '', after: '', from: moved.from, at };
  }
}

/** Returns all folders above the paths. */
export function parentFolders(changes: readonly { path: string }[]): Set<string> {
  const parents = new Set<string>();
  for (const { path } of changes)
    for (let at = path.lastIndexOf('/'); at > 0 && !parents.has(path.slice(0, at)); at = path.lastIndexOf('/', at - 1))
      parents.add(path.slice(0, at));
  return parents;
}

const isOfRun = ({ path }: { path: string }): boolean => path.startsWith('@state/');

function undoFiles(run: WithFiles, changes: readonly StoredFileChange[], paths: readonly string[] = []): void {
  const files = run.files ?? createDictionary<FileChangedByRun>();
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

function moveFiles(files: Dictionary<FileChangedByRun>, { from, to }: FileMove): void {
  for (const [path, file] of sortedDictionaryEntries(files)) {
    if (path !== from && !path.startsWith(`${from}/`)) continue;
    delete files[path];
    files[to + path.slice(from.length)] = file;
  }
}
