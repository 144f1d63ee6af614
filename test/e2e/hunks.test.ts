import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder, writeWorkspace } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

/** Twenty lines, some of them changed. */
const lines = (...changed: [at: number, text: string][]) => {
  const all = Array.from({ length: 20 }, (_, at) => `line ${at}`);
  for (const [at, text] of changed) all[at] = text;
  return `${all.join('\n')}\n`;
};
const written = lines([2, 'two'], [9, 'nine'], [16, 'sixteen']);

type Git = (...args: string[]) => unknown;

/** Commits the files of a folder to a new repository. */
function beginRepository(folder: string): Git {
  const git: Git = (...args) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: folder });
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'Begin');
  return git;
}

const lensesOf = (editor: Towpath, title: string) =>
  editor.page.locator('.codelens-decoration a', { hasText: new RegExp(`^${title}$`) });

const show = (editor: Towpath, name: string, line = 0) =>
  editor.host.evaluate(
    async (vscode, [file, at]) => {
      const selection = new vscode.Range(at, 0, at, 0);
      const uri = vscode.Uri.joinPath(vscode.workspace.workspaceFolders![0]!.uri, file);
      await vscode.window.showTextDocument(uri, { selection, preview: false });
    },
    [name, line] as const,
  );

describe('the changes of a run in its files', () => {
  const temporary = temporaryFolder();
  const folder = writeWorkspace(temporary, { 'calc.txt': lines(), 'other.txt': 'other\n' });
  const userDataDir = path.join(temporary, 'data');
  let git: Git;
  let editor: Towpath;
  let provider: Provider;
  before(async () => {
    git = beginRepository(folder);
    provider = await startProvider([
      reply
        .call('fs_write', { path: 'calc.txt', content: written })
        .call('fs_write', { path: 'other.txt', content: 'changed\n' }),
      reply.text('Both are written.'),
      reply.text('I see.'),
      reply.text('Write lines'),
    ]);
    editor = await openTowpath({
      folder,
      userDataDir,
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
        'towpath.approvals.preset': 'edits-free',
        'files.autoSave': 'off',
        'diffEditor.codeLens': true,
      },
    });
    await editor.panel.send('Change both.');
    await editor.panel.shows('Both are written.');
    await editor.panel.waitForPhase('WaitingUser');
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
    rmSync(temporary, { recursive: true, force: true });
  });

  const lenses = (title: string) => lensesOf(editor, title);
  const areLeft = (count: number) =>
    eventually(`${count} are left`, async () => (await lenses('Mark as Reviewed').count()) === count);
  const strip = async () => (await editor.panel.frame.locator('.strip').innerText()).replace(/\s+/g, ' ').trim();
  const says = (words: string) =>
    eventually(`the strip says: ${words}`, async () => (await strip().catch(() => '')) === words);
  const reviewed = async (words: string) => {
    const { frame } = editor.panel;
    await frame.getByTestId('strip-files').click();
    await frame.getByTestId('files').getByText(words).waitFor();
    await editor.page.keyboard.press('Escape');
  };
  const line = () => editor.host.evaluate((vscode) => vscode.window.activeTextEditor?.selection.active.line);

  it('are marked where nobody was asked, with two actions each', async () => {
    await show(editor, 'calc.txt', 2);
    await areLeft(3);
    assert.equal(await lenses('Undo').count(), 3);
    await says('2 files +4 −4');
    await editor.screenshot('hunks');
  });

  it('the second is undone with two keys; the others and the counts follow', async () => {
    await editor.page.keyboard.press("Alt+'");
    await eventually('the cursor is at the second', async () => (await line()) === 9);
    await editor.page.keyboard.press('Shift+Alt+Delete');
    await eventually(
      'it is undone on disk',
      async () => editor.read('calc.txt') === lines([2, 'two'], [16, 'sixteen']),
    );
    await areLeft(2);
    await says('2 files +3 −3');
    await editor.told('One change in calc.txt was undone.');
  });

  it('one that is reviewed has no actions any more; a file is reviewed with its last one', async () => {
    await lenses('Mark as Reviewed').first().click();
    await areLeft(1);
    await reviewed('0 of 2 reviewed');
    await show(editor, 'calc.txt', 16);
    await editor.command('Towpath: Mark Change as Reviewed');
    await areLeft(0);
    await reviewed('1 of 2 reviewed');
    await editor.screenshot('hunks-reviewed');
  });

  it('the next change may be in the next file', async () => {
    await editor.command('Towpath: Next Change of This Run');
    const name = () => editor.host.evaluate((vscode) => vscode.window.activeTextEditor?.document.uri.path ?? '');
    await eventually('the other file is shown', async () => /other\.txt$/.test(await name()));
    await areLeft(1);
    await editor.command('Towpath: Previous Change of This Run');
    await eventually('and the first again', async () => /calc\.txt$/.test(await name()));
    assert.equal(await line(), 16);
  });

  it('lines that the person has changed since are not undone, with a reason', async () => {
    await editor.host.evaluate(async (vscode) => {
      const { activeTextEditor } = vscode.window;
      await activeTextEditor!.edit((edit) => edit.insert(new vscode.Position(16, 0), 'my '));
    });
    await editor.command('Towpath: Undo Change at Cursor');
    await editor.told('These lines were also changed by you. Undo would lose your change.');
    await editor.host.evaluate((vscode) => vscode.commands.executeCommand('undo'));
  });

  it('the model is informed in its next request', async () => {
    await editor.panel.send('Go on.');
    await editor.panel.shows('I see.');
    const told = JSON.stringify(provider.requests.map(({ body }) => body.messages));
    assert.match(told, /The person has undone your change of line 10 in: calc\.txt/);
  });

  it('are the same after a reload, and in a diff', async () => {
    await editor.host.evaluate((vscode) => vscode.commands.executeCommand('workbench.action.files.saveAll'));
    await editor.reload();
    await show(editor, 'other.txt');
    await areLeft(1);
    await reviewed('1 of 2 reviewed');
    await editor.panel.frame.getByTestId('strip-files').click();
    await editor.panel.frame.locator('[data-file="other.txt"]').getByTestId('file-changes').click();
    const inDiff = editor.page.locator('.monaco-diff-editor .codelens-decoration a', { hasText: 'Mark as Reviewed' });
    await eventually('they are in the diff', async () => (await inDiff.count()) === 1);
    await editor.screenshot('hunks-diff');
    await editor.host.evaluate((vscode) => vscode.commands.executeCommand('workbench.action.closeActiveEditor'));
  });

  it('are not marked any more once they are staged', async () => {
    await show(editor, 'other.txt');
    await areLeft(1);
    git('add', 'other.txt');
    await editor.host.evaluate((vscode) => vscode.commands.executeCommand('git.refresh'));
    await areLeft(0);
  });
});

