import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { toWireToolName } from '../../src/llm/core/wireToolNames.ts';
import { projectRoot } from '../support/editor/project.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

const bundle = JSON.parse(readFileSync(path.join(projectRoot, 'src/l10n/bundle.l10n.de.json'), 'utf8')) as Record<
  string,
  string
>;
/** What stands in the bundle for it, which is other words. */
const german = (english: string): string => {
  const words = bundle[english];
  assert.ok(words && words !== english, `„${english}“`);
  return words;
};

describe('a person whose editor speaks German', () => {
  let provider: Provider;
  let editor: Towpath;
  before(async () => {
    provider = await startProvider([]);
    editor = await openTowpath({
      language: 'de',
      builtIn: 'all', // in another language than English the editor misses the others
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      },
    });
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
  });
  beforeEach(async () => {
    await editor.host.evaluate(async (vscode) => {
      await vscode.commands.executeCommand('towpath.newRun');
    });
    await editor.resizePanel(230);
  });

  /** The model asks for this call, and is content with whatever comes of it. */
  const asks = async (tool: string, args: object) => {
    let asked = false;
    provider.script = () => {
      if (asked) return reply.text('Gut.');
      asked = true;
      return reply.late(0).call(toWireToolName(tool), args);
    };
    await editor.panel.send('Los.');
  };

  it('finds a panel that has never been English', async () => {
    const words = await editor.host.evaluate((vscode) => vscode.env.language);
    assert.equal(words, 'de');
    const { composer, frame, sendButton } = editor.panel;
    assert.equal(await frame.locator('html').getAttribute('lang'), 'de');
    const hint = 'Ask anything. Type @ to add context, / for commands';
    assert.equal(await composer.getAttribute('placeholder'), german(hint));
    assert.equal(await sendButton.getAttribute('aria-label'), german('Send'));
    await editor.screenshot('german-panel');
  });

  it('is asked in German, and the model is told in English what came of it', async () => {
    await asks('shell.run', { command: 'npm test' });
    const buttons = await editor.dialog.buttons();
    for (const one of ['Review…', 'Allow', 'Allow for This Run', 'Always Allow…'])
      assert.ok(buttons.includes(german(one)), `${german(one)} in ${buttons}`);
    await editor.screenshot('german-question');
    await editor.dialog.escape();
    await editor.panel.shows('Abgelehnt · wartet auf Ihre Anweisungen');
    await editor.screenshot('german-held');
    await editor.panel.continueHeld();
    const told = JSON.stringify(provider.requests.at(-1)!.body.messages);
    assert.match(told, /The person did not allow this/);
    await editor.screenshot('german-denied');
  });

  it('allows by a German button', async () => {
    await asks('fs.write', { path: 'neu.txt', content: 'neu\n' });
    await editor.dialog.click(german('Allow'));
    await editor.panel.waitForPhase('WaitingUser');
    assert.equal(editor.read('neu.txt'), 'neu\n');
    await editor.screenshot('german-allowed');
  });

  it('answers a command that asks', async () => {
    await asks('shell.run', { command: 'read -p "Weiter? [j/N] " go; test "$go" = j' });
    await editor.dialog.click(german('Allow'));
    const row = editor.panel.frame.getByTestId('command-input');
    await row.getByText(german('End Input')).waitFor();
    await editor.page.locator('.statusbar-item', { hasText: german('Towpath: a command waits for input') }).waitFor();
    await editor.screenshot('german-command-input');
    await row.locator('input').fill('j');
    await row.getByTestId('send-input').click();
    await editor.panel.shows('Gut.');
  });

  it('reads in German how a run ended', async () => {
    provider.script = () => reply.text('Es geht weiter und weiter.').hang();
    await editor.panel.send('Zähle.');
    await editor.panel.shows('Es geht weiter');
    await editor.panel.stop();
    await editor.panel.shows(german('Stopped.'));
    const said = await editor.panel.frame.locator('#panel').innerText();
    assert.doesNotMatch(said, /Stopped/);
    await editor.screenshot('german-stopped');
  });
});
