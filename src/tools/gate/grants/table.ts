import type { Kind } from '../../../protocol/rule.ts';
import type { WorkspaceRoot } from '../../workspace.ts';
import { copiesOf, launched } from './launchers.ts';
import { argumentsOf, fits, type Row } from './row.ts';
import { rowsOf } from './tableRows.ts';
import { tables } from './tables.ts';
import { unseenClaims } from './unseenClaims.ts';
import type { Claim } from './values.ts';
import { asksVersion, looksAtNothing } from './versions.ts';

/**
 * All commands that may be granted wider than by their exact words. What is not here never is: interpreters, starters, programs
 * that send, fetch, copy or pack, what deletes, moves, publishes or pushes.
 */
export const rows: readonly Row[] = tables.flatMap(rowsOf);

const byProgram = new Map<string, Row[]>();
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
const runsNoCode = (kind: Kind): boolean => kind === 'looks' || kind === 'asks';

/** A row that covers a command, and what is to be looked at before it is harmless. */
export interface Match {
  /** The row's, behind what starts the project's own copy of the program. */
  command: string;
  kind: Kind;
  /** What rules for the project's copy call it, the one that a new rule is for first. Absent where the launcher makes a difference. */
  copies?: string[];
  claims: Claim[];
  home?: Row['home'];
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
  const covered = (command: string, kind: Kind, claims: Claim[], home?: Row['home']): Match => ({
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
    const claims = fit && (row.unseen ? unseenClaims(row, begun.args, fit) : fit.claims);
    if (claims) return covered(row.command, row.kind, claims, row.home);
  }
  return undefined;
}
