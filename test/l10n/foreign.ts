// npx tsx test/l10n/foreign.ts [test files …]: the tests of what works for models and keeps records, in another language. What they hold people's
// words to does not hold there, and is passed over; what counts is that no request to a model and no file has a word of that language.
import { spawnSync } from 'node:child_process';
import fs, { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { binary, node } from '../support/command.ts';
import { projectRoot, testOut } from '../support/editor/project.ts';
import { seenRequests } from '../support/sent.ts';
import { markedIn, speakMarked } from './marked.ts';

const file = path.join(testOut, 'foreign.txt');
const own = fileURLToPath(import.meta.url);

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) run();
else watch();

function run(): void {
  rmSync(file, { force: true });
  mkdirSync(testOut, { recursive: true });
  const folders = ['engine', 'tools', 'runs', 'workflows', 'llm', 'check', 'extension'].map(
    (folder) => `test/${folder}/**/*.test.ts`,
  );
  const which = process.argv.length > 2 ? process.argv.slice(2) : folders;
  const jobs = String(Math.min(4, availableParallelism() + 1));
  const mocha = [binary('mocha'), '--require', own, '--parallel', '--jobs', jobs, '--reporter', 'dot', ...which];
  const { stdout } = spawnSync(process.execPath, node(...mocha), {
    cwd: projectRoot,
    encoding: 'utf8',
    maxBuffer: 1e9,
  });
  const passed = Number(/(\d+) passing/.exec(stdout)?.[1] ?? 0);
  const leaks = existsSync(file) ? [...new Set(readFileSync(file, 'utf8').trimEnd().split('\n'))] : [];
  for (const leak of leaks) console.log(leak);
  console.log(`${leaks.length} sentences in another language went to models or to the disk (${passed} tests passed).`);
  process.exitCode = leaks.length === 0 && passed > 0 ? 0 : 1;
}

function watch(): void {
  speakMarked();
  seenRequests.push((request) => look('a model', JSON.stringify(request)));
  void fs.promises.open(own).then((handle) => {
    for (const name of ['write', 'writeFile', 'appendFile']) patch(Object.getPrototypeOf(handle), name, 0);
    return handle.close();
  });
  patch(fs.promises, 'writeFile', 1);
  patch(fs.promises, 'appendFile', 1);
  patch(fs, 'writeFileSync', 1);
  syncBuiltinESMExports();
}

/** What is given at this place of its arguments is looked at. */
function patch(of: object, name: string, at: number): void {
  const all = of as Record<string, (...args: unknown[]) => unknown>;
  const before = all[name]!;
  all[name] = function (this: unknown, ...args) {
    const content = args[at];
    if (typeof content === 'string' || content instanceof Uint8Array)
      look('the disk', typeof content === 'string' ? content : Buffer.from(content).toString());
    return before.apply(this, args);
  };
}

function look(where: string, text: string): void {
  const found = markedIn(text);
  // Without what is marked by now: that is how it is known.
  if (found !== undefined) appendFileSync(file, `${where}: ${found.replaceAll('‹', '<').replaceAll('\n', '\\n')}\n`);
}
