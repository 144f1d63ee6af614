import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { toWireToolName } from '../../src/llm/core/wireToolNames.ts';
import { pictureOfFailure } from '../support/editor/picture.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

type Call = [tool: string, args: object];
const edit = (file: string, oldText: string, newText: string): Call => [
  'fs.edit',
  { path: file, edits: [{ oldText, newText }] },
];
const write = (file: string, content: string): Call => ['fs.write', { path: file, content }];
const run = (command: string): Call => ['shell.run', { command }];

describe('questions', () => {
  let provider: Provider;
  let editor: Towpath;
  let round = 0;

  before(async () => {
    provider = await startProvider([]);
    const settings = {
      'towpath.model': 'openai-compatible/scripted',
      'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      'files.autoSave': 'off',
    };
    editor = await openTowpath({ files: { 'a.txt': 'one\ntwo\n', 'b.txt': 'b\n', 'sub/c.txt': 'c\n' }, settings });
  });
  afterEach(async function () {
    if (this.currentTest?.state !== 'failed') return;
    await pictureOfFailure(editor.page, `questions-${round}`);
    if (await editor.dialog.isOpen()) await editor.page.keyboard.press('Escape'); // the next one begins without it
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
  });
  beforeEach(async () => {
    round += 1;
    await editor.host.evaluate(async (vscode, folder) => {
      const fs = vscode.workspace.fs;
      const texts: [string, string][] = [
        ['a.txt', 'one\ntwo\n'],
        ['b.txt', 'b\n'],
        ['sub/c.txt', 'c\n'],
      ];
      for (const [name, text] of texts) await fs.writeFile(vscode.Uri.file(`${folder}/${name}`), Buffer.from(text));
      await vscode.commands.executeCommand('towpath.newRun');
    }, editor.folder);
  });

  /** The model asks for these calls in one answer, and is content with whatever comes of them. */
  const asks = async (...calls: Call[]) => asksAfter(0, ...calls);
  const asksAfter = async (ms: number, ...calls: Call[]) => {
    let asked = false;
    provider.script = () => {
      if (asked) return reply.text(`Done ${round}.`);
      asked = true;
      return calls.reduce((answer, [tool, args]) => answer.call(toWireToolName(tool), args), reply.late(ms));
    };
    await editor.panel.send('Go.');
  };
  const done = () => editor.panel.waitForPhase('WaitingUser');
  /** The outcomes that the model was told of its calls. */
  const outcomes = () => {
    const { messages } = provider.requests.at(-1)!.body;
    return messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.parse(content!));
  };
  const codes = () => outcomes().map((outcome) => (outcome.ok ? 'ok' : outcome.error.code));
  /** The order on screen is the platform's. */
  const offers = async (buttons: string[]) => assert.deepEqual((await editor.dialog.buttons()).sort(), buttons.sort());
  /** Presses a button whose answer brings the next dialog at once. */
  const press = (name: string) =>
    editor.page.locator('.monaco-dialog-box').getByRole('button', { name, exact: true }).click();
  const toast = () => editor.page.locator('.notification-toast', { hasText: 'Needs your approval:' });
  /** A button of the newest card of a tool. */
  const card = (tool: string, name: string) =>
    editor.panel.cards(tool).last().getByRole('button', { name, exact: true });
  /** The editor adds the key to the name. */
  const title = (name: string) =>
    editor.page.locator('.editor-actions').getByRole('button', { name: new RegExp(`^${name}( \\(.*\\))?$`) });
  const reviewed = () => editor.page.locator('.monaco-diff-editor .editor.modified .view-lines').first();
  const reviewHasKeys = () =>
    eventually(
      'the review has the keys',
      async () => (await editor.page.locator('.editor-instance :focus').count()) > 0,
    );
  /** Replaces all text of the editor with the cursor. */
  const type = async (text: string) => {
    await editor.page.keyboard.press('Control+a');
    await editor.page.keyboard.type(text);
  };
  const gone = async () => {
    await eventually('no notification is left', async () => (await toast().count()) === 0);
    await eventually(
      'no review is left',
      async () => (await editor.page.locator('.tab', { hasText: '(proposed)' }).count()) === 0,
    );
  };

  it('three of one answer in one dialog: Allow All runs them in order', async () => {
    await asks(edit('a.txt', 'one', '1'), edit('a.txt', 'two', '2'), run('cat a.txt > seen.txt'));
    const question = await editor.dialog.text();
    assert.equal(question.split('\n')[0], 'Allow 3 calls?');
    for (const line of ['1. Edit a.txt · +1 −1', '3. Run cat a.txt > seen.txt'])
      assert.ok(question.includes(line), question);
    await offers(['Review…', 'Allow All (3)', 'One by One', 'Cancel']);
    assert.equal(await editor.dialog.focused(), 'Review…', 'Enter never allows');
    await editor.dialog.click('Allow All (3)');
    await done();
    assert.deepEqual(codes(), ['ok', 'ok', 'ok']);
    assert.deepEqual([editor.read('a.txt'), editor.read('seen.txt')], ['1\n2\n', '1\n2\n']);
  });

  it('Cancel is one click for all of them, however many there are', async () => {
    await asks(...Array.from({ length: 64 }, (_, index) => write(`many/${index}.txt`, 'x')));
    assert.match(await editor.dialog.text(), /52 more after this\. Cancel denies all 64\./);
    await editor.dialog.click('Cancel');
    await editor.panel.continueHeld();
    assert.deepEqual(codes(), Array(64).fill('TOOL_DENIED'));
    assert.equal(await editor.dialog.isOpen(), false);
    assert.equal(editor.read('many/0.txt'), undefined);
  });

  it('One by One asks each, and each has its own answer', async () => {
    await asks(write('x.txt', 'x'), write('y.txt', 'y'), write('z.txt', 'z'));
    await press('One by One');
    await eventually('the first is asked', async () => /^Create x\.txt/.test(await editor.dialog.text()));
    await press('Allow');
    await eventually('the second is asked', async () => /^Create y\.txt/.test(await editor.dialog.text()));
    await offers(['Review…', 'Allow', 'Allow for This Run', 'Always Allow…', 'Cancel']);
    await press('Cancel');
    await eventually('the third is asked', async () => /^Create z\.txt/.test(await editor.dialog.text()));
    await editor.dialog.click('Cancel');
    await editor.panel.continueHeld();
    assert.deepEqual(codes(), ['ok', 'TOOL_DENIED', 'TOOL_DENIED']);
    assert.deepEqual([editor.read('x.txt'), editor.read('y.txt')], ['x', undefined]);
  });

  it('a line of a list says in which folder its command runs, and blanks that could hide something are asked about alone', async () => {
    await asks(
      run('echo one > out.txt'),
      ['shell.run', { command: 'echo two > out.txt', cwd: 'sub' }],
      run('echo "a  b" > c.txt'),
    );
    const question = await editor.dialog.text();
    assert.match(
      question,
      /^Allow 2 calls\?\n+1\. Run echo one > out\.txt\n2\. Run echo two > out\.txt · in sub\n\n1 more after/,
    );
    await editor.screenshot('question-two-folders');
    await press('Allow All (2)');
    await eventually('the third is asked', async () => /^Run this command\?/.test(await editor.dialog.text()));
    assert.match(await editor.dialog.text(), /echo "a␣␣b" > c\.txt/);
    await editor.dialog.click('Cancel');
    await editor.panel.continueHeld();
    assert.deepEqual(
      [codes(), editor.read('out.txt'), editor.read('sub/out.txt')],
      [['ok', 'ok', 'TOOL_DENIED'], 'one\n', 'two\n'],
    );
  });

  it('a command that discards work says what is lost, and can only be allowed by itself', async () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
        cwd: editor.folder,
        stdio: 'ignore',
      });
    git('init');
    git('add', 'a.txt', 'b.txt');
    git('-c', 'commit.gpgsign=false', 'commit', '-m', 'all');
    writeFileSync(path.join(editor.folder, 'a.txt'), 'hours of work\n');
    try {
      await asks(run('git checkout -- .'));
      const question = await editor.dialog.text();
      assert.match(
        question,
        /^Run this command\?\n+git checkout -- \.\n+Discards uncommitted changes in 1 file: a\.txt\. Undo restores them\.(\n|$)/,
      );
      await offers(['Review…', 'Allow', 'Cancel']);
      assert.equal(await editor.dialog.focused(), 'Review…', 'Enter never allows');
      await editor.screenshot('question-discards');
      await editor.dialog.click('Cancel');
      await editor.panel.continueHeld();
      assert.deepEqual([codes(), editor.read('a.txt')], [['TOOL_DENIED'], 'hours of work\n']);
      await editor.host.evaluate(async (vscode) => vscode.commands.executeCommand('towpath.newRun'));
      await asks(run('git checkout -- .'));
      await editor.dialog.click('Allow');
      await done();
      assert.deepEqual([codes(), editor.read('a.txt')], [['ok'], 'one\ntwo\n']);
    } finally {
      rmSync(path.join(editor.folder, '.git'), { recursive: true, force: true });
    }
  });

  it('a protected place is never in a list: it is asked about alone', async () => {
    await asks(write('p.txt', 'p'), write('.vscode/settings.json', '{}'), write('q.txt', 'q'));
    const question = await editor.dialog.text();
    assert.match(question, /^Allow 2 calls\?\n/);
    assert.doesNotMatch(question, /\.vscode/);
    await press('Allow All (2)');
    await eventually('the protected one', async () =>
      /^Create \.vscode\/settings\.json/.test(await editor.dialog.text()),
    );
    await offers(['Review…', 'Allow', 'Cancel']);
    await editor.dialog.click('Cancel');
    await editor.panel.continueHeld();
    assert.deepEqual(codes(), ['ok', 'TOOL_DENIED', 'ok']);
  });

  it('a review can be changed: the file gets the person’s text, and the model is told', async () => {
    await asks(edit('a.txt', 'one', '1'));
    await editor.dialog.click('Review…');
    await reviewed().click();
    await type('mine');
    await title('Allow as Changed').waitFor();
    await editor.screenshot('review-changed');
    assert.equal(editor.read('a.txt'), 'one\ntwo\n');
    await title('Allow as Changed').click();
    await done();
    assert.equal(editor.read('a.txt'), 'mine');
    assert.equal(outcomes()[0].data.changedByPerson, '@@ -1,2 +1,1 @@\n-1\n-two\n+mine');
    await gone();
    assert.match(await editor.panel.cards('fs.edit').last().innerText(), /Changed by you before approval/);
  });

  it('a command can be changed, and the dialog shows it as it will run', async () => {
    await asks(run('echo theirs > who.txt'));
    await editor.dialog.click('Review…');
    await editor.page.locator('.editor-instance .view-lines', { hasText: 'theirs' }).click();
    await type('echo mine > who.txt');
    await title('Allow as Changed').waitFor();
    await card('shell.run', 'Answer…').click();
    const question = await editor.dialog.text();
    assert.match(question, /echo mine > who\.txt\n[\s\S]*You changed it/);
    await offers(['Review…', 'Allow as Changed', 'Cancel']);
    await editor.dialog.click('Allow as Changed');
    await done();
    assert.equal(editor.read('who.txt'), 'mine\n');
    assert.equal(outcomes()[0].data.changedByPerson, 'echo mine > who.txt');
    await gone();
  });

  it('several are reviewed in one editor, and answered after it', async () => {
    await asks(edit('a.txt', 'one', '1'), edit('b.txt', 'b', 'B'));
    await editor.dialog.click('Review…');
    await editor.page.locator('.multiDiffEntry').nth(1).waitFor();
    await editor.screenshot('review-several');
    await editor.panel.cards('fs.edit').last().getByRole('button', { name: 'Answer…', exact: true }).click();
    await editor.dialog.click('Allow All (2)');
    await done();
    assert.deepEqual([editor.read('a.txt'), editor.read('b.txt')], ['1\ntwo\n', 'B\n']);
    await gone();
  });

  const placeholder = 'What should it do instead? Enter on an empty box continues';
  const asksInstead = async () => {
    await editor.panel.shows('Denied · waiting for your instructions');
    await editor.panel.hasTheKeys();
    assert.equal(await editor.panel.composer.getAttribute('placeholder'), placeholder);
    await done();
    assert.equal(await editor.dialog.isOpen(), false);
  };
  const denials: [how: string, deny: () => Promise<unknown>][] = [
    ['Cancel', () => editor.dialog.click('Cancel')],
    ['Escape', () => editor.dialog.escape()],
    [
      'Deny on the card',
      async () => {
        await editor.dialog.click('Review…');
        await card('fs.edit', 'Deny').click();
      },
    ],
    [
      'Deny above the review',
      async () => {
        await editor.dialog.click('Review…');
        await title('Deny').click();
      },
    ],
    [
      'the key of the review',
      async () => {
        await editor.page.keyboard.press('Enter');
        await reviewHasKeys();
        await editor.page.keyboard.press('Shift+Alt+Delete');
      },
    ],
    [
      'the command that had words of its own',
      async () => {
        await editor.dialog.click('Review…');
        await title('Deny').waitFor();
        await editor.host.evaluate(async (vscode) => vscode.commands.executeCommand('towpath.denyWithWords'));
      },
    ],
  ];
  for (const [index, [how, deny]] of denials.entries())
    it(`${how}: nothing is sent before the message box has an answer, which is the feedback`, async () => {
      await asks(edit('a.txt', 'one', '1'));
      await editor.dialog.text();
      const sent = provider.requests.length;
      await deny();
      await asksInstead();
      if (index === 0) await editor.screenshot('denied-waiting');
      await editor.page.keyboard.type('use pnpm');
      assert.equal(provider.requests.length, sent);
      await editor.page.keyboard.press('Enter');
      await editor.panel.shows(`Done ${round}.`);
      assert.equal(provider.requests.length, sent + 1);
      assert.deepEqual(codes(), ['TOOL_DENIED']);
      const { messages } = provider.requests.at(-1)!.body;
      assert.match(JSON.stringify(messages.at(-1)), /use pnpm/);
      await editor.panel.shows('Denied: “use pnpm”');
      assert.equal(editor.read('a.txt'), 'one\ntwo\n');
      await gone();
    });

  it('Enter on the empty box, or the button on the card, continues without a message; a reload changes nothing', async () => {
    for (const how of ['key', 'button', 'reload'] as const) {
      await editor.host.evaluate(async (vscode) => vscode.commands.executeCommand('towpath.newRun'));
      await asks(edit('a.txt', 'one', '1'));
      await editor.dialog.click('Cancel');
      await asksInstead();
      const sent = provider.requests.length;
      if (how === 'reload') {
        await editor.reload();
        await editor.panel.ready();
        await editor.panel.write(''); // the editor may bring back what stood there before
        await editor.panel.shows('Denied · waiting for your instructions');
        assert.equal(await editor.panel.composer.getAttribute('placeholder'), placeholder);
        assert.equal(provider.requests.length, sent);
      }
      if (how === 'button') {
        await editor.panel.frame.getByTestId('continue-held').click();
        await editor.panel.shows(`Done ${round}.`);
      } else await editor.panel.continueHeld();
      assert.deepEqual([provider.requests.length, codes()], [sent + 1, ['TOOL_DENIED']]);
      assert.doesNotMatch(await editor.panel.cards('fs.edit').last().innerText(), /instructions|“/);
    }
  });

  it('Stop ends the wait, and sends nothing', async () => {
    await asks(edit('a.txt', 'one', '1'));
    await editor.dialog.click('Cancel');
    await asksInstead();
    const sent = provider.requests.length;
    await editor.host.evaluate(async (vscode) => vscode.commands.executeCommand('towpath.stop'));
    await eventually('the message box asks nothing more', async () => {
      return (await editor.panel.composer.getAttribute('placeholder')) !== placeholder;
    });
    assert.equal(provider.requests.length, sent);
  });

  it('one denial of several leaves the others, and waits after them', async () => {
    await asks(write('x2.txt', 'x'), write('y2.txt', 'y'));
    await press('One by One');
    await eventually('the first is asked', async () => /^Create x2\.txt/.test(await editor.dialog.text()));
    await press('Cancel');
    await eventually('the second is asked', async () => /^Create y2\.txt/.test(await editor.dialog.text()));
    const sent = provider.requests.length;
    await editor.dialog.click('Allow');
    await asksInstead();
    assert.deepEqual([editor.read('x2.txt'), editor.read('y2.txt'), provider.requests.length], [undefined, 'y', sent]);
    await editor.panel.continueHeld();
    assert.deepEqual(codes(), ['TOOL_DENIED', 'ok']);
  });

  it('by keyboard: the review has the keys, a change and a key allow it', async () => {
    await asks(edit('a.txt', 'one', '1'));
    await editor.dialog.text();
    await editor.page.keyboard.press('Enter'); // Review…
    await title('Allow').waitFor();
    await reviewHasKeys();
    for (const [name, keys] of [
      ['Allow', 'Shift+Alt+Enter'],
      ['Deny', 'Shift+Alt+Delete'],
    ] as const)
      assert.equal(await title(name).getAttribute('aria-label'), `${name} (${keys})`);
    await editor.panel.shows('In the review: Shift+Alt+Enter allows, Shift+Alt+Delete denies');
    await editor.screenshot('review-keys');
    await editor.page.keyboard.press('Enter');
    await eventually('Enter writes, and allows nothing', () => title('Allow as Changed').isVisible());
    await type('mine');
    assert.deepEqual([await editor.panel.phase(), editor.read('a.txt')], ['Running', 'one\ntwo\n']);
    await editor.page.keyboard.press('Shift+Alt+Enter');
    await done();
    assert.deepEqual([codes(), editor.read('a.txt')], [['ok'], 'mine']);
    await editor.panel.hasTheKeys();
    await gone();
  });

  it('the keys of a review answer several of one, and a command', async () => {
    await asks(edit('a.txt', 'one', '1'), edit('b.txt', 'b', 'B'));
    await editor.dialog.text();
    await editor.page.keyboard.press('Enter');
    await editor.page.locator('.multiDiffEntry').nth(1).waitFor();
    await title('Allow All').waitFor();
    await editor.panel.hasTheKeys();
    await editor.page.keyboard.press('Shift+Alt+Enter');
    assert.equal(await editor.panel.phase(), 'Running', 'they are for the review alone');
    await editor.page.locator('.multiDiffEntry .editor.modified .view-lines').first().click();
    await editor.page.keyboard.press('Shift+Alt+Enter');
    await done();
    assert.deepEqual([editor.read('a.txt'), editor.read('b.txt')], ['1\ntwo\n', 'B\n']);
    await editor.host.evaluate(async (vscode) => vscode.commands.executeCommand('towpath.newRun'));
    await asks(run('echo theirs > keys.txt'));
    await editor.dialog.text();
    await editor.page.keyboard.press('Enter');
    await reviewHasKeys();
    await type('echo mine > keys.txt');
    await title('Allow as Changed').waitFor();
    await editor.page.keyboard.press('Shift+Alt+Enter');
    await done();
    assert.equal(editor.read('keys.txt'), 'mine\n');
    await gone();
  });

  it('outside of a review its keys answer nothing', async () => {
    await asks(edit('a.txt', 'one', '1'));
    await editor.dialog.click('Review…');
    await title('Allow').waitFor();
    await editor.panel.composer.click();
    await editor.page.keyboard.press('Shift+Alt+Enter');
    await editor.page.keyboard.press('Shift+Alt+Delete');
    await editor.host.evaluate(
      async (vscode, name) => {
        await vscode.window.showTextDocument(vscode.Uri.file(name), { preview: false });
      },
      path.join(editor.folder, 'b.txt'),
    );
    await editor.page.keyboard.press('Shift+Alt+Enter');
    await editor.page.keyboard.press('Shift+Alt+Delete');
    assert.deepEqual([await editor.panel.phase(), editor.read('a.txt')], ['Running', 'one\ntwo\n']);
    await card('fs.edit', 'Answer…').click();
    await editor.dialog.click('Allow');
    await done();
    await editor.panel.write('');
    await editor.host.evaluate(async (vscode) => {
      await vscode.commands.executeCommand('workbench.action.files.revert');
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    });
  });

  it('typing through a waiting question approves nothing', async () => {
    await asksAfter(1000, write('typed.txt', 'x'));
    const typing = editor.panel.composer.pressSequentially('y '.repeat(30), { delay: 80 });
    const card = editor.panel.cards('fs.write').last();
    await eventually('the card asks', async () => (await card.getAttribute('data-status')) === 'asking');
    await editor.page.locator('.statusbar-item', { hasText: 'approval waiting' }).waitFor();
    assert.equal(await editor.dialog.isOpen(), false, 'it does not appear under the fingers');
    await typing;
    await editor.dialog.text();
    await editor.page.keyboard.type('yes\n'); // the keys of somebody who did not see the dialog come
    await title('Allow').waitFor(); // what Enter did: Review…
    await reviewHasKeys();
    await editor.page.keyboard.type('yes\n');
    await editor.page.keyboard.press('Control+Enter');
    assert.deepEqual([await editor.panel.phase(), editor.read('typed.txt')], ['Running', undefined]);
    await title('Deny').click();
    await editor.panel.write('');
    await editor.panel.continueHeld();
    assert.deepEqual(codes(), ['TOOL_DENIED']);
    await gone();
  });

  it('a question waits while a person types in an editor', async () => {
    const file = path.join(editor.folder, 'sub/c.txt');
    await asksAfter(1500, write('while.txt', 'x'));
    await editor.host.evaluate(async (vscode, name) => {
      await vscode.window.showTextDocument(vscode.Uri.file(name));
    }, file);
    await editor.page.keyboard.type('words '.repeat(8), { delay: 80 });
    assert.deepEqual([await editor.dialog.isOpen(), await editor.panel.cards('fs.write').count()], [false, 1]);
    await editor.dialog.click('Cancel');
    await editor.panel.continueHeld();
    assert.deepEqual(codes(), ['TOOL_DENIED']);
    await editor.host.evaluate(async (vscode) => {
      await vscode.commands.executeCommand('workbench.action.files.revert');
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    });
  });

  it('a file that changed while it was asked about is asked about again', async () => {
    await asks(write('b.txt', 'theirs\n'));
    await editor.dialog.text();
    await editor.host.evaluate(
      async (vscode, file) => {
        const edit = new vscode.WorkspaceEdit();
        edit.insert(vscode.Uri.file(file), new vscode.Position(0, 0), 'somebody else\n');
        await vscode.workspace.applyEdit(edit);
      },
      path.join(editor.folder, 'b.txt'),
    );
    await press('Allow');
    await eventually('it is asked again', async () =>
      /has changed since it was shown/.test(await editor.dialog.text()),
    );
    assert.equal(editor.read('b.txt'), 'b\n');
    await editor.dialog.click('Allow');
    await done();
    assert.equal(editor.read('b.txt'), 'theirs\n');
  });

  it('a window that is not in front notifies by the system, and shows the dialog when it comes back', async () => {
    const body = editor.panel.frame.locator('body');
    await body.evaluate(`
      window.notified = [];
      window.Notification = class {
        static permission = 'granted';
        constructor(title, { body }) {
          notified.push(title + ': ' + body);
        }
        close() {
          notified.push('closed');
        }
      };`); // the browser of these tests ends at a real one
    const notified = (): Promise<string[]> => body.evaluate('notified');
    const focus = (has: boolean) =>
      editor.page.evaluate(`document.hasFocus = () => ${has}; document.dispatchEvent(new Event('visibilitychange'))`);
    await focus(false);
    await eventually('the editor knows', () => editor.host.evaluate((vscode) => !vscode.window.state.focused));
    await asks(write('w.txt', 'w'));
    await card('fs.write', 'Answer…').waitFor();
    assert.deepEqual([await editor.dialog.isOpen(), await toast().count()], [false, 0]);
    await eventually('the system says so', async () => (await notified()).length === 1);
    assert.match((await notified())[0]!, /^Towpath: Needs your approval: .*w\.txt/);
    await focus(true);
    await editor.dialog.click('Allow');
    assert.equal((await notified()).at(-1), 'closed');
    await done();
    await gone();
    assert.equal(editor.read('w.txt'), 'w');
  });

  it('what waits is told by the panel; out of its view by a notification, until it is seen again', async () => {
    await asks(write('view.txt', 'v'));
    await editor.dialog.click('Review…');
    await title('Allow').waitFor();
    assert.equal(await toast().count(), 0, 'the card says it');
    await editor.command('View: Show Explorer');
    await toast().waitFor();
    await editor.command('Towpath: Focus on Chat View');
    await toast().waitFor({ state: 'detached' });
    await editor.command('View: Show Explorer');
    await toast().getByRole('link', { name: 'Answer…' }).click();
    await editor.dialog.click('Allow');
    await eventually('it is written', () => editor.read('view.txt') === 'v');
    await gone();
    await editor.command('Towpath: Focus on Chat View');
    await done();
  });

  it('Allow above a review that was not changed does what was proposed', async () => {
    await asks(write('n.txt', 'proposed\n'));
    await editor.dialog.click('Review…');
    await title('Allow').click();
    await done();
    assert.deepEqual([codes(), outcomes()[0].data.changedByPerson], [['ok'], undefined]);
    assert.equal(editor.read('n.txt'), 'proposed\n');
    await gone();
  });
});
