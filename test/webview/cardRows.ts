import { skippedCallOutcome } from '../../src/engine/input/messageQueue.ts';
import { recoveredCallOutcome } from '../../src/engine/notices/interruptedCalls.ts';
import { failedToolOutcome } from '../../src/protocol/content/tools.ts';
import type { CallState } from '../../src/protocol/run/run.ts';
import type { CardLineInput, CardStatusIcon } from '../../webview/cards/cardLine.ts';

/** Each tool: its arguments, what it gives, and its line while it waits, is at work, is done and could not. */
export interface Row {
  args: Record<string, unknown>;
  data?: unknown;
  state?: Partial<CallState>;
  says: [asked: string, doing: string, done: string, not: string];
}
const created = { changes: [{ path: 'src/a.ts', before: null, after: 'b' }] };
const edit = { path: 'src/a.ts', sha256: 'x', added: 12, removed: 3 };
const lines = [{ path: 'src/a.ts', lines: ['3: x', '9: y'] }];

export const rows: [name: string, row: Row][] = [
  ['fs.read', { args: { path: 'src/a.ts' }, data: { startLine: 1, endLine: 9, totalLines: 9 },
    says: ['Read src/a.ts', 'Reading src/a.ts', 'Read src/a.ts', 'Could not read src/a.ts'] }],
  ['fs.read', { args: { path: 'src/a.ts', offset: 10, limit: 31 }, data: { startLine: 10, endLine: 40, totalLines: 90 },
    says: ['Read src/a.ts:10-40', 'Reading src/a.ts:10-40', 'Read src/a.ts:10-40', 'Could not read src/a.ts:10-40'] }],
  ['fs.read', { args: { path: 'a.log' }, data: { startLine: 1, endLine: 2000, totalLines: 9000 },
    says: ['Read a.log', 'Reading a.log', 'Read a.log · first 2,000 lines', 'Could not read a.log'] }],
  ['fs.read', { args: { path: 'a.png' }, data: { image: 'image/png', bytes: 3 },
    says: ['Read a.png', 'Reading a.png', 'Viewed a.png', 'Could not read a.png'] }],
  ['fs.search', { args: { pattern: 'export', path: 'src' }, data: { matches: 200, files: Array.from({ length: 31 }, () => ({ lines: [] })) },
    says: ['Search export in src', 'Searching export in src', 'Searched export in src · 200 matches in 31 files', 'Could not search export in src'] }],
  ['fs.search', { args: { pattern: 'export', glob: '*.ts' }, data: { matches: 0, files: [] },
    says: ['Search export in *.ts', 'Searching export in *.ts', 'Searched export in *.ts · no match', 'Could not search export in *.ts'] }],
  ['fs.find', { args: { pattern: '**/*.ts' }, data: { files: Array.from({ length: 31 }, String) },
    says: ['Look for **/*.ts', 'Looking for **/*.ts', 'Found 31 files **/*.ts', 'Could not look for **/*.ts'] }],
  ['fs.list', { args: { path: 'src' }, data: { path: 'src', entries: [{}] },
    says: ['List src', 'Listing src', 'Listed src · 1 entry', 'Could not list src'] }],
  ['fs.list', { args: {}, data: { path: '.', entries: [] },
    says: ['List the folder', 'Listing the folder', 'Listed the folder · 0 entries', 'Could not list the folder'] }],
  ['fs.write', { args: { path: 'src/a.ts', content: '' }, data: { ...edit, removed: 0 }, state: created,
    says: ['Write src/a.ts', 'Writing src/a.ts', 'Created src/a.ts · +12 · −0', 'Could not write src/a.ts'] }],
  ['fs.edit', { args: { path: 'src/a.ts' }, data: { ...edit, newProblems: ['a', 'b'], changedOnSave: '@@\n+a\n+b\n+c' },
    says: ['Edit src/a.ts', 'Editing src/a.ts', 'Edited src/a.ts · +12 · −3 · 2 new problems · your formatter changed 3 more lines', 'Could not edit src/a.ts'] }],
  ['fs.apply_patch', { args: { patch: '--- a/src/a.ts\n+++ b/src/a.ts\n' }, data: edit,
    says: ['Edit src/a.ts', 'Editing src/a.ts', 'Edited src/a.ts · +12 · −3', 'Could not edit src/a.ts'] }],
  ['fs.move', { args: { from: 'a.ts', to: 'b.ts' }, data: { path: 'b.ts', from: 'a.ts' },
    says: ['Move a.ts to b.ts', 'Moving a.ts to b.ts', 'Moved a.ts to b.ts', 'Could not move a.ts to b.ts'] }],
  ['fs.delete', { args: { path: 'old' }, data: { path: 'old', deleted: true, files: 14 },
    says: ['Delete old', 'Deleting old', 'Deleted old/ · 14 files', 'Could not delete old'] }],
  ['shell.run', { args: { command: 'npm test' }, data: { exitCode: 0, output: '' },
    says: ['Run npm test', 'Running npm test', 'Ran npm test · 40 ms', 'Could not run npm test'] }],
  ['shell.stop', { args: { id: 'abcdef01' }, data: { running: false },
    says: ['Stop npm run dev', 'Stopping npm run dev', 'Stopped npm run dev', 'Could not stop npm run dev'] }],
  ['output.read', { args: { id: 'abcdef01' }, data: { startLine: 1, endLine: 20, totalLines: 5000, text: '' },
    says: ['Read output of npm run dev', 'Reading output of npm run dev', 'Read output of npm run dev · lines 1 to 20 of 5,000', 'Could not read output of npm run dev'] }],
  ['code.diagnostics', { args: {}, data: { errors: 2, warnings: 1, files: [] },
    says: ['Check all files', 'Checking all files', 'Checked all files · 2 errors · 1 warning', 'Could not check all files'] }],
  ['code.symbols', { args: { path: 'src/a.ts' }, data: { files: lines },
    says: ['List names in src/a.ts', 'Listing names in src/a.ts', 'Listed names in src/a.ts · 2 names', 'Could not list names in src/a.ts'] }],
  ['code.definition', { args: { path: 'src/a.ts', line: 4, symbol: 'greet' }, data: { places: 1, files: lines },
    says: ['Look up greet of src/a.ts:4', 'Looking up greet of src/a.ts:4', 'Looked up greet of src/a.ts:4 · defined in 1 location', 'Could not look up greet of src/a.ts:4'] }],
  ['code.references', { args: { path: 'src/a.ts', line: 4, symbol: 'greet' }, data: { places: 2, files: [...lines, ...lines] },
    says: ['Find uses of greet of src/a.ts:4', 'Finding uses of greet of src/a.ts:4', 'Found uses of greet of src/a.ts:4 · 2 locations in 2 files', 'Could not find uses of greet of src/a.ts:4'] }],
  ['editor.context', { args: {}, data: { active: { path: 'src/a.ts', selection: { startLine: 2, endLine: 5 } } },
    says: ['View the editor', 'Viewing the editor', 'Viewed the editor: src/a.ts:2-5', 'Could not view the editor'] }],
  ['web.fetch', { args: { url: 'https://example.com/docs/page' }, data: { url: 'https://example.com/docs/page', bytes: 12_400 },
    says: ['Fetch example.com/docs/page', 'Fetching example.com/docs/page', 'Fetched example.com/docs/page · 12 KB', 'Could not fetch example.com/docs/page'] }],
  ['plan.update', { args: { items: [] }, data: { items: 6, done: 3 },
    says: ['Change the plan', 'Planning', 'Planned · 3 of 6 done', 'Could not change the plan'] }],
  ['ask.person', { args: { questions: [{ question: 'Which one?' }] }, data: {},
    says: ['Ask Which one?', 'Asking Which one?', 'Asked Which one?', 'Could not ask Which one?'] }],
  ['task.run', { args: { title: 'Review the parser', prompt: 'Look for mistakes.' }, data: {},
    says: ['Delegate Review the parser', 'Delegating Review the parser', 'Delegated Review the parser', 'Could not delegate Review the parser'] }],
  ['mcp.search_tools', { args: { query: 'issues' }, data: { tools: [{}, {}] },
    says: ['Look for tools: issues', 'Looking for tools: issues', 'Looked for tools: issues · 2 found', 'Could not look for tools: issues'] }],
  ['mcp.call_tool', { args: { name: 'mcp.git_hub.create_issue', arguments: {} }, data: {},
    says: ['Use git hub: create issue', 'Using git hub: create issue', 'Used git hub: create issue', 'Could not use git hub: create issue'] }],
  ['mcp.read_resource', { args: { server: 'docs' }, data: { resources: [] },
    says: ['List docs resources', 'Listing docs resources', 'Listed docs resources', 'Could not list docs resources'] }],
  ['mcp.docs.read_all-files', { args: { flag: true, path: 'x' }, data: { text: '' }, state: { title: 'Read every {file}' },
    says: ['Use docs: read all-files “x”', 'Using docs: read all-files “x”', 'Used docs: Read every file “x”', 'Could not use docs: read all-files “x”'] }],
  ['mcp.call_tool', { args: { name: 'mcp.docs.read_all-files', arguments: {} }, data: {}, state: { title: 'Read every file' },
    says: ['Use docs: read all-files', 'Using docs: read all-files', 'Used docs: Read every file', 'Could not use docs: read all-files'] }],
  ['mcp.docs.read_all-files', { args: { path: 'x' }, data: { text: '' },
    says: ['Use docs: read all-files “x”', 'Using docs: read all-files “x”', 'Used docs: read all-files “x”', 'Could not use docs: read all-files “x”'] }],
  ['read_{all}_files', { args: { path: 'x' }, data: {},
    says: ['Use read all files', 'Using read all files', 'Used read all files', 'Could not use read all files'] }],
]; // biome-ignore format: a table

