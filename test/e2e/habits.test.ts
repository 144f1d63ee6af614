import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { toWireToolName } from '../../src/llm/core/wireToolNames.ts';
import { temporaryFolder, writeWorkspace } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { pixel } from '../support/images.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

/** A letter counts like any key; the words of a message, of a name or of a search do not. */
interface Habit {
  does: string;
  /** The fewest keys that another agent takes for it with what it comes with, which, and by what. */
  other: [keys: number, agent: keyof typeof sources, by: string];
  ours(): Promise<void>;
}

/** Where most of that is told; what is not is counted from how the agent is used. */
const sources = {
  Copilot: 'Visual Studio Code’s documentation of chat (sessions, context, agents), and its list of default keys',
  Zed: 'assets/keymaps/default-linux.json of its repository',
  opencode: 'its documentation’s page Keybinds',
};

/** One person at one keyboard in one window: each habit finds what the one before it left. */
describe('habits by keyboard alone', () => {
  const temporary = temporaryFolder();
  const folder = writeWorkspace(temporary, {
    'src/one.ts': 'export const one = 1;\nexport const two = 2;\nexport const three = one + tow;\n',
    '.github/prompts/review.prompt.md': [
      '---',
      'description: Look at it',
      '---',
      `Review $${'{input:part}'} with care.`,
    ].join('\n'),
  });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: folder });
  let editor: Towpath;
  let provider: Provider;
  let keys = 0;
  let way = '';
  before(async () => {
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'Begin');
    provider = await startProvider(() => reply.text('I see.'));
    const prices = { '*': { input: 1000, output: 1000 } };
    editor = await openTowpath({
      folder,
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url, prices } },
      },
    });
    await editor.host.evaluate(async (vscode, folder) => {
      const document = await vscode.workspace.openTextDocument(`${folder}/src/one.ts`);
      await vscode.window.showTextDocument(document);
      const all = vscode.languages.createDiagnosticCollection('test');
      all.set(document.uri, [new vscode.Diagnostic(new vscode.Range(2, 27, 2, 30), 'Cannot find name tow.')]);
      vscode.window.createTerminal({ name: 'shell', pty: silent() }).show(true);
      function silent() {
        const emitter = new vscode.EventEmitter<string>();
        return { onDidWrite: emitter.event, open: () => {}, close: () => {} };
      }
    }, folder);
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
    rmSync(temporary, { recursive: true, force: true });
  });

  const press = async (...names: string[]) => {
    for (const name of names) {
      keys += 1;
      await editor.page.keyboard.press(name);
    }
  };
  const write = (words: string) => editor.page.keyboard.type(words);
  const fromPalette = async (title: string) => {
    await press('F1');
    await editor.page.locator('.quick-input-widget input:visible').first().waitFor();
    await write(title);
    const row = editor.page.locator('.quick-input-list .monaco-list-row.focused');
    await eventually('it is the first', async () => (await row.innerText()).includes(title));
    await press('Enter');
  };
  const inBox = () => editor.panel.hasTheKeys();
  const rests = () => editor.panel.waitForPhase('WaitingUser');
  const said = () => JSON.stringify(provider.requests.at(-1)?.body.messages.at(-1)?.content ?? '');
  const offered = () => provider.requests.at(-1)?.body.tools?.map((tool) => tool.function.name) ?? [];
  const agent = (name: string) =>
    eventually(`${name} is to work`, async () => (await editor.panel.frame.getByTestId('agent').innerText()) === name);
  const calls = (tool: string, args: object, then = 'Done.') => {
    let asked = false;
    provider.script = () => {
      if (asked) return reply.text(then);
      asked = true;
      return reply.call(toWireToolName(tool), args);
    };
  };
  const chip = (name: RegExp) =>
    eventually(`${name} is named`, async () =>
      name.test((await editor.panel.frame.locator('.composer .mention').allInnerTexts()).join(' ')),
    );
  const completes = (label: string) =>
    eventually(`${label} is the first of the list`, async () => {
      const first = editor.panel.frame.locator('.completion [aria-selected="true"] .completion-label');
      return (await first.innerText({ timeout: 500 }).catch(() => '')) === label;
    });
  const sends = async (words: string) => {
    const before = provider.requests.length;
    await inBox();
    await write(words);
    await editor.page.keyboard.press('Enter');
    await eventually('the model is asked', () => provider.requests.length > before);
  };
  const empties = () => editor.panel.write('');

  const habits: Habit[] = [
    {
      does: 'ask about the selection',
      other: [2, 'Zed', 'ctrl->, which adds it and goes to the message, then Enter'],
      async ours() {
        await editor.host.evaluate((vscode) => {
          const { activeTextEditor } = vscode.window;
          if (activeTextEditor) activeTextEditor.selection = new vscode.Selection(0, 0, 1, 5);
        });
        await chip(/one\.ts:1-2/);
        await press("Control+'");
        await inBox();
        await write('What is it?');
        await press('Enter');
        await rests();
        assert.match(said(), /src\/one\.ts:1-2/);
      },
    },
    {
      does: 'add a file',
      other: [4, 'opencode', '@, two letters, Enter'],
      async ours() {
        await inBox();
        await press('@', 'o', 'n');
        await completes('one.ts');
        await press('Enter');
        await chip(/one\.ts/);
        await empties();
      },
    },
    {
      does: 'add the problems',
      other: [4, 'Copilot', '#problems: #, two letters, Enter'],
      async ours() {
        await press('@', 'p', 'r');
        await completes('problems');
        await press('Enter');
        await chip(/problems/);
        await empties();
      },
    },
    {
      does: 'add what the terminal has',
      other: [4, 'Copilot', '#terminalLastCommand: #, two letters, Enter'],
      async ours() {
        await press('@', 't', 'e');
        await completes('terminal');
        await press('Enter');
        await chip(/terminal/);
        await empties();
      },
    },
    {
      does: 'attach a picture',
      other: [1, 'opencode', 'Ctrl+V'],
      async ours() {
        await inBox();
        keys += 1;
        // What the browser makes of Ctrl+V: without a window it loses a picture on its clipboard at times, when it is busy.
        await editor.panel.composer.evaluate((box, png) => {
          const { DataTransfer, File, ClipboardEvent } = globalThis as unknown as {
            DataTransfer: new () => { items: { add(file: object): void } };
            File: new (parts: Uint8Array[], name: string, how: { type: string }) => object;
            ClipboardEvent: new (type: string, how: object) => Event;
          };
          const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
          const clipboardData = new DataTransfer();
          clipboardData.items.add(new File([bytes], 'image.png', { type: 'image/png' }));
          box.dispatchEvent(
            new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true, composed: true }),
          );
        }, pixel);
        await editor.panel.frame.getByTestId('pictures').locator('img').waitFor();
        await sends('What is it?');
        await rests();
        assert.match(said(), /data:image\/png;base64,/);
      },
    },
    {
      does: 'say a prompt of the workspace',
      other: [4, 'Copilot', '/, two letters, Enter; then its words and Enter'],
      async ours() {
        await press('/', 'r', 'e');
        await completes('/review');
        await press('Enter');
        await sends('the parser');
        await rests();
        assert.match(said(), /Review the parser with care\./);
      },
    },
    {
      does: 'begin a new chat',
      other: [1, 'Copilot', 'Ctrl+N'],
      async ours() {
        await inBox();
        await press('Tab', 'n');
        await eventually('nothing is said', async () => (await editor.panel.transcript()).length === 0);
        await inBox();
      },
    },
    {
      does: 'plan first',
      other: [1, 'opencode', 'Tab'],
      async ours() {
        await press('Tab', 'p');
        await agent('Plan');
        provider.script = () => reply.text('The plan: write note.md.');
        await sends('Make a note');
        await rests();
        assert.ok(offered().includes('fs_read') && !offered().includes('fs_write'), offered().join());
      },
    },
    {
      does: 'do the plan',
      other: [2, 'opencode', 'Tab, words, Enter'],
      async ours() {
        calls('fs.write', { path: 'note.md', content: 'A note.\n' });
        await inBox();
        await press('Control+Enter');
        await agent('Work');
        await editor.dialog.text();
        assert.ok(offered().includes('fs_write'));
      },
    },
    {
      does: 'allow once',
      other: [1, 'opencode', 'Enter'],
      async ours() {
        await toButton('Allow');
        await press('Enter');
        await rests();
        assert.equal(editor.read('note.md'), 'A note.\n');
      },
    },
    {
      does: 'see the diff of what was changed',
      other: [1, 'Zed', 'ctrl-shift-r'],
      async ours() {
        const card = editor.panel.cards('fs.write').last();
        await eventually('it stands in the card', async () => (await card.innerText()).includes('A note.'));
      },
    },
    {
      does: 'see what it cost',
      other: [0, 'opencode', 'its sidebar says so'],
      ours: () => editor.panel.shows(/Done · 1 file.*\$\d/),
    },
    {
      does: 'undo a turn',
      other: [2, 'opencode', 'ctrl+x u'],
      async ours() {
        await inBox();
        await press('Tab', 'u');
        await eventually('the file is gone', () => editor.read('note.md') === undefined);
      },
    },
    {
      does: 'allow always',
      other: [3, 'opencode', 'right, Enter, Enter'],
      async ours() {
        calls('fs.edit', { path: 'src/one.ts', edits: [{ oldText: 'one = 1', newText: 'one = 10' }] });
        await sends('Make it ten');
        await editor.dialog.text();
        await toButton('Always Allow…');
        await press('Enter');
        await editor.page.locator('.quick-input-list .monaco-list-row').nth(1).waitFor();
        await press('1');
        await rests();
        calls('fs.edit', { path: 'src/one.ts', edits: [{ oldText: 'one + tow', newText: 'one + two' }] });
        await sends('Mend the name');
        await rests();
        assert.match(editor.read('src/one.ts')!, /one = 10;[\s\S]*one \+ two;/);
      },
    },
    {
      does: 'undo a hunk',
      other: [2, 'Zed', 'ctrl-shift-r, ctrl-alt-z'],
      async ours() {
        await inBox();
        await fromPalette('Undo Change…');
        const first = editor.page.locator('.quick-input-list .monaco-list-row.focused');
        await eventually('the first change is meant', async () => (await first.innerText()).includes('one = 10'));
        await press('Enter');
        await eventually('one change is taken back, and no other', () =>
          editor.host.evaluate((vscode) => {
            const text = vscode.window.activeTextEditor?.document.getText() ?? '';
            return text.includes('one = 1;') && text.includes('one + two');
          }),
        );
      },
    },
    {
      does: 'write the commit message',
      other: [2, 'Zed', 'ctrl-shift-g, alt-tab'],
      async ours() {
        provider.script = () => reply.text('Make one ten');
        await fromPalette('Generate Commit Message');
        await eventually('it stands in the box', () =>
          editor.host.evaluate((vscode) => {
            const git = vscode.extensions.getExtension('vscode.git')!.exports;
            return git.getAPI(1).repositories[0].inputBox.value === 'Make one ten';
          }),
        );
        provider.script = () => reply.text('I see.');
        await editor.showPanel();
        await editor.panel.composer.focus();
      },
    },
    {
      does: 'stop',
      other: [1, 'opencode', 'Escape'],
      async ours() {
        provider.script = () => reply.text('One moment').hang();
        await sends('Go on');
        await editor.panel.shows('One moment');
        await press("Control+Shift+Alt+'");
        await editor.panel.waitForPhase('Failed');
      },
    },
    {
      does: 'say something meanwhile',
      other: [1, 'opencode', 'Enter'],
      async ours() {
        let go = () => {};
        const gone = new Promise<void>((resolve) => {
          go = resolve;
        });
        provider.script = (_, count) =>
          count === begun ? reply.text('So').after(gone).text(' far.') : reply.text('I see.');
        const begun = provider.requests.length;
        await sends('Go on');
        await editor.panel.shows('So');
        await write('One more thing');
        await press('Enter');
        await editor.panel.frame.getByTestId('strip-waiting').waitFor();
        go();
        await eventually('it is heard', () => said().includes('One more thing'));
        await rests();
      },
    },
    {
      does: 'go back to an earlier message',
      other: [4, 'opencode', 'ctrl+x g, up, Enter'],
      async ours() {
        await inBox();
        await press('Alt+ArrowUp', 'Alt+ArrowUp', 'Tab', 'Tab', 'Enter');
        await eventually('it is in the message box', async () =>
          /One more/.test(await editor.panel.composer.inputValue()),
        );
        await editor.page.keyboard.press('Escape');
      },
    },
    {
      does: 'find an old chat',
      other: [3, 'opencode', 'ctrl+x l, words, Enter'],
      async ours() {
        await inBox();
        await press('Tab', 'h');
        await write('parser');
        await eventually(
          'it is the only one',
          async () => (await editor.panel.frame.locator('.history-open').count()) === 1,
        );
        await press('ArrowDown', 'Enter');
        await editor.panel.shows('What is it?');
      },
    },
    {
      does: 'switch the model',
      other: [3, 'Zed', 'ctrl-alt-/, down, Enter'],
      async ours() {
        await inBox();
        await press('Tab', 'm');
        await editor.page.locator('.quick-input-list .monaco-list-row').nth(1).waitFor();
        await press('ArrowDown', 'Enter');
        await eventually('it is another one', async () => {
          const label = await editor.panel.frame.getByTestId('model').innerText();
          return !label.includes('scripted');
        });
      },
    },
  ];

  /** The dialog’s buttons are a Tab from each other. */
  async function toButton(name: string): Promise<void> {
    const seen = [await editor.dialog.focused()];
    for (; seen.at(-1) !== name; seen.push(await editor.dialog.focused())) {
      assert.ok(seen.length < 6, `no way to ${name}: ${seen.join(', ')}`);
      await press('Tab');
    }
    way = seen.join(' → ');
  }

  for (const { does, other, ours } of habits) {
    const [theirs, who, by] = other;
    it(`${does}: ${who} ${theirs} (${by})`, async () => {
      keys = 0;
      way = '';
      await ours();
      assert.ok(keys <= theirs + 1, `${keys} keys${way && ` (${way})`}`);
    });
  }
});
