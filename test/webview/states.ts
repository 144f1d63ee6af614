import type { ComposerCompletion } from '../../src/protocol/content/mention.ts';
import type { Message } from '../../src/protocol/content/messages.ts';
import { failedToolOutcome, type ToolOutcome, toToolResult } from '../../src/protocol/content/tools.ts';
import type { HostMessage, PanelState, RunListRow } from '../../src/protocol/panel/panelMessages.ts';
import type { RunEventBody } from '../../src/protocol/run/events.ts';
import type { Run } from '../../src/protocol/run/run.ts';
import type { RunSummary } from '../../src/protocol/run/summary.ts';
import { formatFileChange, formatShortFileChange, maxShownDiffLines } from '../../src/tools/edit/diff.ts';
import { runEndPresentationsByErrorCode, runEndPresentationsByReason } from '../../webview/transcript/runEnd.ts';
import type { TestPage } from './browser.ts';
import { begin, concludes, eventsOf, reads, readyState, runOf } from './conversation.ts';
import { tasksInEachState } from './tasks.ts';

/** Something that the panel can show: what the host tells it, and what the person does then. */
export interface State {
  name: string;
  says: HostMessage[];
  does?(test: TestPage): Promise<unknown>;
}

export async function showState(test: TestPage, { says, does }: State): Promise<void> {
  await test.send(...says);
  await does?.(test);
  await test.send(); // drawn
}

/** What is wider than the page. */
export function sideways({ page }: TestPage): Promise<string[]> {
  return page
    .locator('body, .scroller, .transcript, .card, .composer > :not(.completion), footer')
    .evaluateAll((all) =>
      (all as unknown as { className: string; scrollWidth: number; clientWidth: number }[])
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
        .map(({ className }) => className),
    );
}

/** A run of these events, with what surrounds it. The last `live` of them come one by one. */
function shown(bodies: RunEventBody[], state: Partial<PanelState> = {}, live = 0): HostMessage[] {
  const stored = bodies.length - live;
  return [
    { type: 'state', state: { ...readyState, ...state } },
    { type: 'run', run: runOf('run-1', bodies.slice(0, stored)) },
    { type: 'events', events: eventsOf('run-1', bodies).slice(stored) },
  ];
}

const showsRun = (run: Run): HostMessage[] => [
  { type: 'state', state: readyState },
  { type: 'run', run },
];

const says = (
  content: string,
  ...toolCalls: { id: string; name: string; arguments: Record<string, unknown> }[]
): RunEventBody => ({
  type: 'message',
  message: { role: 'assistant', content, ...(toolCalls.length > 0 && { toolCalls }) } as Message & {
    role: 'assistant';
  },
});
const named: RunEventBody = {
  type: 'message',
  message: {
    role: 'user',
    content: 'Why is @src/commands/export/cli.ts slower than @src/commands?',
    attachments: [
      { mediaType: 'text/plain', data: 'eHh4'.repeat(2000), name: 'src/commands/export/cli.ts', mention: { kind: 'file', path: 'src/commands/export/cli.ts', note: 'lines 1-900 of 2400', why: 'The rest is not read.' } },
      { mediaType: 'text/plain', data: 'eHh4'.repeat(9000), name: 'src/commands/', mention: { kind: 'folder', path: 'src/commands', note: '12 of 40 files', why: 'Not read: src/commands/a.png (a picture).' } },
      { mediaType: 'text/plain', data: 'eHh4', name: '.env', mention: { kind: 'file', path: '.env', note: 'not read', why: 'It may contain secrets.' } },
    ],
  },
}; // biome-ignore format: a table
async function naming(test: TestPage): Promise<void> {
  const box = test.page.locator('[data-testid="composer"] textarea');
  const file = { kind: 'file', path: 'src/commands/export/a-long-name-of-a-file.test.ts' } as const;
  const rows = [
    { mention: { kind: 'selection' }, label: 'selection', detail: 'src/commands/export/cli.ts:3-9' },
    { mention: { kind: 'problems' }, label: 'problems', detail: '2 errors, 1 warning' },
    { mention: file, label: 'a-long-name-of-a-file.test.ts', detail: 'src/commands/export · open' },
    { mention: { kind: 'folder', path: 'src/commands' }, label: 'commands/', detail: 'src' },
  ] satisfies ComposerCompletion[];
  const answer = { type: 'completions' as const, rows };
  await box.pressSequentially('@');
  for (let asked = 1; asked < 20; asked++) await test.send({ ...answer, asked });
  for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await test.page.keyboard.press(key);
  await test.send({ type: 'mention-size', mention: file, tokens: 1234 });
  const unknown = '@src/nothing.ts';
  await box.pressSequentially(`${unknown} `);
  await test.send({ type: 'mention-resolved', word: unknown, unknown });
  await box.pressSequentially('and @');
  for (let asked = 1; asked < 40; asked++) await test.send({ ...answer, asked });
}
const rests: RunEventBody = { type: 'phase', phase: 'WaitingUser' };

