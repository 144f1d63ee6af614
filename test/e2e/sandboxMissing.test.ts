import assert from 'node:assert/strict';
import { toWireToolName } from '../../src/llm/core/wireToolNames.ts';
import { canRunBwrap } from '../support/bwrap.ts';
import { quickPickOf } from '../support/editor/quickPick.ts';
import { openTowpath, type Towpath, type TowpathOptions } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

// Holds sandbox-never-falls-back.
describe('a window without the sandbox', () => {
  let provider: Provider;
  let editor: Towpath | undefined;

  before(async function () {
    if (!canRunBwrap()) return this.skip();
    provider = await startProvider([]);
  });
  afterEach(async () => {
    await editor?.stop();
    editor = undefined;
  });
  after(() => provider?.close());

  const open = (options: TowpathOptions) =>
    openTowpath({
      files: { 'a.txt': 'one\n' },
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
        'towpath.approvals.preset': 'sandbox',
      },
      ...options,
    });
  const runs = async (panel: Towpath['panel'], command: string) => {
    let asked = false;
    provider.script = () => {
      if (asked) return reply.text('Done.');
      asked = true;
      return reply.late(0).call(toWireToolName('shell.run'), { command });
    };
    await panel.send('Go.');
  };

  it('says why once, asks before each command, and Doctor names the reason', async () => {
    editor = await open({ withoutUserNamespaces: true });
    const { panel, dialog, host } = editor;
    await runs(panel, 'touch b.txt');
    assert.match(await dialog.text(), /^Run this command\?/);
    await dialog.click('Cancel');
    await panel.waitForPhase('WaitingUser');
    assert.equal(editor.read('b.txt'), undefined);
    await panel.shows(/The sandbox is not available in this window: .*namespaces.*Commands ask for approval\./);
    await editor.screenshot('sandbox-missing');
    await editor.command('Towpath: Approvals…');
    await quickPickOf(editor.page)
      .rows.filter({ hasText: /Not available: .*namespaces/ })
      .waitFor();
    await editor.screenshot('sandbox-missing-row');
    await editor.page.keyboard.press('Escape');
    await host.evaluate((vscode) => void vscode.commands.executeCommand('towpath.doctor'));
    const report = () =>
      host.evaluate(
        (vscode) => vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'towpath-doctor')?.getText() ?? '',
      );
    await eventually('Doctor names the reason', async () =>
      /Sandbox: not available\. .*namespaces/.test(await report()),
    );
  });

  it('is also one that is not trusted: nothing that runs is offered to the model', async () => {
    editor = await open({ trust: 'refused' });
    await runs(editor.panel, 'touch b.txt');
    await editor.panel.waitForPhase('WaitingUser');
    const tools = provider.requests.at(-1)!.body.tools!.map((tool) => tool.function.name);
    assert.ok(!tools.includes(toWireToolName('shell.run')), tools.join(' '));
    assert.equal(editor.read('b.txt'), undefined);
  });
});
