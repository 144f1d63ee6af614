// Argument lists drawn from the own options of every program of the table of grants that is on this machine: those that a grant
// covers run in a sandbox, under strace, and may neither write outside, nor connect, nor start what is not theirs.
// GRANT_LISTS: how many of each row (1,000). GRANT_SECONDS: how long those of one row may run (20). GRANT_ROWS: a pattern.
// GRANT_MODULES: a node_modules folder with programs that the project itself does not have. GRANT_KEPT: a file that results are kept in;
// a row is not run again while it is as it was when nothing was found.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import * as paths from 'node:path';
import { analyzeCommand } from '../../src/tools/commands/analyzeCommand.ts';
import type { GrantRow } from '../../src/tools/commands/grants/grantRow.ts';
import { commandGrantRows } from '../../src/tools/commands/grants/grantTable.ts';
import { resolveLaunchedProgram } from '../../src/tools/commands/grants/launchers.ts';
import type { WorkspaceRoot } from '../../src/tools/core/workspace.ts';
import { projectRoot } from '../support/editor/project.ts';
import { files } from './grantFiles.ts';
import { keepResult, keptResult, type Result, sumOf } from './grantKept.ts';
import { drawLists, optionsIn, random, spread } from './grantLists.ts';
import { isHelper, isOwnPlace, isOwnService, seesThroughLinks } from './grantPrograms.ts';
import { checkSandbox, type Deeds, giveAway, printed, runAll, type Yard } from './grantRuns.ts';
import { line } from './measure.ts';

const wanted = Number(process.env.GRANT_LISTS ?? 1000);
const seconds = Number(process.env.GRANT_SECONDS ?? 20);
const chosen = new RegExp(process.env.GRANT_ROWS ?? '');
const modules = realpathSync(process.env.GRANT_MODULES ?? paths.join(projectRoot, 'node_modules'));

const missing = ['bwrap', 'strace', 'setpriv'].filter((name) => spawnSync(name, ['--version']).error);
if (missing.length > 0 || process.getuid?.() !== 0) {
  console.log(`Not run: it needs root and ${['bwrap', 'strace', 'setpriv'].join(', ')}.`);
  process.exit();
}

const harmful = [
  ...[
    'rm -rf /',
    'rm x',
    'touch /etc/passwd',
    'mv a b',
    'ln -s a b',
    'dd if=/dev/zero of=x',
    'find . -delete',
    'env ls',
  ],
  ...['git -c core.pager=./evil.sh log', 'git log --output=/x', 'git clean -fdx', 'git push', 'git grep -Oevil x'],
  ...['git status > x', 'npm test > /etc/passwd', 'npm test --prefix /x', 'npm publish', 'npx evil', 'npm test; rm x'],
  ...[
    'make SHELL=./evil.sh test',
    'make -f evil.mk test',
    'cargo test --config x',
    'pytest -p evil',
    'mocha -r ./evil.js',
  ],
  ...['sh evil.sh', './evil.sh', 'node evil.js', 'python3 evil.py', 'curl http://127.0.0.1:9', 'npm test && ./evil.sh'],
  ...['$(touch x)', 'git log $(touch x)', 'ls | sh', 'git log | tee x', 'cat x | xargs rm', 'tee /etc/passwd'],
];

const outer = realpathSync(mkdtempSync(paths.join(tmpdir(), 'grants-')));
const at = (name: string) => paths.join(outer, name);
const yard: Yard = { outer, folder: at('ws'), outside: at('outside'), home: at('home') };
const roots: WorkspaceRoot[] = [{ name: 'ws', path: yard.folder }];
process.once('exit', () => rmSync(outer, { recursive: true, force: true }));
lay();
checkSandbox(yard, modules);
await checkJudge();

