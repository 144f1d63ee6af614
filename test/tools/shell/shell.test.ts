import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import * as paths from 'node:path';
import type { ScopedPermissionRule } from '../../../src/protocol/content/rule.ts';
import { appendTerminalOutput } from '../../../src/protocol/text/lineUpdates.ts';
import { storeLongOutput } from '../../../src/tools/core/storedOutput.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { commandEnvironment } from '../../../src/tools/shell/environment.ts';
import { CommandOutput, TerminalOutputCleaner } from '../../../src/tools/shell/output.ts';
import { endCommandProcesses } from '../../../src/tools/shell/processes.ts';
import { eventually } from '../../support/eventually.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { type Conversation, conversation, data, error } from '../conversation.ts';

let workspace: TemporaryWorkspace;
beforeEach(async () => {
  workspace = await temporaryWorkspace({ 'a.txt': 'one\n', 'sub/b.txt': '' });
});
afterEach(() => workspace.cleanup());

const run = (command: string, more: object = {}, { call }: Conversation = conversation(workspace)) =>
  call('shell.run', { command, ...more });

interface Ran {
  exitCode: number | null;
  output: string;
  cut?: string;
  outputId?: string;
  stillRunning?: string[];
}

describe('tools: shell.run', () => {
  const commands: [name: string, command: string, expect: object][] = [
    ['says what a command printed', 'cat a.txt', { exitCode: 0, output: 'one\n' }],
    ['an exit code is an answer', 'echo no >&2; exit 3', { exitCode: 3, output: 'no\n' }],
    ['a signal is told', 'kill -TERM $$', { exitCode: null, signal: 'SIGTERM', output: '' }],
    ['T16 a command that reads gets nothing and ends', 'cat; echo done', { exitCode: 0, output: 'done\n' }],
    ['no command waits for an editor', 'git init -q g 2>&1 && cd g && git commit -q --allow-empty >/dev/null 2>&1; echo $?', { exitCode: 0, output: '1\n' }],
    ['hidden text is marked', `printf 'a\\xf3\\xa0\\x81\\xb2\\xf3\\xa0\\x81\\xadb\\xe2\\x80\\x8bc'`, { exitCode: 0, output: 'a⟨hidden text: rm⟩b⟨U+200B⟩c' }],
    ['colours and controls are cleaned', "printf '\\033[31mred\\033[0m\\a\\0\\033]0;title\\007!\\n'", { exitCode: 0, output: 'red!\n' }],
    ['bad bytes are shown as such', "printf 'a\\377b'", { exitCode: 0, output: 'a\ufffdb' }],
    ['T17 its folder may go away', 'cd sub && rm -rf ../sub && echo gone', { exitCode: 0, output: 'gone\n' }],
    ['nothing of a profile is read', 'echo "$-"', { exitCode: 0, output: 'hBc\n' }],
  ]; // biome-ignore format: a table
  for (const [name, command, expect] of commands) {
    it(name, async () => assert.deepEqual(await data(run(command)), expect));
  }

  it('what it leaves behind ends with it', async () => {
    const { exitCode, output } = await data<Ran>(run('sleep 300 & echo started'));
    assert.deepEqual([exitCode, output, running(workspace.root)], [0, 'started\n', []]);
  });

  it('asks with the whole command and the real folder; a grant covers exactly that command', async () => {
    const talking = conversation(workspace, { answer: 'allow-run' });
    for (const command of ['echo 1', 'echo 1', 'echo 12']) await run(command, {}, talking);
    await run('echo 1', { cwd: 'sub' }, talking);
    assert.deepEqual(
      talking.asked.map(({ plan }) => [plan.command, plan.where, plan.grant]),
      [
        ['echo 1', workspace.root, 'shell.run echo 1'],
        ['echo 12', workspace.root, 'shell.run echo 12'],
        ['echo 1', paths.join(workspace.root, 'sub'), 'shell.run echo 1 (in sub)'],
      ],
    );
    const question = talking.events.find((event) => event.type === 'question');
    assert.ok(question?.type === 'question');
    assert.equal(question.question.command, 'echo 1');
  });

  it('no command passes for another one that was allowed in a folder', async () => {
    const talking = conversation(workspace, { answer: 'allow-run' });
    await run('echo 1 # (in sub)', {}, talking);
    await run('echo 1 #', { cwd: 'sub' }, talking);
    await run('echo 1 # (in sub)', {}, talking);
    assert.deepEqual(
      talking.asked.map(({ plan }) => plan.grant),
      [undefined, 'shell.run echo 1 # (in sub)', undefined],
    );
  });

  const refused: [name: string, args: object, reason: string | undefined][] = [
    ['a folder outside', { command: 'ls', cwd: '..' }, 'OUTSIDE'],
    ['a file as folder', { command: 'ls', cwd: 'a.txt' }, 'NOT_A_DIRECTORY'],
    ['no command', { command: '' }, undefined],
    ['blanks', { command: '  \n' }, undefined],
    ['NUL', { command: 'ls\0rm' }, 'COMMAND_REFUSED'],
    ['an escape sequence', { command: 'ls \x1b[2K\x1b[1Grm -rf x' }, 'COMMAND_REFUSED'],
    ['carriage return', { command: 'ls\r\ntouch PWNED' }, 'COMMAND_REFUSED'],
    ['a bidi override', { command: 'ls \u202etxt' }, 'COMMAND_REFUSED'],
    ['a line separator', { command: 'ls \u2028touch PWNED' }, 'COMMAND_REFUSED'],
    ['half a character', { command: 'ls \ud800' }, 'COMMAND_REFUSED'],
    ['an end hidden behind other blanks', { command: `ls #${'\u00a0 '.repeat(30)}\nrm x` }, 'COMMAND_REFUSED'],
    ['an end hidden behind Braille blanks', { command: `ls #${'\u2800'.repeat(41)}\nrm x` }, 'COMMAND_REFUSED'],
    ['an end hidden behind lines of blanks', { command: `ls${'\n '.repeat(20)}rm x` }, 'COMMAND_REFUSED'],
    ['an end hidden behind blanks', { command: `ls${' '.repeat(41)}; rm x` }, 'COMMAND_REFUSED'],
    ['more than a person can read', { command: `echo ${'a'.repeat(8200)}` }, 'COMMAND_REFUSED'],
  ];
  for (const [name, args, reason] of refused) {
    it(`refuses without asking: ${name}`, async () => {
      const { call, asked } = conversation(workspace);
      const failed = await error(call('shell.run', args));
      assert.deepEqual([failed.reason, asked], [reason, []]);
      if (!reason) assert.equal(failed.code, 'TOOL_ARGS_INVALID');
    });
  }

  it('output arrives while it runs', async () => {
    const talking = conversation(workspace);
    const done = run('echo first; while [ ! -e go ]; do sleep 0.02; done; echo second', {}, talking);
    const seen = () => talking.events.flatMap((event) => (event.type === 'tool-output' ? [event.text] : [])).join('');
    await eventually('it is there', () => seen().includes('first'));
    workspace.write('go', '');
    await done;
    assert.equal(seen(), 'first\nsecond\n');
  });

  it('of much output both ends are told, at most 64 KiB of it, and all of it can be read on', async () => {
    const talking = conversation(workspace);
    const told = await run('seq 1 100000', {}, talking);
    assert.ok(Buffer.byteLength(JSON.stringify(told)) <= 64 * 1024);
    const { output, cut, outputId } = await data<Ran>(Promise.resolve(told));
    assert.match(output, /^1\n2\n3\n[\s\S]*\n… \d+ bytes in the middle are left out here …\n[\s\S]*\n99999\n100000\n$/);
    assert.equal(
      cut,
      `${/\d+ bytes in the middle are left out here/.exec(output)}: read them with output.read and the id ${outputId}.`,
    );
    const all = Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`).join('');
    assert.deepEqual([...talking.kept.values()], [all]);
    assert.deepEqual(talking.events.at(-1)?.type === 'tool-end' && talking.events.at(-1), {
      type: 'tool-end',
      toolCallId: 'call-1',
      name: 'shell.run',
      ok: true,
      ms: (talking.events.at(-1) as { ms: number }).ms,
      exitCode: 0,
      outputId: [...talking.kept.keys()][0],
    });
    assert.deepEqual(await data(talking.call('output.read', { id: outputId, offset: 50_000, limit: 3 })), {
      text: '50000\n50001\n50002',
      startLine: 50_000,
      endLine: 50_002,
      totalLines: 100_000,
      cut: 'Lines 50000-50002 of 100000. Read on with offset 50003.',
    });
  });

  it('what is told stays within 64 KiB whatever the characters', async () => {
    for (const text of ['日', '"', '🙂']) {
      const told = await run(`for i in $(seq 1 40000); do printf '%s' '${text}'; done`);
      assert.ok(Buffer.byteLength(JSON.stringify(told)) <= 64 * 1024);
      const { output, outputId } = await data<Ran>(Promise.resolve(told));
      const [, head, tail] = /^(.+)\n… .+ …\n(.+)$/u.exec(output)!;
      assert.deepEqual(
        [head, tail].map((part) => part!.replaceAll(text, '')),
        ['', ''],
      );
      assert.ok(outputId);
    }
  });

  it('of output that is too much to store, what can be read is told apart from what cannot', async () => {
    const { cut = '', outputId } = await storeLongOutput('x'.repeat(100_000), 5_000_000, 'output', {
      keepOutput: async () => 'a'.repeat(64),
    });
    const [, left, more, readable] =
      /^(\d+) bytes in the middle are left out here, and (\d+) more were not stored: read the (\d+) with/.exec(cut)!;
    assert.deepEqual([more, readable, outputId], ['5000000', left, 'a'.repeat(12)]);
    assert.ok(Number(left) < 100_000);
  });

  it('output of another run, or of none, cannot be read', async () => {
    const { outputId } = await data<Ran>(run('seq 1 100000'));
    assert.equal((await error(conversation(workspace).call('output.read', { id: outputId }))).code, 'ENOENT');
    assert.equal(
      (await error(conversation(workspace).call('output.read', { id: '../../x' }))).code,
      'TOOL_ARGS_INVALID',
    );
  });

  it('when it cannot be kept, the outcome says so and stays', async () => {
    const talking = conversation(workspace);
    talking.kept.set = () => {
      throw new Error('the disk is full');
    };
    const { exitCode, cut, outputId } = await data<Ran>(run('seq 1 100000', {}, talking));
    assert.deepEqual([exitCode, outputId], [0, undefined]);
    assert.match(cut!, /^\d+ bytes in the middle are left out here, and could not be kept\.$/);
  });

  it('T14 an endless flood is ended: 64 KiB are told, 5 MiB kept less a chunk, and memory stays bounded', async () => {
    const talking = conversation(workspace);
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 5);
    const told = await run('yes', {}, talking);
    clearInterval(watch);
    const { code, message } = await error(Promise.resolve(told));
    assert.equal(code, 'TOOL_EXEC_FAILED');
    assert.match(message, /more than 100 MiB and was ended/);
    assert.ok(Buffer.byteLength(JSON.stringify(told)) <= 64 * 1024);
    const [kept] = [...talking.kept.values()];
    assert.ok(kept!.length > 4.5 * 1024 * 1024 && kept!.length <= 5 * 1024 * 1024, `${kept!.length} bytes`);
    assert.ok(most - before < 50e6, `${most - before} bytes more memory`);
  });

  it('T15 a line of ten megabytes does not hang, and can be read in pieces', async () => {
    const talking = conversation(workspace);
    const { outputId } = await data<Ran>(run("head -c 3000000 /dev/zero | tr '\\0' x", {}, talking));
    const read = await data<{ text: string; totalLines: number }>(
      talking.call('output.read', { id: outputId, offset: 750 }),
    );
    assert.deepEqual([read.text, read.totalLines], ['x'.repeat(4000), 750]);
  });

  it('T12 past its time it is ended with its children, and what it printed is told', async () => {
    const failed = await error(run('sh -c "sleep 300" & echo working; sleep 301', { timeoutSeconds: 1 }));
    assert.deepEqual([failed.code, failed.details], ['TOOL_TIMEOUT', { output: 'working\n' }]);
    assert.match(failed.message, /did not end within 1 s.*longer timeoutSeconds/);
    assert.deepEqual(running(workspace.root), []);
  });

  it('the time limit that is set counts when the call gives none, and another place sees the output and the end', async () => {
    const seen: string[] = [];
    const mirror = (command: string, folder: string) => {
      seen.push(`${folder}$ ${command}`);
      return { write: (text: string) => seen.push(text), end: (how: string) => seen.push(how) };
    };
    const tools = builtinTools({ shell: { timeout: () => 300, mirror } });
    const failed = await error(run('echo working; sleep 300', {}, conversation(workspace, { tools })));
    assert.equal(failed.code, 'TOOL_TIMEOUT');
    assert.deepEqual(seen, [`${workspace.root}$ echo working; sleep 300`, 'working\n', 'Ended: its time was over.']);
  });

  it('a stop is answered with what it printed, and its children end', async () => {
    const talking = conversation(workspace);
    const done = run('echo up; sleep 300 | sleep 301', {}, talking);
    await eventually('it is there', () => talking.events.some((event) => event.type === 'tool-output'));
    talking.stop.abort();
    const { code, details } = await error(done);
    assert.deepEqual([code, details], ['TOOL_INTERRUPTED', { output: 'up\n' }]);
    await eventually('nothing runs', () => running(workspace.root).length === 0);
  });

  it('a stop does not wait for a disk that takes none of a long output', async () => {
    const talking = conversation(workspace, { keep: () => new Promise(() => {}) });
    const done = run('seq 20000; sleep 300', {}, talking);
    await eventually('it is there', () =>
      talking.events.some((event) => event.type === 'tool-output' && event.text.includes('20000')),
    );
    talking.stop.abort();
    const { code, details } = await error(done);
    const { output, cut } = details as { output: string; cut: string };
    assert.deepEqual([code, output.startsWith('1\n'), output.endsWith('20000\n')], ['TOOL_INTERRUPTED', true, true]);
    assert.match(cut, /, and could not be kept\.$/);
  });

  it('T13 children that ignore being asked, or left the group, are killed', async () => {
    const talking = conversation(workspace);
    const stubborn = `trap '' TERM; (setsid sh -c "trap '' TERM; echo up; while :; do sleep 1; done" &) ; while :; do sleep 1; done`;
    const done = run(stubborn, {}, talking);
    await eventually('it is there', () => talking.events.some((event) => event.type === 'tool-output'));
    assert.ok(running(workspace.root).length >= 2);
    talking.stop.abort();
    await error(done);
    await eventually('nothing runs', () => running(workspace.root).length === 0);
  });

  it('is killed where looking at all processes takes longer than there is patience', async () => {
    const child = spawn('sh', ['-c', "trap '' TERM; echo up; while :; do sleep 1; done"], { detached: true });
    await once(child.stdout, 'data');
    const gone = once(child, 'exit');
    assert.deepEqual(await endCommandProcesses(child.pid!, 'nobody’s', 'group', { grace: () => -5000 }), []);
    assert.deepEqual(await gone, [null, 'SIGKILL']);
  });

  it('T13 a daemon that outlives its command is named', async () => {
    const { stillRunning } = await data<Ran>(run('setsid sleep 30 > /dev/null 2>&1 & sleep 0.2'));
    assert.match(stillRunning?.join() ?? '', /^sleep \(\d+\)$/);
    process.kill(Number(/\d+/.exec(stillRunning![0]!)![0]));
  });

  it('a folder that became another during the question is asked about again, at the last moment refused', async () => {
    const another = () => {
      renameSync(paths.join(workspace.root, 'sub'), paths.join(workspace.root, 'gone'));
      mkdirSync(paths.join(workspace.root, 'elsewhere'));
      symlinkSync('elsewhere', paths.join(workspace.root, 'sub'));
    };
    const late = conversation(workspace, { beforeEvent: ({ type }) => type === 'tool-start' && another() });
    assert.equal((await error(run('touch x', { cwd: 'sub' }, late))).code, 'E_PRECONDITION_FAILED');
    workspace.cleanup();
    workspace = await temporaryWorkspace({ 'sub/in.txt': '' });
    const { call, asked } = conversation(workspace, {
      answer: async ({ note }) => {
        if (!note) another();
        return { decision: note ? 'deny' : 'allow' };
      },
    });
    assert.equal((await error(run('touch x', { cwd: 'sub' }, { call } as Conversation))).code, 'TOOL_DENIED');
    assert.deepEqual(
      asked.map(({ plan }) => paths.relative(workspace.root, plan.where)),
      ['sub', 'elsewhere'],
    );
    assert.equal(workspace.exists('elsewhere/x'), false);
  });

  it('sees no secret of the editor', async () => {
    process.env.EXAMPLE_API_KEY = 'CANARY-KEY';
    try {
      const { output } = await data<Ran>(run('env'));
      assert.ok(!output.includes('CANARY-KEY'));
      assert.match(output, /^PATH=/m);
    } finally {
      delete process.env.EXAMPLE_API_KEY;
    }
  });
});

describe('tools: the environment of a command', () => {
  const dropped = [
    'OPENAI_API_KEY GITHUB_TOKEN npm_config_registry NPM_TOKEN AWS_SECRET_ACCESS_KEY DB_PASSWORD MYSQL_PWD VSCODE_IPC_HOOK',
    'DB_PASS SMTP_PASS PAT SLACK_WEBHOOK_URL AZURE_STORAGE_CONNECTION_STRING BEARER MY_JWT',
    'ELECTRON_RUN_AS_NODE NODE_OPTIONS SSH_AUTH_SOCK GIT_ASKPASS BASH_ENV LD_PRELOAD SENTRY_DSN GH_PAT secret_thing PROMPT_COMMAND PWD GLOBIGNORE',
  ]
    .join(' ')
    .split(' ');
  for (const name of dropped) {
    it(`has no ${name}`, () => assert.equal(name in commandEnvironment({ [name]: 'x' }, 'm'), false));
  }

  const values: [value: string, kept: boolean][] = [
    ['sk-CANARYKEY1234567890', false],
    ['ghp_CANARYCANARYCANARYCANARY', false],
    ['https://ghp0CANARYCANARYCANARY@github.com/a/b', false],
    ['https://me:CANARY@example.com', false],
    ['AccountName=a;AccountKey=CANARY;', false],
    ['-----BEGIN OPENSSH PRIVATE KEY-----\nCANARY', false],
    ['/opt/task-runner/bin:/home/a/disk-usage', true],
    ['asia-southeast1-docker.pkg.dev', true],
    ['ssh://git@example.com/a.git', true],
    ['/cache/hf_models_and_tokenizers', true],
  ];
  for (const [value, kept] of values)
    it(`${kept ? 'has' : 'has no'} ${value.slice(0, 40)}, whatever it is called`, () =>
      assert.equal('THING' in commandEnvironment({ THING: value }, 'm'), kept));

  it('has what programs need, and its mark', () => {
    const own = {
      PATH: '/bin',
      EDITOR: 'vim',
      GIT_EDITOR: 'code --wait',
      HOME: '/home/a',
      LANG: 'C',
      PWD: '/x',
      JAVA_HOME: '/j',
      DATABASE_URL: 'pg://a:b@c/d',
    };
    assert.deepEqual(commandEnvironment(own, 'm'), {
      PATH: '/bin',
      HOME: '/home/a',
      LANG: 'C',
      JAVA_HOME: '/j',
      TERM: 'dumb',
      NO_COLOR: '1',
      PAGER: 'cat',
      GIT_PAGER: 'cat',
      GIT_TERMINAL_PROMPT: '0',
      GIT_EDITOR: 'true',
      GIT_SEQUENCE_EDITOR: 'true',
      EDITOR: 'true',
      VISUAL: 'true',
      TOWPATH_COMMAND: 'm',
    });
  });
});

describe('Git in a command', () => {
  it('keeps what the person gives it by the environment, without what gives access, and what is added', () => {
    const own = {
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'core.autocrlf',
      GIT_CONFIG_VALUE_0: 'false',
      GIT_CONFIG_KEY_1: 'http.https://example.com/.extraheader',
      GIT_CONFIG_VALUE_1: 'AUTHORIZATION: basic abc',
    };
    const { GIT_CONFIG_COUNT, GIT_CONFIG_KEY_0, GIT_CONFIG_VALUE_0, GIT_CONFIG_KEY_1, GIT_CONFIG_VALUE_1, ...others } =
      commandEnvironment(own, 'm', [['safe.bareRepository', 'explicit']]);
    assert.deepEqual(
      { GIT_CONFIG_COUNT, GIT_CONFIG_KEY_0, GIT_CONFIG_VALUE_0, GIT_CONFIG_KEY_1, GIT_CONFIG_VALUE_1 },
      {
        GIT_CONFIG_COUNT: '2',
        GIT_CONFIG_KEY_0: 'core.autocrlf',
        GIT_CONFIG_VALUE_0: 'false',
        GIT_CONFIG_KEY_1: 'safe.bareRepository',
        GIT_CONFIG_VALUE_1: 'explicit',
      },
    );
    assert.deepEqual(
      Object.keys(others).filter((name) => name.startsWith('GIT_CONFIG')),
      [],
    );
  });

  it('runs nothing of a repository that lies inside of the folder, and the model is told why', async () => {
    const files = {
      'docs/x/HEAD': 'ref: refs/heads/main\n',
      'docs/x/config': '[core]\n\trepositoryformatversion = 0\n\tworktree = .\n\tfsmonitor = ./evil.sh\n',
      'docs/x/objects/k': '',
      'docs/x/refs/k': '',
      'docs/x/evil.sh': '#!/bin/sh\ntouch PWNED\n',
    };
    const workspace = await temporaryWorkspace(files);
    try {
      chmodSync(paths.join(workspace.root, 'docs/x/evil.sh'), 0o755);
      const rules: ScopedPermissionRule[] = [{ scope: 'workspace', effect: 'allow', tool: 'shell.run', kind: 'looks' }];
      const { call, asked } = conversation(workspace, { policy: { rules } });
      const told = await data<{ exitCode: number; note?: string }>(
        call('shell.run', { command: 'git status', cwd: 'docs/x' }),
      );
      assert.equal(asked.length, 1, 'the rule is for the root');
      assert.deepEqual([told.exitCode, /safe\.bareRepository=explicit/.test(told.note ?? '')], [128, true]);
      assert.equal(workspace.exists('docs/x/PWNED'), false);
    } finally {
      workspace.cleanup();
    }
  });
});

describe('tools: cleaning output (T15)', () => {
  const text =
    'a\x1b[1;31mred\x1b[0m\r\nb\rc\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ grün 日本🙂\x1b(B\x07\x9b0m end\n';
  const clean = 'ared\nclink grün 日本🙂 end\n';
  for (const size of [1, 2, 3, 7, 1000]) {
    it(`gives the same text in pieces of ${size}`, () => {
      const bytes = Buffer.from(text);
      const cleaner = new TerminalOutputCleaner();
      let out = '';
      for (let at = 0; at < bytes.length; at += size)
        out = appendTerminalOutput(out, cleaner.add(bytes.subarray(at, at + size)));
      assert.equal(appendTerminalOutput(out, cleaner.end()), clean);
    });
  }

  for (const size of [1, 1000, 77_777, 3_000_000]) {
    it(`keeps both ends of any length, in pieces of ${size}`, () => {
      const kept = new CommandOutput();
      const length = size === 1 ? 6_000_000 : 12_000_000;
      for (let at = 0; at < length; at += size) kept.add('x'.repeat(Math.min(size, length - at)));
      const text = kept.text();
      const left = text.replace(/\n… \d+ bytes were not kept …\n/, '');
      assert.ok(left === 'x'.repeat(left.length) && left !== ''); // a pattern for millions of letters needs more stack than there may be
      assert.ok(left.length <= 5 * 1024 * 1024);
      assert.equal(left.length + kept.dropped, length);
    });
  }
});

/** Processes of this test that are alive: their working folder is the workspace. */
function running(folder: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const state = /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))![1];
      return state !== 'Z' && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`PWD=${folder}\0`);
    } catch {
      return false;
    }
  });
}
