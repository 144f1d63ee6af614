import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SerialQueue } from '../../src/extension/language/fileProblems.ts';
import { JobWorker } from '../../src/extension/worker/jobWorker.ts';
import { fill, hostileFiles, hostileWorkflows } from '../support/hostile.ts';
import { buildParserProgram } from '../support/parserProgram.ts';
import { writeRandomModel } from '../support/randomModel.ts';
import { inMs, line, part, startLateness } from './measure.ts';

// How long a window's extensions wait while Towpath looks through a repository that means harm: the longest time in which the thread
// of the extension host does nothing else, beside that of a process that only sleeps. Then the same for a page and a model's header.

const everyMs = 5;
/** What the machine itself is late by is taken off. */
const budgetMs = 100;
const known = { tools: ['fs.read'], agents: [] };

const folder = mkdtempSync(path.join(tmpdir(), 'bench-'));
const others = await startLateness(everyMs);
const program = await buildParserProgram();
const [files, packages] = [new JobWorker(program), new JobWorker(program, { ms: 20_000 })];
const beside = new JobWorker(program, { ms: 10_000, megabytes: 512 });
try {
  for (const [file, text] of Object.entries(hostileFiles())) {
    const place = path.join(folder, file);
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, text);
  }
  const places = Object.keys(hostileFiles()).filter((file) => !file.includes('packages'));
  await paused('at rest', () => sleep(2000), Number.POSITIVE_INFINITY);
  let problems = 0;
  let slowest: [file: string, ms: number] = ['', 0];
  await paused(`${places.length} workflows and agents`, async () => {
    for (const file of places) {
      const startedAt = performance.now();
      const text = await readFile(path.join(folder, file), 'utf8');
      const kind = file.includes('agents') ? 'agent' : 'workflow';
      const found =
        text.length > 256 * 1024
          ? ['too large']
          : await files.run(kind, text, known).then(
              (loaded) => loaded.problems,
              (error: Error) => [error],
            );
      if (found.length > 0) problems++;
      const ms = performance.now() - startedAt;
      if (ms > slowest[1]) slowest = [file, ms];
    }
  });
  console.log(
    `      ${problems} of ${places.length} have a problem; the slowest, ${slowest[0]}, took ${inMs(slowest[1])}`,
  );
  if (problems < places.length) process.exitCode = 1;
  const held = ['deep', 'large', 'agents', 'graph'].map((name) => path.join(folder, '.towpath/packages', name));
  await paused(`${held.length} packages`, async () => {
    for (const place of held) await packages.run('package', place, path.join(folder, 'storage'));
  });
  const bytes = Buffer.from(fill('<table><tr><td>a<b>b</b><ul><li>x', 2 * 1024 * 1024));
  await paused('a page of 2 MB', () => beside.run('page', { contentType: 'text/html', bytes }).catch(() => undefined));
  const model = path.join(folder, 'model.gguf');
  writeRandomModel(model, { words: Array.from({ length: 120_000 }, (_, at) => `word${at}`) });
  await paused('a header with 120,000 words', () => beside.run('model', model));
  const waiting = new SerialQueue<string>(async () => {});
  await paused('500 files that wait', async () => {
    for (let round = 0; round < 20; round++) for (let at = 0; at < 500; at++) waiting.add(String(at), '', at % 5 === 0);
  });
  if (Object.keys(hostileWorkflows).length < 30) process.exitCode = 1;
} finally {
  others.close();
  await Promise.all([files.dispose(), packages.dispose(), beside.dispose()]);
  rmSync(folder, { recursive: true });
}

/**
 * The longest pause of this process meanwhile. What counts is the most that its thread worked in one go, where the system says that
 * (Linux); else the pause without what the other process was late in its worst hundredth.
 */
async function paused(what: string, work: () => Promise<unknown>, budget = budgetMs): Promise<void> {
  await others.take();
  let [longest, at, most, worked] = [0, performance.now(), 0, workedMs()];
  const timer = setInterval(() => {
    const [now, workedNow] = [performance.now(), workedMs()];
    longest = Math.max(longest, now - at - everyMs);
    most = Math.max(most, (workedNow ?? 0) - (worked ?? 0));
    [at, worked] = [now, workedNow];
  }, everyMs);
  await work();
  await sleep(2 * everyMs);
  clearInterval(timer);
  const machine = part(await others.take(), 0.99);
  const ours = worked === undefined ? Math.max(0, longest - machine) : most;
  line(what, { 'longest pause': inMs(longest), machine: inMs(machine), 'of its own': inMs(ours) }, ours, budget);
}

/** Milliseconds that this thread has worked; undefined where the system does not say. */
function workedMs(): number | undefined {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return undefined;
  }
}
