import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { built } from '../../../support/programs.ts';

/** Bundles the driver as the product is bundled. Returns the program. */
export async function buildDriver(folder: string): Promise<string> {
  const { files } = await built('main.cjs', path.join(import.meta.dirname, 'driver.ts'));
  rmSync(folder, { recursive: true, force: true });
  for (const [name, text] of files) {
    const file = path.join(folder, name === 'main.cjs' ? name : path.join('chunks', name));
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return path.join(folder, 'main.cjs');
}
