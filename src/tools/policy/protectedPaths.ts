import type { LocalizedMessage } from '../../protocol/text/l10n.ts';
import { foldCase } from '../core/caseFold.ts';
import { parseLimitedJson } from '../core/parseLimits.ts';
import { findProtectedPathRow, hiddenProtectedNames, protectedPathTable } from './protectedTable.ts';
import { secretFileNameGlobs, secretFileReason, secretFolders } from './secretFiles.ts';

/**
 * Protected paths inside the workspace. All functions take path segments relative to the root and ignore case: on many disks `.VSCODE` is
 * `.vscode`.
 */

/** Returns the reason to always approve a change of this path; undefined for ordinary paths. */
export const protectedPathReason = (segments: readonly string[]): LocalizedMessage | undefined =>
  autoRunPathReason(segments) ?? installedPackageApprovalReason(segments) ?? secretFileReason(segments);

/**
 * Returns the reason of paths whose content starts something by itself or weakens the gate; a command that only names the path needs an
 * approval too.
 */
export const autoRunPathReason = (segments: readonly string[]): LocalizedMessage | undefined =>
  findProtectedPathRow(segments.map(foldCase), ['always'])?.reason;

/** Returns the reason to always approve a change of an installed package: its code runs without a review. */
export const installedPackageApprovalReason = (segments: readonly string[]): LocalizedMessage | undefined =>
  findProtectedPathRow(segments.map(foldCase), ['written'])?.reason;

export const installedCodeApprovalReason = protectedPathTable.find(({ asks }) => asks === 'written')!.reason;

/** Tests for Git's own files, never written by file tools. `git~1` is the short name of `.git` on old Windows disks. */
export const isGitInternal = (segments: readonly string[]) =>
  segments.some((segment) => foldCase(segment) === '.git' || foldCase(segment) === 'git~1');

export function isLookalikePathSegment(segment: string): boolean {
  if (/^[\x20-\x7e]*$/.test(segment)) return false;
  const look = [...segment.normalize('NFKD').replace(/\p{M}/gu, '')].map((letter) => lookAlikes[letter] ?? letter);
  const seen = [look.join('')];
  return seen[0] !== segment && (isGitInternal(seen) || protectedPathReason(seen) !== undefined);
}

export function hasInstallScriptChange(path: string, before: string | null, after: string | null): boolean {
  if (!/(^|\/)package\.json$/i.test(path)) return false;
  const [scripts, then] = [installScripts(before), installScripts(after)];
  return scripts === undefined || scripts !== then;
}

function installScripts(text: string | null): string | undefined {
  try {
    const scripts = (parseLimitedJson(text ?? '{}') as { scripts?: Record<string, unknown> }).scripts ?? {};
    return JSON.stringify(scriptsOfInstall.map((name) => scripts[name] ?? null));
  } catch {
    return undefined;
  }
}

const scriptsOfInstall =
  'preinstall install postinstall prepublish preprepare prepare postprepare dependencies pnpm:devPreinstall'.split(' ');

/** Hidden protected names, for globs that may match future files. */
export const hiddenSensitiveNames: readonly string[] = [
  ...hiddenProtectedNames,
  ...secretFolders,
  ...secretFileNameGlobs,
  ...['.env', '.git'],
].filter((name) => /^\.[^*?[{]+$/.test(name));

// Letters of other scripts that look like Latin letters; NFKD already covers full-width and mathematical forms.
const lookAlikes: Record<string, string> = Object.fromEntries(
  'аa сc ԁd еe ɡg һh іi ıi јj ӏl оo рp ԛq ѕs υu ѵv ѡw хx уy αa νv οo ρp ιi τt κk тt кk мm пn ոn սu օo ցg АA ВB СC ЕE НH ІI КK МM ОO РP ЅS ТT ХX ΑA ΒB ΕE ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΧX ․.'
    .split(' ')
    .map((pair) => [...pair] as [string, string]),
);
