// Opening a run in the panel with its host: the journal on disk, the conversation that reads and sends it, and the page that draws it.
// Milliseconds until the last screen is drawn, for runs of any length beside one of 100 messages; and until all of the run is there.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ExecutionEngine } from '../../src/engine/run/engine.ts';
import { PanelConversation } from '../../src/extension/runs/conversation.ts';
import type { HostMessage } from '../../src/protocol/panel/panelMessages.ts';
import { RunStore } from '../../src/runs/store.ts';
import { longConversation, writeJournal } from '../support/longRun.ts';
import { endBrowser, openBrowser, type TestPage } from '../webview/browser.ts';
import { readyState } from '../webview/conversation.ts';
import { inMs, line, median } from './measure.ts';

const base = 100;
const lengths = [1000, 3000, 10_000];
const rounds = 7;
const budget = 2;

const folder = mkdtempSync(path.join(tmpdir(), 'towpath-open-'));
const store = new RunStore(folder);
const idOf = (length: number) => `run-${length}`;
for (const length of [base, ...lengths])
  writeJournal(path.join(folder, 'runs'), idOf(length), longConversation(length));
await store.list(); // their summaries, as a run that rests has one
const browser = await openBrowser();
try {
  const test = await browser.open('webview/main.ts');
  await test.send({ type: 'state', state: readyState });
  for (const length of [base, ...lengths]) await opened(test, length);
  console.log(`times what a run of ${base} messages takes, medians of ${rounds} rounds`);
  for (const length of lengths) {
    const [short, long]: [Opened[], Opened[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      short.push(await opened(test, base));
      long.push(await opened(test, length));
    }
    const firsts = [short, long].map((all) => median(all.map(({ first }) => first)));
    const times = firsts[1]! / firsts[0]!;
    const whole = inMs(median(long.map((one) => one.whole)));
    const numbers = { [`${base}`]: inMs(firsts[0]!), last: inMs(firsts[1]!), all: whole, times: times.toFixed(2) };
    line(`${length.toLocaleString('en-US')} messages: last screen`, numbers, times, budget);
  }
} finally {
  await browser.close();
  await endBrowser();
  rmSync(folder, { recursive: true });
}

/** Milliseconds from the choice of a run until its last screen, and all of it, are drawn. */
interface Opened {
  first: number;
  whole: number;
}

async function opened(test: TestPage, length: number): Promise<Opened> {
  const engine: Pick<ExecutionEngine, 'live' | 'liveIds'> = { live: () => undefined, liveIds: [] };
  let drawn: Promise<void> = Promise.resolve();
  let first: number | undefined;
  const view = {
    post(message: HostMessage) {
      drawn = drawn.then(() => test.send(message));
      if (message.type !== 'run' || !message.run) return;
      drawn = drawn.then(() => {
        first ??= performance.now();
      });
    },
    event() {},
  };
  const shown = new PanelConversation(
    engine as ExecutionEngine,
    store,
    view,
    { endRun: async () => {} },
    path.join(folder, 'window'),
    () => {},
  );
  const began = performance.now();
  await shown.open(idOf(length));
  await drawn;
  return { first: first! - began, whole: performance.now() - began };
}
