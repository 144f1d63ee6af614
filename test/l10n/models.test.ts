import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { LLMError } from '../../src/llm/core/errors.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import { undoableCallIds } from '../../src/runs/undoSteps.ts';
import type { LanguageService } from '../../src/tools/code/language.ts';
import { toolNames } from '../../src/tools/definitions/definitions.ts';
import { builtinTools } from '../../src/tools/host/builtinTools.ts';
import { workspaceInstructions } from '../../src/tools/instructions/instructions.ts';
import { BackgroundCommands } from '../../src/tools/shell/background.ts';
import { builtInTaskAgents } from '../../src/workflows/agents/taskAgents.ts';
import { Conversation } from '../engine/conversation.ts';
import { eventually } from '../support/eventually.ts';
import { call, type ScriptedReply, scriptedClient } from '../support/scriptedClient.ts';
import { temporaryWorkspace } from '../support/workspace.ts';
import { markedIn, speakMarked } from './marked.ts';

const files = {
  'AGENTS.md': 'Use tabs.',
  'src/a.ts': `${Array.from({ length: 60 }, (_, at) => `export const a${at} = ${at};`).join('\n')}\n`,
  'src/b.ts': "import { a1 } from './a.ts';\n",
  'long.txt': 'a long line of it\n'.repeat(9000),
  'windows.txt': 'one\r\ntwo\r\n',
  'notes.ipynb': JSON.stringify({ cells: [{ cell_type: 'code', source: ['a = 1\n'], metadata: {}, outputs: [] }], metadata: {}, nbformat: 4, nbformat_minor: 5 }), // biome-ignore format: one line
  '.env': 'KEY=1\n',
  'gone.txt': 'G\n',
};

const edit = (path: string, oldText: string, newText: string) =>
  call('fs.edit', { path, edits: [{ oldText, newText }] });
const patch = (path: string, from: string, to: string) =>
  call('fs.apply_patch', { path, patch: `@@ -1,1 +1,1 @@\n-${from}\n+${to}\n` });
const run = (command: string, more: object = {}) => call('shell.run', { command, ...more });
const read = (path: string, more: object = {}) => call('fs.read', { path, ...more });
const asks = call('ask.person', { questions: [{ question: 'Which?', answers: [{ label: 'This' }, { label: 'That' }] }] }, 'asked'); // biome-ignore format: one line

/** Each turn of a model that uses everything there is, rightly and wrongly. */
const turns: ScriptedReply[] = [
  {
    text: 'I look around.',
    calls: [
      call('fs.list', { path: '.' }),
      call('fs.list', { path: 'none' }),
      call('fs.find', { pattern: '**/*.ts' }),
      call('fs.find', { pattern: '[' }),
      call('fs.search', { pattern: 'a1', context: 1 }),
      call('fs.search', { pattern: '(' }),
      read('src/a.ts', { offset: 3, limit: 4 }),
      read('src/a.ts', { offset: 900 }),
      read('long.txt'),
      read('notes.ipynb'),
      read('src/c.ts'),
      read('../../etc/passwd'),
      read('.env'),
    ],
  },
  {
    calls: [
      call('code.diagnostics', {}),
      call('code.symbols', { query: 'a' }),
      call('code.definition', { path: 'src/b.ts', line: 1, symbol: 'a1' }),
      call('code.references', { path: 'src/b.ts', line: 1, symbol: 'none' }),
      call('editor.context', {}),
      call('plan.update', { items: [{ text: 'Look', status: 'done' }, { text: 'Change', status: 'active' }] }), // biome-ignore format: one line
      call('plan.update', { items: [] }),
      call('no.tool', {}),
      call('fs.read', { file: 'src/a.ts' }),
      call('web.fetch', { url: 'http://127.0.0.1:9/' }),
      call('web.fetch', { url: 'nonsense' }),
    ],
  },
  {
    calls: [
      call('fs.write', { path: 'new/file.md', content: 'New.\n' }),
      call('fs.write', { path: 'src/a.ts', content: 'x\n', ifMatchSha256: 'f'.repeat(64) }),
      call('fs.write', { path: '.vscode/tasks.json', content: '{}' }),
      edit('src/b.ts', './a.ts', './a.js'),
      edit('src/b.ts', 'nowhere', 'x'),
      edit('src/a.ts', 'export', 'x'),
      edit('windows.txt', 'one\ntwo', 'one\nhalf\ntwo'),
      call('fs.edit', { path: 'notes.ipynb', cell: 1, edits: [{ oldText: 'a = 1', newText: 'a = 2' }] }),
      call('fs.edit', { path: 'notes.ipynb', cell: 7, edits: [{ oldText: 'a', newText: 'b' }] }),
      patch('new/file.md', 'New.', 'Newer.'),
      patch('new/file.md', 'Other.', 'x'),
      call('fs.move', { from: 'new/file.md', to: 'moved.md' }),
      call('fs.move', { from: 'none', to: 'some' }),
      call('fs.delete', { path: 'gone.txt' }),
      call('fs.delete', { path: 'gone.txt' }),
    ],
  },
  {
    calls: [
      run('echo out; echo err >&2; exit 3'),
      run('seq 100000'),
      run('sleep 30', { timeoutSeconds: 1 }),
      run('echo up; sleep 60', { background: true }),
      run('rm -rf .git'),
      run('cd nowhere && ls'),
      call('output.read', { id: 'none' }),
      call('shell.stop', { id: 'none' }),
    ],
  },
  { calls: [read('src/a.ts')] },
  { calls: [read('src/a.ts')] },
  { calls: [read('src/a.ts')] },
  { calls: [read('src/a.ts')] },
  { calls: [call('task.run', { title: 'Look', prompt: 'Look.' })] },
  { text: 'I look.', calls: [read('src/a.ts')] },
  { text: 'It is there.' },
  { calls: [asks] },
  { text: 'Half of it is done.' },
];

