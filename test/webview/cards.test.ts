import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { toldAfterwards } from '../../src/engine/looseEnds.ts';
import { notRun } from '../../src/engine/waiting.ts';
import type { Code } from '../../src/protocol/codes.ts';
import { codeWords, editWords, errorSentence, isCode, refusalWords } from '../../src/protocol/codeWords.ts';
import type { CallState } from '../../src/protocol/run.ts';
import { failure, type ToolOutcome } from '../../src/protocol/tools.ts';
import { toolNames } from '../../src/tools/default.ts';
import { exitAnswer } from '../../webview/cards/exitWords.ts';
import { type CardLine, cardLine, draftLine, type Mark, type Seen, spoken } from '../../webview/cards/line.ts';
import { writingOf } from '../../webview/cards/soFar.ts';
import { toolWords } from '../../webview/cards/toolWords.ts';
import { wordsOf } from '../../webview/cards/words.ts';
import { root } from './browser.ts';

/** Each tool: its arguments, what it gives, and its line while it waits, is at work, is done and could not. */
interface Row {
  args: Record<string, unknown>;
  data?: unknown;
  state?: Partial<CallState>;
  says: [asked: string, doing: string, done: string, not: string];
}
const created = { changes: [{ path: 'src/a.ts', before: null, after: 'b' }] };
const edit = { path: 'src/a.ts', sha256: 'x', added: 12, removed: 3 };
const lines = [{ path: 'src/a.ts', lines: ['3: x', '9: y'] }];

const rows: [name: string, row: Row][] = [
  ['fs.read', { args: { path: 'src/a.ts' }, data: { startLine: 1, endLine: 9, totalLines: 9 },
    says: ['Read src/a.ts', 'Reading src/a.ts', 'Read src/a.ts', 'Could not read src/a.ts'] }],
  ['fs.read', { args: { path: 'src/a.ts', offset: 10, limit: 31 }, data: { startLine: 10, endLine: 40, totalLines: 90 },
    says: ['Read src/a.ts:10-40', 'Reading src/a.ts:10-40', 'Read src/a.ts:10-40', 'Could not read src/a.ts:10-40'] }],
  ['fs.read', { args: { path: 'a.log' }, data: { startLine: 1, endLine: 2000, totalLines: 9000 },
    says: ['Read a.log', 'Reading a.log', 'Read a.log · first 2,000 lines', 'Could not read a.log'] }],
  ['fs.read', { args: { path: 'a.png' }, data: { image: 'image/png', bytes: 3 },
    says: ['Read a.png', 'Reading a.png', 'Looked at a.png', 'Could not read a.png'] }],
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
    says: ['Read the output of npm run dev', 'Reading the output of npm run dev', 'Read the output of npm run dev · lines 1 to 20 of 5,000', 'Could not read the output of npm run dev'] }],
  ['code.diagnostics', { args: {}, data: { errors: 2, warnings: 1, files: [] },
    says: ['Check for problems in all files', 'Checking for problems in all files', 'Checked for problems in all files · 2 errors · 1 warning', 'Could not check for problems in all files'] }],
  ['code.symbols', { args: { path: 'src/a.ts' }, data: { files: lines },
    says: ['List what is defined in src/a.ts', 'Listing what is defined in src/a.ts', 'Listed what is defined in src/a.ts · 2 names', 'Could not list what is defined in src/a.ts'] }],
  ['code.definition', { args: { path: 'src/a.ts', line: 4, symbol: 'greet' }, data: { places: 1, files: lines },
    says: ['Look where it is defined: greet of src/a.ts:4', 'Looking where it is defined: greet of src/a.ts:4', 'Looked where it is defined: greet of src/a.ts:4 · 1 place', 'Could not look where it is defined: greet of src/a.ts:4'] }],
  ['code.references', { args: { path: 'src/a.ts', line: 4, symbol: 'greet' }, data: { places: 2, files: [...lines, ...lines] },
    says: ['Look where it is used: greet of src/a.ts:4', 'Looking where it is used: greet of src/a.ts:4', 'Looked where it is used: greet of src/a.ts:4 · 2 places in 2 files', 'Could not look where it is used: greet of src/a.ts:4'] }],
  ['editor.context', { args: {}, data: { active: { path: 'src/a.ts', selection: { startLine: 2, endLine: 5 } } },
    says: ['Look at the editor', 'Looking at the editor', 'Looked at the editor: src/a.ts:2-5', 'Could not look at the editor'] }],
  ['web.fetch', { args: { url: 'https://example.com/docs/page' }, data: { url: 'https://example.com/docs/page', bytes: 12_400 },
    says: ['Get example.com/docs/page', 'Getting example.com/docs/page', 'Got example.com/docs/page · 12 KB', 'Could not get example.com/docs/page'] }],
  ['plan.update', { args: { items: [] }, data: { items: 6, done: 3 },
    says: ['Change the plan', 'Planning', 'Planned · 3 of 6 done', 'Could not change the plan'] }],
  ['ask.person', { args: { questions: [{ question: 'Which one?' }] }, data: {},
    says: ['Ask Which one?', 'Asking Which one?', 'Asked Which one?', 'Could not ask Which one?'] }],
  ['mcp.search_tools', { args: { query: 'issues' }, data: { tools: [{}, {}] },
    says: ['Look for a tool: issues', 'Looking for a tool: issues', 'Looked for a tool: issues · 2 found', 'Could not look for a tool: issues'] }],
  ['mcp.call_tool', { args: { name: 'mcp.git_hub.create_issue', arguments: {} }, data: {},
    says: ['Use git hub: create issue', 'Using git hub: create issue', 'Used git hub: create issue', 'Could not use git hub: create issue'] }],
  ['mcp.read_resource', { args: { server: 'docs' }, data: { resources: [] },
    says: ['List what can be read at docs', 'Listing what can be read at docs', 'Listed what can be read at docs', 'Could not list what can be read at docs'] }],
  ['mcp.docs.read_all-files', { args: { path: 'x' }, data: { text: '' },
    says: ['Use docs: read all-files', 'Using docs: read all-files', 'Used docs: read all-files', 'Could not use docs: read all-files'] }],
]; // biome-ignore format: a table

