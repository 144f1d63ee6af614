import type { Kind } from '../../../protocol/rule.ts';
import { sqlReads } from '../readOnlyScripts.ts';
import { isKnown, some } from '../step.ts';

/** Package managers that install a tool for one project. */
export type Installer = 'npm' | 'pip' | 'gem' | 'composer';

/**
 * One line of the table of commands whose other arguments are known to be harmless: what a lasting grant for it covers beside the
 * exact words. An option or argument that is not here is asked about.
 */
export interface Row {
  /** The program and what it is told to do: `git log`, `cargo test`. */
  command: string;
  kind: Kind;
  /**
   * Package managers that install this tool for one project. The project's own copy is a command of its own, which rules name as it is
   * started (`npx jest`). Absent: a program of the system, and no other file of its name.
   */
  installedBy?: readonly Installer[];
  /** Why its other arguments are harmless, and which are not. */
  why: string;
  /**
   * Options, blank-separated, as they are written: `-v --verbose`; with a value `-n= --format=`. Behind `=` what the value may be: nothing
   * is any text, else names between `|`, or one of `valueTypes` (`--jobs=#`). One that is there both ways takes a value only behind `=`.
   */
  options?: string;
  /** Options that stand between the program and the second word. */
  before?: string;
  /** What the words that are no options are; none when absent. Several: by their places, the last for all behind it, too. */
  operands?: Operands | readonly Operands[];
  /** At least one of these options is there: without it the command is another one. */
  needs?: readonly string[];
  /** The most operands, and the least. */
  most?: number;
  least?: number;
  /** What may stand behind `--`; the operands when absent. */
  rest?: { options?: string; operands?: Row['operands'] };
  /** Other words that may stand anywhere. */
  also?: RegExp;
  /** Options that take every word behind them up to the next option: all of those have to be values of it. */
  greedy?: readonly string[];
  /**
   * Where it runs, it acts on what this lies in: on the module around it (`go.mod`), or, in a folder that a build has made, on the
   * project that was built. A rule for that place holds.
   */
  home?: 'go.mod' | 'build';
  /** It reads more arguments out of the file that a word with `@` in front names. */
  readsArguments?: true;
  /** Long options have one dash (`-run`), and short ones are not put together. */
  oneDash?: true;
  /** Behind the first word that is no option it looks for none: what stands there would be another file, or an address. */
  optionsFirst?: true;
  /** Command lines that it covers, and that it must not. */
  yes: readonly string[];
  no: readonly string[];
}

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

/**
 * The words behind a row's command, where the words begin with it; undefined where they do not. Options that may stand in between
 * are left out.
 */
export function argumentsOf(row: Row, words: readonly string[]): string[] | undefined {
  const [program, ...told] = row.command.split(' ');
  if (words[0] !== program) return undefined;
  const before = optionsOf(row.before);
  let at = 1;
  for (const word of told) {
    while (words[at] !== word) {
      const option = words[at]?.startsWith('-')
        ? words[at]!.startsWith('--')
          ? readLong(words[at]!, before)
          : readShort(words[at]!, before)
        : undefined;
      if (!option || (option.type !== undefined && !option.awaits && allows(option.type, option.value ?? '') === false))
        return undefined;
      at += option.awaits ? 2 : 1;
    }
    at += 1;
  }
  return words.slice(at);
}

/** What is to be looked at on the disk before a word is harmless. */
export interface Claim {
  path: string;
  /**
   * `there`: to be read, and on the disk. `folder`: one, or a file that says what to do in the folder that it lies in. `package`: a module
   * of Python that is a folder.
   */
  as: 'read' | 'there' | 'output' | 'folder' | 'module' | 'package';
}

