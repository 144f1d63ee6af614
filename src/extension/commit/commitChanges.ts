import path from 'node:path';
import { truncateToTokens } from '../../engine/core/tokenCount.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { truncateMiddle } from '../../protocol/text/shorten.ts';
import { createFileVisibilityClassifier } from '../../tools/code/shown.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { readCurrentText } from '../../tools/sandbox/fileText.ts';
import { resolvePath, workspaceRelativePath } from '../../tools/sandbox/paths.ts';
import type { CommitRepository, GitChange } from './git.ts';

/**
 * Limits of changed files to name, of files with text, and of log subjects as style examples; then maximum characters of a subject, and
 * minimum useful characters of the text of a file.
 */
const [maxNames, maxTexts, maxSubjects] = [300, 60, 8];
// Maximum characters of a subject, and minimum useful characters of a file's text.
const [subjectLimit, leastText] = [100, 80];
const charactersOfToken = 3;

/**
 * Changes for a commit message. `excluded` lists files whose text is private; `cut`: other parts are missing; `files` counts changed or staged
 * files.
 */
export interface CommitMessageDiff {
  text: string;
  excluded: string[];
  cut: boolean;
  files: number;
}

interface Sources {
  repository: CommitRepository;
  workspace: Workspace;
  isExcluded(path: string): boolean;
  signal: AbortSignal;
  withoutStyle?: true;
  only?: string;
}

/**
 * Returns the staged changes of a repository, else all changes, within a token limit; undefined if there are none. Files are named, and
 * their text follows the rules of a search: no possible secrets, no files guarded by rules, no files outside of the open folders. Throws
 * the signal's reason and Git errors.
 */
export async function collectCommitMessageDiff(
  sources: Sources,
  tokens: number,
): Promise<CommitMessageDiff | undefined> {
  const { repository, workspace, isExcluded, signal } = sources;
  await repository.status();
  const { indexChanges: staged, mergeChanges, workingTreeChanges, untrackedChanges } = repository.state;
  const groups = [staged, [...mergeChanges, ...workingTreeChanges], untrackedChanges];
  const { only } = sources;
  const all = only === undefined ? groups.find(({ length }) => length > 0) : await changesOf(only, groups, workspace);
  if (!all) return undefined;
  const shown = createFileVisibilityClassifier(workspace, isExcluded);
  const names: string[] = [];
  const texts: string[] = [];
  const most = tokens * charactersOfToken;
  const excluded: string[] = [];
  for (const change of all.slice(0, maxNames)) {
    signal.throwIfAborted();
    const name = nameOf(change, repository);
    const paths = [change.uri, change.originalUri].map(({ fsPath }) => shown(fsPath, fsPath));
    const hidden = (await Promise.all(paths)).some(({ secret, outside }) => secret || outside);
    const isStaged = staged.includes(change);
    const text = hidden ? undefined : texts.length < maxTexts ? await textOf(change, isStaged, sources) : '';
    if (text === undefined) excluded.push(name);
    else if (text !== '') texts.push(truncateMiddle(text, most)); // at once: sixty may be large
    names.push(`- ${kindOf(change)} ${name}${text === undefined ? ' (its text is not shown)' : ''}`);
  }
  if (all.length > maxNames) names.push(`- ${all.length - maxNames} more`);
  const style = sources.withoutStyle ? [] : await subjects(repository);
  const heading = all === staged ? 'Files, as they are staged' : 'Files, nothing is staged';
  const files = only !== undefined ? 'What is not committed of a file' : sources.withoutStyle ? heading : commit;
  const head = [
    ...(style.length > 0 ? [`The newest commits, for their style:\n${style.join('\n')}`] : []),
    `${files}:\n${names.join('\n')}`,
  ];
  const shownTexts = shared(texts, most - head.join('\n\n').length);
  const text = truncateToTokens([...head, ...shownTexts].join('\n\n'), tokens);
  const cut = texts.length === maxTexts || all.length > maxNames || text !== [...head, ...texts].join('\n\n');
  return { text, excluded, cut, files: all.length };
}

const commit = 'The files of this commit';

async function changesOf(
  only: string,
  [staged, ...others]: (readonly GitChange[])[],
  { roots }: Workspace,
): Promise<GitChange[] | undefined> {
  for (const change of [...others.flat(), ...staged!])
    if ((await workspaceRelativePath(roots, change.uri.fsPath)) === only) return [change];
  return undefined;
}

const kinds = 'modified added deleted renamed copied modified deleted added ignored added renamed'.split(' ');
const kindOf = ({ status }: GitChange) => kinds[status] ?? 'modified';
const untracked = 7;

function nameOf({ uri, originalUri }: GitChange, { rootUri }: CommitRepository): string {
  const [before, after] = [originalUri, uri].map(({ fsPath }) =>
    escapeInvisibleInLine(path.relative(rootUri.fsPath, fsPath).replaceAll(path.sep, '/')),
  );
  return before === after ? after! : `${before} → ${after}`;
}

// Returns a diff, or the text of an untracked file; empty if nothing is to report, undefined if private.
async function textOf(change: GitChange, staged: boolean, sources: Sources): Promise<string | undefined> {
  const { repository, workspace } = sources;
  const { fsPath } = change.uri;
  if (kindOf(change) === 'deleted') return ''; // the kind is enough
  try {
    if (change.status === untracked) {
      const file = await resolvePath(workspace.roots, fsPath, 'read');
      return file.protected
        ? undefined
        : `new file ${nameOf(change, repository)}\n${(await readCurrentText(workspace, file)).text}`;
    }
    if (isPattern.test(path.relative(repository.rootUri.fsPath, fsPath))) return undefined;
    const diff = await (staged ? repository.diffIndexWithHEAD(fsPath) : repository.diffWithHEAD(fsPath));
    return diff === '' || isOne(diff) ? diff : undefined;
  } catch {
    return ''; // binary, too large, or deleted since
  }
}

const isPattern = path.sep === '\\' ? /[*?[\]]|^:/ : /[*?[\]\\]|^:/;

/** Tests for the diff of exactly one file, because paths, settings and Git programs can alter the output. */
const isOne = (diff: string) => diff.startsWith('diff --') && !diff.includes('\ndiff --');

async function subjects(repository: CommitRepository): Promise<string[]> {
  const commits = await repository.log({ maxEntries: maxSubjects }).catch(() => []); // no first commit yet
  const own = commits.filter(({ parents }) => parents.length < 2);
  return own.map(({ message }) => `- ${truncateMiddle(escapeInvisibleInLine(message.split('\n')[0]!), subjectLimit)}`);
}

// Truncates texts to share a limit: short texts stay whole, longer ones get equal parts.
function shared(texts: readonly string[], maxLength: number): string[] {
  let left = maxLength;
  let share = 0;
  for (const [at, length] of texts
    .map((text) => text.length)
    .sort((a, b) => a - b)
    .entries()) {
    share = Math.floor(left / (texts.length - at));
    left -= Math.min(length, share);
  }
  return share < leastText
    ? texts.filter(({ length }) => length <= share)
    : texts.map((text) => truncateMiddle(text, share));
}