/** An editor that knows a little of everything, and nothing of what refers to what. */
function languageOf(root: string): LanguageService {
  const place = { path: path.join(root, 'src/a.ts'), name: 'a.ts', line: 1 };
  const symbols = [{ ...place, symbol: 'a1', kind: 'constant' }];
  return {
    diagnostics: async () => [{ ...place, severity: 'error', message: 'wrong' }],
    workspaceSymbols: async () => symbols,
    documentSymbols: async () => symbols,
    definitions: async () => [place],
    references: async () => undefined,
    openEditors: () => [{ ...place, active: true, unsaved: true, selection: { startLine: 1, endLine: 1, text: 'x' } }],
  };
}

describe('what models read and what is kept is English, whatever language the person has', () => {
  let talk: Conversation;
  let background: BackgroundCommands;
  let endMarks: () => void;
  beforeEach(async () => {
    endMarks = speakMarked();
    const workspace = await temporaryWorkspace(files);
    talk = new Conversation(workspace, []);
    background = new BackgroundCommands({
      keep: (runId, text) => talk.store.contents.keep(runId, text),
      ended: ({ runId, toolCallId }, end) => talk.engine.note(runId, { type: 'command-end', toolCallId, ...end }),
    });
    talk.background = background;
    talk.maxTurns = 30;
    talk.tasks = {
      parallel: () => 4,
      agent: async () => builtInTaskAgents.explorer,
      confirmSpending: async () => true,
    };
    talk.tools = builtinTools({ language: languageOf(workspace.root), shell: { background } });
    talk.instructions = workspaceInstructions({ workspace, isExcluded: () => false });
    talk.naming = scriptedClient([{ text: 'A name' }]);
    talk.price = { input: 1, output: 1 };
    talk.contextWindow = 200_000;
    talk.build();
  });
  afterEach(async () => {
    endMarks();
    await background.close();
    await talk.end();
  });

  const play = (...replies: ScriptedReply[]) => {
    talk.model = scriptedClient(replies);
    return talk.model as ReturnType<typeof scriptedClient>;
  };
  const nothingIsMarked = (...clients: ReturnType<typeof scriptedClient>[]) => {
    for (const { requests } of clients) assert.equal(markedIn(JSON.stringify(requests)), undefined);
    const kept = readdirSync(talk.folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    assert.ok(kept.length > 0);
    for (const { parentPath, name } of kept)
      assert.equal(markedIn(readFileSync(path.join(parentPath, name), 'utf8')), undefined, name);
  };

  it('a run with every tool, its failures, questions and answers, what is undone and what is told between the turns', async () => {
    assert.equal(t('Could not read {0}.', 'a'), '‹Could not read a.›');
    const client = play(
      ...turns,
      { text: 'I see.' },
      { error: new LLMError('LLM_AUTH_FAILED', 'No key.') },
      { text: 'A summary of it all.' },
      { text: 'Done.' },
    );
    talk.answers = [{ decision: 'allow' }, { decision: 'allow-run' }, { decision: 'deny', words: 'Not this one.' }];
    const first = talk.start('Do everything.');
    await eventually('it asks the person', () => talk.engine.live(talk.runId)?.asking?.includes('asked') ?? false);
    const chosen = { toolCallId: 'asked', choices: [{ chosen: [1], words: 'and more' }] };
    await talk.engine.say({ runId: talk.runId, userInput: '', chosen });
    assert.equal((await first).assistantText, 'Half of it is done.');
    const toolCallIds = undoableCallIds(await talk.kept(), 'run');
    await talk.engine.undo(talk.runId, { toolCallIds }, talk.workspace, async () => 'all');
    talk.workspace.write('AGENTS.md', 'Use blanks.');
    talk.workspace.write('src/b.ts', 'mine\n');
    for (const { id } of background.atWork) await background.stop(id, 'person');
    await talk.continue('Go on.');
    assert.equal((await talk.continue('Once more.')).error?.code, 'LLM_AUTH_FAILED');
    await talk.engine.compact(talk.runId);
    await talk.continue('And to the end.');
    const called = new Set(turns.flatMap(({ calls = [] }) => calls.map(({ name }) => name)));
    assert.deepEqual(
      toolNames().filter((name) => !called.has(name)),
      [],
    );
    nothingIsMarked(client, talk.naming as ReturnType<typeof scriptedClient>);
  });

  it('a run that circles, one at its limit, and one that is stopped in the middle', async () => {
    const circling = play(...Array.from({ length: 12 }, () => ({ calls: [read('none')] })), { text: 'Enough.' });
    talk.maxTurns = 4;
    await talk.start('Circle.');
    await talk.continue();
    await talk.continue();
    const stopped = play({ text: 'I begin', calls: [run('sleep 60')] }, { text: 'Again.' });
    const work = talk.continue('Work.');
    await eventually('a command runs', () => talk.events.some(({ type }) => type === 'tool-start'));
    talk.engine.stop(talk.runId);
    await work;
    await talk.continue('Go on.');
    nothingIsMarked(circling, stopped);
  });
});
