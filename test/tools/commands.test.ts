import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import * as paths from 'node:path';
import { parseCommandLine } from '../../src/tools/gate/commandLine.ts';
import { judgeCommand } from '../../src/tools/gate/commands.ts';
import { runVectors } from '../../src/tools/shell/vectors.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../support/workspace.ts';
import { conversation } from './conversation.ts';

interface Case {
  id: string;
  command: string;
  expect: 'auto' | 'ask' | 'never';
  reason: string;
  platform?: string;
  setup?: { file?: string; content?: string; dir?: string; symlink?: string; target?: string; git?: boolean }[];
}

const casesFile = paths.join(import.meta.dirname, '../../../shared/cases/command-cases.json');
const cases: Case[] = existsSync(casesFile) ? JSON.parse(readFileSync(casesFile, 'utf8')).cases : [];

let workspace: TemporaryWorkspace;
beforeEach(async () => {
  workspace = await temporaryWorkspace({
    'README.md': '# hi\n',
    'src/a.ts': 'one\ntwo\nfoo bar\n',
    'big.txt': 'b\na\n',
    '../outside/secret.txt': 'CANARY\n',
  });
});
afterEach(() => workspace.cleanup());

const judge = (command: string, platform?: string) =>
  judgeCommand(workspace.roots, workspace.root, command, platform).then(
    (reading) => (typeof reading === 'string' ? 'ask' : 'auto'),
    (error) => (error.details?.reason === 'COMMAND_REFUSED' ? 'never' : `thrown ${error}`),
  );

/** The same through the tool: run unasked, or put to a person who says no, or refused before that. */
async function decided(command: string, readOnlyCommands: boolean): Promise<string> {
  const { call, asked, events } = conversation(workspace, { policy: { readOnlyCommands }, answer: 'deny' });
  const outcome = await call('shell.run', { command });
  if (asked.length > 0) {
    const { plan } = asked[0]!;
    assert.deepEqual([plan.command, plan.where, outcome.ok], [command, workspace.root, false]);
    return 'ask';
  }
  const ran = events.some(({ type }) => type === 'tool-start');
  if (ran) return 'auto';
  const { code, details } = (outcome as Extract<typeof outcome, { ok: false }>).error;
  const reason = (details as { reason?: string } | undefined)?.reason ?? code;
  return reason === 'COMMAND_REFUSED' || reason === 'TOOL_ARGS_INVALID' ? 'never' : reason;
}

describe('a command', () => {
  for (const { id, command, expect, reason, platform, setup = [] } of cases) {
    it(`${id} ${JSON.stringify(command.slice(0, 60))}: ${expect} (${reason.slice(0, 60)})`, async () => {
      for (const step of setup) {
        if (step.file !== undefined) workspace.write(step.file, step.content ?? '');
        if (step.dir !== undefined) mkdirSync(paths.join(workspace.root, step.dir), { recursive: true });
        if (step.symlink !== undefined) symlinkSync(step.target!, paths.join(workspace.root, step.symlink));
        if (step.git) workspace.write('.git/config', '[core]\n');
      }
      // An empty command is refused by its schema, which asks for at least one character.
      assert.equal(command === '' ? 'never' : await judge(command, platform), expect);
      if (platform === undefined) {
        assert.equal(await decided(command, true), expect);
        assert.equal(await decided(command, false), expect === 'auto' ? 'ask' : expect, 'with the preset off');
      }
    });
  }

  // Beside the cases above: what is asked about although a careless reader would let it through.
  const asked = [
    ['grep -r KEY .', 'goes through hidden files'],
    ['rg -uu KEY', 'looks at ignored and hidden files'],
    ['rg --hidden KEY', 'looks at hidden files'],
    ['rg -L KEY', 'follows links'],
    ['diff . src', 'compares the files of folders'],
    ['git', 'could be anything'],
    ['sort -o PWNED README.md', 'writes'],
    ['diff --unified /etc/passwd README.md', 'the value of that option may be left out: the file is not one'],
    ['diff --unified 3 README.md', 'the same'],
    ['grep --context 3 /etc/passwd', 'a value that is not attached is a file to some programs'],
    ['false || cd src; cat ../README.md', 'nobody can say where it runs'],
    ['ls || cd src && ls', 'nobody can say where it runs'],
    ['cat src/../README.md', 'a link could be on the way'],
    ['ls "a', 'an open quote'],
    ['head -n', 'an option without its value'],
  ] as const;
  for (const [command, why] of asked)
    it(`is asked about: ${command} (${why})`, async () => assert.equal(await judge(command), 'ask'));

  for (const command of ['rm -rf \\\n/', "r'm' -rf /", 'r""m -r -f ~', "$'rm' -rf /"])
    it(`is refused without a question: ${JSON.stringify(command)}`, async () =>
      assert.equal(await judge(command), 'never'));

  for (const command of ['ls', 'ls .', 'find -name x', 'rg KEY'])
    it(`is asked about where the open folder is a whole home folder: ${command}`, async () => {
      const roots = [{ name: 'home', path: homedir() }];
      assert.equal(await judgeCommand(roots, homedir(), command), 'The open folder is a whole disk or home folder.');
    });

  const attached: [command: string, platform: string, expect: string][] = [
    ['grep -C 3 /etc/passwd', 'darwin', 'ask'],
    ['grep -C3 foo src/a.ts', 'darwin', 'auto'],
    ['grep -C 3 foo src/a.ts', 'linux', 'auto'],
    ['uniq README.md -c', 'darwin', 'ask'],
    ['uniq README.md -c', 'linux', 'auto'],
    ['head README.md -n .env', 'darwin', 'ask'],
    ['cat README.md - -n', 'darwin', 'ask'],
    ['sed -n 5p src/a.ts', 'darwin', 'auto'],
    ['rg foo src -n', 'darwin', 'auto'],
    ['grep --context=3 foo src/a.ts', 'linux', 'auto'],
    ['rg --context 3 foo src', 'linux', 'auto'],
  ];
  for (const [command, platform, expect] of attached)
    it(`${command} on ${platform}: ${expect}`, async () => assert.equal(await judge(command, platform), expect));
});

