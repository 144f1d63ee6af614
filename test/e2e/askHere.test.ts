import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder, writeWorkspace } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider, type WireRequest } from '../support/provider.ts';

const code = 'export const one = 1;\nexport const two = 2;\nexport const three = 3;\n';
const changed = code.replace('three = 3', 'three = one + two');
const hostile = 'It adds them. <b>Bold</b> [run](command:workbench.action.closeWindow)';

/** Settings, and a key for the command as the help page shows it. */
function userData(temporary: string): string {
  const folder = path.join(temporary, 'data');
  mkdirSync(path.join(folder, 'User'), { recursive: true });
  const keys = [{ key: 'ctrl+i', command: 'towpath.askHere', when: 'editorTextFocus' }];
  writeFileSync(path.join(folder, 'User', 'keybindings.json'), JSON.stringify(keys));
  return folder;
}

/** What the user has typed last, with the text of its attachments. */
function lastInput({ messages }: WireRequest): string {
  const content: unknown = messages.findLast(({ role }) => role === 'user')?.content;
  return typeof content === 'string'
    ? content
    : (content as { text?: string }[]).map(({ text = '' }) => text).join('\n\n');
}

/** What a test does in the editor of a file. */
function handsOf(editor: Towpath) {
  const { page, host } = editor;
  const threads = page.locator('.editor-instance .review-widget');
  return {
    threads,
    actions: (label: string) => threads.locator(`.action-label[aria-label^="${label}"]`),
    button: (label: string) => threads.locator('.monaco-text-button:visible', { hasText: label }),
    /** A selection of `[line, character]`, from 0, and the keys in the editor. */
    select: (file: string, from: [number, number], to: [number, number]) =>
      host.evaluate(
        async (vscode, [file, from, to]) => {
          const uri = vscode.Uri.joinPath(vscode.workspace.workspaceFolders![0]!.uri, file);
          const shown = await vscode.window.showTextDocument(uri, { preview: false });
          shown.selection = new vscode.Selection(...from, ...to);
          await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup');
        },
        [file, from, to] as const,
      ),
    hasInput: () =>
      eventually('the input of a comment has the focus', () =>
        page.locator('.review-widget .comment-form .monaco-editor.focused').isVisible(),
      ),
    shows: (text: string) => threads.locator('.comment-body', { hasText: text }).first().waitFor(),
  };
}

