import type { RuleKind } from '../../../protocol/content/rule.ts';
import { isKnown } from '../commandStep.ts';
import { allowsOperand } from './operands.ts';
import { type Gathered, optionsOf, readOption } from './options.ts';
import type { ScriptFile } from './scriptArguments.ts';
import { patternOf } from './tablePattern.ts';
import { allows, type DiskClaim } from './values.ts';

/** Package managers that install a tool for one project. */
export const installers = ['npm', 'pip', 'gem', 'composer'] as const;
export type Installer = (typeof installers)[number];

/**
 * Command of the tables whose other arguments are known to be harmless: a lasting grant for it covers them beside the exact words. An
 * option or argument that is not here is asked about.
 */
export interface GrantRow {
  /** The program and what it is told to do: `git log`, `cargo test`. */
  command: string;
  kind: RuleKind;
  /**
   * Package managers that install this tool for one project. The project's own copy is a command of its own, which rules name as it is
   * started (`npx jest`). Absent: a program of the system, and no other file of its name.
   */
  installedBy?: readonly Installer[];
  /** Reason why its other arguments are harmless, and which are not. The build leaves it out. */
  why?: string;
  /**
   * Options, blank-separated, as they are written: `-v --verbose`; with a value `-n= --format=`; several names of one `-f,--format=`.
   * Behind `=` stands the form of the value: nothing is any text, else names between `|`, or one of `valueTypes` (`--jobs=#`). One that
   * is there both ways takes a value only behind `=`.
   */
  options?: string;
  /** Options that stand between the program and the second word. */
  before?: string;
  /**
   * Type of the words that are no options (`operandTypes`), or a pattern of them; none when absent. Several: by their places, the last
   * for all behind it, too.
   */
  operands?: string | readonly string[];
  /** At least one of these options is there: without it the command is another one. */
  needs?: readonly string[];
  /** All of these options are there. */
  needsAll?: readonly string[];
  /** Largest and smallest number of operands. */
  max?: number;
  min?: number;
  /** Words that may stand behind `--`; the operands when absent. */
  rest?: Pick<GrantRow, 'options' | 'operands'>;
  /** Pattern of other words that may stand anywhere. */
  also?: string;
  /** Options that take every word behind them up to the next option: all of those have to be values of it. */
  greedy?: readonly string[];
  /**
   * Where it runs, it acts on what this lies in: on the module around it (`go.mod`), or, in a folder that a build has made, on the
   * project that was built. A rule for that place holds.
   */
  home?: 'go.mod' | 'build';
  /** It reads more arguments out of the file that a word with `@` in front names. */
  readsArguments?: true;
  /**
   * A second shell reads its arguments: that of a script, a recipe or a session. One with a character that is more than text to a shell is
   * asked about, as runners do not all quote.
   */
  secondShell?: true;
  /** It runs a script of this file, and appends what it is told to its text. */
  scripts?: ScriptFile;
  /** It takes its configuration, which may be code, from the folders around its operands: a rule for each that has one holds. */
  configured?: true;
  /** Long options have one dash (`-run`), and short ones are not put together. */
  oneDash?: true;
  /** Behind the first word that is no option it looks for none: what stands there would be another file, or an address. */
  optionsFirst?: true;
  /**
   * Nobody has watched it while it ran, for `npm run bench -- grants` needs its program installed: what is said of it was read in its
   * documentation, so less of it holds (`unseenClaims`). All others did nothing there that their rows do not say.
   */
  unseen?: true;
}

/** Result of matching a row with the words of a command. */
export interface RowMatch extends Omit<Gathered, 'used'> {
  operands: string[];
  /** Operands behind `--` that are handed on; they are among the values, too. */
  rest: string[];
}

/** The words behind a row's command, and the options that stood in it; undefined when the words do not begin with the command. */
export interface Begun extends Gathered {
  args: string[];
}

export function argumentsOf(row: GrantRow, words: readonly string[]): Begun | undefined {
  const [program, ...told] = row.command.split(' ');
  if (words[0] !== program) return undefined;
  const before = optionsOf(row.before);
  const gathered: Gathered = { claims: [], values: [], used: new Set() };
  let at = 1;
  for (const word of told) {
    while (words[at] !== word) {
      const option = words[at]?.startsWith('-') ? readOption(words, at, before, gathered, row) : undefined;
      if (!option) return undefined;
      at = option.next;
    }
    at += 1;
  }
  return { args: words.slice(at), ...gathered };
}

/** Undefined: the row does not cover the words behind its command. */
export function fits(row: GrantRow, args: readonly string[], begun?: Gathered): RowMatch | undefined {
  const gathered: Gathered = {
    claims: [...(begun?.claims ?? [])],
    values: [...(begun?.values ?? [])],
    used: new Set(begun?.used),
  };
  const { claims, values, used } = gathered;
  const options = optionsOf(row.options);
  const operands: string[] = [];
  const also = row.also === undefined ? undefined : patternOf(row.also);
  const accept = (allowed: boolean | DiskClaim): boolean => {
    if (typeof allowed === 'object') claims.push(allowed);
    return allowed !== false;
  };
  if (row.readsArguments && args.some((word) => word.startsWith('@'))) return undefined;
  if (row.secondShell && ![...args, ...values].every((word) => isPlainText(word) || also?.test(word))) return undefined;
  let at = 0;
  let greedy: string | undefined;
  while (at < args.length && args[at] !== '--') {
    const word = args[at]!;
    if (also?.test(word)) at += 1;
    else if (!/^-./s.test(word)) {
      if (greedy !== undefined && !accept(allows(greedy, word))) return undefined;
      operands.push(word);
      at += 1;
    } else {
      const option = row.optionsFirst && operands.length > 0 ? undefined : readOption(args, at, options, gathered, row);
      if (!option) return undefined;
      at = option.next;
      greedy = option.greedy;
    }
  }
  const rest = args.slice(at + 1);
  const handedOn: string[] = [];
  if (args[at] === '--' && rest.length === 0) return undefined; // to some programs it is a value: `git config user.name --`
  // Not every program stops looking for options there, nor what it hands them on to.
  if (!row.rest && rest.some((word) => word.startsWith('-'))) return undefined;
  if (row.rest) {
    const { options, operands } = row.rest;
    const behind = fits(
      { ...row, options, operands, rest: undefined, needs: undefined, needsAll: undefined, min: undefined },
      rest,
    );
    if (!behind) return undefined;
    claims.push(...behind.claims);
    values.push(...behind.operands, ...behind.values);
    handedOn.push(...behind.operands);
  } else operands.push(...rest);
  if (row.needs && !row.needs.some((name) => used.has(name))) return undefined;
  if (row.needsAll?.some((name) => !used.has(name))) return undefined;
  if (operands.length < (row.min ?? 0) || operands.length > (row.max ?? Number.POSITIVE_INFINITY)) return undefined;
  const places = typeof row.operands === 'string' ? [row.operands] : (row.operands ?? []);
  const fit = operands.every((operand, at) => accept(allowsOperand(places[at] ?? places.at(-1), operand)));
  if (row.configured) {
    const program = row.command.split(' ')[0]!;
    claims.push(...operands.map((path): DiskClaim => ({ path, as: 'configured', program })));
  }
  return fit ? { claims, operands, values, rest: handedOn } : undefined;
}

/** Text to every shell: no quote, variable, glob, comment or separator, and no blank in front of an option or a list of arguments. */
const isPlainText = (word: string): boolean =>
  isKnown(word) && /^[\w@%+=:,./^ -]*$/.test(word) && !/ [-@]| $/.test(word);
