import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from './editor/project.ts';

/**
 * The three steps of testing. `usual` is `npm test`, before a commit; `ci` is everything that CI runs, before a change lands;
 * `all` adds larger counts and the newest editor, before a release. Each contains the one before.
 */
export type Step = 'usual' | 'ci' | 'all';

const steps: readonly Step[] = ['usual', 'ci', 'all'];

/** Step of this process, from the environment variable that `npm test` sets; `ci` without it. */
export const currentStep = (): Step => steps.find((step) => step === process.env.TOWPATH_STEP) ?? 'ci';

/**
 * Unit tests from `ci` on: they kill processes, load a model again and again, replay recorded wire data, draw long conversations, try what
 * chance makes, or read all types.
 */
const slowUnits = [
  'check/checkModel',
  'check/cli',
  'dictionaries',
  'engine/context/summaryPrefetch',
  'engine/notices/background',
  'engine/run/branches',
  'engine/loop/circles',
  'engine/context/compactCommand',
  'engine/run/failingListeners',
  'engine/run/failingStore',
  'engine/loop/faults',
  'engine/loop/flat',
  'engine/notices/killed',
  'engine/run/neverRejects',
  'engine/context/refusedRequest',
  'engine/run/reopenedApproval',
  'engine/context/compaction',
  'engine/context/compactionHistories',
  'engine/run/undo',
  'engine/run/undoHistories',
  'extension/worker/jobWorker',
  'extension/commit/commitChanges',
  'extension/view/delivery',
  'help/connections',
  'help/servers',
  'kills/kills',
  'l10n/models',
  'llm/adapter/adapter',
  'llm/anthropic/recorded',
  'llm/behaviours',
  'test/support/chatCompletions',
  'llm/chatTemplates',
  'llm/faults',
  'llm/faultsContent',
  'llm/faultsFlood',
  'llm/faultsSleep',
  'llm/faultsTls',
  'llm/google/recorded',
  'llm/histories',
  'llm/local/worker/readAhead',
  'llm/local/host/client',
  'llm/local/demo/demoModel',
  'llm/local/grows',
  'llm/local/worker/stateCache',
  'llm/local/worker/promptLookup',
  'llm/local/process',
  'llm/local/product',
  'llm/local/remembers',
  'llm/local/worker/sampled',
  'llm/local/secondOpinion',
  'llm/local/straight',
  'llm/local/trouble',
  'llm/local/window',
  'llm/recorded',
  'llm/textCalls/textCalls',
  'llm/textCalls/templates',
  'outside/mcp',
  'outside/provider',
  'programs',
  'run',
  'runs/lock',
  'tools/shellSyntax/bash',
  'tools/snapshot/discards',
  'tools/snapshot/randomRuns',
  'tools/commands/destructive',
  'tools/edit/edits',
  'tools/commands/grantAttacks',
  'tools/commands/grants',
  'tools/shell/kills',
  'tools/shell/orphanedCommands',
  'tools/mcp/approval',
  'tools/mcp/faults',
  'tools/mcp/grants',
  'tools/mcp/reference',
  'tools/sandbox/outside',
  'tools/sandbox/races',
  'tools/shell/shell',
  'webview/bounds',
  'webview/cards/cards',
  'webview/cards/cardsDrawn',
  'webview/everyone',
  'webview/transcript/graphView',
  'webview/long',
  'webview/markdown/markdown',
  'webview/composer/mentions',
  'webview/panel',
  'webview/composer/statusStrip',
  'webview/plainText',
  'workflows/package/increments',
  'workflows/package/packageReminder',
  'workflows/run/failingListeners',
  'workflows/run/flows',
  'workflows/run/interrupted',
  'workflows/run/resume',
  'workflows/sixFlows',
  'workflows/templates',
].map((name) => `test/${name}.test.ts`);

/** The longest unit test files, the longest first: started early, none of them runs alone at the end. */
const longestUnits = [
  'engine/run/undoHistories',
  'dictionaries',
  'llm/local/grows',
  'webview/everyone',
  'llm/behaviours',
  'tools/shell/kills',
  'llm/local/remembers',
  'llm/local/process',
  'llm/local/straight',
  'kills/kills',
  'webview/panel',
  'llm/local/product',
  'tools/commands/grants',
  'tools/mcp/faults',
  'webview/long',
  'tools/shellSyntax/bash',
  'tools/shell/shell',
  'tools/mcp/grants',
  'llm/local/trouble',
  'extension/worker/jobWorker',
  'llm/local/host/client',
  'webview/plainText',
  'webview/composer/statusStrip',
  'tools/sandbox/races',
].map((name) => `test/${name}.test.ts`);

/** One walk through each part of the product in a real editor. The other files of `test/e2e` run from `ci` on. */
const usualWalks = ['edits', 'keys', 'saving', 'smoke', 'story', 'undo'].map((name) => `test/e2e/${name}.test.ts`);

/** Files of `test/e2e` that open several windows, reload again and again, watch every process, or draw a long run. */
const releaseWalks = ['connections', 'hostile', 'long', 'places', 'settings', 'worktree'].map(
  (name) => `test/e2e/${name}.test.ts`,
);

/** Returns the unit test files of a step, the longest first. Throws when a file that is named here does not exist. */
export function unitFiles(step: Step): string[] {
  const files = testFiles('test').filter((file) => !/^test\/(e2e|real)\//.test(file));
  assertExist([...slowUnits, ...longestUnits], files);
  return [...new Set([...longestUnits, ...files])].filter((file) => step !== 'usual' || !slowUnits.includes(file));
}

/** Returns the files of `test/e2e` of a step, the longest first. Throws when a file that is named here does not exist. */
export function walkFiles(step: Step): string[] {
  const files = testFiles('test/e2e');
  assertExist([...usualWalks, ...releaseWalks], files);
  const size = (file: string) => statSync(path.join(projectRoot, file)).size;
  const bySize = files.filter((file) => !releaseWalks.includes(file)).sort((one, other) => size(other) - size(one));
  if (step === 'usual') return bySize.filter((file) => usualWalks.includes(file));
  return step === 'ci' ? bySize : [...releaseWalks, ...bySize];
}

function testFiles(folder: string): string[] {
  const files = readdirSync(path.join(projectRoot, folder), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => path.posix.join(folder, ...file.split(path.sep)));
}

function assertExist(named: readonly string[], files: readonly string[]): void {
  const missing = named.filter((file) => !files.includes(file));
  if (missing.length > 0) throw new Error(`There is no ${missing.join(', ')}.`);
}
