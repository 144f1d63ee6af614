import { isKnown } from '../commandStep.ts';
import type { GrantRow, RowMatch } from './grantRow.ts';
import type { DiskClaim } from './values.ts';

/**
 * Checks on the disk after which an unseen command is harmless; undefined: it is asked about. It may take a word for something else
 * than its row does, so each of its words but the names of options is held to be a path, too: of the open folder.
 * @param args behind the row's command
 */
export function unseenClaims(
  row: GrantRow,
  args: readonly string[],
  { claims, operands, values }: RowMatch,
): DiskClaim[] | undefined {
  // What stands behind `--` may be anything: settings, or the words of what it starts.
  if (args.includes('--') || ![...operands, ...values].every(isPlain)) return undefined;
  // A word alone may tell the program what to do, as in `git log`: it has to be a file or a folder.
  const isTold = row.command.includes(' ') || !/^(paths|files|names)$/.test(String(row.operands));
  const as = (word: string) => (isTold || !/^[a-z][\w-]*$/.test(word) ? 'read' : 'there');
  return [
    ...claims,
    ...operands.map((path): DiskClaim => ({ path, as: as(path) })),
    ...values.map((path): DiskClaim => ({ path, as: 'read' })),
  ];
}

/** No option, address, variable or list of arguments to whoever reads it, and no path that begins elsewhere. */
const isPlain = (word: string): boolean =>
  isKnown(word) &&
  /^[^-@~+!|<>/\\`$][^\\`$]*$/.test(word) &&
  !/^[^/]*:\d|:\/|(^|[/=,;:])\.\.([/,;:]|$)|[=,;:]\//.test(word);
