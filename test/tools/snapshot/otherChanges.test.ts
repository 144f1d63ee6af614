import assert from 'node:assert/strict';
import { filesSince } from '../../../src/tools/snapshot/earlierRecord.ts';
import {
  changesSeen,
  type OtherChange,
  type PathChange,
  type PathState,
  withoutOtherChanges,
} from '../../../src/tools/snapshot/otherChanges.ts';

const text = (id: string | null): PathState | null =>
  id === null ? null : { kind: 'file', id, isText: true, mode: 0o644 };
/** `a: A→B`; `-`: no file. */
const changeOf = (row: string): PathChange => {
  const [path, before, after] = row.split(/: |→/) as [string, string, string];
  const state = (id: string) =>
    id === 'folder' ? { kind: 'folder' as const, id, mode: 0o755 } : text(id === '-' ? null : id);
  return { path, before: state(before), after: state(after) };
};
const otherOf = (row: string, index: number): OtherChange => {
  const seq = 10 * (index + 1);
  const [from, to] = row.split(' moved to ');
  if (to !== undefined) return { seq, moved: { from: from!, to } };
  const { path, before, after } = changeOf(row);
  return { seq, changes: [{ path, before: before?.id ?? null, after: after?.id ?? null }] };
};
const rowOf = ({ path, before, after, seq }: PathChange): string =>
  `${path}: ${before?.id ?? '-'}→${after?.id ?? '-'}${seq === undefined ? '' : ` @${seq}`}`;

describe('changes of a background command without those of file tools', () => {
  const cases: { name: string; found: string[]; others: string[]; left: string[] }[] = [
    { name: 'another file stays', found: ['a: A→B'], others: ['b: C→D'], left: ['a: A→B'] },
    { name: 'the edit of a tool goes', found: ['a: A→B'], others: ['a: A→B'], left: [] },
    { name: 'a file that a tool made goes', found: ['a: -→B'], others: ['a: -→B'], left: [] },
    { name: 'two edits go', found: ['a: A→C'], others: ['a: A→B', 'a: B→C'], left: [] },
    { name: 'a change before', found: ['a: A→C'], others: ['a: B→C'], left: ['a: A→B @9.5'] },
    { name: 'a change after', found: ['a: A→C'], others: ['a: A→B'], left: ['a: B→C'] },
    { name: 'a change between', found: ['a: A→D'], others: ['a: A→B', 'a: C→D'], left: ['a: B→C @19.5'] },
    { name: 'the edit of a tool taken back', found: [], others: ['a: A→B'], left: [] },
    { name: 'an edit whose end was recorded later', found: ['a: B→C'], others: ['a: A→B'], left: ['a: B→C'] },
    { name: 'an edit and its undo', found: [], others: ['a: A→B', 'a: B→A'], left: [] },
    { name: 'a moved file', found: ['a: A→-', 'd/b: -→A'], others: ['a moved to d/b'], left: [] },
    { name: 'a moved file, then changed', found: ['a: A→-', 'b: -→B'], others: ['a moved to b'], left: ['b: A→B'] },
    { name: 'edited, then moved', found: ['a: A→-', 'b: -→B'], others: ['a: A→B', 'a moved to b'], left: [] },
    {
      name: 'a moved folder with a new file in it',
      found: ['d/a: A→-', 'e/a: -→A', 'e/n: -→N'],
      others: ['d moved to e'],
      left: ['e/n: -→N'],
    },
    { name: 'a moved file, deleted', found: ['a: A→-'], others: ['a moved to b'], left: ['b: A→-'] },
    { name: 'a folder that a tool filled', found: ['d: folder→-', 'd/a: -→A'], others: ['d/a: -→A'], left: [] },
  ];
  for (const { name, found, others, left } of cases)
    it(name, () => {
      const remaining = withoutOtherChanges(found.map(changeOf), others.map(otherOf));
      assert.deepEqual(remaining.map(rowOf).sort(), [...left].sort());
    });

  it('leaves out other encodings: their contents cannot be compared', () => {
    const bytes = (id: string): PathState => ({ kind: 'file', id, mode: 0o644 });
    const found = [{ path: 'a', before: bytes('A'), after: bytes('B') }];
    assert.deepEqual(withoutOtherChanges(found, [otherOf('a: C→D', 0)]), []);
  });
});

describe('changes since an earlier record', () => {
  const earlier = [
    { path: 'a', before: 'A', after: 'B', mode: 0o644, afterMode: 0o644 },
    { path: 'n', before: null, after: 'N', afterKind: 'file' as const, afterMode: 0o755 },
  ];

  it('are no change that it contains, and begin where it ends', () => {
    assert.deepEqual(filesSince(['a: A→B', 'c: C→D'].map(changeOf), earlier).map(rowOf), ['c: C→D']);
    assert.deepEqual(filesSince(['a: A→C', 'n: -→-'].map(changeOf), earlier).map(rowOf), ['a: B→C', 'n: N→-']);
  });
});

describe('what a comparison has seen of a file tool that ended after it', () => {
  const cases: { name: string; found: string[]; others: string[]; left: string[] }[] = [
    { name: 'nothing yet', found: ['a: A→B'], others: ['a: B→C'], left: ['a: A→B'] },
    { name: 'nothing of two edits', found: ['a: A→B'], others: ['a: B→C', 'a: C→D'], left: ['a: A→B'] },
    { name: 'one of two edits', found: ['a: A→C'], others: ['a: B→C', 'a: C→D'], left: ['a: A→B @9.5'] },
    { name: 'all', found: ['a: A→C'], others: ['a: B→C'], left: ['a: A→B @9.5'] },
    { name: 'all, and a later change', found: ['a: A→D'], others: ['a: A→B'], left: ['a: B→D'] },
    { name: 'no move yet', found: ['d/a: A→B'], others: ['d moved to e'], left: ['d/a: A→B'] },
    { name: 'no move to a new folder yet', found: ['e: -→folder'], others: ['a moved to e/a'], left: ['e: -→folder'] },
    { name: 'the move', found: ['d/a: A→-', 'e/a: -→B'], others: ['d moved to e'], left: ['e/a: A→B'] },
  ];
  for (const { name, found, others, left } of cases)
    it(name, () => {
      const compared = found.map(changeOf);
      assert.deepEqual(withoutOtherChanges(compared, changesSeen(others.map(otherOf), compared)).map(rowOf), left);
    });
});
