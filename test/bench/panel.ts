import type { CDPSession } from 'playwright-core';
import type { HostMessage } from '../../src/protocol/panel/panelMessages.ts';
import { longConversation } from '../support/longRun.ts';
import { endBrowser, inHostWords, openBrowser, type TestPage } from '../webview/browser.ts';
import { eventsOf, readyState, runOf } from '../webview/conversation.ts';
import { inMs, line, median } from './measure.ts';

// The panel with runs of any length, beside one of 100 messages in the same page: CPU of the page's main thread for opening it, for
// each delivery (300 chunks a second in 60 of them), each key and each turn of the wheel.

const base = 100;
const lengths = [1000, 3000, 10_000];
const rounds = 5;
const budgets = { delivery: 1.5, key: 1.5, scroll: 1.5, open: 3, elements: 3 };
type Cost = keyof typeof budgets;

/** What the page has beside itself: the run, before it is told, as the way from a test to a page is not what is measured. */
interface Snapshot {
  snapshot: string;
  receive(messages: string[]): Promise<void>;
}

const deliveries = 60;
const keys = 60;
const turns = 12;

const browser = await openBrowser();
try {
  const test = await browser.open('webview/main.ts');
  const devtools = await test.page.context().newCDPSession(test.page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  await test.send({ type: 'state', state: readyState });
  await costs(test, devtools, base, 'warm');
  console.log(`times what a run of ${base} messages costs, CPU of the page's main thread, medians of ${rounds} rounds`);
  for (const length of lengths) {
    const all: Record<'base' | 'long', Record<Cost, number>[]> = { base: [], long: [] };
    for (let round = 0; round < rounds; round++) {
      all.base.push(await costs(test, devtools, base, `base-${length}-${round}`));
      all.long.push(await costs(test, devtools, length, `long-${length}-${round}`));
    }
    for (const [name, budget] of Object.entries(budgets) as [Cost, number][]) {
      const [short, long] = [all.base, all.long].map((costs) => median(costs.map((one) => one[name])));
      const told = (value: number) => (name === 'elements' ? `${value}` : inMs(value));
      const times = long! / short!;
      const numbers = { [`${base}`]: told(short!), [`${length}`]: told(long!), times: times.toFixed(2) };
      line(`${length.toLocaleString('en-US')} messages: ${name}`, numbers, times, budget);
    }
  }
} finally {
  await browser.close();
  await endBrowser();
}

/** Milliseconds of the page's main thread; elements in number. */
async function costs(
  test: TestPage,
  devtools: CDPSession,
  messages: number,
  id: string,
): Promise<Record<Cost, number>> {
  const { page } = test;
  const run = runOf(id, longConversation(messages));
  const chunks = (nth: number): HostMessage => ({
    type: 'events',
    events: Array.from({ length: 5 }, (_, at) => ({
      ...eventsOf(
        id,
        [{ type: 'chunk', content: `word ${nth * 5 + at} of it, ${at === 4 ? '\n\n' : ''}` }],
        run.seq,
      )[0]!,
    })),
  });
  await page.evaluate(
    (snapshot) => {
      Object.assign(globalThis, { snapshot });
    },
    inHostWords({ type: 'run', run }),
  );
  const open = await spent(devtools, async () => {
    await page.evaluate(() => {
      const { receive, snapshot } = globalThis as unknown as Snapshot;
      return receive([snapshot]);
    });
    await test.send();
    await test.send();
  });
  const textarea = page.locator('[data-testid="composer"] textarea');
  await textarea.focus();
  const key = await spent(devtools, async () => {
    for (let at = 0; at < keys; at++) await page.keyboard.insertText('x');
    await test.send();
  });
  await test.send({ type: 'events', events: eventsOf(id, [{ type: 'phase', phase: 'Running' }], run.seq) });
  const delivery = await spent(devtools, async () => {
    for (let at = 0; at < deliveries; at++) await test.send(chunks(at));
  });
  await page.locator('.scroller').hover();
  const scroll = await spent(devtools, async () => {
    for (let at = 0; at < turns; at++) {
      await page.mouse.wheel(0, -300);
      await test.send();
    }
  });
  const elements = await page.locator('*').count();
  await textarea.fill('');
  return { open, key: key / keys, delivery: delivery / deliveries, scroll: scroll / turns, elements };
}

async function spent(devtools: CDPSession, work: () => Promise<void>): Promise<number> {
  const before = await taskTime(devtools);
  await work();
  return (await taskTime(devtools)) - before;
}

async function taskTime(devtools: CDPSession): Promise<number> {
  const { metrics } = await devtools.send('Performance.getMetrics');
  return 1000 * metrics.find(({ name }) => name === 'TaskDuration')!.value;
}
