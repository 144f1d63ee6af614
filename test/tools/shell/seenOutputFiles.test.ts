import assert from 'node:assert/strict';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import * as paths from 'node:path';
import type { ScopedPermissionRule } from '../../../src/protocol/content/rule.ts';
import type { RunEventBody } from '../../../src/protocol/run/events.ts';
import type { ApprovalAnswer, Tool } from '../../../src/tools/core/tool.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { SeenOutputFiles } from '../../../src/tools/shell/seenOutputFiles.ts';
import { eventually } from '../../support/eventually.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation, error } from '../conversation.ts';

describe('tools: what a command wrote to a temporary file', () => {
  let workspace: TemporaryWorkspace;
  let temporary: string;
  let tools: readonly Tool[];
  let hook: (event: RunEventBody) => void;
  let rules: ScopedPermissionRule[];
  const before = process.env.TMPDIR;
  const at = (name: string) => paths.join(temporary, name);

  beforeEach(async () => {
    workspace = await temporaryWorkspace({
      'a.txt': 'one\ntwo\n',
      '.env': 'KEY=CANARY\n',
      '../outside/secret.txt': 'CANARY\n',
      'sub/b.txt': '',
    });
    temporary = realpathSync(mkdtempSync(paths.join(tmpdir(), 'outputs-')));
    process.env.TMPDIR = temporary;
    tools = builtinTools();
    hook = () => {};
    rules = [];
  });
  afterEach(async () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(temporary, { recursive: true, force: true });
    await workspace.cleanup();
  });

  /** `{T}` is the folder for temporary files, `{WS}` the open one. */
  const meant = (command: string) => command.replaceAll('{T}', temporary).replaceAll('{WS}', workspace.root);
  async function run(command: string, answer: ApprovalAnswer['decision'] = 'allow') {
    const { call, asked } = conversation(workspace, {
      tools,
      policy: { readOnlyCommands: true, rules },
      answer,
      beforeEvent: (event) => hook(event),
    });
    const outcome = await call('shell.run', { command: meant(command) });
    return { outcome, asked: asked.length, why: asked[0]?.plan.why ?? '' };
  }
  const output = ({ outcome }: Awaited<ReturnType<typeof run>>) =>
    outcome.ok ? (outcome.data as { output: string }).output : outcome.error.message;

  const read: [command: string, then: string, expected: string][] = [
    ['cat a.txt > {T}/x.log', 'tail -n 1 {T}/x.log', 'two\n'],
    ['nohup cat a.txt > {T}/x.log 2>&1 & wait', "grep -nE 'o' {T}/x.log | cut -c1-3 | tail -n 1", '2:t\n'],
    ['cat none.txt 2>{T}/x.err; true', 'cat {T}/x.err | wc -l', '1\n'],
    ['cat a.txt | tee -a {T}/x.txt', 'head -1 {T}/x.txt; wc -l {T}/x.txt | cut -c1', 'one\n2\n'],
    ['cat a.txt >> {T}/x.json && sleep 0 # http://localhost:80/x', 'rg two {T}/x.json', 'two\n'],
    ['cat {WS}/a.txt &>{T}/x.out', 'sort -r {T}/x.out', 'two\none\n'],
    ['cd sub && cat b.txt > {T}/x.log', 'diff sub/b.txt {T}/x.log && echo same', 'same\n'],
  ];
  for (const [command, then, expected] of read)
    it(`is read without a question: ${command} ¦ ${then}`, async () => {
      const wrote = await run(command);
      assert.equal(wrote.asked, 1);
      assert.match(wrote.why, /What it writes to \S+\/x\.\w+ may be read in this run without approval\./);
      const told = await run(then);
      assert.deepEqual([told.asked, output(told)], [0, expected]);
    });

  it('is read as often as one likes, and after the next start of the same', async () => {
    await run('cat a.txt > {T}/x.log');
    await run('echo again > {T}/x.log');
    for (const _ of [1, 2]) assert.equal(output(await run('cat {T}/x.log', 'deny')), 'again\n');
  });

  const mix = 'curl -s --max-time 1 http://127.0.0.1:9/; tail -1 {T}/x.log';
  it('is not unknown by a command that reads it beside what is asked about', async () => {
    await run('cat a.txt > {T}/x.log');
    assert.equal((await run(mix)).asked, 1);
    assert.equal((await run('cat {T}/x.log')).asked, 0);
  });

  /** What happens before and after `cat a.txt > {T}/x.log`, which is allowed; and what asks then. */
  const asks: { name: string; command?: string; reads?: string; first?: () => unknown; after?: () => unknown }[] = [
    { name: 'a file that was there before', first: () => writeFileSync(at('x.log'), 'CANARY') },
    { name: 'a file that it only says', command: 'echo "> {T}/x.log"', after: () => writeFileSync(at('x.log'), 'CANARY') },
    {
      name: 'a file that was there before and is never written',
      command: 'false && : > {T}/x.log; true',
      first: () => writeFileSync(at('x.log'), 'CANARY'),
    },
    {
      name: 'a link in its place',
      after: () => {
        rmSync(at('x.log'));
        symlinkSync(paths.join(workspace.root, '../outside/secret.txt'), at('x.log'));
      },
    },
    {
      name: 'another name of a file in its place',
      after: () => {
        rmSync(at('x.log'));
        linkSync(paths.join(workspace.root, '../outside/secret.txt'), at('x.log'));
      },
    },
    { name: 'a second name for it', after: () => linkSync(at('x.log'), at('y.log')) },
    {
      name: 'another file moved over it',
      after: () => {
        writeFileSync(at('z'), 'CANARY');
        renameSync(at('z'), at('x.log'));
      },
    },
    {
      name: 'one made anew, by whoever it was',
      after: () => {
        rmSync(at('x.log'));
        writeFileSync(at('x.log'), 'CANARY');
      },
    },
    { name: 'a folder', after: () => [rmSync(at('x.log')), mkdirSync(at('x.log'))] },
    { name: 'a neighbour', after: () => writeFileSync(at('y.log'), ''), reads: 'cat {T}/x.log {T}/y.log' },
    { name: 'the folder', reads: 'grep -r o {T}' },
    { name: 'what follows', reads: 'tail -f {T}/x.log' },
    { name: 'what writes', reads: 'sort -o {T}/x.log {T}/x.log' },
    { name: 'a copy of a file outside', command: 'cat ../outside/secret.txt > {T}/x.log' },
    { name: 'a copy by an option', command: 'tar -cf- -C{WS}/../outside secret.txt > {T}/x.log' },
    { name: 'a copy from the home', command: 'cd && cat .profile > {T}/x.log; true' },
    { name: 'what a variable names', command: 'cat "$HOSTS" /dev/null > {T}/x.log; true' },
    { name: 'what the home holds', command: 'ls ~/ > {T}/x.log' },
    { name: 'a copy of what may hold secrets', command: 'cat .env > {T}/x.log' },
    { name: 'a name of secrets', command: 'cat a.txt > {T}/x.pem', reads: 'cat {T}/x.pem' },
    { name: 'a name without an ending', command: 'cat a.txt > {T}/krb5cc_0', reads: 'cat {T}/krb5cc_0' },
    { name: 'a hidden name', command: 'cat a.txt > {T}/.x.log', reads: 'cat {T}/.x.log' },
    { name: 'a deeper place', command: 'mkdir {T}/d && cat a.txt > {T}/d/x.log', reads: 'cat {T}/d/x.log' },
    { name: 'a place up and down', command: 'cat a.txt > {T}/../x-outputs.log; rm {T}/../x-outputs.log', reads: 'cat {T}/../x-outputs.log' },
    { name: 'a place elsewhere', command: 'cat a.txt > {WS}/../outside/x.log', reads: 'cat {WS}/../outside/x.log' },
  ]; // biome-ignore format: a table
  for (const { name, command = 'cat a.txt > {T}/x.log', reads = 'cat {T}/x.log', first, after } of asks)
    it(`is asked about: ${name}`, async () => {
      first?.();
      await run(command);
      after?.();
      assert.equal((await run(reads, 'deny')).asked, 1);
    });

  it('is asked about when the command that would have written it was denied', async () => {
    await run('cat a.txt > {T}/x.log', 'deny');
    writeFileSync(at('x.log'), 'CANARY');
    assert.equal((await run('cat {T}/x.log', 'deny')).asked, 1);
  });

  it('is asked about when the file was moved there, though the command says that it writes it', async () => {
    writeFileSync(at('old'), 'CANARY');
    const { birthtimeMs } = statSync(at('old'));
    await eventually('time passes', () => Date.now() > birthtimeMs + 100);
    workspace.write('move.sh', `mv ${at('old')} ${at('x.log')}\n`);
    await run('sh move.sh; false && : > {T}/x.log; true');
    assert.equal((await run('cat {T}/x.log', 'deny')).asked, 1);
  });

  it('is asked about again when a later command puts something else in it', async () => {
    await run('cat a.txt > {T}/x.log');
    await run('cp ../outside/secret.txt {T}/x.log');
    assert.equal((await run('cat {T}/x.log', 'deny')).asked, 1);
  });

  it('is not read when it becomes a link between the look at it and the reading', async () => {
    await run('cat a.txt > {T}/x.log');
    hook = ({ type }) => {
      if (type !== 'tool-start') return;
      rmSync(at('x.log'));
      symlinkSync(paths.join(workspace.root, '../outside/secret.txt'), at('x.log'));
    };
    const { outcome } = await run('cat {T}/x.log');
    assert.equal((await error(Promise.resolve(outcome))).code, 'E_PRECONDITION_FAILED');
  });

  it('is asked about where a rule of the person guards a path, and by another host', async () => {
    await run('cat a.txt > {T}/x.log');
    rules = [{ scope: 'user', effect: 'ask', tool: 'fs.read', path: 'private/**' }];
    assert.equal((await run('cat {T}/x.log', 'deny')).asked, 1);
    rules = [];
    tools = builtinTools();
    assert.equal((await run('cat {T}/x.log', 'deny')).asked, 1);
  });

  it('is its run’s alone', async () => {
    const outputs = new SeenOutputFiles();
    const settle = await outputs.begin('one', { line: 'x', outputs: [at('x.log')] });
    writeFileSync(at('x.log'), '');
    await settle();
    assert.deepEqual([await outputs.has('one', at('x.log')), await outputs.has('two', at('x.log'))], [true, false]);
  });
});
