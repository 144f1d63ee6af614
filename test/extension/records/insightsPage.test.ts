import assert from 'node:assert/strict';
import { type InsightsPageState, insightsHtml } from '../../../src/extension/records/insightsPage.ts';
import type { DailyModelUsage, ToolCallCounts } from '../../../src/protocol/run/insights.ts';

const day = (more: Partial<DailyModelUsage>): DailyModelUsage => ({
  day: '2026-11-01',
  model: 'openai/gpt',
  calls: 2,
  promptTokens: 1000,
  cachedTokens: 250,
  completionTokens: 100,
  cost: 0.5,
  unpriced: 0,
  timedTokens: 100,
  ms: 2000,
  retries: 1,
  failures: 0,
  stops: 3,
  ...more,
});
const tool = (more: Partial<ToolCallCounts>): ToolCallCounts => ({
  tool: 'fs.edit',
  done: 3,
  failed: 1,
  denied: 2,
  interrupted: 0,
  ms: [10, 30],
  waits: [2000],
  ...more,
});
const html = (models: DailyModelUsage[], tools: ToolCallCounts[] = [], more: Partial<InsightsPageState> = {}) =>
  insightsHtml(
    { counts: { runs: models.length, models, tools }, unread: 0, scope: 'workspace', ...more },
    { script: 'https://page/insights.js', nonce: 'once' },
  );
/** The words of each row of a table. */
function rows(page: string, table: string): string[] {
  const body = new RegExp(`data-table="${table}"[^]*?<tbody>([^]*?)</tbody>`).exec(page)?.[1] ?? '';
  return body.split('</tr>').flatMap((row) => {
    const cells = [...row.matchAll(/<td[^>]*>([^<]*)<\/td>/g)].map(([, text]) => text);
    return cells.length > 0 ? [cells.join(' | ')] : [];
  });
}

describe('the page of insights', () => {
  it('says of models and tools what was counted', () => {
    const page = html([day({}), day({ day: '2026-11-02', cost: 1 })], [tool({})]);
    assert.deepEqual(rows(page, 'models'), ['openai/gpt | 4 | 2,000 | 25 % | 200 | 50 | $1.50 | 2 | 0 | 6']);
    assert.deepEqual(rows(page, 'tools'), ['fs.edit | 6 | 75 % | 2 | 0 | 20\u00a0ms | 1 | 2.0\u00a0s']);
    assert.deepEqual(rows(page, 'days'), [
      '2026-11-02 | openai/gpt | 2 | 1,000 | 25 % | 100 | 50 | $1',
      '2026-11-01 | openai/gpt | 2 | 1,000 | 25 % | 100 | 50 | $0.50',
    ]);
    assert.match(page, /<svg class="chart" role="img" aria-label="Cost of 2 days with work: 2026-11-01 to 2026-11-02;/);
  });

  const costs: [name: string, more: Partial<DailyModelUsage>, shown: string][] = [
    ['unknown', { cost: 0, unpriced: 2 }, 'no price'],
    ['free', { cost: 0 }, '$0'],
    ['known of a part', { cost: 0.25, unpriced: 1 }, '$0.25 +'],
    ['next to nothing', { cost: 0.000001 }, 'under $0.0001'],
  ];
  for (const [name, more, shown] of costs)
    it(`what is ${name} reads so`, () => assert.equal(rows(html([day(more)]), 'models')[0]!.split(' | ')[6], shown));

  it('counts one as one', () => {
    const one = { calls: 1, promptTokens: 1, completionTokens: 1, unpriced: 0 };
    assert.match(html([day(one)]), /1 run in this workspace: 1 model call, 1 token read, 1 written, \$0\.50\./);
    assert.match(html([day(one), day({ ...one, unpriced: 1 })]), / and 1 call without a price\./);
    assert.match(html([day(one)]), /Cost of 1 day with work/);
  });

  it('draws tokens where nothing has a price, and says when there is nothing', () => {
    assert.match(html([day({ cost: 0, unpriced: 2 })]), /<h2>Tokens by day/);
    assert.match(html([day({ cost: 0, unpriced: 2 })]), /no price known/);
    const none = html([]);
    assert.match(none, /There are no runs in this workspace yet\./);
    assert.doesNotMatch(none, /<table|<svg/);
    assert.match(html([], [], { unread: 1 }), /1 run could not be read/);
  });

  it('keeps to its one script, and takes no name for HTML', () => {
    const evil = '<img src=x onerror="alert(1)">\u202e\'';
    const page = html([day({ model: evil, day: evil })], [tool({ tool: evil })]);
    assert.ok(!page.includes('<img') && !page.includes('\u202e'));
    assert.equal(page.match(/<script/g)?.length, 1);
    assert.match(page, /default-src 'none'; script-src 'nonce-once'/);
  });

  it('has room for many models and days', () => {
    const many = [...Array(400).keys()].map((nth) =>
      day({ day: `2026-${String((nth % 12) + 1).padStart(2, '0')}-01`, model: `m/${nth}` }),
    );
    const page = html(many);
    assert.match(page, / and others<\/li>/);
    assert.equal(rows(page, 'models').length, 400);
  });
});