const found: Result[] = [];
const absent: GrantRow[] = [];
console.log('row                            drawn covered differ    run  writes  connections  programs  reads  late');
for (const row of commandGrantRows) {
  if (!chosen.test(row.command)) continue;
  const before = keptResult(row);
  const start = before ? before.start : await startOf(row);
  if (start === undefined) absent.push(row);
  else {
    const result = before ?? (await hold(row, start));
    if (!before) keepResult(row, result);
    found.push(result);
    tell(result);
  }
}
const named = (those: readonly GrantRow[]) =>
  `${those.length} rows${those.length > 0 ? `: ${those.map(({ command }) => command).join(', ')}` : ''}`;
console.log(`\nNot here, and marked so in the table: ${named(absent.filter(({ unseen }) => unseen))}.`);
console.log(`Not here, though the table takes them for seen: ${named(absent.filter((row) => !row.unseen))}.`);
console.log(
  `Marked as unseen, but here: ${named(commandGrantRows.filter((row) => row.unseen && found.some(({ command }) => command === row.command)))}.`,
);
console.log(
  `Nothing that was drawn is covered: ${
    found
      .filter(({ run }) => run === 0)
      .map(({ command }) => command)
      .join(', ') || 'in no row'
  }.`,
);
const sum = sumOf(found);
console.log(
  `${found.length} rows: ${sum.drawn} lists drawn, ${sum.covered} covered, ${sum.different} of them different, ${sum.run} run: ${sum.writes} wrote outside, ${sum.connections} connected, ${sum.programs} started what is not listed, ${sum.reads} read outside, ${sum.changed} changed a source.`,
);
const harm = sum.writes + sum.connections + sum.programs + sum.reads + sum.changed;
line('did more than the table says', { lists: `${harm}`, run: `${sum.run}` }, harm, 0);

/** The project, the home, and what lies outside. */
function lay(): void {
  for (const folder of ['ws', 'home', 'tmp', 'outside']) rmSync(at(folder), { recursive: true, force: true });
  for (const folder of ['ws', 'home', 'tmp', 'outside']) mkdirSync(at(folder), { recursive: true });
  for (const [name, text] of Object.entries(files(yard.outside))) {
    const file = paths.resolve(yard.folder, name);
    mkdirSync(paths.dirname(file), { recursive: true });
    writeFileSync(file, text);
    if (text.startsWith('#!')) chmodSync(file, 0o755);
  }
  // The judge looks for the programs of the project; the sandbox shows the real ones in their place.
  mkdirSync(at('ws/node_modules/.bin'), { recursive: true });
  for (const name of readdirSync(paths.join(modules, '.bin'))) writeFileSync(at(`ws/node_modules/.bin/${name}`), '');
  symlinkSync('../outside', at('ws/link'));
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', yard.folder, '-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      stdio: 'ignore',
      env: { PATH: process.env.PATH, HOME: yard.home },
    });
  git('init', '-b', 'main');
  git('add', '.');
  git('commit', '-m', 'one');
  writeFileSync(at('ws/src/a.ts'), 'export const a = 2;\n');
  git('commit', '-am', 'two');
  git('tag', 'v1');
  writeFileSync(at('ws/src/a.ts'), 'export const a = 3;\n');
  git('stash');
  giveAway(yard);
}

async function isCovered(text: string, row?: GrantRow): Promise<boolean> {
  const { parts } = await analyzeCommand(roots, yard.folder, text).catch(() => ({ parts: undefined }));
  const all = (parts?.length ?? 0) > 0 && parts!.every((part) => part.reads || part.row);
  return all && (!row || parts!.some((part) => part.row?.command === row.command));
}

/** What is covered runs for real: a judge that covers everything must not get that far. */
async function checkJudge(): Promise<void> {
  for (const text of harmful) if (await isCovered(text)) throw new Error(`Nothing is run: the judge covers ${text}`);
}

