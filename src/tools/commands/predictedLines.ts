import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import * as paths from 'node:path';
import type { WorkspaceRoot } from '../core/workspace.ts';
import { resolvePath } from '../sandbox/paths.ts';
import { matchesBashGlob } from '../shellSyntax/expandWord.ts';
import type { ResolvedProgramInvocation } from './commandStep.ts';
import { type GitTrackedFiles, listGitTrackedFiles } from './gitTracked.ts';
import { readOnlyFindArguments } from './readOnlyPrograms.ts';

/** Upper bound of the lines printed by commands; any line may be missing. `single`: at most one line. */
export interface PredictedCommandOutputLines {
  lines: string[];
  single: boolean;
}

const maxNames = 500;
const maxEntries = 5000;

const commit = '0123456789abcdef0123456789abcdef01234567';
const plainRevision = /^(HEAD|@|main|master|develop|trunk|origin\/[\w./-]+|upstream\/[\w./-]+|v?\d[\w.]*)([~^]\d*)*$/;

/**
 * Returns the names that a pipeline prints, from the current disk: listed files and commits. Undefined if the pipeline may print anything
 * else, or if a name could be parsed as an option or as several words.
 * @param steps steps of one pipeline, in order
 */
export async function predictCommandOutputLines(
  steps: readonly ResolvedProgramInvocation[],
  roots: readonly WorkspaceRoot[],
): Promise<PredictedCommandOutputLines | undefined> {
  const [source, ...filters] = steps;
  if (!source || source.piped || !steps.every(isPlainStep)) return undefined;
  let written = await sourceOf(source, roots).catch(() => undefined);
  for (const { words } of filters) written = written && filtered(written, words);
  return written?.lines.every((line) => /^[\w@%+=,./][\w@%+=,./-]*$/.test(line)) ? written : undefined;
}

export function isCountingPipeline(steps: readonly ResolvedProgramInvocation[]): boolean {
  const last = steps.at(-1);
  if (!last || !isPlainStep(last)) return false;
  const text = last.words.join(' ');
  if (last.piped) return /^wc -[lcwm]$/.test(text) || /^grep -[EFivw]*c[EFivw]* \S+$/.test(text);
  return steps.length === 1 && /^(date \+%s|id -[ug]|git rev-list --count (?!-)\S+)$/.test(text);
}

const isPlainStep = ({ variables, stdout, stderr, unsettled }: ResolvedProgramInvocation): boolean =>
  variables.length === 0 && unsettled !== 'options' && stdout === 'out' && stderr !== 'out';

async function sourceOf(
  { words, folder }: ResolvedProgramInvocation,
  roots: readonly WorkspaceRoot[],
): Promise<PredictedCommandOutputLines | undefined> {
  const [program, ...args] = words;
  const several = (lines: string[]) => (lines.length <= maxNames ? { lines, single: false } : undefined);
  switch (program) {
    case 'ls': {
      const operands = args.filter((word) => !/^-[1trSXvU]+$/.test(word));
      if (operands.some((word) => word.startsWith('-'))) return undefined;
      const targets = operands.length > 0 ? operands : ['.'];
      const kinds = await Promise.all(targets.map((target) => kindOf(target, folder, roots)));
      if (kinds.every((kind) => kind === 'file')) return several(operands);
      if (targets.length > 1 || kinds[0] !== 'folder') return undefined;
      const names = (await entriesOf(targets[0]!, folder, roots)).map(({ name }) => name);
      return several(names.filter((name) => !name.startsWith('.')));
    }
    case 'find':
      return found(args, folder, roots).then((lines) => lines && several(lines));
    case 'echo':
      return args[0]?.startsWith('-') ? undefined : several(args);
    case 'printf':
      return args[0] === '%s\\n' ? several(args.slice(1)) : undefined;
    case 'grep': {
      const [options, rest] = [args.filter((word) => /^-\w*$/.test(word)), args.filter((word) => !/^-\w*$/.test(word))];
      const isList = options.some((word) => word.includes('l')) && options.every((word) => /^-[lLiEFwsh]+$/.test(word));
      if (!isList || rest.length < 2 || rest.some((word) => word.startsWith('-'))) return undefined;
      const kinds = await Promise.all(rest.slice(1).map((target) => kindOf(target, folder, roots)));
      return kinds.every((kind) => kind === 'file') ? several(rest.slice(1)) : undefined;
    }
    case 'git':
      return ofGit(args, folder, roots, several);
    default:
      return undefined;
  }
}

