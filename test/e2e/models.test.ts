import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import * as anthropic from '../support/anthropic.ts';
import { oneWindow } from '../support/editor/oneWindow.ts';
import { temporaryFolder } from '../support/editor/sample.ts';
import type { Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { googleKey, googleReply, startGoogle } from '../support/google.ts';
import { longText } from '../support/longText.ts';
import { done, piece, startOllama } from '../support/ollama.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

const key = 'sk-CANARYKEY1234567890';
const secret = 'CANARY of a gateway';

describe('models of every provider', () => {
  let editor: Towpath;
  const begin = oneWindow();

  const quickInput = () => editor.page.locator('.quick-input-widget input').first();
  const row = (text: string | RegExp) =>
    editor.page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first();
  const told = (text: string | RegExp) => editor.told(text);
  const body = () => editor.panel.frame.locator('body');
  const run = (command: string) =>
    editor.host.evaluate((vscode, name) => {
      void vscode.commands.executeCommand(name);
    }, command);
  const typeKey = async (value: string) => {
    await run('towpath.setKey');
    await row('in use').click();
    await editor.page.locator('.quick-input-title', { hasText: 'Set API Key' }).waitFor();
    assert.equal(await quickInput().getAttribute('type'), 'password');
    await quickInput().fill(value);
    await editor.page.keyboard.press('Enter');
  };
  const saveKey = async (value: string) => {
    await typeKey(value);
    await told('is stored');
  };
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as people write it in settings
  const gateway = 'Bearer ${secret:gateway}';
  const providerAt = (baseUrl: string) => ({
    openai: { baseUrl, headers: { 'X-Gateway': gateway }, organization: 'org-1' },
  });
  const enterSecret = async () => {
    await editor.page.locator('.quick-input-title', { hasText: 'Secret "gateway" for http' }).waitFor();
    assert.equal(await quickInput().getAttribute('type'), 'password');
    await quickInput().fill(secret);
    await editor.page.keyboard.press('Enter');
    await told('The secret "gateway" for');
  };
  const allow = async () => {
    await editor.dialog.text();
    await editor.dialog.click('Allow');
    await editor.panel.waitForPhase('WaitingUser');
    assert.equal(editor.read('note.txt'), 'Pulled.');
  };
  const write = { path: 'note.txt', content: 'Pulled.' };

  describe('behind an endpoint', () => {
    let provider: Provider;
    beforeEach(async () => {
      provider = await startProvider(() => reply.text('ready'));
    });
    afterEach(() => provider.close());

    it('an endpoint is set up by its address and a model of its list', async () => {
      editor = await begin();
      await editor.panel.frame.locator('[data-action="use-endpoint"]').click();
      await row('OpenAI-compatible endpoint').click();
      await editor.page.locator('.quick-input-message', { hasText: 'the address up to' }).waitFor();
      await quickInput().fill('not an address');
      await editor.page.locator('.quick-input-message', { hasText: 'This is not an address' }).waitFor();
      await quickInput().fill(provider.url);
      await editor.page.keyboard.press('Enter');
      await row('scripted').click();
      await row('Done').click();
      await eventually('the model is in use', async () =>
        (await editor.panel.frame.getByTestId('model').innerText()).includes('scripted'),
      );
      await editor.panel.send('Hello?');
      await editor.panel.shows('ready');

      const asked = provider.requests.length;
      await run('towpath.checkModel');
      const question = await editor.dialog.text();
      assert.match(
        question,
        /^Check what scripted can do\?\nAbout .+, if it reads .+ tokens a second.+\nAbout 36 replies: /,
      );
      assert.match(question, /Its price is unknown\.\n.*\n.*Nothing in your workspace is read, changed or sent\.$/);
      assert.equal(provider.requests.length, asked, 'nothing is asked before the answer');
      provider.script = ({ messages }) =>
        reply.text(messages.some(({ content }) => content?.includes('does the Ida lie')) ? 'At berth 5317.' : 'ready');
      await editor.dialog.click('Check');
      await told('scripted was given 15 tasks and completed 1 of them.');
      const page = () =>
        editor.host.evaluate(
          (vscode) =>
            vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'towpath-checks')?.getText() ?? '',
        );
      await eventually('it is a preview', async () =>
        editor.host.evaluate(
          (vscode) => vscode.window.tabGroups.activeTabGroup.activeTab?.label.startsWith('Preview') === true,
        ),
      );
      await eventually('the page has what failed', async () =>
        (await page()).includes('| A plain call | It called no tool that reads the file. |'),
      );
      assert.match(await page(), /^\| A value from far back \| ✓ \|$/m);
      await editor.page.locator('.editor-actions [aria-label^="Export Model Check Results…"]').click();
      await row('Markdown').waitFor();
      await editor.screenshot('checked-models');
      await editor.page.keyboard.press('Escape');
      const sent = JSON.stringify(provider.requests.slice(asked).map(({ body }) => body));
      assert.ok(sent.includes('harbour') && !sent.includes('greet'), 'nothing of the workspace is among it');
      const to = path.join(temporaryFolder(), 'checks.json');
      await editor.host.evaluate(async (vscode, file) => {
        await vscode.commands.executeCommand('towpath.exportChecks', { format: 'json', to: vscode.Uri.file(file) });
      }, to);
      const [result] = JSON.parse(readFileSync(to, 'utf8')).checks;
      assert.deepEqual([result.model, result.tasks.length], ['openai-compatible/scripted', 15]);
      await run('towpath.pickModel');
      await eventually('the list of models tells it', async () =>
        (await row('scripted').innerText()).includes('1 of 15 tasks'),
      );
      await editor.page.keyboard.press('Escape');

      provider.script = () => reply.text('ready').hang();
      await run('towpath.checkModel');
      await editor.dialog.click('Check');
      await editor.panel.frame.getByRole('button', { name: 'Cancel' }).click();
      await told('was not checked to the end. It was stopped.');
      await eventually('the page says so, too', async () =>
        /0 of 15 tasks done, 15 not run\. It was stopped\./.test(await page()),
      );
    });

    it('no other model takes the place of one that was picked once: the run asks for one, and so does a new one', async () => {
      editor = await begin({
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      });
      await editor.panel.send('Hello?');
      await editor.panel.shows('ready');
      const asked = provider.requests.length;
      const pick = (model: string | undefined) =>
        editor.host.evaluate(async (vscode, one) => {
          await vscode.workspace.getConfiguration('towpath').update('model', one, vscode.ConfigurationTarget.Global);
        }, model);
      await pick(undefined);
      const button = editor.panel.frame.getByTestId('model');
      await eventually('none is in use', async () => (await button.innerText()).includes('Select a model'));
      for (const words of ['And now?', 'And in a new one?']) {
        await editor.panel.send(words);
        await editor.panel.shows('No model is selected (the setting towpath.model is empty). The run used scripted');
        await editor.panel.frame.getByTestId('try-another-model').first().waitFor();
        assert.equal(await editor.panel.cards('fs.edit').count(), 0, 'no script is played');
        if (words === 'And now?')
          await editor.host.evaluate((vscode) => vscode.commands.executeCommand('towpath.newRun'));
      }
      assert.equal(provider.requests.length, asked);
      await pick('openai-compatible/scripted');
      await editor.panel.send('And now?');
      await editor.panel.shows('ready');
    });

    it('a picture goes to the model with the words, is kept, and is there after a reload', async () => {
      editor = await begin({
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      });
      const picture = await editor.page.screenshot({ clip: { x: 0, y: 0, width: 60, height: 40 } });
      const chooser = editor.page.waitForEvent('filechooser');
      await editor.panel.frame.getByTestId('attach').click();
      await (await chooser).setFiles({ name: 'shot.png', mimeType: 'image/png', buffer: picture });
      await editor.panel.frame.getByTestId('pictures').locator('img').waitFor();
      await editor.panel.send('What is wrong here?');
      await editor.panel.shows('ready');
      assert.deepEqual(provider.requests.at(-1)!.body.messages.at(-1), {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: `data:image/png;base64,${picture.toString('base64')}` } },
          { type: 'text', text: 'What is wrong here?' },
        ],
      });
      await editor.reload();
      await editor.panel.frame.locator('[data-role="user"] img[alt="shot.png"]').waitFor();
      await editor.screenshot('picture');
    });

    it('a window that the provider tells of is emptied before it is full; pausing rests between two turns', async () => {
      provider.models = [{ id: 'scripted', context_length: 8192 }];
      const full = { prompt_tokens: 6000, completion_tokens: 1900, total_tokens: 7900 };
      provider.script = [
        reply.text(longText('words and more words ', 600), 800).usage(full),
        reply.text('They got many words.'),
        reply.text('Once more.').call('fs_list', { path: '.' }).wait(2000),
        reply.text('ready'),
      ];
      editor = await begin({
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      });
      await editor.panel.send('Many words, please.');
      await eventually('the list was asked for', async () => provider.otherRequests.length === 1);
      await editor.panel.waitForPhase('WaitingUser');
      await editor.panel.send('And more.');
      await editor.panel.shows('sees a summary of the oldest steps from here on');
      await editor.panel.shows('Once more.');
      await run('towpath.pause');
      await editor.panel.shows('Paused.');
      const said = provider.requests.map(({ body }) => body.messages.map(({ content }) => content).slice(1));
      assert.match(said[1]![0]!, /^Person: Many words, please\.\n\nAgent: words and more/);
      const sent = said[2]!.join('\n\n');
      assert.match(sent, /^Many words, please\.\n\n\(A summary .*\)\n\nThey got many words\.\n\nAnd more\.$/);
      assert.equal(said.length, 3);
      await editor.panel.frame.getByTestId('continue').click();
      await editor.panel.shows('ready');
    });

    it('the meter tells what fills the window, and room is made in it at a press', async () => {
      provider.models = [{ id: 'scripted', context_length: 32_000 }];
      const essay = reply.text(longText('words and more words ', 900), 400).usage(null);
      provider.script = [essay, essay, essay, reply.text('They got many words.').usage(null)];
      editor = await begin({
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      });
      for (const [at, words] of ['Many words, please.', 'And more.', 'And once more.'].entries()) {
        await editor.panel.send(words);
        await eventually('it is said', async () => provider.requests.length === at + 1);
        await editor.panel.waitForPhase('WaitingUser');
      }
      const meter = editor.panel.frame.getByTestId('meter');
      await eventually('the size of the window is known', async () =>
        /^\d+%/.test((await meter.getAttribute('aria-label'))!),
      );
      await meter.click();
      const popover = editor.panel.frame.getByTestId('meter-popover');
      await eventually('what it frees is known', async () => /frees about/.test(await popover.innerText()));
      const told = (await popover.innerText()).replace(/\s+/g, ' ');
      assert.match(
        told,
        /^\d+% · [\d.]+k of 32\.0k Instructions about .* Tools about .* Answers about .* Cost no price Compact Now/,
      );
      await editor.screenshot('meter');
      await editor.panel.frame.getByTestId('compact').click();
      await editor.panel.shows('sees a summary of the oldest steps from here on');
      await editor.panel.waitForPhase('WaitingUser');
      await meter.click();
      await eventually('it says what is left out', async () => /Left out/.test(await popover.innerText()));
    });

    it('a test of the connection says precisely what works and what does not', async () => {
      editor = await begin({
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      });
      // A notice that only informs leaves after a while: it is waited for from the beginning.
      const test = async (words: string | RegExp) => {
        const asking = editor.panel.frame.getByTestId('notice').filter({ hasText: 'is testing' });
        await eventually('the last test is over', async () => (await asking.count()) === 0);
        const said = told(words);
        await Promise.all([run('towpath.testConnection'), said]);
      };
      await test(/openai-compatible\/scripted answers: first token after .*\ss, done after .*\ss, 17\stokens/);
      provider.script = () => reply.status(401, { error: { message: `Wrong key ${key}` } });
      await test('No API key for OpenAI-compatible endpoint');
      await provider.close();
      await test('cannot be reached');
    });

    it('N35 a key and a secret of a header go nowhere but to the address they were saved for', async () => {
      const settings = { 'towpath.model': 'openai/scripted', 'towpath.providers': providerAt(provider.url) };
      editor = await begin(settings);
      await saveKey(key);
      await editor.panel.send('Hello?');
      await editor.panel.shows(
        'The header x-gateway names the secret "gateway", which is not set for http://127.0.0.1',
      );
      assert.equal(provider.requests.length, 0);
      await editor.panel.frame.getByTestId('set-secret').click();
      await enterSecret();
      await editor.panel.frame.getByTestId('continue').click();
      await editor.panel.shows('ready');
      const { headers } = provider.requests.at(-1)!;
      assert.deepEqual([headers.authorization, headers['x-gateway']], [`Bearer ${key}`, `Bearer ${secret}`]);
      await editor.host.evaluate(async (vscode, elsewhere) => {
        await vscode.workspace
          .getConfiguration('towpath')
          .update('providers', elsewhere, vscode.ConfigurationTarget.Global);
      }, providerAt('https://elsewhere.invalid/v1'));
      await editor.panel.send('And now?');
      assert.match(await editor.dialog.text(), /Send your OpenAI key to https:\/\/elsewhere\.invalid\?/);
      await editor.dialog.escape();
      await eventually('the secret is asked about, too', async () =>
        /Send the secret "gateway" to https:\/\/elsewhere\.invalid\?/.test(await editor.dialog.text()),
      );
      await editor.screenshot('secret-elsewhere');
      await editor.dialog.escape();
      await editor.panel.waitForPhase('Failed');
      await editor.panel.shows('which is not set for https://elsewhere.invalid');
      assert.equal(provider.requests.length, 1);
    });

    it('a key appears nowhere: not in runs, logs, settings or the panel', async () => {
      editor = await begin({
        'towpath.model': 'openai/scripted',
        'towpath.providers': providerAt(provider.url),
        'towpath.retries': 0,
      });
      await saveKey(key);
      await run('towpath.setSecret');
      await enterSecret();
      const echoes = [
        reply.status(401, { error: { message: `Incorrect API key provided: ${key}` } }),
        reply.status(500, `Bearer ${key} ${secret}`),
        reply.text('Here it is: ').raw(`data: {"error":{"message":"bad key ${key} or ${secret}"}}\n\n`),
        reply.text('ready'),
      ];
      for (const echo of echoes) {
        provider.script = () => echo;
        await editor.panel.send('Hello?');
        await editor.panel.waitForPhase(['Failed', 'WaitingUser']);
        await eventually('the run has ended', async () => (await editor.panel.stopButton.count()) === 0);
        await run('towpath.testConnection');
      }
      await editor.panel.shows('ready');
      const all = [...provider.requests, ...provider.otherRequests];
      assert.ok(provider.otherRequests.length > 0, 'a list of models is among them');
      assert.ok(all.every(({ headers }) => headers.authorization === `Bearer ${key}`));
      assert.ok(all.every(({ headers }) => headers['x-gateway'] === `Bearer ${secret}`));
      assert.ok(all.every(({ headers }) => headers['openai-organization'] === 'org-1'));
      const shown = await body().innerHTML();
      assert.ok(!shown.includes(key) && !shown.includes(secret));
      // This editor keeps its secrets in the browser's profile, which is elsewhere; here all is ours or the editor's.
      const files = readdirSync(editor.userDataDir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.join(entry.parentPath, entry.name));
      assert.ok(
        files.some((file) => file.endsWith('journal.jsonl')),
        'the runs are among them',
      );
      assert.deepEqual(
        files.filter((file) => [key, secret].some((one) => readFileSync(file).includes(one))),
        [],
      );
    });

    it('a wait that the provider asks for is shown and can be stopped', async () => {
      provider.script = () => reply.status(429, { error: { message: 'Slow down.' } }, { 'retry-after': '30' });
      editor = await begin({
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      });
      await editor.panel.send('Hello?');
      await editor.panel.frame.getByTestId('progress').waitFor();
      await eventually('a countdown is shown', async () =>
        /\b[12]?\d\ss\b/.test(await editor.panel.frame.getByTestId('progress').innerText()),
      );
      await editor.panel.stop();
      await editor.panel.waitForPhase('Failed');
      assert.equal(provider.requests.length, 1);
    });

    it('a wait that the provider asks for is not waited for by another model', async () => {
      provider.models.push({ id: 'other', context_length: 32_768 });
      provider.script = ({ model }) =>
        model === 'other' ? reply.text('The other one is not busy.') : reply.status(429, { error: { message: 'Slow down.' } }, { 'retry-after': '50' }); // biome-ignore format: one line
      editor = await begin({
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      });
      await editor.panel.send('Hello?');
      await editor.panel.frame.getByTestId('progress').getByTestId('try-another-model').click();
      await row('Another model of').click();
      await editor.page.locator('.monaco-list-row[aria-label="other"]').click(); // “Another model of …” and “Another name…” have these letters, too
      await editor.panel.shows('The other one is not busy.');
      await editor.panel.waitForPhase('WaitingUser');
      assert.equal((await editor.panel.transcript()).filter(({ text }) => text.includes('Hello?')).length, 1);
    });
  });

  it('N37 a proxy that refuses is named, and hears nothing of the key', async () => {
    const heard: string[] = [];
    const proxy = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (bytes) => {
        heard.push(bytes.toString('latin1'));
        socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n');
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    editor = await begin({
      'http.proxy': `http://127.0.0.1:${port}`,
      'towpath.model': 'openai-compatible/scripted',
      'towpath.providers': { 'openai-compatible': { baseUrl: 'https://elsewhere.invalid/v1' } },
    });
    const refusal =
      'The proxy on the way to OpenAI-compatible endpoint (elsewhere.invalid) refused the connection (407)';
    try {
      await typeKey(key);
      await editor.page.locator('.quick-input-message', { hasText: refusal }).waitFor();
      await editor.page.keyboard.press('Escape');
      await editor.panel.send('Hello?');
      await editor.panel.waitForPhase('Failed');
      await editor.panel.shows(refusal);
      assert.match(heard[0]!, /^CONNECT elsewhere\.invalid:443 /);
      assert.ok(!heard.join('').includes(key));
    } finally {
      proxy.close();
    }
  });

  it('Anthropic: thinks, asks for a change, and goes on after the answer', async () => {
    const server = await anthropic.startAnthropic(({ body: asked, method }) => {
      if (method === 'GET') return anthropic.refusal(404, 'not_found_error', 'There is no list.');
      const answered = JSON.stringify(asked.messages).includes('tool_result');
      return answered
        ? anthropic.reply([anthropic.text('It is written.')])
        : anthropic.reply([
            anthropic.thinking('A note is wanted.', 'c2lnbmF0dXJl'),
            anthropic.text('I write it.'),
            anthropic.call('fs_write', write),
          ]);
    });
    editor = await begin({
      'towpath.model': 'anthropic/claude-test',
      'towpath.providers': { anthropic: { baseUrl: server.url } },
    });
    try {
      await saveKey(key);
      await editor.panel.send('Write a note.');
      await allow();
      await editor.panel.shows('It is written.');
      const last = server.asked.at(-1)!;
      assert.equal(last.headers['x-api-key'], key);
      assert.match(JSON.stringify(last.body.messages), /"signature":"c2lnbmF0dXJl"/);
    } finally {
      await server.close();
    }
  });

  it('Google: asks for a change and goes on after the answer', async () => {
    const server = await startGoogle((asked) =>
      JSON.stringify(asked).includes('functionResponse')
        ? googleReply.text('It is written.')
        : googleReply.text('I write it.').call('fs_write', write, { thoughtSignature: 'c2lnbmF0dXJl' }),
    );
    editor = await begin({
      'towpath.model': 'google/gemini-3-test',
      'towpath.providers': { google: { baseUrl: server.url } },
    });
    try {
      await saveKey(googleKey);
      await editor.panel.send('Write a note.');
      await allow();
      await editor.panel.shows('It is written.');
    } finally {
      await server.close();
    }
  });

  it('Ollama: no key, a call with an object for arguments, and one written as text', async () => {
    const server = await startOllama([
      { steps: [piece({ tool_calls: [{ function: { name: 'fs_write', arguments: write } }] }), done()] },
      {
        steps: [
          piece({ content: '<tool_call>\n{"name": "fs_read", "arguments": {"path": "note.txt"}}\n</tool_call>' }),
          done(),
        ],
      },
      { steps: [piece({ content: 'It is written.' }), done()] },
    ]);
    server.models.scripted = { capabilities: ['completion', 'tools'] };
    editor = await begin({
      'towpath.model': 'ollama/scripted',
      'towpath.providers': { ollama: { baseUrl: server.url } },
    });
    try {
      await editor.panel.send('Write a note.');
      await allow();
      await editor.panel.shows('It is written.');
      assert.equal(await editor.panel.cards('fs.read').last().getAttribute('data-ok'), 'true');
      assert.doesNotMatch(await body().innerText(), /<tool_call>/);
    } finally {
      await server.close();
    }
  });

  it('the editor’s own models: says so when it offers none', async () => {
    editor = await begin({ 'towpath.model': 'vscode-lm/copilot/gpt-test' });
    await editor.panel.send('Hello?');
    await editor.panel.waitForPhase('Failed');
    await editor.panel.shows('The editor does not offer the model copilot/gpt-test now.');
  });
});