/** How the row's command is begun here; undefined where its program is not. */
async function startOf(row: GrantRow): Promise<string | undefined> {
  const [program, ...told] = row.command.split(' ') as [string, ...string[]];
  const behind = told.map((word) => ` ${word}`).join('');
  const built = 'build/debug/tests/a_tests';
  const candidates = [
    ...(/^(npm|pnpm|yarn)$/.test(program) ? [] : [`node_modules/.bin/${program}${behind}`]),
    row.command,
    ...[`python3 -m ${row.command}`, `python3 ${row.command}`],
    ...(row.home === 'build' ? [built] : []),
  ];
  for (const candidate of candidates) {
    const found = await resolveLaunchedProgram(candidate.split(' '), yard.folder, roots).catch(() => undefined);
    if (found?.words.join(' ') !== row.command) continue;
    const [name] = candidate.split(' ');
    const asks = name === 'python3' ? `timeout 5 ${candidate} --help` : `command -v ${name}`;
    if (printed(yard, modules, `${asks} > /dev/null 2>&1 && echo is there`).trim() === 'is there') return candidate;
  }
  return undefined;
}

async function hold(row: GrantRow, start: string): Promise<Result> {
  const helps = [
    `${start} --help`,
    `${start} -h`,
    start.startsWith('git ') ? `man git-${start.split(' ')[1]} | col -b` : ':',
  ];
  const own = optionsIn(helps.map((text) => printed(yard, modules, text)).join('\n'));
  const seed = [...row.command].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7);
  const lists = drawLists(row, start, own, wanted, random(seed)).map((text) =>
    text.replaceAll('/OUTSIDE', yard.outside),
  );
  const covered: string[] = [];
  for (const text of lists) if (await isCovered(text, row)) covered.push(text);
  const toRun = spread(covered);
  lay();
  const ran = runAll(yard, modules, toRun, { seconds, each: 10 });
  const counts = { writes: 0, connections: 0, programs: 0, reads: 0, changed: 0 };
  const shown = new Map<string, string>();
  for (const [index, deeds] of ran.entries()) {
    for (const [what, which] of faults(row, start, deeds)) {
      counts[what] += 1;
      const key = `${what} ${which.join(' ').replace(/[\w.-]*\d{3,}[\w.-]*/g, '*')}`;
      if (!shown.has(key))
        shown.set(key, `${what.padEnd(12)} ${toRun[index]}\n      → ${which.slice(0, 4).join(', ')}`);
    }
  }
  return {
    ...{ command: row.command, start, drawn: lists.length, covered: covered.length, different: toRun.length },
    ...{ run: ran.length, ...counts, late: ran.filter(({ timedOut }) => timedOut).length },
    examples: [...shown.values()].slice(0, 6),
  };
}

function tell({
  start,
  drawn,
  covered,
  different,
  run,
  writes,
  connections,
  programs,
  reads,
  late,
  examples,
}: Result): void {
  const numbers = [drawn, covered, different, run, writes, connections, programs, reads, late];
  const widths = [6, 8, 7, 7, 8, 13, 10, 7, 6];
  console.log(start.padEnd(30) + numbers.map((number, column) => String(number).padStart(widths[column]!)).join(''));
  for (const text of examples) console.log(`    ${text}`);
}

function faults(
  row: GrantRow,
  start: string,
  deeds: Deeds,
): ['writes' | 'connections' | 'programs' | 'reads' | 'changed', string[]][] {
  const programs = deeds.programs.filter((path) => !isHelper(start, path, yard.folder));
  const connections = row.kind === 'asks' ? [] : deeds.connections.filter((one) => !isOwnService(start, one));
  const sources = Object.keys(files(yard.outside));
  const changed = deeds.inside.filter(
    (path) => sources.includes(path) || /^(PWNED|canary|\.git\/(hooks|config))/.test(path),
  );
  const writes = deeds.writes.filter((path) => !isOwnPlace(start, path));
  const seen = seesThroughLinks(start);
  const reads = deeds.reads.filter(
    (path) =>
      seen !== 'files' &&
      (path !== yard.outside || seen !== 'folders') &&
      (path !== paths.join(yard.folder, '.env') || !row.why?.includes('its `.env`')),
  );
  const all = { writes, connections, programs, reads, changed };
  return (Object.entries(all) as [keyof typeof all, string[]][]).filter(([, which]) => which.length > 0);
}
