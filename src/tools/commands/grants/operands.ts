import { isKnown } from '../commandStep.ts';
import { gitPathsOf, selectsSecrets } from '../gitPaths.ts';
import { sqlReads } from '../readOnlyScripts.ts';
import { isBuildTarget, isCheckName, isGradleTask, isRakeTask } from './checkNames.ts';
import { patternOf } from './tablePattern.ts';
import { type DiskClaim, isFile, isPath, pathInWord, saysTests } from './values.ts';

type OperandType = (word: string) => boolean | DiskClaim;

/** Operands that a row may have, by their names in the tables. All but `text` need a word that is known. */
const operandTypes = new Map<string, OperandType>([
  /** Anything. */
  ['text', () => true],
  /** No path that leads out of the open folder. */
  ['names', namesNothingElsewhere],
  /** Files and folders in it, which are read. */
  ['paths', (word) => isPath(word) && { path: pathInWord(word), as: 'read' }],
  /** The same for programs to which a colon means another machine, or a package to fetch. */
  ['files', (word) => isFile(word) && { path: word, as: 'read' }],
  /** Paths that call themselves tests, for runners that run any file that they are given. */
  ['tests', (word) => testsAt(word, pathInWord(word) === '.')],
  /** The same, or a folder in which the runner looks for tests by their names. */
  ['collected', (word) => testsAt(word, pathInWord(word) === '.' || !/\.[a-z]\w*$|[*?{[]/i.test(pathInWord(word)))],
  /** Folders of the project, or a file in one that says what to do there. */
  ['folders', (word) => isPath(word) && { path: word, as: 'folder' }],
  /** Packages of Go. */
  ['packages', (word) => goPackage.test(word) && { path: word.replace(/\/?\.\.\.$/, '') || '.', as: 'read' }],
  /** Modules of Python, in the folder. */
  ['modules', moduleOf],
  /** Revisions of Git, and paths. */
  ['revisions', allowsRevision],
  /** Names that say a test, a check or a build. */
  ['scripts', isCheckName],
  /** Targets of a build: tests, checks, or files that it makes. */
  ['targets', isBuildTarget],
  /** Tasks of Gradle that test, check or build. */
  ['tasks', isGradleTask],
  /** Tasks of Rake that test, check or show something. */
  ['rake', isRakeTask],
  /** A statement of SQL that changes nothing. */
  ['sql', sqlReads],
]);

export const isOperandType = (name: string): boolean => operandTypes.has(name);

/**
 * Tells whether a word that is no option is harmless, or what has to be checked on the disk first.
 * @param operands a type, a pattern, or words between `|`; undefined: there are none
 */
export function allowsOperand(operands: string | undefined, word: string): boolean | DiskClaim {
  if (operands === undefined) return false;
  if (operands !== 'text' && !isKnown(word)) return false;
  if (operands.startsWith('/')) return patternOf(operands).test(word);
  return operands.includes('|') ? operands.split('|').includes(word) : operandTypes.get(operands)!(word);
}

function testsAt(word: string, isFolder: boolean): boolean | DiskClaim {
  const path = pathInWord(word);
  return isPath(word) && (isFolder || saysTests(path)) && { path, as: 'read' };
}

function moduleOf(word: string): boolean | DiskClaim {
  if (word === 'discover') return true;
  if (!/^[A-Za-z_][\w.]*$/.test(word)) return false;
  if (saysTests(word)) return { path: word.split('.')[0]!, as: 'module' };
  return !word.includes('.') && { path: word, as: 'package' };
}

function namesNothingElsewhere(word: string): boolean | DiskClaim {
  if (/^[-~@]/.test(word) || /^[a-z][a-z0-9+.-]*:\/\//i.test(word)) return false;
  return word.startsWith('/') || /(^|\/)\.\.(\/|$)/.test(word) ? { path: word, as: 'read' } : true;
}

const goPackage = /^(\.{1,2}|(\.{1,2}\/)*[\w][\w./-]*|(\.{1,2}\/)*(?:[\w.-]+\/)*\.\.\.)$/;

/** `main..topic`, `HEAD~2`, `HEAD:src/a.ts`, or a path. Two paths of which one is outside are compared as files. */
function allowsRevision(word: string): boolean | DiskClaim {
  const read = gitPathsOf(word);
  if (/^[~]/.test(word) || !read || read.some(selectsSecrets)) return false;
  const [path] = read;
  if (path === undefined) return true;
  const isRange = /^[^/]*\.\.\.?[^/]*$/.test(path) || /[^/]\.\.\.?[^/]/.test(path);
  if (isRange && !path.startsWith('/') && !/(^|\/)\.\.(\/|$)/.test(path)) return true;
  return path === '' ? true : { path, as: 'read' };
}