describe('a command line without a shell', () => {
  const parsed: [text: string, expect: string | undefined][] = [
    ['grep -n \'a  b\' "c d"e', 'grep|-n|a  b|c de'],
    ["echo '' x", 'echo||x'],
    ['a;b && c||d | e', 'a ; b && c || d | e'],
    ['a >/dev/null 2>&1', 'a (stdout null, stderr null)'],
    ['a 2>&1 >/dev/null', 'a (stdout null, stderr out)'],
    ['a 2>/dev/null|b', 'a (stderr null) | b'],
    ['a2>/dev/null', undefined],
    ["npm test ’' ; evil; '’", undefined],
    ['npm test "a” ; evil; "', undefined],
    ['npm test „a', undefined],
    ['a >file', undefined],
    ['a $x', undefined],
    ['a &', undefined],
    ['a #b', undefined],
    ['a b#c', 'a|b#c'],
    ['a |', undefined],
    ['; a', undefined],
  ];
  for (const [text, expect] of parsed) it(text, () => assert.equal(drawn(text), expect));

  const run = async (command: string, signal = new AbortController().signal) => {
    const reading = await judgeCommand(workspace.roots, workspace.root, command);
    assert.ok(typeof reading !== 'string', `${reading}`);
    let output = '';
    const { exitCode } = await runVectors(
      reading,
      (chunk) => {
        output += chunk;
      },
      signal,
      workspace.ripgrep,
    );
    return { exitCode, output };
  };

  const ran: [command: string, expect: { exitCode: number; output: string }][] = [
    ['cat README.md | wc -l', { exitCode: 0, output: '1\n' }],
    ['cd src && head -n 1 a.ts', { exitCode: 0, output: 'one\n' }],
    ['grep nothing README.md || echo none', { exitCode: 0, output: 'none\n' }],
    ['false && echo no; echo yes', { exitCode: 0, output: 'yes\n' }],
    ['cat', { exitCode: 0, output: '' }],
    ['sort big.txt | head -n 1', { exitCode: 0, output: 'a\n' }],
    ['cat nope 2>/dev/null', { exitCode: 1, output: '' }],
    ['cat nope 2>&1 | wc -l', { exitCode: 0, output: '1\n' }],
    ['echo a > /dev/null', { exitCode: 0, output: '' }],
    ["echo '$(id)' *x*".replace(' *x*', ''), { exitCode: 0, output: '$(id)\n' }],
  ];
  for (const [command, expect] of ran) it(`runs ${command}`, async () => assert.deepEqual(await run(command), expect));

  it('what has enough ends what still writes', async () => {
    workspace.write('long.txt', 'line\n'.repeat(1_000_000));
    assert.deepEqual(await run('cat long.txt | head -n 1'), { exitCode: 0, output: 'line\n' });
  });

  it('a search leaves out what may hold secrets, whatever glob it is given', async () => {
    const secrets = ['.env', '.env.local', 'a/id_rsa', 'tls.PEM', 'secrets.json', '.ssh/config', 'x/credentials.json'];
    for (const name of secrets) workspace.write(name, 'CANARY\n');
    workspace.write('plain.txt', 'CANARY\n');
    for (const glob of ['', "-g '*' ", "-g '.env*' -g '*.PEM' -g plain.txt ", "-g '.ssh/*' -g plain.txt "])
      assert.deepEqual(await run(`rg -l ${glob}CANARY`), { exitCode: 0, output: 'plain.txt\n' }, glob);
  });

  it('sees nothing of the editor’s environment', async () => {
    process.env.RIPGREP_CONFIG_PATH = '/nowhere';
    process.env.CANARY_VARIABLE = 'CANARY';
    try {
      const reading = {
        pipelines: [{ commands: [{ words: ['env'], stdout: 'out', stderr: 'err' }] }],
        folder: workspace.root,
      } as const;
      let output = '';
      await runVectors(reading as never, (chunk) => (output += chunk), new AbortController().signal);
      assert.deepEqual(
        output
          .trim()
          .split('\n')
          .map((line) => line.split('=')[0])
          .sort(),
        ['LANG', 'NO_COLOR', 'PATH', 'TERM'],
      );
    } finally {
      delete process.env.RIPGREP_CONFIG_PATH;
      delete process.env.CANARY_VARIABLE;
    }
  });

  it('ends when it is stopped', async () => {
    execFileSync('mkfifo', [paths.join(workspace.root, 'pipe')]);
    const stop = new AbortController();
    const reading = {
      pipelines: [{ commands: [{ words: ['cat', 'pipe'], stdout: 'out', stderr: 'err' }] }],
      folder: workspace.root,
    };
    const running = runVectors(reading as never, () => {}, stop.signal);
    stop.abort();
    assert.equal((await running).stopped, true);
  });
});

function drawn(text: string): string | undefined {
  return parseCommandLine(text)
    ?.map(({ operator, commands }) => {
      const parts = commands.map(({ words, stdout, stderr }) => {
        const ends = [stdout !== 'out' && `stdout ${stdout}`, stderr !== 'err' && `stderr ${stderr}`].filter(Boolean);
        return words.join('|') + (ends.length > 0 ? ` (${ends.join(', ')})` : '');
      });
      return `${operator ? `${operator} ` : ''}${parts.join(' | ')}`;
    })
    .join(' ');
}
