import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, type ProviderReply, reply, startProvider } from '../support/provider.ts';

type Script = Record<string, (turn: number) => ProviderReply>;

const task = (id: string, prompt: string, agent?: string) => ({ id, prompt, agent });

describe('tasks in the editor', () => {
  let provider: Provider;
  let editor: Towpath;
  /** What the slow task waits for. */
  let release = () => {};

  const scripts: Script = {
    'Look into it.': (turn) => {
      if (turn > 0) return reply.text('Both have reported.');
      return [task('look', 'Read the readme'), task('write', 'Write a note', 'worker')].reduce(
        (one, { id, prompt, agent }) =>
          one.call('task_run', { title: prompt, prompt, ...(agent && { agent }) }, { id }),
        reply.text('I give it to two.'),
      );
    },
    'Read the readme': (turn) =>
      turn === 0
        ? reply.text('Reading.').call('fs_read', { path: 'readme.md' })
        : reply.after(new Promise<void>((resolve) => (release = resolve))).text('It says hello.'),
    'Write a note': (turn) =>
      turn === 0 ? reply.call('fs_write', { path: 'note.txt', content: 'a note\n' }) : reply.text('It is written.'),
    '/task explorer Find the greeting': () => reply.text('The explorer has found it.'),
    'Find the greeting': () => reply.text('readme.md:1 greets.'),
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
    await editor.screenshot('tasks-approval');
    await editor.dialog.click('Allow');
    await says('write', /^Done · 2 steps/);
    assert.ok(existsSync(note()));
    await editor.panel.shows('Waiting for 1 task');
    await editor.screenshot('tasks-cards');
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
    await says('look', /step 2/);
    await eventually('it is asked again', async () => provider.requests.length > 5);
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
    await editor.panel.shows('The explorer has found it.');
    await editor.panel.shows('Explorer: Find the greeting');
  });

  it('are undone with the reply that gave them', async () => {
    assert.ok(existsSync(note()));
    await editor.command('Towpath: Undo Changes of This Run');
    await eventually('the note is gone', () => !existsSync(note()));
  });
});
