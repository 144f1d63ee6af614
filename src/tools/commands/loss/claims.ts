import { stat } from 'node:fs/promises';
import * as paths from 'node:path';
import { createGlobMatcher } from '../../core/glob.ts';
import { unescapeShellWord } from '../../shellSyntax/expandWord.ts';
import {
  commandProgramName,
  parseShellCommandSegments,
  type ShellCommandSegment,
  type ShellWord,
  unknownShellTextPlaceholder,
} from '../../shellSyntax/shellWords.ts';
import { resolveShellWordTargets } from '../criticalPaths.ts';
import { possibleWorkingFolders } from '../workingFolders.ts';
import { codeInterpreterPattern, findCodeFileEffects, inlineCodeOptionPattern } from './codeEffects.ts';
import { withoutHereDocuments } from './hereDocuments.ts';
import { filePathsInPatch, readPatchFiles } from './patchedFiles.ts';
import { type CommandRecipe, findMakefileRecipe, findPackageScriptRecipe } from './recipes.ts';
import { findGitRepositoryRoot } from './repository.ts';

/**
 * Data that a command may discard, by absolute path. `delete`: a file or a folder with its contents, filtered by `only`. `edit`: a change
 * in place. `some`: unknown files below a folder. `copy`: files of a folder replace files of the same names elsewhere; `deletes` removes
 * all others there. `git`: a Git command. `unknown`: anything.
 */
export type PotentialLoss =
  | { kind: 'delete'; path: string; only?: (relative: string) => boolean }
  | { kind: 'overwrite'; path: string }
  | { kind: 'edit'; path: string }
  | { kind: 'some'; path: string }
  | { kind: 'copy'; from: string; to: string; deletes: boolean }
  | { kind: 'git'; folder: string; command: string; args: string[] }
  | { kind: 'unknown' };

interface ClaimContext {
  folder: string;
  home: string;
  platform: string;
}

const maxWords = 200;
class TooManyShellWords extends Error {}

/** Returns the data that a command may delete or overwrite: by redirections, programs, Git, and one level of package scripts. */
export async function findPotentialDataLosses(
  command: string,
  surroundings: ClaimContext,
  isScript = false,
): Promise<PotentialLoss[]> {
  try {
    return await claimsWithin(command, surroundings, isScript);
  } catch (error) {
    if (error instanceof TooManyShellWords) return [{ kind: 'unknown' }];
    throw error;
  }
}

async function claimsWithin(command: string, surroundings: ClaimContext, isScript: boolean): Promise<PotentialLoss[]> {
  const { folder, home, platform } = surroundings;
  const { text, documents } = withoutHereDocuments(command);
  const parts = parseShellCommandSegments(text, { home, platform }).filter(({ isText }) => !isText);
  const withoutGitFolders = parts.map((part) => (gitOf(part) ? { ...part, words: withoutFolders(part.words) } : part));
  const workingFolders = await possibleWorkingFolders(withoutGitFolders, folder, home, platform);
  const claims: PotentialLoss[] = [];
  let words = 0;
  for (const [index, part] of parts.entries()) {
    const { folders, unclear } = workingFolders(index);
    for (const from of folders) {
      const find = async (word: ShellWord): Promise<string[] | undefined> => {
        if (unclear && !paths.isAbsolute(unescapeShellWord(word))) return undefined;
        words += 1;
        if (words > maxWords) throw new TooManyShellWords();
        return pathsOf(word, from, platform);
      };
      claims.push(...(await claimsOfPart(part, { from, find, surroundings, isScript, documents })));
    }
  }
  return claims;
}

interface Sight {
  from: string;
  find(word: ShellWord): Promise<string[] | undefined>;
  surroundings: ClaimContext;
  /** Text of a package script: nested scripts are not followed. */
  isScript: boolean;
  documents: readonly string[];
}

async function claimsOfPart(part: ShellCommandSegment, sight: Sight): Promise<PotentialLoss[]> {
  const claims: PotentialLoss[] = [];
  for (const word of part.overwrites) claims.push(...(await each([word], sight, overwrite)));
  const programs = part.words.map(commandProgramName);
  for (const [at, program] of programs.entries()) {
    if (program === 'install' && at > 0) continue; // `npm install x`
    const before = programs.slice(0, at);
    const words = part.words.slice(at + 1);
    // Further arguments come from the input and are usually file names.
    if (before.some((one) => /^(xargs|parallel|fd|fdfind|entr)$/.test(one)) && changesFiles(program, words))
      claims.push({ kind: 'some', path: sight.from });
    claims.push(...(await claimsOfProgram(program, words, before, sight, part.reads)));
  }
  return claims;
}