async function ofGit(
  [count, ...args]: readonly string[],
  folder: string,
  roots: readonly WorkspaceRoot[],
  several: (lines: string[]) => PredictedCommandOutputLines | undefined,
): Promise<PredictedCommandOutputLines | undefined> {
  const one = { lines: [commit], single: true };
  const text = args.join(' ');
  if (count === 'merge-base' && args.length === 2 && args.every((word) => plainRevision.test(word))) return one;
  if (count === 'log' && /^(-1|-n ?1) --(?:format|pretty)=(?:format:)?%[hH]$/.test(text)) return one;
  if (count === 'rev-parse') {
    const revisions = args.filter((word) => !/^(--short(=\d+)?|--verify|-q|--quiet)$/.test(word));
    return revisions.length === 1 && plainRevision.test(revisions[0]!) ? one : undefined;
  }
  const end = args.indexOf('--');
  const [front, globs] = end < 0 ? [args, []] : [args.slice(0, end), args.slice(end + 1)];
  if (count === 'ls-files') {
    const operands = front.filter((word) => word !== '-z');
    if (operands.some((word) => word.startsWith('-'))) return undefined;
    return within(await listGitTrackedFiles(folder, roots), [...operands, ...globs], 'here').then(
      (lines) => lines && several(lines),
    );
  }
  if (count !== 'diff' || !front.includes('--name-only')) return undefined;
  const rest = front.filter((word) => word !== '--name-only' && word !== '-z');
  const filter = rest.find((word) => word.startsWith('--diff-filter='))?.slice('--diff-filter='.length);
  const revisions = rest.filter((word) => !word.startsWith('--diff-filter='));
  // A name deleted from the index may still exist as an untracked file with secrets.
  const excludesDeleted = filter !== undefined && /^([ACMRT]+|[a-z]*d[a-z]*)$/.test(filter);
  if (revisions.length > 0 && !excludesDeleted) return undefined;
  if (revisions.length > 1 || !revisions.every((word) => /^(?!-)[\w@{}^~/.-]+$/.test(word))) return undefined;
  if (revisions.some((word) => word.includes('..') && !/\.\.\.?(HEAD|@)?$/.test(word))) return undefined;
  return within(await listGitTrackedFiles(folder, roots), globs, 'top').then((lines) => lines && several(lines));
}

