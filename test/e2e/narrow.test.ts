import assert from 'node:assert/strict';
import { answers, unseen } from '../support/answers.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

describe('a narrow panel', () => {
  let provider: Provider;
  let editor: Towpath;
  let release = () => {};

  before(async () => {
    provider = await startProvider([]);
    const model = 'scripted-coder-30b-a3b-instruct';
    editor = await openTowpath({
      files: { 'a.txt': 'one\n' },
      settings: {
        'towpath.model': `openai-compatible/${model}`,
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      },
    });
  });
  after(async () => {
    release();
    await editor?.stop();
    await provider?.close();
  });

  const find = (id: string) => editor.panel.frame.getByTestId(id);
  const heightOf = async (selector: string) => (await editor.panel.frame.locator(selector).boundingBox())!.height;
  /** The model begins to answer, and ends when the test lets it. */
  const holds = () => {
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    provider.script = () => reply.text('tick ').after(held).text('Done.');
  };
  const widths = [230, 300, 420];

  it('hides nothing of what models answer', async () => {
    provider.script = () => reply.text(answers.join('\n\n'));
    await editor.panel.send('What has changed?');
    await editor.panel.waitForPhase('WaitingUser');
    for (const width of widths) {
      await editor.resizePanel(width);
      await editor.screenshot(`narrow-answers-${width}`);
      assert.deepEqual(await unseen(editor.panel.frame.locator('.transcript')), [], `${width} pixels`);
    }
  });

  it('has a message box of one line and one row, at rest and at work', async () => {
    for (const width of widths) {
      await editor.resizePanel(width);
      const rests = await heightOf('.composer');
      holds();
      await editor.panel.send('Go on.');
      await editor.panel.shows('tick');
      await find('stop').waitFor();
      const works = await heightOf('.composer');
      await editor.panel.write('And then');
      await find('send').waitFor();
      await editor.screenshot(`narrow-works-${width}`);
      const writes = await heightOf('.composer');
      assert.ok(rests <= 62, `${rests} pixels`);
      assert.deepEqual([works, writes], [rests, rests]);
      const name = editor.panel.frame.locator('.preset-name');
      assert.equal(await name.innerText(), 'Reads');
      assert.ok(await name.evaluate((element) => element.scrollWidth <= element.clientWidth));
      await editor.panel.write('');
      release();
      await editor.panel.waitForPhase('WaitingUser');
    }
  });

  it('stops by the button that sends when there is something to send, each only where it has stood for a moment', async () => {
    holds();
    await editor.panel.send('Go on.');
    await find('stop').waitFor();
    await editor.panel.write('Then this.');
    await find('send').waitFor();
    assert.equal(await find('stop').count(), 1, 'Stop is beside it');
    await find('send-menu').click();
    await find('send-done').click();
    await editor.panel.frame.locator('[data-role="queued"]', { hasText: 'Then this.' }).waitFor();
    assert.equal(await find('send').count(), 0, 'with nothing to send it is Stop');
    await editor.panel.stop();
    await editor.panel.waitForPhase('Failed');
    await eventually('it is Send again', async () => (await find('stop').count()) === 0);
    await find('send').waitFor();
  });

  it('keeps the keys in the find box when the shortcut for the message box was pressed right before it', async () => {
    const { page } = editor;
    await page.keyboard.press("Control+'");
    await editor.panel.hasTheKeys();
    await page.keyboard.press("Control+'");
    await page.keyboard.press('Control+f');
    await find('find').waitFor({ timeout: 10_000 });
    for (const letter of 'tick') {
      await eventually('the find box has the keys', () =>
        find('find').evaluate((element) => element.matches(':focus') && element.ownerDocument.hasFocus()),
      );
      await page.keyboard.press(letter);
    }
    await eventually('it is looked for', async () => (await find('find').inputValue()) === 'tick');
    assert.equal(await editor.panel.composer.inputValue(), '');
    await editor.command('Towpath: New Run');
    await find('find').waitFor({ state: 'detached' });
  });
});
