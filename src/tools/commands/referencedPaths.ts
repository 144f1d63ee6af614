import { homedir } from 'node:os';
import * as paths from 'node:path';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { openFolderRoots, type WorkspaceRoot } from '../core/workspace.ts';
import { homePathApprovalReason } from '../policy/homePaths.ts';
import {
  autoRunPathReason,
  hiddenSensitiveNames,
  installedCodeApprovalReason,
  installedPackageApprovalReason,
  isGitInternal,
} from '../policy/protectedPaths.ts';
import { secretFileReason } from '../policy/secretFiles.ts';
import { findContainingRepository } from '../sandbox/containingRepository.ts';
import { includedInstructionApprovalReason } from '../sandbox/includedFiles.ts';
import {
  type ResolvedPath,
  resolvePath,
  serverStartFileApprovalReason,
  workspaceRelativePath,
} from '../sandbox/paths.ts';
import { secretContentReason } from '../sandbox/secretContent.ts';
import { parsePlainCommandLine } from '../shellSyntax/commandLine.ts';
import { expandBraces, expandWord, hasGlob, matchesBashGlob, unescapeShellWord } from '../shellSyntax/expandWord.ts';
import {
  commandProgramName,
  parseShellCommandSegments,
  type ShellCommandSegment,
  type ShellWord,
  unknownShellTextPlaceholder,
  workingFolderPlaceholder,
} from '../shellSyntax/shellWords.ts';
import { secretGitOutputReason } from './gitOutput.ts';
import { printedSecretsReason } from './printedSecrets.ts';
import { settingChangeApprovalReason } from './settingChanges.ts';
import { possibleWorkingFolders } from './workingFolders.ts';

/**
 * Paths that a command names, as far as visible without execution. `paths` are workspace-relative; a folder or a prefix (`src/*.ts`) ends
 * with `/`, and the workspace is ''. `protected` is the reason of a protected path; `shown` is the reason to approve the displayed contents
 * without one.
 */
interface ReferencedPaths {
  paths: string[];
  protected?: LocalizedMessage;
  shown?: LocalizedMessage;
}

// Maximum paths to check; above, the command counts as naming the whole workspace.
const maxPaths = 1000;
const tooMany: ReferencedPaths = { paths: [''], protected: message('It has too many words to be checked.') };

/**
 * Returns the workspace paths that a command names: every word, quoted or not, also option values, relative to all working folders, with
 * globs and braces expanded. Includes protected paths of the user outside and changed settings. Variables, substitutions and files found by
 * programs are invisible.
 */
