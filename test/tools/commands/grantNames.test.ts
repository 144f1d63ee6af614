import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import * as paths from 'node:path';
import { analyzeCommand } from '../../../src/tools/commands/analyzeCommand.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';

/** Covered: every part only reads, or is in a row of the table. Nothing is run. */
type Case = [command: string, expect: 'covered' | 'asked'];

let workspace: TemporaryWorkspace;
before(async () => {
  workspace = await temporaryWorkspace({
    'a.txt': '',
    '.env': 'KEY=CANARY\n',
    'src/a.ts': '',
    'src/b.ts': '',
    'src/.env': 'KEY=CANARY\n',
    'logs/x.log': '',
    'evil/--output=x': '',
    'evil/ok.txt': '',
    'traps/--fix': '',
    'blank/a b.txt': '',
    'p/--config=evil.js.ts': '',
    'p/a.ts': '',
    'sec/id_rsa': 'CANARY',
    'sec/a.txt': '',
    'one/only.txt': '',
    'package.json': '{}',
    'node_modules/.bin/eslint': '',
    '../outside/s.txt': '',
  });
  symlinkSync('../outside', paths.join(workspace.root, 'link'));
});
after(() => workspace.cleanup());

async function check(command: string, expect: string): Promise<void> {
  const { parts } = await analyzeCommand(workspace.roots, workspace.root, command);
  const isCovered = parts !== undefined && parts.length > 0 && parts.every(({ reads, row }) => reads || row);
  assert.equal(isCovered ? 'covered' : 'asked', expect, JSON.stringify(parts));
}

const cases: Case[] = [
  ['ls src/*.ts | xargs cat', 'covered'],
  ['ls src | xargs -I{} cat src/{}', 'covered'],
  ['ls -t logs | head -1 | xargs -I{} tail -5 logs/{}', 'covered'],
  ['cat "logs/$(ls -t logs | head -1)"', 'covered'],
  ['cat $(ls src/*.ts)', 'covered'],
  ['ls -a src | xargs -I{} cat src/{}', 'asked'],
  ['ls sec | xargs -I{} cat sec/{}', 'asked'],
  ['ls evil | xargs cat', 'asked'],
  ['ls evil | xargs git log', 'asked'],
  ['ls blank | xargs cat', 'asked'],
  ["find . -name '*.ts' | xargs cat", 'covered'],
  ['find src -type f | xargs cat', 'asked'],
  ["find src -name '*.ts' -exec grep -l x {} +", 'covered'],
  ["find src -name '*.ts' -exec rm {} +", 'asked'],
  ["find src -name '*.ts' -exec sh -c 'rm $1' _ {} \\;", 'asked'],
  ["find src -name '*.ts' -exec cat {} \\; -delete", 'asked'],
  ["find src -name '*.ts' -delete -exec cat {} \\;", 'asked'],
  ["find src -name '*.ts' -ok cat {} \\;", 'asked'],
  ["find src -name '*.ts' -exec npx eslint {} +", 'covered'],
  ["find p -name '*.ts' -exec npx eslint {} +", 'covered'],
  ["find . -name '*.ts' -exec {} +", 'asked'],
  ["find src -name '*.ts' -o -name '.env' | xargs cat", 'asked'],
  ['find src -path -name x -type f | xargs cat', 'asked'],
  ['ls src/*.ts | xargs rm', 'asked'],
  ["ls src/*.ts | xargs sh -c 'id'", 'asked'],
  ['ls src/*.ts | xargs -a .env cat', 'asked'],
  ['ls src/*.ts | xargs npx eslint', 'covered'],
  ['ls src/*.ts | xargs npx eslint -c', 'asked'],
  ['ls src/*.ts | xargs npx eslint --format', 'asked'],
  ['ls src/*.ts | xargs -n1 npx eslint --format', 'asked'],
  ['echo --fix src | xargs npx eslint', 'asked'],
  ['echo .env | xargs cat', 'asked'],
  ['echo src/a.ts | xargs cat', 'covered'],
  ["printf '%s\\n' .env | xargs cat", 'asked'],
  ['cat a.txt | xargs cat', 'asked'],
  ['grep -l x src/a.ts .env | xargs cat', 'asked'],
  ['grep -rl x . | xargs cat', 'asked'],
  ['ls link | xargs cat', 'asked'],
  ['ls .. | xargs cat', 'asked'],
  ['ls src | while read -r f; do cat "src/$f"; done', 'covered'],
  ['ls src | while read f; do cat "src/$f"; done', 'asked'],
  ['ls sec | while read -r f; do cat "sec/$f"; done', 'asked'],
  ['ls src | while read -r f; do rm "src/$f"; done', 'asked'],
  ['ls src | while read -r f; do f=../.env; cat "src/$f"; done', 'asked'],
  ['ls src | while read -r PATH; do cat x; done', 'asked'],
  ['for f in $(ls src/*.ts); do head -1 "$f"; done', 'covered'],
  ['for f in $(ls -a); do cat "$f"; done', 'asked'],
  ['f=$(ls logs | head -1); cat "logs/$f"', 'covered'],
  ['f=$(ls sec | head -1); cat "sec/$f"', 'asked'],
  ['f=$(ls logs); cat $f', 'covered'],
  ['f=$(ls logs); cat "logs/$f"', 'asked'],
  ['x=$(ls src/*.ts); npx eslint $x', 'covered'],
  ['x=$(ls src/*.ts); npx eslint "$x"', 'asked'],
  ['npx eslint $(ls src/*.ts)', 'covered'],
  ['npx eslint --format $(ls src/*.ts)', 'asked'],
  ['npx eslint $(echo --fix)', 'asked'],
  ['npx eslint $(echo -c evil.js)', 'asked'],
  ['npx eslint $(cat a.txt)', 'asked'],
  ['npx eslint $(basename x/--fix)', 'asked'],
  ['cat $(dirname ../outside/x)/s.txt', 'asked'],
  ['cat $(basename .env)', 'asked'],
  ['cat $(basename "a b")', 'asked'],
  ['cat "$(pwd)/.env"', 'asked'],
  ['cat "$(pwd)/a.txt"', 'covered'],
  ['cat $(git rev-parse .env)', 'asked'],
  ['echo "$(ls | wc -l)"', 'covered'],
  ['head -n $(wc -l a.txt) .env', 'asked'],
  ['head -n $(ls | wc -l) a.txt', 'asked'],
  ['ls src/*.ts | tee x | xargs cat', 'asked'],
  ['ls src/*.ts 2>&1 | xargs cat', 'asked'],
  ["ls src/*.ts | sed 's/a/b/' | xargs cat", 'asked'],
  ['ls -l src | xargs cat', 'asked'],
  ['ls -R . | xargs cat', 'asked'],
  ['seq 3 | xargs -I{} echo {}', 'asked'],
  ['ls src/*.ts | xargs -I{} sh {}', 'asked'],
  ['ls src/*.ts | xargs -I{} {}', 'asked'],
  ['ls src/*.ts | xargs env', 'asked'],
  ['ls src/*.ts | xargs -P4 -n1 cat', 'covered'],
  ['ls src/*.ts | xargs xargs cat', 'asked'],
  ['ls src/*.ts | xargs -I{} find {} -delete', 'asked'],
  ['ls src/*.ts | xargs sed -i s/a/b/', 'asked'],
  ['ls src/*.ts | xargs tee', 'asked'],
  ['ls src/*.ts | xargs uniq', 'asked'],
  ['ls src/*.ts | xargs awk', 'asked'],
  ['ls one/* | xargs sed -n 1p', 'covered'],
  ['nice -n 5 npx eslint src', 'covered'],
  ['stdbuf -oL npx eslint src', 'covered'],
  ['nice rm x', 'asked'],
  ['stdbuf -oL sh -c id', 'asked'],
  ['nice -n 5 -n 3 sh', 'asked'],
  ['while read -r f; do cat "$f"; done', 'asked'],
  ['ls src | (while read -r f; do cat "src/$f"; done)', 'asked'],
];
describe('names that one command hands to another', () => {
  for (const [command, expect] of cases) it(`${command}: ${expect}`, () => check(command, expect));
});