/** A call from its beginning to its end, and what it gave. */
function called(
  id: string,
  name: string,
  args: Record<string, unknown>,
  outcome: ToolOutcome,
  end: Partial<Extract<RunEventBody, { type: 'tool-end' }>> = {},
): RunEventBody[] {
  const code = outcome.ok ? {} : { code: outcome.error.code };
  const command = name === 'shell.run' ? { command: { line: String(args.command), folder: '/w', marker: id } } : {};
  const snapshot = end.lines || end.repositories ? { snapshot: id } : {};
  return [
    says(id.endsWith('+') ? 'Next.' : '', { id, name, arguments: args }),
    { type: 'tool-start', toolCallId: id, name, ...command, ...snapshot },
    { type: 'tool-end', toolCallId: id, name, ok: outcome.ok, ms: name === 'shell.run' ? 4100 : 12, ...code, ...end },
    { type: 'message', message: { role: 'tool', content: '', toolResults: [toToolResult(id, outcome)] } },
  ];
}

const kept = (path: string) => [{ path, before: 'a'.repeat(64), after: 'b'.repeat(64) }];
const done = (data: unknown): ToolOutcome => ({ ok: true, data });
const deep = 'packages/website/src/components/navigation/sidebar.ts';
const lines = (word: string, many: number) => Array.from({ length: many }, (_, at) => `${word} ${at}`).join('\n');
const few = formatShortFileChange(
  'src/cli.ts',
  'const rows = load();\nprint(rows);\n',
  'const rows = load();\nprint(json ? encode(rows) : rows);\n',
);
const many = formatShortFileChange('a.ts', lines('old', 40), lines('new', 40));

const answer = `## What is there

The **rows** are printed in *one* place, \`src/cli.ts\`, see [the test](test/cli.test.ts:12) and <https://example.com/docs>.

1. Read the arguments
   - with \`--json\`
   - without
2. Print

- [x] a flag
- [ ] a test

> Nothing else prints.

| Option | Means | Since |
|---|:-:|--:|
| \`--json\` | prints rows as JSON, one on each line | 2.0 |
| \`--quiet\` | prints nothing | 1.4 |

\`\`\`ts
// one place
export function print(rows: Row[], json = false): void {
  const text = json ? JSON.stringify(rows) : rows.map((row) => row.name).join("\\n"); // 42 and more, as far as it goes
  console.log(text);
}
\`\`\`

\`\`\`sh
npm test -- --grep json
\`\`\`

$$\\int_0^1 x^2 \\, dx = \\frac{1}{3}$$

---

That is all.`;

/** Each tool as it is done. */
const cards: RunEventBody[] = [
  ...begin,
  ...called('list', 'fs.list', { path: 'src' }, done({ path: 'src', entries: [{}, {}] })),
  ...called('search', 'fs.search', { pattern: 'export', path: 'src' }, done({ matches: 2, files: [{ path: 'src/a.ts', lines: ['12: export const a = 1;', '40: export const b = 2;'] }] })),
  ...called('edit+', 'fs.edit', { path: 'src/cli.ts' }, done({ path: 'src/cli.ts', added: 1, removed: 1, newProblems: ['a', 'b'] }), { changes: kept('src/cli.ts'), diff: few }),
  ...called('long', 'fs.edit', { path: deep }, done({ path: deep, added: 40, removed: 40 }), { changes: kept(deep), diff: many }),
  ...called('write', 'fs.write', { path: 'src/new.ts', content: 'x' }, done({ path: 'src/new.ts', added: 12, removed: 0 }), { changes: [{ path: 'src/new.ts', before: null, after: 'b'.repeat(64) }], diff: formatShortFileChange('a.ts', null, 'one\ntwo\n') }),
  ...called('move', 'fs.move', { from: 'a.ts', to: 'lib/b.ts' }, done({ path: 'lib/b.ts', from: 'a.ts' })),
  ...called('delete', 'fs.delete', { path: 'old' }, done({ path: 'old', files: 14 })),
  ...called('test', 'shell.run', { command: 'npm test' }, done({ exitCode: 0, output: 'ok' }), { exitCode: 0 }),
  ...called('red', 'shell.run', { command: 'npm test -- --grep json' }, done({ exitCode: 1, output: '1 passing\n1 failing\n\n  1) prints rows as JSON:\n     AssertionError: expected [] to equal [ 1 ]\n' }), { exitCode: 1, outputId: 'f'.repeat(64) }),
  ...called('fetch', 'web.fetch', { url: 'https://example.com/docs/page' }, done({ url: 'https://example.com/docs/page', bytes: 12_400 })),
  ...called('problems', 'code.diagnostics', {}, done({ errors: 2, warnings: 1, files: [] })),
  ...called('mcp', 'mcp.git_hub.create_issue', { title: 'A flag' }, done({ text: 'created' })),
  rests,
]; // biome-ignore format: a table

