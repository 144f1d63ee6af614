import { createGlobMatcher } from '../core/glob.ts';
import { isLeftoverTempFile } from '../core/tempFiles.ts';
import type { VirtualFiles } from '../core/workspace.ts';
import { resolveVirtualPath } from '../sandbox/virtual.ts';
import { virtualFilesBelow } from './virtualWalk.ts';

const [maxEntries, maxFiles] = [500, 500];

/** `fs.list` for virtual folders, without sizes and ignore files: each would be another round trip. */
export async function listVirtualFolder(virtual: VirtualFiles, path: string | undefined) {
  const { folders } = virtual;
  if (folders.length > 1 && (path === undefined || path === '.' || path === './'))
    return { path: '.', entries: folders.map(({ name }) => ({ name, kind: 'folder' as const })) };
  const folder = await resolveVirtualPath(virtual, path ?? '.', 'list');
  const found = (await virtual.list(folder.path))
    .filter(({ name }) => !isLeftoverTempFile(name))
    .sort((a, b) => Number(a.kind !== 'folder') - Number(b.kind !== 'folder') || (a.name < b.name ? -1 : 1));
  return {
    path: folder.relative,
    entries: found.slice(0, maxEntries),
    ...(found.length > maxEntries && {
      cut: `${maxEntries} of ${found.length} entries. Use fs.find with a pattern for the rest.`,
    }),
  };
}

export async function findVirtualFiles(
  virtual: VirtualFiles,
  { pattern, path }: { pattern: string; path?: string },
  signal: AbortSignal,
) {
  const matches = createGlobMatcher(pattern, 'either');
  const { files, cut } = await virtualFilesBelow(virtual, path, signal);
  const below = (file: string) => (virtual.folders.length > 1 ? file.slice(file.indexOf('/') + 1) : file);
  const found = files.map((file) => file.path).filter((file) => matches(file) || matches(below(file)));
  const more = found.length > maxFiles ? `More than ${maxFiles} files; narrow the pattern or give a path.` : undefined;
  const note = [cut, more].filter((one) => one !== undefined).join(' ');
  return {
    files: found.slice(0, maxFiles),
    ...(found.length === 0 && { note: 'No file matches.' }),
    ...(note && { cut: note }),
  };
}
