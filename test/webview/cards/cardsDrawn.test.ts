import assert from 'node:assert/strict';
import { failedToolOutcome, type ToolOutcome } from '../../../src/protocol/content/tools.ts';
import type { TowpathErrorCode } from '../../../src/protocol/text/codes.ts';
import { errorCodeTexts } from '../../../src/protocol/text/codeText.ts';
import type { CardLineInput } from '../../../webview/cards/cardLine.ts';
import { openBrowser, type TestBrowser, type TestPage } from '../browser.ts';
import { outcomes, rows, seenOf } from '../cardRows.ts';

/** Every tool with everything that can become of a call of it. */
const all: [what: string, seen: CardLineInput][] = rows.flatMap(([name, row]) => {
  const of = (what: string, more: Partial<CardLineInput>): [string, CardLineInput] => [
    `${name} · ${what}`,
    seenOf(name, { args: row.args }, more),
  ];
  const done = row.data === undefined ? {} : { outcome: { ok: true, data: row.data } as ToolOutcome };
  return [
    of('at work', { state: { status: 'running', startedAt: 0 } }),
    of('done', { ...done, state: { ...row.state, status: 'done', ok: true, ms: 40 } }),
    ...outcomes.map(([says, , seen]) => of(says, seen)),
    ...(Object.keys(errorCodeTexts) as TowpathErrorCode[]).map((code) =>
      of(code, {
        state: { status: 'done', ok: false, code, ms: 5, startedAt: 0 },
        outcome: failedToolOutcome(code, `${code} x_y {"a":1}`),
      }),
    ),
  ];
});

describe('Cards as they are drawn', () => {
  let browser: TestBrowser;
  let test: TestPage;
  before(async () => {
    browser = await openBrowser();
    test = await browser.open('test/webview/page/cards.ts', { width: 230 });
  });
  after(() => browser.close());

  it('at 230 pixels, of every tool and outcome and code, hold the object in their first line, and nothing sticks out', async () => {
    assert.ok(all.length > 1000);
    const wrong: string[] = [];
    for (let from = 0; from < all.length; from += 200) {
      const some = all.slice(from, from + 200);
      await test.page.evaluate((cards) => (globalThis as unknown as { draw(all: unknown[]): void }).draw(cards), some.map(([, seen]) => ({ ...seen, lineOf: undefined })) as unknown[]); // biome-ignore format: one line
      const found = await test.page.locator('.card').evaluateAll((cards) =>
        cards.map((card) => {
          const line = card.querySelector('.card-line')!.getBoundingClientRect();
          const verb = card.querySelector('.card-verb')?.getBoundingClientRect();
          const [piece] = [...card.querySelectorAll('.card-line > .piece.code, .card-line > .piece')]
            .map((one) => one.getBoundingClientRect());
          const over = [...card.querySelectorAll('.card-head *')].filter(
            (one) => one.getBoundingClientRect().right > card.getBoundingClientRect().right + 1,
          );
          const height = card.querySelector('.card-toggle')!.getBoundingClientRect().height;
          return {
            words: card.querySelector('.card-line')!.textContent!,
            object: piece && { width: piece.width, isFirst: piece.top < line.top + Math.max(20, height) },
            verb: verb && { isFirst: verb.top < line.top + 10 },
            over: over.length,
          };
        }),
      ); // biome-ignore format: in the page
      for (const [place, { object, verb, over, words }] of found.entries()) {
        const [what] = some[place]!;
        const says = (fault: string) => wrong.push(`${what}: ${fault}: ${words}`);
        if (over > 0) says('sticks out');
        if (verb && !verb.isFirst) says('the verb is not in the first line');
        if (what.startsWith('plan.update')) continue; // the plan itself is what it is about
        if (!object || object.width < 12) says('no object');
        else if (!object.isFirst) says('the object is not in the first line');
      }
    }
    assert.deepEqual(wrong.slice(0, 20), [], `${wrong.length} are wrong`);
    assert.deepEqual(await test.violations(), []);
  });
});
