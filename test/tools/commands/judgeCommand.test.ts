import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import * as paths from 'node:path';
import { judgeCommand } from '../../../src/tools/commands/judgeCommand.ts';
import { runArgvPipeline } from '../../../src/tools/shell/argvPipeline.ts';
import {
  type ParsedShellScript,
  type ParsedShellWord,
  parseShellScript,
  type ShellCommand,
} from '../../../src/tools/shellSyntax/shellSyntax.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation } from '../conversation.ts';

interface Setup {
  file?: string;
  content?: string;
  dir?: string;
  symlink?: string;
  target?: string;
  /** A repository with a commit of `README.md`; `dirty`: that file is changed since. */
  git?: boolean;
  config?: [name: string, value: string][];
  attributes?: string;
  dirty?: boolean;
}

interface Case {
  id: string;
  command: string;
  expect: 'auto' | 'ask' | 'never';
  reason: string;
  platform?: string;
  setup?: Setup[];
}

const casesFile = paths.join(import.meta.dirname, '../../../../shared/cases/command-cases.json');
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

function makeRepository({ config = [], attributes, dirty }: Setup): void {
  const settings = ['user.name=a', 'user.email=a@b.c', 'commit.gpgsign=false'].flatMap((one) => ['-c', one]);
  const git = (...args: string[]) =>
    execFileSync('git', [...settings, ...args], { cwd: workspace.root, stdio: 'pipe' });
  git('init', '-q');
  git('add', 'README.md');
  git('commit', '-qm', 'one');
  if (attributes !== undefined) workspace.write('.gitattributes', `${attributes}\n`);
  for (const [name, value] of config) git('config', name, value);
  if (dirty) workspace.write('README.md', '# changed\n');
}

