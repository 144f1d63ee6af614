import { endBrowser, openBrowser } from '../webview/browser.ts';
import type { MarkdownPage } from '../webview/renderings.ts';
import { inMs, line, median, rounds } from './measure.ts';

// What a model may write to keep the panel busy: how long one rendering takes, in a real browser.

const budgetMs = 400;
const sources: Record<string, string> = {
  'a long answer': '# Title\n\nSome *words* with `code` and [a link](https://example.com).\n\n'.repeat(1000),
  'a megabyte of code': `\`\`\`ts\n${'export const answer = 42;\n'.repeat(40_000)}\`\`\``,
  'one long line': 'x'.repeat(1_000_000),
  'quotes in quotes': `${'> '.repeat(5000)}x`,
  'lists in lists': Array.from({ length: 2000 }, (_, at) => `${'  '.repeat(at)}- x`).join('\n'),
  'open brackets': '['.repeat(50_000),
  'open emphasis': '*a **b '.repeat(20_000),
  'a wide table': `|${'a|'.repeat(2000)}\n|${'-|'.repeat(2000)}\n${`|${'b|'.repeat(2000)}\n`.repeat(50)}`,
};

const browser = await openBrowser();
try {
  const { page } = await browser.open('test/webview/page/markdown.ts');
  await page.evaluate(() => (globalThis as unknown as { markdown: MarkdownPage }).markdown.loadColours());
  console.log(`one rendering, ${rounds} times, each within ${budgetMs} ms`);
  for (const [name, source] of Object.entries(sources)) {
    const times: number[] = [];
    for (let round = -1; round < rounds; round++) {
      const ms = await page.evaluate(
        (text) => (globalThis as unknown as { markdown: MarkdownPage }).markdown.render(text).ms,
        source,
      );
      if (round >= 0) times.push(ms); // the first one warms up
    }
    line(name, { median: inMs(median(times)), most: inMs(Math.max(...times)) }, Math.max(...times), budgetMs);
  }
} finally {
  await browser.close();
  await endBrowser();
}
