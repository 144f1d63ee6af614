import * as paths from 'node:path';

/** Throws for a path that a sandbox could take for another one: relative, with `..`, a trailing slash or NUL, or the root itself. */
export function checkSandboxPath(path: string): void {
  const isNormal =
    path.startsWith('/') && path.length > 1 && !path.endsWith('/') && paths.posix.normalize(path) === path;
  if (!isNormal || path.includes('\0')) throw new Error(`Not an absolute, normalized path: ${JSON.stringify(path)}`);
}
