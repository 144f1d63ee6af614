import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import * as paths from 'node:path';
import type { ApprovalPolicy } from '../../../src/protocol/content/policy.ts';
import type { ApprovalAnswer } from '../../../src/tools/core/tool.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { BackgroundCommands } from '../../../src/tools/shell/background.ts';
import { findListeningPorts } from '../../../src/tools/shell/listeningPorts.ts';
import { StillClock } from '../../support/clock.ts';
import { type TemporarySandbox, temporarySandbox } from '../../support/commandSandbox.ts';
import { eventually } from '../../support/eventually.ts';
import { type Listening, listen } from '../../support/listening.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation, data } from '../conversation.ts';

const serverFile = `
const http = require('node:http'), fs = require('node:fs');
const server = http.createServer((request, response) => {
  response.setHeader('content-type', 'text/plain');
  response.end(fs.readFileSync('page.txt', 'utf8'));
});
server.listen(0, '127.0.0.1', () => console.log('Port ' + server.address().port + '.'));`;

const node = `"${process.execPath}"`;

interface Ended {
  exitCode: number | null;
  output: string;
  note?: string;
}

// Holds sandboxed-changes-wait and sandbox-never-falls-back.
describe('tools: background commands in the sandbox', () => {
  let sandbox: TemporarySandbox;
  let workspace: TemporaryWorkspace;
  let background: BackgroundCommands;
  let clock: StillClock;
  /** Whether `b.txt` was there each time that changes were about to be applied. */
  let applied: boolean[];

  before(async function () {
    const made = await temporarySandbox();
    if (!made) return this.skip();
    sandbox = made;
  });
  after(() => sandbox?.cleanup());
  beforeEach(async () => {
    workspace = await temporaryWorkspace({
      'server.cjs': serverFile,
      'page.txt': 'before',
      '.gitignore': 'out\n.idea\n',
    });
    execFileSync('git', ['init', '-q'], { cwd: workspace.root });
    workspace.write('out/kept.txt', 'old\n');
    clock = new StillClock();
    applied = [];
    background = new BackgroundCommands({
      after: clock.after,
      applying: () => applied.push(workspace.exists('b.txt')),
    });
  });
  afterEach(async () => {
    await background.close();
    workspace.cleanup();
  });

  const talk = (answer: ApprovalAnswer['decision'] = 'deny', policy: Partial<ApprovalPolicy> = {}) =>
    conversation(workspace, {
      tools: builtinTools({
        shell: { sandbox, background, covers: async () => ({ isWhole: true }) as { isWhole: true } },
      }),
      policy: { preset: 'sandbox', ...policy },
      answer,
    });

  /** Starts a command that prints a line with `said` and returns its id once it is in the background. */
  async function start(
    talking: ReturnType<typeof talk>,
    command: string,
    said: RegExp,
  ): Promise<{ id: string; output: string }> {
    const answer = data<{ id: string }>(talking.call('shell.run', { command, background: true }));
    const output = () => talking.events.flatMap((event) => (event.type === 'tool-output' ? [event.text] : [])).join('');
    await Promise.race([answer, eventually('it prints', () => said.test(output()))]);
    clock.pass(1000);
    const { id } = await answer;
    return { id, output: output() };
  }
  const end = async (id: string) => {
    await eventually('it ends', () => background.find(run, id)?.end !== undefined);
    return background.find(run, id)!.end!;
  };
  const run = 'run';

  it('serve a page of the workspace as it is now, unasked; only web.fetch of their run reaches it', async () => {
    const talking = talk('allow');
    const { id, output } = await start(talking, `${node} server.cjs`, /Port \d+/);
    const port = Number(/Port (\d+)/.exec(output)?.[1]);
    assert.deepEqual([talking.asked, background.find(run, id)!.network !== undefined], [[], true]);
    const url = `http://localhost:${port}/`;
    assert.equal((await data<{ text: string }>(talking.call('web.fetch', { url }))).text, 'before');
    workspace.write('page.txt', 'after');
    assert.equal((await data<{ text: string }>(talking.call('web.fetch', { url }))).text, 'after');
    await assert.rejects(fetch(url));
    assert.deepEqual(await findListeningPorts(background.find(run, id)!), [port]);
  });

  it('write only where Git ignores files, and that is there when they have ended', async () => {
    const command = 'echo new > out/new.txt; echo x > a.txt; cat out/kept.txt; exit 3';
    const { exitCode, output, note } = await data<Ended>(talk().call('shell.run', { command, background: true }));
    assert.deepEqual([exitCode, workspace.read('out/new.txt'), workspace.exists('a.txt')], [3, 'new\n', false]);
    assert.match(output, /a\.txt: Read-only file system\nold\n$/);
    assert.equal(note, 'Sandbox: cannot write a.txt. Ask with the reason in `outside`.');
  });

  it('write caches of installed tools in private folders; installed packages are read-only', async () => {
    workspace.write('node_modules/vite/package.json', '{}');
    const command =
      'mkdir -p node_modules/.vite && echo 1 > node_modules/.vite/a && cat node_modules/.vite/a; echo 1 > node_modules/b';
    const { output, note } = await data<Ended>(talk().call('shell.run', { command, background: true }));
    assert.match(output, /^1\n/);
    assert.equal(note, 'Sandbox: cannot write node_modules/b. Ask with the reason in `outside`.');
    assert.deepEqual([workspace.exists('node_modules/.vite'), workspace.exists('node_modules/b')], [false, false]);
  });

  it('that are stopped have changed nothing', async () => {
    const { id } = await start(talk(), 'echo new > out/new.txt; rm out/kept.txt; echo done; sleep 60', /done/);
    await background.stop(id, 'person');
    assert.deepEqual([workspace.exists('out/new.txt'), workspace.exists('out/kept.txt')], [false, true]);
  });

  it('change nothing where a link has taken the place of a folder above', async () => {
    const elsewhere = mkdtempSync(paths.join(sandbox.folder, 'elsewhere-'));
    mkdirSync(paths.join(elsewhere, 'out'));
    writeFileSync(paths.join(elsewhere, 'out/tool'), 'old');
    workspace.write('x/out/tool', '');
    const command = 'echo new > x/out/tool; echo ready; while [ ! -e go ]; do sleep 0.02; done';
    const { id } = await start(talk(), command, /ready/);
    await data(talk().call('shell.run', { command: `rm -r x && ln -s ${elsewhere} x && touch go` }));
    assert.equal((await end(id)).note, 'Not kept, because of an error: x/out (ENOENT).');
    assert.equal(readFileSync(paths.join(elsewhere, 'out/tool'), 'utf8'), 'old');
  });

  it('keep no protected file, and do not ask about it after their call', async () => {
    const talking = talk('allow');
    const command =
      'echo ready; while [ ! -e go ]; do sleep 0.02; done; mkdir out/.vscode; echo 1 > out/.vscode/tasks.json';
    const { id } = await start(talking, command, /ready/);
    workspace.write('go', '');
    assert.deepEqual(
      [(await end(id)).note, workspace.exists('out/.vscode'), talking.asked],
      ['Not kept, because they are protected: out/.vscode.', false, []],
    );
  });

  it('cannot write an ignored folder that is protected', async () => {
    workspace.write('.idea/a.xml', '');
    const command = 'echo x > .idea/b.xml';
    const { exitCode } = await data<Ended>(talk().call('shell.run', { command, background: true }));
    assert.notEqual(exitCode, 0);
    assert.equal(workspace.exists('.idea/b.xml'), false);
  });

  it('that went there from the foreground change the workspace when they have ended', async () => {
    const talking = talk();
    const command = 'echo ready; echo new > b.txt; while [ ! -e /tmp/go ]; do sleep 0.02; done';
    const answer = data<{ id: string; running: boolean }>(talking.call('shell.run', { command }));
    await eventually('it runs', () => talking.events.some((event) => event.type === 'tool-output'));
    const { marker } = talking.events.find((event) => event.type === 'tool-start')!.command!;
    assert.equal(background.letGoOn(marker), true);
    const { id, running } = await answer;
    assert.deepEqual([running, workspace.exists('b.txt')], [true, false]);
    assert.deepEqual([background.find(run, id)!.changesFiles, applied], [false, []]);
    await data(talking.call('shell.run', { command: 'touch /tmp/go' }));
    assert.equal((await end(id)).exitCode, 0);
    assert.equal(workspace.read('b.txt'), 'new\n');
    assert.deepEqual([background.find(run, id)!.changesFiles, applied], [true, [false]]);
  });

  describe('that connect', () => {
    let server: Listening;
    before(async () => {
      server = await listen(async (_, response) => void response.end('hello'));
    });
    after(() => server?.close());
    const later = (port: number) =>
      `echo ready; while [ ! -e go ]; do sleep 0.02; done; curl -sSf --noproxy '' http://127.0.0.1:${port} && echo > out/reached`;

    it('are held, and their call with them, while the user is asked', async () => {
      const talking = talk('allow');
      const command = `curl -sS --noproxy '' http://127.0.0.1:${server.port}; echo ready; sleep 60`;
      const { output } = await start(talking, command, /ready/);
      assert.match(output, /^hello/);
      assert.equal(talking.asked.length, 1);
    });

    it('are blocked after their call unless a rule allows the host', async () => {
      const talking = talk('allow');
      const { id } = await start(talking, later(server.port), /ready/);
      workspace.write('go', '');
      assert.match((await end(id)).note!, new RegExp(`no network access to 127\\.0\\.0\\.1:${server.port}`));
      assert.deepEqual([workspace.exists('out/reached'), talking.asked], [false, []]);
    });

    it('reach a host of a rule after their call', async () => {
      const site = `https://127.0.0.1:${server.port}`;
      const talking = talk('deny', { rules: [{ effect: 'allow', tool: 'shell.network', site, scope: 'workspace' }] });
      const { id } = await start(talking, later(server.port), /ready/);
      workspace.write('go', '');
      assert.equal((await end(id)).exitCode, 0);
      assert.equal(workspace.exists('out/reached'), true);
    });
  });

  it('end with the window, with all of their processes', async () => {
    const { id } = await start(talk(), 'sleep 61 & echo ready; wait', /ready/);
    const { pid } = background.find(run, id)!;
    await background.close();
    await eventually('they are gone', () => !existsSync(`/proc/${pid}`));
  });
});
