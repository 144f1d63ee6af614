// @invariant commands-are-judged-whole: A command that is not understood completely requires approval.
import { readdir, stat } from 'node:fs/promises';
import * as paths from 'node:path';
import { message, toEnglishText } from '../../protocol/text/l10n.ts';
import { type LocalizableText, storedLocalizableText } from '../../protocol/text/localized.ts';
import { type CommandPart, readOnlyCommandsRuleId } from '../core/commandPart.ts';
import { createGlobMatcher } from '../core/glob.ts';
import { maxJsonBytes, parseLimitedJson } from '../core/parseLimits.ts';
import { ToolError } from '../core/tool.ts';
import type { WorkspaceRoot } from '../core/workspace.ts';
import { resolvePath, workspaceRelativePath } from '../sandbox/paths.ts';
import { readRegularFile } from '../sandbox/regularFile.ts';
import { parseShellScript } from '../shellSyntax/shellSyntax.ts';
import { isStaticShellWord, type ResolvedProgramInvocation, UndeterminedCommandError } from './commandStep.ts';
import { expandScript } from './expandScript.ts';
import { GitNotReadOnlyError } from './gitReading.ts';
import { listGitTrackedFiles } from './gitTracked.ts';
import { findGrantRow } from './grants/grantTable.ts';
import { findProgramOnPath } from './grants/launchers.ts';
import { isHarmlessEnvVariable, stripCommandPrefixes } from './grants/neutral.ts';
import { pathOfTestSelector, patternOfBuildOutputFolders, type RequiredFileCheck } from './grants/values.ts';
import type { CommandOutputFilePredicate } from './outputFiles.ts';
import { startsNoWorkspaceProgram } from './outside/outsideRepository.ts';
import { outsideProgramOf } from './outsideProgram.ts';
import {
  checkCommandArgumentPath,
  checkReadOnlyCommand,
  NotReadOnlyCommandError,
  type ReadOnlyCommand,
  type ReadOnlyCommandLine,
} from './readOnly.ts';
import { programForOutside } from './unsandboxedPrograms.ts';

const largestIgnoreFile = 100_000;

/**
 * Tests if Git ignores a file (absolute and real) by a simple line of a surrounding `.gitignore`: a name, a path, or a glob of names. False
 * if a line negates the pattern, if Git tracks the file, or if either is unknown.
 */
async function isIgnoredByGit(file: string, roots: readonly WorkspaceRoot[]): Promise<boolean> {
  const folder = paths.dirname(file);
  const tracked = await listGitTrackedFiles(folder, roots);
  if (!tracked || tracked.names.includes(tracked.below + paths.basename(file))) return false;
  let ignored = false;
  for (
    let ancestor = folder;
    (await workspaceRelativePath(roots, ancestor)) !== undefined;
    ancestor = paths.dirname(ancestor)
  ) {
    const text = await readRegularFile(paths.join(ancestor, '.gitignore'), largestIgnoreFile).then(String, () => '');
    const lines = text.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
    if (lines.some((line) => line.startsWith('!'))) return false;
    const below = paths.relative(ancestor, file);
    ignored ||= lines.some((line) => covers(line, below));
    if (paths.dirname(ancestor) === ancestor) break;
  }
  return ignored;
}

function covers(line: string, path: string): boolean {
  if (!/^\/?[\w.*-]+(\/[\w.-]+)*\/?$/.test(line)) return false;
  const names = path.split('/');
  const pattern = line.replace(/^\/|\/$/g, '');
  const isFolder = line.endsWith('/');
  if (line.replace(/\/$/, '').includes('/')) return path.startsWith(`${pattern}/`) || (!isFolder && path === pattern);
  const test = createGlobMatcher(pattern);
  return (isFolder ? names.slice(0, -1) : names).some((name) => test(name));
}

/**
 * Analysis of a command. `reading` is the read-only execution without an approval, or a sentence with the reason why the command is not
 * known to be read-only; `said` is the localizable sentence. `parts` are all programs, absent if unknown.
 */
export interface CommandAnalysis {
  reading: ReadOnlyCommandLine | string;
  said?: LocalizableText;
  parts?: CommandPart[];
}

/**
 * Analyzes the programs of a command, as far as its text and the disk tell.
 * @param folder absolute and real
 * @param isOutput test for files outside that may be read like files inside
 */
