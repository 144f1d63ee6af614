import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import * as paths from 'node:path';
import { runSandboxed, type TemporarySandbox, temporarySandbox } from '../../../support/commandSandbox.ts';
import { eventually } from '../../../support/eventually.ts';

describe('a start of a sandboxed command that was prepared after the one before', () => {
  let sandbox: TemporarySandbox;
  let folder: string;

  beforeEach(async function () {
    const made = await temporarySandbox();
    if (!made) return this.skip();
    sandbox = made;
    folder = paths.join(realpathSync(mkdtempSync(paths.join(tmpdir(), 'towpath-start-'))), 'project');
    mkdirSync(folder);
  });
  afterEach(async () => {
    await sandbox?.cleanup();
    if (folder) rmSync(paths.dirname(folder), { recursive: true, force: true });
  });

  const begin = () => {
    const questions = { mayConnect: async () => false, mayKeep: async () => true };
    return sandbox.begin({ runId: 'run', folder, folders: [folder], questions });
  };
  async function run(line: string, env: NodeJS.ProcessEnv = process.env): Promise<string> {
    const { output, report } = await runSandboxed(await begin(), line, env);
    assert.deepEqual([report.conflicts, report.failed], [[], []]);
    return output;
  }
  const outside = (script: string) => execFileSync('bash', ['-ec', script], { cwd: folder, encoding: 'utf8' });
  const argumentsOf = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    } catch {
      return ''; // it has ended
    }
  };
  const waiting = () =>
    readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8')
      .split(' ')
      .filter((pid) => argumentsOf(pid).includes('\0--args\0'));

  /** Runs a command, after which a start waits. */
  async function prepare(): Promise<string> {
    await run('cat * */* 2>/dev/null');
    let found: string[] = [];
    await eventually('a start waits', () => {
      found = waiting();
      return found.length === 1;
    });
    return found[0]!;
  }

  it('is used by the next command', async () => {
    const pid = await prepare();
    const command = await begin();
    const child = command.spawn(['/bin/sh', '-c', 'true'], command.environment);
    await new Promise((resolve) => child.once('close', resolve));
    await command.keep();
    assert.equal(String(child.pid), pid);
  });

  it('shows the folder as it is when the command starts, and knows no conflict with what came before', async () => {
    outside('mkdir -p d/e n; echo 1 > a; echo 1 > b; echo 1 > d/e/f; echo 1 > n/x');
    await prepare();
    outside('echo 2 > a; rm b; echo 2 > c; mv d other; mkdir -p d/e; echo 2 > d/e/f; rm -r n; ln -s other n');
    assert.equal(await run('cat a c d/e/f other/e/f n/e/f; ls'), '2\n2\n2\n1\n1\na\nc\nd\nn\nother\n');
    await prepare();
    outside('echo 3 > a');
    await run('cat a >> c; echo 4 > a');
    assert.equal(outside('cat a c'), '4\n2\n3\n');
  });

  it('is not used for a folder that was replaced', async () => {
    outside('echo old > a');
    await prepare();
    execFileSync('bash', ['-ec', 'mv project old; mkdir project; echo new > project/a'], {
      cwd: paths.dirname(folder),
    });
    assert.equal(await run('cat a; echo inside > b'), 'new\n');
    assert.deepEqual([readdirSync(folder).join(), readdirSync(`${folder}/../old`).join()], ['a,b', 'a']);
  });

  it('is not used when a secret was replaced', async () => {
    outside('echo KEY=old > .env');
    await prepare();
    outside('echo KEY=new > t; mv t .env');
    assert.match(await run('cat .env'), /Permission denied/);
  });

  it('is not used when a folder around a secret was replaced', async () => {
    outside('mkdir server; echo KEY=old > server/.env');
    await prepare();
    outside('mv server old; mkdir server; mv old/.env server; echo new > server/new');
    assert.match(await run('ls -A server; cat server/.env; ls -A old'), /^\.env\nnew\ncat: .*Permission denied\n$/);
  });

  it('is not used when something was mounted or unmounted since', async function () {
    if (process.getuid!() !== 0) return this.skip();
    const mount = paths.join(sandbox.home, 'mount');
    mkdirSync(mount);
    execFileSync('mount', ['-t', 'tmpfs', 'none', mount]);
    try {
      writeFileSync(paths.join(mount, 'private'), 'text');
      assert.equal(await run(`cat ${mount}/private`), 'text');
      await prepare();
    } finally {
      execFileSync('umount', [mount]);
    }
    assert.equal(await run(`ls ${mount}`), '');
  });

  it('hides secrets and protects packages that are new', async () => {
    await prepare();
    mkdirSync(paths.join(folder, 'node_modules'));
    await run('mkdir node_modules/a'); // the paths are read again
    const environment = paths.join(sandbox.home, '.netrc');
    writeFileSync(environment, 'machine a login b password c');
    mkdirSync(paths.join(folder, 'other'));
    const inOther = { runId: 'run', folder: paths.join(folder, 'other'), folders: [paths.join(folder, 'other')] };
    const questions = { mayConnect: async () => false, mayKeep: async () => true };
    const { output } = await runSandboxed(await sandbox.begin({ ...inOther, questions }), `cat ${environment}`);
    assert.match(output, /Permission denied/);
  });

  it('gets the variables of its command, which other users cannot read, and no other descriptor', async () => {
    const pid = await prepare();
    const env = { PATH: process.env.PATH, A: 'it\'s\n$HOME "x" ', B: '=', EMPTY: '' };
    const command = await begin();
    const child = command.spawn(['/bin/bash', '--norc', '-c', 'env -0; echo; ls /proc/self/fd | grep -x [3-9]'], env);
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    const told = argumentsOf(pid);
    await new Promise((resolve) => child.once('close', resolve));
    await command.keep();
    const [variables, descriptors] = output.split('\0\n');
    const own = variables!.split('\0').filter((one) => !/^(?:PWD|SHLVL|OLDPWD|_)=/.test(one));
    assert.deepEqual(own.sort(), Object.entries(env).map(([name, value]) => `${name}=${value}`).sort()); // biome-ignore format: one line
    assert.equal(descriptors, '3\n'); // the folder that is listed
    assert.ok(told.includes('bwrap') && !told.includes("it's") && !told.includes('env -0'), told);
  });

  it('is not affected by the variables of its command', async () => {
    await prepare();
    const env = { PATH: process.env.PATH, PERL5OPT: '-Mmissing', LD_PRELOAD: '' };
    assert.equal(await run('echo "$PERL5OPT"; exit 3', env), '-Mmissing\n');
  });

  it('returns the exit code of its command, also after a signal', async () => {
    const codeOf = async (line: string) => (await runSandboxed(await begin(), line)).code;
    await prepare();
    assert.deepEqual(
      [await codeOf('exit 3'), await codeOf('kill -TERM $$'), await codeOf('exec /missing')],
      [3, 143, 127],
    );
  });

  it('moves files between the folders of the workspace', async () => {
    outside('mkdir a b; echo 1 > a/file');
    await prepare();
    await run('mv a/file b/moved; mv a c; ln b/moved c/linked');
    assert.equal(outside('cat b/moved c/linked'), '1\n1\n');
  });

  it('ends with the window, and leaves no folder', async () => {
    const pid = await prepare();
    await sandbox.close();
    assert.deepEqual([argumentsOf(pid), readdirSync(paths.join(sandbox.folder, 'store/commands'))], ['', []]);
  });

  it('is not used if it has ended, and says so if it ends late', async () => {
    const end = async (pid: string) => {
      process.kill(Number(pid), 'SIGKILL');
      await eventually('the end is noticed', () => !existsSync(`/proc/${pid}`));
    };
    await end(await prepare());
    assert.equal(await run('echo $((6 * 7))'), '42\n');
    const pid = await prepare();
    const command = await begin();
    await end(pid);
    assert.throws(() => command.spawn(['/bin/sh', '-c', 'true'], {}), /The sandbox could not be set up: /);
    await command.discard();
  });
});
