import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import * as paths from 'node:path';
import { text } from 'node:stream/consumers';
import {
  firstProcess,
  programDescriptor,
  programMessage,
} from '../../../../src/tools/commandSandbox/linux/firstProcess.ts';
import { hasLandlock, hasProgram } from '../../../support/bwrap.ts';

describe('the first process of a sandbox', () => {
  let folder: string;
  let pipe: number;
  const at = (name: string) => paths.join(folder, name);

  before(function () {
    if (process.platform !== 'linux' || !hasProgram('perl') || !hasProgram('setpriv')) return this.skip();
    folder = mkdtempSync(paths.join(tmpdir(), 'first-process-'));
    mkdirSync(at('open'));
    execFileSync('mkfifo', [at('pipe')]);
    pipe = openSync(at('pipe'), constants.O_RDWR | constants.O_NONBLOCK); // a reader
  });
  after(() => {
    if (!folder) return;
    closeSync(pipe);
    rmSync(folder, { recursive: true });
  });

  /** Runs a line of a shell. As in the sandbox, no program gains privileges. */
  async function run(line: string, writable: string[]): Promise<{ code: number | null; output: string }> {
    const [program, ...args] = ['setpriv', '--no-new-privs', ...firstProcess('perl')];
    const pipes = Array.from({ length: programDescriptor }, () => 'pipe' as const);
    const child: ChildProcess = spawn(program!, args, { stdio: ['ignore', ...pipes] });
    const environment = { PATH: process.env.PATH, WORDS: 'a\nb' };
    const message = programMessage({ program: ['sh', '-c', line], environment, folder, writable });
    (child.stdio[programDescriptor as 4] as Socket).on('error', () => {}).end(message);
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const [output, errors] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
    return { code: await ended, output: output + errors };
  }

  it('starts the program in its folder, with its variables only', async () => {
    const { code, output } = await run('pwd; echo "$WORDS"; echo "HOME=$HOME"; exit 4', [folder]);
    assert.deepEqual([code, output], [4, `${folder}\na\nb\nHOME=\n`]);
  });

  it('writes in the writable folders, and into no pipe elsewhere', async function () {
    if (!hasLandlock()) this.skip();
    const line = 'echo x > open/file && mkdir open/a && mv open/file open/a; echo x > pipe';
    const { output } = await run(line, [at('missing'), at('open')]);
    assert.equal(readFileSync(at('open/a/file'), 'utf8'), 'x\n');
    assert.match(output, /pipe: Permission denied/);
    assert.equal((await run('echo x > pipe', [folder])).code, 0);
  });

  it('takes no text with a zero byte', () =>
    assert.throws(() => programMessage({ program: ['a\0b'], environment: {}, folder, writable: [] }), /zero byte/));
});
