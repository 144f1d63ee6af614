import type { Locator, Page } from 'playwright-core';
import { eventually } from '../eventually.ts';

/**
 * The editor's list, driven by keyboard. While its window is in the background a list has rows and no layout: they stay hidden and
 * take no click, but the list takes keys.
 */
export function quickPickOf(page: Page) {
  const widget = page.locator('.quick-input-widget');
  const rows = widget.locator('.quick-input-list .monaco-list-row');
  const input = widget.locator('input:visible').first();

  /** Asked of what is there in this moment: to wait for a row that has just gone would be to wait for its return. */
  const isListed = (row: Locator) =>
    row.evaluateAll((elements) =>
      elements.some((element) => {
        const style = element.closest('.quick-input-widget')?.getAttribute('style');
        return !/display:\s*none/.test(style ?? '');
      }),
    );

  /** A new list takes no key in its first moment, and the next list may stand in its place: one Enter, then a look. */
  const press = async (row: Locator, focus: () => Promise<unknown>) => {
    await eventually('the row is listed', () => isListed(row));
    await eventually('the list has taken the choice', async () => {
      if (!(await isListed(row))) return true;
      try {
        await focus();
        await input.press('Enter', { timeout: 5000 });
      } catch {
        // The list closed in between.
      }
      return eventually('the list is closed', async () => !(await isListed(row)), 5000).then(
        () => true,
        () => false,
      );
    });
  };

  return {
    rows,
    /** Presses Enter on the row that the list offers first. */
    enter: () => press(rows.first(), async () => {}),
    /** Chooses the first row that contains `text`. */
    async pick(text: string): Promise<void> {
      const row = rows.filter({ hasText: text }).first();
      const isFocused = () =>
        row.evaluateAll((elements) => elements.some((element) => element.classList.contains('focused')));
      await press(row, async () => {
        const most = await rows.count();
        for (let pressed = 0; pressed <= most && !(await isFocused()); pressed++)
          await input.press('ArrowDown', { timeout: 5000 });
        if (!(await isFocused())) throw new Error('Another list stands in its place.');
      });
    },
  };
}
