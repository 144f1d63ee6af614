import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

type Method = (this: unknown, ...args: unknown[]) => Promise<unknown>;
type Methods = Record<string, Method>;

const ofFiles = [
  'open',
  'writeFile',
  'appendFile',
  'copyFile',
  'rename',
  'link',
  'symlink',
  'unlink',
  'rm',
  'rmdir',
  'mkdir',
];
const ofHandles = ['write', 'writev', 'writeFile', 'appendFile', 'truncate', 'datasync', 'sync'];

/**
 * Calls `atPoint` before every changing operation of this process on the disk, until the returned function is called: whatever is copied
 * then is what a kill at this point leaves.
 */
export async function watchDisk(atPoint: () => void): Promise<() => void> {
  const handle = await fs.promises.open(process.execPath);
  const prototype = Object.getPrototypeOf(handle) as Methods;
  await handle.close();
  const originals: [methods: Methods, name: string, original: Method][] = [];
  const watch = (methods: Methods, names: readonly string[]) => {
    for (const name of names) {
      const original = methods[name]!;
      originals.push([methods, name, original]);
      methods[name] = function (...args) {
        atPoint();
        return original.apply(this, args);
      };
    }
  };
  watch(fs.promises as unknown as Methods, ofFiles);
  watch(prototype, ofHandles);
  syncBuiltinESMExports();
  return () => {
    for (const [methods, name, original] of originals) methods[name] = original;
    syncBuiltinESMExports();
  };
}
