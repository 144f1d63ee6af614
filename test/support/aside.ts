import path from 'node:path';
import { build } from 'esbuild';

const program = path.resolve(import.meta.dirname, '../out/aside.cjs');
let built: Promise<unknown> | undefined;

/** Builds the thread aside and says where it is. */
export async function buildAside(): Promise<string> {
  built ??= build({
    entryPoints: [path.resolve(import.meta.dirname, '../../src/extension/aside/asideThread.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    mainFields: ['module', 'main'], // jsonc-parser's `main` cannot be bundled
    format: 'cjs',
    logLevel: 'error',
  });
  await built;
  return program;
}
