import { isKnown } from '../commandStep.ts';
import type { GrantRow, RowMatch } from './grantRow.ts';
import type { DiskClaim } from './values.ts';

/**
 * Returns disk checks for a command never observed; undefined if an approval is needed. The program may interpret words differently from
 * the row, so each word except option names must also be harmless as a path in the open folder.
 * @param args arguments after the row's command
 */
export function unseenClaims(
  row: GrantRow,
  args: readonly string[],
  { claims, operands, values }: RowMatch,
): DiskClaim[] | undefined {
  // Words after `--` may be anything: settings, or arguments of a started program.
  if (args.includes('--') || ![...operands, ...values].every(isPlain)) return undefined;
  // A single word may be a subcommand, as in `git log`, so the word must be an existing file or folder.
  const isTold = row.command.includes(' ') || !/^(paths|files|names)$/.test(String(row.operands));
  const as = (word: string) => (isTold || !/^[a-z][\w-]*$/.test(word) ? 'read' : 'there');
  return [
    ...claims,
    ...operands.map((path): DiskClaim => ({ path, as: as(path) })),
    ...values.map((path): DiskClaim => ({ path, as: 'read' })),
  ];
}

/** Tests for words without meaning as option, address, variable or argument list, and without an absolute path. */
const isPlain = (word: string): boolean =>
  isKnown(word) &&
  /^[^-@~+!|<>/\\`$][^\\`$]*$/.test(word) &&
  !/^[^/]*:\d|:\/|(^|[/=,;:])\.\.([/,;:]|$)|[=,;:]\//.test(word);