const denied = (id: string, more: Partial<Extract<RunEventBody, { type: 'approval' }>> = {}): RunEventBody => ({
  type: 'approval',
  toolCallId: id,
  decision: 'deny',
  waitedMs: 900,
  ...more,
});
const asked = (id: string, name: string, args: Record<string, unknown>) => says('', { id, name, arguments: args });
const started = (id: string, name: string, line?: string): RunEventBody => ({
  type: 'tool-start',
  toolCallId: id,
  name,
  ...(line && { command: { line, folder: '/w', marker: id } }),
});

/** Each outcome that is not simply done. */
const outcomes: RunEventBody[] = [
  ...begin,
  ...called('missing', 'fs.edit', { path: deep }, failedToolOutcome('ENOENT', 'There is no such file.')),
  ...called('text', 'fs.edit', { path: 'src/a.ts' }, failedToolOutcome('TOOL_EXEC_FAILED', 'The text is not there.')),
  asked('no', 'fs.write', { path: 'src/no.ts' }), denied('no'),
  { type: 'message', message: { role: 'tool', content: '', toolResults: [toToolResult('no', failedToolOutcome('TOOL_DENIED', '', { words: 'not in this file' }))] } },
  asked('rule', 'shell.run', { command: 'rm -rf build' }), denied('rule', { automatic: 'Denied by your rule “shell.run”.' }),
  ...called('time', 'shell.run', { command: 'npm run build' }, failedToolOutcome('TOOL_TIMEOUT', 'Its time was over.')),
  asked('mine', 'fs.edit', { path: 'src/b.ts' }), { type: 'approval', toolCallId: 'mine', decision: 'allow', waitedMs: 1, edited: true },
  started('mine', 'fs.edit'), { type: 'tool-end', toolCallId: 'mine', name: 'fs.edit', ok: true, ms: 1, changes: kept('src/b.ts'), diff: few },
  ...called('undone', 'fs.edit', { path: 'src/c.ts' }, done({ path: 'src/c.ts', added: 1, removed: 1 }), { changes: kept('src/c.ts'), diff: few }),
  { type: 'undo', toolCallIds: ['undone'], changes: [{ path: 'src/c.ts', before: 'b'.repeat(64), after: 'a'.repeat(64) }] },
  ...called('background', 'shell.run', { command: 'npm run dev' }, done({ id: 'abcdef01', running: true }), { background: { id: 'abcdef01' } }),
  says('', { id: 'never', name: 'shell.run', arguments: { command: 'npm run lint' } }),
  { type: 'phase', phase: 'Failed', error: { code: 'ENGINE_ABORTED', message: 'Stopped.' } },
]; // biome-ignore format: a table

/** Steps of a workflow that the end of a window interrupted: one command, and two items of a list. */
const cutOff = (items: number): RunEventBody[] => [
  ...workflow.slice(0, 3),
  { type: 'outline', outline: { nodes: [{ name: 'deploy' }, { name: 'tell' }], edges: [{ from: 'deploy', to: 'tell' }] } },
  { type: 'node', node: 'deploy', status: 'start', state: { input: 'x' } },
  ...Array.from({ length: items || 1 }, (_, at): RunEventBody[] => {
    const [node, branch] = items > 0 ? [`deploy[${at}]`, `deploy[${at}]`] : ['deploy', undefined];
    const id = `${node}:1:0`;
    return [
      ...(branch === undefined ? [] : [{ type: 'node', node, branch, of: items, status: 'start', state: { item: at } } as RunEventBody]),
      { type: 'approval', toolCallId: id, decision: 'allow', waitedMs: 0 },
      started(id, 'shell.run', 'make deploy'),
      { type: 'tool-end', toolCallId: id, name: 'shell.run', ok: false, code: 'TOOL_INTERRUPTED', ms: 0, stillRunning: [], interruptedAt: 1000 },
    ];
  }).flat(),
  { type: 'phase', phase: 'WaitingUser', error: { code: 'TOOL_INTERRUPTED', message: '“deploy” was interrupted. It may have run.' } },
]; // biome-ignore format: rows

