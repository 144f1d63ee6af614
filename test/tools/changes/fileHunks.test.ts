import assert from 'node:assert/strict';
import {
  type FileVersion,
  fileHunks,
  firstFileVersion,
  hunkAtLine,
  hunksMissingIn,
  nextFileVersion,
  textWithoutHunk,
  type VersionAuthor,
} from '../../../src/tools/changes/fileHunks.ts';
import { generator } from '../../support/random.ts';

/** Returns whole numbers below a limit, the same every time. */
const randomNumbers = (seed: number) => {
  const next = generator(seed);
  return (limit: number) => Math.floor(next() * limit);
};

type Step = [author: VersionAuthor, text: string];

const lines = (text: string) => `${text.split(' ').join('\n')}\n`;

/** Returns the newest version of a file, whose steps are lines separated by blanks. */
const versionOf = (before: string, steps: Step[]): FileVersion =>
  steps.reduce((version, [author, text]) => nextFileVersion(version, text, author), firstFileVersion(before));

describe('the hunks of a run in a file', () => {
  const shown = (before: string, steps: Step[]) =>
    fileHunks(
      versionOf(
        lines(before),
        steps.map(([author, text]) => [author, lines(text)]),
      ),
    ).map(
      ({ start, end, fromStart, fromEnd, automatic, edited }) =>
        `${start}-${end} for ${fromStart}-${fromEnd}${automatic ? '' : ' approved'}${edited ? ' edited' : ''}`,
    );
  const cases: [what: string, before: string, steps: Step[], hunks: string[]][] = [
    ['are what it changed without an individual approval', 'a b c', [['automatic', 'a B c']], ['1-2 for 1-2']],
    ['are marked if the user allowed them', 'a b c', [['approved', 'a B c']], ['1-2 for 1-2 approved']],
    [
      'are counted one by one where calls differ',
      'a b c d e',
      [
        ['approved', 'a B c d e'],
        ['automatic', 'a B c D e'],
      ],
      ['1-2 for 1-2 approved', '3-4 for 3-4'],
    ],
    [
      'are automatic if a command has changed a part of what the user allowed',
      'a b c',
      [
        ['approved', 'a B1 B2 c'],
        ['automatic', 'a B1 B3 c'],
      ],
      ['1-3 for 1-2'],
    ],
    [
      'are not what someone else changed',
      'a b c d',
      [
        ['automatic', 'a B c d'],
        ['other', 'a B c D'],
      ],
      ['1-2 for 1-2'],
    ],
    [
      'are not what someone else changed before',
      'a b c d',
      [
        ['other', 'a b c D'],
        ['automatic', 'A b c D'],
      ],
      ['0-1 for 0-1'],
    ],
    [
      'move with the lines above them',
      'a b c',
      [
        ['automatic', 'a b C'],
        ['other', 'x y a b C'],
      ],
      ['4-5 for 2-3'],
    ],
    [
      'are gone when they are taken back by hand',
      'a b c',
      [
        ['automatic', 'a B c'],
        ['other', 'a b c'],
      ],
      [],
    ],
    [
      'leave out lines of others right beside them',
      'a b',
      [
        ['automatic', 'a X b'],
        ['other', 'a U X V b'],
      ],
      ['2-3 for 1-1'],
    ],
    [
      'know what someone else has written into them',
      'a b',
      [
        ['automatic', 'a X Y b'],
        ['other', 'a X U Y b'],
      ],
      ['1-4 for 1-1 edited'],
    ],
    [
      'know what someone else has made of them',
      'a b c',
      [
        ['automatic', 'a B c'],
        ['other', 'a U c'],
      ],
      ['1-2 for 1-2 edited'],
    ],
    [
      'are not lines that someone else has written instead',
      'a c',
      [
        ['automatic', 'a B c'],
        ['other', 'a U c'],
      ],
      [],
    ],
    ['are removals, too', 'a b c', [['automatic', 'a c']], ['1-1 for 1-2']],
    [
      'are not removals of others',
      'a b c d',
      [
        ['automatic', 'a b c D'],
        ['other', 'a c D'],
      ],
      ['2-3 for 3-4'],
    ],
  ];
  for (const [what, before, steps, hunks] of cases) it(what, () => assert.deepEqual(shown(before, steps), hunks));

  it('have keys that stay while the rest of the file changes', () => {
    const made = versionOf(lines('a b c d e'), [['automatic', lines('a B c D e')]]);
    const keys = (version: FileVersion) => fileHunks(version).map(({ key }) => key);
    const [first, second] = keys(made);
    assert.notEqual(first, second);
    assert.deepEqual(keys(nextFileVersion(made, lines('x y a B c D e z'), 'other')), [first, second]);
    assert.deepEqual(keys(nextFileVersion(made, lines('a b c D e'), 'other')), [second]);
    const [changed, same] = keys(nextFileVersion(made, lines('a B2 c D e'), 'automatic'));
    assert.deepEqual([changed === first, same], [false, second]);
  });

  it('are two hundred at most', () => {
    const numbers = Array.from({ length: 1000 }, (_, at) => `${at}`);
    const changed = numbers.map((one, at) => (at % 2 ? one : `${one}!`));
    const version = versionOf(numbers.join('\n'), [['automatic', changed.join('\n')]]);
    assert.equal(fileHunks(version).length, 200);
  });

  it('are found at the cursor; a removal from the line before it and after it', () => {
    const all = [
      { start: 2, end: 4 },
      { start: 4, end: 4 },
      { start: 7, end: 7 },
    ];
    assert.deepEqual(
      [1, 2, 3, 4, 5, 6, 7, 8].map((line) => all.indexOf(hunkAtLine(all, line)!)),
      [-1, 0, 0, 1, -1, 2, 2, -1],
    );
  });

  it('are not shown once they are staged', () => {
    const version = versionOf(lines('a b c d e f'), [['automatic', lines('A b c D f')]]);
    const left = (staged: string) =>
      hunksMissingIn(lines(staged), version.lines, fileHunks(version)).map(({ start }) => start);
    assert.deepEqual(left('a b c d e f'), [0, 3]);
    assert.deepEqual(left('A b c d e f'), [3]);
    assert.deepEqual(left('a b c D f'), [0]);
    assert.deepEqual(left('A b c D f'), []);
  });
});

