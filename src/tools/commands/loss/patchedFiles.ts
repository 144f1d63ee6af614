import * as paths from 'node:path';
import { readRegularFile } from '../../sandbox/regularFile.ts';

const maxBytes = 2_000_000;

export const filePathsInPatch = (patch: string, strip: number): string[] => [
  ...new Set(
    [...patch.matchAll(/^(?:---|\+\+\+) ("?)([^\t\r\n]+?)\1(?:\t.*)?\r?$/gm)]
      .map(([, , name]) => name!.split('/').slice(strip).join('/'))
      .filter((name) => name !== '' && name !== 'dev/null' && name !== 'null'),
  ),
];

/** Returns the text of patch files; undefined if a file is unreadable. */
export async function readPatchFiles(files: readonly string[]): Promise<string | undefined> {
  const texts = await Promise.all(
    files.map((file) => readRegularFile(paths.resolve(file), maxBytes).catch(() => undefined)),
  );
  return texts.every((text) => text !== undefined) ? texts.map((text) => text!.toString('utf8')).join('\n') : undefined;
}
