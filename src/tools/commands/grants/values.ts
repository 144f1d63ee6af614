import { isStaticShellWord, unknownValuePlaceholders } from '../commandStep.ts';
import { isReadOnlySqlQuery } from '../readOnlyScripts.ts';
import { isBuildPresetName, isBuildTarget, isCheckScriptName } from './checkNames.ts';

/**
 * Disk check that must succeed before a word counts as harmless. `there`: an existing readable file. `folder`: a folder, or a configuration
 * file inside. `package`: a Python module in the form of a folder. `configured`: read by the tool `program` with configuration from
 * surrounding folders.
 */
export interface RequiredFileCheck {
  path: string;
  as: 'read' | 'there' | 'output' | 'folder' | 'module' | 'package' | 'configured';
  program?: string;
}

/**
 * Tests a value against types.
 * @param types separated by blanks; one must match
 */
export function checkArgumentValue(types: string, value: string): boolean | RequiredFileCheck {
  for (const type of types.split(' ')) {
    const check = valueTypes.get(type);
    const vague = type === '' || type === '#';
    const found = check ? (vague || isStaticShellWord(value)) && check(value) : type.split('|').includes(value);
    if (found) return found;
  }
  return false;
}

export const matchesValueType = (type: string, value: string): boolean => checkArgumentValue(type, value) !== false;

const valueTypes = new Map<string, (value: string) => boolean | RequiredFileCheck>([
  ['', () => true],
  ['#', (value) => value === unknownValuePlaceholders.number || /^-?[\d.,]+%?$/.test(value)],
  ['<time>', (value) => /^\d+(\.\d+)?(ms|s|m|h)?$/.test(value)],
  ['<name>', (value) => /^[\w@][\w@:.+-]*(\/[\w@:.+-]+)*$/.test(value) && !/(^|\/)\.\.?(\/|$)/.test(value)],
  ['<path>', (value) => isPathArgument(value) && { path: value, as: 'read' }],
  ['<file>', (value) => isFileArgument(value) && { path: value, as: 'read' }],
  ['<tests>', (value) => isPathArgument(value) && isTestPath(value) && { path: value, as: 'read' }],
  ['<folder>', (value) => isPathArgument(value) && { path: value, as: 'folder' }],
  /** Configuration file in another folder: equivalent to execution there. */
  ['<manifest>', (value) => isPathArgument(value) && { path: value.replace(/[^/]*$/, '') || '.', as: 'folder' }],
  [
    '<build>',
    (value) =>
      isPathArgument(value) && { path: value, as: patternOfBuildOutputFolders.test(value) ? 'read' : 'folder' },
  ],
  ['<made>', (value) => patternOfBuildOutputFolders.test(value) && { path: value, as: 'read' }],
  /** Passed to Git, so an option is refused. */
  ['<revision>', (value) => /^[\w@][\w@{}^~:./-]*$/.test(value)],
  /** Package filter; text in brackets would be passed to Git. */
  ['<filter>', (value) => !/^-|\[\s*-/.test(value)],
  /** jq filter of a program that exposes its variables. */
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
  /** Git runs the signature program for `%G` and `%(signature)`, and to sort by signature. */
  ['<format>', (value) => !/%[-+ ]?G|signature/.test(value)],
  ['<sort>', (value) => !value.includes('signature')],
  /** Value of `git log -L`: `1,20:src/a.ts`. */
  [
    '<range>',
    (value) => {
      const path = value.slice(value.lastIndexOf(':') + 1);
      return isPathArgument(path) && { path, as: 'read' };
    },
  ],
  ['<target>', (value) => !value.includes('/') && isBuildTarget(value)],
  ['<preset>', isBuildPresetName],
  /** Value of `eslint --rule`: options of a rule may name a file to load. */
  ['<rule>', (value) => !/[[\]{}]/.test(value)],
  /** Value of `python -W`: a category with a dot would be imported. */
  ['<warning>', (value) => /^(error|ignore|default|always|module|once)(:[^:.]*(:[A-Za-z]*)?)?$/.test(value)],
  /** Value of `pytest -p`: `no:` disables a plugin; any other value loads code. */
  ['<noplugin>', (value) => /^no:[\w.-]+$/.test(value)],
  ['<strip>', (value) => /^-[sw]( -[sw])*$/.test(value)],
  /** Columns of `ps` and similar programs, except the environment. */
  ['<fields>', (value) => /^[-+\w,%.=]+$/.test(value) && !/env/i.test(value)],
  ['<labels>', (value) => /^[\w@*][\w@*:.,+=/!-]*$/.test(value) && !/(^|[/,])\.\.([/,]|$)/.test(value)],
  ['<word>', (value) => /^[\w][\w .-]*$/.test(value)],
  ['<checks>', (value) => value.split(',').every(isCheckScriptName)],
  [
    '<environments>',
    (value) =>
      value.split(',').every((one) => /^(py\d*(\.?\d+)?|pypy\d+)(-[\w.]+)*$/.test(one) || isCheckScriptName(one)),
  ],
  /** Compilation database of a build; similar files of other formats name programs to run. */
  [
    '<commands>',
    (value) => /(^|\/)compile_commands\.json$/.test(value) && isPathArgument(value) && { path: value, as: 'read' },
  ],
  ['<sql>', (value) => isReadOnlySqlQuery(value)],
  ['<lint>', (value) => /^[a-z][\w:-]*$/i.test(value)],
]);

export const isArgumentValueTypeName = (name: string): boolean => valueTypes.has(name);

export const isPathArgument = (value: string): boolean =>
  isStaticShellWord(value) && value !== '' && !/^[-~@]|^[a-z][a-z0-9+.-]*:\/\//i.test(value);

/** Refuses `+`, which starts an option of some shells. */
export const isFileArgument = (value: string): boolean => isPathArgument(value) && !/:|^\+/.test(value);

export const patternOfBuildOutputFolders =
  /^(\.\/)?(_?build|builddir|out|cmake-build|artifacts|publish)[\w-]*(\/\w[\w.-]*)*\/?$/;

export const pathOfTestSelector = (word: string): string => word.split('::')[0]!.replace(/:\d+(:\d+)?$/, '');

export const isTestPath = (path: string): boolean =>
  /(^|[/_.-])(__)?(tests?|testing|specs?|e2e|integration|unit|features|bench(marks?)?)(__)?($|[/_.-])/i.test(path) ||
  /[a-z\d](Test|Spec|Cest)(s|Case)?\.\w+$/.test(path);
