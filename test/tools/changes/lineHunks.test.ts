import assert from 'node:assert/strict';
import { diffLines, editorLines, replaceLineRange } from '../../../src/tools/changes/lineHunks.ts';
import { generator } from '../../support/random.ts';

/** Returns whole numbers below a limit, the same every time. */
const randomNumbers = (seed: number) => {
  const next = generator(seed);
  return (limit: number) => Math.floor(next() * limit);
};

describe('the difference of two texts in lines', () => {
  const applied = (from: string[], to: string[]) => {
    const lines: string[] = [];
    let at = 0;
    for (const { fromStart, fromEnd, toStart, toEnd } of diffLines(from, to)) {
      lines.push(...from.slice(at, fromStart), ...to.slice(toStart, toEnd));
      at = fromEnd;
    }
    return [...lines, ...from.slice(at)];
  };
  const cases: [what: string, from: string, to: string, hunks: [number, number, number, number][]][] = [
    ['nothing', 'a b c', 'a b c', []],
    ['a changed line', 'a b c', 'a B c', [[1, 2, 1, 2]]],
    [
      'two lines, with one between them',
      'a b c d e',
      'a B c D e',
      [
        [1, 2, 1, 2],
        [3, 4, 3, 4],
      ],
    ],
    [
      'a line more and a line less',
      'a b c d',
      'a x b d',
      [
        [1, 1, 1, 2],
        [2, 3, 3, 3],
      ],
    ],
    ['lines that occur often', '{ } { } { }', '{ } { x } { }', [[3, 3, 3, 4]]],
    ['everything', 'a b', 'c d', [[0, 2, 0, 2]]],
    [
      'a moved line',
      'a b c',
      'b c a',
      [
        [0, 1, 0, 0],
        [3, 3, 2, 3],
      ],
    ],
  ];
  for (const [what, from, to, hunks] of cases)
    it(`is ${what}`, () =>
      assert.deepEqual(
        diffLines(from.split(' '), to.split(' ')).map((one) => [one.fromStart, one.fromEnd, one.toStart, one.toEnd]),
        hunks,
      ));

  it('leads from any text to any other', () => {
    const random = randomNumbers(1);
    for (let round = 0; round < 500; round += 1) {
      const text = () => Array.from({ length: random(30) }, () => 'abcdefghijkl'[random(12)]!);
      const [from, to] = [text(), text()];
      assert.deepEqual(applied(from, to), to, JSON.stringify([from, to]));
    }
  });

  it('of a thousand lines takes no time that a person at the keys would feel', () => {
    const from = Array.from({ length: 5000 }, (_, at) => `line ${at}`);
    for (const every of [1, 2, 5]) {
      const to = from.map((line, at) => (at % every === 0 ? `${line} changed` : line));
      diffLines(from, to);
      const started = process.cpuUsage();
      const times = 10;
      for (let round = 0; round < times; round += 1) assert.deepEqual(applied(from, to).length, to.length);
      const { user } = process.cpuUsage(started);
      assert.ok(user / 1000 / times < 16, `${user / 1000 / times} ms`);
    }
  });
});

describe('lines of a text are replaced', () => {
  const cases: [what: string, text: string, start: number, end: number, lines: string[], then: string][] = [
    ['one by two', 'a\nb\nc\n', 1, 2, ['x', 'y'], 'a\nx\ny\nc\n'],
    ['with the line ends of the file', 'a\r\nb\r\nc\r\n', 1, 2, ['x', 'y'], 'a\r\nx\r\ny\r\nc\r\n'],
    ['with the line end of the line, in a file with several', 'a\r\nb\nc\r\n', 1, 2, ['x'], 'a\r\nx\nc\r\n'],
    ['the last, that has no end', 'a\nb', 1, 2, ['x', 'y'], 'a\nx\ny'],
    ['the last by nothing', 'a\nb', 1, 2, [], 'a'],
    ['the end of the last line', 'a\nb\n', 2, 3, [], 'a\nb'],
    ['the end of the last line, that comes back', 'a\nb', 2, 2, [''], 'a\nb\n'],
    ['all by nothing', 'a\n', 0, 1, [], ''],
    ['after a byte order mark', '\uFEFFa\nb\n', 0, 1, ['x'], '\uFEFFx\nb\n'],
  ];
  for (const [what, text, start, end, lines, then] of cases)
    it(what, () => {
      assert.equal(replaceLineRange(text, start, end, lines), then);
      assert.equal(editorLines(then).length, editorLines(text).length - (end - start) + lines.length);
    });
});
