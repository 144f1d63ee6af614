import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import * as paths from 'node:path';
import { performance } from 'node:perf_hooks';
import { commandEnvironment } from '../../src/tools/shell/environment.ts';
import { Cleaner, HeadAndTail, keptHead, keptTail } from '../../src/tools/shell/output.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../support/workspace.ts';
import { type Conversation, conversation, data, error } from './conversation.ts';

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
  stillRunning?: string[];
}

describe('tools: shell.run', () => {
  const commands: [name: string, command: string, expect: object][] = [
    ['says what a command printed', 'cat a.txt', { exitCode: 0, output: 'one\n' }],
    ['an exit code is an answer', 'echo no >&2; exit 3', { exitCode: 3, output: 'no\n' }],
    ['a signal is told', 'kill -TERM $$', { exitCode: null, signal: 'SIGTERM', output: '' }],
    ['a command that reads gets nothing and ends', 'cat; echo done', { exitCode: 0, output: 'done\n' }],
    ['colours and controls are cleaned', "printf '\\033[31mred\\033[0m\\a\\0\\033]0;title\\007!\\n'", { exitCode: 0, output: 'red!\n' }],
    ['bad bytes are shown as such', "printf 'a\\377b'", { exitCode: 0, output: 'a\ufffdb' }],
    ['its folder may go away', 'cd sub && rm -rf ../sub && echo gone', { exitCode: 0, output: 'gone\n' }],
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
    await until(() => seen().includes('first'));
    workspace.write('go', '');
    await done;
    assert.equal(seen(), 'first\nsecond\n');
  });

  it('of much output the beginning and the end are told, and what is missing', async () => {
    const { output, cut } = await data<Ran>(run('seq 1 100000'));
    assert.ok(output.startsWith('1\n2\n3\n') && output.endsWith('\n99999\n100000\n'));
    assert.equal(output.length < keptHead + keptTail + 100, true);
    assert.match(cut!, /^540\d{3} characters in the middle were cut\./);
  });

  it('an endless flood is ended, in bounded memory', async () => {
    const before = process.memoryUsage().rss;
    const { code, message } = await error(run('yes'));
    assert.equal(code, 'TOOL_EXEC_FAILED');
    assert.match(message, /more than 100 MiB and was ended/);
    assert.ok(process.memoryUsage().rss - before < 150e6);
  });

  it('a line of ten megabytes does not hang', async () => {
    const { output } = await data<Ran>(run("head -c 10000000 /dev/zero | tr '\\0' x"));
    assert.ok(output.length < keptHead + keptTail + 100);
  });

  it('past its time it is ended with its children, and what it printed is told', async () => {
    const failed = await error(run('sh -c "sleep 300" & echo working; sleep 301', { timeoutSeconds: 1 }));
    assert.deepEqual([failed.code, failed.details], ['TOOL_TIMEOUT', { output: 'working\n' }]);
    assert.match(failed.message, /did not end within 1 s.*longer timeoutSeconds/);
    assert.deepEqual(running(workspace.root), []);
  });

  it('a stop is answered with what it printed, and its children end', async () => {
    const talking = conversation(workspace);
    const done = run('echo up; sleep 300 | sleep 301', {}, talking);
    await until(() => talking.events.some((event) => event.type === 'tool-output'));
    talking.stop.abort();
    const { code, details } = await error(done);
    assert.deepEqual([code, details], ['TOOL_INTERRUPTED', { output: 'up\n' }]);
    await until(() => running(workspace.root).length === 0);
  });

  it('children that ignore being asked, or left the group, are killed', async () => {
    const talking = conversation(workspace);
    const stubborn = `trap '' TERM; (setsid sh -c "trap '' TERM; while :; do sleep 1; done" &) ; echo up; while :; do sleep 1; done`;
    const done = run(stubborn, {}, talking);
    await until(() => talking.events.some((event) => event.type === 'tool-output'));
    assert.ok(running(workspace.root).length >= 2);
    talking.stop.abort();
    await error(done);
    await until(() => running(workspace.root).length === 0, 8000);
  });

  it('a daemon that outlives its command is named', async () => {
    const { stillRunning } = await data<Ran>(run('setsid sleep 30 > /dev/null 2>&1 & sleep 0.2'));
    assert.match(stillRunning?.join() ?? '', /^sleep \(\d+\)$/);
    process.kill(Number(/\d+/.exec(stillRunning![0]!)![0]));
  });

  it('a folder that became another during the question is refused', async () => {
    const { call } = conversation(workspace, {
      answer: async () => {
        await workspace.delete(paths.join(workspace.root, 'sub'));
        mkdirSync(paths.join(workspace.root, 'elsewhere'));
        const { symlinkSync } = await import('node:fs');
        symlinkSync('elsewhere', paths.join(workspace.root, 'sub'));
        return { decision: 'allow' };
      },
    });
    assert.equal((await error(run('touch x', { cwd: 'sub' }, { call } as Conversation))).code, 'E_PRECONDITION_FAILED');
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
    'ELECTRON_RUN_AS_NODE NODE_OPTIONS SSH_AUTH_SOCK GIT_ASKPASS BASH_ENV LD_PRELOAD SENTRY_DSN GH_PAT secret_thing PROMPT_COMMAND',
  ]
    .join(' ')
    .split(' ');
  for (const name of dropped) {
    it(`has no ${name}`, () => assert.equal(name in commandEnvironment({ [name]: 'x' }, 'm'), false));
  }

  it('has what programs need, and its mark', () => {
    const own = { PATH: '/bin', HOME: '/home/a', LANG: 'C', PWD: '/x', JAVA_HOME: '/j', DATABASE_URL: 'pg://a:b@c/d' };
    assert.deepEqual(commandEnvironment(own, 'm'), {
      PATH: '/bin',
      HOME: '/home/a',
      LANG: 'C',
      PWD: '/x',
      JAVA_HOME: '/j',
      TERM: 'dumb',
      NO_COLOR: '1',
      PAGER: 'cat',
      GIT_PAGER: 'cat',
      GIT_TERMINAL_PROMPT: '0',
      TOWPATH_COMMAND: 'm',
    });
  });
});

describe('tools: cleaning output', () => {
  const text =
    'a\x1b[1;31mred\x1b[0m\r\nb\rc\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ grün 日本🙂\x1b(B\x07\x9b0m end\n';
  const clean = 'ared\nb\nclink grün 日本🙂 end\n';
  for (const size of [1, 2, 3, 7, 1000]) {
    it(`gives the same text in pieces of ${size}`, () => {
      const bytes = Buffer.from(text);
      const cleaner = new Cleaner();
      let out = '';
      for (let at = 0; at < bytes.length; at += size) out += cleaner.add(bytes.subarray(at, at + size));
      assert.equal(out + cleaner.end(), clean);
    });
  }

  it('keeps both ends of any length, in pieces of any size', () => {
    for (const size of [1000, 77_777, 300_000]) {
      const kept = new HeadAndTail();
      for (let at = 0; at < 300_000; at += size) kept.add('x'.repeat(Math.min(size, 300_000 - at)));
      const { output, cut } = kept.result();
      assert.match(cut!, /^252000 characters/);
      assert.equal(output.replace(/[^x]/g, '').length, keptHead + keptTail);
    }
  });
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

async function until(condition: () => boolean, patience = 5000): Promise<void> {
  const started = performance.now();
  while (!condition()) {
    if (performance.now() - started > patience) assert.fail('it did not happen');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
