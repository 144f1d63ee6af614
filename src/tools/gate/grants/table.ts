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
import { copiesOf, launched } from './launchers.ts';
import { linterRows } from './linters.ts';
import { machineRows } from './machines.ts';
import { nativeRows } from './native.ts';
import { nodeRows } from './node.ts';
import { nodeCheckRows } from './nodeChecks.ts';
import { nodePackageRows } from './nodePackages.ts';
import { nodeScriptRows } from './nodeScripts.ts';
import { phpRows } from './php.ts';
import { kindOf } from './projectCode.ts';
import { pythonRows } from './python.ts';
import { pythonCheckRows } from './pythonChecks.ts';
import { argumentsOf, fits, type Installer, type Row } from './row.ts';
import { rubyRows } from './ruby.ts';
import { rustRows } from './rust.ts';
import { syntaxRows } from './syntax.ts';
import { systemRows } from './system.ts';
import { taskRows } from './tasks.ts';
import { isUnseen, unseenClaims } from './unseen.ts';
import type { Claim } from './values.ts';
import { saysVersion } from './versions.ts';

/**
 * All commands that may be granted wider than by their exact words. What is not here never is: interpreters, starters, programs
 * that send, fetch, copy or pack, what deletes, moves, publishes or pushes.
 */
export const rows: readonly Row[] = [
  ...gitRows,
  ...installed(['npm'], nodeScriptRows),
  ...installed(['npm'], nodeRows),
  ...nodePackageRows,
  ...installed(['pip'], pythonRows),
  ...rustRows,
  ...goRows,
  ...jvmRows,
  ...cppRows,
  ...appRows,
  ...installed(['gem'], rubyRows),
  ...installed(['composer'], phpRows),
  ...taskRows,
  ...installed(['npm', 'pip'], linterRows),
  ...machineRows,
  ...githubRows,
  ...archiveRows,
  ...builtTestRows,
  ...clusterRows,
  ...databaseRows,
  ...functionalRows,
  ...nativeRows,
  ...installed(['npm'], nodeCheckRows),
  ...installed(['pip'], pythonCheckRows),
  ...syntaxRows,
  ...systemRows,
].map((row) => ({ ...row, kind: kindOf(row) }));

/** Rows of tools that projects install: only of kinds that run code of the project, and never a package manager or an interpreter. */
function installed(installedBy: readonly Installer[], those: readonly Row[]): Row[] {
  const runsCode = (row: Row) => ['checks', 'loads'].includes(kindOf(row));
  return those.map((row) => (runsCode(row) && !isManager(row.command) ? { ...row, installedBy } : row));
}

function isManager(command: string): boolean {
  return /^(npm|pnpm|yarn|bun|deno|node|uv|poetry|pdm|pip|conda|bundle|gem|ruby|composer|php|direnv|rustup)( |$)/.test(
    command,
  );
}

const byProgram = new Map<string, Row[]>();
for (const row of rows) {
  const [program] = row.command.split(' ') as [string];
  byProgram.set(program, [...(byProgram.get(program) ?? []), row]);
}

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
    kind: (shimmed || own) && (kind === 'looks' || kind === 'asks') ? 'loads' : kind,
    claims,
    ...(home && { home }),
  });
  const mayBe = ({ installedBy }: Row) => !own || installedBy?.some((one) => installers.includes(one));
  const candidates = (byProgram.get(meant[0]!) ?? []).filter(mayBe);
  const version = saysVersion(meant[0]!, meant.slice(1));
  if (version && (!own || candidates.length > 0)) return covered(`${meant[0]} --version`, version, []);
  for (const row of candidates) {
    const begun = argumentsOf(row, meant);
    const fit = begun && fits(row, begun.args, begun);
    const claims = fit && (isUnseen(row) ? unseenClaims(row, begun.args, fit) : fit.claims);
    if (claims) return covered(row.command, row.kind, claims, row.home);
  }
  return undefined;
}
