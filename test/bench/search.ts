// npm run bench -- search [--files=100000 --rounds=9]: fs.search and fs.find beside ripgrep itself, on a tree made for it. Both in
// turns, each from its call to its answer: what counts is how many times as long the tool takes.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { generator } from '../support/random.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../support/workspace.ts';
import { conversation } from '../tools/conversation.ts';
import { inMs, line, median } from './measure.ts';

const budget = 1.2;
const option = (name: string, usual: number) =>
  Number(process.argv.find((word) => word.startsWith(`--${name}=`))?.split('=')[1] ?? usual);
const [files, rounds] = [option('files', 100_000), option('rounds', 9)];

/** What is asked, and the options of ripgrep that ask it the same. */
const cases: [what: string, tool: 'fs.search' | 'fs.find', args: object, options: string[]][] = [
  ['a rare word', 'fs.search', { pattern: 'needleInHay' }, ['needleInHay']],
  ['a word that is nowhere', 'fs.search', { pattern: 'nowhereAtAll' }, ['nowhereAtAll']],
  ['an expression, in some files', 'fs.search', { pattern: 'some\\w+ = \\d' }, ['some\\w+ = \\d']],
  ['rare, *.md', 'fs.search', { pattern: 'needleInHay', glob: '*.md' }, ['-g', '*.md', 'needleInHay']],
  ['rare, **/*.{css,json}', 'fs.search', { pattern: 'needleInHay', glob: '**/*.{css,json}' }, ['-g', '**/*.{css,json}', 'needleInHay']],
  ['rare, packages/p03/**', 'fs.search', { pattern: 'needleInHay', glob: 'packages/p03/**' }, ['-g', 'packages/p03/**', 'needleInHay']],
  ['rare, packages/*/docs/**/*.md', 'fs.search', { pattern: 'needleInHay', glob: 'packages/*/docs/**/*.md' }, ['-g', 'packages/*/docs/**/*.md', 'needleInHay']],
  ['rare, **/m07/*.ts', 'fs.search', { pattern: 'needleInHay', glob: '**/m07/*.ts' }, ['-g', '**/m07/*.ts', 'needleInHay']],
  ['in every file', 'fs.search', { pattern: 'return' }, ['return']],
  ['in every file, with context', 'fs.search', { pattern: 'return', context: 3 }, ['-C3', 'return']],
  ['in every file of the last package', 'fs.search', { pattern: 'lateWord' }, ['lateWord']],
  ['find a name', 'fs.find', { pattern: 'file00042.ts' }, ['--files', '-g', 'file00042.ts']],
  ['find **/m07/*.css', 'fs.find', { pattern: '**/m07/*.css' }, ['--files', '-g', '**/m07/*.css']],
  ['find packages/p03/src/**/*.json', 'fs.find', { pattern: 'packages/p03/src/**/*.json' }, ['--files', '-g', 'packages/p03/src/**/*.json']],
  ['find **/*.ts', 'fs.find', { pattern: '**/*.ts' }, ['--files', '-g', '**/*.ts']],
  ['find what is nowhere', 'fs.find', { pattern: 'src/nowhere.ts' }, ['--files', '-g', 'src/nowhere.ts']],
]; // biome-ignore format: a table

const workspace = await temporaryWorkspace({ '.gitignore': 'dist/\nnode_modules/\n*.log\n' });
try {
  console.log(`      ${await grow(workspace)} files, ${rounds} rounds`);
  for (const [what, tool, args, options] of cases) {
    const { call } = conversation(workspace);
    const [own, peer]: number[][] = [[], []];
    const answers = new Set<string>();
    for (let round = -1; round < rounds; round++) {
      const peerMs = await timed(() => ripgrep(workspace.root, options));
      const ownMs = await timed(async () => answers.add(JSON.stringify(await call(tool, args))));
      if (round < 0) continue; // what is read for the first time
      peer!.push(peerMs);
      own!.push(ownMs);
    }
    const ratio = median(own!.map((ms, round) => ms / peer![round]!));
    const numbers = { 'fs.*': inMs(median(own!)), ripgrep: inMs(median(peer!)), ratio: ratio.toFixed(2) };
    line(what, numbers, ratio, budget);
    if (answers.size > 1) {
      console.log(`OVER  ${what}: ${answers.size} different answers`);
      process.exitCode = 1;
    }
  }
} finally {
  workspace.cleanup();
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Through a pipe, as one who wants all that it says. */
function ripgrep(cwd: string, options: string[]): Promise<void> {
  const same = ['--no-config', '--hidden', '--no-require-git', '--no-messages', '--glob=!.git'];
  const child = spawn(rgPath, [...same, ...options, './'], { cwd, stdio: ['ignore', 'pipe', 'ignore'] });
  child.stdout.resume();
  return new Promise((resolve, reject) => child.once('error', reject).once('close', () => resolve()));
}

/** Packages of folders of small files, and a tenth more that are ignored. Gives how many are not. */
async function grow({ root }: TemporaryWorkspace): Promise<number> {
  const random = generator(15);
  const words = Array.from({ length: 400 }, () => Math.floor(random() * 36 ** 5).toString(36));
  const word = () => words[Math.floor(random() * words.length)]!;
  const kinds = [
    ['src', 30, ['.ts', '.ts', '.ts', '.css', '.json']],
    ['test', 10, ['.test.ts']],
    ['docs', 10, ['.md', '.txt']],
    ['dist', 5, ['.js']],
  ] as const;
  const perFolder = Math.max(1, Math.round(files / 20 / 50));
  let made = 0;
  for (let at = 0; at < 20; at++) {
    for (const [kind, folders, endings] of kinds) {
      for (let folder = 0; folder < folders; folder++) {
        const place = path.join(root, 'packages', `p${two(at)}`, kind, `m${two(folder)}`);
        mkdirSync(place, { recursive: true });
        for (let file = 0; file < perFolder; file++) {
          const lines = Array.from(
            { length: 12 + Math.floor(random() * 25) },
            () => `  const ${word()} = ${word()}(${word()}, ${word()});`,
          );
          lines.push(`  return ${word()};`);
          if (made % 20_011 === 7) lines.push('  needleInHay();');
          if (made % 700 === 7) lines.push(`  const some${word()} = 7;`);
          if (at === 19) lines.push('  lateWord();', '  lateWord(again);');
          const name = `file${String(made).padStart(5, '0')}${endings[file % endings.length]}`;
          writeFileSync(path.join(place, name), `${lines.join('\n')}\n`);
          if (kind !== 'dist') made++;
        }
      }
    }
  }
  return made;
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}
