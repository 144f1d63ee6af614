import { accessSync, constants } from 'node:fs';
import * as paths from 'node:path';

// Node reports a missing folder when it cannot create one, and its parents, on a read-only file system.
const refusal =
  /read-only file system|EROFS|permission denied|EACCES|operation not permitted|EPERM|ENOENT: [^']*, mkdir/i;
// An absolute path, and one below the folder of the command: with a slash inside, or in quotation marks.
const namedPath = /(?:^|[\s'"‘“`(=:])([^\s'"‘“’”`:,;()=]*\/[^\s'"’”`:,;)]+)|['"‘“`]([^\s'"‘“’”`:,;()=/]+)['"’”`]/g;

// What a shell writes before the error of a redirection: `bash: line 1: x`, `sh: 1: cannot create x`.
const redirection = /: line \d+: ([^:]+): $|: \d+: cannot (?:create|open) ([^:]+): $/;

const maxPaths = 3;

/**
 * Returns the paths that a command could not write because of the sandbox: named in a line of its output with an error of the system, not
 * writable inside, and writable for the user outside. Absolute paths.
 * @param folder folder of the command, absolute
 * @param isWritable tests an absolute path
 */
export function deniedPaths(
  output: string,
  folder: string,
  isWritable: (path: string) => boolean,
  isWritableOutside: (path: string) => boolean = mayWrite,
): string[] {
  const found = new Set<string>();
  for (const line of output.split('\n')) {
    const named = refusedPath(line);
    const path = named === undefined ? undefined : paths.resolve(folder, named);
    if (path !== undefined && !isWritable(path) && isWritableOutside(path)) found.add(path);
    if (found.size === maxPaths) break;
  }
  return [...found];
}

// The path next to the error: a line may begin with the path of a program.
function refusedPath(line: string): string | undefined {
  const error = refusal.exec(line);
  if (!error) return undefined;
  const [, inBash, inDash] = redirection.exec(line.slice(0, error.index)) ?? [];
  const redirected = inBash ?? inDash;
  if (redirected !== undefined) return redirected;
  const distance = ({ index, 0: text }: RegExpExecArray) =>
    index < error.index ? error.index - index - text.length : index - error.index - error[0].length;
  const [nearest] = [...line.matchAll(namedPath)].sort((one, other) => distance(one) - distance(other));
  return nearest && (nearest[1] ?? nearest[2]);
}

function mayWrite(path: string): boolean {
  for (let at = path; ; at = paths.dirname(at)) {
    try {
      accessSync(at, constants.W_OK);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || at === paths.dirname(at)) return false;
    }
  }
}
