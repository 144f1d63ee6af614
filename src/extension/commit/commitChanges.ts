import path from 'node:path';
import { excerptOfTokens } from '../../engine/core/tokenCount.ts';
import { truncate } from '../../llm/core/truncate.ts';
import { visibleLine } from '../../protocol/text/escapeInvisible.ts';
import { shownFiles } from '../../tools/code/shown.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { currentText } from '../../tools/sandbox/fileText.ts';
import { relativeTo, resolvePath } from '../../tools/sandbox/paths.ts';
import type { CommitRepository, GitChange } from './git.ts';

/** Changed files that are named, those whose text is told, and subjects of the log that show the style. */
const [mostNames, mostTexts, mostSubjects] = [300, 60, 8];
/** Characters of a subject; and of a text, below which it says nothing. */
const [subjectLimit, leastText] = [100, 80];
/** Roughly; in the end tokens are counted. */
const charactersOfToken = 3;

/** What a model is told of a commit to be. */
export interface CommitChanges {
  text: string;
  /** Files whose text may not be told. */
  kept: string[];
  /** Something else of the changes is not in it. */
  cut: boolean;
  /** Files that have changed, or are staged. */
  files: number;
}

interface Sources {
  repository: CommitRepository;
  workspace: Workspace;
  /** Rules keep the text of this file of the workspace from searches. */
  isKept(path: string): boolean;
  signal: AbortSignal;
  /** It is told for another reason than to write a message. */
  withoutStyle?: true;
  /** What has changed of this file of the workspace alone, staged or not. */
  only?: string;
}

/**
 * What is staged in a repository, else all that has changed, in so many tokens at most; undefined: nothing has. Files are named, and
 * their text is told as by a search: not of what may hold secrets, of what rules keep, or of what is in no open folder.
 * Throws the signal's reason, and what Git says.
 */
export async function commitChanges(sources: Sources, tokens: number): Promise<CommitChanges | undefined> {
  const { repository, workspace, isKept, signal } = sources;
  await repository.status();
  const { indexChanges: staged, mergeChanges, workingTreeChanges, untrackedChanges } = repository.state;
  const groups = [staged, [...mergeChanges, ...workingTreeChanges], untrackedChanges];
  const { only } = sources;
  const all = only === undefined ? groups.find(({ length }) => length > 0) : await changesOf(only, groups, workspace);
  if (!all) return undefined;
  const shown = shownFiles(workspace, isKept);
  const names: string[] = [];
  const texts: string[] = [];
  const most = tokens * charactersOfToken;
  const kept: string[] = [];
  for (const change of all.slice(0, mostNames)) {
    signal.throwIfAborted();
    const name = nameOf(change, repository);
    const places = [change.uri, change.originalUri].map(({ fsPath }) => shown(fsPath, fsPath));
    const hidden = (await Promise.all(places)).some(({ secret, outside }) => secret || outside);
    const isStaged = staged.includes(change);
    const text = hidden ? undefined : texts.length < mostTexts ? await textOf(change, isStaged, sources) : '';
    if (text === undefined) kept.push(name);
    else if (text !== '') texts.push(truncate(text, most)); // at once: sixty may be large
    names.push(`- ${kindOf(change)} ${name}${text === undefined ? ' (its text is not shown)' : ''}`);
  }
  if (all.length > mostNames) names.push(`- ${all.length - mostNames} more`);
  const style = sources.withoutStyle ? [] : await subjects(repository);
  const about = all === staged ? 'Files, as they are staged' : 'Files, nothing is staged';
  const files = only !== undefined ? 'What is not committed of a file' : sources.withoutStyle ? about : commit;
  const head = [
    ...(style.length > 0 ? [`The newest commits, for their style:\n${style.join('\n')}`] : []),
    `${files}:\n${names.join('\n')}`,
  ];
  const told = shared(texts, most - head.join('\n\n').length);
  const text = excerptOfTokens([...head, ...told].join('\n\n'), tokens);
  const cut = texts.length === mostTexts || all.length > mostNames || text !== [...head, ...texts].join('\n\n');
  return { text, kept, cut, files: all.length };
}

const commit = 'The files of this commit';

/** In the working tree, which has what is staged, too, before the index. */
async function changesOf(
  only: string,
  [staged, ...others]: (readonly GitChange[])[],
  { roots }: Workspace,
): Promise<GitChange[] | undefined> {
  for (const change of [...others.flat(), ...staged!])
    if ((await relativeTo(roots, change.uri.fsPath)) === only) return [change];
  return undefined;
}

/** The Git extension's `const enum`, as far as more than a conflict is meant. */
const kinds = 'modified added deleted renamed copied modified deleted added ignored added renamed'.split(' ');
const kindOf = ({ status }: GitChange) => kinds[status] ?? 'modified';
const untracked = 7;

function nameOf({ uri, originalUri }: GitChange, { rootUri }: CommitRepository): string {
  const [before, after] = [originalUri, uri].map(({ fsPath }) =>
    visibleLine(path.relative(rootUri.fsPath, fsPath).replaceAll(path.sep, '/')),
  );
  return before === after ? after! : `${before} → ${after}`;
}

/** A diff, or the text of what Git does not know yet; empty: there is nothing to tell, undefined: it is not to be told. */
async function textOf(change: GitChange, staged: boolean, sources: Sources): Promise<string | undefined> {
  const { repository, workspace } = sources;
  const { fsPath } = change.uri;
  if (kindOf(change) === 'deleted') return ''; // which says enough
  try {
    if (change.status === untracked) {
      const file = await resolvePath(workspace.roots, fsPath, 'read');
      return file.protected
        ? undefined
        : `new file ${nameOf(change, repository)}\n${(await currentText(workspace, file)).text}`;
    }
    if (isPattern.test(path.relative(repository.rootUri.fsPath, fsPath))) return undefined;
    const diff = await (staged ? repository.diffIndexWithHEAD(fsPath) : repository.diffWithHEAD(fsPath));
    return diff === '' || isOne(diff) ? diff : undefined;
  } catch {
    return ''; // binary, too large, or gone by now
  }
}

/** As a pathspec this means other files, too; a folder's separator is none of it. */
const isPattern = path.sep === '\\' ? /[*?[\]]|^:/ : /[*?[\]\\]|^:/;

/** Whatever paths, settings and programs of Git make of a diff: what is told is that of one file, in Git's own form. */
const isOne = (diff: string) => diff.startsWith('diff --') && !diff.includes('\ndiff --');

async function subjects(repository: CommitRepository): Promise<string[]> {
  const commits = await repository.log({ maxEntries: mostSubjects }).catch(() => []); // the first commit is yet to come
  const own = commits.filter(({ parents }) => parents.length < 2);
  return own.map(({ message }) => `- ${truncate(visibleLine(message.split('\n')[0]!), subjectLimit)}`);
}

/** Texts that together fill the room: short ones whole, of each longer one as much as of any other. */
function shared(texts: readonly string[], room: number): string[] {
  let left = room;
  let share = 0;
  for (const [at, length] of texts
    .map((text) => text.length)
    .sort((a, b) => a - b)
    .entries()) {
    share = Math.floor(left / (texts.length - at));
    left -= Math.min(length, share);
  }
  return share < leastText ? texts.filter(({ length }) => length <= share) : texts.map((text) => truncate(text, share));
}