/** Values that an option may have, by how the table calls them. */
const valueTypes: Record<string, (value: string) => boolean | Claim> = {
  '': () => true,
  '#': (value) => value === some.number || /^-?[\d.,]+%?$/.test(value),
  '<time>': (value) => /^\d+(\.\d+)?(ms|s|m|h)?$/.test(value),
  '<name>': (value) => /^[\w@][\w@:.+-]*(\/[\w@:.+-]+)*$/.test(value) && !/(^|\/)\.\.?(\/|$)/.test(value),
  '<path>': (value) => isPath(value) && { path: value, as: 'read' },
  '<file>': (value) => isFile(value) && { path: value, as: 'read' },
  '<tests>': (value) => isPath(value) && saysTests(value) && { path: value, as: 'read' },
  '<folder>': (value) => isPath(value) && { path: value, as: 'folder' },
  /** A file of another folder that says what to do there: as if it ran there. */
  '<manifest>': (value) => isPath(value) && { path: value.replace(/[^/]*$/, '') || '.', as: 'folder' },
  /** What is built is built as the folder says: one that a build has made, or a folder of its own. */
  '<build>': (value) => isPath(value) && { path: value, as: buildFolder.test(value) ? 'read' : 'folder' },
  /** Where build files are written, over what is there. */
  '<made>': (value) => buildFolder.test(value) && { path: value, as: 'read' },
  /** Handed on to Git: no option of it. */
  '<revision>': (value) => /^[\w@][\w@{}^~:./-]*$/.test(value),
  /** Of packages; what is in brackets is handed on to Git. */
  '<filter>': (value) => !/^-|\[\s*-/.test(value),
  /** `jq` of a program that shows it its variables. */
  '<jq>': (value) => !/env|input|import|include|\$__/i.test(value),
  '<output>': (value) =>
    value === '/dev/null' ||
    (/^(\.\/)?(bin|build|dist|out|target|tmp|coverage)\/[\w.-]+$|^(cover|coverage|profile|c)\.(out|txt|html)$/.test(
      value,
    ) && {
      path: value,
      as: 'output',
    }),
  /** Git runs the program that checks signatures for `%G` and `%(signature)`, and to sort by it. */
  '<format>': (value) => !/%[-+ ]?G|signature/.test(value),
  '<sort>': (value) => !value.includes('signature'),
  /** Of `git log -L`: `1,20:src/a.ts`. */
  '<range>': (value) => {
    const path = value.slice(value.lastIndexOf(':') + 1);
    return isPath(path) && { path, as: 'read' };
  },
  '<target>': (value) =>
    !/(^|[-_.:])(un)?(install|clean|dist|package|upload|deploy|publish|flash|push|send|reset)/.test(value) &&
    /^[\w.+:-]+$/.test(value),
  /** Of `python -W`: a category with a dot in it is loaded. */
  '<warning>': (value) => /^(error|ignore|default|always|module|once)(:[^:.]*(:[A-Za-z]*)?)?$/.test(value),
  /** Of `pytest -p`: with `no:` a plugin is left out, without it is loaded. */
  '<noplugin>': (value) => /^no:[\w.-]+$/.test(value),
  /** For the linker of Go: only what leaves debugging symbols out. */
  '<strip>': (value) => /^-[sw]( -[sw])*$/.test(value),
  /** Of `ps` and the like: what to show, but no environment. */
  '<fields>': (value) => /^[-+\w,%.=]+$/.test(value) && !/env/i.test(value),
  /** Names side by side, as of tests, projects or labels. */
  '<labels>': (value) => /^[\w@*][\w@*:.,+=/!-]*$/.test(value) && !/(^|[/,])\.\.([/,]|$)/.test(value),
  '<word>': (value) => /^[\w][\w .-]*$/.test(value),
  /** Names, each of which says a test, a check or a build. */
  '<checks>': (value) => value.split(',').every(isCheckName),
  /** Of `tox`: versions of Python, and checks. */
  '<environments>': (value) =>
    value.split(',').every((one) => /^(py\d*(\.?\d+)?|pypy\d+)(-[\w.]+)*$/.test(one) || isCheckName(one)),
  /** How the project is compiled, as its build writes it down; other kinds of such files name programs to run. */
  '<commands>': (value) => /(^|\/)compile_commands\.json$/.test(value) && isPath(value) && { path: value, as: 'read' },
  '<sql>': (value) => sqlReads(value),
  '<lint>': (value) => /^[a-z][\w:-]*$/i.test(value),
};

const isPath = (value: string): boolean =>
  isKnown(value) && value !== '' && !/^[-~@]|^[a-z][a-z0-9+.-]*:\/\//i.test(value);

/** To a shell `+n` is an option, too. */
const isFile = (value: string): boolean => isPath(value) && !/:|^\+/.test(value);

export const buildFolder = /^(\.\/)?(_?build|builddir|out|cmake-build|artifacts|publish)[\w-]*(\/\w[\w.-]*)*\/?$/;

/** How a row covers the words behind its command. */
export interface Fit {
  /** What has yet to be looked at on the disk. */
  claims: Claim[];
  operands: string[];
  /** Of its options. */
  values: string[];
}

/** Undefined: the row does not cover them. */
export function fits(row: Row, args: readonly string[]): Fit | undefined {
  const claims: Claim[] = [];
  const options = optionsOf(row.options);
  const used = new Set<string>();
  const operands: string[] = [];
  const values: string[] = [];
  const accept = (allowed: boolean | Claim): boolean => {
    if (typeof allowed === 'object') claims.push(allowed);
    return allowed !== false;
  };
  if (row.readsArguments && args.some((word) => word.startsWith('@'))) return undefined;
  let at = 0;
  let greedy: string | undefined;
  for (; at < args.length && args[at] !== '--'; at++) {
    const word = args[at]!;
    if (row.also?.test(word)) continue;
    if (!/^-./s.test(word)) {
      if (greedy !== undefined && !accept(allows(greedy, word))) return undefined;
      operands.push(word);
      continue;
    }
    if (row.optionsFirst && operands.length > 0) return undefined;
    const option =
      row.oneDash || word.startsWith('--') ? readLong(word, options, row.oneDash) : readShort(word, options);
    if (!option) return undefined;
    // To some programs it is the value of the flag in front of it, to others a file of that name.
    const next = args[at + 1] ?? '';
    const takes = (name: string) => fitsType(options.get(name)?.value ?? 'nothing', next);
    if (/^(true|false|null)$/.test(next) && !option.awaits && option.value === undefined && !option.names.some(takes))
      return undefined;
    for (const name of option.names) used.add(name);
    let { value } = option;
    if (option.awaits) {
      value = args[++at];
      if (value === undefined || (/^-/.test(value) && !/^-\d+$/.test(value) && option.type !== '<strip>'))
        return undefined;
    }
    if (value?.startsWith('--')) return undefined; // what it is handed on to would take it for an option
    if (value !== undefined) values.push(value);
    greedy = option.names.some((name) => row.greedy?.includes(name)) ? option.type : undefined;
    if (option.type !== undefined && !accept(allows(option.type, value ?? ''))) return undefined;
  }
  const rest = args.slice(at + 1);
  if (args[at] === '--' && rest.length === 0) return undefined; // to some programs it is a value: `git config user.name --`
  // Not every program stops looking for options there, nor what it hands them on to.
  if (!row.rest && rest.some((word) => word.startsWith('-'))) return undefined;
  if (row.rest) {
    const behind = fits(
      {
        ...row,
        options: row.rest.options,
        operands: row.rest.operands,
        rest: undefined,
        needs: undefined,
        least: undefined,
      },
      rest,
    );
    if (!behind) return undefined;
    claims.push(...behind.claims);
    values.push(...behind.operands, ...behind.values);
  } else operands.push(...rest);
  if (row.needs && !row.needs.some((name) => used.has(name))) return undefined;
  if (operands.length < (row.least ?? 0) || operands.length > (row.most ?? Number.POSITIVE_INFINITY)) return undefined;
  const places = Array.isArray(row.operands)
    ? (row.operands as readonly Operands[])
    : [row.operands as Operands | undefined];
  const fit = operands.every((operand, at) => accept(allowsOperand(places[at] ?? places.at(-1), operand)));
  return fit ? { claims, operands, values } : undefined;
}

/** Types by name of option; a flag has the type undefined. An option may be both. */
type Options = Map<string, { flag: boolean; value?: string }>;

const read = new Map<string, Options>();

function optionsOf(spelled = ''): Options {
  const found = read.get(spelled);
  if (found) return found;
  const options: Options = new Map();
  for (const one of spelled.split(/\s+/).filter(Boolean)) {
    const [, name, type] = /^([^=]+)(?:=(.*))?$/s.exec(one)!;
    const names = name!.includes('[no-]') ? [name!.replace('[no-]', ''), name!.replace('[no-]', 'no-')] : [name!];
    for (const each of names) {
      const before = options.get(each);
      const value = before?.value === undefined ? type : type === undefined ? before.value : `${before.value} ${type}`;
      options.set(each, { flag: type === undefined || (before?.flag ?? false), ...(value !== undefined && { value }) });
    }
  }
  read.set(spelled, options);
  return options;
}

interface Read {
  names: string[];
  type?: string;
  value?: string;
  /** Its value is the next word. */
  awaits?: true;
}

function readLong(word: string, options: Options, oneDash?: true): Read | undefined {
  const [, spelled, value] = /^([^=]*)(?:=(.*))?$/s.exec(word)!;
  const name = oneDash ? spelled!.replace(/^--(?=.)/, '-') : spelled!;
  const option = options.get(name) ?? options.get(spelled!);
  if (!option) return undefined;
  if (value !== undefined) return option.value === undefined ? undefined : { names: [name], type: option.value, value };
  if (option.flag) return { names: [name] };
  return { names: [name], type: option.value!, awaits: true };
}

/** Letters side by side, the last with its value attached or behind it; `-5` is a number of lines where `-#` is an option. */
function readShort(word: string, options: Options): Read | undefined {
  if (/^-\d+$/.test(word)) return options.has('-#') ? { names: ['-#'] } : undefined;
  const whole = /^(-\w[\w-]+)(?:=(.*))?$/s.exec(word);
  if (whole && options.has(whole[1]!)) return readLong(word, options);
  const names: string[] = [];
  for (let at = 1; at < word.length; at++) {
    const name = `-${word[at]}`;
    const option = options.get(name);
    if (!option) return undefined;
    names.push(name);
    const attached = word.slice(at + 1);
    if (option.value === undefined) continue;
    if (attached !== '' && option.flag && !fitsType(option.value, attached)) continue;
    if (attached !== '') return { names, type: option.value, value: attached.replace(/^=/, '') };
    return option.flag ? { names } : { names, type: option.value, awaits: true };
  }
  return { names };
}

const fitsType = (type: string, value: string): boolean => allows(type, value) !== false;

/** @param types several, blank-separated, of which one has to fit */
function allows(types: string, value: string): boolean | Claim {
  for (const type of types.split(' ')) {
    const check = valueTypes[type];
    const vague = type === '' || type === '#';
    const found = check ? (vague || isKnown(value)) && check(value) : type.split('|').includes(value);
    if (found) return found;
  }
  return false;
}

/** What a word that is no option may be. */
function allowsOperand(operands: Operands | undefined, word: string): boolean | Claim {
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

/** Without the line, or the test in it. */
const placeOf = (word: string): string => word.split('::')[0]!.replace(/:\d+(:\d+)?$/, '');

/** A path that says of itself that there are tests in it. */
const saysTests = (path: string): boolean =>
  /(^|[/_.-])(__)?(tests?|testing|specs?|e2e|integration|unit|features|bench(marks?)?)(__)?($|[/_.-])/i.test(path) ||
  /[a-z\d](Test|Spec|Cest)(s|Case)?\.\w+$/.test(path);

const goPackage = /^(\.{1,2}|(\.{1,2}\/)*[\w][\w./-]*|(\.{1,2}\/)*(?:[\w.-]+\/)*\.\.\.)$/;

/** `main..topic`, `HEAD~2`, `:/words`, `HEAD:src/a.ts`, or a path. Two paths of which one is outside are compared as files. */
function allowsRevision(word: string): boolean | Claim {
  if (/^[~]/.test(word)) return false;
  const path = /^[^:/]*:(?!\/)(.*)$/s.exec(word)?.[1] ?? word;
  const isRange = /^[^/]*\.\.\.?[^/]*$/.test(path) || /[^/]\.\.\.?[^/]/.test(path);
  if (isRange && !path.startsWith('/') && !/(^|\/)\.\.(\/|$)/.test(path)) return true;
  return path === '' ? true : { path, as: 'read' };
}

/** Words that say that something is tested, checked or built, and none that says that something is changed or sent. */
export const isCheckName = (name: string): boolean => checkName.test(name) && !changingName.test(name);
const checkName =
  /^(tests?|testing|specs?|unit|integration|e2e|lint|linters?|eslint|stylelint|clippy|checks?|typecheck|types?|tsc|mypy|ruff|build|compile|bundle|assemble|all|verify|validate|ci|cov|coverage|bench|benchmarks?|vet|fmt|format|prettier|rubocop|rspec)([:._-][\w:.-]+)?$/;
const changingName =
  /(^|[:._-])(deploy|publish|release|push|upload|fix|write|update|apply|prod|production|seed|migrate|reset|clean|drop|delete|remove|install|send|start|serve|watch|fmt|format|prettier)($|[:._-](?!check))/;