async function within(
  tracked: GitTrackedFiles | undefined,
  globs: readonly string[],
  from: 'here' | 'top',
): Promise<string[] | undefined> {
  if (!tracked || !globs.every((glob) => /^[\w*./-]+$/.test(glob) && !glob.includes('..') && !glob.startsWith('-')))
    return undefined;
  const patterns = globs.map((glob) => {
    const inside = glob === '.' ? '' : glob.replace(/^\.\//, '').replace(/\/$/, '');
    const pattern = inside.replace(/[.]/g, '\\.').replace(/\*+/g, '.*');
    return new RegExp(`^${tracked.below}${pattern}${inside === '' ? '' : '(/.*)?$'}`, 's');
  });
  const names = tracked.names.filter((name) =>
    name.startsWith(from === 'here' || globs.length > 0 ? tracked.below : ''),
  );
  const chosen = patterns.length === 0 ? names : names.filter((name) => patterns.some((pattern) => pattern.test(name)));
  return from === 'here' ? chosen.map((name) => name.slice(tracked.below.length)) : chosen;
}

function filtered(
  { lines, single }: PredictedCommandOutputLines,
  [program, ...args]: readonly string[],
): PredictedCommandOutputLines | undefined {
  const text = args.join(' ');
  if (program === 'head' || program === 'tail') {
    if (!/^(-n ?\d+|-\d+|)$/.test(text)) return undefined;
    return { lines, single: single || /^(-n ?1|-1)$/.test(text) };
  }
  if (program === 'sort') return /^(-[rnuVzfd]+ ?)*$/.test(text) ? { lines, single } : undefined;
  if (program === 'uniq' || program === 'cat') return text === '' ? { lines, single } : undefined;
  if (program === 'tr')
    return args.length === 2 && args[0] === '\\n' && args[1] === ' ' ? { lines, single: false } : undefined;
  if (program !== 'grep') return undefined;
  const options = args.filter((word) => /^-/.test(word));
  const [pattern, ...more] = args.filter((word) => !/^-/.test(word));
  if (pattern === undefined || more.length > 0 || !options.every((word) => /^-[vEFiw]+$/.test(word))) return undefined;
  const letters = options.join('');
  // A pattern with the same meaning here removes names; any other pattern counts as matching everything.
  const isExtended = letters.includes('E') && /^[\w./\\$^|()-]*$/.test(pattern);
  const isBasic = !/[EF]/.test(letters) && /^\^?(?:[\w/-]|\\?\.)*\$?$/.test(pattern);
  const isSame =
    (isExtended || isBasic) && !/\\[^.]/.test(pattern) && !/[iw]/.test(letters) && !/\(\?|\(\)/.test(pattern);
  if (!isSame) return { lines, single };
  const test = tried(pattern);
  return { lines: test ? lines.filter((line) => test.test(line) !== letters.includes('v')) : lines, single };
}

function tried(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern);
  } catch {
    return undefined; // grep rejects the pattern too and prints nothing
  }
}

const kindOf = (target: string, folder: string, roots: readonly WorkspaceRoot[]): Promise<string> =>
  resolvePath(roots, paths.resolve(folder, target), 'search').then(({ kind }) => kind ?? '');

async function entriesOf(target: string, folder: string, roots: readonly WorkspaceRoot[]): Promise<Dirent[]> {
  const { path } = await resolvePath(roots, paths.resolve(folder, target), 'list');
  return readdir(path, { withFileTypes: true });
}

// Unknown tests of `find` count as always true.
async function found(
  args: readonly string[],
  folder: string,
  roots: readonly WorkspaceRoot[],
): Promise<string[] | undefined> {
  const begin = args.findIndex((word) => /^[-(!]/.test(word));
  const targets = begin < 0 ? args : args.slice(0, begin);
  const tests = begin < 0 ? [] : args.slice(begin);
  if (tests.some((word) => /^-(exec|ok|execdir|okdir|delete|fprint.*|fls|printf|ls)$/.test(word))) return undefined;
  const isPlain = !tests.some((word) => /^(!|\(|\)|-not|-o|-or|,)$/.test(word));
  const given = new Map<string, string>();
  for (let at = 0; at < tests.length; at++)
    if (readOnlyFindArguments.has(`${tests[at]}=`)) given.set(tests[at]!, tests[++at] ?? '');
  const value = (name: string) => (isPlain ? given.get(name) : undefined);
  const [pattern, type, depth] = [value('-name'), value('-type'), value('-maxdepth')];
  const lines: string[] = [];
  let left = maxEntries;
  const walk = async (target: string, level: number): Promise<boolean> => {
    if (depth !== undefined && level > Number(depth)) return true;
    for (const entry of await entriesOf(target, folder, roots)) {
      if (left-- <= 0) return false;
      const path = `${target.replace(/\/$/, '')}/${entry.name}`;
      // In `find`, a leading dot matches like any other character.
      const isNamed = pattern === undefined || matchesBashGlob(`x${pattern}`, `x${entry.name}`);
      if (isNamed && (type !== 'f' || !entry.isDirectory())) lines.push(path);
      if (entry.isDirectory() && !(await walk(path, level + 1))) return false;
    }
    return true;
  };
  for (const target of targets.length > 0 ? targets : ['.']) {
    const kind = await kindOf(target, folder, roots);
    if (type !== 'f' || kind !== 'folder') lines.push(target);
    if (kind === 'folder' && !(await walk(target, 1))) return undefined;
  }
  return lines;
}
