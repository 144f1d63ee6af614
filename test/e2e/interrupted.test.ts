import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder, writeWorkspace } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

const command = 'echo deployed >> effects.txt; while [ -e a.txt ] && [ ! -e finish.txt ]; do sleep 0.1; done';
const workflow = `name: Deploy it
nodes:
  - name: deploy
    uses: shell.run
    with: {command: ${JSON.stringify(command)}}
    output: d
  - name: announce
    uses: llm.call
    with: {messages: [{role: user, content: "Announce {{ state.d.version }} at {{ state.d.url }}"}]}
    output: said
`;

describe('a workflow whose command runs when the editor is killed', () => {
  let provider: Provider;
  let outer: string;
  let editor: Towpath;
  const open = async () => {
    editor = await openTowpath({
      folder: path.join(outer, 'workspace'),
      userDataDir: path.join(outer, 'data'),
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      },
    });
  };
  before(async () => {
    provider = await startProvider(() => reply.text('It is announced.'));
    outer = temporaryFolder();
    writeWorkspace(outer, { 'a.txt': 'A', '.towpath/workflows/deploy.yaml': workflow });
    await open();
  });
  after(async () => {
    await editor?.stop();
    await provider.close();
    rmSync(outer, { recursive: true, force: true });
  });
  const ways = () => editor.panel.frame.locator('[data-testid="phase"] .phase-ways vscode-button');

  it('goes on after it with the result that the person gives, and the command runs once', async () => {
    await editor.command('Towpath: Run Workflow…');
    await editor.page.locator('.quick-input-list .monaco-list-row', { hasText: 'Deploy it' }).first().click();
    await editor.dialog.text();
    await editor.dialog.click('Allow');
    await eventually('it deploys', () => editor.read('effects.txt') === 'deployed\n');
    await editor.kill();
    writeFileSync(path.join(outer, 'workspace', 'finish.txt'), '');

    await open();
    await editor.panel.shows('It may have run.');
    assert.match(await editor.panel.frame.getByTestId('phase').innerText(), /“deploy” was interrupted at \d\d:\d\d/);
    assert.deepEqual(await ways().allInnerTexts(), ['Continue After “deploy”…', 'Run “deploy” Again']);
    assert.deepEqual(await ways().evaluateAll((all) => all.map((one) => one.getAttribute('appearance'))), [
      'secondary',
      'secondary',
    ]);
    await editor.screenshot('workflow-interrupted');

    await editor.command('Towpath: Continue Run');
    const widget = editor.page.locator('.quick-input-widget');
    await eventually('a plain Continue decides nothing: its result is asked for', async () => {
      assert.equal(await editor.dialog.isOpen(), false);
      await editor.panel.frame
        .getByTestId('continue-after')
        .click({ timeout: 1000 })
        .catch(() => {});
      return /Result of “deploy” \(optional\)\. Used later: version, url/.test(await widget.innerText());
    });
    await editor.screenshot('workflow-interrupted-result');
    const input = widget.locator('input').first();
    await input.fill('{version: v2}');
    await eventually('it is no JSON', async () => /Not valid JSON/.test(await widget.innerText()));
    await input.fill('{"version": "v2", "url": "shop.example"}');
    await eventually('it is JSON', async () => !/Not valid JSON/.test(await widget.innerText()));
    await input.press('Enter');
    await editor.panel.waitForPhase('Completed');
    await editor.panel.shows('It is announced.');
    assert.equal(editor.read('effects.txt'), 'deployed\n');
    const [asked] = provider.requests.map(({ body }) => body.messages.at(-1)!.content);
    assert.equal(asked, 'Announce v2 at shop.example');
  });
});
