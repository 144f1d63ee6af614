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
  'check/run',
  'dictionaries',
  'engine/ahead',
  'engine/background',
  'engine/branches',
  'engine/circles',
  'engine/compact',
  'engine/failingListeners',
  'engine/failingStore',
  'engine/faults',
  'engine/flat',
  'engine/killed',
  'engine/neverRejects',
  'engine/refusal',
  'engine/reopenedApproval',
  'engine/room',
  'engine/roomHistories',
  'engine/undo',
  'engine/undoHistories',
  'extension/aside/aside',
  'extension/commit/commitChanges',
  'extension/view/delivery',
  'help/connections',
  'help/servers',
  'kills/kills',
  'l10n/models',
  'llm/adapter',
  'llm/anthropicRecorded',
  'llm/behaviours',
  'llm/chatCompletions',
  'llm/chatTemplates',
  'llm/faults',
  'llm/faultsContent',
  'llm/faultsFlood',
  'llm/faultsSleep',
  'llm/faultsTls',
  'llm/google.recorded',
  'llm/histories',
  'llm/local/ahead',
  'llm/local/client',
  'llm/local/demo',
  'llm/local/grows',
  'llm/local/keeper',
  'llm/local/lookup',
  'llm/local/process',
  'llm/local/product',
  'llm/local/remembers',
  'llm/local/sampled',
  'llm/local/secondOpinion',
  'llm/local/straight',
  'llm/local/trouble',
  'llm/local/window',
  'llm/recorded',
  'llm/rescue',
  'llm/rescueTemplates',
  'outside/mcp',
  'outside/provider',
  'programs',
  'run',
  'runs/lock',
  'tools/bash',
  'tools/destructive',
  'tools/edits',
  'tools/grantAttacks',
  'tools/grants',
  'tools/kills',
  'tools/left',
  'tools/mcp/approval',
  'tools/mcp/faults',
  'tools/mcp/grants',
  'tools/mcp/reference',
  'tools/outside',
  'tools/races',
  'tools/shell',
  'webview/bounds',
  'webview/cards',
  'webview/cardsDrawn',
  'webview/everyone',
  'webview/graph',
  'webview/long',
  'webview/markdown',
  'webview/mentions',
  'webview/panel',
  'webview/strip',
  'webview/words',
  'workflows/package/increments',
  'workflows/package/reminder',
  'workflows/run/failingListeners',
  'workflows/run/flows',
  'workflows/run/interrupted',
  'workflows/run/resume',
  'workflows/sixFlows',
  'workflows/templates',
].map((name) => `test/${name}.test.ts`);

/** The longest unit test files, the longest first: started early, none of them runs alone at the end. */
const longestUnits = [
  'engine/undoHistories',
  'dictionaries',
  'llm/local/grows',
  'webview/everyone',
  'llm/behaviours',
  'tools/kills',
  'llm/local/remembers',
  'llm/local/process',
  'llm/local/straight',
  'kills/kills',
  'webview/panel',
  'llm/local/product',
  'tools/grants',
  'tools/mcp/faults',
  'webview/long',
  'tools/bash',
  'tools/shell',
  'tools/mcp/grants',
  'llm/local/trouble',
  'extension/aside/aside',
  'llm/local/client',
  'webview/words',
  'webview/strip',
  'tools/races',
].map((name) => `test/${name}.test.ts`);

/** One walk through each part of the product in a real editor. The other files of `test/e2e` run from `ci` on. */
const usualWalks = ['edits', 'keys', 'saving', 'smoke', 'story', 'undo'].map((name) => `test/e2e/${name}.test.ts`);

/** Files of `test/e2e` that open several windows, reload again and again, watch every process, or draw a long run. */
const releaseWalks = ['connections', 'hostile', 'long', 'places', 'settings', 'worktree'].map(
  (name) => `test/e2e/${name}.test.ts`,
);

/** Returns the unit test files of a step, the longest first. Throws when a file that is named here does not exist. */
export function unitFiles(step: Step): string[] {
  const files = testFiles('test').filter((file) => !file.startsWith('test/e2e/'));
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
