import { readdirSync } from 'node:fs';
import path from 'node:path';

/** Returns the files of code below a folder (`src`, `test` …), sorted, relative to `root`, with `/`; without built and stored ones. */
export const codeBelow = (root: string, folder: string): string[] =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => path.posix.join(folder, name.split(path.sep).join('/')))
    .filter((name) => /\.(ts|mjs)$/.test(name) && !/\.d\.ts$|\/(out|fixtures)\//.test(name))
    .sort();

/** Files of code of the product. */
export const productFiles = (root: string): string[] => ['src', 'webview'].flatMap((folder) => codeBelow(root, folder));