describe('the changes of several runs, of a command and of the user in one file', () => {
  const temporary = temporaryFolder();
  const files = { 'calc.txt': lines(), 'old.txt': lines(), 'third.txt': lines() };
  const folder = writeWorkspace(temporary, files);
  const edit = (file: string, at: number, text: string) => ({
    path: file,
    edits: [{ oldText: `line ${at}\n`, newText: `${text}\n` }],
  });
  let git: Git;
  let editor: Towpath;
  let provider: Provider;
  before(async () => {
    git = beginRepository(folder);
    provider = await startProvider([
      reply
        .call('fs_edit', edit('calc.txt', 2, 'two'))
        .call('shell_run', { command: "sed -i 's/^line 9$/nine/' calc.txt" })
        .call('fs_edit', edit('old.txt', 2, 'two'))
        .call('fs_move', { from: 'old.txt', to: 'new.txt' }),
      reply.call('fs_edit', edit('new.txt', 16, 'sixteen')),
      reply.text('The first run is done.'),
      reply.call('fs_edit', edit('calc.txt', 16, 'sixteen')).call('fs_edit', edit('third.txt', 4, 'four')),
      reply.text('The second run is done.'),
      reply.text('I see.'),
    ]);
    editor = await openTowpath({
      folder,
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
        'towpath.approvals.preset': 'edits-free',
      },
    });
    await editor.panel.send('Change the first lines.');
    await editor.dialog.text();
    await editor.dialog.click('Allow');
    await editor.panel.shows('The first run is done.');
    await editor.command('Towpath: New Run');
    await editor.panel.send('Change the last line.');
    await editor.panel.shows('The second run is done.');
    await editor.panel.waitForPhase('WaitingUser');
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
    rmSync(temporary, { recursive: true, force: true });
  });

  const areLeft = (count: number) =>
    eventually(`${count} are left`, async () => (await lensesOf(editor, 'Mark as Reviewed').count()) === count);
  const openRun = async (text: string) => {
    await editor.panel.frame.getByTestId('history').click();
    await editor.panel.frame.locator('.history-open', { hasText: text }).click();
  };

  it('are marked for the run that is shown', async () => {
    await show(editor, 'calc.txt');
    await areLeft(1);
    await openRun('Change the first lines.');
    await areLeft(2);
    await editor.screenshot('hunks-first-run');
  });

  it('an undo leaves the lines of the command and of the other run', async () => {
    await show(editor, 'calc.txt', 2);
    await areLeft(2);
    await editor.page.keyboard.press('Shift+Alt+Delete');
    await eventually(
      'it is undone on disk',
      async () => editor.read('calc.txt') === lines([9, 'nine'], [16, 'sixteen']),
    );
    await areLeft(1);
  });

  it('are marked in a file that the run has renamed and edited', async () => {
    await show(editor, 'new.txt');
    await areLeft(2);
    await lensesOf(editor, 'Undo').last().click();
    await eventually('it is undone on disk', async () => editor.read('new.txt') === lines([2, 'two']));
  });

  it('are gone with a commit', async () => {
    git('add', 'new.txt', 'old.txt');
    git('commit', '-qm', 'Rename');
    await editor.host.evaluate((vscode) => vscode.commands.executeCommand('git.refresh'));
    await areLeft(0);
  });

  it('are undone by Discard Changes in Source Control; the model is informed', async () => {
    await openRun('Change the last line.');
    await show(editor, 'third.txt');
    await areLeft(1);
    await editor.host.evaluate(async (vscode) => {
      const api = vscode.extensions.getExtension('vscode.git')!.exports.getAPI(1);
      const [repository] = api.repositories;
      await repository.clean([vscode.window.activeTextEditor!.document.uri.fsPath]);
    });
    await areLeft(0);
    await editor.panel.frame.getByTestId('strip-files').click();
    const rows = editor.panel.frame.getByTestId('files').locator('[data-file]');
    await eventually('it is no longer in the list', async () => (await rows.count()) === 1);
    await editor.page.keyboard.press('Escape');
    await editor.panel.send('Go on.');
    await editor.panel.shows('I see.');
    assert.match(JSON.stringify(provider.requests.at(-1)!.body.messages), /third\.txt/);
    assert.match(JSON.stringify(provider.requests.at(-1)!.body.messages.slice(-2)), /third\.txt/);
  });

  it('have a mark in the gutter only where the user has allowed them', async () => {
    provider.script = (_, count) =>
      count === 6 ? reply.call('fs_edit', edit('third.txt', 8, 'eight')) : reply.text('Allowed.');
    await editor.host.evaluate(async (vscode) =>
      vscode.workspace.getConfiguration('towpath').update('approvals.preset', 'reads-free', true),
    );
    await editor.command('Towpath: New Run');
    await editor.panel.send('Change one more.');
    await editor.dialog.text();
    await editor.dialog.click('Allow');
    await editor.panel.shows('Allowed.');
    await show(editor, 'third.txt');
    await editor.page.locator('.glyph-margin-widgets .cgmr').first().waitFor();
    await areLeft(0);
    await editor.screenshot('hunks-allowed');
    await editor.host.evaluate(async (vscode) =>
      vscode.workspace.getConfiguration('towpath').update('editor.decorations', 'all', true),
    );
    await areLeft(1);
  });
});

describe('the changes of a run in its files, in German', () => {
  let editor: Towpath;
  let provider: Provider;
  before(async () => {
    provider = await startProvider([
      reply.call('fs_write', { path: 'calc.txt', content: written }),
      reply.text('Geschrieben.'),
    ]);
    editor = await openTowpath({
      language: 'de',
      builtIn: 'all',
      files: { 'calc.txt': lines() },
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
        'towpath.approvals.preset': 'edits-free',
      },
    });
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
  });

  it('have German actions; an undo says in German what it did', async () => {
    await editor.panel.send('Los.');
    await editor.panel.shows('Geschrieben.');
    await editor.panel.waitForPhase('WaitingUser');
    await show(editor, 'calc.txt');
    const marks = lensesOf(editor, 'Als durchgesehen markieren');
    await eventually('all are marked', async () => (await marks.count()) === 3);
    await lensesOf(editor, 'Rückgängig').first().click();
    await editor.told('Eine Änderung in calc.txt wurde rückgängig gemacht.');
    assert.equal(editor.read('calc.txt'), lines([9, 'nine'], [16, 'sixteen']));
    await editor.screenshot('hunks-german');
  });
});
