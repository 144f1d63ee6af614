import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import type { WorkspaceRoot } from '../core/workspace.ts';
import { secretFileReason } from '../policy/secretFiles.ts';
import { containsSecretsAnywhere } from '../sandbox/secretContent.ts';
import { findGrantRow } from './grants/grantTable.ts';
import { findGitRepositoryRoot, IsolatedGitRepository } from './loss/repository.ts';

// Milliseconds for Git to produce the output; a slower command needs an approval.
const limit = 2000;

// Git commands that show file contents, with the options that some of them need for it.
const contents = new Map<string, RegExp | undefined>([
  ['diff', undefined],
  ['show', undefined],
  ['cat-file', /^-p$|^blob$/],
  ['log', /^(-p|-u|--patch|-c|-G.*|-L.*|-U\d*|--unified(=.*)?|-W|--function-context|--word-diff(=.*)?|--color-words)$/],
  ['stash show', undefined],
  ['stash list', /^-p$/],
  ['grep', undefined],
]);
const onlyNames =
  /^--(name-only|name-status|stat|shortstat|numstat|dirstat|summary|raw|compact-summary|check|quiet)(=.*)?$|^-s$|^--no-patch$/;

/**
 * Returns the reason for an approval because a Git command would show contents of files with secrets. The same output is requested from Git
 * without running code of the repository. Undefined if there is no secret.
 * @param folder working folder, absolute and real
 */
export async function secretGitOutputReason(
  words: readonly string[],
  folder: string,
  roots: readonly WorkspaceRoot[],
): Promise<LocalizedMessage | undefined> {
  if (words[0] !== 'git') return undefined;
  const at = words.findIndex((word, index) => index > 0 && !word.startsWith('-'));
  if (at < 0) return undefined;
  const name = words[at] === 'stash' ? `stash ${words[at + 1]}` : words[at]!;
  const args = words.slice(at + name.split(' ').length);
  if (!contents.has(name)) return undefined;
  const needs = contents.get(name);
  const end = args.indexOf('--');
  const options = (end < 0 ? args : args.slice(0, end)).filter((word) => word.startsWith('-'));
  const patches = options.some((word) => /^(-p|-u|--patch|-U\d*|--unified(=.*)?)$/.test(word));
  if (needs && ![...options, ...args].some((word) => needs.test(word))) return undefined;
  if (!patches && options.some((word) => onlyNames.test(word))) return undefined;
  // A command without a row needs an approval anyway and must not be tried.
  const row = await findGrantRow(words, folder, roots);
  const top = findGitRepositoryRoot(folder);
  if (row?.command !== `git ${name}` || top === undefined) return undefined;
  const repository = new IsolatedGitRepository(top, AbortSignal.timeout(limit));
  try {
    if (name === 'grep') {
      const names = await repository.shown(folder, ['grep', '--no-color', '-l'], args);
      if (names.split('\n').some((path) => isSecret(path.replace(/^.*:/, '')))) return mayShow;
    }
    return holds(await repository.shown(folder, [...name.split(' '), ...asUsual(name)], written(args)))
      ? mayShow
      : undefined;
  } catch {
    return tooMuch;
  }
}

const colors = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*[mK]`, 'g');

const mayShow = message('It shows contents of a file that may contain secrets, and its output is sent to the model.');
const tooMuch = message('It shows too much to be checked for secrets.');

function asUsual(name: string): string[] {
  if (name === 'cat-file') return [];
  if (name === 'grep') return ['--no-color'];
  return ['--no-ext-diff', '--no-textconv', '--no-color', '--src-prefix=a/', '--dst-prefix=b/'];
}

function written(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  return args.filter((word, at) => (end >= 0 && at > end) || !/^--(no-prefix|color(=.*)?)$/.test(word));
}

const isSecret = (path: string): boolean => secretFileReason(path.split('/')) !== undefined;

function holds(shown: string): boolean {
  const text = shown.replace(colors, '');
  const headers = text.matchAll(/^(?:diff --git (?:"?a\/(.+?)"? "?b\/.+|"?a\/.+)|(?:---|\+\+\+) "?[a-z]\/(.+?)"?)$/gm);
  for (const [, one, other] of headers) {
    const path = one ?? other;
    if (path !== undefined && isSecret(path)) return true;
  }
  return containsSecretsAnywhere(text.replace(/^[ +-]/gm, ''));
}
