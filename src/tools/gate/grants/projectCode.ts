import type { Kind } from '../../../protocol/rule.ts';
import type { Row } from './row.ts';

/**
 * Programs that load no code of the folder in which they run, and no configuration of it that can name code, for as long as their
 * rows only look or ask. A program that is not here is taken to do so.
 *
 * @invariant kinds-without-project-code: a command of the kinds `looks` and `asks` starts nothing that lies in the open folder
 */
export const loadsNoCode: ReadonlySet<string> = new Set(
  (
    'git docker gh kubectl helm npm node go ninja cmake ccache yq ' +
    'tar unzip zipinfo zcat bzcat xzcat zstdcat gzip gunzip xz ar jar javap xmllint addr2line sqlite3 luac ' +
    'bash sh zsh dash ps pgrep lsof ss netstat free top vmstat lscpu lsblk lsb_release getconf systemctl journalctl ' +
    'dpkg dpkg-query rpm apt apt-cache brew conda pip jps jstat opam ghc-pkg'
  ).split(' '),
);

/** The kind of a row: one that only looks or asks runs code of the project unless its program is known not to. */
export function kindOf({ command, kind }: Row): Kind {
  const [program] = command.split(' ') as [string];
  return (kind === 'looks' || kind === 'asks') && !loadsNoCode.has(program) ? 'loads' : kind;
}
