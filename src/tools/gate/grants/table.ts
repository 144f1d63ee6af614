import type { Kind } from '../../../protocol/rule.ts';
import type { WorkspaceRoot } from '../../workspace.ts';
import { appRows } from './apps.ts';
import { archiveRows } from './archives.ts';
import { builtTestRows } from './builtTests.ts';
import { clusterRows } from './clusters.ts';
import { cppRows } from './cpp.ts';
import { databaseRows } from './databases.ts';
import { functionalRows } from './functional.ts';
import { gitRows } from './git.ts';
import { githubRows } from './github.ts';
import { goRows } from './go.ts';
import { jvmRows } from './jvm.ts';
import { launched } from './launchers.ts';
import { linterRows } from './linters.ts';
import { machineRows } from './machines.ts';
import { nativeRows } from './native.ts';
import { nodeRows } from './node.ts';
import { nodeCheckRows } from './nodeChecks.ts';
import { nodePackageRows } from './nodePackages.ts';
import { nodeScriptRows } from './nodeScripts.ts';
import { phpRows } from './php.ts';
import { pythonRows } from './python.ts';
import { pythonCheckRows } from './pythonChecks.ts';
import { argumentsOf, type Claim, fits, type Row } from './row.ts';
import { rubyRows } from './ruby.ts';
import { rustRows } from './rust.ts';
import { syntaxRows } from './syntax.ts';
import { systemRows } from './system.ts';
import { taskRows } from './tasks.ts';
import { isUnseen, unseenClaims } from './unseen.ts';
import { saysVersion } from './versions.ts';

/**
 * All commands that may be granted wider than by their exact words. What is not here never is: interpreters, starters, programs
 * that send, fetch, copy or pack, what deletes, moves, publishes or pushes.
 */
export const rows: readonly Row[] = [
  ...gitRows,
  ...nodeScriptRows,
  ...nodeRows,
  ...nodePackageRows,
  ...pythonRows,
  ...rustRows,
  ...goRows,
  ...jvmRows,
  ...cppRows,
  ...appRows,
  ...rubyRows,
  ...phpRows,
  ...taskRows,
  ...linterRows,
  ...machineRows,
  ...githubRows,
  ...archiveRows,
  ...builtTestRows,
  ...clusterRows,
  ...databaseRows,
  ...functionalRows,
  ...nativeRows,
  ...nodeCheckRows,
  ...pythonCheckRows,
  ...syntaxRows,
  ...systemRows,
];

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
  const { words: meant, by } = found;
  if (by !== 'project' && saysVersion(meant[0]!, meant.slice(1), by === 'installed'))
    return { command: `${meant[0]} --version`, kind: 'looks', claims: [] };
  for (const row of byProgram.get(meant[0]!) ?? []) {
    const args = argumentsOf(row, meant);
    const fit = args && fits(row, args);
    const claims = fit && (isUnseen(row) ? unseenClaims(row, args, fit) : fit.claims);
    // A script of the project by the name of a program does what it likes: that is no more than one of its builds or tests.
    if (claims && by === 'project' && row.kind !== 'checks') continue;
    if (claims) return { command: row.command, kind: row.kind, claims, ...(row.home && { home: row.home }) };
  }
  return undefined;
}
