import { isStaticShellWord } from '../commandStep.ts';
import { gitPathSelectsSecrets, pathsInGitArgument } from '../gitPaths.ts';
import { isReadOnlySqlQuery } from '../readOnlyScripts.ts';
import { isBuildTarget, isCheckScriptName, isHarmlessGradleTask, isHarmlessRakeTask } from './checkNames.ts';
import { compileGrantPattern } from './tablePattern.ts';
import { isFileArgument, isPathArgument, isTestPath, pathOfTestSelector, type RequiredFileCheck } from './values.ts';

type OperandType = (word: string) => boolean | RequiredFileCheck;

// Types of operands by their name in the tables. All types except `text` require a fully known word.
const operandTypes = new Map<string, OperandType>([
  ['text', () => true],
  ['names', namesNothingElsewhere],
  ['paths', (word) => isPathArgument(word) && { path: pathOfTestSelector(word), as: 'read' }],
  /** Paths for programs that interpret a colon as a remote machine or a download. */
  ['files', (word) => isFileArgument(word) && { path: word, as: 'read' }],
  /** Paths with the name of a test, for runners that execute any given file. */
  ['tests', (word) => testsAt(word, pathOfTestSelector(word) === '.')],
  /** Test files, or a folder in which the runner finds tests by name. */
  [
    'collected',
    (word) => testsAt(word, pathOfTestSelector(word) === '.' || !/\.[a-z]\w*$|[*?{[]/i.test(pathOfTestSelector(word))),
  ],
  ['folders', (word) => isPathArgument(word) && { path: word, as: 'folder' }],
  ['packages', (word) => goPackage.test(word) && { path: word.replace(/\/?\.\.\.$/, '') || '.', as: 'read' }],
  ['modules', moduleOf],
  ['revisions', allowsRevision],
  ['scripts', isCheckScriptName],
  ['targets', isBuildTarget],
  ['tasks', isHarmlessGradleTask],
  ['rake', isHarmlessRakeTask],
  ['sql', isReadOnlySqlQuery],
]);

export const isOperandType = (name: string): boolean => operandTypes.has(name);

/**
 * Tests if an operand is harmless, or returns the disk check to make first.
 * @param operands a type, a pattern, or words separated by `|`; undefined: no operands
 */
export function allowsOperand(operands: string | undefined, word: string): boolean | RequiredFileCheck {
  if (operands === undefined) return false;
  if (operands !== 'text' && !isStaticShellWord(word)) return false;
  if (operands.startsWith('/')) return compileGrantPattern(operands).test(word);
  return operands.includes('|') ? operands.split('|').includes(word) : operandTypes.get(operands)!(word);
}

function testsAt(word: string, isFolder: boolean): boolean | RequiredFileCheck {
  const path = pathOfTestSelector(word);
  return isPathArgument(word) && (isFolder || isTestPath(path)) && { path, as: 'read' };
}

function moduleOf(word: string): boolean | RequiredFileCheck {
  if (word === 'discover') return true;
  if (!/^[A-Za-z_][\w.]*$/.test(word)) return false;
  if (isTestPath(word)) return { path: word.split('.')[0]!, as: 'module' };
  return !word.includes('.') && { path: word, as: 'package' };
}

function namesNothingElsewhere(word: string): boolean | RequiredFileCheck {
  if (/^[-~@]/.test(word) || /^[a-z][a-z0-9+.-]*:\/\//i.test(word)) return false;
  return word.startsWith('/') || /(^|\/)\.\.(\/|$)/.test(word) ? { path: word, as: 'read' } : true;
}

const goPackage = /^(\.{1,2}|(\.{1,2}\/)*[\w][\w./-]*|(\.{1,2}\/)*(?:[\w.-]+\/)*\.\.\.)$/;

// Checks `main..topic`, `HEAD~2`, `HEAD:src/a.ts`, or a path. Git compares two paths as files if one is outside the repository.
function allowsRevision(word: string): boolean | RequiredFileCheck {
  const read = pathsInGitArgument(word);
  if (/^[~]/.test(word) || !read || read.some(gitPathSelectsSecrets)) return false;
  const [path] = read;
  if (path === undefined) return true;
  const isRange = /^[^/]*\.\.\.?[^/]*$/.test(path) || /[^/]\.\.\.?[^/]/.test(path);
  if (isRange && !path.startsWith('/') && !/(^|\/)\.\.(\/|$)/.test(path)) return true;
  return path === '' ? true : { path, as: 'read' };
}
