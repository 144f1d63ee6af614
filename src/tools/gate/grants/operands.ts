import { gitPathsOf, selectsSecrets } from '../gitPaths.ts';
import { isKnown } from '../step.ts';
import { isCheckName } from './checkNames.ts';
import { type Claim, isFile, isPath, placeOf, saysTests } from './values.ts';

/**
 * `text`: anything. `names`: no path that leads out of the open folder. `paths`: files and folders in it, which are read. `files`: the
 * same for programs to which a colon means another machine, or a package to fetch.
 * `tests`: of those only what its path calls tests, for runners that run whatever file they are told; `collected`: those, or a folder in
 * which the runner looks for tests by their names. `folders`: of the project, or a file in one that says what to do there. `packages`: of Go. `modules`: of Python, in the folder.
 * `revisions`: of Git, and paths. `scripts`: names that say a test, a check or a build. A pattern: what fits it.
 */
export type Operands =
  | 'text'
  | 'names'
  | 'paths'
  | 'files'
  | 'tests'
  | 'collected'
  | 'folders'
  | 'packages'
  | 'modules'
  | 'revisions'
  | 'scripts'
  | RegExp
  | ((word: string) => boolean);

/** Tells whether a word that is no option is harmless, or what has to be checked on the disk first. */
export function allowsOperand(operands: Operands | undefined, word: string): boolean | Claim {
  if (operands === undefined) return false;
  if (operands === 'text') return true;
  if (!isKnown(word)) return false;
  if (operands instanceof RegExp) return operands.test(word);
  if (typeof operands === 'function') return operands(word);
  if (operands === 'files') return isFile(word) && { path: word, as: 'read' };
  if (operands === 'scripts') return isCheckName(word);
  if (operands === 'paths') return isPath(word) && { path: placeOf(word), as: 'read' };
  if (operands === 'tests' || operands === 'collected') {
    const path = placeOf(word);
    const isFolder = path === '.' || (operands === 'collected' && !/\.[a-z]\w*$|[*?{[]/i.test(path));
    return isPath(word) && (isFolder || saysTests(path)) && { path, as: 'read' };
  }
  if (operands === 'revisions') return allowsRevision(word);
  if (operands === 'folders') return isPath(word) && { path: word, as: 'folder' };
  if (operands === 'packages')
    return goPackage.test(word) && { path: word.replace(/\/?\.\.\.$/, '') || '.', as: 'read' };
  if (operands === 'modules') {
    if (word === 'discover') return true;
    if (!/^[A-Za-z_][\w.]*$/.test(word)) return false;
    if (saysTests(word)) return { path: word.split('.')[0]!, as: 'module' };
    return !word.includes('.') && { path: word, as: 'package' };
  }
  if (/^[-~@]/.test(word) || /^[a-z][a-z0-9+.-]*:\/\//i.test(word)) return false;
  return word.startsWith('/') || /(^|\/)\.\.(\/|$)/.test(word) ? { path: word, as: 'read' } : true;
}

const goPackage = /^(\.{1,2}|(\.{1,2}\/)*[\w][\w./-]*|(\.{1,2}\/)*(?:[\w.-]+\/)*\.\.\.)$/;

/** `main..topic`, `HEAD~2`, `HEAD:src/a.ts`, or a path. Two paths of which one is outside are compared as files. */
function allowsRevision(word: string): boolean | Claim {
  const read = gitPathsOf(word);
  if (/^[~]/.test(word) || !read || read.some(selectsSecrets)) return false;
  const [path] = read;
  if (path === undefined) return true;
  const isRange = /^[^/]*\.\.\.?[^/]*$/.test(path) || /[^/]\.\.\.?[^/]/.test(path);
  if (isRange && !path.startsWith('/') && !/(^|\/)\.\.(\/|$)/.test(path)) return true;
  return path === '' ? true : { path, as: 'read' };
}
