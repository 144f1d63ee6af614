import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { oneWindow } from '../support/editor/oneWindow.ts';
import { temporaryFolder, writeWorkspace } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, type ProviderReply, reply, startProvider } from '../support/provider.ts';
import { growDisk, mountEmpty, remountReadOnly, unmount, whyNotMounted } from '../support/smallDisk.ts';

/** Each end of a run, as the provider, the person or the disk brings it about: what it says, and that its first button does that. */
describe('an end of a run', () => {
  let editor: Towpath;
  let provider: Provider;
  let settings: Record<string, unknown>;
  const begin = oneWindow({ files: { 'a.txt': 'one\ntwo\n' } });
  beforeEach(async () => {
    provider = await startProvider(() => reply.text('Nothing was to be said.'));
    provider.models.push({ id: 'other', context_length: 32_768 });
    settings = {
      'towpath.model': 'openai-compatible/scripted',
      'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
    };
    editor = await begin(settings);
  });
  afterEach(() => provider.close());

  const set = (values: Record<string, unknown>) =>
    editor.host.evaluate(async (vscode, all) => {
      for (const [name, value] of Object.entries(all))
        await vscode.workspace.getConfiguration().update(name, value ?? undefined, vscode.ConfigurationTarget.Global);
    }, values);
  const gives = (...answers: ProviderReply[]) => {
    const left = [...answers];
    provider.script = () => left.shift() ?? reply.text('It goes on.');
  };
  const asks = async (...answers: ProviderReply[]) => {
    gives(...answers);
    await editor.panel.send('Go.');
  };
  /** What stands below the conversation, and its buttons in their order. */
  const end = () => editor.panel.frame.getByTestId('phase');
  const says = async (words: RegExp, ...ways: string[]) => {
    const offered = () => end().locator('vscode-button').allInnerTexts();
    await eventually(`the end says ${words}, with ${ways.join(' and ')}`, async () => {
      const said = (await end().locator('.phase-text').allInnerTexts()).join();
      return words.test(said) && isDeepStrictEqual(await offered(), ways);
    }).catch(async (cause) => {
      throw new Error(`${cause.message}: ${await end().allInnerTexts()}`, { cause });
    });
    await editor.screenshot(`end-${(ways[0] ?? 'full').toLowerCase().replace(/\W+/g, '-')}`);
  };
  const press = (way: string) => end().getByText(way, { exact: true }).click();
  const goesOn = async () => {
    await editor.panel.shows('It goes on.');
    await editor.panel.waitForPhase('WaitingUser');
  };
  const goesOnWithAnother = async () => {
    await choices('Another model of').click();
    await choices('other').click();
    await goesOn();
    assert.equal(provider.requests.at(-1)!.body.model, 'other');
  };
  const choices = (text: string) =>
    editor.page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first();
  const error = (message: string, more: object = {}) => ({ error: { message, ...more } });
  const busy = (seconds: number) => reply.status(429, error('Slow down.'), { 'retry-after': String(seconds) });

  for (const [what, answer, words, ways] of [
    ['an answer that reached its length', reply.text('Half of').finish('length'), /cut off/, ['Continue']],
    ['a stream that broke', reply.text('Half of').cut(), /ended early/, ['Retry', 'Retry With…']],
    ['an answer that is empty, twice', [reply, reply], /empty/, ['Retry With…', 'Retry']],
    ['a filtered answer', reply.finish('content_filter'), /filter/, ['Retry With…']],
    ['a missing key', reply.status(401, error('No such key.')), /^No API key for .*127\.0\.0\.1/, ['Set API Key', 'Retry', 'Retry With…']],
    ['an account without credit', reply.status(402, error('Insufficient credits.')), /Insufficient credits/, ['Pick Model', 'Retry']],
    ['a quota that is used up', reply.status(429, error('You exceeded your current quota.', { code: 'insufficient_quota' })), /exceeded your current quota/, ['Pick Model', 'Retry']],
    ['a model that is not there', reply.status(404, error('The model does not exist.', { code: 'model_not_found' })), /does not exist/, ['Pick Model', 'Retry']],
    ['a model without tools', reply.status(400, error('scripted does not support tools')), /does not support tools/, ['Pick Model', 'Retry']],
  ] as const) // biome-ignore format: one a line
    it(`${what}: ${ways.join(' · ')}`, async () => {
      await asks(...[answer].flat());
      await says(words, ...ways);
      if (ways.some((way) => way === 'Retry' || way === 'Continue')) {
        await press(ways.find((way) => way === 'Retry' || way === 'Continue')!);
        await goesOn();
        assert.equal(await end().count(), 0, 'nothing stands there any more');
      }
    });

  it('that a model cannot help: Pick Model leads to another, which goes on', async () => {
    await asks(reply.status(404, error('The model does not exist.', { code: 'model_not_found' })));
    await says(/does not exist/, 'Pick Model', 'Retry');
    await press('Pick Model');
    await goesOnWithAnother();
  });

  it('that another model may do without: Retry With… asks which, and that one is asked the same', async () => {
    await asks(reply.finish('content_filter'));
    await says(/filter/, 'Retry With…');
    await press('Retry With…');
    await goesOnWithAnother();
    assert.equal(provider.requests.at(-1)!.body.messages.at(-1)!.content, 'Go.');
  });

  it('by a key that is refused: Set API Key asks for another one, and the next try sends it', async () => {
    const setsKey = async (key: string) => {
      await press('Set API Key');
      const box = editor.page.locator('.quick-input-widget input').first();
      await box.waitFor();
      await box.fill(key);
      await box.press('Enter');
      await box.waitFor({ state: 'hidden' });
    };
    const refuses = reply.status(401, error('No such key.'));
    await asks(refuses, refuses);
    await says(/^No API key for /, 'Set API Key', 'Retry', 'Retry With…');
    await setsKey('sk-of-another-place');
    await press('Retry');
    await says(/rejected the API key/, 'Set API Key', 'Retry', 'Retry With…');
    await setsKey('sk-of-this-place');
    await press('Retry');
    await goesOn();
    assert.deepEqual(
      provider.requests.map(({ headers }) => headers.authorization),
      [undefined, 'Bearer sk-of-another-place', 'Bearer sk-of-this-place'],
    );
  });

  it('of work that changed and ran something is a receipt, and of mere words none', async () => {
    await asks(reply.text('It goes on.'));
    await goesOn();
    assert.equal(await end().count(), 0);
    await asks(
      reply.call('fs_write', { path: 'b.txt', content: 'b\n' }).call('shell_run', { command: 'touch c.txt' }),
      reply.text('Both are done.'),
    );
    await editor.dialog.click('Allow All (2)');
    await editor.panel.shows('Both are done.');
    await says(/^Done · 2 files \+1 −0 · 1 command · /, 'Review');
    await press('Review');
    await editor.page.locator('.tab', { hasText: /2 files|b\.txt/ }).waitFor();
  });

  it('by Stop says what of the plan is left, and Continue goes on', async () => {
    const items = ['done', 'active', 'pending'].map((status) => ({ text: `It is ${status}`, status }));
    await asks(reply.call('plan_update', { items }), reply.text('Half').hang());
    await editor.panel.shows('Half');
    await editor.panel.stop();
    await says(/^Stopped · 2 of 3 of the plan left$/, 'Continue');
    await press('Continue');
    await goesOn();
  });

  it('by the number of its turns, and by a call that fails in circles, where the person says what instead', async () => {
    await set({ 'towpath.maxTurns': 1 });
    await asks(reply.call('fs_read', { path: 'a.txt' }));
    await says(/^Stopped at the limit of 1 step · .* tokens$/, 'Continue');
    await set({ 'towpath.maxTurns': null });
    const missing = reply.call('fs_read', { path: 'missing.txt' });
    gives(...Array<ProviderReply>(10).fill(missing));
    await press('Continue');
    await says(/^The same call failed 3 times.*“missing\.txt”/, 'Change Instructions', 'Continue', 'Retry With…');
    await editor.panel.frame.getByTestId('meter').focus();
    await press('Change Instructions');
    await editor.panel.hasTheKeys();
    gives();
    await editor.page.keyboard.type('Look elsewhere.');
    await editor.page.keyboard.press('Enter');
    await goesOn();
  });

  it('by a window that is full says what fills it; a new run begins with a summary', async () => {
    await asks(
      reply.status(
        400,
        error("This model's maximum context length is 4096 tokens.", { code: 'context_length_exceeded' }),
      ),
    );
    await says(/window.*Mostly: /, 'New Run with Summary', 'Pick Model');
    await press('New Run with Summary');
    await eventually('the summary is there to be sent', async () =>
      /Go\./.test(await editor.panel.composer.inputValue()),
    );
    assert.equal((await editor.panel.transcript()).length, 0, 'the run is a new one');
  });

  it('that is no end yet: a wait counts down, also while words wait, and Retry Now does not wait', async () => {
    await asks(busy(50));
    const waits = editor.panel.frame.getByTestId('progress');
    await eventually('the wait is told', async () => /\d+\s(min|s)/.test((await waits.allInnerTexts()).join()));
    await editor.panel.send('And this, too.');
    await editor.panel.frame.getByTestId('strip-waiting').first().waitFor();
    assert.match(await waits.innerText(), /\d+\s(min|s)/);
    await editor.screenshot('end-wait');
    await waits.getByText('Retry Now', { exact: true }).click();
    await goesOn();
  });

  it('where no model is chosen any more: Pick Model', async () => {
    await asks(reply.text('It goes on.'));
    await goesOn();
    await set({ 'towpath.model': '' });
    await editor.panel.send('And now?');
    await says(/model/, 'Pick Model');
  });

  const settingsOpen = (words: RegExp) =>
    eventually(`the settings of ${words} are open`, async () =>
      words.test((await editor.page.locator('.settings-editor .setting-item-title').allInnerTexts()).join()),
    );

  /** In newer editors they lie on all else. */
  const leaveSettings = () =>
    eventually('the settings are left', async () => {
      if (!(await editor.page.locator('.monaco-modal-editor-block').isVisible())) return true;
      await editor.page.keyboard.press('Escape');
      return false;
    });

  it('where nobody answers at the address: Settings is where the address is', async () => {
    await provider.close();
    await editor.panel.send('Go.');
    await says(/127\.0\.0\.1/, 'Retry', 'Settings', 'Retry With…');
    await press('Settings');
    await settingsOpen(/Towpath: Providers/);
    await leaveSettings();
  });

  it('by an audit that cannot be written says where it should be: Settings, and Retry once that is put right', async () => {
    await set({ 'towpath.audit.folder': path.join(editor.folder, 'not', 'there') });
    await asks(reply.text('It goes on.'));
    await says(/audit.*not.there/, 'Settings', 'Retry');
    await press('Settings');
    await settingsOpen(/^Towpath › Audit: Folder[^,]*$/);
    await leaveSettings();
    await set({ 'towpath.audit.folder': null });
    await press('Retry');
    await goesOn();
    assert.equal(provider.requests.at(-1)!.body.messages.at(-1)!.content, 'Go.');
  });

  it('of a workflow that goes on in a window that is not trusted: Manage Trust leads to where that is done', async () => {
    const temporary = temporaryFolder();
    const messages = '[{role: user, content: Say something.}]';
    const node = `  - name: first\n    uses: llm.tools\n    with: {tools: [fs.read], messages: ${messages}}\n`;
    const workflow = `name: One step\nnodes:\n${node}`;
    const folder = writeWorkspace(temporary, { '.towpath/workflows/one.yaml': workflow });
    const kept = { folder, userDataDir: path.join(temporary, 'data'), settings };
    const window = editor;
    try {
      gives(reply.text('Half').hang());
      editor = await openTowpath(kept);
      await editor.host.evaluate((vscode) => void vscode.commands.executeCommand('towpath.runWorkflow', 'one', {}));
      await eventually('the model is asked', () => provider.requests.length === 1);
      await editor.panel.stop();
      await editor.panel.waitForPhase('Failed');
      await editor.stop();
      editor = await openTowpath({ ...kept, trust: 'refused' });
      await says(/Stopped|Interrupted/, 'Continue');
      await press('Continue');
      await says(/not trusted/, 'Manage Trust', 'Retry');
      await press('Manage Trust');
      await editor.page.locator('.workspace-trust-editor').waitFor();
    } finally {
      if (editor !== window) await editor.stop();
      editor = window;
      rmSync(temporary, { recursive: true, force: true });
    }
  });

  describe('by the disk that runs are kept on', () => {
    const why = whyNotMounted();
    before(function () {
      if (why) this.skip();
    });
    let runs: string;
    const newRun = async () => {
      await editor.command('Towpath: New Run');
      await eventually('the run is left', async () => (await editor.panel.transcript()).length === 0);
    };
    beforeEach(async () => {
      await asks(reply.text('It goes on.'));
      await goesOn();
      runs = runsIn(editor.userDataDir);
      mountEmpty(runs, 512);
      await newRun();
    });
    afterEach(() => unmount(runs));

    it('that is full says so, and there is a Retry as soon as there is room', async () => {
      await asks(reply.text(Array.from({ length: 60_000 }, (_, at) => `A long answer, ${at}. `).join('')));
      await says(/^The disk is full/, 'Manage Storage…');
      growDisk(runs);
      await says(/^The disk is full/, 'Manage Storage…', 'Retry');
      await press('Retry');
      await goesOn();
      await editor.reload();
      await editor.panel.shows('It goes on.');
    });

    it('that is full already takes no words: they are in the message box until it does', async () => {
      writeFileSync(path.join(runs, 'ballast'), Buffer.alloc(512 * 1024 - 50_000));
      await asks();
      await editor.panel.send(`And that: ${'it is long. '.repeat(5000)}`);
      await says(/^The disk is full/, 'Manage Storage…');
      await eventually('the words are back', async () => /^And that: /.test(await editor.panel.composer.inputValue()));
      growDisk(runs);
      await says(/^The disk is full/, 'Manage Storage…', 'Retry');
      await press('Retry');
      await goesOn();
      assert.match(String(provider.requests.at(-1)!.body.messages.at(-1)!.content), /^And that: /);
      assert.equal(await editor.panel.composer.inputValue(), '');
    });

    it('that may only be read now says so above the words that no run could hear', async () => {
      remountReadOnly(runs);
      await editor.panel.send('Go.');
      await editor.panel.shows('The folder of the runs cannot be written to.');
      await eventually('the words are back', async () => (await editor.panel.composer.inputValue()) === 'Go.');
      assert.equal(provider.requests.length, 1, 'nobody was asked');
      growDisk(runs);
      gives();
      await editor.panel.composer.press('Enter');
      await goesOn();
      assert.equal(provider.requests.at(-1)!.body.messages.at(-1)!.content, 'Go.');
    });

    it('that is gone while it is at work does nothing more, and a new run is the way on', async () => {
      provider.script = () => {
        for (const run of readdirSync(runs)) rmSync(path.join(runs, run), { recursive: true });
        return reply.call('fs_write', { path: 'b.txt', content: 'b\n' });
      };
      await editor.panel.send('Go.');
      await says(/deleted or moved while the run was in progress, so nothing more is done in it/, 'New Run');
      assert.equal(editor.read('b.txt'), undefined);
      await press('New Run');
      await asks(reply.text('It goes on.'));
      await goesOn();
    });
  });
});

/** Where this editor keeps the runs of its one workspace. */
function runsIn(userDataDir: string): string {
  const storages = path.join(userDataDir, 'User', 'workspaceStorage');
  const found = readdirSync(storages)
    .map((name) => path.join(storages, name, 'towpath.towpath', 'store', 'runs'))
    .filter((folder) => existsSync(folder));
  assert.equal(found.length, 1);
  return found[0]!;
}