describe('the undo of a hunk', () => {
  const undone = (before: string, steps: Step[], nth: number) => {
    const version = versionOf(before, steps);
    return textWithoutHunk(steps.at(-1)![1], version, fileHunks(version)[nth]!);
  };
  const cases: [what: string, before: string, now: string, nth: number, then: string][] = [
    ['restores its lines and no others', 'a\nb\nc\nd\n', 'a\nB\nc\nD\n', 1, 'a\nB\nc\nd\n'],
    ['keeps the line ends', 'a\r\nb\r\nc\r\n', 'a\r\nB1\r\nB2\r\nc\r\n', 0, 'a\r\nb\r\nc\r\n'],
    ['restores a missing last line end', 'a\nb', 'a\nb\n', 0, 'a\nb'],
    ['restores a last line end', 'a\nb\n', 'a\nb', 0, 'a\nb\n'],
    ['restores the last line without an end', 'a\nb', 'a\nB', 0, 'a\nb'],
    ['keeps a byte order mark', 'a\nb\n', '\uFEFFa\nB\n', 0, '\uFEFFa\nb\n'],
    ['empties a new file', '', 'a\nb\n', 0, ''],
    ['fills an emptied file', 'a\nb\n', '', 0, 'a\nb\n'],
  ];
  for (const [what, before, now, nth, then] of cases)
    it(what, () => assert.equal(undone(before, [['automatic', now]], nth), then));

  it('of all hunks leads back to the text before the run', () => {
    const random = randomNumbers(2);
    for (let round = 0; round < 300; round += 1) {
      const end = ['\n', '\r\n'][random(2)]!;
      const text = (length: number) => Array.from({ length }, () => 'abcdefgh'[random(8)]!);
      const before = text(random(20));
      const steps = Array.from({ length: 1 + random(3) }, (): Step => {
        return [random(2) ? 'automatic' : 'approved', text(random(20)).join(end)];
      });
      let version = versionOf(before.join(end), steps);
      let now = steps.at(-1)![1];
      for (let hunks = fileHunks(version); hunks.length > 0; hunks = fileHunks(version)) {
        assert.ok(hunks.every(({ edited }) => !edited));
        now = textWithoutHunk(now, version, hunks[random(hunks.length)]!);
        version = nextFileVersion(version, now, 'automatic'); // as an undo is on record
      }
      assert.equal(now, before.join(end), JSON.stringify([before, steps]));
    }
  });

  it('never loses a line that someone else has written, and changes nothing outside of the hunk', () => {
    const random = randomNumbers(3);
    let count = 0;
    const edit = (text: string[], author: string): string[] => {
      const next = [...text];
      for (let edits = 1 + random(3); edits > 0; edits -= 1) {
        const at = random(next.length + 1);
        const added = Array.from({ length: random(3) }, () => `${author}${count++}`);
        next.splice(at, random(3), ...added);
      }
      return next;
    };
    for (let round = 0; round < 500; round += 1) {
      const before = Array.from({ length: 5 + random(20) }, () => 'abcdefgh{}'[random(10)]!);
      let now = before;
      let version = firstFileVersion(before.join('\n'));
      for (let step = 0; step < 4; step += 1) {
        const author = random(2) ? 'automatic' : 'other';
        now = edit(now, author === 'other' ? 'person' : 'run');
        version = nextFileVersion(version, now.join('\n'), author);
      }
      const own = now.filter((line) => line.startsWith('person'));
      for (const hunk of fileHunks(version)) {
        if (hunk.edited) continue;
        const then = textWithoutHunk(now.join('\n'), version, hunk).split('\n');
        assert.deepEqual(
          then.filter((line) => line.startsWith('person')),
          own,
        );
        assert.deepEqual(then.slice(0, hunk.start), now.slice(0, hunk.start));
        assert.deepEqual(then.slice(then.length - (now.length - hunk.end)), now.slice(hunk.end));
      }
    }
  });
});