export async function findReferencedPaths(
  roots: readonly WorkspaceRoot[],
  folder: string,
  command: string,
  platform: string = process.platform,
  home: string = homedir(),
): Promise<ReferencedPaths> {
  const parts = parseShellCommandSegments(command, { home, platform });
  const inOrder = wordsOf(command, platform);
  const words = [...new Set(inOrder)];
  const moves = inOrder.filter((_, at) => /^(cd|pushd|-C|--cwd|--prefix)$/.test(inOrder[at - 1] ?? ''));
  const foldersOf = await possibleWorkingFolders(parts, folder, home, platform);
  const changedTo = parts.flatMap((_, index) => foldersOf(index).folders);
  const folders = new Set([folder, ...moves.map((move) => paths.resolve(folder, move)), ...changedTo]);
  const shellWords = wordsIn(parts);
  if (Math.max(words.length, shellWords.length) * folders.size > maxPaths) return tooMany;
  const named = new Set<string>();
  // Outside paths are judged by spelling: `~/.ssh/id_rsa`.
  let why = words.map((word) => reasonOf(word, word.includes('/'))).find((reason) => reason !== undefined);
  for (const from of folders)
    for (const word of words) {
      const [known, ...rest] = word.split(/[*?[{$]/);
      const begins = rest.length > 0;
      const spelled = begins ? known!.slice(0, known!.lastIndexOf('/') + 1) || '.' : word;
      const at = paths.resolve(from, spelled);
      const resolved = await resolvePath(roots, at, 'search').catch(() => undefined);
      const path = resolved?.relative ?? (await workspaceRelativePath(roots, at));
      if (path === undefined) continue;
      const isFolder = begins || resolved?.kind === 'folder';
      named.add(!isFolder ? path : path === '.' ? '' : `${path}/`);
      why ??= reasonOf(path, resolved !== undefined) ?? (await contentReason(resolved));
    }
  why ??= settingChangeApprovalReason(parts) ?? printedSecretsReason(parts);
  let shown: LocalizedMessage | undefined;
  for (const [index, { words }] of parts.entries()) {
    const [from, ...others] = foldersOf(index).folders;
    if (from !== undefined && others.length === 0)
      shown ??= await secretGitOutputReason(words.map(unescapeShellWord), from, roots);
  }
  if (/dotglob|extglob|globstar|nocaseglob|GLOBIGNORE/.test(command) && hasGlob(command))
    why ??= message('It changes the meaning of globs.');
  for (const from of folders)
    for (const word of shellWords) why ??= await reasonOfWord(word, from, { roots, home, platform });
  return { paths: [...named], ...(why && { protected: why }), ...(shown && { shown }) };
}

function wordsOf(command: string, platform: string): string[] {
  const whole = (parsePlainCommandLine(command) ?? []).flat();
  const joined = command.replaceAll('\\\n', '');
  const loose = [joined, joined.replace(/['"]/g, '')]
    .flatMap((text) => text.split(/[\s'"`;|&<>(){}=,:]+/))
    .map((word) => word.replaceAll('\\', platform === 'win32' ? '/' : ''));
  return [...whole, ...loose].filter(Boolean);
}

interface WordInFolder {
  word: ShellWord;
  written: boolean;
  started: boolean;
}

function wordsIn(parts: readonly ShellCommandSegment[]): WordInFolder[] {
  const found = new Map<string, WordInFolder>();
  const add = (word: ShellWord, written: boolean, started: boolean) => {
    const pieces = word.split(/[=:@]/);
    for (const piece of [word, ...(pieces.length > 1 ? pieces : []), ...(/^-\w\W/.test(word) ? [word.slice(2)] : [])])
      if (piece !== '') found.set(`${piece}\n${written}${started}`, { word: piece, written, started });
  };
  for (const { words, writes, reads } of parts) {
    const programs = words.map(commandProgramName);
    const writer = programs.findIndex((name) => writesAll.has(name) || writesLast.has(name));
    const last = words.findLastIndex((word) => !word.startsWith('-'));
    for (const [at, word] of words.entries()) {
      const isWritten = writer >= 0 && at > writer && (writesAll.has(programs[writer]!) || at === last);
      add(word, isWritten, at === 0 || /^(source|\.|exec|env|sudo|command|nohup|time)$/.test(programs[at - 1]!));
    }
    for (const word of writes) add(word, true, false);
    for (const word of reads) add(word, false, false);
  }
  return [...found.values()];
}

const set = (names: string) => new Set(names.split(' '));
const writesAll = set(
  'tee touch truncate mkdir sed perl patch chmod chown dd unzip tar new-item set-content add-content out-file',
);
const writesLast = set('cp mv ln install rsync scp copy-item move-item');

interface Around {
  roots: readonly WorkspaceRoot[];
  home: string;
  platform: string;
}

async function reasonOfWord(
  { word, written, started }: WordInFolder,
  from: string,
  { roots, home, platform }: Around,
): Promise<LocalizedMessage | undefined> {
  const escaped = from.replace(/[\\*?[\]{},]/g, '\\$&');
  const pattern = word.replaceAll(workingFolderPlaceholder, escaped).replaceAll(unknownShellTextPlaceholder, '');
  for (const spelling of expandBraces(pattern) ?? []) {
    const expanded = hasGlob(spelling) ? await expandWord(spelling, from) : [unescapeShellWord(spelling)];
    if (!expanded) return tooMany.protected;
    const mayBe = hasGlob(spelling) ? hiddenMeant(spelling) : [];
    for (const path of [...expanded, ...mayBe]) {
      const at = paths.resolve(from, path);
      const resolved = await resolvePath(roots, at, 'search').catch(() => undefined);
      const relative = resolved?.relative ?? (await workspaceRelativePath(roots, at));
      const why =
        relative === undefined
          ? (reasonOf(path, path.includes('/')) ??
            reasonOf(at, at.startsWith('/proc/')) ??
            (await homePathApprovalReason(at, home, { written, started, platform })))
          : (reasonOf(relative, resolved !== undefined) ??
            (await contentReason(resolved)) ??
            (written ? await writtenReason(roots, relative, at) : undefined));
      if (why) return why;
    }
  }
  return expandBraces(pattern) ? undefined : tooMany.protected;
}

// Returns hidden names that a glob may match although no file exists yet; the glob must contain at least two letters of the name.
function hiddenMeant(spelling: string): string[] {
  const names = spelling.split('/');
  const letters = (name: string) => unescapeShellWord(name.replace(/\[[^\]]*\]|[*?.]/g, '')).length;
  const at = names.findIndex((name) => hasGlob(name) && /^\\?\./.test(name) && letters(name) >= 2);
  if (at < 0) return [];
  const meant = hiddenSensitiveNames.filter((name) => matchesBashGlob(names[at]!, name));
  return meant.map((name) => unescapeShellWord([...names.slice(0, at), name, ...names.slice(at + 1)].join('/')));
}

/**
 * Returns the reason to approve a write to a path: installed code, a Git repository under any name, start files of a configured server, or
 * files included by `CLAUDE.md`. Undefined for other paths. Reading is exempt, because installed code is read all the time.
 */
async function writtenReason(
  roots: readonly WorkspaceRoot[],
  relative: string,
  at: string,
): Promise<LocalizedMessage | undefined> {
  const installed = installedPackageApprovalReason(relative.split('/'));
  if (installed) return namesPath(relative, installed);
  const root = roots.find(({ path }) => at.startsWith(path + paths.sep));
  const around = root && (await findContainingRepository(root.path, at.slice(root.path.length + 1).split(paths.sep)));
  if (around === 'repository') return namesOfGit(relative);
  if (around) return namesPath(relative, installedCodeApprovalReason);
  const included =
    serverStartFileApprovalReason(roots, at) ??
    (await includedInstructionApprovalReason(
      openFolderRoots(roots).map(({ path }) => path),
      at,
    ));
  return included && namesPath(relative, included);
}

const namesPath = (path: string, reason: LocalizedMessage): LocalizedMessage =>
  message('It names {0}. {1}', path, reason);
const namesOfGit = (path: string): LocalizedMessage => message('It names {0}, which belongs to Git.', path);

async function contentReason(resolved: ResolvedPath | undefined): Promise<LocalizedMessage | undefined> {
  const reason = resolved?.kind === 'file' ? await secretContentReason(resolved.path) : undefined;
  return reason && namesPath(resolved!.relative, reason);
}

/**
 * Returns the reason for a path by name. A missing file holds no secret, but may be created: `process.env` is no file, `.vscode/tasks.json`
 * may become one. A leading dot always counts as a file name.
 */
function reasonOf(path: string, exists: boolean): LocalizedMessage | undefined {
  const segments = path.split('/').filter((name) => name !== '' && name !== '.');
  if (isGitInternal(segments) && segments.length > 1) return namesOfGit(path);
  const isMeant = exists || segments.at(-1)?.startsWith('.');
  const reason = autoRunPathReason(segments) ?? (isMeant ? secretFileReason(segments) : undefined);
  return reason && namesPath(path, reason);
}
