// biome-ignore-all lint/suspicious/noTemplateCurlyInString: lines of a shell
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, type ProviderReply, reply, startProvider } from '../support/provider.ts';

const password = 'Wilhelmina-4711';

// Holds command-input-is-not-recorded.
describe('a command that asks', () => {
  let provider: Provider;
  let editor: Towpath;
  let steps: (() => ProviderReply)[];
  before(async () => {
    provider = await startProvider(() => steps.shift()?.() ?? reply.text('The story is over.'));
    editor = await openTowpath({
      files: { 'old.txt': 'one\n' },
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      },
    });
  });
  after(async () => {
    await editor?.stop();
    await provider.close();
  });
  const row = () => editor.panel.frame.getByTestId('command-input');
  const field = () => row().locator('input');
  const result = () => provider.requests.at(-1)!.body.messages.at(-1)!.content ?? '';

  it('the card has an input; y/N is answered, a password is masked and in no record', async () => {
    steps = [
      () =>
        reply.call('shell_run', {
          command:
            'read -p "Remove old.txt? [y/N] " yes; [ "$yes" = y ] && rm old.txt; read -s -p "Password: " word; echo; echo "${#word} letters"',
        }),
      () => reply.text('It is removed.'),
    ];
    await editor.panel.send('Remove it.');
    await editor.dialog.text();
    await editor.dialog.click('Allow');
    await row().waitFor();
    assert.equal(await row().locator('label span').innerText(), 'Remove old.txt? [y/N]');
    assert.equal(await field().getAttribute('type'), 'text');
    const status = editor.page.locator('.statusbar-item', { hasText: 'a command waits for input' });
    await status.waitFor();
    await editor.screenshot('command-input');
    await field().fill('y');
    await field().press('Enter');
    await eventually(
      'it asks for a password',
      async () =>
        (await field()
          .getAttribute('type')
          .catch(() => '')) === 'password',
    );
    await field().fill(password);
    await editor.resizePanel(230);
    await editor.screenshot('command-input-password');
    await row().getByTestId('send-input').click();
    await editor.panel.shows('It is removed.');
    await row().waitFor({ state: 'detached' });
    await status.waitFor({ state: 'detached' });
    assert.match(result(), /15 letters.*The user answered 2 prompts\./s);
    assert.doesNotMatch(JSON.stringify(provider.requests.map(({ body }) => body)), new RegExp(password));
    const found = execFileSync('sh', ['-c', 'grep -rlF "$1" "$2" || true', 'sh', password, editor.userDataDir]);
    assert.equal(found.toString(), '');
  });

  it('End Input ends what would go on asking', async () => {
    steps = [
      () => reply.call('shell_run', { command: 'while read -p "More? "; do :; done; echo enough' }),
      () => reply.text('It is over.'),
    ];
    await editor.panel.send('Ask.');
    await editor.dialog.text();
    await editor.dialog.click('Allow');
    await row().getByTestId('end-input').click();
    await editor.panel.shows('It is over.');
    assert.match(result(), /enough/);
  });
});
