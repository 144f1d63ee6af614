import * as paths from 'node:path';
import { message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';
import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';
import { ToolError } from '../core/tool.ts';
import type { WorkspaceRoot } from '../core/workspace.ts';
import { isGitInternal } from '../policy/protectedPaths.ts';
import { caseInsensitiveSecretGlobs, grepSecretExcludes, secretFileReason } from '../policy/secretFiles.ts';
import { resolvePath } from '../sandbox/paths.ts';
import { isReadOnlyAwkProgram } from '../shellSyntax/awk.ts';
import {
  type CommandPipeline,
  formatShellWordForDisplay,
  isStaticShellWord,
  type ResolvedProgramInvocation,
  unknownValuePlaceholders,
} from './commandStep.ts';
import { readOnlyGitArguments } from './gitReading.ts';
import type { CommandOutputFilePredicate } from './outputFiles.ts';
import {
  type ReadOnlyProgram,
  readOnlyFindArguments,
  readOnlyPrograms,
  systemProgramFolders,
} from './readOnlyPrograms.ts';
import { isReadOnlyJqFilter, isReadOnlySedScript, pathsInShellTestExpression } from './readOnlyScripts.ts';

export interface ReadOnlyCommandLine {
  pipelines: CommandPipeline[];
}

export class NotReadOnlyCommandError extends UserFacingError {}

export interface ReadOnlyCommand {
  words: string[];
  /** The program walks folders itself; only these arguments exclude secret files. */
  searches: boolean;
}

/** Checks that a program only reads, inside the workspace, and no secrets. Throws `Unknown`, or the errors of the path check. */
export async function checkReadOnlyCommand(
  { words, folder, piped }: Pick<ResolvedProgramInvocation, 'words' | 'folder' | 'piped'>,
  roots: readonly WorkspaceRoot[],
  platform: string,
  isOutput?: CommandOutputFilePredicate,
): Promise<ReadOnlyCommand> {
  const [spelled, ...args] = words;
  const name = paths.posix.basename(spelled!);
  const program = readOnlyPrograms.get(name);
  const isInSystemFolder = spelled === name || systemProgramFolders.includes(paths.posix.dirname(spelled!));
  if (!program || !isInSystemFolder)
    throw new NotReadOnlyCommandError(
      message('“{0}” is not a known read-only command.', formatShellWordForDisplay(spelled!)),
    );
  const git = spelled === name && args.length > 0 ? await readOnlyGitArguments(words, folder, roots) : undefined;
  if (git) return { words: git, searches: false };
  // `git checkout` is another command than `git`.
  if (program.operands === 'none' && args.some((word) => !word.startsWith('-')))
    throw new NotReadOnlyCommandError(
      message(
        '“{0}” is not a known read-only command.',
        truncateWithEllipsis(formatShellWordForDisplay(words.join(' ')), 60),
      ),
    );
  const unclear = args.find((word) => !isStaticShellWord(word) && word !== unknownValuePlaceholders.file);
  if (unclear !== undefined && !printingPrograms.has(name))
    throw new NotReadOnlyCommandError(message('{0} is known only at run time.', formatShellWordForDisplay(unclear)));
  const { operands, options } = split(name, program, args, platform);
  const files = (await pathsAmong(name, program, operands, options)).filter(
    (file) => file !== unknownValuePlaceholders.file,
  );
  if (files.length > 0 && program.most !== undefined && operands.length > program.most)
    throw new NotReadOnlyCommandError(message('{0} accepts fewer files.', name));
  const kind = program.operands === 'files' ? 'read' : 'search';
  const reads = files.length > 0 || kind === 'read' || operands.includes(unknownValuePlaceholders.file);
  const targets = reads ? files : ['.'];
  for (const target of targets) await checkCommandArgumentPath(roots, folder, target, kind, isOutput);
  const recursive = name === 'grep' && (options.has('r') || options.has('recursive'));
  if (name !== 'rg' && !recursive) return { words, searches: false };
  if (recursive && platform !== 'linux')
    throw new NotReadOnlyCommandError(message('The exclusions of this grep could not be set.'));
  // Search programs walk folders themselves: exclusions are added, and ripgrep ignores its configuration.
  for (const target of targets) await checkSearched(roots, folder, target);
  if (name === 'rg')
    return {
      words: [spelled!, '--no-config', ...caseInsensitiveSecretGlobs.map((glob) => `--iglob=!${glob}`), ...args],
      searches: !piped || files.length > 0,
    };
  // The last of these options wins, so the exclusions come last.
  const end = args.indexOf('--');
  const [front, back] = end < 0 ? [args, []] : [args.slice(0, end), args.slice(end)];
  return { words: [spelled!, ...front, ...grepSecretExcludes, ...back], searches: true };
}

const printingPrograms = new Set(['echo', 'printf', '[', 'test']);

interface Split {
  operands: string[];
  options: Set<string>;
}

/**
 * Separates options from operands; every option must be known. `echo`, `true` and `find` have no options here. If a value must be attached
 * (`--context`, and on macOS `-C`, of grep), the next word is a file. On macOS, most programs take all words after the first operand as
 * files, even output files (`uniq a -c`).
 */
function split(name: string, program: ReadOnlyProgram, args: readonly string[], platform: string): Split {
  const options = new Set<string>();
  if (
    program.operands === 'find' ||
    program.operands === 'test' ||
    program.operands === 'format' ||
    (program.operands === 'text' && !program.flags)
  )
    return { operands: [...args], options };
  const operands: string[] = [];
  const long = new Set(program.long?.split(' '));
  const unknown = (option: string) =>
    new NotReadOnlyCommandError(
      message('“{0}” is not a known read-only command.', formatShellWordForDisplay([name, option].join(' '))),
    );
  for (let at = 0; at < args.length; at++) {
    const word = args[at]!;
    if (word === '--') {
      operands.push(...args.slice(at + 1));
      break;
    }
    if (platform === 'darwin' && name !== 'rg' && operands.length > 0 && /^-./.test(word))
      throw new NotReadOnlyCommandError(
        message('{0} is behind a file, where {1} takes it for another file.', word, name),
      );
    if (word.startsWith('--')) {
      const [, option, value] = /^--([^=]*)(=.*)?$/s.exec(word)!;
      if (!long.has(`${option}=`) && !(long.has(option!) && value === undefined)) throw unknown(word);
      if (!long.has(option!) && value === undefined && (name !== 'rg' || ++at >= args.length)) throw unknown(word);
      options.add(option!);
    } else if (/^-\d+$/.test(word) && (name === 'head' || name === 'tail')) options.add('n');
    else if (word.startsWith('-') && word !== '-') {
      for (let end = 1; end < word.length; end++) {
        const letter = word[end]!;
        options.add(letter);
        if (program.flags?.includes(letter)) continue;
        if (!program.values?.includes(letter)) throw unknown(`-${letter}`);
        const mustAttach = platform === 'darwin' && name === 'grep' && letter === 'C';
        if (end === word.length - 1 && (mustAttach || ++at >= args.length)) throw unknown(word);
        break; // the rest of the word is its value
      }
    } else operands.push(word);
  }
  return { operands, options };
}

function pathsAmong(name: string, program: ReadOnlyProgram, operands: string[], options: Set<string>): string[] {
  switch (program.operands) {
    case 'files':
      // Programs of binutils read options from such a file, including plugins to load.
      if (operands.some((word) => word.startsWith('@')))
        throw new NotReadOnlyCommandError(message('{0} may read its options from a file.', name));
      return operands;
    case 'paths':
      return operands;
    case 'pattern':
      return options.has('e') || options.has('regexp') || options.has('files') ? operands : operands.slice(1);
    case 'find':
      return foldersOfFind(operands);
    case 'sed':
    case 'awk':
    case 'jq': {
      const [script = '', ...files] = operands;
      if (!{ sed: isReadOnlySedScript, awk: isReadOnlyAwkProgram, jq: isReadOnlyJqFilter }[program.operands](script))
        throw new NotReadOnlyCommandError(message('This {0} may not be read-only.', program.operands));
      return files;
    }
    case 'test': {
      const tested = pathsInShellTestExpression(name === '[' ? operands.slice(0, -1) : operands);
      if (!tested || (name === '[' && operands.at(-1) !== ']'))
        throw new NotReadOnlyCommandError(message('This test may not be read-only.'));
      return tested;
    }
    case 'format': {
      // The shell's printf sets variables with `-v` and `%n`.
      const [format = ''] = operands;
      if (!isStaticShellWord(format) || format.startsWith('-') || /%[^%a-zA-Z]*[nN(]/.test(format.replaceAll('%%', '')))
        throw new NotReadOnlyCommandError(message('This printf may set a variable.'));
      return [];
    }
    case 'seconds':
      if (operands.length !== 1 || !/^\d{1,2}(\.\d+)?s?$/.test(operands[0]!))
        throw new NotReadOnlyCommandError(message('It waits for a long time.'));
      return [];
    case 'names':
      if (operands.some((word) => word.includes('/')))
        throw new NotReadOnlyCommandError(message('{0} takes names here.', name));
      return [];
    case 'date':
      if (operands.some((word) => !word.startsWith('+')))
        throw new NotReadOnlyCommandError(message('This date would set the clock.'));
      return [];
    case 'none':
      if ((name === 'git' || name === 'node') && options.size === 0)
        throw new NotReadOnlyCommandError(message('{0} can run anything.', name));
      return [];
    case 'streams':
      if (!operands.every((word) => /^\/dev\/(stderr|stdout|null)$/.test(word)))
        throw new NotReadOnlyCommandError(message('{0} writes a file.', name));
      return [];
    case 'text':
      return [];
  }
}

function foldersOfFind(words: readonly string[]): string[] {
  const begin = words.findIndex((word) => /^[-(!]/.test(word));
  const targets = begin < 0 ? [...words] : words.slice(0, begin);
  const tests = begin < 0 ? [] : words.slice(begin);
  for (let at = 0; at < tests.length; at++) {
    const word = tests[at]!;
    if (readOnlyFindArguments.has(`${word}=`) && at + 1 < tests.length) at++;
    else if (!readOnlyFindArguments.has(word))
      throw new NotReadOnlyCommandError(
        message('“{0}” is not a known read-only command.', formatShellWordForDisplay(`find ${word}`)),
      );
  }
  return targets;
}

// Refuses a search below a secret folder, because names no longer identify the files to exclude.
async function checkSearched(roots: readonly WorkspaceRoot[], folder: string, path: string): Promise<void> {
  const target = await resolvePath(roots, paths.resolve(folder, path), 'search').catch(() => undefined);
  const names = target?.relative.split('/') ?? [];
  if (isGitInternal(names) || secretFileReason([...names, '']))
    throw new NotReadOnlyCommandError(message('{0} may contain secrets.', path === '.' ? message('The folder') : path));
}

const isOutside = (error: unknown) =>
  error instanceof ToolError && (error.details as { reason?: string } | undefined)?.reason === 'OUTSIDE';

/**
 * Checks a path relative to `folder`. Returns the real path; undefined if nothing exists. Throws. Outside of the workspace, only output
 * files are allowed.
 */
export async function checkCommandArgumentPath(
  roots: readonly WorkspaceRoot[],
  folder: string,
  path: string,
  operation: 'read' | 'search' | 'list',
  isOutput?: CommandOutputFilePredicate,
): Promise<string | undefined> {
  // `x/..` is ambiguous if x is a link; a leading `..` starts from a folder without links.
  if (/(^|\/)(?!\.\.?\/)[^/]+\/+(.*\/)?\.\.(\/|$)/.test(path))
    throw new NotReadOnlyCommandError(message('{0} goes up and down.', path));
  try {
    const found = await resolvePath(roots, paths.resolve(folder, path), operation);
    if (found.protected) throw new NotReadOnlyCommandError(found.protected);
    return found.path;
  } catch (error) {
    if (isOutside(error) && (await isOutput?.(path))) return path;
    if (error instanceof ToolError && error.code === 'ENOENT' && operation !== 'list') return undefined; // the command only prints an error
    throw error;
  }
}