export const seenOf = (
  name: string,
  { args, state }: Pick<Row, 'args' | 'state'>,
  more: Partial<CardLineInput> = {},
): CardLineInput => ({
  call: { id: 'c', name, arguments: args },
  phase: 'Running',
  now: 0,
  lineOf: (id) => (id === 'abcdef01' ? 'npm run dev' : undefined),
  ...more,
  ...((state || more.state) && { state: { status: 'done', ...state, ...more.state } as CallState }),
});

/** How a call can stand that was not simply done: what is known of it, its mark, and what is said behind its object. */
export const outcomes: [says: string, mark: CardStatusIcon, seen: Partial<CardLineInput>][] = [
  ['Queued', 'waits', {}],
  ['Waiting for approval', 'asks', { state: { status: 'asking' } }],
  ['Denied', 'none', { state: { status: 'done', decision: 'deny' } }],
  ['Denied · waiting for your instructions', 'none', { state: { status: 'done', decision: 'deny' }, held: true }],
  ['Denied: “use pnpm”', 'none', { state: { status: 'done', decision: 'deny', feedback: 'use\npnpm' } }],
  ['Denied: “not in this file”', 'none',
    { state: { status: 'done', decision: 'deny' }, outcome: failedToolOutcome('TOOL_DENIED', '', { words: 'not in this file' }) }],
  ['Denied: your rule “run commands”', 'none',
    { state: { status: 'done', decision: 'deny', automatic: 'Denied by your rule “shell.run”.' } }],
  ['Denied: your rule for this workspace “edit src/**”', 'none',
    { state: { status: 'done', decision: 'deny', automatic: 'Denied by your rule for this workspace “fs.edit src/**”.' } }],
  ['Not run: stopped', 'none', { phase: 'Failed', stopped: true }],
  ['Not run', 'none', { phase: 'WaitingUser' }],
  ['Interrupted when the window closed', 'none', { phase: 'WaitingUser', state: { status: 'running', startedAt: 1 } }],
  ['Not run: you sent a message first', 'none', { outcome: skippedCallOutcome }],
  ['Not run: it was not answered', 'none', { outcome: recoveredCallOutcome(undefined) }],
  ['Not run here: the run was imported', 'none',
    { outcome: failedToolOutcome('TOOL_INTERRUPTED', 'This run was imported from a file. The call did not run here.') }],
  ['interrupted when the window closed', 'cross',
    { state: { status: 'done', ok: false, code: 'TOOL_INTERRUPTED', startedAt: 1 },
      outcome: recoveredCallOutcome({ status: 'done', ok: false, code: 'TOOL_INTERRUPTED' }) }],
  ['interrupted when the window closed, and continued: npm (7)', 'cross',
    { state: { status: 'done', ok: false, code: 'TOOL_INTERRUPTED', startedAt: 1, stillRunning: ['npm (7)'] } }],
  ['you stopped it', 'cross', { state: { status: 'done', ok: false, startedAt: 1, code: 'TOOL_INTERRUPTED' }, outcome: failedToolOutcome('TOOL_INTERRUPTED', 'Stopped while it ran.') }],
  ['Changed by you before approval', 'check', { state: { status: 'done', ok: true, edited: true, decision: 'allow' } }],
  ['Allowed by your rule “npm test”', 'check',
    { state: { status: 'done', ok: true, decision: 'allow', automatic: 'Allowed by your rule “shell.run npm test”.' } }],
  ['', 'check', { state: { status: 'done', ok: true, decision: 'allow', automatic: 'Allowed because reads are free.' } }],
  ['Undone', 'undone', { state: { status: 'done', ok: true, changes: [{ path: 'src/a.ts', before: 'x', after: 'y' }], undone: ['src/a.ts'] } }],
  ['Partly undone', 'undone',
    { state: { status: 'done', ok: true, changes: ['src/a.ts', 'src/b.ts'].map((path) => ({ path, before: 'x', after: 'y' })), undone: ['src/a.ts'] } }],
]; // biome-ignore format: a table
