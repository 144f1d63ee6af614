import { lstatSync, readdirSync, readFileSync, type Stats } from 'node:fs';
import path from 'node:path';
import type { TreeEntry, VirtualFiles } from '../../src/tools/core/workspace.ts';

/** Real folders as if the editor alone reached them: `mem:/ws` is `outer/ws`. `read` tells of each file that is read. */
export function virtualIn(
  outer: string,
  names: readonly string[],
  read: (address: string) => void = () => {},
): VirtualFiles {
  const at = (address: string) => path.join(outer, decodeURIComponent(address.slice('mem:/'.length)));
  return {
    folders: names.map((name) => ({ name, address: `mem:/${name}` })),
    below: (address, below) => [address, ...below.map(encodeURIComponent)].join('/'),
    async look(address) {
      const stats = lstatSync(at(address), { throwIfNoEntry: false });
      return stats && { kind: kindOf(stats), size: stats.size };
    },
    list: async (address) =>
      readdirSync(at(address), { withFileTypes: true }).map((entry) => ({ name: entry.name, kind: kindOf(entry) })),
    async read(address) {
      read(address);
      return readFileSync(at(address));
    },
  };
}

function kindOf(of: Pick<Stats, 'isFile' | 'isDirectory' | 'isSymbolicLink'>): TreeEntry['kind'] {
  if (of.isSymbolicLink()) return 'link';
  return of.isDirectory() ? 'folder' : of.isFile() ? 'file' : 'other';
}