/** A call that waited for an approval when its window closed. */
const closedOn: RunEventBody[] = [
  ...begin,
  asked('ask', 'fs.edit', { path: 'src/cli.ts' }),
  { type: 'approval-request', toolCallId: 'ask', name: 'fs.edit', question: { id: 'q', what: 'Edit src/cli.ts', where: '/home/ada/sample/src/cli.ts', why: '', diff: few }, proposed: { location: 'hash' } },
  { type: 'phase', phase: 'WaitingUser', error: { code: 'ENGINE_ABORTED', message: 'Interrupted: the editor closed while this run was in progress.' } },
]; // biome-ignore format: rows

/** A change that was undone, and can be redone. */
export const undone: RunEventBody[] = [
  ...begin,
  ...called('edit+', 'fs.edit', { path: 'src/cli.ts' }, done({ path: 'src/cli.ts', added: 1, removed: 1 }), { changes: kept('src/cli.ts'), diff: few }),
  says('It is done.'),
  rests,
  { type: 'undo', toolCallIds: ['edit+'], changes: [{ path: 'src/cli.ts', before: 'b'.repeat(64), after: 'a'.repeat(64) }], moves: [] },
]; // biome-ignore format: rows

const question = {
  id: 'question-1',
  what: 'Edit src/cli.ts',
  where: '/home/ada/sample/src/cli.ts',
  why: 'It changes a file of the workspace.',
  diff: formatFileChange(
    'src/cli.ts',
    'const rows = load();\nprint(rows);\n',
    'const rows = load();\nprint(json ? encode(rows) : rows);\n',
    2000,
  ),
};
const asks: RunEventBody[] = [
  ...begin,
  ...reads,
  asked('ask', 'fs.edit', { path: 'src/cli.ts' }),
  { type: 'question', toolCallId: 'ask', question },
];

const several: RunEventBody[] = [
  ...begin,
  says('Both are needed.', ...['src/cli.ts', 'src/json.ts'].map((path) => ({ id: path, name: 'fs.edit', arguments: { path } }))),
  { type: 'question', toolCallId: 'src/cli.ts', question },
  { type: 'question', toolCallId: 'src/json.ts', question: { ...question, id: 'question-2', what: 'Edit src/json.ts' } },
]; // biome-ignore format: rows
const atOnce: RunEventBody[] = [
  ...begin,
  says('', ...['src/cli.ts', 'src/json.ts', 'test/cli.test.ts'].map((path) => ({ id: path, name: 'fs.read', arguments: { path } }))),
  ...['src/cli.ts', 'src/json.ts', 'test/cli.test.ts'].map((path) => started(path, 'fs.read')),
]; // biome-ignore format: rows

const choices = [
  {
    question: 'Which **database** should it use?',
    answers: [
      { label: 'SQLite', why: 'One file, nothing to run.' },
      { label: 'Postgres', why: 'What the others use.' },
      { label: 'None' },
    ],
  },
  { question: 'Which checks?', answers: [{ label: 'Lint' }, { label: 'Types' }], many: true },
];
const choosing: RunEventBody[] = [
  ...begin,
  says('There are two ways to keep the rows.', { id: 'choose', name: 'ask.person', arguments: { questions: choices } }),
  started('choose', 'ask.person'),
  { type: 'ask', toolCallId: 'choose', questions: choices },
]; // biome-ignore format: short

