import { readdirSync } from 'node:fs';
import path from 'node:path';

/** Returns the files of code below a folder (`src`, `test` …), sorted, relative to `root`, with `/`; without built and stored ones. */
export const codeBelow = (root: string, folder: string): string[] =>
  readdirSync(path.join(root, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const name = path.posix.join(folder, entry.name);
      if (!entry.isDirectory()) return /\.(ts|mjs)$/.test(name) && !name.endsWith('.d.ts') ? [name] : [];
      return entry.name === 'out' || entry.name === 'fixtures' ? [] : codeBelow(root, name); // other tests use `out` meanwhile
    })
    .sort();

/** Files of code of the product. */
export const productFiles = (root: string): string[] => ['src', 'webview'].flatMap((folder) => codeBelow(root, folder));
