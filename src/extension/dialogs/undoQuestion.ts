import { callIdsBeforeRecording } from '../../engine/run/recordedCalls.ts';
import type { UndoConfirmationRequest } from '../../engine/run/undo.ts';
import type { LaterFileChange } from '../../protocol/run/events.ts';
import { callsInStartOrder, type Run } from '../../protocol/run/run.ts';
import { taskOfCall } from '../../protocol/run/tasks.ts';
import { escapeInvisible, escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { type LocalizedMessage, localizedCount, t } from '../../protocol/text/l10n.ts';
import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';
import { repositoryUndoSentences } from './repositoryUndoText.ts';

/** Texts of an undo or of a restoration. */
interface UndoTexts {
  askOne(file: string): string;
  ask(files: number): string;
  all: string;
  givesUpIt: string;
  nothing: string;
  done(files: LocalizedMessage): string;
}

export const undoTexts = (): UndoTexts => ({
  askOne: (file) => t('Undo what Towpath changed in {0}?', file),
  ask: (files) => t('Undo what Towpath changed in {0} files?', files),
  all: t('Undo'),
  givesUpIt: t('has changed since. Undoing discards the current contents.'),
  nothing: t('There is nothing to undo: the files are as they were before.'),
  done: (files) => t('Undone: changes in {0}.', files),
});

export const restoreTexts = (): UndoTexts => ({
  askOne: (file) => t('Restore {0} as this branch left it?', file),
  ask: (files) => t('Restore {0} files as this branch left them?', files),
  all: t('Restore'),
  givesUpIt: t('has changed since. Restoring it discards the current contents.'),
  nothing: t('There is nothing to restore: the files are as this branch left them.'),
  done: (files) => t('Restored {0}.', files),
});

/**
 * Subject of a confirmation. `call`: line or title of the only call to undo; `isNamed`: the user selected the calls or the file, otherwise
 * each file that something else may have changed needs an own answer; `notes`: sentences about changes that stay.
 */
export interface UndoSubject {
  texts: UndoTexts;
  call?: string | undefined;
  isNamed: boolean;
  notes: readonly string[];
}

/** Dialog before an undo. Each button restores its paths; the first button leaves files with later changes as they are. */
interface UndoQuestion {
  text: string;
  detail: string;
  buttons: { label: string; paths: readonly string[] }[];
}

/** Returns undefined if every file needs an own answer. */
export function undoQuestion(
  { paths, changedSince, sameTime = [], repositories = [] }: UndoConfirmationRequest,
  { texts, call, isNamed, notes }: UndoSubject,
): UndoQuestion | undefined {
  const separate = new Set(isNamed ? [] : sameTime);
  const inGit = new Set(repositories.map(({ path }) => path));
  const chosenRepositories = repositories.filter(({ path }) => !separate.has(path));
  const repositoryPaths = chosenRepositories.map(({ path }) => path);
  const files = paths.filter((path) => !separate.has(path) && !inGit.has(path));
  const first = files[0] ?? repositoryPaths[0];
  if (first === undefined) return undefined;
  const shared = isNamed ? sameTime : [];
  const risky = new Set([...changedSince, ...shared]);
  const others = files.filter((path) => !risky.has(path));
  const isRisky = files.some((path) => risky.has(path));
  const count = files.length;
  const lines: string[] = [];
  if (repositoryPaths.length > 0) lines.push(repositoryUndoSentences(chosenRepositories).join('\n'));
  if (count === 1) {
    const why =
      changedSince.length > 0
        ? texts.givesUpIt
        : shared.length > 0 && t('may have been changed by something else at the same time.');
    if (call !== undefined || why) lines.push([listed(files), ...(why ? [why] : [])].join('\n'));
  } else if (count > 0 && !isRisky) lines.push(listed(files));
  else if (count > 0) {
    const sentences = [t('Restores {0} files.', count)];
    if (changedSince.length > 0)
      sentences.push(t('You edited {0} of them since: {1}.', changedSince.length, shortListOfPaths(changedSince)));
    if (shared.length > 0)
      sentences.push(
        t(
          'Something else may have changed {0} of them at the same time: {1}.',
          shared.length,
          shortListOfPaths(shared),
        ),
      );
    lines.push(sentences.join(' '));
    if (risky.size > maxNames) lines.push(listed([...risky]));
  }
  if (separate.size > 0)
    lines.push(
      t(
        'Next, you select from {0} that something else may have changed at the same time.',
        localizedCount(separate.size, 'file'),
      ),
    );
  const restoreOthers = others.length === 1 ? t('Restore 1 File') : t('Restore {0} Files', others.length);
  const label = !isRisky || count === 1 ? texts.all : t('Restore All {0}', count);
  const restoreAll = { label, paths: [...files, ...repositoryPaths] };
  return {
    text:
      call !== undefined
        ? t('Undo the changes of “{0}”?', call)
        : count <= 1
          ? texts.askOne(escapeInvisibleInLine(first))
          : texts.ask(count),
    detail: escapeInvisible([...lines, ...notes].join('\n\n')),
    buttons:
      isRisky && others.length > 0
        ? [{ label: restoreOthers, paths: [...others, ...repositoryPaths] }, restoreAll]
        : [restoreAll],
  };
}

/** Returns a sentence for each kind of change from event `since` on that an undo leaves. */
export function notUndoneNotes(run: Run, since: number): string[] {
  const isMeant = ({ startSeq = 0 }: Run['calls'][string]) => startSeq >= since;
  const calls = callsInStartOrder(run).flatMap(([, state]) => (isMeant(state) ? [state] : []));
  const old = callIdsBeforeRecording(run).some((id) => isMeant(run.calls[id]!));
  const isLater = ({ seq = 0 }: Pick<LaterFileChange, 'seq'>) => seq >= since;
  // An undo from a message on leaves what a background command from before has changed since.
  const goesOn = callsInStartOrder(run).some(
    ([, state]) => !isMeant(state) && (state.changes?.some(isLater) || state.repositories?.some(isLater)),
  );
  const lost = calls.flatMap(({ lost = [] }) => lost);
  return [
    ...(lost.length > 0 ? [t('Cannot be restored: {0}', shortListOfPaths(lost))] : []),
    ...(old ? [t('Commands of this run before the update were not recorded.')] : []),
    ...(goesOn || calls.some(({ unrecorded }) => unrecorded)
      ? [t('Commands may have changed other files. See Source Control.')]
      : []),
  ];
}

/** Returns the command line, the title or the tool of a call, on one line. */
export function undoneCallName(run: Run, toolCallId: string): string | undefined {
  const { command, title } = run.calls[toolCallId] ?? {};
  const tool = () => {
    const task = taskOfCall(run, toolCallId);
    const ownId = task === undefined ? toolCallId : toolCallId.slice(task.length + 1);
    return (task === undefined ? run : run.tasks![task]!).messages
      .flatMap((one) => (one.role === 'assistant' ? (one.toolCalls ?? []) : []))
      .find(({ id }) => id === ownId)?.name;
  };
  const line = command?.line ?? title;
  const name = line === undefined ? tool() : undefined;
  return name === undefined && line === undefined ? undefined : toCallName({ line, name });
}

/** Shortens the command line or title of a call, or its tool, to one line. A tool of a server reads `server: tool`. */
export function toCallName({ line, name = '' }: { line?: string | undefined; name?: string | undefined }): string {
  const tool = name.replace(/^mcp\.([^.]+)\./, '$1: ').replace(/^vscode\./, '');
  return truncateWithEllipsis(escapeInvisibleInLine(line ?? tool), maxNameLength);
}

const maxNameLength = 80;
const maxNames = 3;

/** Names at most three paths, and the number of the others. */
export function shortListOfPaths(paths: readonly string[]): string {
  const names = paths.slice(0, maxNames).map(escapeInvisibleInLine).join(', ');
  return paths.length > maxNames ? t('{0} and {1} more', names, paths.length - maxNames) : names;
}

const listed = (paths: readonly string[]) => firstLines(paths.map(escapeInvisibleInLine)).join('\n');

/** Returns at most twelve lines and the number of the others. */
export const firstLines = (lines: readonly string[]) =>
  lines.length > 12 ? [...lines.slice(0, 12), t('… and {0} more', lines.length - 12)] : lines;
