import assert from 'node:assert/strict';
import { panelOf } from '../support/editor/panel.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

const fence = '```';
const code = `Here it is:\n\n${fence}ts\nexport const answer = 42;\n${fence}\n\n${fence}sh\necho never run\n${fence}`;

/** In one window, one after the other, as a person would: each finds what the one before it left. */
describe('what can be done about a message and its code', () => {
  let editor: Towpath;
  let provider: Provider;
  const write = (content: string) => reply.call('fs_write', { path: 'one.txt', content });

  before(async () => {
    provider = await startProvider([
      write('of the model\n'),
      reply.text(code),
      reply.call('fs_write', { path: 'answer.ts', content: 'export const answer = 42;\n' }),
      reply.text('It is applied.'),
      reply.text('Said again.'),
      reply.text('By the other one.'),
      reply.text('To other words.'),
      reply.text('In the fork.'),
    ]);
    editor = await openTowpath({
      files: { 'one.txt': 'of the person\n', 'open.txt': 'before\nafter\n' },
      settings: {
        'towpath.model': 'openai-compatible/another',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      },
    });
    await editor.panel.send('Write it.');
    await editor.dialog.text();
    await editor.dialog.click('Allow');
    await editor.panel.shows('Here it is:');
    await editor.panel.waitForPhase('WaitingUser');
    await editor.host.evaluate(async (vscode) => {
      await vscode.workspace.getConfiguration().update('towpath.model', 'openai-compatible/scripted', true);
    });
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
  });

  const find = (selector: string) => editor.panel.frame.locator(selector);
  const said = (words: string) => find('[data-role="user"]').filter({ hasText: words }).last();
  const answer = (words: string) => find('[data-role="assistant"]').filter({ hasText: words }).last();
  const act = async (message: ReturnType<typeof said>, name: string) => {
    await message.hover();
    const button = message.locator(`[data-act="${name}"]`);
    if (!(await button.isVisible())) await message.locator('[data-act="more"]').click();
    await button.click();
  };
  const block = (language: string) => find('pre').filter({ hasText: language });
  const codeAct = async (language: string, label: string) => {
    const pre = block(language).first();
    const button = pre.getByRole('button', { name: label, exact: true });
    if ((await button.count()) === 0) await pre.getByRole('button', { name: 'More', exact: true }).click();
    await button.click();
  };
  const texts = () =>
    editor.host.evaluate((vscode) =>
      vscode.workspace.textDocuments.map(({ uri, languageId, isDirty }) => ({
        name: uri.path.split('/').at(-1),
        scheme: uri.scheme,
        languageId,
        isDirty,
        text: vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString())!.getText(),
      })),
    );
  const rests = () => editor.panel.waitForPhase('WaitingUser');
  const asked = () => provider.requests.at(-1)!.body.messages.filter(({ role }) => role === 'user');

  it('Insert puts the code where the cursor is, to be saved or undone by the person', async () => {
    await editor.host.evaluate(async (vscode) => {
      const [file] = await vscode.workspace.findFiles('open.txt');
      const { active } = { active: new vscode.Position(1, 0) };
      await vscode.window.showTextDocument(file!, { selection: new vscode.Range(active, active) });
    });
    await codeAct('answer = 42', 'Insert');
    await eventually('it is in the file', async () =>
      (await texts()).some(({ name, text }) => name === 'open.txt' && /^before\nexport const answer = 42;\n?after/.test(text)),
    ); // biome-ignore format: one line
    assert.equal(editor.read('open.txt'), 'before\nafter\n', 'the person saves it');
  });

  it('New File opens it in its language, and changes nothing on disk', async () => {
    await codeAct('answer = 42', 'New File');
    await eventually('it is a file of its own', async () =>
      (await texts()).some(({ scheme, languageId, text }) => scheme === 'untitled' && languageId === 'typescript' && /^export const answer = 42;\n?$/.test(text)),
    ); // biome-ignore format: one line
  });

  it('To Terminal brings one up for the line', async () => {
    await codeAct('echo never run', 'Insert into Terminal');
    await eventually('there is a terminal', () =>
      editor.host.evaluate((vscode) => vscode.window.terminals.length === 1),
    );
    await editor.screenshot('acts-terminal');
  });

  it('Open as Text shows what was written', async () => {
    await act(answer('Here it is:'), 'open-text');
    await eventually('it is open', async () => (await texts()).some(({ text }) => text === code));
  });

  it('Apply asks the model, whose edit is asked about like any other', async () => {
    await codeAct('answer = 42', 'Apply');
    assert.match(await editor.dialog.text(), /answer\.ts/);
    assert.match(String(asked().at(-1)!.content), /^Apply this code of yours[\s\S]*export const answer = 42;/);
    await editor.dialog.click('Allow');
    await editor.panel.shows('It is applied.');
    await rests();
    assert.equal(editor.read('answer.ts'), 'export const answer = 42;\n');
  });

  it('Retry says it again in a branch, and Retry With… to another model; the ways lead back', async () => {
    await act(answer('It is applied.'), 'retry');
    await editor.panel.shows('Said again.');
    await rests();
    await editor.panel.shows('2 of 2');
    await act(answer('Said again.'), 'retry-with');
    const row = editor.page.locator('.quick-input-list .monaco-list-row', { hasText: 'another' }).first();
    await row.waitFor();
    await editor.screenshot('acts-retry-with');
    await row.click();
    await editor.panel.shows('By the other one.');
    await rests();
    assert.equal(provider.requests.at(-1)!.body.model, 'another');
    await find('[data-testid="branches"], .branches').getByRole('button', { name: 'Show the previous branch' }).first().click();
    await editor.panel.shows('Said again.');
  }); // biome-ignore format: rows

  it('Restore Files to Here takes back what came after, once it is confirmed', async () => {
    assert.equal(editor.read('one.txt'), 'of the model\n');
    await act(said('Write it.'), 'restore');
    assert.match(await editor.dialog.text(), /Undo what Towpath changed in/);
    await editor.dialog.click('Undo');
    await eventually('the file is as it was', () => editor.read('one.txt') === 'of the person\n');
    await editor.panel.hasTheKeys();
  });

  it('Edit says other words in its place, in a branch', async () => {
    await act(said('Write it.'), 'edit');
    await eventually('the words are there', async () => (await editor.panel.composer.inputValue()) === 'Write it.');
    await editor.panel.send('Write nothing.');
    await editor.panel.shows('To other words.');
    await rests();
    assert.deepEqual(asked().map(({ content }) => content), ['Write nothing.']); // biome-ignore format: one line
    await editor.panel.shows(/\d of \d/);
  });

  it('Fork From Here goes on before it with its words, in the tab that it was asked for in', async () => {
    await editor.command('Towpath: Open Chat in an Editor');
    const tab = panelOf(editor.page, 'tab');
    const message = tab.frame.locator('[data-role="user"]').filter({ hasText: 'Write nothing.' });
    await message.hover();
    await message.locator('[data-act="more"]').click();
    await message.locator('[data-act="fork"]').click();
    await eventually('its words wait', async () => (await tab.composer.inputValue()) === 'Write nothing.');
    assert.equal(await editor.panel.composer.inputValue(), '', 'and in no other box');
    await tab.send('Write something else.');
    await tab.shows('In the fork.');
    await editor.panel.shows('In the fork.');
  });
});
