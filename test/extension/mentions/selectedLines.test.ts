import assert from 'node:assert/strict';
import { selectedLines } from '../../../src/extension/mentions/selectedLines.ts';

type Position = [line: number, character: number];

const lines = ([line, character]: Position, [endLine, endCharacter]: Position) =>
  selectedLines({ start: { line, character }, end: { line: endLine, character: endCharacter } });

describe('the lines of a selection', () => {
  it('are all that it touches', () => assert.deepEqual(lines([1, 3], [2, 1]), { from: 2, to: 3 }));
  it('are the line of a cursor, at its start, too', () => {
    assert.deepEqual(lines([4, 2], [4, 2]), { from: 5, to: 5 });
    assert.deepEqual(lines([4, 0], [4, 0]), { from: 5, to: 5 });
  });
  it('end above a line of which nothing is selected', () =>
    assert.deepEqual(lines([0, 0], [2, 0]), { from: 1, to: 2 }));
});
