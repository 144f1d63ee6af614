import assert from 'node:assert/strict';
import { confirmAutopilot, confirmSandbox } from '../../../src/extension/approvals/presetDialogs.ts';
import type { DialogQuestion, Dialogs } from '../../../src/extension/dialogs/dialogs.ts';

/** A user who presses this button of the next dialog. */
function pressing(button: string | undefined) {
  const shown: DialogQuestion[] = [];
  const ask = async (question: DialogQuestion) => {
    shown.push(question);
    return button;
  };
  return { shown, dialogs: { ask, askWhenQuiet: ask } as unknown as Dialogs };
}

describe('The dialog for the sandbox', () => {
  it('says what it permits, and its first button changes nothing', async () => {
    const { shown, dialogs } = pressing('Use Sandbox');
    assert.equal(await confirmSandbox(dialogs), true);
    assert.deepEqual(shown, [
      {
        text: 'Run commands in a sandbox without approval?',
        detail:
          'Commands and edits can then change files in this workspace only, and you can undo their changes. Network access and other folders still ask. It holds for every workspace that you trust. Change it in Approvals…',
        buttons: ['Keep Asking', 'Use Sandbox'],
      },
    ]);
  });

  for (const button of ['Keep Asking', undefined])
    it(`declines with ${button ?? 'Cancel'}`, async () =>
      assert.equal(await confirmSandbox(pressing(button).dialogs), false));
});

describe('The dialog for Autopilot', () => {
  const confirm = async (button: string | undefined, offersSandbox: boolean) => {
    const { shown, dialogs } = pressing(button);
    const [text, duration] = ['Turn on Autopilot in this workspace?', 'It stays on until you select another preset.'];
    const answer = await confirmAutopilot(dialogs, { when: 'ask', text, duration, offersSandbox });
    return { answer, shown: shown[0]! };
  };

  it('offers the sandbox where it is available', async () => {
    const { answer, shown } = await confirm('Use Sandbox', true);
    assert.equal(answer, 'sandbox');
    assert.deepEqual(shown, {
      text: 'Turn on Autopilot in this workspace?',
      detail:
        'Commands, web pages and MCP tools run without approval, with your permissions. Protected files and secrets still ask. It stays on until you select another preset.',
      buttons: ['Keep Asking', 'Use Sandbox', 'Turn On Autopilot'],
    });
    assert.deepEqual((await confirm(undefined, false)).shown.buttons, ['Keep Asking', 'Turn On Autopilot']);
  });

  it('changes nothing unless a button says so', async () => {
    assert.equal((await confirm('Turn On Autopilot', true)).answer, 'autopilot');
    for (const button of ['Keep Asking', undefined]) assert.equal((await confirm(button, true)).answer, undefined);
  });
});
