import type { Kind } from '../../../protocol/policy.ts';
import type { WorkspaceRoot } from '../../workspace.ts';
import { compiledRows } from './compiled.ts';
import { gitRows } from './git.ts';
import { launched } from './launchers.ts';
import { nodeRows } from './node.ts';
import { otherRows, saysVersion } from './others.ts';
import { pythonRows } from './python.ts';
import { argumentsOf, type Claim, fits, type Row } from './row.ts';

/**
 * All commands that may be granted wider than by their exact words. What is not here never is: interpreters, starters, programs
 * that send, fetch, copy or pack, what deletes, moves, publishes or pushes.
 */
export const rows: readonly Row[] = [...gitRows, ...nodeRows, ...pythonRows, ...compiledRows, ...otherRows];

const byProgram = new Map<string, Row[]>();
for (const row of rows) {
  const [program] = row.command.split(' ') as [string];
  byProgram.set(program, [...(byProgram.get(program) ?? []), row]);
}

/** A row that covers a command, and what is to be looked at before it is harmless. */
export interface Match {
  command: string;
  kind: Kind;
  claims: Claim[];
}

/** The row that covers the words of one command as they run in `folder` (absolute and real); undefined for none. */
export async function rowFor(
  words: readonly string[],
  folder: string,
  roots: readonly WorkspaceRoot[],
): Promise<Match | undefined> {
  const meant = await launched(words, folder, roots);
  if (!meant) return undefined;
  if (saysVersion(meant[0]!, meant.slice(1), meant[0] !== words[0]))
    return { command: `${meant[0]} --version`, kind: 'looks', claims: [] };
  for (const row of byProgram.get(meant[0]!) ?? []) {
    const args = argumentsOf(row, meant);
    const claims = args && fits(row, args);
    if (claims) return { command: row.command, kind: row.kind, claims };
  }
  return undefined;
}
