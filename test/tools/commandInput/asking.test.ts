// biome-ignore-all lint/suspicious/noTemplateCurlyInString: lines of a shell
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import * as paths from 'node:path';
import { CommandPrompts } from '../../../src/tools/commandInput/commandPrompts.ts';
import { PromptWatch } from '../../../src/tools/commandInput/promptWatch.ts';
import { takeTerminal } from '../../../src/tools/commandInput/terminal.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { BackgroundCommands } from '../../../src/tools/shell/background.ts';
import { Conversation } from '../../engine/conversation.ts';
import { temporarySandbox } from '../../support/commandSandbox.ts';
import { eventually } from '../../support/eventually.ts';
import { call } from '../../support/scriptedClient.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation, data, error } from '../conversation.ts';

/** What the user types, which no record and no model may contain. `end`: the end of input. */
const typed = 'Wilhelmina-4711';
const end = undefined;

interface Program {
  name: string;
  /** Programs without which the case is left out. */
  needs: string[];
  command: string;
  answers: [prompt: string, text: string | undefined, isSecret?: true][];
  /** Last lines of the output. */
  prints: RegExp;
}

const programs: Program[] = [
  { name: 'bash', needs: ['bash'], command: 'read -p "Name? " name; echo "${#name} letters"', answers: [['Name?', typed]], prints: /^Name\? \n15 letters\n$/ },
  { name: 'bash, a password', needs: ['bash'], command: 'read -s -p "Password: " word; echo; echo "${#word} letters"', answers: [['Password:', typed, true]], prints: /^Password: \n15 letters\n$/ },
  { name: 'a script', needs: ['bash'], command: 'bash ./ask.sh', answers: [['Really?', 'y']], prints: /^Really\? \nyes\n$/ },
  { name: 'rm', needs: ['rm'], command: 'rm -i a.txt; ls a.txt 2>/dev/null || echo gone', answers: [["rm: remove regular file 'a.txt'?", 'y']], prints: /\ngone\n$/ },
  { name: 'cp', needs: ['cp'], command: 'cp -i a.txt b.txt; cat b.txt', answers: [["cp: overwrite 'b.txt'?", 'n']], prints: /\ntwo\n$/ },
  { name: 'Python', needs: ['python3'], command: `python3 -c 'print(len(input("Name? ")))'`, answers: [['Name?', typed]], prints: /\n15\n$/ },
  { name: 'Python, a password', needs: ['python3'], command: `python3 -c 'import getpass; print(len(getpass.getpass()))'`, answers: [['Password:', typed, true]], prints: /\n15\n$/ },
  { name: 'the prompt of Python', needs: ['python3'], command: 'python3 -q', answers: [['>>>', `len("${typed}")`], ['>>>', end]], prints: /15\n>>> \n/ },
  { name: 'Node', needs: ['node'], command: `node -e 'const r = require("readline").createInterface({ input: process.stdin, output: process.stdout }); r.question("Name? ", (name) => { console.log(name.length); r.close() })'`, answers: [['Name?', typed]], prints: /\n15\n$/ },
  { name: 'the prompt of Node', needs: ['node'], command: 'node', answers: [['>', `"${typed}".length`], ['>', end]], prints: /\n15\n> \n/ },
  { name: 'git clean', needs: ['git'], command: 'git init -q g && cd g && touch new && git clean -i; ls', answers: [['What now>', '1']], prints: /Removing new\n$/ },
  { name: 'git add', needs: ['git'], command: 'git init -q g && cd g && echo 1 > a && git add a && echo 2 > a && git add -p; git diff --stat', answers: [['(1/1) Stage this hunk [y,n,q,a,d,e,?]?', 'y']], prints: /\?\s*\n+$/ },
  { name: 'ssh-keygen', needs: ['ssh-keygen'], command: 'ssh-keygen -q -t ed25519 -f key && ssh-keygen -y -f key -P nothing; ls key', answers: [['Enter passphrase (empty for no passphrase):', typed, true], ['Enter same passphrase again:', typed, true]], prints: /incorrect passphrase[^\n]*\n+key\n$/ },
  { name: 'openssl', needs: ['openssl'], command: 'openssl genrsa -aes128 -out key.pem 2048 && head -1 key.pem', answers: [['Enter PEM pass phrase:', typed, true], ['Verifying - Enter PEM pass phrase:', typed, true]], prints: /BEGIN ENCRYPTED PRIVATE KEY-----\n$/ },
  { name: 'a menu', needs: ['bash'], command: 'select one in Wilhelm Anna; do echo "${#one} letters"; break; done', answers: [['#?', '2']], prints: /\n4 letters\n$/ },
  { name: 'ed', needs: ['ed'], command: 'ed -p "* " a.txt; echo done', answers: [['*', 'q']], prints: /done\n$/ },
  { name: 'Perl', needs: ['perl'], command: `perl -e '$| = 1; print "Name? "; $name = <STDIN>; chomp $name; print length $name, "\\n"'`, answers: [['Name?', typed]], prints: /\n15\n$/ },
]; // biome-ignore format: a table

