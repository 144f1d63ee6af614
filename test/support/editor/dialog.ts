import type { Page } from 'playwright-core';

/** VS Code's modal: the place where a person answers the gate. */
export interface Dialog {
  /** Waits for a question and gives its words: the message, and after a line break the detail. */
  text(): Promise<string>;
  isOpen(): Promise<boolean>;
  buttons(): Promise<string[]>;
  /** The button that Enter would press. */
  focused(): Promise<string>;
  /** Presses a button by its exact name and waits until the dialog is gone. What it causes comes later: poll for that. */
  click(name: string): Promise<void>;
  escape(): Promise<void>;
}

export function dialogOf(page: Page): Dialog {
  const box = page.locator('.monaco-dialog-box');
  /** It, and not the next one, which at times comes at once. */
  const goesBy = async (deed: () => Promise<void>) => {
    const shown = await box.elementHandle();
    await deed();
    await shown?.waitForElementState('hidden');
  };
  return {
    async text() {
      await box.waitFor();
      return (await box.locator('.dialog-message-text, .dialog-message-detail').allInnerTexts()).join('\n').trim();
    },
    isOpen: () => box.isVisible(),
    async buttons() {
      await box.waitFor();
      return box.locator('.dialog-buttons .monaco-button').allInnerTexts();
    },
    async focused() {
      await box.waitFor();
      return box.locator('.monaco-button:focus').innerText();
    },
    async click(name) {
      await goesBy(() => box.getByRole('button', { name, exact: true }).click());
    },
    async escape() {
      await goesBy(() => page.keyboard.press('Escape'));
    },
  };
}
