import assert from 'node:assert/strict';
import { lineEditRevertingChange, lineEditsBetween } from '../../../src/tools/changes/revertHunk.ts';

describe('The change at a line is taken back', () => {
  const before = 'one\ntwo\nthree\nfour\nfive\n';
  const applied = (now: string, line: number, was = before) => {
    const edit = lineEditRevertingChange(line, was, now);
    if (!edit) return undefined;
    const lines = now.split(/\r?\n/);
    lines.splice(edit.start, edit.end - edit.start, ...edit.lines);
    return lines.join('\n');
  };
  const cases: [what: string, now: string, line: number, then: string | undefined, was?: string][] = [
    ['a line that was changed, and no other', 'ONE\ntwo\nthree\nFOUR\nfive\n', 0, 'one\ntwo\nthree\nFOUR\nfive\n'],
    ['the other one', 'ONE\ntwo\nthree\nFOUR\nfive\n', 3, 'ONE\ntwo\nthree\nfour\nfive\n'],
    ['nothing where nothing was changed', 'ONE\ntwo\nthree\nFOUR\nfive\n', 1, undefined],
    ['lines that were added, from each of them', 'one\nnew\nnewer\ntwo\nthree\nfour\nfive\n', 2, before],
    ['a line that was removed, from the one before it', 'one\nthree\nfour\nfive\n', 0, before],
    ['a line that was removed, from the one after it', 'one\nthree\nfour\nfive\n', 1, before],
    ['the changed line, where one beside it was removed', 'one\nTHREE\nfour\nfive\n', 1, before],
    ['the end of a file', 'one\ntwo\nthree\nfour\nfive\nsix\n', 5, before],
    ['the last line end', 'one\ntwo\nthree\nfour\nfive', 4, before],
    ['a file that there was not', 'one\n', 0, '', ''],
    ['a line of a file with other line ends', 'ONE\r\ntwo\r\n', 0, 'one\ntwo\n', 'one\r\ntwo\r\n'],
    ['nothing of a mark that an editor does not show', 'one\n', 0, undefined, '\uFEFFone\n'],
  ];
  for (const [what, now, line, then, was] of cases) it(what, () => assert.equal(applied(now, line, was), then));
  it('as it is found in the list of all changes', () => {
    const now = 'ONE\ntwo\nthree\nFOUR\nnew\nfive';
    const all = lineEditsBetween(before, now);
    assert.equal(all.length, 3);
    for (const edit of all) assert.deepEqual(lineEditRevertingChange(edit.start, before, now), edit);
  });
});