/** In one window, one test after the other: each finds what the one before it left. */
describe('*Ask Towpath Here…*', () => {
  const temporary = temporaryFolder();
  const folder = writeWorkspace(temporary, { 'src/sum.ts': code, 'src/other.ts': code });
  let editor: Towpath;
  let provider: Provider;
  let hands: ReturnType<typeof handsOf>;
  let release = () => {};
  before(async () => {
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    provider = await startProvider((request) => {
      const { messages } = request;
      const input = lastInput(request);
      if (messages.at(-1)!.role === 'tool') return reply.text('It is the sum now.');
      if (/Make it the sum/.test(input)) return reply.call('fs_write', { path: 'src/sum.ts', content: changed });
      if (/Take your time/.test(input)) return reply.text('I begin').after(released).text(' and end.');
      return /what for/.test(input) ? reply.text(hostile) : reply.text('For an example.');
    });
    editor = await openTowpath({
      folder,
      userDataDir: userData(temporary),
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
        'towpath.approvals.preset': 'edits-free',
        'editor.lightbulb.enabled': 'on',
        'files.autoSave': 'off',
      },
    });
    hands = handsOf(editor);
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
    rmSync(temporary, { recursive: true, force: true });
  });

  const inputs = () => provider.requests.map(({ body }) => lastInput(body));
  /** The messages of the user before the request with this input. */
  const conversationOf = (input: RegExp): string => {
    const { body } = provider.requests.findLast((one) => input.test(lastInput(one.body)) && one.body.tools)!;
    return JSON.stringify(body.messages.filter(({ role }) => role === 'user'));
  };
  const ask = async (text: string) => {
    await editor.page.keyboard.press('Control+I');
    await hands.hasInput();
    await editor.page.keyboard.type(text);
    await editor.page.keyboard.press('Control+Enter');
    await hands.shows(text);
  };
  const areThreads = (count: number) =>
    eventually(`${count} threads are open`, async () => (await hands.threads.count()) === count);

  it('by keys alone: the selection, a message, the answer below it, and the change marked in the file', async () => {
    await hands.select('src/sum.ts', [2, 0], [3, 0]);
    await editor.page.keyboard.press('Control+I');
    await hands.hasInput();
    await editor.screenshot('ask-here-empty');
    await editor.page.keyboard.type('Make it the sum.');
    await editor.page.keyboard.press('Control+Enter');
    await hands.shows('Make it the sum.');
    await hands.shows('It is the sum now.');
    assert.equal(editor.read('src/sum.ts'), changed);
    const sent = inputs().find((one) => /Make it the sum/.test(one))!;
    assert.match(sent, /src\/sum\.ts:3:\n```\nexport const three = 3;\n```/);
    assert.match(sent, /@src\/sum\.ts:3 Make it the sum\.$/);
    const marks = editor.page.locator('.codelens-decoration a', { hasText: 'Mark as Reviewed' });
    await eventually('the change is marked', async () => (await marks.count()) === 1);
    await editor.screenshot('ask-here-answer');
  });

  it('a reply continues the run; the answer is text, whatever is in it', async () => {
    await hands.threads.locator('.review-thread-reply-button').click();
    await hands.hasInput();
    await editor.page.keyboard.type('And what for?');
    await hands.button('Ask').click();
    await hands.shows(hostile);
    assert.equal(await hands.threads.locator('.comment-body a, .comment-body b').count(), 0);
    assert.match(conversationOf(/And what for/), /Make it the sum.*And what for/);
  });

  it('the line of a thread leads to it; a cursor elsewhere, by the lightbulb’s menu, continues the shown run', async () => {
    await hands.select('src/sum.ts', [2, 4], [2, 4]);
    await editor.page.keyboard.press('Control+I');
    await hands.hasInput();
    await areThreads(1);
    await hands.select('src/other.ts', [0, 0], [0, 12]);
    const row = editor.page.locator('.action-widget .monaco-list-row', { hasText: 'Ask Towpath Here…' });
    await eventually('the lightbulb has its row', async () => {
      if (!(await row.isVisible()))
        await editor.host.evaluate((vscode) => vscode.commands.executeCommand('editor.action.quickFix'));
      return row.isVisible();
    });
    const focused = editor.page.locator('.action-widget .monaco-list-row.focused', { hasText: 'Ask Towpath Here…' });
    while (!(await focused.isVisible())) await editor.page.keyboard.press('ArrowDown');
    await editor.page.keyboard.press('Enter');
    await hands.hasInput();
    await editor.page.keyboard.type('Why?');
    await editor.page.keyboard.press('Control+Enter');
    await hands.shows('For an example.');
    assert.match(conversationOf(/other\.ts:1 Why/), /Make it the sum.*@src\/other\.ts:1 Why\?/);
  });

  it('a run at work is left alone: a new one begins, and the thread opens its run again', async () => {
    await editor.panel.send('Take your time.');
    await editor.panel.shows('I begin');
    await hands.select('src/other.ts', [1, 3], [1, 3]);
    await ask('And this one?');
    await hands.shows('And this one?');
    await eventually('it is answered', async () => (await hands.threads.getByText('For an example.').count()) === 2);
    assert.doesNotMatch(conversationOf(/other\.ts:2 And this one/), /Take your time|Make it/);
    release();
    await editor.command('Towpath: New Run');
    await eventually('the new run is empty', async () => (await editor.panel.transcript()).length === 0);
    await hands.actions('Open Run').last().click();
    await editor.panel.shows('@src/other.ts:2 And this one?');
  });

  it('a file outside of the workspace is refused', async () => {
    const outside = path.join(temporary, 'outside.ts');
    writeFileSync(outside, code);
    await editor.host.evaluate(async (vscode, file) => {
      await vscode.window.showTextDocument(vscode.Uri.file(file));
    }, outside);
    await editor.command('Towpath: Ask Towpath Here…');
    await editor.told(/outside\.ts.* is outside the open folders and was not attached/);
    assert.equal(await hands.threads.count(), 0);
    await editor.host.evaluate((vscode) => vscode.commands.executeCommand('workbench.action.closeActiveEditor'));
  });

  it('Escape removes an empty thread', async () => {
    await hands.select('src/other.ts', [2, 0], [2, 0]);
    await areThreads(2);
    await editor.page.keyboard.press('Control+I');
    await hands.hasInput();
    await areThreads(3);
    await eventually('Escape has removed the empty one', async () => {
      // The editor waits for the release of the key, which on a busy machine has come before: then the next one counts.
      if ((await hands.threads.count()) === 3) await editor.page.keyboard.press('Escape');
      return (await hands.threads.count()) === 2;
    });
  });
});
