import { existsSync } from 'node:fs';
import path from 'node:path';

/**
 * Where what is kept of a workspace is, whichever of its windows asks. The editor gives a second window of the same folder (another
 * browser, or one that comes back before the server has noticed that the first one is gone) a storage of its own, named after the
 * first one: there would be no run of before in it, and nothing of it would be found again. What we keep is made for several windows.
 * @param given the extension's folder in the workspace's storage
 */
export function sharedStorage(given: string): string {
  const own = path.dirname(given);
  const first = /^(.+)-[1-9]$/.exec(path.basename(own))?.[1];
  if (first === undefined) return given;
  const workspace = path.join(path.dirname(own), first);
  return existsSync(workspace) ? path.join(workspace, path.basename(given)) : given;
}
