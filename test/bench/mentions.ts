import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { WorkspaceFileNames } from '../../src/tools/mention/fileNames.ts';
import { bestMatches } from '../../src/tools/mention/match.ts';
import { temporaryWorkspace } from '../support/workspace.ts';
import { inMs, line } from './measure.ts';

// What `@` costs the extension host in a folder of 100,000 files: how long the thread that all extensions share does nothing else, while
// they are listed, and at each key that is typed of a name; and what a list of 50 takes in all.

const files = 100_000;
/** Milliseconds that nobody else has a turn: a frame. */
const budget = 16;
const keys = ['r', 'ro', 'route', 'p03/mod', 'nothing-like-it'];

const workspace = await temporaryWorkspace();
try {
  for (let at = 0; at < files; at++) {
    const name = `packages/p${at % 40}/src/module${at % 500}/router-${at}.ts`;
    const place = path.join(workspace.root, name);
    if (at < 20_000) mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, '');
  }
  const names = new WorkspaceFileNames(workspace);
  await paused('listing them', async () => names.fresh(new AbortController().signal), Infinity);
  console.log(`${names.names.length} files and folders`);
  for (const key of keys) await paused(`“${key}”`, () => bestMatches(names.names, key, 50), budget);
} finally {
  workspace.cleanup();
}

async function paused(what: string, deed: () => Promise<unknown>, most: number): Promise<void> {
  const rounds = most === Infinity ? 1 : 5;
  let best = Infinity;
  let took = 0;
  for (let round = 0; round < rounds; round++) {
    const monitor = monitorEventLoopDelay({ resolution: 1 });
    const startedAt = performance.now();
    monitor.enable();
    await deed();
    await new Promise((resolve) => setTimeout(resolve, 5)); // else a pause at its end is not seen
    monitor.disable();
    took = performance.now() - startedAt - 5;
    best = Math.min(best, Math.max(0, monitor.max / 1e6 - 1)); // what others at work on the machine add, they never take away
  }
  line(what, { 'longest pause': inMs(best), in: inMs(took) }, best, most);
}
