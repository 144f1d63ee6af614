import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { writeScriptedModel } from '../../src/llm/local/demo/scriptedModel.ts';
import { recommendedModels } from '../../src/llm/local/modelFile/recommendedModels.ts';
import { builtinTools } from '../../src/tools/host/builtinTools.ts';
import { oneWindow } from '../support/editor/oneWindow.ts';
import { pictureOfFailure } from '../support/editor/picture.ts';
import { temporaryFolder } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { said, testScript } from '../support/scripted.ts';

/** A hub that has every curated model: each is the scripted one, which answers. */
async function hubOfCurated(): Promise<Hub> {
  const file = path.join(temporaryFolder(), 'scripted.gguf');
  writeScriptedModel(testScript(builtinTools().map((tool) => tool.definition)), file);
  const bytes = readFileSync(file);
  const repositories = recommendedModels.map(({ address }) => {
    const [, repository, kind] = /^hf:(.+):(.+)$/.exec(address)!;
    return [repository!, { [`${repository!.split('/')[1]}-${kind}.gguf`]: { bytes } }];
  });
  return startHub(Object.fromEntries(repositories));
}

describe('the model manager', () => {
  let hub: Hub;
  let editor: Towpath;
  let models: string;
  beforeEach(async () => {
    hub = await hubOfCurated();
    models = path.join(temporaryFolder(), 'models');
  });
  afterEach(() => hub?.close());

  const settings = () => ({
    'towpath.local.hub': hub.url,
    'towpath.local.downloadFolder': models,
    'towpath.local.gpu': false,
    'files.autoSave': 'off',
  });
  const begin = () => editor.panel.frame.locator('[data-action="download-model"]').click();
  const told = (text: string | RegExp) => editor.told(text);
  const row = (text: string) => editor.page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first();
  const press = async (text: string, action: string) => {
    await row(text).hover();
    await row(text).locator(`.action-label[aria-label^="${action}"]`).click();
  };
  const run = (command: string) =>
    editor.host.evaluate((vscode, name) => {
      void vscode.commands.executeCommand(name);
    }, command);
  const activeText = () => editor.host.evaluate((vscode) => vscode.window.activeTextEditor?.document.getText() ?? '');
  const modelFiles = () => (existsSync(models) ? readdirSync(models) : []);

  describe('in one window', () => {
    const start = oneWindow({ env: { HF_TOKEN: 'hf_CANARYTOKEN1234567890' } });
    beforeEach(async () => {
      editor = await start(settings());
    });

    it('two clicks from a fresh install to the first answer of a model on this machine', async () => {
      await begin();
      const question = await editor.dialog.text();
      assert.match(question, /^Download .+\?\n/);
      for (const fact of ['From 127.0.0.1', `To ${models}`, 'License: Apache-2.0', 'Its checksum is verified.'])
        assert.ok(question.includes(fact), question);
      assert.deepEqual(
        hub.requests.map(({ server }) => server),
        ['hub'],
        'nothing of the model is fetched before the answer',
      );
      await editor.dialog.click('Download');
      await told('is installed and in use');
      await editor.panel.frame.getByRole('button', { name: 'Check This Model…' }).waitFor();
      assert.equal(modelFiles().length, 1);
      await editor.panel.send('Hello?');
      await eventually('the model answers', async () =>
        (await editor.panel.frame.locator('body').innerText()).includes(said.hello),
      );
      await editor.panel.waitForPhase('WaitingUser');
      assert.ok(hub.requests.length >= 3);
      assert.ok(!JSON.stringify(hub.requests).includes('CANARY'), 'no token was sent');

      const name = path.basename(modelFiles()[0]!, '.gguf');
      await run('towpath.manageModels');
      await row(name).waitFor();
      assert.match(await row(name).innerText(), /in use, in memory/);
      await editor.screenshot('models');
      const copy = path.join(models, 'a-copy.gguf');
      copyFileSync(path.join(models, `${name}.gguf`), copy);
      await run('towpath.manageModels');
      await row('a-copy').click();
      await eventually('the copy is picked', async () =>
        (await editor.panel.frame.getByTestId('model').innerText()).includes('a-copy'),
      );
      await run('towpath.manageModels');
      await row('a-copy').waitFor();
      assert.match(await row('a-copy').innerText(), /in use · (?!in memory)/, 'it is not loaded yet');
      assert.match(await row(name).innerText(), /(?<!in use, )in memory/, 'this one still is');
      rmSync(copy);
      await press(name, 'Unload');
      await eventually('it is unloaded', async () => !/in memory/.test(await row(name).innerText()));
      await press(name, 'Show details');
      await eventually('the details are shown', async () => /\| Quantization \| Q8_0 \|/.test(await activeText()));
      assert.match(await activeText(), /\| Chat template \| embedded template \|/);
      await run('towpath.manageModels');
      await press(name, 'Delete');
      assert.match(await editor.dialog.text(), /^Delete .+\.gguf\?/);
      await editor.dialog.click('Move to Trash');
      await eventually(
        'it is gone, or asked about where there is no trash',
        async () => modelFiles().length === 0 || (await editor.dialog.isOpen()),
      );
      if (await editor.dialog.isOpen()) await editor.dialog.click('Delete Permanently');
      await eventually('the file is gone', () => modelFiles().length === 0);
    });

    it('a model in several files is one, is picked by any of them, and says what is missing', async () => {
      const bytes = Object.values(Object.values(hub.repositories)[0]!)[0]!.bytes;
      const part = (index: number) => path.join(models, `big 50% #1-0000${index}-of-00003.gguf`);
      mkdirSync(models, { recursive: true });
      for (const index of [1, 3]) writeFileSync(part(index), bytes);
      const choose = async (file: string) => {
        await run('towpath.useLocal');
        await editor.chooseFile('Model file to run on this machine', file);
      };
      const details = async (says: RegExp) => {
        await run('towpath.manageModels');
        await press('big 50% #1', 'Show details');
        await eventually(`the details say ${says}`, async () => says.test(await activeText()));
      };

      await choose(part(3));
      await told('00002-of-00003.gguf. Put them there, or download the model again.');
      await run('towpath.manageModels');
      await row('big 50% #1').waitFor();
      assert.match(await row('big 50% #1').innerText(), /cannot be used.*1 of its 3 files is missing\./s);
      await details(/\*\*Cannot be used\.\*\* 1 of its 3 files is missing\./);

      writeFileSync(part(2), bytes);
      await details(/\| Size on disk \| .* in 3 files \|/);
      assert.ok(!(await activeText()).includes('cannot be used'));
      await choose(part(3));
      await eventually('its first file is in use', async () =>
        (await editor.panel.frame.getByTestId('model').innerText()).includes('big 50% #1-00001-of-00003'),
      );
    });
  });

  /** What it offers at first is offered until a model was picked once. */
  describe('fresh', () => {
    beforeEach(async () => {
      editor = await openTowpath({ settings: settings() });
    });
    afterEach(async function () {
      if (this.currentTest?.state === 'failed') await pictureOfFailure(editor.page, 'fresh');
      await editor?.stop();
    });

    it('a download is paused, outlives a reload of the window, and goes on', async () => {
      hub.pieceMs = 300;
      await begin();
      await editor.dialog.click('Download');
      await eventually('something has come', () =>
        modelFiles().some((file) => file.endsWith('.part') && statSync(path.join(models, file)).size > 0),
      );
      await run('towpath.manageModels');
      await press('.gguf', 'Pause');
      await row('paused at').waitFor();
      await told('The downloaded part is stored');
      await editor.reload();
      await editor.showPanel();
      hub.pieceMs = 0;
      const before = hub.requests.length;
      await run('towpath.manageModels');
      await row('paused at').click();
      await told('is installed and in use');
      assert.match(String(hub.requests.slice(before).at(-1)!.headers.range), /^bytes=[1-9]\d*-$/);
      assert.equal(modelFiles().length, 1);
    });

    it('without network: says so, and the demo model is a click away', async () => {
      await hub.close();
      await begin();
      const said = await told('cannot be reached');
      assert.match(await said.innerText(), /pick a \.gguf file on this machine/);
      await said.getByRole('button', { name: 'Demo Model' }).click();
      await eventually('the demo model is in use', async () =>
        (await editor.panel.frame.getByTestId('model').innerText()).includes('Demo model'),
      );
    });
  });
});
