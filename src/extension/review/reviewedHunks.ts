/**
 * Stored review of a changed file: the id of the reviewed content, or the keys of reviewed hunks, with the id of the content if all hunks of it
 * are reviewed.
 */
export type StoredFileReview = string | { id?: string; hunks: string[] };

export const isFileReviewed = (review: unknown, id: string): boolean => review === id || Object(review).id === id;

/** Tests for a reviewed hunk. A review of the whole file covers the hunks of that content; a renamed file has no `id`. */
export const isHunkReviewed = (review: unknown, id: string, key: string): boolean =>
  (id !== '' && review === id) || keysOf(review).includes(key);

/**
 * Returns the review with one more reviewed hunk.
 *
 * @param id content of the file
 * @param all keys of its hunks
 */
export function reviewWithHunk(review: unknown, id: string, key: string, all: readonly string[]): StoredFileReview {
  const hunks = all.filter((one) => one === key || isHunkReviewed(review, id, one));
  return { ...(hunks.length === all.length && { id }), hunks };
}

/** Returns the review of a file whose hunks are all reviewed and whose content has changed elsewhere; undefined if it stays. */
export function reviewOfContent(review: unknown, id: string, all: readonly string[]): StoredFileReview | undefined {
  const hunks = keysOf(review);
  const isWhole = all.length > 0 && all.every((key) => hunks.includes(key));
  return isWhole && !isFileReviewed(review, id) ? { id, hunks: [...all] } : undefined;
}

function keysOf(review: unknown): readonly unknown[] {
  const { hunks } = Object(review);
  return Array.isArray(hunks) ? hunks : [];
}
