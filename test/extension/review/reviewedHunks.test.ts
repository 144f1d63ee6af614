import assert from 'node:assert/strict';
import {
  isFileReviewed,
  isHunkReviewed,
  reviewOfContent,
  reviewWithHunk,
} from '../../../src/extension/review/reviewedHunks.ts';

describe('reviewed hunks', () => {
  const all = ['one', 'two', 'three'];

  it('are reviewed one by one; the file with the last', () => {
    const first = reviewWithHunk(undefined, 'a', 'one', all);
    assert.deepEqual(first, { hunks: ['one'] });
    assert.deepEqual([isHunkReviewed(first, 'a', 'one'), isHunkReviewed(first, 'a', 'two')], [true, false]);
    assert.equal(isFileReviewed(first, 'a'), false);
    const last = reviewWithHunk(reviewWithHunk(first, 'a', 'three', all), 'a', 'two', all);
    assert.deepEqual(last, { id: 'a', hunks: all });
    assert.equal(isFileReviewed(last, 'a'), true);
  });

  it('are those of a file that was reviewed as a whole, until its content changes', () => {
    assert.equal(isFileReviewed('a', 'a'), true);
    assert.deepEqual(
      all.map((key) => isHunkReviewed('a', 'a', key)),
      [true, true, true],
    );
    assert.deepEqual(
      all.map((key) => isHunkReviewed('a', 'b', key)),
      [false, false, false],
    );
  });

  it('stay after a change elsewhere, and so does the file', () => {
    const review = { id: 'a', hunks: all };
    assert.deepEqual(reviewOfContent(review, 'b', all), { id: 'b', hunks: all });
    assert.deepEqual(reviewOfContent(review, 'b', ['one']), { id: 'b', hunks: ['one'] });
    assert.equal(reviewOfContent(review, 'a', all), undefined);
    assert.equal(reviewOfContent(review, 'b', [...all, 'four']), undefined);
    assert.equal(reviewOfContent(review, 'b', []), undefined);
  });

  it('are none in what cannot be read', () => {
    for (const review of [undefined, null, 1, {}, { hunks: 'one' }, []])
      assert.deepEqual([isFileReviewed(review, 'a'), isHunkReviewed(review, 'a', 'one')], [false, false]);
  });
});