const seenOf = (name: string, { args, state }: Pick<Row, 'args' | 'state'>, more: Partial<Seen> = {}): Seen => ({
  call: { id: 'c', name, arguments: args },
  phase: 'Running',
  now: 0,
  lineOf: (id) => (id === 'abcdef01' ? 'npm run dev' : undefined),
  ...more,
  ...((state || more.state) && { state: { status: 'done', ...state, ...more.state } as CallState }),
});

/** How a call can stand that was not simply done: what is known of it, its mark, and what is said behind its object. */
const outcomes: [says: string, mark: Mark, seen: Partial<Seen>][] = [
  ['Waits its turn', 'waits', {}],
  ['Waiting for your answer', 'asks', { state: { status: 'asking' } }],
  ['You said no', 'none', { state: { status: 'done', decision: 'deny' } }],
  ['You said no · “not in this file”', 'none',
    { state: { status: 'done', decision: 'deny' }, outcome: failure('TOOL_DENIED', '', { words: 'not in this file' }) }],
  ['Refused: your rule “run commands”', 'none',
    { state: { status: 'done', decision: 'deny', automatic: 'Denied by your rule “shell.run”.' } }],
  ['Refused: your rule for this workspace “edit src/**”', 'none',
    { state: { status: 'done', decision: 'deny', automatic: 'Denied by your rule for this workspace “fs.edit src/**”.' } }],
  ['Not run: you stopped', 'none', { phase: 'Failed', stopped: true }],
  ['Not run', 'none', { phase: 'WaitingUser' }],
  ['Interrupted by the last window', 'none', { phase: 'WaitingUser', state: { status: 'running', startedAt: 1 } }],
  ['Not run: you said something first', 'none', { outcome: notRun }],
  ['Not run: it was not answered', 'none', { outcome: toldAfterwards(undefined) }],
  ['Not run here: the run was imported', 'none',
    { outcome: failure('TOOL_INTERRUPTED', 'This run was imported from a file. The call did not run here.') }],
  ['interrupted by the last window', 'cross',
    { state: { status: 'done', ok: false, code: 'TOOL_INTERRUPTED', startedAt: 1 },
      outcome: toldAfterwards({ status: 'done', ok: false, code: 'TOOL_INTERRUPTED' }) }],
  ['interrupted by the last window, and went on: npm (7)', 'cross',
    { state: { status: 'done', ok: false, code: 'TOOL_INTERRUPTED', startedAt: 1, stillRunning: ['npm (7)'] } }],
  ['you stopped it', 'cross', { state: { status: 'done', ok: false, startedAt: 1, code: 'TOOL_INTERRUPTED' }, outcome: failure('TOOL_INTERRUPTED', 'Stopped while it ran.') }],
  ['Changed by you before you allowed it', 'check', { state: { status: 'done', ok: true, edited: true, decision: 'allow' } }],
  ['Allowed by your rule “npm test”', 'check',
    { state: { status: 'done', ok: true, decision: 'allow', automatic: 'Allowed by your rule “shell.run npm test”.' } }],
  ['', 'check', { state: { status: 'done', ok: true, decision: 'allow', automatic: 'Allowed because reads are free.' } }],
  ['Undone', 'undone', { state: { status: 'done', ok: true, changes: [{ path: 'a', before: 'x', after: 'y' }], undone: ['a'] } }],
  ['Partly undone', 'undone',
    { state: { status: 'done', ok: true, changes: ['a', 'b'].map((one) => ({ path: one, before: 'x', after: 'y' })), undone: ['a'] } }],
]; // biome-ignore format: a table

