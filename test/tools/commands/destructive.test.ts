// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are the shell's
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import * as paths from 'node:path';
import { findIrreversibleDestruction } from '../../../src/tools/commands/destructive.ts';
import type { Tool } from '../../../src/tools/core/tool.ts';
import { shellTool } from '../../../src/tools/shell/shell.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation } from '../conversation.ts';

interface Case {
  command: string;
  expect: 'refuse' | 'ask-always';
}

const casesFolder = paths.join(import.meta.dirname, '../../../../shared/cases');
const casesFiles = ['grant-cases.json', 'red-cases.json'].map((name) => paths.join(casesFolder, name));
const cases: Case[] = casesFiles
  .filter((file) => existsSync(file))
  .flatMap((file) => JSON.parse(readFileSync(file, 'utf8')).destructive);

/** Of two levels, as most are, and not there: what is judged is where a word leads, not what is found there. */
const home = '/home/name';
const ownHome = process.env.HOME;

let workspace: TemporaryWorkspace;
/** Under autopilot, and with a rule that allows every command. */
async function effectOf(command: string, cwd?: string): Promise<string> {
  const policy = {
    preset: 'autopilot' as const,
    rules: [{ scope: 'user', effect: 'allow', tool: 'shell.run' } as const],
  };
  const free = conversation(workspace, { policy, tools: [shell], answer: 'deny' });
  const outcome = await free.call('shell.run', { command, ...(cwd && { cwd }) });
  if (outcome.ok) return 'ask';
  const { details } = outcome.error;
  if ((details as { reason?: string } | undefined)?.reason === 'COMMAND_REFUSED') return 'refuse';
  assert.deepEqual([outcome.error.code, free.asked.length], ['TOOL_DENIED', 1]);
  assert.equal(free.asked[0]!.plan.grant, undefined);
  return 'ask-always';
}

/** As it is, but that nothing is run. */
const own = shellTool({ lossLimit: 60_000 });
const shell: Tool = {
  ...own,
  async plan(args, context) {
    const plan = await own.plan!(args, context);
    return plan && { ...plan, run: async () => ({ exitCode: 0, output: '' }) };
  },
};