const plan = [
  { text: 'Read how rows are printed', status: 'done' },
  { text: 'Add the flag, and say in its help what it does to rows that have no name', status: 'active' },
  { text: 'Write a test', status: 'pending' },
];
const working: RunEventBody[] = [
  ...begin,
  ...called('plan', 'plan.update', { items: plan }, done({ items: 3, done: 1 })),
  says('I run the tests.', { id: 'run', name: 'shell.run', arguments: { command: 'npm test' } }),
  { type: 'approval', toolCallId: 'run', decision: 'allow', waitedMs: 0, automatic: 'Allowed by your rule “shell.run npm test”.' },
  started('run', 'shell.run', 'npm test'),
  { type: 'tool-output', toolCallId: 'run', text: '> sample@1.0.0 test\n> mocha\n\n  \u001b[32m✔\u001b[0m prints rows\n' },
  { type: 'queued', text: 'And say it in the README.' },
  { type: 'queued', text: 'Then commit.', when: 'done' },
]; // biome-ignore format: rows

const receipt: RunEventBody[] = [
  ...begin,
  ...called('edit+', 'fs.edit', { path: 'src/cli.ts' }, done({ path: 'src/cli.ts', added: 1, removed: 1 }), { changes: kept('src/cli.ts'), diff: few }),
  ...called('test', 'shell.run', { command: 'npm test' }, done({ exitCode: 0, output: 'ok' }), { exitCode: 0 }),
  says('The flag is there, and its test.'),
  rests,
]; // biome-ignore format: a table

const filling = {
  total: 31_800, size: 32_800, roomAt: 28_000, instructions: 1200, tools: 2600, words: 900, output: 21_000, answers: 6100, summary: 0, leftOut: 4200, cached: 12_000,
  files: [{ path: 'AGENTS.md', tokens: 420 }, { path: '.github/instructions/typescript.instructions.md', tokens: 180, cut: true as const }],
}; // biome-ignore format: short
const usage: RunEventBody = {
  type: 'usage', usage: { promptTokens: 31_000, completionTokens: 800, totalTokens: 31_800, cost: 0.042 }, attempts: 1, model: 'qwen3-coder', ms: 8000, filling,
}; // biome-ignore format: short

const names = Array.from({ length: 60 }, (_, at) => `step-${at}`);
const workflow: RunEventBody[] = [
  { type: 'run-start', workflowId: '.towpath/workflows/review.yaml', agentId: 'towpath', model: '' },
  { type: 'message', message: { role: 'user', content: 'Review my changes' } },
  { type: 'phase', phase: 'Running' },
  {
    type: 'outline',
    outline: {
      nodes: names.map((name, at) => ({
        name,
        ...(at % 7 === 3 && { title: `What the ${at}th step is called by people` }),
      })),
      edges: names
        .slice(1)
        .map((to, at) => ({ from: names[at]!, to, ...(at % 5 === 0 && { label: 'state.round < 3' }) })),
    },
  },
  ...names.slice(0, 8).flatMap((node, at): RunEventBody[] => [
    { type: 'node', node, status: 'start', state: { input: 'x' } },
    {
      type: 'node',
      node,
      status: 'end',
      next: [names[at + 1]!],
      ...(at === 7 && { warnings: ['`n` must be `int`, not "x" (`state_schema`).'] }),
    },
  ]),
  { type: 'node', node: 'step-8', status: 'start' },
  {
    type: 'tool-start',
    toolCallId: 'step-8:1:0',
    name: 'shell.run',
    command: { line: 'npm test -- --grep json --reporter dot', folder: '/w', marker: 'm' },
  },
  { type: 'chunk', content: 'a.txt is **wrong**', node: 'step-8' },
];

/** Come to its end, by one of two ways. */
const workflowDone: RunEventBody[] = [
  ...workflow.slice(0, 3),
  { type: 'outline', outline: { nodes: ['read', 'judge', 'mend', 'tell'].map((name) => ({ name })), edges: [{ from: 'read', to: 'judge' }, { from: 'judge', to: 'mend', label: 'state.wrong > 0' }, { from: 'judge', to: 'tell', label: 'otherwise' }, { from: 'mend', to: 'tell' }, { from: 'tell' }] } },
  ...(['read', 'judge', 'tell'] as const).flatMap((node, at): RunEventBody[] => [
    { type: 'node', node, status: 'start', state: { input: 'x' } },
    ...(node === 'read' ? [{ type: 'tool-start', toolCallId: 'read:1:0', name: 'fs.read', about: { path: 'src/commands/export/cli.ts' } }, { type: 'tool-end', toolCallId: 'read:1:0', name: 'fs.read', ok: true, ms: 5 }] as RunEventBody[] : []),
    { type: 'node', node, status: 'end', next: [['judge'], ['tell'], []][at]! },
  ]),
  { type: 'phase', phase: 'Completed' },
]; // biome-ignore format: rows