/** What no first line says: a code, data, a name of ours with its dot or underscore. */
function checkWords(line: CardLine): void {
  const own = [line.verb, ...line.object.filter(({ code }) => !code).map(wordsOf), ...line.outcome.map(wordsOf)].join(
    ' ',
  );
  assert.doesNotMatch(own, /[_{}[\]<>`]|undefined|null|NaN|\b[A-Z]{3,}\b/, own);
  for (const name of toolNames()) assert.ok(!own.includes(name), own);
}

describe('The first line of a card', () => {
  it('has words for every tool', () => {
    assert.deepEqual(Object.keys(toolWords).filter((name) => !name.startsWith('mcp.')).sort(), toolNames().sort()); // biome-ignore format: one line
    for (const name of Object.keys(toolWords)) assert.ok(rows.some(([one]) => one === name), name); // biome-ignore format: one line
  });

  for (const [name, row] of rows) {
    const [asked, doing, done, not] = row.says;
    it(`of ${name} says: ${done}`, () => {
      const line = (more: Partial<Seen>) => {
        const one = cardLine(seenOf(name, row, more));
        checkWords(one);
        return one;
      };
      const answered = row.data === undefined ? {} : { outcome: { ok: true, data: row.data } as ToolOutcome };
      const plain = { ...row, state: undefined };
      assert.equal(spoken(cardLine(seenOf(name, plain))), `${asked} · Waits its turn`);
      assert.equal(spoken(cardLine(seenOf(name, plain, { state: { status: 'running', startedAt: 0 } }))), doing);
      assert.equal(spoken(line({ ...answered, state: { status: 'done', ok: true, ms: 40 } })), done);
      const failed = spoken(cardLine(seenOf(name, plain, { outcome: failure('TOOL_EXEC_FAILED', 'a_b {}') })));
      assert.equal(failed, `${not}: it failed`);
    });

    it(`of ${name} tells every other outcome, and names its object: ${done}`, () => {
      for (const [says, mark, seen] of outcomes) {
        const one = cardLine(seenOf(name, { args: row.args }, seen));
        checkWords(one);
        assert.deepEqual([one.mark, one.outcome.map(wordsOf).join(' · ')], [mark, says]);
        assert.ok(one.object.length > 0 || name === 'plan.update', says);
      }
    });

    it(`of ${name} has words for every code: ${done}`, () => {
      for (const code of Object.keys(codeWords) as Code[]) {
        const state: CallState = { status: 'done', ok: false, code, ms: 5, startedAt: 0 };
        const outcome = failure(code, `${code} x_y {"a":1}`);
        const one = cardLine(seenOf(name, { args: row.args }, { state, outcome }));
        checkWords(one);
        assert.ok(one.mark === 'cross' || one.mark === 'none', code);
        assert.ok(one.outcome.length > 0, code);
      }
    });
  }

  it('says why an edit or a path was refused, in words', () => {
    const says = (name: string, code: 'E_PRECONDITION_FAILED' | 'E_SANDBOX_VIOLATION' | 'ENOENT' | 'TOOL_ARGS_INVALID' | 'TOOL_EXEC_FAILED', message: string, details?: unknown) =>
      spoken(cardLine(seenOf(name, { args: { path: 'src/a.ts', pattern: '(', name: 'x' } }, { outcome: failure(code, message, details) }))); // biome-ignore format: one line
    for (const [reason, words] of Object.entries(editWords))
      assert.equal(says('fs.edit', 'E_PRECONDITION_FAILED', 'oldText …', { reason, lines: [] }), `Could not edit src/a.ts: ${words}`);
    for (const [reason, words] of Object.entries(refusalWords))
      assert.equal(says('fs.read', 'E_SANDBOX_VIOLATION', 'x', { reason }), `Could not read src/a.ts: ${words}`);
    assert.equal(
      says('fs.edit', 'E_PRECONDITION_FAILED', 'x', { reason: 'ABSENT', lines: [12, 13, 18] }),
      'Could not edit src/a.ts: the text is not there (lines 12-18)',
    );
    assert.equal(says('fs.read', 'ENOENT', 'x'), 'Could not read src/a.ts: there is no such file');
    assert.equal(says('fs.search', 'TOOL_ARGS_INVALID', 'pattern: bad'), 'Could not search ( in src/a.ts: the pattern is not valid');
    assert.equal(says('mcp.docs.get', 'TOOL_EXEC_FAILED', 'The page was moved. Try get_page.'), 'Could not use docs: get: The page was moved');
    assert.equal(says('mcp.docs.get', 'TOOL_EXEC_FAILED', '{"error":"x"}'), 'Could not use docs: get: it failed');
  }); // biome-ignore format: rows

  const commands: [line: string, data: object, mark: Mark, says: string][] = [
    ['npm test', { exitCode: 0 }, 'check', ''],
    ['npm test', { exitCode: 1 }, 'dot', 'ended with 1'],
    ['grep -rn x src', { exitCode: 1 }, 'check', 'no match'],
    ['cat a | grep x', { exitCode: 1 }, 'check', 'no match'],
    ['grep x a', { exitCode: 2 }, 'dot', 'ended with 2'],
    ['npm test; grep x a', { exitCode: 1 }, 'dot', 'ended with 1'],
    ['diff a b', { exitCode: 1 }, 'check', 'they differ'],
    ['npm test', { exitCode: null, signal: 'SIGKILL' }, 'cross', 'was killed'],
    ['cat a', { exitCode: null, cut: 'It wrote more' }, 'cross', 'was ended: it wrote too much'],
  ];
  for (const [command, data, mark, says] of commands)
    it(`of ${command}, with ${JSON.stringify(data)}, has a ${mark}`, () => {
      const one = cardLine(seenOf('shell.run', { args: { command } }, { outcome: { ok: true, data } }));
      assert.deepEqual([one.mark, one.outcome.map(wordsOf).join()], [mark, says]);
    });

  it('of a command that was ended says by what', () => {
    const state: CallState = { status: 'done', ok: false, startedAt: 1, ms: 60_000, code: 'TOOL_TIMEOUT' };
    const says = (outcome: ToolOutcome, code: string) =>
      spoken(cardLine(seenOf('shell.run', { args: { command: 'npm test' } }, { state: { ...state, code }, outcome })));
    assert.equal(says(failure('TOOL_TIMEOUT', 'x'), 'TOOL_TIMEOUT'), 'Ran npm test · was ended: its time was over · 1 min');
    assert.equal(says(failure('TOOL_INTERRUPTED', 'Stopped while it ran; x.'), 'TOOL_INTERRUPTED'), 'Ran npm test · you stopped it · 1 min');
  }); // biome-ignore format: rows

  it('knows what the codes of programs mean that only read, and of no other line', () => {
    for (const line of ['grep x a', 'FOO=1 rg x', 'cat a | rg "a;b"', 'git grep x', 'git diff --quiet', 'test -f a', '[ -f a ]', "grep 'a|b' f"])
      assert.ok(exitAnswer(line, 1), line); // biome-ignore format: one line
    for (const line of ['npm test', 'grep x a || false', 'grep x a && npm test', 'grep x $(cat y)', 'git diff', 'grep x a; exit 1', 'grep x a > b && false', 'toString x'])
      assert.equal(exitAnswer(line, 1), undefined, line); // biome-ignore format: one line
  });

  it('of an edit that is being written has its path, and its newest lines', () => {
    const draft = { name: 'fs.write', argumentsText: '{"path":"src/a.ts","content":"one\\ntwo\\nth\\"ree\\nfour\\u00' };
    assert.equal(spoken(draftLine(draft)), 'Writing src/a.ts');
    assert.deepEqual(writingOf(draft), {
      lines: 4,
      newest: ['two', 'th"ree', 'four'].map((text) => ({ sign: '+', text })),
    });
    assert.equal(writingOf({ name: 'fs.edit', argumentsText: '{"path":"a","edits":[{"oldText":"x"' }), undefined);
    assert.deepEqual(
      writingOf({ name: 'fs.edit', argumentsText: '{"edits":[{"oldText":"x","newText":"a\\\\nb\\nc"}],"path":"a"}' })
        ?.newest,
      [
        { sign: '+', text: 'a\\nb' },
        { sign: '+', text: 'c' },
      ],
    );
    assert.deepEqual(writingOf({ name: 'fs.apply_patch', argumentsText: '{"patch":"--- a\\n-old\\n+new\\n same' })?.newest.map(({ sign }) => sign).join(''), '-+ '); // biome-ignore format: one line
    const grows = { name: 'fs.write', argumentsText: '{"path":"a","content":"' };
    for (const piece of ['one\\', 'ntwo\\\\', 'n\\n', 'three"}']) {
      grows.argumentsText += piece;
      assert.deepEqual(writingOf(grows), writingOf({ ...grows }), 'piece by piece as all at once');
    }
    assert.equal(writingOf(grows)?.lines, 3);
    assert.equal(spoken(draftLine({ name: '', argumentsText: '' })), 'Writing');
  });
});

describe('A card of a model that means harm', () => {
  it('costs no more than its text, and shows no more of it than can be read', () => {
    const long = 'a'.repeat(300_000);
    for (const path of [long, `${long}//`, '/'.repeat(300_000), `${long}\n{"x":`, 'a/'.repeat(150_000)])
      for (const name of Object.keys(toolWords)) {
        const args = {
          path,
          command: path,
          pattern: path,
          url: `https://${path}`,
          from: path,
          to: path,
          patch: path,
          name: path,
        };
        const line = cardLine(
          seenOf(
            name,
            { args },
            { state: { status: 'done', ok: false, code: path }, outcome: failure('TOOL_EXEC_FAILED', path) },
          ),
        );
        assert.ok(line.outcome.every((one) => wordsOf(one).length < 300));
      }
    assert.ok(exitAnswer('"'.repeat(100_000) + "'".repeat(100_000), 1) === undefined);
  });
});

describe('The words of a code', () => {
  it('are there for every code that stands in the sources', () => {
    const files = (folder: string): string[] =>
      readdirSync(folder, { withFileTypes: true, recursive: true })
        .filter((one) => one.isFile() && one.name.endsWith('.ts'))
        .map((one) => path.join(one.parentPath, one.name));
    const found = files(path.join(root, 'src')).flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/\bcode: '([A-Z_]{3,})'|failedWith\('([A-Z_]+)'/g)].map(
        ([, one, other]) => one ?? other!,
      ),
    );
    assert.ok(found.length > 20);
    assert.deepEqual([...new Set(found.filter((code) => !isCode(code)))], []);
  });

  it('are sentences for who has no others', () => {
    assert.equal(errorSentence({ code: 'STORE_FULL', message: '' }), 'The disk is full, so the run is not recorded.');
    assert.equal(errorSentence({ code: 'X', message: 'It broke.' }), 'It broke.');
    for (const words of [codeWords, refusalWords, editWords].flatMap((one) => Object.values(one)))
      assert.match(words, /^[a-z][^_{}.]*$/);
  });
});
