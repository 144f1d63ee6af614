import assert from 'node:assert/strict';
import { oneWindow } from '../support/editor/oneWindow.ts';
import type { Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, type ProviderReply, reply, startProvider } from '../support/provider.ts';

describe('tools in the editor', () => {
  let provider: Provider;
  let editor: Towpath;
  const begin = oneWindow();
  let steps: ProviderReply[];
  let told: string[];
  before(async () => {
    provider = await startProvider(({ messages }) => {
      const newest = messages.at(-1);
      if (newest?.role === 'tool') told.push(newest.content ?? '');
      return steps.shift() ?? reply.text('The story is over.');
    });
  });
  beforeEach(() => {
    told = [];
  });
  after(() => provider.close());

  it('a plan is shown, a megabyte of output is told in part and opened whole, also beside in a terminal', async () => {
    const plan = (first: string, second: string) =>
      reply.call('plan_update', {
        items: [
          { text: 'Count', status: first },
          { text: 'Report', status: second },
        ],
      });
    steps = [
      plan('active', 'pending'),
      reply.call('shell_run', { command: 'seq 1 180000' }), // 1.1 MB
      plan('done', 'active'),
      reply.text('Counted.'),
    ];
    editor = await begin({
      'towpath.approvals.readOnlyCommands': false,
      'towpath.model': 'openai-compatible/scripted',
      'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      'towpath.shell.terminal': true,
    });
    await editor.panel.send('Count to a hundred and eighty thousand.');
    assert.match(await editor.dialog.text(), /seq 1 180000/);
    const list = editor.panel.frame.getByTestId('plan');
    const word = editor.panel.frame.getByTestId('strip-plan');
    await eventually('the strip has the plan', async () => /^Plan\s0\/2$/.test(await word.innerText()));
    await editor.dialog.click('Allow');
    await editor.panel.waitForPhase('WaitingUser');
    assert.match(await word.innerText(), /^Plan\s1\/2$/);
    await word.click();
    assert.deepEqual(await list.locator('li').evaluateAll((items) => items.map((item) => item.dataset.status)), [
      'done',
      'active',
    ]);

    const { data } = JSON.parse(told[1]!);
    assert.equal(data.exitCode, 0);
    assert.ok(Buffer.byteLength(told[1]!) <= 64 * 1024);
    assert.match(data.output, /^1\n2\n[\s\S]*bytes in the middle are left out here[\s\S]*\n180000\n$/);

    const terminals = await editor.host.evaluate((vscode) => vscode.window.terminals.map(({ name }) => name));
    assert.deepEqual(terminals, ['Towpath']);
    await editor.screenshot('plan-and-output');

    await editor.panel.cards('shell.run').getByTestId('open-output').click();
    // Compared where it is shown: what is looked for again and again is not sent.
    const isWhole = () =>
      editor.host.evaluate((vscode, last) => {
        const document = vscode.window.activeTextEditor?.document;
        if (document?.lineCount !== last + 1) return false;
        return document.getText() === Array.from({ length: last }, (_, index) => `${index + 1}\n`).join('');
      }, 180_000);
    await eventually('all of the output is in an editor', isWhole);
  });

  it('a page is asked about with its address, and this machine is refused without a question', async () => {
    steps = [
      reply.call('web_fetch', { url: 'http://127.0.0.1:9/metadata' }),
      reply.call('web_fetch', { url: 'https://example.com/a?b=c' }),
      reply.text('Without it, then.'),
    ];
    editor = await begin({
      'towpath.model': 'openai-compatible/scripted',
      'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
    });
    await editor.panel.send('Read that page.');
    const question = await editor.dialog.text();
    assert.match(question, /^Fetch a page of example\.com\n[\s\S]*GET https:\/\/example\.com\/a\?b=c/);
    await editor.dialog.click('Cancel');
    await editor.panel.continueHeld();
    assert.deepEqual(
      told.map((content) => JSON.parse(content).error.code),
      ['E_SANDBOX_VIOLATION', 'TOOL_DENIED'],
    );
  });
});
