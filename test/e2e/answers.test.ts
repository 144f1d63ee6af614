import assert from 'node:assert/strict';
import path from 'node:path';
import { toWireToolName } from '../../src/llm/core/wireToolNames.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';
import { tries } from '../support/tries.ts';

type Call = [tool: string, args: object];
const write = (file: string, content: string): Call => ['fs.write', { path: file, content }];
const run = (command: string): Call => ['shell.run', { command }];

/** Questions are read whole, can be answered from every place, and leave the keys where the person had them. */
describe('answers', () => {
  let provider: Provider;
  let editor: Towpath;
  const lines = Array.from({ length: 60 }, (_, index) => `line ${index + 1}\n`).join('');

  before(async () => {
    provider = await startProvider([]);
    const settings = {
      'towpath.model': 'openai-compatible/scripted',
      'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
    };
    editor = await openTowpath({ files: { 'a.txt': 'one\ntwo\n', 'b.txt': 'b\n', 'long.txt': lines }, settings });
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
  });
  afterEach(async () => {
    if (await editor.dialog.isOpen()) await editor.page.keyboard.press('Escape'); // a failed one leaves the next its place
  });
  beforeEach(() =>
    editor.host.evaluate(async (vscode) => {
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      await vscode.commands.executeCommand('towpath.newRun');
    }),
  );

  /** The model asks for these calls in one answer, and is content with whatever comes of them. */
  const asks = async (...calls: Call[]) => {
    prepare(0, ...calls);
    await editor.panel.send('Go.');
  };
  const prepare = (ms: number, ...calls: Call[]) => {
    let asked = false;
    provider.script = () => {
      if (asked) return reply.text('Done.');
      asked = true;
      return calls.reduce((answer, [tool, args]) => answer.call(toWireToolName(tool), args), reply.late(ms));
    };
  };
  const done = () => editor.panel.waitForPhase('WaitingUser');
  const codes = () => {
    const { messages } = provider.requests.at(-1)!.body;
    const outcomes = messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.parse(content!));
    return outcomes.map((outcome) => (outcome.ok ? 'ok' : outcome.error.code));
  };
  /** The editor adds the key to the name. */
  const title = (name: string) =>
    editor.page.locator('.editor-actions').getByRole('button', { name: new RegExp(`^${name}( \\(.*\\))?$`) });
  const card = (tool: string) => editor.panel.cards(tool).last();
  const answer = (tool: string) => card(tool).getByRole('button', { name: 'Answer…', exact: true }).click();
  const written = () => editor.panel.composer.inputValue();
  const typed = async (text: string) => {
    await editor.panel.hasTheKeys();
    await editor.page.keyboard.type(text);
    await eventually(`“${text}” stands in the message`, async () => (await written()) === text).catch(async (cause) => {
      throw new Error(`${cause.message}: ${JSON.stringify(await written())}`);
    });
    await editor.panel.write('');
  };

  it('a command too long for the dialog is read in the review and allowed there, without a second dialog', async () => {
    const long = `${Array.from({ length: 30 }, (_, index) => `echo ${index + 1} > /dev/null`).join('\n')}\ntouch tail.txt`;
    await asks(run(long));
    const question = await editor.dialog.text();
    assert.match(question, /echo 1 >[\s\S]*Review… shows all[\s\S]*touch tail\.txt/);
    assert.deepEqual((await editor.dialog.buttons()).sort(), ['Review…', 'Cancel'].sort());
    await editor.screenshot('question-long');
    await editor.dialog.click('Review…');
    await title('Allow').waitFor();
    await editor.screenshot('question-long-review');
    assert.equal(editor.read('tail.txt'), undefined);
    await title('Allow').click();
    await done();
    assert.deepEqual([editor.read('tail.txt'), await editor.dialog.isOpen()], ['', false]);
    await typed('and then');
  });

  it('a review of several has its buttons, and only while it is in front', async () => {
    await asks(write('x.txt', 'x\n'), write('y.txt', 'y\n'));
    await editor.dialog.click('Review…');
    await title('Allow All').waitFor();
    await editor.screenshot('review-several-title');
    await editor.host.evaluate(
      async (vscode, file) => {
        await vscode.window.showTextDocument(vscode.Uri.file(file), { preview: false });
      },
      path.join(editor.folder, 'a.txt'),
    );
    await title('Allow All').waitFor({ state: 'detached' });
    await editor.host.evaluate(async (vscode) => {
      await vscode.commands.executeCommand('towpath.reviews.allow'); // nobody sees what it would be about
      await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
    });
    assert.deepEqual([await editor.panel.phase(), editor.read('x.txt')], ['Running', undefined]);
    await title('Allow All').click();
    await done();
    assert.deepEqual([codes(), editor.read('x.txt'), editor.read('y.txt')], [['ok', 'ok'], 'x\n', 'y\n']);
    await title('Allow All').waitFor({ state: 'detached' });
  });

  it('a review of several is denied in its title', async () => {
    await asks(write('x2.txt', 'x\n'), ['fs.read', { path: '../outside' }], write('y2.txt', 'y\n'));
    assert.match(await editor.dialog.text(), /^Allow 2 calls\?/);
    await editor.dialog.click('Review…');
    await title('Deny All').click();
    await editor.panel.continueHeld();
    assert.deepEqual(
      [codes().sort(), editor.read('x2.txt')],
      [['E_SANDBOX_VIOLATION', 'TOOL_DENIED', 'TOOL_DENIED'], undefined],
    );
  });

  const keys: [how: string, press: string[]][] = [
    ['Escape', ['Escape']],
    ['Allow, by keyboard', ['Tab', 'Tab']],
    ['Review…, by keyboard, and a denial in its title', ['Enter']],
  ];
  for (const [how, press] of keys)
    it(`after ${how} the next keys land in the message, each time`, async () => {
      for (let time = 1; time <= tries(3, 10); time++) {
        prepare(0, write(`focus-${how.length}-${time}.txt`, 'x\n'));
        await editor.panel.composer.click();
        await editor.page.keyboard.type('Go.');
        await editor.page.keyboard.press('Enter');
        await editor.dialog.text();
        if (how.startsWith('Allow'))
          await editor.page
            .locator('.monaco-dialog-box')
            .getByRole('button', { name: 'Allow', exact: true })
            .press('Enter');
        else for (const key of press) await editor.page.keyboard.press(key);
        if (how.startsWith('Review')) await title('Deny').click();
        await done();
        await typed(`words ${time}`);
      }
    });

  it('after the list of rules, and after a denial on the card, they land there, too', async () => {
    await asks(write('src/rule.txt', 'x\n'));
    await editor.dialog.click('Always Allow…');
    const box = editor.page.locator('.quick-input-widget input');
    await box.waitFor();
    await editor.page.keyboard.press('Escape');
    await editor.dialog.click('Review…');
    await card('fs.write').getByRole('button', { name: 'Deny', exact: true }).click();
    await done();
    await typed('go on');
  });

  it('who was writing in an editor writes on there', async () => {
    const file = path.join(editor.folder, 'a.txt');
    prepare(2500, write('elsewhere.txt', 'x\n'));
    await editor.panel.send('Go.');
    await editor.host.evaluate(async (vscode, name) => {
      await vscode.window.showTextDocument(vscode.Uri.file(name));
    }, file);
    await editor.page.keyboard.type('mine ');
    await editor.dialog.click('Allow');
    await done();
    await editor.page.keyboard.type('and mine');
    await eventually('it stands in the file', () =>
      editor.host.evaluate(
        (vscode) => vscode.window.activeTextEditor?.document.getText().startsWith('mine and mine') === true,
      ),
    );
    assert.equal(await written(), '');
    await editor.host.evaluate(async (vscode) => {
      await vscode.commands.executeCommand('workbench.action.files.revert');
    });
  });

  it('no question comes up under the wheel, in the panel and in an editor', async () => {
    await editor.host.evaluate(
      async (vscode, name) => {
        await vscode.window.showTextDocument(vscode.Uri.file(name));
      },
      path.join(editor.folder, 'long.txt'),
    );
    for (const [what, place] of [
      ['panel', editor.page.locator('.part.sidebar')],
      ['editor', editor.page.locator('.editor-instance')],
    ] as const) {
      const box = (await place.boundingBox())!;
      await editor.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      prepare(600, write(`${what}.txt`, 'x\n'));
      await editor.panel.write('Go.');
      await editor.panel.composer.press('Enter');
      const asking = editor.page.locator('.statusbar-item', { hasText: 'approval waiting' });
      for (let turn = 0; turn < 40 && !(await asking.isVisible()); turn++) {
        await editor.page.mouse.wheel(0, turn % 2 ? 40 : -20);
        await editor.page.waitForTimeout(100);
      }
      await asking.waitFor();
      for (let turn = 0; turn < 15; turn++) {
        await editor.page.mouse.wheel(0, turn % 2 ? 40 : -20);
        await editor.page.waitForTimeout(100);
        assert.equal(await editor.dialog.isOpen(), false, `it came up under the wheel in the ${what}`);
      }
      await editor.dialog.click('Cancel');
      await done();
    }
  });

  describe('of a model that asks by itself', () => {
    const question = {
      question: 'Where should the rows be kept?',
      answers: [
        { label: 'SQLite', why: 'One file beside the project, nothing to install.' },
        { label: 'Postgres', why: 'What the other services use; needs a server.' },
        { label: 'A JSON file' },
      ],
    };
    const ask: Call = ['ask.person', { questions: [question] }];
    const status = () => editor.page.locator('.statusbar-item', { hasText: 'Towpath has a question' });
    const rows = () => card('ask.person').locator('.ask-answer');
    const told = () =>
      JSON.parse(provider.requests.at(-1)!.body.messages.findLast(({ role }) => role === 'tool')!.content!);

    it('are given by keys in the panel, without a dialog; out of view a notification leads there', async () => {
      await asks(ask);
      await rows().first().waitFor();
      await status().waitFor();
      await editor.screenshot('ask');
      assert.equal(await editor.dialog.isOpen(), false);
      await rows().first().focus();
      await editor.page.keyboard.press('2');
      await done();
      assert.deepEqual(told().data.answers, [{ question: question.question, chosen: ['Postgres'] }]);
      await editor.panel.shows('You answered');
      await editor.panel.hasTheKeys();
      await status().waitFor({ state: 'detached' });

      prepare(3000, ask);
      await editor.panel.send('And again.');
      await editor.command('View: Show Explorer');
      const toast = editor.page.locator('.notification-toast', { hasText: 'Towpath has a question:' });
      await toast.getByText('Answer…').click();
      await rows().first().waitFor();
      await toast.waitFor({ state: 'detached' });
      await editor.panel.hasTheKeys();
      await editor.page.keyboard.type('neither');
      await editor.page.keyboard.press('Enter');
      await done();
      assert.deepEqual(told().data, {
        answers: [{ question: question.question, chosen: [], words: 'neither' }],
        said: 'neither',
      });
    });

    it('are asked for again after a reload, and given then', async () => {
      await asks(ask);
      await rows().first().waitFor();
      const requests = provider.requests.length;
      await editor.reload();
      await rows().first().waitFor();
      await editor.screenshot('ask-after-reload');
      assert.deepEqual([await editor.panel.phase(), provider.requests.length], ['WaitingUser', requests]);
      await editor.panel.write('3');
      await editor.panel.composer.press('Enter');
      await editor.panel.shows('Done.');
      assert.deepEqual([told().data.answers[0].chosen, provider.requests.length], [['A JSON file'], requests + 1]);
      assert.match(await card('ask.person').innerText(), /You answered\s+A JSON file/);
    });
  });

  describe('a dialog that is lost', () => {
    /** The first dialog never ends and is never seen; `late` gives its button after all. */
    const lose = () =>
      editor.host.evaluate((vscode, _, require) => {
        // Each extension has an API object of its own: this is Towpath's.
        const { extensionPath } = vscode.extensions.getExtension('towpath.towpath')!;
        const { createRequire } = require('node:module') as typeof import('node:module');
        const { window } = createRequire(`${extensionPath}/dist/extension.cjs`)('vscode');
        const lost = { window, real: window.showWarningMessage, asked: 0, late: (_: string) => {} };
        (globalThis as Record<string, unknown>).lost = lost;
        window.showWarningMessage = () => {
          lost.asked += 1;
          return new Promise((resolve) => {
            lost.late = resolve;
          });
        };
      });
    const late = (button: string) =>
      editor.host.evaluate((_, name) => {
        const { lost } = globalThis as unknown as { lost: { late(name: string): void } };
        lost.late(name);
      }, button);
    const asked = (count: number) =>
      eventually('the dialog was asked for', () =>
        editor.host.evaluate((_, least) => {
          const { lost } = globalThis as unknown as { lost: { asked: number } };
          return lost.asked >= least;
        }, count),
      );
    const found = () =>
      editor.host.evaluate(() => {
        type Lost = { window: Record<string, unknown>; real: unknown; late(name?: string): void };
        const { lost } = globalThis as unknown as { lost: Lost };
        lost.late(undefined);
        lost.window.showWarningMessage = lost.real;
      });

    it('its question is answered from the review that the card brings up; the late answer counts for nothing', async () => {
      await lose();
      try {
        await asks(write('lost.txt', 'x\n'));
        await asked(1);
        await eventually('the review is there: pressed too early, it is still awaited', async () => {
          await answer('fs.write');
          return title('Deny').isVisible();
        });
        await editor.screenshot('question-lost');
        await late('Allow');
        await editor.panel.shows('Waiting for approval');
        assert.equal(editor.read('lost.txt'), undefined);
        await title('Deny').click();
        await editor.panel.continueHeld();
        assert.deepEqual([codes(), editor.read('lost.txt')], [['TOOL_DENIED'], undefined]);
      } finally {
        await found();
      }
      await asks(write('found.txt', 'x\n'));
      await editor.dialog.click('Allow');
      await done();
      assert.equal(editor.read('found.txt'), 'x\n');
    });

    it('the next question can be answered, too: from the status bar, by the command, and by Stop', async () => {
      await lose();
      try {
        await asks(write('s1.txt', 'x\n'));
        await asked(1);
        await eventually('the review is there', async () => {
          await editor.page.locator('.statusbar-item', { hasText: 'approval waiting' }).click();
          return title('Allow').isVisible();
        });
        await title('Allow').click();
        await done();
        assert.equal(editor.read('s1.txt'), 'x\n');
        await asks(write('s2.txt', 'x\n'), write('s3.txt', 'x\n'));
        await editor.page.locator('.statusbar-item', { hasText: '2 approvals waiting' }).waitFor();
        await editor.command('Towpath: Answer…');
        await title('Allow All').click();
        await done();
        assert.deepEqual([editor.read('s2.txt'), editor.read('s3.txt')], ['x\n', 'x\n']);
        await asks(write('s4.txt', 'x\n'));
        await editor.page.locator('.statusbar-item', { hasText: 'approval waiting' }).waitFor();
        await editor.panel.stop();
        await editor.panel.waitForPhase('Failed');
      } finally {
        await found();
      }
      assert.equal(editor.read('s4.txt'), undefined);
    });
  });
});
