import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder, writeWorkspace } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

const findings = `Two of the changes are wrong.

- [src/one.ts:2](src/one.ts#L2): error: \`two\` is 3. <b>Bold</b> [run](command:workbench.action.closeWindow)
- [src/other.ts:1](src/other.ts#L1): warning: nothing tests this
- [../outside.ts:1](../outside.ts#L1): note: it is not in the workspace`;

/** In one window, one test after the other: each finds what the one before it left. */
describe('*Review My Changes*', () => {
  const temporary = temporaryFolder();
  const folder = writeWorkspace(temporary, {
    'src/one.ts': 'export const one = 1;\nexport const two = 2;\n',
    'src/other.ts': 'export const other = 0;\n',
  });
  let editor: Towpath;
  let provider: Provider;
  before(async () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: folder });
    git('init', '-q');
    git('add', 'src');
    git('commit', '-qm', 'Begin');
    writeFileSync(path.join(folder, 'src/one.ts'), 'export const one = 1;\nexport const two = 3;\n');
    writeFileSync(path.join(folder, 'src/other.ts'), 'export const other = 100;\n');
    provider = await startProvider(() => reply.text(findings));
    editor = await openTowpath({
      folder,
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.models': { review: 'openai-compatible/critic' },
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
        'workbench.editor.enablePreview': false,
      },
    });
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
    rmSync(temporary, { recursive: true, force: true });
  });

  const run = (command: string) =>
    editor.host.evaluate(async (vscode, command) => void (await vscode.commands.executeCommand(command)), command);
  const open = (name: string) =>
    editor.host.evaluate(
      async (vscode, file) => void (await vscode.window.showTextDocument(vscode.Uri.file(file))),
      path.join(folder, name),
    );
  const marks = () => editor.page.locator('.editor-instance .comment-range-glyph');
  const thread = () => editor.page.locator('.editor-instance .review-widget');
  const isMarked = (expected = true) =>
    eventually(`the file is ${expected ? '' : 'not '}marked`, async () => (await marks().count()) > 0 === expected);
  const action = (title: string) => thread().locator(`.action-label[aria-label*="${title}"]`).first();
  /** Opens it by its row in the editor's view of comments. */
  async function openThread(text: string): Promise<void> {
    await run('workbench.action.focusCommentsPanel');
    await eventually('the comment is open', async () => {
      const row = editor.page.locator('.comments-panel .monaco-list-row', { hasText: text });
      await row.click({ timeout: 5000 }).catch(() => {}); // the view moves its rows while it opens
      return thread().getByText(text).first().isVisible();
    });
  }

  it('asks the model of its role with reading tools, and lists the findings as links', async () => {
    await run('towpath.reviewChanges');
    await editor.panel.shows('Two of the changes are wrong.');
    await editor.told('1 finding not shown in the editor. The answer contains all of them.');
    await editor.panel.waitForPhase('WaitingUser');
    const review = provider.requests.find(({ body }) => body.model === 'critic')!;
    const asked = JSON.stringify(review.body.messages);
    assert.match(asked, /\+export const two = 3;/);
    assert.match(asked, /\+export const other = 100;/);
    const tools = JSON.stringify(review.body.tools);
    assert.match(tools, /read/);
    assert.doesNotMatch(tools, /fs.write|fs.edit|shell/);
    await editor.panel.frame.getByRole('button', { name: 'src/one.ts:2' }).waitFor();
    assert.match(await editor.panel.frame.getByTestId('agent').innerText(), /Reviewer/);
  });

  it('shows each finding as a comment at its line, as plain text', async () => {
    await open('src/one.ts');
    await isMarked();
    await openThread('is 3');
    const text = await thread().first().innerText();
    assert.match(text, /Error/);
    assert.match(text, /Towpath · critic/);
    assert.match(text, /`two` is 3\. <b>Bold<\/b> \[run\]\(command:workbench\.action\.closeWindow\)/);
    assert.equal(await thread().locator('.comment-body a').count(), 0);
    await editor.screenshot('review-finding');
    await open('src/other.ts');
    await isMarked();
  });

  it('dismisses one, and shows the review again after a reload', async () => {
    await openThread('nothing tests this');
    await action('Dismiss').click();
    await isMarked(false);
    await open('src/one.ts');
    await isMarked();
    await editor.reload();
    await editor.showPanel();
    await open('src/other.ts');
    await isMarked();
  });

  it('sends a finding to a run that can fix it', async () => {
    await openThread('nothing tests this');
    const before = provider.requests.length;
    await action('Fix This').click();
    await eventually('the model is asked', () => provider.requests.length > before);
    await editor.panel.waitForPhase('WaitingUser');
    const { body } = provider.requests.find(({ body }, at) => at >= before && body.model === 'scripted')!;
    assert.match(
      JSON.stringify(body.messages),
      /Fix this finding of a review at @src\/other\.ts:1.*> nothing tests this/,
    );
    assert.match(JSON.stringify(body.tools), /edit/);
  });

  it('removes all of them at once', async () => {
    await open('src/one.ts');
    await isMarked();
    await run('towpath.dismissFindings');
    await isMarked(false);
  });
});
