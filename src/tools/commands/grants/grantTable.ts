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
 * All commands that may be granted wider than by their exact words. What is not here never is: interpreters, starters, programs
 * that send, fetch, copy or pack, what deletes, moves, publishes or pushes.
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
 * The command runs no code of the open folder. A program with a row that says so is known to load none of it, and no configuration of it
 * that can name code.
 *
 * @invariant kinds-without-project-code: a command of the kinds `looks` and `asks` starts nothing that lies in the open folder
 */
const runsNoCode = (kind: RuleKind): boolean => kind === 'looks' || kind === 'asks';

/** A row that covers a command, and what is to be looked at before it is harmless. */
export interface Match {
  /** The row's, behind what starts the project's own copy of the program. */
  command: string;
  kind: RuleKind;
  /** What rules for the project's copy call it, the one that a new rule is for first. Absent where the launcher makes a difference. */
  copies?: string[];
  claims: DiskClaim[];
  home?: GrantRow['home'];
}

/** The row that covers the words of one command as they run in `folder` (absolute and real); undefined for none. */
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

/** Options that choose the packages whose scripts are run. */
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

/** A program runs the files that it is given when all of its rows that take files take nothing but tests. */
function takes(program: string): ReturnType<Takes> {
  const rows = byProgram.get(program);
  const types = rows?.flatMap(({ operands = [] }) => operands) ?? [];
  if (types.length > 0 && types.every((type) => /^(tests|collected|modules)$/.test(type))) return 'tests';
  return rows && 'any';
}