export async function analyzeCommand(
  roots: readonly WorkspaceRoot[],
  folder: string,
  text: string,
  platform: string = process.platform,
  isOutput?: CommandOutputFilePredicate,
): Promise<CommandAnalysis> {
  if (platform === 'win32') return notRead(message('Commands of this system always ask.'));
  const script = parseShellScript(text);
  if (!script) return notRead(usesMore);
  try {
    const { steps, straight } = await expandScript(script, folder, roots);
    const readings = new Map<ResolvedProgramInvocation, ReadOnlyCommand>();
    const parts: CommandPart[] = [];
    let why: LocalizableText | undefined;
    let whole = true;
    for (const step of steps) {
      const reading = await checkReadOnlyCommand(step, roots, platform, isOutput).catch((error) => {
        why ??= whyNot(error);
        return undefined;
      });
      if (reading) readings.set(step, reading);
      const part = await partOf(step, reading, roots, platform, isOutput);
      if (part) parts.push(part);
      else whole = false;
    }
    // A read-only command that needs a shell runs only if a rule allows commands of kind `looks`.
    const throughShell = why === undefined && (!straight || steps.some(({ variables }) => variables.length > 0));
    const asRow = (part: CommandPart): CommandPart => ({
      ...part,
      reads: false,
      row: { command: readOnlyCommandsRuleId, kind: 'looks' },
    });
    const isReading = parts.length > 0 && parts.every(({ reads }) => reads);
    const all = { ...(whole && { parts: throughShell && isReading ? parts.map(asRow) : parts }) };
    if (why !== undefined || steps.some(({ variables }) => variables.length > 0))
      return { ...notRead(why ?? message('It sets variables.')), ...all };
    if (!straight) return { ...notRead(usesMore), ...all };
    const pipelines = straight.map((pipeline) => ({
      ...pipeline,
      commands: pipeline.commands.map((step) => ({ ...step, ...readings.get(step)! })),
    }));
    return { reading: { pipelines }, ...all };
  } catch (error) {
    return notRead(whyNot(error));
  }
}

const usesMore = message('It uses more of the shell than simple commands.');

const notRead = (reason: LocalizableText): CommandAnalysis => ({ reading: toEnglishText(reason), said: reason });

function whyNot(error: unknown): LocalizableText {
  if (
    error instanceof UndeterminedCommandError ||
    error instanceof NotReadOnlyCommandError ||
    error instanceof GitNotReadOnlyError
  )
    return storedLocalizableText(error);
  if (error instanceof ToolError) return error.message;
  throw error;
}

// Returns undefined if the effect of the command is unknown, or depends on the input of the pipe.
async function partOf(
  step: ResolvedProgramInvocation,
  reading: ReadOnlyCommand | undefined,
  roots: readonly WorkspaceRoot[],
  platform: string,
  isOutput: CommandOutputFilePredicate | undefined,
): Promise<CommandPart | undefined> {
  const folder = await workspaceRelativePath(roots, step.folder);
  if (folder === undefined) return undefined;
  const variables = step.variables.filter(([name, value]) => !isHarmlessEnvVariable(name, value));
  const words = stripCommandPrefixes(step.words);
  const part: CommandPart = { words: written(variables, words), folders: [folder], reads: true };
  // A search through a shell could include secret files; only the execution without a shell excludes them.
  const reads =
    reading ??
    (words.length < step.words.length
      ? await checkReadOnlyCommand({ ...step, words }, roots, platform, isOutput).catch(() => undefined)
      : undefined);
  // Other names inside the workspace are readable too; a process that created links in between could have read their targets itself.
  const settled = step.unsettled !== 'options';
  if (variables.length === 0 && settled && ((reads && !reads.searches) || steers(words))) return part;
  part.reads = false;
  if (programForOutside(part.words) !== undefined) part.needsOutside = true;
  if (shellWords.has(words[0]!)) return undefined;
  if (![...words, ...variables.flat()].every(isStaticShellWord) || step.piped) {
    if (step.piped) return undefined;
    part.words = '';
  }
  if (variables.length > 0) return part.words === '' || step.unsettled ? undefined : part;
  if (!settled) return undefined;
  const program = part.words === '' || step.unsettled ? undefined : outsideProgramOf(words);
  // A program of the project can have any name.
  const isSystem = program !== undefined && (await findProgramOnPath(words[0]!, step.folder, roots)).in === 'system';
  if (isSystem && (words[0] !== 'git' || (await startsNoWorkspaceProgram(words, step.folder)))) part.program = program;
  const match = await findGrantRow(words, step.folder, roots);
  const claimed = match && (await checkedClaims(match.claims, step.folder, roots));
  if (claimed) {
    const home = match.home && (await homeOf(match.home, folder, step.folder, roots));
    const { command, kind, copies } = match;
    const around = home !== undefined && home !== folder && { folders: [...new Set([home, ...claimed])] };
    return {
      ...part,
      folders: [...new Set([folder, ...claimed])],
      row: { command, kind, ...(copies && { copies }), ...around },
    };
  }
  return part.words === '' || step.unsettled ? undefined : part;
}

async function homeOf(
  home: 'go.mod' | 'build',
  folder: string,
  path: string,
  roots: readonly WorkspaceRoot[],
): Promise<string | undefined> {
  if (home === 'build') {
    const names = folder.split('/');
    const at = names.findIndex((_, index) => patternOfBuildOutputFolders.test(names.slice(index).join('/')));
    return at < 0 ? undefined : names.slice(0, at).join('/') || '.';
  }
  for (let ancestor = path; ; ancestor = paths.dirname(ancestor)) {
    const relative = await workspaceRelativePath(roots, ancestor);
    if (relative === undefined) return undefined;
    if (await checkCommandArgumentPath(roots, ancestor, home, 'search').catch(() => undefined)) return relative || '.';
    if (relative === '.' || relative === '') return undefined;
  }
}