/** Programs that read without a prompt, or keys instead of lines: they end as with an empty input. */
const silent: [name: string, needs: string[], command: string, prints: RegExp][] = [
  ['cat', [], 'cat; echo done', /^done\n$/],
  ['two of them', [], 'cat | wc -l; sort; echo done', /^0\ndone\n$/],
  ['in a time limit of its own', ['timeout'], 'timeout 20 cat; echo $?', /^0\n$/],
  ['Python', ['python3'], `python3 -c 'import sys; print(len(sys.stdin.read()))'`, /^0\n$/],
  ['Node', ['node'], `node -e 'process.stdin.on("end", () => console.log("end")).resume()'`, /^end\n$/],
  ['SQLite, which draws its line itself', ['sqlite3'], 'sqlite3 :memory:; echo done', /done\n$/],
  ['what waits for a key', ['bash'], 'read -e -p "Name? " name; echo "<$name>"', /<>\n$/],
  ['a package manager', ['bash'], 'test -t 0 && echo terminal || echo nothing # npm', /^nothing\n$/],
  ['a search', ['grep'], 'grep -c one; echo $?', /^0\n1\n$/],
];

// Holds command-input-is-not-recorded.
describe('tools: a command that asks', () => {
  let workspace: TemporaryWorkspace;
  let background: BackgroundCommands;

  before(async function () {
    const terminal = await takeTerminal();
    if (!terminal) return this.skip();
    terminal.close();
  });
  beforeEach(async () => {
    workspace = await temporaryWorkspace({
      'a.txt': 'one\n',
      'b.txt': 'two\n',
      'ask.sh': 'read -p "Really? " yes\n[ "$yes" = y ] && echo yes\n',
    });
    background = new BackgroundCommands({ takesInput: true });
  });
  afterEach(async () => {
    await background.close();
    workspace.cleanup();
  });

  const talk = (command: string) => {
    const talking = new Conversation(workspace, [{ calls: [call('shell.run', { command })] }, { text: 'done' }]);
    talking.tools = builtinTools({ shell: { background } });
    talking.build();
    return talking;
  };
  const resultOf = ({ client }: Conversation) => {
    const message = client.requests.at(-1)!.messages.at(-1)!;
    assert.ok(message.role === 'tool');
    return (
      JSON.parse(message.toolResults.at(-1)!.content) as { data: { output: string; note?: string; exitCode: number } }
    ).data;
  };

  for (const { name, needs, command, answers, prints } of programs)
    it(`asks the user: ${name}`, async function () {
      if (needs.some((program) => !isInstalled(program))) return this.skip();
      const talking = talk(command);
      const done = talking.start();
      for (const [label, text, isSecret = false] of answers) {
        await eventually('it asks', () => background.prompts!.waiting.length > 0, 8000);
        const { runId, toolCallId, ...prompt } = background.prompts!.waiting[0]!;
        assert.deepEqual(prompt, { label, isSecret });
        assert.equal(background.prompts!.answer({ runId, toolCallId }, text), true);
      }
      await done;
      const { output, note } = resultOf(talking);
      assert.match(output, prints);
      assert.equal(
        note,
        answers.length === 1 ? 'The user answered 1 prompt.' : `The user answered ${answers.length} prompts.`,
      );
      assert.deepEqual(background.prompts!.waiting, []);
      assert.doesNotMatch(JSON.stringify(talking.client.requests), new RegExp(typed));
      assert.doesNotMatch(JSON.stringify(talking.events), new RegExp(typed));
      assert.deepEqual(filesWith(talking.folder, typed), []);
    });

  const asked = (label: string) =>
    eventually('it asks', () => background.prompts!.waiting.some((prompt) => prompt.label === label));

  it('keeps the exit code and the signal of the command, which leads no session', async () => {
    const { call: run } = conversation(workspace, { tools: builtinTools({ shell: { background } }) });
    const exits = ['exit 7', 'kill -TERM $$', 'kill -KILL $$', 'kill -INT $$', 'exit 0'];
    const ended = [];
    for (const command of exits) ended.push(await data(run('shell.run', { command })));
    assert.deepEqual(ended, [
      { exitCode: 7, output: '' },
      ...['SIGTERM', 'SIGKILL', 'SIGINT'].map((signal) => ({ exitCode: null, signal, output: '' })),
      { exitCode: 0, output: '' },
    ]);
    const terminal = await data(run('shell.run', { command: 'bash -c "tty; : < /dev/tty"; true' }));
    assert.match((terminal as { output: string }).output, /^\/dev\/pts\/\d+\n.*\/dev\/tty: No such device/);
  });

  it('a stop ends a command that asks, with all of its processes', async () => {
    const talking = conversation(workspace, { tools: builtinTools({ shell: { background } }) });
    const ran = talking.call('shell.run', { command: 'setsid sleep 301 & read -p "Go on? "; sleep 302' });
    await asked('Go on?');
    talking.stop.abort();
    assert.equal((await error(ran)).code, 'TOOL_INTERRUPTED');
    assert.deepEqual(background.prompts!.waiting, []);
    await eventually('nothing is left', () => !/sleep 30[12]/.test(execFileSync('ps', ['-eo', 'args=']).toString()));
  });

  it('refuses what no command waits for, and what is too long', async () => {
    const { call: run } = conversation(workspace, { tools: builtinTools({ shell: { background } }) });
    const key = { runId: 'run', toolCallId: 'call-1' };
    const ran = data<{ output: string }>(run('shell.run', { command: 'read -p "Name? " name; echo "${#name}"' }));
    assert.equal(background.prompts!.answer(key, 'early'), false);
    await asked('Name?');
    assert.equal(background.prompts!.answer({ ...key, toolCallId: 'call-2' }, 'other'), false);
    assert.equal(background.prompts!.answer(key, 'é'.repeat(2001)), false);
    assert.equal(background.prompts!.answer(key, 'a\x04\x03b'), true);
    assert.equal(background.prompts!.answer(key, 'twice'), false);
    assert.equal((await ran).output, 'Name? \n2\n');
  });

  it('gives the end of input when nobody answers, and does not ask again', async () => {
    const terminal = (await takeTerminal())!;
    const command = spawn('bash', ['-c', 'for one in 1 2 3; do read -p "Name? "; echo "$?"; done'], {
      stdio: [terminal.descriptor, 'pipe', 'pipe'],
    });
    terminal.started();
    const shown: string[] = [];
    const prompts = new CommandPrompts(() => shown.push(...prompts.waiting.map(({ label }) => label)));
    const key = { runId: 'run', toolCallId: 'call' };
    const watch = new PromptWatch({ key, terminal, pid: command.pid!, prompts, onLineEnd() {}, patience: 100 });
    for (const stream of [command.stdout!, command.stderr!])
      stream.setEncoding('utf8').on('data', (text) => watch.onOutput(text));
    await once(command, 'close');
    watch.end();
    terminal.close();
    assert.deepEqual([shown, watch.note()], [['Name?'], 'Nobody answered its prompt.']);
  });

  it('asks for a command in the sandbox, whose changes are kept when it ends', async function () {
    const sandbox = await temporarySandbox();
    if (!sandbox) return this.skip();
    try {
      const tools = builtinTools({ shell: { background, sandbox, covers: async () => ({ isWhole: true }) } });
      const talking = conversation(workspace, { tools, policy: { preset: 'sandbox' }, answer: 'deny' });
      for (const text of ['y', 'n']) {
        const ran = data<{ output: string }>(talking.call('shell.run', { command: 'rm -i a.txt; cat; ls a.txt' }));
        await eventually('it asks', () => background.prompts!.waiting.length > 0);
        const [prompt] = background.prompts!.waiting;
        assert.equal(prompt!.label, "rm: remove regular file 'a.txt'?");
        assert.equal(workspace.exists('a.txt'), true);
        background.prompts!.answer(prompt!, text);
        assert.match((await ran).output, text === 'y' ? /cannot access/ : /\na\.txt\n$/);
        assert.equal(workspace.exists('a.txt'), text === 'n');
        workspace.write('a.txt', 'one\n');
      }
    } finally {
      await sandbox.cleanup();
    }
  });

  it('has no terminal where nobody can answer', async () => {
    const { call: run } = conversation(workspace, {
      tools: builtinTools({ shell: { background: new BackgroundCommands() } }),
    });
    assert.deepEqual(await data(run('shell.run', { command: 'test -t 0; echo $?; cat' })), {
      exitCode: 0,
      output: '1\n',
    });
  });

  for (const [name, needs, command, prints] of silent)
    it(`gives the end of input: ${name}`, async function () {
      if (!needs.every(isInstalled)) return this.skip();
      const talking = talk(command);
      await talking.start();
      const { output, note } = resultOf(talking);
      assert.match(output, prints);
      assert.equal(note, undefined);
    });
});

function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true, encoding: 'utf8' })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => paths.join(parentPath, name))
    .filter((file) => readFileSync(file).includes(text));
}

const isInstalled = (program: string): boolean =>
  process.env.PATH!.split(':').some((folder) => existsSync(paths.join(folder, program)));
