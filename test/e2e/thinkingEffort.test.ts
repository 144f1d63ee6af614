import assert from 'node:assert/strict';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

const title = 'Thinking Effort';

describe('the thinking effort', () => {
  let provider: Provider;
  let editor: Towpath;
  before(async () => {
    provider = await startProvider((_, count) => reply.text(`Answer ${count + 1}.`));
    editor = await openTowpath({
      settings: {
        'towpath.model': 'openai-compatible/gpt-5.1',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
        'towpath.thinkingBudget': 4096,
      },
    });
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
  });

  const step = (text: string) => editor.page.locator('.quick-input-title', { hasText: text });
  const rows = () =>
    editor.page.locator('.quick-input-list-rows .quick-input-list-row:first-child .label-name').allInnerTexts();
  const row = (text: string) => editor.page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first();
  const label = () => editor.panel.frame.getByTestId('model').innerText();
  const labelIs = (text: string) => eventually(`the label is ${text}`, async () => (await label()) === text);
  const efforts = () => provider.requests.map(({ body }) => body.reasoning_effort);
  const answered = async (text: string) => {
    await editor.panel.shows(text);
    await editor.panel.waitForPhase('WaitingUser');
  };
  /** Opens the picker by its keys, and the second step by Enter on the model in use. */
  const openSecondStep = async () => {
    await editor.panel.frame.getByTestId('model').click();
    await step('select a model').waitFor();
    await row('gpt-5.1').waitFor();
    await editor.page.keyboard.press('Enter');
    await step(title).waitFor();
  };

  it('is the setting at first', async () => {
    await editor.panel.send('One?');
    await answered('Answer 1.');
    assert.equal(await label(), 'gpt-5.1');
    assert.deepEqual(efforts(), ['medium']);
  });

  it('is a second step of the model picker, which Escape leaves without a change', async () => {
    await openSecondStep();
    assert.deepEqual(await rows(), ['Default (4,096 tokens)', 'Off', 'Low', 'Medium', 'High']);
    await editor.screenshot('thinking-effort');
    await editor.page.keyboard.press('Escape');
    await step(title).waitFor({ state: 'hidden' });
    assert.equal(await label(), 'gpt-5.1');
  });

  it('High stands in the label, on the wire and in the run, also after a reload', async () => {
    await openSecondStep();
    await row('High').click();
    await labelIs('gpt-5.1 · High');
    await editor.panel.hasTheKeys();
    await editor.panel.send('Two?');
    await answered('Answer 2.');
    await editor.panel.shows('From here on: gpt-5.1 · High');
    await editor.reload();
    await editor.panel.ready();
    await editor.panel.shows('Answer 2.');
    await labelIs('gpt-5.1 · High');
    await editor.panel.send('Three?');
    await answered('Answer 3.');
    assert.deepEqual(efforts(), ['medium', 'high', 'high']);
  });

  it('the effort in use is the selected row', async () => {
    await openSecondStep();
    assert.match(await editor.page.locator('.quick-input-list .monaco-list-row.focused').innerText(), /^High/);
    await editor.page.keyboard.press('Enter');
    await step(title).waitFor({ state: 'hidden' });
    assert.equal(await label(), 'gpt-5.1 · High');
  });

  it('Retry With… asks the same model again without thinking; the run before keeps its effort', async () => {
    const last = editor.panel.frame.locator('[data-role="assistant"]').last();
    await last.hover();
    const button = last.locator('[data-act="retry-with"]');
    if (!(await button.isVisible())) await last.locator('[data-act="more"]').click();
    await button.click();
    await step('select a model').waitFor();
    await row('gpt-5.1').waitFor();
    await editor.page.keyboard.press('Enter');
    await step(title).waitFor();
    await row('Off').click();
    await answered('Answer 4.');
    await labelIs('gpt-5.1 · Off');
    assert.deepEqual(efforts(), ['medium', 'high', 'high', 'none']);
    await editor.panel.frame.getByRole('button', { name: 'Show the previous branch' }).first().click();
    await editor.panel.shows('Answer 3.');
    await labelIs('gpt-5.1 · High');
  });

  it('a run that failed goes on with another effort; a new run begins with what its model had last', async () => {
    const { script } = provider;
    provider.script = () => reply.finish('content_filter');
    try {
      await editor.panel.send('Four?');
      await editor.panel.waitForPhase('Failed');
    } finally {
      provider.script = script;
    }
    await editor.panel.frame.getByTestId('try-another-model').click();
    await row('gpt-5.1').waitFor();
    await editor.page.keyboard.press('Enter');
    await step(title).waitFor();
    await row('Low').click();
    await editor.panel.waitForPhase('WaitingUser');
    assert.equal(efforts().at(-1), 'low');
    await editor.host.evaluate((vscode) => vscode.commands.executeCommand('towpath.newRun'));
    await labelIs('gpt-5.1 · Low');
    await editor.panel.send('New?');
    await editor.panel.waitForPhase('WaitingUser');
    assert.equal(efforts().at(-1), 'low');
  });

  it('a model without a setting has no second step', async () => {
    await editor.host.evaluate(async (vscode) => {
      await vscode.workspace
        .getConfiguration('towpath')
        .update('model', 'openai-compatible/scripted', vscode.ConfigurationTarget.Global);
    });
    await labelIs('scripted');
    await editor.panel.frame.getByTestId('model').click();
    await row('scripted').waitFor();
    await editor.page.keyboard.press('Enter');
    await step('select a model').waitFor({ state: 'hidden' });
    await editor.panel.hasTheKeys();
    assert.equal(await step(title).count(), 0);
  });
});