const overwrite = (path: string): PotentialLoss => ({ kind: 'overwrite', path });
const remove = (path: string): PotentialLoss => ({ kind: 'delete', path });
const edit = (path: string): PotentialLoss => ({ kind: 'edit', path });

async function each(
  words: readonly ShellWord[],
  { find }: Sight,
  claim: (path: string) => PotentialLoss,
): Promise<PotentialLoss[]> {
  const claims: PotentialLoss[] = [];
  for (const word of words) claims.push(...((await find(word))?.map(claim) ?? [{ kind: 'unknown' }]));
  return claims;
}

async function claimsOfProgram(
  program: string,
  words: readonly ShellWord[],
  before: readonly string[],
  sight: Sight,
  reads: readonly ShellWord[],
): Promise<PotentialLoss[]> {
  const plain = words.map(unescapeShellWord);
  if (codeInterpreterPattern.test(program) && !/^perl/.test(program)) return claimsOfCode(words, plain, sight);
  const end = plain.indexOf('--');
  const operands = words.filter((_, at) => at !== end && (!plain[at]!.startsWith('-') || (end >= 0 && at > end)));
  const has = (pattern: RegExp) => plain.some((word, at) => pattern.test(word) && (end < 0 || at < end));
  if (deletes.test(program)) {
    // `git rm` refuses uncommitted files, and `docker rm` deletes no files.
    if (before.includes('git')) {
      if (has(/^--cached$/) || !has(/^-\w*f|^--force$/)) return [];
    } else if (before.some((one) => /^(docker|podman|kubectl|npm|pnpm|yarn|bun|gh|conda|brew)$/.test(one))) return [];
    return each(operands, sight, remove);
  }
  switch (program) {
    case 'find':
      return claimsOfFind(words, plain, sight);
    case 'mv':
    case 'move-item':
    case 'cp':
    case 'copy-item':
    case 'install':
      return has(/^-\w*n|^--no-clobber$|^--update=none/) && program !== 'install'
        ? []
        : claimsOfCopy(program, words, plain, operands, sight);
    case 'ln':
      return has(/^-\w*f|^--force$/) && operands.length > 1 ? each(operands.slice(-1), sight, remove) : [];
    case 'tee':
      return has(/^-\w*a|^--append$/) ? [] : each(operands, sight, overwrite);
    case 'truncate':
      return each(operands, sight, overwrite);
    case 'dd':
      return each(
        words.filter((word) => word.startsWith('of=')).map((word) => word.slice(3)),
        sight,
        overwrite,
      );
    case 'sed':
      return has(/^-\w*i|^--in-place/) ? each(operands, sight, edit) : [];
    case 'perl': {
      const code = plain.findIndex((word) => /^-\w*e$/.test(word));
      const files = operands.filter((word) => code < 0 || word !== words[code + 1]);
      return has(/^-\w*i/) ? each(files, sight, edit) : claimsOfCode(words, plain, sight);
    }
    case 'awk':
    case 'gawk': {
      const editsInPlace = plain.some((word, at) => word === 'inplace' && /^(-i|--include)$/.test(plain[at - 1] ?? ''));
      return editsInPlace ? each(operands.slice(2), sight, edit) : [];
    }
    case 'ed':
    case 'ex':
    case 'vi':
    case 'vim':
    case 'nvim':
      return each(operands, sight, edit);
    case 'sponge':
      return has(/^-a$/) ? [] : each(operands, sight, overwrite);
    case 'tar':
    case 'bsdtar': {
      const clusters = plain.filter((word, at) => /^-\w+$/.test(word) || (at === 0 && /^\w+$/.test(word))).join('');
      const extracts = /x/.test(clusters) || has(/^--(extract|get)$/);
      const spares = /[kO]/.test(clusters) || has(/^--(keep-old-files|skip-old-files|to-stdout)$/);
      const into = words.find((_, at) => /^(-\w*C|--directory)$/.test(plain[at - 1] ?? ''));
      const attached = words.find((word) => word.startsWith('--directory='))?.slice('--directory='.length);
      return extracts && !spares ? claimsOfArchive(into ?? attached, sight) : [];
    }
    case 'unzip': {
      const into = words.find((_, at) => plain[at - 1] === '-d');
      return has(/^-\w*o/) && !has(/^-\w*[nlptvZ]/) ? claimsOfArchive(into, sight) : [];
    }
    case '7z':
    case '7za':
    case '7zz': {
      const into = words.find((word) => /^-o./.test(word))?.slice(2);
      return /^[ex]$/.test(plain[0] ?? '') && has(/^-(y|aoa)$/) ? claimsOfArchive(into, sight) : [];
    }
    case 'patch': {
      if (has(/^--dry-run$|^-C$/)) return [];
      const at = plain.findIndex((word) => /^(-i|--input)$/.test(word));
      const attached = words.find((word) => word.startsWith('--input='))?.slice('--input='.length);
      const [file] = operands.filter((word) => at < 0 || word !== words[at + 1]);
      if (file !== undefined) return each([file], sight, edit);
      const given = attached ?? (at >= 0 ? words[at + 1] : inputOf(reads, sight));
      const strip = Number(/^-p(\d+)$/.exec(plain.find((word) => /^-p\d+$/.test(word)) ?? '')?.[1] ?? 0);
      return claimsOfPatch(given === undefined ? undefined : [given], strip, [sight.from], sight);
    }
    case 'hg':
    case 'svn':
    case 'jj':
    case 'bzr':
      return /^(revert|purge|strip|abandon|restore|undo)$/.test(plain[0] ?? '') ||
        (/^(update|up|checkout)$/.test(plain[0] ?? '') && has(/^(-C|--clean)$/))
        ? [{ kind: 'unknown' }]
        : [];
    case 'make':
    case 'gmake':
      return sight.isScript ? [] : claimsOfRecipe(await findMakefileRecipe(plain, sight.from), sight);
    case 'sort':
    case 'curl':
    case 'wget':
      return each(outputsOf(program, words, plain), sight, overwrite);
    case 'rsync':
      return claimsOfRsync(operands, has(/^--del/), sight);
    case 'git':
      return claimsOfGit(words, reads, sight);
    case 'npm':
    case 'pnpm':
    case 'yarn':
    case 'bun':
      return sight.isScript ? [] : claimsOfRecipe(await findPackageScriptRecipe(plain, sight.from), sight);
    default:
      return [];
  }
}

