import { isKnown, some } from '../commandStep.ts';
import { sqlReads } from '../readOnlyScripts.ts';
import { isBuildTarget, isCheckName, isPreset } from './checkNames.ts';

/** A check on the disk, after which a word is harmless. */
export interface DiskClaim {
  path: string;
  /**
   * `there`: to be read, and on the disk. `folder`: one, or a file that says what to do in the folder that it lies in. `package`: a module
   * of Python that is a folder. `configured`: read by a program that takes its configuration from the folders around it.
   */
  as: 'read' | 'there' | 'output' | 'folder' | 'module' | 'package' | 'configured';
  /** Name of a `configured` tool. */
  program?: string;
}

/** @param types several, blank-separated, of which one has to fit */
export function allows(types: string, value: string): boolean | DiskClaim {
  for (const type of types.split(' ')) {
    const check = valueTypes.get(type);
    const vague = type === '' || type === '#';
    const found = check ? (vague || isKnown(value)) && check(value) : type.split('|').includes(value);
    if (found) return found;
  }
  return false;
}

export const fitsType = (type: string, value: string): boolean => allows(type, value) !== false;

/** Values that an option may have, by how the table calls them. */
const valueTypes = new Map<string, (value: string) => boolean | DiskClaim>([
  ['', () => true],
  ['#', (value) => value === some.number || /^-?[\d.,]+%?$/.test(value)],
  ['<time>', (value) => /^\d+(\.\d+)?(ms|s|m|h)?$/.test(value)],
  ['<name>', (value) => /^[\w@][\w@:.+-]*(\/[\w@:.+-]+)*$/.test(value) && !/(^|\/)\.\.?(\/|$)/.test(value)],
  ['<path>', (value) => isPath(value) && { path: value, as: 'read' }],
  ['<file>', (value) => isFile(value) && { path: value, as: 'read' }],
  ['<tests>', (value) => isPath(value) && saysTests(value) && { path: value, as: 'read' }],
  ['<folder>', (value) => isPath(value) && { path: value, as: 'folder' }],
  /** A file of another folder that says what to do there: as if it ran there. */
  ['<manifest>', (value) => isPath(value) && { path: value.replace(/[^/]*$/, '') || '.', as: 'folder' }],
  /** Build folder: one that a build has made, or a folder of its own. */
  ['<build>', (value) => isPath(value) && { path: value, as: buildFolder.test(value) ? 'read' : 'folder' }],
  /** Folder into which build files are written, over existing ones. */
  ['<made>', (value) => buildFolder.test(value) && { path: value, as: 'read' }],
  /** Handed on to Git: no option of it. */
  ['<revision>', (value) => /^[\w@][\w@{}^~:./-]*$/.test(value)],
  /** Filter of packages; text in brackets would be passed to Git. */
  ['<filter>', (value) => !/^-|\[\s*-/.test(value)],
  /** `jq` of a program that shows it its variables. */
  ['<jq>', (value) => !/env|input|import|include|\$__/i.test(value)],
  [
    '<output>',
    (value) =>
      value === '/dev/null' ||
      (/^(\.\/)?(bin|build|dist|out|target|tmp|coverage)\/[\w.-]+$|^(cover|coverage|profile|c)\.(out|txt|html)$/.test(
        value,
      ) && {
        path: value,
        as: 'output',
      }),
  ],
  /** Git runs the program that checks signatures for `%G` and `%(signature)`, and to sort by it. */
  ['<format>', (value) => !/%[-+ ]?G|signature/.test(value)],
  ['<sort>', (value) => !value.includes('signature')],
  /** Value of `git log -L`: `1,20:src/a.ts`. */
  [
    '<range>',
    (value) => {
      const path = value.slice(value.lastIndexOf(':') + 1);
      return isPath(path) && { path, as: 'read' };
    },
  ],
  /** Target of a build: one that tests, checks or builds, or a file that it makes. */
  ['<target>', (value) => !value.includes('/') && isBuildTarget(value)],
  /** Settings of a build that the project has given a name. */
  ['<preset>', isPreset],
  /** Value of `eslint --rule`: options of a rule may name a file to load. */
  ['<rule>', (value) => !/[[\]{}]/.test(value)],
  /** Value of `python -W`: a category with a dot in it is loaded. */
  ['<warning>', (value) => /^(error|ignore|default|always|module|once)(:[^:.]*(:[A-Za-z]*)?)?$/.test(value)],
  /** Value of `pytest -p`: a plugin is disabled with `no:`, and loaded without. */
  ['<noplugin>', (value) => /^no:[\w.-]+$/.test(value)],
  /** Flags of Go's linker that leave debugging symbols out. */
  ['<strip>', (value) => /^-[sw]( -[sw])*$/.test(value)],
  /** Columns of `ps` and the like, without the environment. */
  ['<fields>', (value) => /^[-+\w,%.=]+$/.test(value) && !/env/i.test(value)],
  /** Names side by side, as of tests, projects or labels. */
  ['<labels>', (value) => /^[\w@*][\w@*:.,+=/!-]*$/.test(value) && !/(^|[/,])\.\.([/,]|$)/.test(value)],
  ['<word>', (value) => /^[\w][\w .-]*$/.test(value)],
  /** Names, each of which says a test, a check or a build. */
  ['<checks>', (value) => value.split(',').every(isCheckName)],
  /** Environments of `tox`: versions of Python, and checks. */
  [
    '<environments>',
    (value) => value.split(',').every((one) => /^(py\d*(\.?\d+)?|pypy\d+)(-[\w.]+)*$/.test(one) || isCheckName(one)),
  ],
  /** Compilation database that a build writes; other kinds of such files name programs to run. */
  [
    '<commands>',
    (value) => /(^|\/)compile_commands\.json$/.test(value) && isPath(value) && { path: value, as: 'read' },
  ],
  ['<sql>', (value) => sqlReads(value)],
  ['<lint>', (value) => /^[a-z][\w:-]*$/i.test(value)],
]);

export const isValueType = (name: string): boolean => valueTypes.has(name);

export const isPath = (value: string): boolean =>
  isKnown(value) && value !== '' && !/^[-~@]|^[a-z][a-z0-9+.-]*:\/\//i.test(value);

/** An option, which in a shell can begin with `+`, too. */
export const isFile = (value: string): boolean => isPath(value) && !/:|^\+/.test(value);

export const buildFolder = /^(\.\/)?(_?build|builddir|out|cmake-build|artifacts|publish)[\w-]*(\/\w[\w.-]*)*\/?$/;

/** Without the line, or the test in it. */
export const pathInWord = (word: string): string => word.split('::')[0]!.replace(/:\d+(:\d+)?$/, '');

/** A path that says of itself that there are tests in it. */
export const saysTests = (path: string): boolean =>
  /(^|[/_.-])(__)?(tests?|testing|specs?|e2e|integration|unit|features|bench(marks?)?)(__)?($|[/_.-])/i.test(path) ||
  /[a-z\d](Test|Spec|Cest)(s|Case)?\.\w+$/.test(path);
