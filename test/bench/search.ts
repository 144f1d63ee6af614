// npm run bench -- search [--files=100000 --rounds=9 --only=words]: fs.search and fs.find beside ripgrep itself, on a tree made for it. Both in
// turns, each from its call to its answer: what counts is how many times as long the tool takes, and of what ends at once nobody
// notices a few milliseconds more. ripgrep is asked for the same: no files
// over 5 MB, and none that is ignored. Its own `--glob` would give those that match all the same, so it need not look for them in
// the ignore files; where that spares it much, it is told a kind of names as a type, a folder as a path, the rest by an ignore file.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { generator } from '../support/random.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../support/workspace.ts';
import { conversation } from '../tools/conversation.ts';
import { inMs, line, median } from './measure.ts';

const budget = 1.2;
const unnoticed = 15; // milliseconds: looking where a path leads, and an ignore file for the glob
const option = (name: string, usual: number) =>
  Number(process.argv.find((word) => word.startsWith(`--${name}=`))?.split('=')[1] ?? usual);
const named = process.argv.find((word) => word.startsWith('--only='))?.slice('--only='.length) ?? '';
const [files, rounds] = [option('files', 100_000), option('rounds', 9)];

const rare = { pattern: 'needleInHay' };
const only = (glob: string) => [`--type-add=only:${glob}`, '--type=only'];
const docs = Array.from({ length: 20 }, (_, at) => `packages/p${two(at)}/docs`);

/** What is asked, and the options of ripgrep that ask it the same: `ignored` are the lines of its ignore file, `places` not everywhere. */
const cases: [what: string, tool: 'fs.search' | 'fs.find', args: object, peer: { options: string[]; ignored?: string; places?: string[] }][] = [
  ['a rare word', 'fs.search', rare, { options: ['needleInHay'] }],
  ['a word that is nowhere', 'fs.search', { pattern: 'nowhereAtAll' }, { options: ['nowhereAtAll'] }],
  ['an expression, in some files', 'fs.search', { pattern: 'some\\w+ = \\d' }, { options: ['some\\w+ = \\d'] }],
  ['rare, *.md', 'fs.search', { ...rare, glob: '*.md' }, { options: [...only('*.md'), 'needleInHay'] }],
  ['rare, **/*.{css,json}', 'fs.search', { ...rare, glob: '**/*.{css,json}' }, { options: [...only('*.css'), ...only('*.json'), 'needleInHay'] }],
  ['rare, packages/p03/**', 'fs.search', { ...rare, glob: 'packages/p03/**' }, { options: ['needleInHay'], places: ['packages/p03'] }],
  ['rare, packages/*/docs/**/*.md', 'fs.search', { ...rare, glob: 'packages/*/docs/**/*.md' }, { options: [...only('*.md'), 'needleInHay'], places: docs }],
  ['rare, **/m07/*.ts', 'fs.search', { ...rare, glob: '**/m07/*.ts' }, { options: ['needleInHay'], ignored: '*\n!*/\n!**/m07/*.ts' }],
  ['in every file', 'fs.search', { pattern: 'return' }, { options: ['return'] }],
  ['in every file, with context', 'fs.search', { pattern: 'return', context: 3 }, { options: ['-C3', 'return'] }],
  ['in every file of the last package', 'fs.search', { pattern: 'lateWord' }, { options: ['lateWord'] }],
  ['find a name', 'fs.find', { pattern: 'file00042.ts' }, { options: ['--files', ...only('file00042.ts')] }],
  ['find **/m07/*.css', 'fs.find', { pattern: '**/m07/*.css' }, { options: ['--files'], ignored: '*\n!*/\n!**/m07/*.css' }],
  ['find packages/p03/src/**/*.json', 'fs.find', { pattern: 'packages/p03/src/**/*.json' }, { options: ['--files', ...only('*.json')], places: ['packages/p03/src'] }],
  ['find **/*.ts', 'fs.find', { pattern: '**/*.ts' }, { options: ['--files', ...only('*.ts')] }],
  ['find **/p1?/**/*.ts', 'fs.find', { pattern: '**/p1?/**/*.ts' }, { options: ['--files'], ignored: '*\n!*/\n!**/p1?/**/*.ts' }],
  ['find what is nowhere', 'fs.find', { pattern: 'src/nowhere.ts' }, { options: ['--files', '--glob=/src/nowhere.ts'] }],
  ['find a name that is nowhere', 'fs.find', { pattern: 'nowhere.ts' }, { options: ['--files', ...only('nowhere.ts')] }],
]; // biome-ignore format: a table

const workspace = await temporaryWorkspace({ '.gitignore': 'dist/\nnode_modules/\n*.log\n' });
try {
  const ignoreFile = path.join(workspace.root, '..', 'only');
  console.log(`      ${await grow(workspace)} files, ${rounds} rounds`);
  for (const [what, tool, args, peer] of cases) {
    if (!what.includes(named)) continue;
    writeFileSync(ignoreFile, peer.ignored ?? '');
    const small = tool === 'fs.search' ? ['--max-filesize=5M'] : [];
    const options = [...small, ...(peer.ignored === undefined ? [] : [`--ignore-file=${ignoreFile}`]), ...peer.options];
    const { call } = conversation(workspace);
    const [own, beside]: number[][] = [[], []];
    const answers = new Set<string>();
    for (let round = -1; round < rounds; round++) {
      const peerMs = await timed(() => ripgrep(workspace.root, [...options, ...(peer.places ?? ['./'])]));
      const ownMs = await timed(async () => answers.add(JSON.stringify(await call(tool, args))));
      if (round < 0) continue; // what is read for the first time
      beside!.push(peerMs);
      own!.push(ownMs);
    }
    const ratio = median(own!.map((ms, round) => ms / beside![round]!));
    const numbers = { 'fs.*': inMs(median(own!)), ripgrep: inMs(median(beside!)), ratio: ratio.toFixed(2) };
    line(what, numbers, median(own!) - median(beside!) < unnoticed ? 0 : ratio, budget);
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
  const child = spawn(rgPath, [...same, ...options], { cwd, stdio: ['ignore', 'pipe', 'ignore'] });
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
