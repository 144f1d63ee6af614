import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Locator } from 'playwright-core';
import { projectRoot } from './editor/project.ts';

/** Answers as models write them after their work: tables with paths, long names, nested lists, code. */
export const answers = readFileSync(path.join(projectRoot, 'test/fixtures/answers.md'), 'utf8').split('\n%%%\n');

interface Part {
  textContent: string;
  scrollWidth: number;
  clientWidth: number;
  ownerDocument: { documentElement: Part; defaultView: { getComputedStyle(part: Part): { maskImage: string } } };
  getBoundingClientRect(): { left: number; right: number; width: number };
  querySelectorAll(selector: string): Iterable<Part>;
}

/**
 * What of the conversation a user cannot read: cells out of view or narrower than twelve characters, tables that scroll and do not show it,
 * words behind the edge, folders of which less than a letter and an ellipsis is left.
 */
export const unseen = (conversation: Locator): Promise<string[]> =>
  conversation.evaluate((element) => {
    const root = element as unknown as Part;
    const found: string[] = [];
    const { documentElement, defaultView } = root.ownerDocument;
    const edge = documentElement.clientWidth;
    for (const table of root.querySelectorAll('.markdown table')) {
      const scrolls = table.scrollWidth > table.clientWidth;
      const columns = [...table.querySelectorAll('thead th')].length;
      if (scrolls && columns < 3) found.push(`does not fit: ${table.textContent}`);
      if (scrolls && defaultView.getComputedStyle(table).maskImage === 'none')
        found.push(`scrolls without a sign: ${table.textContent}`);
      for (const cell of table.querySelectorAll('th, td')) {
        const { left, right, width } = cell.getBoundingClientRect();
        if (!scrolls && (left < 0 || right > edge)) found.push(`from ${left} to ${right}: ${cell.textContent}`);
        if (width < 72) found.push(`${width} pixels wide: ${cell.textContent}`);
        if (cell.scrollWidth > cell.clientWidth + 1) found.push(`wider than its cell: ${cell.textContent}`);
      }
    }
    const words = '.markdown :is(p, li, h1, h2, h3, blockquote) > *, .piece-whole, .path-name, .card-verb';
    for (const part of root.querySelectorAll(words)) {
      const { left, right } = part.getBoundingClientRect();
      if (left < 0 || right > edge) found.push(`from ${left} to ${right}: ${part.textContent}`);
    }
    for (const folder of root.querySelectorAll('.piece-middle, .path-folder')) {
      const { width } = folder.getBoundingClientRect();
      if (folder.scrollWidth > folder.clientWidth && width < 14) found.push(`${width} pixels of ${folder.textContent}`);
    }
    return found;
  });
