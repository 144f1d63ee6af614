import assert from 'node:assert/strict';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';

describe('the walkthrough', () => {
  let editor: Towpath;
  before(async () => {
    editor = await openTowpath();
  });
  after(() => editor?.stop());

  it('leads from a fresh profile to the first undone edit, each step done by its own button', async () => {
    const { page, panel, dialog } = editor;
    const done = (id: string) => page.locator(`[data-done-step-id$="#${id}"].complete`).first().waitFor();
    /** The button of a step, which opens it first. */
    const press = async (id: string, name: string) => {
      const step = page.locator(`.getting-started-step[data-step-id$="#${id}"]`).first();
      const button = step.locator('.monaco-button', { hasText: name });
      await eventually(`the step ${id} is open`, async () => {
        if (!(await button.isVisible())) await step.click({ timeout: 2000 }).catch(() => {});
        return button.isVisible();
      });
      await button.click();
    };
    const before = editor.read('src/greet.js');
    await panel.frame.locator('[data-action="first-steps"]').click();
    await press('model', 'Use the Demo Model');
    await done('model');
    await press('question', 'Ask About This Workspace');
    await done('question');
    assert.match(await dialog.text(), /greet\.js/);
    await dialog.click('Allow');
    await done('answer');
    await panel.waitForPhase('WaitingUser');
    assert.notEqual(editor.read('src/greet.js'), before);
    await press('undo', 'Undo the Turn');
    await done('undo');
    assert.equal(editor.read('src/greet.js'), before);
  });
});
