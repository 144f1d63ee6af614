import type { CommandRuleKind } from '../../../protocol/content/rule.ts';
import { isStaticShellWord } from '../commandStep.ts';
import { allowsOperand } from './operands.ts';
import { type ParsedCommandOptions, parseCommandOptionTypes, readCommandOption } from './options.ts';
import type { ProjectScriptFile } from './scriptArguments.ts';
import { compileGrantPattern } from './tablePattern.ts';
import { checkArgumentValue, type RequiredFileCheck } from './values.ts';

export const packageInstallers = ['npm', 'pip', 'gem', 'composer'] as const;
export type PackageInstaller = (typeof packageInstallers)[number];

/**
 * Command with arguments known to be harmless: a permanent grant also covers these arguments. Options and arguments outside of the row need
 * an approval. `command` is the program with its subcommand: `git log`, `cargo test`. `needs`: options of which at least one is required,
 * because otherwise the command has another meaning. `greedy`: options that take all words up to the next option as values.
 * `readsArguments`: the program reads arguments from files named with a leading `@`. `scripts`: the program runs a script of this file and
 * appends the arguments to its text. `configured`: the program loads configuration, possibly code, from the folders around its operands, so
 * each such folder needs a rule. `oneDash`: long options have one dash (`-run`), and short options are not combined. `optionsFirst`: option
 * parsing stops at the first operand; later words would be files or addresses.
 */
export interface GrantRow {
  command: string;
  kind: CommandRuleKind;
  /**
   * Package managers that install the tool for one project. The project's own copy is a separate command with its launcher (`npx jest`) in
   * rules. Absent: only the system's program matches.
   */
  installedBy?: readonly PackageInstaller[];
  /** Reason why the other arguments are harmless, and the exceptions. Removed by the build. */
  why?: string;
  /**
   * Options, separated by blanks: `-v --verbose`; with a value `-n= --format=`; synonyms `-f,--format=`. The text after `=` is the form of
   * the value: empty for any text, names separated by `|`, or one of `valueTypes` (`--jobs=#`). An option in both forms takes a value only
   * after `=`.
   */
  options?: string;
  before?: string;
  /**
   * Type of the operands (`operandTypes`), or a pattern; absent means no operands. Several types apply by position, the last type to all
   * following operands.
   */
  operands?: string | readonly string[];
  /** Options of which at least one is required: otherwise the command has another meaning. */
  needs?: readonly string[];
  needsAll?: readonly string[];
  max?: number;
  min?: number;
  rest?: Pick<GrantRow, 'options' | 'operands'>;
  also?: string;
  greedy?: readonly string[];
  /**
   * The command acts on the surrounding project instead of the working folder: the Go module (`go.mod`), or the project of a build folder.
   * A rule for that project applies.
   */
  home?: 'go.mod' | 'build';
  readsArguments?: true;
  /**
   * A second shell evaluates the arguments (script, recipe or session). Arguments with shell characters need an approval, because not all
   * runners quote.
   */
  secondShell?: true;
  scripts?: ProjectScriptFile;
  configured?: true;
  oneDash?: true;
  optionsFirst?: true;
  /**
   * The row comes from documentation only: the execution was never observed, because `npm run bench -- grants` needs the program installed.
   * Stricter checks apply (`unseenClaims`). All other programs showed no effect beyond their rows.
   */
  unseen?: true;
}

export interface GrantRowMatch extends Omit<ParsedCommandOptions, 'used'> {
  operands: string[];
  /** Operands after `--` for another program; also included in the values. */
  rest: string[];
}

// Arguments after the command of a row, and the options found within the command; undefined if the words do not begin with the command.
interface GrantRowArguments extends ParsedCommandOptions {
  args: string[];
}

export function parseGrantRowArguments(row: GrantRow, words: readonly string[]): GrantRowArguments | undefined {
  const [program, ...subcommands] = row.command.split(' ');
  if (words[0] !== program) return undefined;
  const before = parseCommandOptionTypes(row.before);
  const gathered: ParsedCommandOptions = { claims: [], values: [], used: new Set() };
  let at = 1;
  for (const word of subcommands) {
    while (words[at] !== word) {
      const option = words[at]?.startsWith('-') ? readCommandOption(words, at, before, gathered, row) : undefined;
      if (!option) return undefined;
      at = option.next;
    }
    at += 1;
  }
  return { args: words.slice(at), ...gathered };
}

/** Matches a row with the arguments of its command; undefined if the row does not cover the arguments. */
export function matchGrantRow(
  row: GrantRow,
  args: readonly string[],
  begun?: ParsedCommandOptions,
): GrantRowMatch | undefined {
  const gathered: ParsedCommandOptions = {
    claims: [...(begun?.claims ?? [])],
    values: [...(begun?.values ?? [])],
    used: new Set(begun?.used),
  };
  const { claims, values, used } = gathered;
  const options = parseCommandOptionTypes(row.options);
  const operands: string[] = [];
  const also = row.also === undefined ? undefined : compileGrantPattern(row.also);
  const accept = (allowed: boolean | RequiredFileCheck): boolean => {
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
      if (greedy !== undefined && !accept(checkArgumentValue(greedy, word))) return undefined;
      operands.push(word);
      at += 1;
    } else {
      const option =
        row.optionsFirst && operands.length > 0 ? undefined : readCommandOption(args, at, options, gathered, row);
      if (!option) return undefined;
      at = option.next;
      greedy = option.greedy;
    }
  }
  const rest = args.slice(at + 1);
  const handedOn: string[] = [];
  if (args[at] === '--' && rest.length === 0) return undefined; // some programs take `--` as a value: `git config user.name --`
  // Not every program, or the program started by it, stops parsing options at `--`.
  if (!row.rest && rest.some((word) => word.startsWith('-'))) return undefined;
  if (row.rest) {
    const { options, operands } = row.rest;
    const behind = matchGrantRow(
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
  const operandKinds = typeof row.operands === 'string' ? [row.operands] : (row.operands ?? []);
  const fit = operands.every((operand, at) => accept(allowsOperand(operandKinds[at] ?? operandKinds.at(-1), operand)));
  if (row.configured) {
    const program = row.command.split(' ')[0]!;
    claims.push(...operands.map((path): RequiredFileCheck => ({ path, as: 'configured', program })));
  }
  return fit ? { claims, operands, values, rest: handedOn } : undefined;
}

/**
 * Tests for text without meaning for any shell: no quote, variable, glob, comment or separator, and no blank before an option or an
 * argument list.
 */
const isPlainText = (word: string): boolean =>
  isStaticShellWord(word) && /^[\w@%+=:,./^ -]*$/.test(word) && !/ [-@]| $/.test(word);
