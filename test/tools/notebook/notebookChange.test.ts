import assert from 'node:assert/strict';
import { fileChangeText } from '../../../src/extension/dialogs/changeText.ts';
import { formatFileChange } from '../../../src/tools/edit/diff.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { conversation } from '../conversation.ts';

type Cell = [kind: 'code' | 'markdown', source: string];
const notebook = (cells: Cell[], indent = 1) =>
  JSON.stringify(
    {
      cells: cells.map(([cell_type, source], at) => ({
        cell_type,
        id: `c${at}`,
        metadata: {},
        ...(cell_type === 'code' && { execution_count: null, outputs: [] }),
        source: source.split(/(?<=\n)/),
      })),
      metadata: {},
      nbformat: 4,
      nbformat_minor: 5,
    },
    null,
    indent,
  );
const first: Cell = ['markdown', '# Title'];
const second: Cell = ['code', 'import os\nprint(1)\n'];

describe('a change of a notebook', () => {
  const cases: [name: string, before: string | null, after: string, shown: string, size: string][] = [
    [
      'is shown by its cell, in whose source the lines are counted',
      notebook([first, second]),
      notebook([first, ['code', 'import os\nprint(2)\n']]),
      '@@ -2,1 +2,1 @@ cell 2\n-print(1)\n+print(2)',
      '+1 −1',
    ],
    [
      'is the same in whatever form the file is written',
      notebook([first, second]),
      notebook([first, ['code', 'import os\nprint(2)\n']], 4),
      '@@ -2,1 +2,1 @@ cell 2\n-print(1)\n+print(2)',
      '+1 −1',
    ],
    [
      'that adds a cell shows its kind and its lines',
      notebook([first]),
      notebook([first, second]),
      '@@ -2,0 +0,3 @@ cell 2\n+--- code ---\n+import os\n+print(1)',
      '+3 −0',
    ],
    [
      'that removes a cell names the one that goes',
      notebook([first, second]),
      notebook([first]),
      '@@ -0,3 +2,0 @@ cell 2\n---- code ---\n-import os\n-print(1)',
      '+0 −3',
    ],
    [
      'that creates it names each cell once',
      null,
      notebook([first]),
      '@@ -0,0 +0,2 @@ cell 1\n+--- markdown ---\n+# Title',
      'creates a file of 2 lines',
    ],
  ];
  for (const [name, before, after, shown, size] of cases)
    it(name, () => {
      const diff = formatFileChange('a/b.ipynb', before, after, 2000);
      assert.equal(diff, shown);
      assert.equal(fileChangeText({ path: 'b.ipynb', before, after }).size, size);
    });

  it('is shown as text where only other parts of the file change, or it is no notebook', () => {
    const before = notebook([first]);
    assert.match(formatFileChange('b.ipynb', before, notebook([first], 2), 2000), /^@@ -\d+,\d+ \+\d+,\d+ @@\n-/);
    assert.equal(formatFileChange('b.ipynb', 'one\n', 'two\n', 9), '@@ -1,1 +1,1 @@\n-one\n+two');
    assert.equal(formatFileChange('b.json', before, `${before}\n\n`, 9), '@@ -15,0 +16,1 @@\n+');
  });

  it('that its editor writes in a form of its own says nothing of a formatter, and counts lines of cells', async () => {
    const workspace = await temporaryWorkspace({ 'n.ipynb': notebook([first, second]) });
    try {
      const { writeText } = workspace;
      workspace.writeText = (path, text, ...more) =>
        writeText.call(workspace, path, JSON.stringify(JSON.parse(text), null, 4), ...more);
      const { call: run, events } = conversation(workspace);
      const outcome = await run('fs.edit', {
        path: 'n.ipynb',
        cell: 2,
        edits: [{ oldText: 'print(1)', newText: 'print(2)' }],
      });
      assert.ok(outcome.ok);
      const { added, removed, changedOnSave } = outcome.data as Record<string, unknown>;
      assert.deepEqual([added, removed, changedOnSave], [1, 1, undefined]);
      const diffs = events.flatMap((event) =>
        event.type === 'tool-end' ? [event.diff] : event.type === 'question' ? [event.question.diff] : [],
      );
      assert.deepEqual(diffs, Array(2).fill('@@ -2,1 +2,1 @@ cell 2\n-print(1)\n+print(2)'));
    } finally {
      workspace.cleanup();
    }
  });
});
