import { homedir } from 'node:os';
import path from 'node:path';

/** Folder of the tests in the cache folder of the system, for what is fetched or built once: model files, and tools to compare with. */
export function modelCacheFolder(): string {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  const home = homedir();
  const parent =
    process.platform === 'win32'
      ? (LOCALAPPDATA ?? path.join(home, 'AppData', 'Local'))
      : process.platform === 'darwin'
        ? path.join(home, 'Library', 'Caches')
        : (XDG_CACHE_HOME ?? path.join(home, '.cache'));
  return path.join(parent, 'towpath-models');
}
