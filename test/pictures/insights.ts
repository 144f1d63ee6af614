import { insightsHtml } from '../../src/extension/records/insightsPage.ts';
import type { DailyModelUsage, UsageCounts } from '../../src/protocol/run/insights.ts';
import { type ThemeName, themes } from '../webview/themes.ts';

const day = (nth: number, model: string, cost: number): DailyModelUsage => ({
  day: `2026-11-${String(nth).padStart(2, '0')}`,
  model,
  calls: 40 + nth,
  promptTokens: 120_000 * nth,
  cachedTokens: 60_000 * nth,
  completionTokens: 4000 * nth,
  cost,
  unpriced: cost === 0 ? 40 + nth : 0,
  timedTokens: 4000 * nth,
  ms: 90_000 * nth,
  retries: nth % 3,
  failures: nth % 2,
  stops: 1,
});
const tool = (name: string, done: number): UsageCounts['tools'][number] => ({
  tool: name,
  done,
  failed: 2,
  denied: 1,
  interrupted: 0,
  ms: [10, 30, 400],
  waits: [2000],
});

const counts: UsageCounts = {
  runs: 12,
  models: [1, 2, 3, 5, 8, 9].flatMap((nth) => [
    day(nth, 'anthropic/a-model-with-a-long-name', nth / 3),
    day(nth, 'openai/gpt', nth / 5),
    day(nth, 'local/qwen3-coder', 0),
  ]),
  tools: [tool('fs.read', 240), tool('fs.edit', 31), tool('shell.run', 12), tool('mcp.git_hub.create_issue', 1)],
};

/** The page of Insights as the editor shows it in a theme. */
export function insightsIn(theme: ThemeName): string {
  const { bodyClass, variables } = themes[theme];
  const page = insightsHtml({ counts, unread: 1, scope: 'workspace' }, { script: '', nonce: 'once' });
  const all = Object.entries(variables).map(([name, value]) => `--vscode-${name}: ${value};`);
  const style = `:root { ${all.join(' ')} background: var(--vscode-editor-background); }`;
  return page
    .replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, '')
    .replace('</head>', `<style>${style}</style></head>`)
    .replace('<body>', `<body class="${bodyClass}">`);
}