const told: RunEventBody[] = [
  'The person has undone your changes of: src/cli.ts. Read again before you edit.',
  'The command "npm run dev -- --port 3000" (abcdef01) in the background exited with code 1. What it wrote: output.read with the id abcdef01.',
  'The person has taken back 1 of your 2 changes of src/cli.ts. Of yours, this is gone:\nprint(rows);\nRead again before you edit.',
].map((content) => ({ type: 'message', message: { role: 'system', content } }));

const damaged = (): Run => ({
  ...runOf('run-1', [...begin, ...reads, ...concludes]),
  damage: [{ from: 8, at: 3, text: 'bytes 1,024 to 2,048 cannot be read', messages: [{ role: 'user', content: 'And then?' }, { role: 'assistant', content: 'That.' }], open: { to: 12, places: [1024] } }],
}); // biome-ignore format: short
const imported = (): Run => ({
  ...runOf('run-1', [{ ...begin[0], imported: true } as RunEventBody, ...begin.slice(1), ...reads, ...concludes]),
  readOnly: 'importedWorkflow',
});

const now = Date.now();
const row = (id: string, title: string, more: Partial<RunSummary & RunListRow> = {}) => ({
  id, title, phase: 'WaitingUser' as const, createdAt: now - 7_200_000, updatedAt: now - 3_600_000, live: false, depth: 0, newest: now - 3_600_000, ...more,
}); // biome-ignore format: short
const rows = [
  row('run-1', 'Add a --json flag', { pinned: true, state: 'working', live: true }),
  row('b', 'A branch of it, with a title that is longer than there is room for in any side bar', { depth: 1 }),
  row('c', 'Why is the build slow?', { phase: 'Failed', state: 'failed' }),
  row('d', 'Delete the old tables', { state: 'asking' }),
  row('e', 'What came from a file', { imported: true, excerpt: '… the heron stands in the reeds …' }),
] as (RunSummary & RunListRow)[];

/** Long things: an answer of 1 MB, a table of 20 columns, a question of 2,000 lines, an output of 5,000. */
export const longAnswer = `${'All of it is **long**, and the next sentence says it again.\n\n'.repeat(17_000)}The very end.`;
export /** What models write after their work. */
const longName = 'src/reports/deep/folder0/quarterlyReportGenerator10.js';
const tableOfFiles = `| File | Change |\n|---|---|\n| \`src/reports/deep/folder0/quarterlyReportGenerator10.ts\` | Rounds to cents |\n| \`src/money.ts\` | \`roundToCents(value: number): number\` is exported |\n`;
const wideTable = [
  `| ${Array.from({ length: 20 }, (_, at) => `Column ${at}`).join(' | ')} |`,
  `|${'---|'.repeat(20)}`,
  `| ${Array.from({ length: 20 }, (_, at) => `some words of column ${at}`).join(' | ')} |`,
].join('\n');
export const longDiff = formatFileChange('a.ts', lines('old', 2000), lines('new', 2000), maxShownDiffLines);
export const longQuestion: RunEventBody[] = [
  ...begin,
  asked('ask', 'fs.write', { path: 'src/table.js' }),
  { type: 'question', toolCallId: 'ask', question: { ...question, what: 'Replace src/table.js', diff: longDiff } },
];
export const longOutput: RunEventBody[] = [
  ...begin,
  ...called('red', 'shell.run', { command: 'npm test' }, done({ exitCode: 1, output: `${lines('line', 4999)}\nline 4999 is the last.` }), { exitCode: 1, outputId: 'f'.repeat(64) }),
  rests,
]; // biome-ignore format: a table

const recorded: RunEventBody[] = [
  ...begin,
  ...called('format', 'shell.run', { command: 'npm run format -- --write src test' }, done({ exitCode: 0 }), { exitCode: 0, changes: [...kept('a.ts'), ...kept('b.ts'), { path: 'c.ts', before: null, after: 'c'.repeat(64) }], lines: { added: 120, removed: 33 } }),
  ...called('commit', 'shell.run', { command: 'git commit -qam "Format everything"' }, done({ exitCode: 0 }), { exitCode: 0, changes: kept('a.ts'), repositories: [{ path: '.git', head: { before: null, after: null }, refs: [], files: [] }], lost: ['data/train-with-a-long-name.bin', 'node_modules', 'x', 'y'] }),
  rests,
]; // biome-ignore format: a table