const changesFiles = (program: string, words: readonly ShellWord[]): boolean =>
  deletes.test(program) ||
  /^(truncate|tee|sponge)$/.test(program) ||
  (/^(sed|perl)$/.test(program) && words.some((word) => /^-\w*i|^--in-place/.test(word)));

const deletes = /^(rm|unlink|shred|srm|wipe|rimraf|del-cli|remove-item|ri|rd|del|erase)$/;

function outputsOf(program: string, words: readonly ShellWord[], plain: readonly string[]): ShellWord[] {
  const option = program === 'wget' ? /^(-\w*O|--output-document)$/ : /^(-\w*o|--output)$/;
  const given = words.filter((_, at) => option.test(plain[at - 1] ?? ''));
  const attached = words.flatMap((word, at) =>
    /^--output(-document)?=/.test(plain[at]!) ? [word.replace(/^.*?=/, '')] : [],
  );
  return [...given, ...attached].filter((word) => word !== '-');
}

// Filters other than names are ignored.
async function claimsOfFind(
  words: readonly ShellWord[],
  plain: readonly string[],
  sight: Sight,
): Promise<PotentialLoss[]> {
  const action = plain.findIndex((word) => /^-(delete|exec|execdir|ok|okdir)$/.test(word));
  if (action < 0) return [];
  const executed = commandProgramName(words[action + 1] ?? '');
  const isDelete = plain[action] === '-delete';
  const isChange = !isDelete && changesFiles(executed, words.slice(action + 2));
  if (!isDelete && !isChange) return [];
  const begin = plain.findIndex((word) => /^[-(!]/.test(word) && !/^-[HLPDO]/.test(word));
  const workingFolders = words.slice(0, begin).filter((word) => !word.startsWith('-'));
  const tests = plain.slice(begin, action);
  const names = tests.filter((_, at) => /^-i?name$/.test(tests[at - 1] ?? ''));
  const isPlain = !tests.some((word) => /^(!|-not|-o|-or|[(),]|-prune)$/.test(word));
  let only: ((relative: string) => boolean) | undefined;
  if (isPlain && names.length > 0) {
    const matches = createGlobMatcher(names.at(-1)!.toLowerCase());
    // `rm -r` removes the contents of a matching folder, `-delete` only the match itself.
    only = (relative) => {
      const parts = relative.toLowerCase().split('/');
      return (isDelete ? parts.slice(-1) : parts).some(matches);
    };
  }
  if (isChange && !deletes.test(executed))
    return each(workingFolders.length > 0 ? workingFolders : ['.'], sight, (path) => ({ kind: 'some', path }));
  return each(workingFolders.length > 0 ? workingFolders : ['.'], sight, (path) => ({
    kind: 'delete',
    path,
    ...(only && { only }),
  }));
}

async function claimsOfCopy(
  program: string,
  words: readonly ShellWord[],
  plain: readonly string[],
  operands: readonly ShellWord[],
  sight: Sight,
): Promise<PotentialLoss[]> {
  const option = plain.findIndex((word) => /^(-t|--target-directory)$/.test(word));
  const given = plain.find((word) => word.startsWith('--target-directory='))?.slice('--target-directory='.length);
  const target = given ?? (option >= 0 ? words[option + 1] : operands.at(-1));
  const sources = operands.filter((word) => word !== target);
  if (target === undefined || sources.length === 0) return [];
  const [to, ...others] = (await sight.find(target)) ?? [];
  if (to === undefined || others.length > 0) return [{ kind: 'unknown' }];
  const isFolder = await isDirectory(to);
  const claims: PotentialLoss[] = [];
  for (const source of sources) {
    const found = await sight.find(source);
    if (!found) claims.push(...((await exists(to)) ? [isFolder ? ({ kind: 'unknown' } as const) : overwrite(to)] : []));
    for (const from of found ?? []) {
      const target =
        isFolder && !/[\\/]\.$/.test(unescapeShellWord(source)) ? paths.join(to, paths.basename(from)) : to;
      if (target === from) continue;
      if (!(await isDirectory(from))) claims.push(overwrite(target));
      else if (!/^(mv|move-item)$/.test(program)) claims.push({ kind: 'copy', from, to: target, deletes: false });
    }
  }
  return claims;
}

async function claimsOfRsync(operands: readonly ShellWord[], deletes: boolean, sight: Sight): Promise<PotentialLoss[]> {
  const target = operands.at(-1);
  if (target === undefined || operands.length < 2 || /^[^/]*:/.test(unescapeShellWord(target))) return [];
  const [to] = (await sight.find(target)) ?? [];
  if (to === undefined) return [{ kind: 'unknown' }];
  const claims: PotentialLoss[] = [];
  for (const source of operands.slice(0, -1)) {
    const spelled = unescapeShellWord(source);
    const [from] = /^[^/]*:/.test(spelled) ? [] : ((await sight.find(source)) ?? []);
    if (from === undefined) claims.push({ kind: 'delete', path: to });
    else if (!(await isDirectory(from)))
      claims.push(overwrite((await isDirectory(to)) ? paths.join(to, paths.basename(from)) : to));
    else
      claims.push({
        kind: 'copy',
        from,
        to: /[\\/]$/.test(spelled) ? to : paths.join(to, paths.basename(from)),
        deletes,
      });
  }
  return claims;
}

const gitOf = ({ words }: ShellCommandSegment): boolean => words.some((word) => commandProgramName(word) === 'git');

const withoutFolders = (words: readonly ShellWord[]): ShellWord[] =>
  words.filter((word, at) => word !== '-C' && words[at - 1] !== '-C');

async function claimsOfGit(
  words: readonly ShellWord[],
  reads: readonly ShellWord[],
  sight: Sight,
): Promise<PotentialLoss[]> {
  const { platform } = sight.surroundings;
  let folder = sight.from;
  for (let at = 0; at < words.length; at++) {
    const word = unescapeShellWord(words[at]!);
    if (word === '-C') {
      const [next, ...others] = (await pathsOf(words[++at] ?? unknownShellTextPlaceholder, folder, platform)) ?? [];
      if (next === undefined || others.length > 0) return [{ kind: 'unknown' }];
      folder = next;
    } else if (word === '-c') {
      at += 1;
      if (/^alias\./i.test(words[at] ?? '')) return [{ kind: 'unknown' }];
    } else if (/^--(git-dir|work-tree|namespace)\b/.test(word)) return [{ kind: 'unknown' }];
    else if (!word.startsWith('-')) {
      const rest = words.slice(at + 1);
      const args = rest.map(unescapeShellWord);
      if (word !== 'apply') return [{ kind: 'git', folder, command: word, args }];
      if (args.some((one) => /^--(check|stat|numstat|summary|cached)$/.test(one))) return [];
      const patches = rest.filter((_, index) => !args[index]!.startsWith('-'));
      const strip = Number(/^-p(\d+)$/.exec(args.find((one) => /^-p\d+$/.test(one)) ?? '')?.[1] ?? 1);
      const top = findGitRepositoryRoot(folder) ?? folder;
      const given = patches.length > 0 ? patches : [inputOf(reads, sight)].filter((one) => one !== undefined);
      return claimsOfPatch(given.length > 0 ? given : undefined, strip, [top], sight);
    }
  }
  return [];
}

async function claimsOfRecipe(recipe: CommandRecipe | undefined, { surroundings }: Sight): Promise<PotentialLoss[]> {
  const claims: PotentialLoss[] = [];
  for (const line of recipe?.lines ?? [])
    claims.push(...(await findPotentialDataLosses(line, { ...surroundings, folder: recipe!.folder }, true)));
  return claims;
}

async function claimsOfArchive(into: ShellWord | undefined, sight: Sight): Promise<PotentialLoss[]> {
  const [folder, ...others] = into === undefined ? [sight.from] : ((await sight.find(into)) ?? []);
  return folder === undefined || others.length > 0 ? [{ kind: 'unknown' }] : [{ kind: 'some', path: folder }];
}

async function claimsOfCode(
  words: readonly ShellWord[],
  plain: readonly string[],
  sight: Sight,
): Promise<PotentialLoss[]> {
  const at = plain.findIndex((word) => inlineCodeOptionPattern.test(word));
  const texts = at >= 0 ? plain.slice(at + 1, at + 2) : words.every((word) => word === '-') ? sight.documents : [];
  const claims: PotentialLoss[] = [];
  for (const text of texts) {
    const { deletes, writes, commands, deletesUnnamed } = findCodeFileEffects(text);
    const absolute = (path: string) => paths.resolve(sight.from, path);
    claims.push(...deletes.map((path) => remove(absolute(path))), ...writes.map((path) => overwrite(absolute(path))));
    if (deletesUnnamed) claims.push({ kind: 'unknown' });
    if (!sight.isScript)
      for (const command of commands)
        claims.push(...(await findPotentialDataLosses(command, { ...sight.surroundings, folder: sight.from }, true)));
  }
  return claims;
}

const inputOf = (reads: readonly ShellWord[], { documents }: Sight): ShellWord | undefined =>
  documents.length > 0 ? undefined : reads[0];

async function claimsOfPatch(
  files: readonly ShellWord[] | undefined,
  strip: number,
  folders: readonly string[],
  sight: Sight,
): Promise<PotentialLoss[]> {
  const found = await Promise.all((files ?? []).map((file) => sight.find(file)));
  const own = sight.documents.join('\n');
  const text =
    found.length > 0 ? await readPatchFiles(found.flatMap((one) => one ?? ['\0'])) : own === '' ? undefined : own;
  if (text === undefined) return [{ kind: 'some', path: sight.from }];
  return folders.flatMap((folder) => filePathsInPatch(text, strip).map((name) => edit(paths.resolve(folder, name))));
}

// Returns the distinct paths of a word with real parent folders; undefined if unknown.
async function pathsOf(word: ShellWord, folder: string, platform: string): Promise<string[] | undefined> {
  if (unescapeShellWord(word) === '') return [];
  const pointed = await resolveShellWordTargets(word, folder, platform);
  if (pointed.unclear) return undefined;
  return [...new Set(pointed.paths)];
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