const ofGit: Case[] = [
  ['git diff $(git merge-base HEAD main)', 'covered'],
  ['git diff $(git merge-base HEAD main) $(git rev-parse HEAD)', 'asked'],
  ['git diff $(git merge-base --fork-point x)', 'asked'],
  ['cat $(git rev-parse .env)', 'asked'],
  ['git log -n $(git rev-list --count HEAD)', 'covered'],
  ["git ls-files '*.ts' | xargs cat", 'covered'],
  ['git ls-files | xargs cat', 'covered'],
  ['git diff --name-only | xargs cat', 'covered'],
  ['git diff --name-only main | xargs npx eslint', 'asked'],
  ["git diff --name-only --diff-filter=d main -- '*.ts' | xargs npx eslint", 'covered'],
  ['git diff --name-only --diff-filter=D main | xargs cat', 'asked'],
  ['git ls-files -o | xargs cat', 'asked'],
  ['git ls-files traps | xargs npx eslint', 'covered'],
  ['cd traps && git ls-files | xargs npx eslint', 'asked'],
];
describe('names that Git tracks, handed to a command', () => {
  before(() => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', workspace.root, '-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args]);
    git('init', '-q', '-b', 'main');
    git('add', 'src/a.ts', 'src/b.ts', 'a.txt');
    git('commit', '-q', '-m', 'one');
  });
  for (const [command, expect] of ofGit)
    it(`${command}: ${expect}`, async () => {
      if (command.includes('traps')) execFileSync('git', ['-C', workspace.root, 'add', '-f', 'traps']);
      await check(command, expect);
    });
});
