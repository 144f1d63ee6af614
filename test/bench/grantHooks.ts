// Examples of every row that only looks or asks, run in a folder with everything that programs are known to load from one: nothing of
// it may run. The rows are harmless, so no sandbox is needed; a proxy that is nowhere keeps them from the network.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import * as paths from 'node:path';
import { analyzeCommand } from '../../src/tools/commands/analyzeCommand.ts';
import { commandGrantRows } from '../../src/tools/commands/grants/grantTable.ts';
import { examplesOf } from '../support/grantExamples.ts';
import { hooks } from './grantFiles.ts';
import { line } from './measure.ts';

const outer = realpathSync(mkdtempSync(paths.join(tmpdir(), 'hooks-')));
process.once('exit', () => rmSync(outer, { recursive: true, force: true }));
const [folder, outside, home] = ['ws', 'outside', 'home'].map((name) => paths.join(outer, name)) as [
  string,
  string,
  string,
];
for (const place of [folder, outside, home]) mkdirSync(place);
for (const [name, text] of Object.entries(hooks(outside, folder))) {
  const file = paths.join(folder, name);
  mkdirSync(paths.dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
}
const env = {
  ...{ PATH: process.env.PATH, HOME: home, RUSTUP_HOME: paths.join(homedir(), '.rustup'), GIT_TERMINAL_PROMPT: '0' },
  ...{ http_proxy: 'http://127.0.0.1:9', https_proxy: 'http://127.0.0.1:9', LANG: 'C.UTF-8' },
};
const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
for (const args of [
  ['init', '-q'],
  ['add', '-A', 'README.md', 'src', '.gitattributes'],
  ['commit', '-qm', 'one'],
])
  execFileSync('git', ['-C', folder, ...identity, ...args], { env, stdio: 'ignore' });

const mark = paths.join(outside, 'PWNED');
/** What of the folder a command ran; undefined for nothing. */
function fired(text: string): string | undefined {
  rmSync(mark, { force: true });
  spawnSync('bash', ['--norc', '-c', text], {
    cwd: folder,
    env,
    timeout: 10_000,
    stdio: 'ignore',
    killSignal: 'SIGKILL',
  });
  return existsSync(mark) ? readFileSync(mark, 'utf8').split('\n')[0] : undefined;
}

const controls = ['python3 -m json.tool package.json', 'npx foo --version', './evil.sh'];
for (const text of controls) if (!fired(text)) throw new Error(`Nothing is run: the canaries do not see ${text}`);

const missing = new Set<string>();
const found: string[] = [];
let ran = 0;
const roots = [{ name: 'ws', path: folder }];
for (const row of commandGrantRows) {
  if (row.kind !== 'looks' && row.kind !== 'asks') continue;
  const [program] = row.command.split(' ') as [string];
  if (spawnSync('bash', ['--norc', '-c', `command -v ${program}`], { env }).status !== 0) missing.add(program);
  else
    for (const text of examplesOf(row).yes) {
      const { parts } = await analyzeCommand(roots, folder, text);
      if (parts?.some((part) => part.row && !['looks', 'asks'].includes(part.row.kind))) continue; // a version manager starts it
      ran += 1;
      const what = fired(text);
      if (what !== undefined) found.push(`${text}\n      → ${what}`);
    }
}
for (const text of found) console.log(`    ${text}`);
console.log(`Not here: ${[...missing].join(', ') || 'none'}.`);
line('ran code of the folder', { commands: `${found.length}`, run: `${ran}` }, found.length, 0);
