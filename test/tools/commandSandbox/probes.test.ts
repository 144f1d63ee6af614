import assert from 'node:assert/strict';
import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import * as paths from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { build } from 'esbuild';
import { canRunBwrap, hasProgram } from '../../support/bwrap.ts';
import { built } from '../../support/programs.ts';
import { probeGroups } from './probes/probeGroups.ts';

const isRoot = process.getuid?.() === 0;
const ordinaryUser = 65534;

/** Users as which the probes run: another one than root needs a runner that root starts as that user. */
const users = isRoot ? (['root', 'ordinary user'] as const) : (['ordinary user'] as const);

interface ProbeAnswer {
  effect?: string;
  pending?: string;
  problem?: string;
  output?: string;
}

const canSandbox = (): boolean =>
  canRunBwrap() && ['nsenter', 'unshare', 'setpriv', 'perl', 'git', 'bash'].every((name) => hasProgram(name));

/** Bundle of a program of the tests, which a user without access to the sources can start. */
async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    ...{ bundle: true, write: false, platform: 'node', format: 'esm', target: 'node20' },
    banner: { js: `import { createRequire } from 'node:module'; const require = createRequire('/');` },
  });
  return outputFiles[0]!.text;
}

for (const user of users)
  describe(`the command sandbox as ${user}`, () => {
    let folder: string | undefined;
    let argv: string[];
    let runner: ChildProcessByStdio<Writable, Readable, null>;
    let answers: AsyncIterator<string>;

    before(async function () {
      if (!canSandbox()) return this.skip();
      // Not in a folder for temporary files: commands see these empty.
      folder = realpathSync(mkdtempSync(paths.join(isRoot ? '/srv' : homedir(), 'towpath-probes-')));
      chmodSync(folder, 0o755);
      const own = isRoot && user !== 'root' ? ordinaryUser : undefined;
      if (own !== undefined) chownSync(folder, own, own);
      const forwarder = paths.join(folder, 'sandboxForwarder.cjs');
      const program = paths.join(folder, 'runner.mjs');
      writeFileSync(forwarder, (await built('sandboxForwarder.cjs')).files.get('sandboxForwarder.cjs')!);
      writeFileSync(program, await bundle(paths.join(import.meta.dirname, 'probes/runner.ts')));
      const rooted = paths.join(folder, 'rooted');
      if (isRoot) {
        copyFileSync('/usr/bin/id', rooted);
        chmodSync(rooted, 0o4755);
      }
      const asUser =
        own === undefined ? [] : ['setpriv', '--reuid', String(own), '--regid', String(own), '--clear-groups'];
      argv = [...asUser, process.execPath, program, folder, forwarder, isRoot ? rooted : '/nonexistent'];
      runner = spawn(argv[0]!, argv.slice(1), { cwd: '/', stdio: ['pipe', 'pipe', 'inherit'] });
      answers = createInterface({ input: runner.stdout })[Symbol.asyncIterator]();
    });

    after(async () => {
      if (!folder) return;
      const ended = new Promise((resolve) => runner.once('close', resolve));
      runner.stdin.end();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    });

    async function ask(group: string, name: string, isControl: boolean): Promise<ProbeAnswer> {
      runner.stdin.write(`${JSON.stringify({ group, name, isControl })}\n`);
      const { value } = await answers.next();
      assert.ok(value, 'The runner has ended.');
      return JSON.parse(value) as ProbeAnswer;
    }

    for (const { title, expected, probes } of probeGroups)
      describe(title, () => {
        for (const { name, control } of probes) {
          it(expected === 'effect' ? name : `prevents a script that ${name}`, async function () {
            const { effect, pending, problem, output } = await ask(title, name, false);
            if (pending) return this.skip();
            assert.equal(problem, undefined, `${problem}\n${output}`);
            if (expected === 'effect') assert.ok(effect, output);
            else assert.equal(effect, undefined, `${effect}\n${output}`);
          });
          // Once, as the user of the tests.
          if (control !== 'none' && user === users[0])
            it(`${control === 'allowed' ? 'allowed' : 'outside'}, has an effect: a script that ${name}`, async function () {
              const { effect, pending, problem, output } = await ask(title, name, true);
              if (pending) return this.skip();
              assert.equal(problem, undefined, `${problem}\n${output}`);
              assert.ok(effect, output);
            });
        }
      });

    it('is not available without user namespaces, and nothing runs', function () {
      if (!folder) return this.skip();
      const program = argv.slice(argv.indexOf(process.execPath));
      const withoutNamespaces = ['-Urm', 'sh', '-c', 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', 'sh'];
      const [first, ...args] = [...argv.slice(0, -program.length), 'unshare', ...withoutNamespaces, ...program];
      const text = execFileSync(first!, [...args, 'availability'], { encoding: 'utf8', cwd: '/' });
      const { isAvailable, reason, begun } = JSON.parse(text);
      assert.equal(isAvailable, false);
      assert.match(reason.english, /does not allow user namespaces$/);
      assert.equal(begun, 'The sandbox is not available.');
      assert.equal(existsSync(paths.join(folder, 'availability/template/ran')), false);
    });
  });
