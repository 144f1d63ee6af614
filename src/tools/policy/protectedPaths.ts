import type { LocalizedMessage } from '../../protocol/text/l10n.ts';
import { foldCase } from '../core/caseFold.ts';
import { parseLimitedJson } from '../core/parseLimits.ts';
import { hiddenNames, protectedRow, protectedRows } from './protectedTable.ts';
import { secretFolders, secretNames, secretReason } from './secretFiles.ts';

/**
 * Places inside the workspace that are more than files. Every function takes the segments of a path relative to its
 * root and ignores case: on many disks `.VSCODE` is `.vscode`.
 */

/** Why a change of this place is asked about every time, whatever has been allowed; undefined for ordinary places. */
export const protectedReason = (segments: readonly string[]): LocalizedMessage | undefined =>
  startingReason(segments) ?? installedReason(segments) ?? secretReason(segments);

/** Why what is written here starts something by itself, or loosens the gate; a command that only names it is asked about, too. */
export const startingReason = (segments: readonly string[]): LocalizedMessage | undefined =>
  protectedRow(segments.map(foldCase), ['always'])?.reason;

/** Why a change of an installed package is asked about every time: nobody starts it, and it runs. */
export const installedReason = (segments: readonly string[]): LocalizedMessage | undefined =>
  protectedRow(segments.map(foldCase), ['written'])?.reason;

export const whyInstalled = protectedRows.find(({ asks }) => asks === 'written')!.reason;

/** Git's own files: never written by the file tools. `git~1` is what `.git` is called on old Windows disks. */
export const isGitInternal = (segments: readonly string[]) =>
  segments.some((segment) => foldCase(segment) === '.git' || foldCase(segment) === 'git~1');

/** A name that is not `.vscode` but would be read as `.vscode` by a person. */
export function isTwin(segment: string): boolean {
  if (/^[\x20-\x7e]*$/.test(segment)) return false;
  const look = [...segment.normalize('NFKD').replace(/\p{M}/gu, '')].map((letter) => lookAlikes[letter] ?? letter);
  const seen = [look.join('')];
  return seen[0] !== segment && (isGitInternal(seen) || protectedReason(seen) !== undefined);
}

/** A change of `package.json` that adds or alters a script which runs by itself on install. */
export function changesInstallScripts(path: string, before: string | null, after: string | null): boolean {
  if (!/(^|\/)package\.json$/i.test(path)) return false;
  const [scripts, then] = [installScripts(before), installScripts(after)];
  return scripts === undefined || scripts !== then;
}

/** Undefined: it cannot be read, so nobody knows. */
function installScripts(text: string | null): string | undefined {
  try {
    const scripts = (parseLimitedJson(text ?? '{}') as { scripts?: Record<string, unknown> }).scripts ?? {};
    return JSON.stringify(scriptsOfInstall.map((name) => scripts[name] ?? null));
  } catch {
    return undefined;
  }
}

/** Of npm, the last one of pnpm. */
const scriptsOfInstall =
  'preinstall install postinstall prepublish preprepare prepare postprepare dependencies pnpm:devPreinstall'.split(' ');

/** Hidden names of such places: what a glob may mean although nothing of that name is there yet. */
export const hiddenPaths: readonly string[] = [
  ...hiddenNames,
  ...secretFolders,
  ...secretNames,
  ...['.env', '.git'],
].filter((name) => /^\.[^*?[{]+$/.test(name));

/** Letters of other scripts that are drawn like Latin ones; NFKD has folded full-width and mathematical forms already. */
const lookAlikes: Record<string, string> = Object.fromEntries(
  'аa сc ԁd еe ɡg һh іi ıi јj ӏl оo рp ԛq ѕs υu ѵv ѡw хx уy αa νv οo ρp ιi τt κk тt кk мm пn ոn սu օo ցg АA ВB СC ЕE НH ІI КK МM ОO РP ЅS ТT ХX ΑA ΒB ΕE ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΧX ․.'
    .split(' ')
    .map((pair) => [...pair] as [string, string]),
);