const judge = (command: string, platform?: string) =>
  judgeCommand(workspace.roots, workspace.root, command, platform).then(
    ({ reading }) => (typeof reading === 'string' ? 'ask' : 'auto'),
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

// Holds commands-are-judged-whole.
describe('a command', () => {
  for (const { id, command, expect, reason, platform, setup = [] } of cases) {
    it(`${id} ${JSON.stringify(command.slice(0, 60))}: ${expect} (${reason.slice(0, 60)})`, async () => {
      for (const step of setup) {
        if (step.file !== undefined) workspace.write(step.file, step.content ?? '');
        if (step.dir !== undefined) mkdirSync(paths.join(workspace.root, step.dir), { recursive: true });
        if (step.symlink !== undefined) symlinkSync(step.target!, paths.join(workspace.root, step.symlink));
        if (step.git) makeRepository(step);
      }
      // An empty command is refused by its schema, which asks for at least one character.
      assert.equal(command === '' ? 'never' : await judge(command, platform), expect);
      if (platform === undefined) {
        assert.equal(await decided(command, true), expect);
        assert.equal(await decided(command, false), expect === 'auto' ? 'ask' : expect, 'with the preset off');
      }
    });
  }

  describe('of Git that shows the state of a repository', () => {
    const free = [
      'git status --short && git diff HEAD',
      'git status',
      'git diff --stat -- README.md',
      'git diff --cached | head -20',
      'cd src && git status -sb',
    ];
    for (const command of free)
      it(`runs unasked where the configuration starts nothing: ${command}`, async () => {
        makeRepository({ dirty: true, config: [['remote.origin.url', 'https://example.com/a.git']] });
        assert.equal(await judge(command), 'auto');
        const { call, asked } = conversation(workspace, { policy: { readOnlyCommands: true } });
        const outcome = await call('shell.run', { command });
        assert.deepEqual(
          [outcome.ok, asked.length, (outcome as { data?: { exitCode?: number } }).data?.exitCode],
          [true, 0, 0],
        );
      });

    const tricks: [what: string, setup: Setup, command: string][] = [
      ['a monitor of the file system', { config: [['core.fsmonitor', './evil.sh']] }, 'git status'],
      ['a filter', { config: [['filter.x.clean', 'touch PWNED; cat']], attributes: '* filter=x' }, 'git status'],
      ['a program for differences', { config: [['diff.external', 'touch PWNED; true']] }, 'git diff HEAD'],
      ['a converter', { config: [['diff.x.textconv', 'touch PWNED; cat']], attributes: '* diff=x' }, 'git diff'],
      ['an included file', { config: [['include.path', '../evil']] }, 'git status'],
      ['another working tree', { config: [['core.worktree', '/']] }, 'git status'],
      ['objects that are fetched', { config: [['remote.o.promisor', 'true']] }, 'git diff'],
      ['a setting that another file brings', { config: [['includeif.gitdir:**.path', '/tmp/evil']] }, 'git status'],
      [
        'a store for this working tree',
        {
          config: [
            ['extensions.worktreeconfig', 'true'],
            ['filter.y.process', './evil.sh'],
          ],
        },
        'git diff',
      ],
      [
        'a program for submodules',
        {
          config: [
            ['submodule.recurse', 'true'],
            ['core.gitproxy', './evil.sh'],
          ],
        },
        'git status',
      ],
      ['a setting that nobody knows', { config: [['new.program', './evil.sh']] }, 'git status'],
      ['another revision', {}, 'git log -p'],
      ['a folder outside', {}, 'git -C .. status'],
      ['a setting of the command', {}, 'git -c core.fsmonitor=./evil.sh status'],
      ['a file that is written', {}, 'git diff --output=x'],
      ['an external program', {}, 'git diff --ext-diff'],
    ];
    for (const [what, setup, command] of tricks)
      it(`is asked about for ${what}: ${command}`, async () => {
        makeRepository({ ...setup, dirty: true });
        assert.equal(await judge(command), 'ask');
      });

    it('is asked about where the repository is kept elsewhere, or has submodules', async () => {
      makeRepository({ dirty: true });
      workspace.write('.gitmodules', '');
      assert.equal(await judge('git status'), 'ask');
      rmSync(paths.join(workspace.root, '.gitmodules'));
      assert.equal(await judge('git status'), 'auto');
      renameSync(paths.join(workspace.root, '.git'), paths.join(workspace.root, '../outside/store'));
      symlinkSync('../outside/store', paths.join(workspace.root, '.git'));
      assert.equal(await judge('git status'), 'ask');
      rmSync(paths.join(workspace.root, '.git'));
      workspace.write('.git', 'gitdir: ../outside/store\n');
      assert.equal(await judge('git status'), 'auto');
      execFileSync('git', ['config', 'core.fsmonitor', './evil.sh'], { cwd: workspace.root });
      assert.equal(await judge('git status'), 'ask');
    });

    it('is asked about when it shows a secret, under every preset and rule', async () => {
      makeRepository({});
      workspace.write('.env', 'KEY=1\n');
      const key = 'c9J2mQ7vX4tR8kLpZ1wYbN6dHsF3gTuEaVxCoWiBqKnM';
      workspace.write('src/a.ts', `aws_secret_access_key = ${key}\n`);
      const git = (...args: string[]) =>
        execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', '-c', 'commit.gpgsign=false', ...args], { cwd: workspace.root, encoding: 'utf8' }); // biome-ignore format: a call
      git('add', '-A', '-f');
      git('commit', '-qm', 'secrets');
      const [env, inCode] = ['.env', 'src/a.ts'].map((path) => git('rev-parse', `HEAD:${path}`).trim());
      workspace.write('src/a.ts', 'one\n'); // the difference shows what was there
      workspace.write('README.md', '# other\n');
      const rules = [{ scope: 'user', effect: 'allow', tool: 'shell.run' } as const];
      const isAsked = async (command: string) => {
        const { call, asked } = conversation(workspace, { policy: { preset: 'autopilot', rules }, answer: 'deny' });
        await call('shell.run', { command });
        return asked.length > 0;
      };
      const secret = ['git log -p', 'git log -p -1 --stat', 'git show', `git show ${inCode}`, `git cat-file -p ${inCode}`, 'git diff', 'git diff HEAD', 'git diff HEAD~1', 'git log -1 -U0', 'git stash list && git show HEAD', 'git diff --no-prefix', 'git log -p --no-prefix -1', 'git diff --color=always', 'git show --color-words', 'git diff -R HEAD', 'git grep -h KEY', 'git grep -n . HEAD', 'git grep KEY -- src .env']; // biome-ignore format: a list
      const free = ['git log --oneline', 'git log --stat', 'git status --short', 'git diff -- README.md', 'git show --stat', 'git show HEAD~1', 'git diff --name-only', 'git grep one', `git cat-file -t ${env}`]; // biome-ignore format: a list
      for (const command of secret) assert.equal(await isAsked(command), true, command);
      for (const command of free) assert.equal(await isAsked(command), false, command);
    });
  });

  // Beside the cases above: what is asked about although a careless reader would let it through.
  const asked = [
    ['grep -R KEY .', 'follows links'],
    ['grep -r KEY .. ', 'looks outside'],
    ['sort *', 'a name may pass for an option'],
    ['rg -uu KEY', 'looks at ignored and hidden files'],
    ['rg --hidden KEY', 'looks at hidden files'],
    ['rg -L KEY', 'follows links'],
    ['diff . src', 'compares the files of folders'],
    ['git', 'could be anything'],
    ['sort -o PWNED README.md', 'writes'],
    ['nm @evil.txt', 'reads its options from a file'],
    ['objdump -d @evil.txt README.md', 'reads its options from a file'],
    ['diff --unified /etc/passwd README.md', 'the value of that option may be left out: the file is not one'],
    ['diff --unified 3 README.md', 'the same'],
    ['grep --context 3 /etc/passwd', 'a value that is not attached is a file to some programs'],
    ['false || cd src; cat ../README.md', 'nobody can say where it runs'],
    ['ls || cd src && ls', 'nobody can say where it runs'],
    ['cat src/../README.md', 'a link could be on the way'],
    ['ls "a', 'an open quote'],
    ['head -n', 'an option without its value'],
  ] as const;
  it('with a glob is what it matches now; asked about once a name could pass for an option', async () => {
    for (const glob of ['cat *.md', 'cat src/*.txt', 'grep -l x */*.ts', 'wc -l */nothing/*.xml']) {
      assert.equal(await judge(glob), 'auto', glob);
      assert.equal(await judge(`(${glob})`), 'ask', `in a shell, ${glob}`);
    }
    workspace.write('-n.md', 'x\n');
    assert.equal(await judge('cat *.md'), 'ask');
    assert.equal(await judge('cat ./*.md'), 'auto');
  });

  for (const [command, why] of asked)
    it(`is asked about: ${command} (${why})`, async () => assert.equal(await judge(command), 'ask'));

  for (const command of ['rm -rf \\\n/', "r'm' -rf /", 'r""m -r -f ~', "$'rm' -rf /"])
    it(`is refused without a question: ${JSON.stringify(command)}`, async () =>
      assert.equal(await judge(command), 'never'));

  for (const command of ['ls', 'ls .', 'find -name x', 'rg KEY'])
    it(`is asked about where the open folder is a whole home folder: ${command}`, async () => {
      const roots = [{ name: 'home', path: homedir() }];
      assert.equal(
        (await judgeCommand(roots, homedir(), command)).reading,
        'The open folder is a whole disk or home folder.',
      );
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
    ['a >>x', undefined],
    ['a <x', undefined],
    ['a <<EOF\nx\nEOF', undefined],
    ['a <<<x', undefined],
    ['a $x', 'a|<$x apart>'],
    [`a "$\{f%.new}"`, 'a|<$f without .new>'],
    ['a "$(b | c)"', 'a|<text b | c>'],
    ['a <(b)', 'a|<file b>'],
    ['a >(b)', undefined],
    ['a `b`', undefined],
    ['a "`b`"', undefined],
    ["a $'\\x41'", undefined],
    [`a $\{x:=$(b)}`, undefined],
    [`a $\{!x}`, undefined],
    [`a $\{x@P}`, undefined],
    [`a $((i+1)) "$\{PIPESTATUS[0]}" $?`, 'a|<number i>|<number >|<number >'],
    ['a $((x[$(b)]))', undefined],
    ['A=1 B="c d" e', 'A:=1|B:=c d|e'],
    ['a[0]=b', undefined],
    ['A+=b', undefined],
    ['a *.ts [a-c]? b', 'a|<*>.ts|<[a-c]><?>|b'],
    ['a {b,c}', undefined],
    ['a {1..3}', undefined],
    ['a stash@{0} {} HEAD^', 'a|stash@{0}|{}|HEAD^'],
    ['a ~/x', undefined],
    ['a --x=~/y', undefined],
    ['a HEAD~2', 'a|HEAD~2'],
    ['a \\b\\ c', 'a|b c'],
    ['a \\\n b', 'a|b'],
    ['a\nb\n\nc', 'a ; b ; c'],
    ['a &&\n  b', 'a && b'],
    ['for x in a b*; do c "$x"; d; done | e', 'for x in a b<*> do c|<$x> ; d | e'],
    ['while a; do b; done', 'while a do b'],
    ['if a; then b; else c; fi', 'if a then b then c'],
    ['(cd a && b) && c', '( cd|a && b ) && c'],
    ['! a', '! a'],
    ['{ a; }', undefined],
    ['f() { a; }', undefined],
    ['f() a', undefined],
    ['[[ -v a ]]', undefined],
    ['((a))', undefined],
    ['case a in b) c;; esac', undefined],
    ['a |& b', undefined],
    ['a; done', undefined],
    ['do a', undefined],
    ['for x in a; do b; done > c', undefined],
    ['if a; then b; fi 2>c', undefined],
    ['"if" a', 'if|a'],
    ['$(a)', undefined],
    ['$a b', undefined],
    ['a\rb', undefined],
    ['grep "x$" y', 'grep|x$|y'],
    ['a "\\$b \\\\ \\n"', 'a|$b \\ \\n'],
    ['a "$\\\n(b)"', undefined],
    ['x=1; xy=2; a "$x\\\ny"', undefined],
    ['a "b \\\n c"', undefined],
    ['(\\\n(a))', undefined],
    ['a "$(\\\n(b))"', undefined],
    ['a |\\\n&>/dev/null b', undefined],
    ['a |\\\n b', 'a | b'],
    ['a ;&>/dev/null b', undefined],
    ['a {b*}', undefined],
    ['a {[bc]}', undefined],
    ['a={b:~/c}', undefined],
    ['a &', undefined],
    ['a #b', undefined],
    ['a b#c', 'a|b#c'],
    ['a |', undefined],
    ['; a', undefined],
  ];
  for (const [text, expect] of parsed) it(text, () => assert.equal(drawn(text), expect));

  const run = async (command: string, signal = new AbortController().signal) => {
    const { reading } = await judgeCommand(workspace.roots, workspace.root, command);
    assert.ok(typeof reading !== 'string', `${reading}`);
    let output = '';
    const { exitCode } = await runArgvPipeline(
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
    const commands = [
      'cat long.txt | head -n 1',
      'cat long.txt | cat | head -n 1',
      'cat long.txt long.txt 2>&1 | head -n 1',
    ];
    for (const command of commands)
      for (const one of await Promise.all(Array.from({ length: 20 }, () => run(command))))
        assert.deepEqual(one, { exitCode: 0, output: 'line\n' }, command);
  });

  it('but not what writes nothing more: it says what it has to say', async () => {
    workspace.write('long.txt', 'line\n'.repeat(1_000_000));
    const output = '/usr/bin/grep: nope: No such file or directory\n';
    const command = `grep nothing ${'long.txt '.repeat(40)} nope | head -n 0`; // it reads long after the other has ended
    assert.deepEqual(await run(command), { exitCode: 0, output });
  });

  it('a search leaves out what may hold secrets, whatever glob it is given', async () => {
    const secrets = ['.env', '.env.local', 'a/id_rsa', 'tls.PEM', 'secrets.json', '.ssh/config', 'x/credentials.json'];
    for (const name of secrets) workspace.write(name, 'CANARY\n');
    workspace.write('plain.txt', 'CANARY\n');
    for (const glob of ['', "-g '*' ", "-g '.env*' -g '*.PEM' -g plain.txt ", "-g '.ssh/*' -g plain.txt "])
      assert.deepEqual(await run(`rg -l ${glob}CANARY`), { exitCode: 0, output: 'plain.txt\n' }, glob);
    for (const option of ['', "--include='.env*' --include='*.PEM' --include=plain.txt ", '--exclude-dir=x '])
      assert.deepEqual(await run(`grep -rl ${option}CANARY .`), { exitCode: 0, output: './plain.txt\n' }, option);
  });

  it('sees nothing of the editor’s environment', async () => {
    process.env.RIPGREP_CONFIG_PATH = '/nowhere';
    process.env.CANARY_VARIABLE = 'CANARY';
    try {
      const reading = {
        pipelines: [{ commands: [{ words: ['env'], folder: workspace.root, stdout: 'out', stderr: 'err' }] }],
      } as const;
      let output = '';
      await runArgvPipeline(reading as never, (chunk) => (output += chunk), new AbortController().signal);
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
      pipelines: [{ commands: [{ words: ['cat', 'pipe'], folder: workspace.root, stdout: 'out', stderr: 'err' }] }],
    };
    const running = runArgvPipeline(reading as never, () => {}, stop.signal);
    stop.abort();
    assert.equal((await running).stopped, true);
  });
});

function drawn(text: string): string | undefined {
  const script = parseShellScript(text);
  return script && drawnScript(script);
}

const drawnScript = (script: ParsedShellScript): string =>
  script
    .map(
      ({ operator, negated, commands }) =>
        `${operator ? `${operator} ` : ''}${negated ? '! ' : ''}${commands.map(drawnCommand).join(' | ')}`,
    )
    .join(' ');

function drawnCommand(command: ShellCommand): string {
  if (command.kind === 'group') return `( ${drawnScript(command.body)} )`;
  if (command.kind === 'choice') return `if ${command.parts.map(drawnScript).join(' then ')}`;
  if (command.kind === 'loop') {
    const begin = command.each
      ? `for ${command.each.name} in ${command.each.values.map(drawnWord).join(' ')}`
      : `while ${drawnScript(command.condition!)}`;
    return `${begin} do ${drawnScript(command.body)}`;
  }
  const { stdout, stderr } = command;
  const ends = [stdout !== 'out' && `stdout ${stdout}`, stderr !== 'err' && `stderr ${stderr}`].filter(Boolean);
  const words = [
    ...command.assignments.map(({ name, value }) => `${name}:=${drawnWord(value)}`),
    ...command.words.map(drawnWord),
  ];
  return words.join('|') + (ends.length > 0 ? ` (${ends.join(', ')})` : '');
}

const drawnWord = (word: ParsedShellWord): string =>
  word
    .map((piece) => {
      if ('text' in piece) return piece.text;
      if ('glob' in piece) return `<${piece.glob}>`;
      if ('number' in piece) return `<number ${piece.number}>`;
      if ('script' in piece) return `<${piece.as} ${drawnScript(piece.script)}>`;
      return `<$${piece.variable}${piece.suffix ? ` without ${piece.suffix}` : ''}${piece.quoted ? '' : ' apart'}>`;
    })
    .join('');
