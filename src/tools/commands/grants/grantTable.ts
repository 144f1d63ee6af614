import type { RuleKind } from '../../../protocol/content/rule.ts';
import type { WorkspaceRoot } from '../../core/workspace.ts';
import { argumentsOf, fits, type GrantRow, type RowMatch } from './grantRow.ts';
import { copiesOf, launched } from './launchers.ts';
import { allowsAppended, type ScriptCall, type ScriptFile, type Takes } from './scriptArguments.ts';
import { tableRows } from './tableRows.ts';
import { tables } from './tables.ts';
import { unseenClaims } from './unverifiedClaims.ts';
import type { DiskClaim } from './values.ts';
import { asksVersion, looksAtNothing } from './versions.ts';

/**
 * All commands with grants wider than the exact words. Deliberately absent: interpreters, launchers, programs that send, fetch, copy or
 * pack, and commands that delete, move, publish or push.
 */
export const rows: readonly GrantRow[] = tables.flatMap(tableRows);

const byProgram = new Map<string, GrantRow[]>();
for (const row of rows) {
  const [program] = row.command.split(' ') as [string];
  const those = byProgram.get(program);
  if (those) those.push(row);
  else byProgram.set(program, [row]);
}

/**
 * Tests for kinds of commands that run no code of the open folder. Programs with such a row load no code from the folder, and no
 * configuration that can name code.
 * @invariant kinds-without-project-code: a command of the kinds `looks` and `asks` starts nothing that lies in the open folder
 */
const runsNoCode = (kind: RuleKind): boolean => kind === 'looks' || kind === 'asks';

/**
 * Row that covers a command, and the disk checks to make before the command counts as harmless. `command` is the row's command after the
 * launcher of a project copy.
 */
export interface Match {
  command: string;
  kind: RuleKind;
  /** Spellings of rules for the project's copy; a new rule uses the first. Absent if the launcher makes a difference. */
  copies?: string[];
  claims: DiskClaim[];
  home?: GrantRow['home'];
}

/** Returns the row that covers a command in `folder` (absolute and real); undefined if there is none. */
export async function rowFor(
  words: readonly string[],
  folder: string,
  roots: readonly WorkspaceRoot[],
): Promise<Match | undefined> {
  const found = await launched(words, folder, roots);
  if (!found) return undefined;
  const { words: meant, own, shimmed } = found;
  const { through = '', installers = [] } = own ?? {};
  const copies = copiesOf(through);
  const covered = (command: string, kind: RuleKind, claims: DiskClaim[], home?: GrantRow['home']): Match => ({
    ...(copies.length > 0 && { copies: copies.map((copy) => `${copy}: ${command}`) }),
    command: through + command,
    kind: (shimmed || own) && runsNoCode(kind) ? 'loads' : kind,
    claims,
    ...(home && { home }),
  });
  const [program, ...args] = meant as [string, ...string[]];
  const ofProgram = byProgram.get(program) ?? [];
  const candidates = ofProgram.filter(
    ({ installedBy }) => !own || installedBy?.some((one) => installers.includes(one)),
  );
  if (asksVersion(program, args) && (!own || candidates.length > 0)) {
    const looks = looksAtNothing(program) || ofProgram.some(({ kind }) => runsNoCode(kind));
    return covered(`${program} --version`, looks ? 'looks' : 'loads', []);
  }
  for (const row of candidates) {
    const begun = argumentsOf(row, meant);
    const fit = begun && fits(row, begun.args, begun);
    if (fit && row.scripts && !(await allowsAppended(scriptCall(row.scripts, row, meant, fit), folder, roots, takes)))
      continue;
    const claims = fit && (row.unseen ? unseenClaims(row, begun.args, fit) : fit.claims);
    if (claims) return covered(row.command, row.kind, claims, row.home);
  }
  return undefined;
}

const choosesPackages = /^(-ws?|-F|-r|--(workspaces?|filter|recursive|include-workspace-root))(=|$)|^-[wF]./;

function scriptCall(file: ScriptFile, { operands }: GrantRow, words: readonly string[], fit: RowMatch): ScriptCall {
  const isNamed = operands === 'scripts';
  const [first = 'test', ...others] = isNamed ? fit.operands : ['test', ...fit.operands];
  const end = words.indexOf('--');
  const own = end < 0 ? words : words.slice(0, end);
  return {
    file,
    name: first,
    operands: [...others, ...fit.rest],
    elsewhere: own.some((word) => choosesPackages.test(word)),
  };
}

/** Classifies a program by its rows: if all operands are tests, the program executes the given files. */
function takes(program: string): ReturnType<Takes> {
  const rows = byProgram.get(program);
  const types = rows?.flatMap(({ operands = [] }) => operands) ?? [];
  if (types.length > 0 && types.every((type) => /^(tests|collected|modules)$/.test(type))) return 'tests';
  return rows && 'any';
}
