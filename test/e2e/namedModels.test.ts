import assert from 'node:assert/strict';
import path from 'node:path';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

const flow = '.towpath/workflows/flow.yaml';
const yaml = `
nodes:
  - name: ask
    uses: llm.call
    with: {model: vllm/other, messages: [{role: user, content: Read this.}]}
`;
const agent = (model: string) => `instructions: You look.\nmodel: ${model}\n`;

describe('a model that a file names', () => {
  let picked: Provider;
  let other: Provider;
  let editor: Towpath;
  before(async () => {
    picked = await startProvider(() => reply.text('From the picked one.'));
    other = await startProvider(() => reply.text('From the other one.'));
    editor = await openTowpath({
      files: {
        [flow]: yaml,
        '.towpath/agents/mine.yaml': agent('openai-compatible/scripted'),
        '.towpath/agents/theirs.yaml': agent('vllm/other'),
        '.towpath/agents/brought.yaml': agent('local/brought.gguf'),
        'brought.gguf': 'GGUF',
      },
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: picked.url }, vllm: { baseUrl: other.url } },
      },
    });
  });
  after(async () => {
    await editor?.stop();
    await picked?.close();
    await other?.close();
  });

  const run = (command: 'towpath.runWorkflow' | 'towpath.runAgent', id: string, second?: unknown) =>
    editor.host.evaluate(
      (vscode, [command, id, second]) => {
        void vscode.commands.executeCommand(command as string, id, second);
      },
      [command, id, second ?? null] as const,
    );
  const runFlow = () => run('towpath.runWorkflow', flow, {});
  const runAgent = (name: string) => run('towpath.runAgent', `.towpath/agents/${name}.yaml`, 'Look.');
  const asked = async (file = flow) => {
    const text = await editor.dialog.text();
    assert.ok(text.startsWith(`Allow ${file} to use vLLM?\n`), text);
    return text;
  };
  const answered = () => editor.panel.waitForPhase(['Completed', 'WaitingUser']);

  it('is asked about before anything is sent, with where that is; a no says the way out', async () => {
    await runFlow();
    const text = await asked();
    assert.ok(text.includes(`vLLM at ${other.url}`), text);
    assert.match(text, /names the model other\..*You picked scripted\./s);
    assert.equal(await editor.dialog.focused(), "Don't Use");
    await editor.screenshot('named-model');
    await editor.dialog.escape();
    await editor.panel.hasTheKeys();
    await editor.panel.waitForPhase('Failed');
    await editor.panel.shows(`${flow} uses a model of vLLM, and you did not allow it. Retry to decide again`);
    assert.deepEqual(other.requests, []);
  });

  it('a yes holds for this file and place, after a reload, too, and can be taken back', async () => {
    await editor.panel.frame.getByTestId('continue').click();
    await asked();
    await editor.dialog.click('Use');
    await answered();
    assert.equal(other.requests.length, 1);
    await editor.reload();
    await editor.panel.ready();
    await runFlow();
    await eventually('it is used unasked', () => other.requests.length === 2);
    await answered();

    await editor.command('Towpath: Approvals…');
    const row = editor.page.locator('.quick-input-list .monaco-list-row', { hasText: `Allow ${flow} to use vLLM` });
    await row.hover();
    await row.getByRole('button', { name: 'Delete this rule' }).click();
    await row.waitFor({ state: 'detached' });
    await editor.page.keyboard.press('Escape');
    await runFlow();
    await asked();
    await editor.dialog.click('Use');
    await eventually('it is used', () => other.requests.length === 3);
    await answered();
  });

  it('a run that its model ended goes on with another one, once the person has picked it', async () => {
    const { script } = picked;
    picked.script = () => reply.status(400, { error: { message: 'This model is gone.' } });
    try {
      await editor.host.evaluate((vscode) => vscode.commands.executeCommand('towpath.newRun'));
      await editor.panel.send('Who answers?');
      await editor.panel.waitForPhase('Failed');
      const before = other.requests.length;
      const button = editor.panel.frame.getByTestId('try-another-model');
      const row = (hasText: string) => editor.page.locator('.quick-input-list .monaco-list-row', { hasText }).first();
      await button.click();
      await row('A provider or an endpoint').waitFor();
      await editor.page.keyboard.press('Escape');
      await row('A provider or an endpoint').waitFor({ state: 'hidden' });
      await editor.panel.waitForPhase('Failed');
      await button.click();
      const ways = [
        ['select a model', 'A provider or an endpoint'],
        ['Connect a Model (1/3)', 'vLLM'],
        ['Connect a Model (3/3)', 'scripted'],
        ['Connect a Model (3/3)', 'Done'],
      ] as const;
      for (const [title, words] of ways) {
        await editor.page.locator('.quick-input-title', { hasText: title }).waitFor();
        await editor.page.locator('.quick-input-widget input').first().fill(words); // of a long list only a part is drawn
        await row(words).click();
      }
      await editor.panel.waitForPhase('WaitingUser');
      await editor.panel.shows('From the other one.');
      assert.equal(await editor.panel.frame.getByTestId('model').innerText(), 'scripted');
      assert.deepEqual([other.requests.length, other.requests.at(-1)!.body.model], [before + 2, 'scripted']);
      await editor.screenshot('another-model');
    } finally {
      picked.script = script;
      await editor.host.evaluate((vscode) =>
        vscode.commands.executeCommand('towpath.tryAnotherModel', 'openai-compatible/scripted'),
      );
      await answered();
    }
  });

  it('another file, and another place of the same provider, are asked about anew; the picked model is not', async () => {
    const before = other.requests.length;
    await runAgent('theirs');
    const text = await editor.dialog.text(); // one question about the agent and its model
    assert.ok(text.startsWith('Use the agent “theirs” of this repository?\n'), text);
    assert.ok(
      text.includes(`It uses the model other. Your messages and what its tools read are sent to vLLM at ${other.url}`),
      text,
    );
    await editor.dialog.escape();
    await editor.panel.hasTheKeys();
    await runAgent('mine');
    const mine = await editor.dialog.text();
    assert.ok(mine.startsWith('Use the agent “mine” of this repository?\n') && !mine.includes('model scripted'), mine);
    await editor.dialog.click('Use Agent');
    await editor.panel.shows('From the picked one.');
    await runAgent('theirs');
    await editor.dialog.click('Use Agent');
    await eventually('it is used, and nothing more is asked', () => other.requests.length === before + 1);
    await answered();
    await editor.host.evaluate(
      async (vscode, providers) => {
        const towpath = vscode.workspace.getConfiguration('towpath');
        await towpath.update('providers', providers, vscode.ConfigurationTarget.Global);
      },
      {
        'openai-compatible': { baseUrl: picked.url },
        vllm: { baseUrl: other.url.replace('127.0.0.1', 'localhost') },
      },
    );
    await runFlow();
    assert.match(await asked(), /vLLM at http:\/\/localhost/);
    await editor.dialog.escape();
    await editor.panel.hasTheKeys();
    await editor.panel.waitForPhase('Failed');
    assert.equal(other.requests.length, before + 1);
  });

  it('a model file of the repository is not loaded, and nobody is asked to', async () => {
    for (const file of ['brought.gguf', path.join(editor.folder, 'brought.gguf')]) {
      await editor.host.evaluate(
        async (vscode, content) => {
          const uri = vscode.Uri.joinPath(vscode.workspace.workspaceFolders![0]!.uri, '.towpath/agents/brought.yaml');
          await vscode.workspace.fs.writeFile(uri, Buffer.from(content));
        },
        agent(`local/${file}`),
      );
      await runAgent('brought');
      await editor.dialog.click('Use Agent');
      await editor.panel.shows(`uses the model file ${file}, which is in none of your model folders`);
      assert.equal(await editor.dialog.isOpen(), false);
    }
  });
});
