import { lstatSync } from 'node:fs';
import * as paths from 'node:path';
import { message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';
import type { WorkspaceRoot } from '../core/workspace.ts';
import { secretGitOutputReason } from './gitOutput.ts';
import { findGrantRow } from './grants/grantTable.ts';
import { findGitRepositoryRoot, IsolatedGitRepository } from './loss/repository.ts';

// Milliseconds to read the settings of the repository.
const limit = 2000;

export class GitNotReadOnlyError extends UserFacingError {}

/**
 * Returns arguments for showing the state of a repository without running code from the repository; undefined for other commands. Throws
 * `GitNotReadOnlyError`.
 *
 * `git status` and `git diff` run programs only if the configuration or the attributes name a program. All settings must be known to name
 * none; the returned options disable them again.
 */
export async function readOnlyGitArguments(
  words: readonly string[],
  folder: string,
  roots: readonly WorkspaceRoot[],
): Promise<string[] | undefined> {
  const [program, command, ...args] = words;
  if (program !== 'git' || (command !== 'status' && command !== 'diff')) return undefined;
  const row = await findGrantRow(words, folder, roots);
  if (row?.command !== `git ${command}`) return undefined;
  // The changed files of other revisions are unknown here.
  const isOdd = (word: string) => /[*?[\\]|^:/.test(word) || /^--(ignore-submodules|submodule|merge-base)/.test(word);
  if (args.some(isOdd)) return undefined;
  const top = findGitRepositoryRoot(folder);
  const isInside = top !== undefined && roots.some(({ path }) => top === path || top.startsWith(path + paths.sep));
  if (!isInside || lstatSync(paths.join(top, '.git')).isSymbolicLink()) throw new GitNotReadOnlyError(elsewhere);
  if (lstatSync(paths.join(top, '.gitmodules'), { throwIfNoEntry: false })) throw new GitNotReadOnlyError(submodules);
  const repository = new IsolatedGitRepository(top, AbortSignal.timeout(limit));
  const settings = await repository.settings().catch(() => undefined);
  const odd = settings ? settings.find((one) => !isHarmless(one)) : { name: '' };
  if (odd)
    throw new GitNotReadOnlyError(
      message("The repository's configuration may start programs: {0}.", odd.name || '.git/config'),
    );
  const secret = await secretGitOutputReason(words, folder, roots);
  if (secret) throw new GitNotReadOnlyError(secret);
  const off = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'diff.external=', 'safe.bareRepository=explicit'];
  const own = ['--ignore-submodules=all', ...(command === 'diff' ? ['--no-ext-diff', '--no-textconv'] : [])];
  const before = ['--no-pager', '--no-optional-locks', ...off.flatMap((one) => ['-c', one])];
  return ['git', ...before, command, ...own, ...args];
}

const elsewhere = message('The repository is outside the open folders.');
const submodules = message('The repository has submodules.');

/**
 * Tests if a setting cannot start a program. Settings of the system and the user do not come from the repository, and user settings are
 * disabled at execution. An unknown setting is not harmless.
 */
function isHarmless({ scope, name, value }: { scope: string; name: string; value: string }): boolean {
  if (/^(system|global|command)$/.test(scope)) return true;
  if (/^core\.fsmonitor$/.test(name)) return value === 'false';
  if (/^extensions\./.test(name))
    return /^extensions\.(objectformat|refstorage|worktreeconfig|relativeworktrees)$/.test(name);
  if (/^remote\..*\.(promisor|partialclonefilter|vcs)$/.test(name)) return false;
  return harmless.test(name);
}

const harmless = new RegExp(
  `^(${[
    'core\\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|quotepath|untrackedcache|preloadindex|abbrev|compression|looseCompression|whitespace|commentchar|longpaths|protecthfs|protectntfs|sparsecheckout|sparsecheckoutcone|splitindex|trustctime|checkstat|deltabasecachelimit|packedgit\\w+|bigfilethreshold|editor|pager|sshcommand|hookspath|attributesfile|excludesfile)',
    'diff\\.(algorithm|renames|renamelimit|colormoved|colormovedws|mnemonicprefix|noprefix|context|interhunkcontext|indentheuristic|wserrorhighlight|suppressblankempty|statgraphwidth|tool|guitool|relative|orderfile)',
    '(user|author|committer|remote|branch|color|column|push|pull|fetch|merge|rebase|gc|maintenance|commit|tag|gpg|credential|http|https|url|advice|init|alias|index|pack|receive|rerere|log|format|status|safe|lfs|gui|github|gitlab|stash|checkout|submodule|feature|help|apply|blame|transfer|protocol|worktree|versionsort|i18n|mailmap|notes|sequence|uploadpack|vscode|merge\\w*tool|difftool)\\..+',
  ].join('|')})$`,
  'i',
);
