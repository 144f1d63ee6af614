import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { eventually } from '../support/eventually.ts';

const extensionId = 'towpath.towpath';

// In the order of a person's first minute: the first test is only true before anything has woken Towpath.
describe('Towpath in the extension host', () => {
  const towpath = () => vscode.extensions.getExtension(extensionId) ?? assert.fail(`${extensionId} is not here`);

  /** This is a program beside it, in the same process. */
  const isAwake = () => Object.keys(require.cache).some((file) => /dist[\\/]main\.cjs$/.test(file));

  it('has its lightbulb in a window in which nobody has called for it, and sleeps until somebody needs it', async () => {
    await eventually('its first program is there', () => towpath().isActive);
    assert.equal(isAwake(), false);
  });

  it('wakes when its view is opened', async () => {
    await vscode.commands.executeCommand('towpath.chat.focus');
    await eventually('it is awake', isAwake);
  });

  it('has registered every command that it offers', async () => {
    const offered: string[] = towpath().packageJSON.contributes.commands.map((one: { command: string }) => one.command);
    const registered = new Set(await vscode.commands.getCommands(true));
    assert.ok(offered.length > 0);
    assert.deepEqual(
      offered.filter((command) => !registered.has(command)),
      [],
    );
  });
});
