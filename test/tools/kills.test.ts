import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import * as paths from 'node:path';
import { build } from 'esbuild';
import { putRight } from '../../src/tools/files/torn.ts';
import { sweepLeftovers } from '../../src/tools/gate/leftovers.ts';
import { projectRoot, testOut } from '../support/editor/project.ts';
import { type Writing, writings } from './writings.ts';

/** A real process with the real tools, ended for good at each of its steps. */
describe('a file that is being written when its process is killed', function () {
  this.timeout(120_000);
  const program = paths.join(testOut, 'writing.mjs');
  before(() =>
    build({
      entryPoints: [paths.join(import.meta.dirname, 'writing.ts')],
      outfile: program,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      external: ['@vscode/ripgrep', 'jsdom'],
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
      logLevel: 'warning',
    }),
  );

  for (const [what, writing] of Object.entries(writings))
    it(`${what}: it is as before, or as after`, async () => {
      const seen: string[] = [];
      for (const how of ['before', 'half'] as const)
        for (let step = 1, isOver = false; !isOver; step += 2)
          for (const { folder, done } of await Promise.all([killedAt(what, step, how), killedAt(what, step + 1, how)]))
            try {
              isOver ||= done;
              seen.push(await standsWhole(folder, writing, done));
            } finally {
              rmSync(paths.dirname(folder), { recursive: true });
            }
      assert.ok(seen.length > 6 && seen.includes('before') && seen.includes('after'), seen.join());
    });

  function killedAt(what: string, step: number, how: string): Promise<{ folder: string; done: boolean }> {
    return new Promise((resolve, reject) =>
      execFile(process.execPath, [program, what, String(step), how], { cwd: projectRoot }, (error, stdout) => {
        const [folder, done] = stdout.split('\n');
        if (!folder || (error && error.signal !== 'SIGKILL')) return reject(error ?? new Error(stdout));
        resolve({ folder, done: done === 'done' });
      }),
    );
  }
});

/** Gives which of the two it is. What else there is goes with the next look at the folder. */
async function standsWhole(
  folder: string,
  { file, before, after, inPlace, prepare }: Writing,
  done: boolean,
): Promise<string> {
  const at = paths.join(folder, file);
  const texts = { path: file, before: before as string, after: after as string };
  if (inPlace) await putRight({ roots: [{ name: 'ws', path: folder }], isDirty: () => false }, texts);
  const there = existsSync(at) ? readFileSync(at) : undefined;
  const is = (wanted: string | Buffer | undefined) =>
    wanted === undefined ? there === undefined : there?.equals(Buffer.from(wanted));
  assert.ok(is(after) || (!done && is(before)), `${there?.length} bytes: ${there?.subarray(0, 100)}`);
  if (prepare && existsSync(paths.join(folder, 'l.txt')))
    assert.ok(lstatSync(paths.join(folder, 'l.txt')).isSymbolicLink());
  if (existsSync(paths.dirname(at))) {
    await sweepLeftovers(paths.dirname(at));
    const others = readdirSync(paths.dirname(at)).filter((name) => !['l.txt', 'b.txt', file].includes(name));
    assert.deepEqual(
      others.filter((name) => name !== paths.basename(file)),
      [],
    );
  }
  return is(after) ? 'after' : 'before';
}
