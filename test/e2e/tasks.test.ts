import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { unseen } from '../support/answers.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, type ProviderReply, reply, startProvider } from '../support/provider.ts';

type Script = Record<string, (turn: number) => ProviderReply>;

const task = (id: string, prompt: string, agent?: string) => ({ id, prompt, agent });

describe('tasks in the editor', () => {
  let provider: Provider;
  let editor: Towpath;
  /** Ends the wait of the slow reply; `held` counts how often it was requested. */
  let release = () => {};
  let held = 0;

  const scripts: Script = {
    'Look into it.': (turn) => {
      if (turn > 0)
        return reply.text((turn === 1 && 'Both have reported.') || (turn === 3 && 'It is found.') || 'It was stopped.');
      return [task('write', 'Write a note', 'worker'), task('look', 'Read the readme')].reduce(
        (one, { id, prompt, agent }) =>
          one.call('task_run', { title: prompt, prompt, ...(agent && { agent }) }, { id }),
        reply.text('I give it to two.'),
      );
    },
    'Read the readme': (turn) =>
      turn === 0
        ? reply.text('Reading.').call('fs_read', { path: 'readme.md' })
        : reply
            .after(
              new Promise<void>((resolve) => {
                release = resolve;
                held++;
              }),
            )
            .text('It says hello.'),
    'Write a note': (turn) =>
      turn === 0 ? reply.call('fs_write', { path: 'note.txt', content: 'a note\n' }) : reply.text('It is written.'),
    'Find the greeting': () => reply.text('readme.md:1 greets.'),
    'Wait for it': () => reply.after(new Promise(() => {})).text('Never.'),
  };

  before(async () => {
    provider = await startProvider(({ messages }) => {
      const first = messages.find(({ role }) => role === 'user');
      const script = scripts[String(first?.content)];
      const turn = messages.filter(
        ({ role, tool_calls: calls, content }) => role === 'assistant' && (calls || content),
      ).length;
      return script?.(turn) ?? reply.text('Nothing.');
    });
    editor = await openTowpath({
      files: { 'readme.md': 'Hello.\n' },
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      },
    });
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
  });

  const status = (id: string) => editor.panel.frame.locator(`[data-call="${id}"] [data-testid="task-status"]`).first();
  const says = (id: string, words: RegExp) =>
    eventually(`${id} says ${words}`, async () => words.test(await status(id).innerText()));
  const note = () => path.join(editor.folder, 'note.txt');

  it('are given by the model: a card for each, and an approval that names its task', async () => {
    await editor.panel.send('Look into it.');
    const question = await editor.dialog.text();
    assert.match(question, /\(task “Write a note”\)/);
    await says('write', /Waiting for approval/);
    await says('look', /^Queued: 1 task is running/); // a model on this machine answers one task at a time
    await editor.screenshot('tasks-approval');
    await editor.dialog.click('Allow');
    await says('write', /^Done · 2 steps/);
    assert.ok(existsSync(note()));
    await editor.panel.shows('Waiting for 1 task');
    for (const width of [230, 300]) {
      await editor.resizePanel(width);
      await editor.screenshot(`tasks-cards-${width}`);
      assert.deepEqual(await unseen(editor.panel.frame.locator('.transcript')), [], `${width} pixels`);
    }
  });

  it('open in the whole panel, hear what the user says, and end with their report', async () => {
    await editor.panel.frame.locator('[data-call="look"] [data-testid="open-task"]').click();
    await editor.panel.shows('Reading.');
    await editor.panel.frame.locator('[data-testid="task-box"] textarea').fill('Say it in one line.');
    await editor.panel.frame.locator('[data-testid="task-box"] textarea').press('Enter');
    await editor.panel.shows('Say it in one line.');
    await editor.screenshot('task-open');
    await editor.reload();
    await editor.panel.shows(/Paused|Waiting for/);
    await editor.panel.frame.getByRole('button', { name: 'Continue' }).first().click();
    await eventually('the reply is requested again', () => held === 2);
    await says('look', /^Read readme\.md · step 1 of 20/);
    release();
    await editor.panel.shows('Both have reported.');
    await says('look', /^Done · 2 steps/);
    const { messages } = provider.requests.at(-1)!.body;
    const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));
    assert.equal(results.length, 2);
    assert.match(results.join('\n'), /It says hello\./);
    assert.ok(!JSON.stringify(messages).includes('Say it in one line.'));
  });

  it('are given by hand with /task', async () => {
    await editor.panel.send('/task explorer Find the greeting');
    await editor.panel.shows('It is found.');
    await editor.panel.shows(/Explorer:\s+Find the greeting/);
  });

  it('are stopped on their card, and the run hears of it', async () => {
    await editor.panel.send('/task worker Wait for it');
    await editor.panel.frame.getByTestId('stop-task').click();
    await editor.panel.shows('It was stopped.');
    await editor.panel.shows(/Wait for it\s+Stopped/);
    assert.match(JSON.stringify(provider.requests.at(-1)!.body.messages), /The user stopped it\./);
  });

  it('are undone with the reply that gave them', async () => {
    assert.ok(existsSync(note()));
    await editor.command('Towpath: Undo Run');
    await eventually('the note is gone', () => !existsSync(note()));
  });
});