const changedFiles: Extract<HostMessage, { type: 'files' }> = {
  type: 'files',
  runId: 'run-1',
  rows: [
    { path: 'src/commands/export/cli.ts', id: 'a1', added: 80, removed: 21 },
    { path: 'src/commands/export/json.ts', id: 'b1', added: 34, removed: 0, made: 'new', reviewed: true },
    { path: 'README.md', id: 'c1', added: 6, removed: 1, mixed: true },
    { path: 'assets/logo.png', id: '', made: 'moved', from: 'logo.png' },
    ...Array.from({ length: 8 }, (_, at) => ({ path: `src/f${at}.ts`, id: `f${at}`, added: 3, removed: 2, group: 0 })),
    { path: 'package-lock.json', id: 'e1', added: 4, removed: 2, group: 1, mixed: 'same-time' },
  ],
  count: 44,
  added: 264,
  removed: 94,
  more: 0,
  groups: [
    { by: 'npm run format -- --write src test', files: 39 },
    { by: 'npm install', files: 1 },
  ],
  ran: true,
};

const press = (testId: string) => (test: TestPage) => test.page.getByTestId(testId).first().click();

const sentences: Record<string, string> = {
  ENGINE_ABORTED: 'Stopped.',
  UNKNOWN: 'The model “gpt-9” is not there. Run *Towpath: Pick Model…*.',
};
const endings = [
  ...Object.keys(runEndPresentationsByErrorCode).map((code) => ({
    name: `end ${code}`,
    error: {
      code,
      message: sentences[code] ?? 'Example (api.example.com) says: something of the provider, in its own words.',
    },
  })),
  ...Object.keys(runEndPresentationsByReason).map((reason) => ({
    name: `end ${reason}`,
    error: { code: 'UNKNOWN', message: 'Example (api.example.com) says: something of the provider.', reason },
  })),
];

