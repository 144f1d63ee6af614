import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as paths from 'node:path';
import { build } from 'esbuild';
import { repairInterruptedFile } from '../../../src/tools/changes/tornWrites.ts';
import { sweepTempFiles } from '../../../src/tools/core/tempFiles.ts';
import { projectRoot, testOut } from '../../support/editor/project.ts';
import { gatePlugins } from '../../support/programs.ts';
import { tries } from '../../support/tries.ts';
import type { Stopped } from '../writing.ts';
import { type Writing, writings } from '../writings.ts';

/** The real tools in a process of their own, stopped for good at each of their steps; really killed at some, or at all. */
describe('a file that is being written when its process is killed', function () {
  this.timeout(300_000);
  const program = paths.join(testOut, 'writing.mjs');
  let folder: string;
  before(async () => {
    folder = mkdtempSync(paths.join(tmpdir(), 'towpath-written-'));
    await build({
      entryPoints: [paths.join(import.meta.dirname, '../writing.ts')],
      outfile: program,
      bundle: true,
      platform: 'node',
      mainFields: ['module', 'main'], // jsonc-parser's `main` cannot be bundled
      format: 'esm',
      target: 'node20',
      external: ['@vscode/ripgrep', 'jsdom'],
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
      logLevel: 'warning',
      plugins: await gatePlugins(),
    });
  });
  // What is killed tidies nothing up.
  after(() => rmSync(folder, { recursive: true }));

  for (const [what, writing] of Object.entries(writings))
    it(`${what}: it is as before, or as after`, async () => {
      const stopped = await played(what);
      const seen = [];
      for (const one of stopped) seen.push(await standsWhole(writing, one));
      assert.ok(seen.length > 6 && seen.includes('before') && seen.includes('after'), seen.join());
      for (const how of (['half', 'before'] as const).slice(0, tries(1, 2))) {
        const steps = stopped.filter((one) => one.how === how && !one.done).map(({ step }) => step);
        const killedAt = tries(1, steps.length) === 1 ? steps.slice(steps.length / 2).slice(0, 1) : steps;
        for (const step of killedAt) {
          const [one] = await played(what, how, `${step}`);
          assert.equal(one!.done, false);
          await standsWhole(writing, one!);
        }
      }
    });

  async function played(...args: string[]): Promise<Stopped[]> {
    const env = { ...process.env, TMPDIR: folder };
    const stdout = await new Promise<string>((resolve, reject) =>
      execFile(process.execPath, [program, ...args], { cwd: projectRoot, env }, (error, said) =>
        error && (args.length === 1 || error.signal !== 'SIGKILL') ? reject(error) : resolve(said),
      ),
    );
    return stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Stopped);
  }
});

/** Gives which of the two it is. What else there is goes with the next look at the folder. */
async function standsWhole(
  { file, before, after, inPlace, prepare }: Writing,
  { folder, done }: Stopped,
): Promise<string> {
  const at = paths.join(folder, file);
  const texts = { path: file, before: before as string, after: after as string };
  if (inPlace) await repairInterruptedFile({ roots: [{ name: 'ws', path: folder }], isDirty: () => false }, texts);
  const there = existsSync(at) ? readFileSync(at) : undefined;
  const is = (wanted: string | Buffer | undefined) =>
    wanted === undefined ? there === undefined : there?.equals(Buffer.from(wanted));
  assert.ok(is(after) || (!done && is(before)), `${there?.length} bytes: ${there?.subarray(0, 100)}`);
  if (prepare && existsSync(paths.join(folder, 'l.txt')))
    assert.ok(lstatSync(paths.join(folder, 'l.txt')).isSymbolicLink());
  if (existsSync(paths.dirname(at))) {
    await sweepTempFiles(paths.dirname(at));
    const others = readdirSync(paths.dirname(at)).filter((name) => !['l.txt', 'b.txt', file].includes(name));
    assert.deepEqual(
      others.filter((name) => name !== paths.basename(file)),
      [],
    );
  }
  return is(after) ? 'after' : 'before';
}
