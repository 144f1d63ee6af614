// @invariant commands-are-judged-whole: A command that is not understood completely requires approval.
import { stat } from 'node:fs/promises';
import * as paths from 'node:path';
import { inEnglish, message } from '../../protocol/text/l10n.ts';
import { type LocalizableText, localizedMessageIn } from '../../protocol/text/localized.ts';
import { type CommandPart, readingRow } from '../core/commandPart.ts';
import { ToolError } from '../core/tool.ts';
import type { WorkspaceRoot } from '../core/workspace.ts';
import { relativeTo, resolvePath } from '../sandbox/paths.ts';
import { readScript } from '../shellSyntax/shellSyntax.ts';
import { type CommandStep, isKnown, Unclear } from './commandStep.ts';
import { configuredFolders } from './configuredFolders.ts';
import { expandScript } from './expandScript.ts';
import { NotOnlyRead } from './gitReading.ts';
import { rowFor } from './grants/grantTable.ts';
import { isNeutral, withoutPrefix } from './grants/neutral.ts';
import { buildFolder, type DiskClaim, pathInWord } from './grants/values.ts';
import { isIgnoredByGit } from './ignoredByGit.ts';
import type { IsOutput } from './outputFiles.ts';
import { checked, type ReadOnlyCommand, type ReadOnlyLine, readingOf, Unknown } from './readOnly.ts';

export interface CommandAnalysis {
  /** How it runs when nobody is asked because it only reads; a sentence: why it is not known to. */
  reading: ReadOnlyLine | string;
  /** The sentence, for the person. */
  said?: LocalizableText;
  /** All programs that it runs; absent where that cannot be said. */
  parts?: CommandPart[];
}

/**
 * What a command runs, as far as that can be said from its text and the disk.
 * @param folder absolute and real
 * @param isOutput which files outside may be read as if they were inside
 */