export const states: State[] = [
  { name: 'welcome', says: [{ type: 'state', state: { ...readyState, modelId: '', modelChosen: false, workspace: { open: false, trusted: false, name: '' } } }, { type: 'run', run: null }] },
  { name: 'empty', says: [{ type: 'state', state: readyState }, { type: 'run', run: null }] },
  { name: 'answer', says: shown([...begin, { type: 'message', message: { role: 'assistant', content: answer, thinking: 'The flag belongs where the arguments are parsed.', thoughtMs: 12_000 } }, rests]), does: (test) => test.page.locator('.scroller').evaluate((one) => { (one as unknown as { scrollTop: number }).scrollTop = 0; }) },
  { name: 'answer, its end', says: shown([...begin, says(answer), rests]) },
  { name: 'cards', says: shown(cards) },
  { name: 'cards, the first', says: shown(cards), does: (test) => test.page.locator('.scroller').evaluate((one) => { (one as unknown as { scrollTop: number }).scrollTop = 0; }) },
  { name: 'cards, all details', says: shown(cards, { details: 'all' }) },
  { name: 'fold open', says: shown([...cards.slice(0, 12), rests]), does: (test) => test.page.locator('.fold-head').first().click() },
  { name: 'outcomes', says: shown(outcomes) },
  { name: 'question', says: shown(asks) },
  { name: 'tasks', says: shown(tasksInEachState) },
  { name: 'task, opened', says: shown(tasksInEachState), does: (test) => test.page.getByTestId('open-task').nth(1).click() },
  { name: 'question of an earlier window', says: shown(closedOn) },
  { name: 'undone, with its redo', says: shown(undone) },
  { name: 'step interrupted', says: shown(cutOff(0)) },
  { name: 'items interrupted', says: shown(cutOff(2)) },
  { name: 'several questions', says: shown(several) },
  { name: 'several at work', says: shown(atOnce) },
  { name: 'choices', says: shown(choosing) },
  { name: 'working', says: shown(working, { commands: [{ id: 'abcdef01', runId: 'run-1', line: 'npm run dev -- --port 3000', startedAt: now - 180_000 }] }, 3) },
  { name: 'ways to send', says: shown(working, {}, 3), does: async (test) => { await test.page.locator('[data-testid="composer"] textarea').fill('And the README.'); await press('send-menu')(test); } },
  { name: 'thinking', says: shown([...begin, { type: 'chunk', thinking: 'The flag belongs where the arguments are parsed.' }], {}, 1) },
  { name: 'waits for the provider', says: shown([...begin, { type: 'progress', text: 'Example rejected the request because of its rate limit', until: now + 60_000, attempt: 2 }], {}, 1) },
  { name: 'meter', says: shown([...begin, ...concludes.slice(0, -2), usage, rests], { preset: 'autopilot', presetOfRun: true, limits: { run: 2 } }), does: press('meter') },
  { name: 'runs', says: [...shown([...begin, ...concludes]), { type: 'runs', query: '', rows, more: 3 }], does: async (test) => { await press('history')(test); await test.send({ type: 'runs', query: '', rows, more: 3 }); } },
  { name: 'find', says: shown([...begin, ...reads, ...concludes]), does: async (test) => { await test.page.keyboard.press('Control+f'); await test.page.getByTestId('find').fill('flag'); } },
  { name: 'mentions', says: shown([begin[0]!, named, ...begin.slice(2), rests]), does: naming },
  { name: 'workflow', says: shown(workflow, {}, 1), does: (test) => test.page.getByTestId('graph').scrollIntoViewIfNeeded() },
  { name: 'damage', says: showsRun(damaged()), does: (test) => test.page.locator('.damage summary').click() },
  { name: 'imported', says: showsRun(imported()) },
  { name: 'message acts', says: [...shown([...begin, ...reads, ...concludes]), { type: 'branches', runId: 'run-1', points: [{ at: 1, nth: 2, of: 3, previous: 'x', next: 'y' }] }], does: async (test) => { await test.page.locator('[data-role="user"]').hover(); await test.page.locator('[data-role="user"] [data-act="more"]').click(); } },
  { name: 'long answer', says: shown([...begin, says(longAnswer), rests]), does: (test) => test.page.getByRole('button', { name: test.words('Show the end') }).click() },
  { name: 'long name', says: shown([...begin, ...called('name', 'fs.edit', { path: longName }, done({ path: longName, added: 1, removed: 1 }), { changes: kept(longName), diff: few }), rests]) },
  { name: 'table of files', says: shown([...begin, says(tableOfFiles), rests]) },
  { name: 'wide table', says: shown([...begin, says(wideTable), rests]) },
  { name: 'long question', says: shown(longQuestion) },
  { name: 'long output', says: shown(longOutput), does: (test) => test.page.locator('.card-toggle').first().click() },
  { name: 'workflow, all of it', says: shown(workflow, {}, 1), does: async (test) => { const folds = test.page.locator('.graph-fold button'); await folds.first().click(); await folds.last().click(); } },
  { name: 'receipt', says: [...shown(receipt), changedFiles] },
  { name: 'files', says: [...shown(receipt), changedFiles], does: press('strip-files') },
  { name: 'changes of commands', says: shown(recorded) },
  { name: 'plan', says: shown(working, {}, 3), does: press('strip-plan') },
  { name: 'runs, looked through', says: shown([...begin, ...concludes]), does: async (test) => { await press('history')(test); await test.page.getByTestId('search-runs').fill('heron'); await test.send({ type: 'runs', query: 'heron', rows: rows.slice(-1), more: 0 }); await test.page.locator('.history-open').hover(); } },
  { name: 'runs, none', says: shown([...begin, ...concludes]), does: async (test) => { await press('history')(test); await test.page.getByTestId('search-runs').fill('heron'); await test.send({ type: 'runs', query: 'heron', rows: [], more: 0 }); } },
  { name: 'said otherwise', says: [...shown(receipt), changedFiles], does: async (test) => { await test.page.locator('[data-role="user"]').hover(); await test.page.locator('[data-act="edit"]:visible').click(); } },
  { name: 'code, more of it', says: shown([...begin, says(answer), rests]), does: (test) => test.page.getByRole('button', { name: test.words('More'), exact: true }).last().click() },
  { name: 'told to the model', says: shown([...begin, ...told, rests]) },
  { name: 'workflow, done', says: shown(workflowDone), does: (test) => test.page.getByTestId('graph').scrollIntoViewIfNeeded() },
  { name: 'notice', says: [...shown([...begin, ...concludes]), { type: 'notice', notice: { level: 'warning', text: 'The answer was said to the model in a new branch. *Undo* takes that back.', action: { label: 'Open Settings', action: 'open-settings' } } }] },
]; // biome-ignore format: a table

/** Every way a run can end or rest. */
export const ended = endings.map(
  ({ name, error }): State => ({
    name,
    says: shown([...begin, ...reads, { type: 'phase', phase: 'Failed', error }], { limits: { run: 2, day: 10 } }),
  }),
);