describe('a command that destroys', () => {
  before(async () => {
    process.env.HOME = home;
    workspace = await temporaryWorkspace({
      'README.md': '# hi\n',
      'src/a.ts': 'one\n',
      'build/x.js': '',
      'node_modules/a/b.js': '',
      '.gitignore': 'build/\nnode_modules/\n',
    });
    // Nothing in it is only there: what such commands discard is another question.
    const git = (...args: string[]) => execFileSync('git', args, { cwd: workspace.root, stdio: 'ignore' });
    git('init');
    git('add', '-A');
    git('-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false', 'commit', '-m', 'all');
    workspace.write('.git/objects/x', '');
    symlinkSync(workspace.root, paths.join(workspace.root, 'build/up'));
    mkdirSync(paths.join(workspace.root, '../outside'));
  });
  after(() => {
    process.env.HOME = ownHome;
    workspace.cleanup();
  });

  for (const { command, expect } of cases) {
    const filled = () => command.replace(/(?<!\$)\{HOME\}/g, home).replaceAll('{WS}', workspace.root);
    // What ends every process stays refused, which is more than to be asked about.
    const wanted = command === 'kill -9 -1' ? 'refuse' : expect;
    it(`${command}: ${wanted}`, async () => assert.equal(await effectOf(filled()), wanted));
  }

  const more: [command: string, expect: string, cwd?: string][] = [
    // a home of any depth, its parents, the open folder and its parents, however they are spelled
    ['rm -rf ~', 'refuse'],
    // a program of awk is read as one: its texts may be commands, its `>` writes files, and its braces end no name
    [`awk '{print > "/dev/stderr"}' README.md`, 'ask'],
    [`awk 'NR > 1 { printf "%s %d\\n", $1, $2 >> "/dev/stderr" }' README.md`, 'ask'],
    [`gawk '$3 > 100 {n++} END {print n > "/dev/stdout"}' README.md`, 'ask'],
    [`awk '{print > "/dev/sda"}' README.md`, 'refuse'],
    [`awk '{print > ("/dev/" "sda")}' README.md`, 'refuse'],
    [`awk 'BEGIN{system("rm -rf /")}'`, 'refuse'],
    [`awk 'BEGIN{print "x" | "rm -rf" " /"}'`, 'refuse'],
    ['rm -rf ~/*', 'refuse'],
    ['rm -rf ~/.*', 'refuse'],
    ['rm -rf ~+/', 'refuse'],
    ['rm -rf "${HOME}"', 'refuse'],
    ['rm -rf "${HOME%/}"/', 'refuse'],
    ['rm -rf /home/*/', 'refuse'],
    ['rm -rf ~/../name', 'refuse'],
    ['rm -rf {WS}', 'refuse'],
    ['rm -rf ../../*', 'refuse'],
    ['rm -rf ../ws', 'refuse'],
    ['rm -rf *', 'refuse'],
    ['rm -rf [!.]*', 'refuse'],
    ['rm -rf {src,.}', 'refuse'],
    ['rm -rf {/,x}', 'refuse'],
    ['rm --recur /', 'refuse'],
    ['rm -rf $"/"', 'refuse'],
    ["rm -rf $'\\x2f'", 'refuse'],
    ['rm -rf build/up/*', 'refuse'],
    ['rm -rf build/up/', 'refuse'],
    ['rm -rf build/up', 'ask'],
    ['rm -rf .git/objects', 'refuse'],
    ['cd / && rm -rf *', 'refuse'],
    ['cd ..; rm -rf ws', 'refuse'],
    ['(cd build && make) && rm -rf *', 'refuse'],
    ['cd build && rm -rf *', 'ask'],
    ['cd build &&\n  rm -rf *', 'ask'],
    ['rm -rf .', 'ask', 'build'],
    ['rm -rf ..', 'refuse', 'build'],
    ['rm -rf /home/other/x', 'ask'],
    ['rm -rf ../outside', 'ask'],
    ['rm -rf node_modules dist', 'ask'],
    ['rm -rf build/*', 'ask'],
    ['rm -rf /tmp/x', 'ask'],
    ['rm -rf src/*.js', 'ask'],
    ["rm -rf '~'", 'ask'],
    ['docker run --rm -v $PWD:/app image ls /', 'ask'],
    // by other programs
    ['find . -delete', 'refuse'],
    ['find . -type f -delete', 'refuse'],
    ['find -name "*" -delete', 'refuse'],
    ["find . -name '*.pyc' -delete", 'ask'],
    ["find . -not -name '*.pyc' -delete", 'refuse'],
    ['find ~ -execdir rm {} +', 'refuse'],
    ["find / -name a.so -exec grep -l x {} ';'", 'ask'],
    ['find build -delete', 'ask'],
    ['find "$X" -delete', 'ask-always'],
    ['mv {HOME} x', 'refuse'],
    ['mv a.txt ~', 'ask'],
    ['mv ../ws /tmp/x', 'refuse'],
    ['chmod -R 000 {HOME}', 'refuse'],
    ['chmod -R u+w .', 'ask'],
    ['rsync -a --delete empty/ ~/', 'refuse'],
    ['rsync -a --delete src/ dist/', 'ask'],
    ['git clean -fdx', 'ask'],
    ['git clean -fdx build', 'ask'],
    ['git -C ~ clean -fdx', 'ask-always'],
    // disks
    ['cat a > /dev/sda', 'refuse'],
    ['echo x | tee /dev/sdb1', 'refuse'],
    ['cp image.iso /dev/mmcblk0', 'refuse'],
    ['cp /dev/sda image.iso', 'ask'],
    ['dd if=/dev/sda of=image.iso', 'ask'],
    ['blkdiscard /dev/sda', 'refuse'],
    ['wipefs -a /dev/disk/by-id/x', 'refuse'],
    ['shred /dev/sd{a,b}', 'refuse'],
    ['fdisk -l /dev/sda', 'ask'],
    ['echo x > /dev/null', 'ask'],
    ['echo x | tee /dev/stderr', 'ask'],
    ['echo x > /dev/tcp/a/1', 'ask'],
    ['cat /dev/urandom > /dev/ttyUSB0', 'ask'],
    // nobody can say
    ['rm -rf "$X/y"', 'ask-always'],
    ['rm -rf $(cat list)', 'ask-always'],
    ['for f in *.js; do rm "$f"; done', 'ask-always'],
    ['cd "$X" && rm -rf build', 'ask-always'],
    ['cd "$X" && rm -rf /tmp/build', 'ask'],
    ['rm -rf x{1..9}{1..9}{1..9}', 'ask-always'],
    ['rm -rf ~-', 'ask-always'],
    ['ls | xargs -n1 rm', 'ask-always'],
    ['echo rm -rf "$X" | sh', 'ask-always'],
    ['python3 - <<E\nimport shutil; shutil.rmtree("x")\nE', 'ask-always'],
    [`node -e "require('fs').rmSync('x')"`, 'ask-always'],
    [`awk 'BEGIN { system("rm x") }'`, 'ask-always'],
    ['node scripts/unlink.js', 'ask'],
    ['perl -ne "print"', 'ask'],
    ['init 0', 'ask-always'],
    [':(){ :|:& };:', 'ask-always'],
    ['build() { make; }; build', 'ask'],
    // wherever it stands
    ["ssh host 'rm -rf ~'", 'refuse'],
    ['eval rm -rf "/"', 'refuse'],
    ['sudo env X=1 rm -rf /', 'refuse'],
    ["it's nothing; rm -rf /", 'refuse'],
    ['cat <<E\nit\'s\nE\nrm -rf /\necho "it\'s"', 'refuse'],
    ['true $(true "$(rm -rf ~)")', 'refuse'],
    ['echo ${X:-$(rm -rf ~)}', 'refuse'],
    ['bash -c "bash -c \\"rm -rf /\\""', 'refuse'],
    ['r\\m -r\\f /', 'refuse'],
    ['/bin/rm -rf /', 'refuse'],
    ['diff <(rm -rf ~) a', 'refuse'],
    ['rm -rf {~,x}', 'refuse'],
    ['rm -rf ~{,/x}', 'refuse'],
    ['rm${IFS}-rf${IFS}/', 'refuse'],
    ['x=rm; $x -rf /', 'refuse'],
    ['r${x}m -rf ~', 'refuse'],
    ['$(echo rm) -rf build', 'ask'],
    ['$CC -r build', 'ask'],
    ['if true; then rm -rf /; fi', 'refuse'],
    ['f() { rm -rf "$1"; }; f /', 'ask-always'],
    ['exec 3<>/dev/sda; echo x >&3', 'refuse'],
    ['cd /dev && cp x sda', 'refuse'],
    ['fd . / -x rm -rf', 'ask-always'],
    ['rm -rf /proc/self/cwd/*', 'ask-always'],
    ['cd; rm -rf *', 'refuse'],
    ['rm -rf "$XDG_CONFIG_HOME"', 'ask-always'],
    ['rm -rf /h*me', 'refuse'],
  ];
  for (const [command, expect, cwd] of more)
    it(`${command.replaceAll('\n', '⏎')}${cwd ? ` in ${cwd}` : ''}: ${expect}`, async () =>
      assert.equal(
        await effectOf(command.replace(/(?<!\$)\{HOME\}/g, home).replaceAll('{WS}', workspace.root), cwd),
        expect,
      ));

  const windows: [command: string, expect: string | undefined][] = [
    ['Remove-Item -Recurse -Force C:\\', 'refuse'],
    ['Remove-Item -Recurse -Force $env:USERPROFILE', 'refuse'],
    ['rd /s /q C:\\Users\\', 'refuse'],
    ['Remove-Item -Recurse -Force ~\\*', 'refuse'],
    ['Format-Volume D', 'refuse'],
    ['format d:', 'refuse'],
    ['Remove-Item -Recurse .\\build', undefined],
  ];
  for (const [command, expect] of windows)
    it(`${command} on Windows: ${expect}`, async () => {
      const roots = [{ path: 'C:\\Users\\name\\code\\ws' }];
      const surroundings = { roots, folder: roots[0]!.path, home: 'C:\\Users\\name', platform: 'win32' };
      assert.equal((await findIrreversibleDestruction(command, surroundings))?.effect, expect);
    });

  const long: [command: string, expect: string][] = [
    [`rm -rf ${'{a,b}'.repeat(30)}`, 'ask-always'],
    [`rm -rf ${'/*'.repeat(2000)}`, 'ask-always'],
    [`rm -rf ${'x* '.repeat(2000)}`, 'ask-always'],
    ['rm '.repeat(2000), 'ask-always'],
    [`${'cd x; '.repeat(1000)}rm -rf y`, 'ask-always'],
    [`${'eval '.repeat(1600)}rm x`, 'ask'],
    ['"$('.repeat(2000), 'ask'],
    [`${'$('.repeat(2000)}${')'.repeat(2000)}`, 'ask'],
  ];
  for (const [command, expect] of long)
    it(`${command.slice(0, 20)}… of ${command.length} letters: ${expect}`, async () =>
      assert.equal(await effectOf(command), expect));
});
