import assert from 'node:assert/strict';
import { changedCellSources, notebookReplacementProblem, parseNotebook } from '../../../src/tools/notebook/notebook.ts';
import { replaceCellSource } from '../../../src/tools/notebook/source.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation, error } from '../conversation.ts';

const code = (id: string, source: string | string[], outputs: object[] = []) => ({
  cell_type: 'code',
  execution_count: 1,
  id,
  metadata: { tags: ['kept'] },
  outputs,
  source,
});
const words = { cell_type: 'markdown', id: 'w', metadata: {}, source: ['# Title\n', 'Words.'] };
const stream = (text: string) => ({ name: 'stdout', output_type: 'stream', text: [text] });
const notebook = (...cells: object[]) =>
  `${JSON.stringify({ cells, metadata: { kernelspec: { name: 'python3' } }, nbformat: 4, nbformat_minor: 5 }, null, 1)}\n`;

describe('notebooks', () => {
  let workspace: TemporaryWorkspace;
  afterEach(() => workspace?.cleanup());
  const begin = async (files: Record<string, string>) => {
    workspace = await temporaryWorkspace(files);
  };
  const does = (name: string, args: Record<string, unknown>) => conversation(workspace).call(name, args);

  it('are read cell by cell, with what each gave, shortened', async () => {
    const picture = {
      output_type: 'display_data',
      metadata: {},
      data: { 'image/png': 'x'.repeat(5000), 'text/plain': ['<Figure>'] },
    };
    const failure = {
      output_type: 'error',
      ename: 'ValueError',
      evalue: 'no',
      traceback: ['\u001b[31mline 1\u001b[0m'],
    };
    await begin({
      'a.ipynb': notebook(
        words,
        code('b', ['a = 1\n', 'print(a)'], [stream('1\n')]),
        code('c', 'plot()', [picture]),
        code('d', 'x()', [failure]),
        code('e', 'long()', [stream(`${'y'.repeat(9000)}END`)]),
      ),
    });
    const outcome = await does('fs.read', { path: 'a.ipynb' });
    const { text, note, totalLines } = (
      outcome as unknown as { data: { text: string; note: string; totalLines: number } }
    ).data;
    assert.equal(note, 'A notebook of 5 cells: edit one by fs.edit with `cell`.');
    assert.equal(totalLines, text.split('\n').length);
    const [before, long] = text.split('--- cell 5: code ---\n');
    assert.equal(
      before,
      [
        '--- cell 1: markdown ---',
        '# Title',
        'Words.',
        '--- cell 2: code ---',
        'a = 1',
        'print(a)',
        '--- output of cell 2 ---',
        '1',
        '--- cell 3: code ---',
        'plot()',
        '--- output of cell 3 ---',
        '<Figure>',
        '(image/png, 5002 characters, not shown)',
        '--- cell 4: code ---',
        'x()',
        '--- output of cell 4 ---',
        'line 1',
        'ValueError: no',
        '',
      ].join('\n'),
    );
    assert.match(long!, /^long\(\)\n--- output of cell 5 ---\ny+\n\(… 7003 characters left out …\)\ny+END$/);
  });

  it('are edited in one cell, by its number; every other byte stays', async () => {
    const all = notebook(words, code('b', ['a = 1\n', 'print(a)'], [stream('1\n')]), code('c', 'a = 1'));
    const odd = all.replace('"nbformat": 4', '"nbformat":   4').replace('Title', '\\u0054itle');
    await begin({ 'a.ipynb': odd });
    assert.equal(
      (await does('fs.edit', { path: 'a.ipynb', cell: 2, edits: [{ oldText: 'a = 1', newText: 'a = 2\nb = 3' }] })).ok,
      true,
    );
    assert.equal(
      (await does('fs.edit', { path: 'a.ipynb', cell: 3, edits: [{ oldText: 'a = 1', newText: 'a = "ä"' }] })).ok,
      true,
    );
    const expected = odd
      .replace('"a = 1\\n",\n', '"a = 2\\n",\n    "b = 3\\n",\n')
      .replace('"source": "a = 1"', '"source": "a = \\"ä\\""');
    assert.equal(workspace.read('a.ipynb'), expected);
  });

  const refusals: [what: string, args: Record<string, unknown>, says: RegExp][] = [
    [
      'without a cell',
      { edits: [{ oldText: 'a', newText: 'b' }] },
      /name the one to edit: the notebook has 1 cell, numbered from 1\. Nothing was changed/,
    ],
    [
      'of a cell that is not there',
      { cell: 2, edits: [{ oldText: 'a', newText: 'b' }] },
      /there is no cell 2: the notebook has 1 cell/,
    ],
    [
      'of what is not in the cell',
      { cell: 1, edits: [{ oldText: 'python3', newText: 'b' }] },
      /oldText is not in "a\.ipynb"/,
    ],
  ];
  for (const [what, args, says] of refusals)
    it(`an edit ${what} is refused`, async () => {
      const before = notebook(code('b', 'a = 1'));
      await begin({ 'a.ipynb': before });
      assert.match((await error(does('fs.edit', { path: 'a.ipynb', ...args }))).message, says);
      assert.equal(workspace.read('a.ipynb'), before);
    });

  it('a cell of what is no notebook is refused, and a broken notebook is a text that can be mended', async () => {
    await begin({ 'a.py': 'a', 'b.ipynb': '{ "cells": [' });
    assert.match(
      (await error(does('fs.edit', { path: 'a.py', cell: 1, edits: [{ oldText: 'a', newText: 'b' }] }))).message,
      /"a\.py" is not a notebook\. Leave it out/,
    );
    assert.equal(
      ((await does('fs.read', { path: 'b.ipynb' })) as unknown as { data: { text: string } }).data.text,
      '{ "cells": [',
    );
    assert.equal((await does('fs.write', { path: 'b.ipynb', content: notebook(words) })).ok, true);
  });

  const before = notebook(words, code('b', 'a = 1'));
  type Raw = { cells: { id?: string; source?: unknown; metadata: object }[] };
  const changed = (change: (raw: Raw) => void) => {
    const raw: Raw = JSON.parse(before);
    change(raw);
    return JSON.stringify(raw);
  };
  const writes: [what: string, content: string, says: RegExp][] = [
    ['no JSON', before.slice(0, -10), /would not be a notebook any more: it is not JSON/],
    ['cells as text', '# Title\nprint(1)', /it is not JSON/],
    ['no cells', '{"metadata":{},"nbformat":4}', /it has no `cells`/],
    ['a cell without a source', changed((raw: Raw) => delete raw.cells[0]!.source), /cell 1 lacks/],
    [
      'its metadata lost',
      changed((raw: Raw) => Object.assign(raw, { metadata: {} })),
      /metadata would lose `kernelspec`/,
    ],
    ['metadata of a cell lost', changed((raw: Raw) => (raw.cells[1]!.metadata = {})), /Cell 2 would lose `tags`/],
    ['the ids lost', changed((raw: Raw) => delete raw.cells[0]!.id), /A cell would have no `id`/],
    ['an older format', changed((raw: Raw) => Object.assign(raw, { nbformat: 3 })), /no `nbformat` of 4 or more/],
    ['brackets without end', '['.repeat(100_000), /nested more than/],
  ];
  for (const [what, content, says] of writes)
    it(`a write with ${what} is refused`, async () => {
      await begin({ 'a.ipynb': before });
      const { message } = await error(does('fs.write', { path: 'a.ipynb', content }));
      assert.match(message, says);
      assert.match(message, /Nothing was written\. To change a cell, use fs\.edit with `cell`\.$/);
      assert.equal(workspace.read('a.ipynb'), before);
    });

  it('cells can be added, moved and removed by a write', () => {
    assert.equal(notebookReplacementProblem(before, notebook(code('n', 'new'), code('b', 'a = 2'))), undefined);
    assert.equal(notebookReplacementProblem(null, before), undefined);
    assert.equal(notebookReplacementProblem('no notebook', before), undefined);
  });

  it('an open editor is given the sources alone, where nothing else changes', () => {
    assert.deepEqual(changedCellSources(before, replaceCellSource(before, 1, 'a = 2')), new Map([[1, 'a = 2']]));
    assert.equal(changedCellSources(before, notebook(words)), undefined);
    assert.equal(changedCellSources(before, notebook(words, code('b', 'a = 1', [stream('1')]))), undefined);
    for (const source of ['', '\n', 'a\n\nb', 'ends\n', '"\\']) {
      const made = parseNotebook(replaceCellSource(before, 0, source));
      assert.equal(typeof made === 'string' ? made : made.cells[0]!.source, source);
    }
  });
});