export async function understand(
  roots: readonly WorkspaceRoot[],
  folder: string,
  text: string,
  platform: string = process.platform,
  isOutput?: IsOutput,
): Promise<CommandAnalysis> {
  if (platform === 'win32') return notRead(message('Commands of this system always ask.'));
  const script = readScript(text);
  if (!script) return notRead(usesMore);
  try {
    const { steps, straight } = await expandScript(script, folder, roots);
    const readings = new Map<CommandStep, ReadOnlyCommand>();
    const parts: CommandPart[] = [];
    let why: LocalizableText | undefined;
    let whole = true;
    for (const step of steps) {
      const reading = await readingOf(step, roots, platform, isOutput).catch((error) => {
        why ??= whyNot(error);
        return undefined;
      });
      if (reading) readings.set(step, reading);
      const part = await partOf(step, reading, roots, platform, isOutput);
      if (part) parts.push(part);
      else whole = false;
    }
    // Through a shell it runs only where commands that look are allowed.
    const throughShell = why === undefined && (!straight || steps.some(({ variables }) => variables.length > 0));
    const asRow = (part: CommandPart): CommandPart => ({
      ...part,
      reads: false,
      row: { command: readingRow, kind: 'looks' },
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

const notRead = (said: LocalizableText): CommandAnalysis => ({ reading: inEnglish(said), said });

function whyNot(error: unknown): LocalizableText {
  if (error instanceof Unclear || error instanceof Unknown || error instanceof NotOnlyRead)
    return localizedMessageIn(error);
  if (error instanceof ToolError) return error.message;
  throw error;
}

/** Undefined: it cannot be said what it does, or what comes through the pipe decides that. */
async function partOf(
  step: CommandStep,
  reading: ReadOnlyCommand | undefined,
  roots: readonly WorkspaceRoot[],
  platform: string,
  isOutput: IsOutput | undefined,
): Promise<CommandPart | undefined> {
  const folder = await relativeTo(roots, step.folder);
  if (folder === undefined) return undefined;
  const variables = step.variables.filter(([name, value]) => !isNeutral(name, value));
  const words = withoutPrefix(step.words);
  const part: CommandPart = { words: written(variables, words), folders: [folder], reads: true };
  // Through a shell it would search what may hold secrets: what leaves that out runs without one.
  const reads =
    reading ??
    (words.length < step.words.length
      ? await readingOf({ ...step, words }, roots, platform, isOutput).catch(() => undefined)
      : undefined);
  // Other names inside the workspace are read as well; whatever makes them in between could have read what they are links to.
  const settled = step.unsettled !== 'options';
  if (variables.length === 0 && settled && ((reads && !reads.searches) || steers(words))) return part;
  part.reads = false;
  if (shellWords.has(words[0]!)) return undefined;
  if (![...words, ...variables.flat()].every(isKnown) || step.piped) {
    if (step.piped) return undefined;
    part.words = '';
  }
  if (variables.length > 0) return part.words === '' || step.unsettled ? undefined : part;
  if (!settled) return undefined;
  const match = await rowFor(words, step.folder, roots);
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

/** The folder whose project a command in `folder` (workspace-relative) acts on. */
async function homeOf(
  home: 'go.mod' | 'build',
  folder: string,
  path: string,
  roots: readonly WorkspaceRoot[],
): Promise<string | undefined> {
  if (home === 'build') {
    const names = folder.split('/');
    const at = names.findIndex((_, index) => buildFolder.test(names.slice(index).join('/')));
    return at < 0 ? undefined : names.slice(0, at).join('/') || '.';
  }
  for (let place = path; ; place = paths.dirname(place)) {
    const relative = await relativeTo(roots, place);
    if (relative === undefined) return undefined;
    if (await checked(roots, place, home, 'search').catch(() => undefined)) return relative || '.';
    if (relative === '.' || relative === '') return undefined;
  }
}

/** The shell does these itself, and what follows them in a line may be another thing by it: only the whole line is what was shown. */
const shellWords = new Set(
  (
    '. : alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown enable eval exec exit export fc fg ' +
    'getopts hash help history jobs let local logout mapfile popd printf pushd read readarray readonly return set shift shopt source suspend test ' +
    'times trap type typeset ulimit umask unalias unset wait'
  ).split(' '),
);

/** What the shell does itself and changes nothing by: it goes on, or says what a name means. */
const steers = ([first, ...rest]: readonly string[]): boolean =>
  ((first === ':' || first === 'break' || first === 'continue') && rest.length === 0) ||
  (first === 'command' &&
    /^-[vV]$/.test(rest[0] ?? '') &&
    rest.slice(1).every((word) => /^[a-z][\w.+-]*$/i.test(word)));

/** The folders among them, workspace-relative; undefined when one of the places may not be touched unasked. */
async function checkedClaims(
  claims: readonly DiskClaim[],
  folder: string,
  roots: readonly WorkspaceRoot[],
): Promise<string[] | undefined> {
  const folders: string[] = [];
  try {
    for (const { path, as, program } of claims) {
      if (as === 'folder') {
        // A file says what to do in the folder that it lies in; `Api.Tests` may be either.
        const there = await stat(paths.resolve(folder, path)).catch(() => undefined);
        const isFolder = there ? there.isDirectory() : !/\.\w+$/.test(path);
        const found = await checked(roots, folder, isFolder ? path : paths.dirname(path), 'list');
        const relative = found === undefined ? undefined : await relativeTo(roots, found);
        if (relative === undefined) return undefined;
        folders.push(relative);
      } else if (as === 'output') {
        const found = await resolvePath(roots, paths.resolve(folder, path), 'write');
        if (found.protected || found.kind === 'folder' || found.kind === 'link') return undefined;
        if (found.kind === 'file' && !(await isIgnoredByGit(found.path, roots))) return undefined;
      } else if (as === 'configured') {
        const found = await checked(roots, folder, beginning(pathInWord(path)), 'search');
        if (found !== undefined) folders.push(...(await configuredFolders(program!, found, folder, roots)));
      } else if (as === 'module' || as === 'package') {
        // The one of the same name that comes with Python would do anything when it is loaded.
        const places = await Promise.all(
          [...(as === 'module' ? [`${path}.py`] : []), `${path}/__init__.py`].map((file) =>
            checked(roots, folder, file, 'read'),
          ),
        );
        const bare = path === 'tests' ? await checked(roots, folder, path, 'search') : undefined;
        if (!places.some(Boolean) && !bare) return undefined;
      } else {
        const found = await checked(roots, folder, beginning(path), 'search');
        if (as === 'there' && !found) return undefined;
      }
    }
  } catch (error) {
    whyNot(error);
    return undefined;
  }
  return folders;
}

/** Of a glob that the program itself goes through, the folder that it begins in. */
const beginning = (path: string): string => {
  const [plain] = /^[^*?[{]*/.exec(path)!;
  return plain === path ? path : plain.slice(0, plain.lastIndexOf('/') + 1) || '.';
};

/** As a person would write it: quotes where they are needed. */
const written = (variables: readonly [string, string][], words: readonly string[]): string =>
  [...variables.map(([name, value]) => `${name}=${quoted(value)}`), ...words.map(quoted)].join(' ');

const quoted = (word: string): string => (/^[\w@%+=:,./^-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
