import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder, writeWorkspace } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, type ProviderReply, reply, startProvider } from '../support/provider.ts';

const lines = (...changed: [at: number, text: string][]) => {
  const all = Array.from({ length: 40 }, (_, at) => `line ${at}`);
  for (const [at, text] of changed) all[at] = text;
  return `${all.join('\n')}\n`;
};

describe('a day', () => {
  const temporary = temporaryFolder();
  const folder = writeWorkspace(temporary, { 'one.txt': lines(), 'two.txt': 'two\n', 'docs/guide.txt': 'a guide\n' });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: folder, encoding: 'utf8' });
  let editor: Towpath;
  let provider: Provider;
  let steps: ProviderReply[] = [];
  before(async () => {
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'Begin');
    provider = await startProvider(() => steps.shift() ?? reply.text('Nothing was to be said.'));
    provider.models.push({ id: 'other', context_length: 32_768 });
    const prices = { '*': { input: 0, output: 1 } }; // a dollar for a million tokens
    editor = await openTowpath({
      folder,
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url, prices } },
        'towpath.limits.run': 1,
        'files.autoSave': 'off',
      },
    });
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
    rmSync(temporary, { recursive: true, force: true });
  });

  const find = (id: string) => editor.panel.frame.getByTestId(id);
  const said = () => JSON.stringify(provider.requests.at(-1)!.body.messages);
  const asks = async (text: string, ...answers: ProviderReply[]) => {
    steps = answers;
    await editor.panel.send(text);
  };
  const rests = async (text: string) => {
    await editor.panel.shows(text);
    await editor.panel.waitForPhase('WaitingUser');
  };
  const act = async (role: 'user' | 'assistant', name: string) => {
    const message = editor.panel.frame.locator(`[data-role="${role}"]`).last();
    await message.hover();
    await message.locator(`[data-act="${name}"]`).click();
  };
  const strip = (words: RegExp) =>
    eventually(`the strip says ${words}`, async () =>
      words.test((await editor.panel.frame.locator('.strip').innerText()).replace(/\s+/g, ' ')),
    );

  it('of questions: what is read folds into a line, and leads to where it was read', async () => {
    await asks(
      'What is here?',
      reply.call('fs_read', { path: 'one.txt' }).call('fs_read', { path: 'two.txt' }),
      reply.call('fs_search', { pattern: 'line 7' }).call('fs_list', { path: 'docs' }),
      reply.text('Two files of lines.'),
    );
    await rests('Two files of lines.');
    await editor.panel.shows(/Read 2 files, searched once, listed a folder/);
    assert.equal(await editor.panel.cards().count(), 0, 'the fold is closed');
    await editor.panel.frame.locator('.fold-head').click();
    await editor.panel.cards('fs.list').getByRole('button', { name: 'docs', exact: true }).click();
    await editor.page.locator('.explorer-folders-view .monaco-list-row.selected', { hasText: 'docs' }).waitFor();
    await editor.showPanel();
  });

  it('of changes: three are asked about one by one, one is denied', async () => {
    const write = (path: string, content: string) => ['fs_write', { path, content }] as const;
    await asks(
      'Change them.',
      reply
        .call(...write('one.txt', lines([3, 'three'], [30, 'thirty'])))
        .call(...write('new.txt', 'new\n'))
        .call(...write('two.txt', 'overwritten\n')),
      reply.text('Two are written, one is not.'),
    );
    await editor.dialog.text();
    await editor.dialog.click('One by One');
    for (const name of ['one.txt', 'new.txt']) {
      await eventually(`it asks about ${name}`, async () => (await editor.dialog.text()).includes(name));
      await editor.dialog.click('Allow');
    }
    await eventually('it asks about two.txt', async () => (await editor.dialog.text()).includes('two.txt'));
    await editor.dialog.escape();
    await editor.panel.continueHeld();
    await rests('Two are written, one is not.');
    await editor.panel.shows('Denied');
    assert.deepEqual(
      ['one.txt', 'new.txt', 'two.txt'].map((name) => editor.read(name)),
      [lines([3, 'three'], [30, 'thirty']), 'new\n', 'two\n'],
    );
    await strip(/2 files \+3 −2/);
  });

  it('of second thoughts: one hunk is taken back, and what was said is said otherwise', async () => {
    await find('strip-files').click();
    await editor.panel.frame.locator('[data-file="one.txt"]').getByTestId('file-changes').click();
    const diff = editor.page.locator('.monaco-diff-editor');
    await diff
      .locator('.view-line', { hasText: /^three$/ })
      .first()
      .hover();
    await diff.locator('.action-label.codicon-arrow-right').first().click();
    await eventually('it is taken back in the editor', () =>
      editor.host.evaluate((vscode) => vscode.window.activeTextEditor!.document.lineAt(3).text === 'line 3'),
    );
    await editor.host.evaluate(async (vscode) => await vscode.window.activeTextEditor!.document.save());
    await strip(/2 files \+2 −1/);
    await asks('Go on.', reply.text('Where to?'));
    await rests('Where to?');
    assert.match(said(), /has taken back 1 of your 2 changes of one\.txt/);
    await act('user', 'edit');
    await asks('Say what is left.', reply.text('Thirty and a new file are left.'));
    await rests('Thirty and a new file are left.');
    assert.doesNotMatch(said(), /Go on\./);
    await editor.panel.frame.getByRole('group', { name: 'Branch 2 of 2' }).waitFor();
  });

  it('of work beside it: a server runs on, and is stopped', async () => {
    const serving = `"${process.execPath}" -e "console.log('Ready.');setInterval(() => {}, 1000)"`;
    await asks('Serve it.', reply.call('shell_run', { command: serving, background: true }), reply.text('It serves.'));
    assert.match(await editor.dialog.text(), /in the background/);
    await editor.dialog.click('Allow');
    await rests('It serves.');
    await strip(/1 running/);
    await find('strip-commands').click();
    await find('commands').getByText('Stop', { exact: true }).click();
    await eventually(
      'nothing runs',
      async () => !/running/.test(await editor.panel.frame.locator('footer').innerText()),
    );
  });

  it('of money: a limit is reached and raised, then another model is asked', async () => {
    await asks('Think hard.', reply.text('A dear thought.').usage({ prompt_tokens: 12, completion_tokens: 1_000_000 }));
    await rests('A dear thought.');
    await asks('And again.', reply.text('A cheap one.'));
    await editor.panel.shows(/\$1\S* of this run's \$1 are spent/);
    await find('raise-limit').click();
    await editor.dialog.click('Raise Limit by $1');
    await rests('A cheap one.');
    steps = [reply.text('The other one says so, too.')];
    await act('assistant', 'retry-with');
    for (const choice of ['Another model of', 'other'])
      await editor.page.locator('.quick-input-list .monaco-list-row', { hasText: choice }).first().click();
    await rests('The other one says so, too.');
    assert.equal(provider.requests.at(-1)!.body.model, 'other');
  });

  it('of looking elsewhere: what ends meanwhile is said once, and leads there', async () => {
    await asks(
      'Wait for it.',
      reply.call('shell_run', { command: 'until test -e go; do sleep 0.1; done' }),
      reply.text('It is there.'),
    );
    await editor.dialog.click('Allow');
    await editor.panel.hasTheKeys(); // nothing brings the panel into view again
    await editor.host.evaluate((vscode) => vscode.commands.executeCommand('workbench.view.explorer'));
    await editor.panel.frame.locator('body').waitFor({ state: 'hidden' });
    writeFileSync(path.join(folder, 'go'), '');
    const toast = editor.page.locator('.notification-toast', { hasText: 'has ended: It is there.' });
    await toast.getByRole('button', { name: 'Show' }).click();
    await rests('It is there.');
    rmSync(path.join(folder, 'go'));
  });

  it('of leaving: one file is undone, the other committed, and nothing is left over', async () => {
    if ((await find('files').count()) === 0) await find('strip-files').click();
    const row = editor.panel.frame.locator('[data-file="new.txt"]');
    await row.getByTestId('file-more').click();
    await row.getByTestId('undo-file').click();
    await strip(/1 file \+1 −1/);
    await editor.screenshot('day');
    steps = [reply.text('Say thirty')];
    await find('commit-files').click();
    await eventually('it is staged', () => git('diff', '--cached', '--name-only') === 'one.txt\n');
    await editor.page.locator('.scm-view .view-line', { hasText: 'Say thirty' }).waitFor();
    git('commit', '-qm', 'Say thirty');
    await editor.showPanel();
    await eventually('no file is left', async () => (await find('strip-files').count()) === 0);
    assert.equal(git('status', '--short'), '');
    assert.deepEqual([editor.read('new.txt'), editor.read('two.txt')], [undefined, 'two\n']);
  });
});
