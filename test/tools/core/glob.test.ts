import assert from 'node:assert/strict';
import { createGlobMatcher } from '../../../src/tools/core/glob.ts';
import { isOmittedCodePlaceholder } from '../../../src/tools/edit/placeholder.ts';

describe('tools: globs', () => {
  const matching: [glob: string, path: string, expected: boolean][] = [
    ['*.ts', 'src/deep/a.ts', true],
    ['src/*.ts', 'src/deep/a.ts', false],
    ['src/**/*.ts', 'src/a.ts', true],
    ['src/**', 'src', false],
    ['src/', 'src/a/b', true],
    ['./a?c', 'abc', true],
    ['a?c', 'a/c', false],
    ['a{b,/**/,}c', 'a/x/y/c', true],
    ['a{b,c', 'a{b,c', true],
    ['{a{b,c}', 'ac', true],
    ['[!a-c]x', 'dx', true],
    ['[!a-c]x', 'x/x', false],
    ['[z-a]', 'm', false],
    ['(a+)+$', '(a+)+$', true],
    ['?', '😀', true],
  ];
  for (const [glob, path, expected] of matching)
    it(`${glob} ${expected ? 'matches' : 'does not match'} ${path}`, () =>
      assert.equal(createGlobMatcher(glob)(path), expected));

  // As regular expressions these would not be done before the tests end, and nothing could be stopped meanwhile.
  const slow: [glob: string, path: string][] = [
    [`${'*a'.repeat(100)}b`, 'a'.repeat(4000)],
    [`${'**/'.repeat(100)}b`, 'a/'.repeat(2000)],
    [`${'{**/,*a}'.repeat(60)}b`, 'aa/'.repeat(1000)],
  ];
  for (const [glob, path] of slow)
    it(`${glob.slice(0, 20)}… is soon done with`, () => assert.equal(createGlobMatcher(glob)(path), false));

  it('a line of blanks is soon known to leave nothing out', () =>
    assert.equal(isOmittedCodePlaceholder(`# x${' '.repeat(1_000_000)}y`), false));
});