// Shell builtins. A builtin can change the meaning of later commands, so only the whole line can be allowed.
const shellWords = new Set(
  (
    '. : alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown enable eval exec exit export fc fg ' +
    'getopts hash help history jobs let local logout mapfile popd printf pushd read readarray readonly return set shift shopt source suspend test ' +
    'times trap type typeset ulimit umask unalias unset wait'
  ).split(' '),
);

const steers = ([first, ...rest]: readonly string[]): boolean =>
  ((first === ':' || first === 'break' || first === 'continue') && rest.length === 0) ||
  (first === 'command' &&
    /^-[vV]$/.test(rest[0] ?? '') &&
    rest.slice(1).every((word) => /^[a-z][\w.+-]*$/i.test(word)));

// Undefined if one of the paths needs an approval.
async function checkedClaims(
  claims: readonly RequiredFileCheck[],
  folder: string,
  roots: readonly WorkspaceRoot[],
): Promise<string[] | undefined> {
  const folders: string[] = [];
  try {
    for (const { path, as, program } of claims) {
      if (as === 'folder') {
        // A file configures the work in its own folder; `Api.Tests` may be a file or a folder.
        const stats = await stat(paths.resolve(folder, path)).catch(() => undefined);
        const isFolder = stats ? stats.isDirectory() : !/\.\w+$/.test(path);
        const found = await checkCommandArgumentPath(roots, folder, isFolder ? path : paths.dirname(path), 'list');
        const relative = found === undefined ? undefined : await workspaceRelativePath(roots, found);
        if (relative === undefined) return undefined;
        folders.push(relative);
      } else if (as === 'output') {
        const found = await resolvePath(roots, paths.resolve(folder, path), 'write');
        if (found.protected || found.kind === 'folder' || found.kind === 'link') return undefined;
        if (found.kind === 'file' && !(await isIgnoredByGit(found.path, roots))) return undefined;
      } else if (as === 'configured') {
        const found = await checkCommandArgumentPath(roots, folder, beginning(pathOfTestSelector(path)), 'search');
        if (found !== undefined) folders.push(...(await configuredFolders(program!, found, folder, roots)));
      } else if (as === 'module' || as === 'package') {
        // A local module with the name of a Python module would be loaded instead.
        const targets = await Promise.all(
          [...(as === 'module' ? [`${path}.py`] : []), `${path}/__init__.py`].map((file) =>
            checkCommandArgumentPath(roots, folder, file, 'read'),
          ),
        );
        const bare = path === 'tests' ? await checkCommandArgumentPath(roots, folder, path, 'search') : undefined;
        if (!targets.some(Boolean) && !bare) return undefined;
      } else {
        const found = await checkCommandArgumentPath(roots, folder, beginning(path), 'search');
        if (as === 'there' && !found) return undefined;
      }
    }
  } catch (error) {
    whyNot(error);
    return undefined;
  }
  return folders;
}

const beginning = (path: string): string => {
  const [plain] = /^[^*?[{]*/.exec(path)!;
  return plain === path ? path : plain.slice(0, plain.lastIndexOf('/') + 1) || '.';
};

const written = (variables: readonly [string, string][], words: readonly string[]): string =>
  [...variables.map(([name, value]) => `${name}=${quoted(value)}`), ...words.map(quoted)].join(' ');

const quoted = (word: string): string => (/^[\w@%+=:,./^-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/**
 * Returns the folders (workspace-relative) around a path with their own configuration for a program; such configuration may be code. The
 * working folder is excluded, because its rule applies anyway.
 * @param path absolute and real @param folder working folder of the program
 */
async function configuredFolders(
  program: string,
  path: string,
  folder: string,
  roots: readonly WorkspaceRoot[],
): Promise<string[]> {
  const isFolder = await stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  const found: string[] = [];
  for (let ancestor = isFolder ? path : paths.dirname(path); ancestor !== folder; ancestor = paths.dirname(ancestor)) {
    const relative = await workspaceRelativePath(roots, ancestor);
    if (relative === undefined) break;
    if (await isConfigured(program, ancestor)) found.push(relative || '.');
    if (paths.dirname(ancestor) === ancestor) break;
  }
  return found;
}

// Tests for a file named after the program, or a key in `package.json`. An unreadable file counts.
async function isConfigured(program: string, folder: string): Promise<boolean> {
  const names: string[] = await readdir(folder).catch(() => []);
  const called = program.replace(/[-_.]?cli\d*$/, '');
  if (names.some((name) => name.toLowerCase().includes(called))) return true;
  if (!names.includes('package.json')) return false;
  try {
    const manifest = parseLimitedJson(
      (await readRegularFile(paths.join(folder, 'package.json'), maxJsonBytes)).toString(),
    );
    return Object.keys(Object(manifest)).some((key) => key.toLowerCase().startsWith(called));
  } catch {
    return true;
  }
}
