import assert from 'node:assert/strict';
import { oneWindow } from '../support/editor/oneWindow.ts';
import type { Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

const key = 'sk-CANARYKEY1234567890';

describe('setting a provider up', () => {
  let editor: Towpath;
  const begin = oneWindow();
  let provider: Provider;
  beforeEach(async () => {
    provider = await startProvider(() => reply.text('ready'));
  });
  afterEach(() => provider.close());

  const box = () => editor.page.locator('.quick-input-widget');
  const title = (text: string | RegExp) => box().locator('.quick-input-title', { hasText: text }).waitFor();
  const message = (text: string | RegExp) => box().locator('.quick-input-message', { hasText: text }).waitFor();
  const row = (text: string | RegExp) => box().locator('.quick-input-list .monaco-list-row', { hasText: text }).first();
  const rows = () => box().locator('.quick-input-list .monaco-list-row').allInnerTexts();
  const type = async (text: string) => {
    await box().locator('input').first().fill(text);
    await editor.page.keyboard.press('Enter');
  };
  const says = (text: string) => box().locator(`input[placeholder*="${text}"]`).waitFor();
  /** The last step: the model has answered, and Enter uses it. */
  const tested = async () => {
    await says('Ready: first word after');
    await editor.page.keyboard.press('Enter');
  };
  const goBack = () => box().locator('.quick-input-left-action-bar .action-label').click();
  const told = (text: string | RegExp) => editor.told(text);
  const run = (command: string) =>
    editor.host.evaluate((vscode, name) => {
      void vscode.commands.executeCommand(name);
    }, command);
  const set = (name: string, value: unknown) =>
    editor.host.evaluate(
      async (vscode, [one, what]) => {
        await vscode.workspace
          .getConfiguration('towpath')
          .update(one as string, what, vscode.ConfigurationTarget.Global);
      },
      [name, value],
    );
  const inUse = (model: string) =>
    eventually(`${model} is in use`, async () =>
      (await editor.panel.frame.getByTestId('model').innerText()).includes(model),
    );

  it('a key that the list is refused for is asked for anew; a model is picked, and keys of others are set and forgotten', async () => {
    const good = `Bearer ${key}`;
    provider.listing = ({ headers }) =>
      headers.authorization === good
        ? reply.status(200, { data: [{ id: 'good-one' }, { id: 'good-two' }] })
        : reply.status(401, { error: { message: `Incorrect API key provided: ${headers.authorization}` } });
    editor = await begin({
      'towpath.model': 'openai-compatible/other',
      'towpath.providers': { 'openai-compatible': { baseUrl: provider.url }, openai: { baseUrl: provider.url } },
    });
    await run('towpath.useEndpoint');
    await row(/^OpenAI(?!-)/).click();
    await title('Connect a Model (2/3)');
    await message('API key for 127.0.0.1');
    await type('Bearer sk-wrong-key-1234567890');
    await message('Only the key');
    await type('two words');
    await message('without blanks');
    await type('sk-wrong-key-1234567890');
    await message('The provider rejected this key.');
    await type(` ${key} `);
    await title('Connect a Model (3/3)');
    await row('good-two').click();
    await tested();
    await inUse('good-two');
    assert.deepEqual(
      [...new Set(provider.otherRequests.map(({ headers }) => headers.authorization))],
      [undefined, 'Bearer sk-wrong-key-1234567890', good],
    );

    await run('towpath.setKey');
    await title('select a provider to set its key');
    assert.match((await rows())[0]!, /^OpenAI(?!-).*in use/s);
    await row('Groq').click();
    await title('Set API Key');
    await message('API key for api.groq.com');
    await editor.page.keyboard.press('Escape');

    await run('towpath.deleteKey');
    await row(/^OpenAI(?!-)/).click();
    await told('was deleted');
    await editor.panel.send('Hello?');
    await editor.panel.shows('ready');
    assert.equal(provider.requests.at(-1)!.headers.authorization, undefined);
  });

  it('an endpoint from nothing: each error stands in its box, each step can be taken back, and nothing is stored before the end', async () => {
    const wrong = 'sk-wrong-key-1234567890';
    provider.listing = ({ headers }) =>
      headers.authorization === `Bearer ${key}`
        ? reply.status(200, { data: [{ id: 'good-one', context_length: 8000 }, { id: 'good-two' }] })
        : reply.status(401, { error: { message: 'No.' } });
    const refusal = () => reply.status(401, { error: { message: 'No.' } });
    provider.script = refusal;
    editor = await begin();
    const stored = () =>
      editor.host.evaluate((vscode) => {
        const { model, providers } = vscode.workspace.getConfiguration('towpath');
        return JSON.stringify([model, providers]);
      });
    const before = await stored();
    await run('towpath.useEndpoint');
    await title('Connect a Model (1/3)');
    await row('OpenAI-compatible endpoint').click();
    await message('the address up to');
    assert.match(await box().locator('.quick-input-title').innerText(), /^Connect a Model \(1\/3\)$/);
    await type('http://127.0.0.1:1/v1');
    await message('No server answers at this address.');
    await type('http://nowhere.invalid/v1');
    await message('No server answers at this address.');
    await editor.screenshot('connect-address');
    await goBack();
    await row('OpenAI-compatible endpoint').click();
    await message('the address up to');
    await type(provider.url);
    await title('Connect a Model (2/3)');
    await type(wrong);
    await message('The provider rejected this key.');
    await editor.screenshot('connect-key');
    await goBack();
    await title('Connect a Model (1/3)');
    assert.equal(await box().locator('input').first().inputValue(), provider.url);
    await editor.page.keyboard.press('Enter');
    await title('Connect a Model (2/3)');
    await type(key);
    await title('Connect a Model (3/3)');
    await row('good-two').click();
    await title('Connect a Model (2/3)');
    await message('The provider rejected this key.');
    provider.script = () => reply.status(500, { error: { message: 'Out of order.' } });
    await type(key);
    await row('Try Again').waitFor();
    assert.match(await row('Try Again').innerText(), /500.*Out of order/s);
    await goBack();
    await title('Connect a Model (2/3)');
    await editor.page.keyboard.press('Escape');
    assert.equal(await stored(), before);
    await Promise.all([told('No key or secret is stored.'), run('towpath.deleteKey')]);

    provider.script = () => reply.text('ready').late(5000);
    await run('towpath.useEndpoint');
    await row('OpenAI-compatible endpoint').click();
    await message('the address up to');
    await type(provider.url);
    await title('Connect a Model (2/3)');
    await type(key);
    await row('good-one').click();
    await says('Testing… uses about 20 tokens');
    await editor.screenshot('connect-testing');
    await says('Ready: first word after ');
    await editor.screenshot('connect-ready');
    await row('Done').click();
    await inUse('good-one');
    assert.match(await stored(), new RegExp(provider.url));
    await editor.panel.send('Hello?');
    await editor.panel.shows('ready');
    assert.equal(provider.requests.at(-1)!.headers.authorization, `Bearer ${key}`);

    provider.script = () => reply.text('ready').late(Number.POSITIVE_INFINITY);
    await run('towpath.pickModel');
    await row('Another model of').click();
    await row('good-two').click(); // the provider has been tested
    await inUse('good-two');
    await run('towpath.useEndpoint');
    await row('OpenAI-compatible endpoint').click();
    await message('the address up to');
    await editor.page.keyboard.press('Enter');
    await row('good-one').click();
    await says('Testing');
    await row('Skip').click();
    await inUse('good-one');
  });

  it('Azure: a deployment is asked for by its name, for the list says what could be deployed; a list that never comes is waited for no longer than it says', async () => {
    provider.listing = () => reply.status(200, { data: [{ id: 'gpt-that-could-be-deployed' }] });
    editor = await begin({ 'towpath.providers': { azure: { baseUrl: provider.url.replace('/v1', '') } } });
    await run('towpath.useEndpoint');
    await row('Azure OpenAI').click();
    await message('Name of the deployment');
    assert.equal(provider.otherRequests.length, 1);
    await editor.page.keyboard.press('Escape');
    provider.listing = () => reply.text('').late(Number.POSITIVE_INFINITY);
    await run('towpath.useEndpoint');
    await row('Azure OpenAI').click();
    await message(
      /did not list its models: Azure OpenAI \(http:.*\) did not answer within 15 s\..*Name of the deployment/s,
    );
    await type('mine');
    await tested();
    await inUse('mine');
    await editor.panel.send('Hello?');
    await editor.panel.shows('ready');
    assert.deepEqual(
      provider.requests.map(({ path, body }) => [path, body.model]),
      [
        ['/openai/v1/chat/completions', 'mine'],
        ['/openai/v1/chat/completions', 'mine'],
      ],
    );
  });

  it('an address that is none: nothing goes to the provider itself instead', async () => {
    editor = await begin({
      'towpath.model': 'openai/scripted',
      'towpath.providers': { openai: { baseUrl: 'proxy.invalid:8080/v1' }, groq: { baseUrl: provider.url } },
      'towpath.retries': 0,
    });
    await editor.panel.send('Hello?');
    await editor.panel.waitForPhase('Failed');
    await editor.panel.shows('“proxy.invalid:8080/v1” is not an address for OpenAI');
    await run('towpath.useEndpoint');
    await row('proxy.invalid').click();
    await title('Connect a Model (1/3)');
    await message('OpenAI: the address up to');
    await type(provider.url);
    await row('scripted').click();
    await tested();
    const isStored = () =>
      editor.host.evaluate((vscode, url) => {
        const providers = vscode.workspace
          .getConfiguration('towpath')
          .get<Record<string, { baseUrl?: string }>>('providers');
        return providers?.openai?.baseUrl === url;
      }, provider.url);
    await eventually('the address is stored', isStored);
    await editor.panel.send('And now?');
    await editor.panel.shows('ready');
    await set('model', 'groq/scripted');
    await editor.panel.send('And the other one?');
    await eventually('it is at its address, too', () => provider.requests.length === 3); // the first is the test
  });

  it('a key of another address: no is heard once, and over plain http it is not even offered', async () => {
    editor = await begin({
      'towpath.model': 'openai-compatible/scripted',
      'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      'towpath.retries': 0,
    });
    await run('towpath.setKey');
    await row('OpenAI-compatible endpoint').click();
    await title('Set API Key');
    await type(key);
    await told('is stored');
    const fails = async (at: string, question: string, asked: boolean) => {
      await set('providers', { 'openai-compatible': { baseUrl: at } });
      await editor.panel.send(question);
      if (asked) {
        assert.match(await editor.dialog.text(), /^Send your OpenAI-compatible endpoint key to https:/);
        await editor.dialog.escape();
      }
      await editor.panel.shows(question);
      await editor.panel.waitForPhase('Failed');
      assert.equal(await editor.dialog.isOpen(), false);
      await editor.panel.shows('cannot be reached');
    };
    await fails('https://elsewhere.invalid/v1', 'The first?', true);
    await run('towpath.newRun');
    await fails('https://elsewhere.invalid/v1', 'The second?', false);
    await run('towpath.newRun');
    await fails('http://elsewhere.invalid/v1', 'The third?', false);
    await run('towpath.setKey');
    await row('OpenAI-compatible endpoint').click();
    await told('reached without encryption at http://elsewhere.invalid');
    assert.equal(provider.requests.length, 0);
  });

  it('a notice that only informs leaves by itself, one under the pointer stays, and the log has both', async () => {
    editor = await begin();
    const notice = editor.panel.frame.getByTestId('notice');
    await Promise.all([told('No background commands are running.'), run('towpath.commands')]);
    await editor.screenshot('notice-info');
    await notice.waitFor({ state: 'detached' });
    await Promise.all([notice.hover(), run('towpath.commands')]);
    await run('towpath.showLog');
    await editor.page
      .locator('.output-view .view-line', { hasText: 'No background commands are running.' })
      .nth(1)
      .waitFor();
    assert.equal(await notice.count(), 1);
  });

  it('the size of the context window is known before the first message, and in the first count', async () => {
    editor = await begin({
      'towpath.model': 'openai-compatible/scripted',
      'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
    });
    await eventually('the list is asked for', () => provider.otherRequests.length === 1);
    await editor.panel.send('Hello?');
    await editor.panel.shows('ready');
    await editor.panel.frame.getByTestId('meter').click();
    await eventually('the meter has the size', async () =>
      /of 32\.8k/.test(await editor.panel.frame.locator('body').innerText()),
    );
    assert.equal(provider.otherRequests.length, 1, 'it is asked for once in a window');
  });

  it('settings are found by the words that people have for them', async () => {
    editor = await begin();
    const found = async (words: string, command: string) => {
      const asked = `@ext:towpath.towpath ${words}`;
      await editor.host.evaluate(
        (vscode, [open, query]) =>
          vscode.commands.executeCommand(open!, open === 'workbench.action.openSettings' ? query : { query }),
        [command, asked],
      );
      const search = editor.page.locator('.settings-editor .settings-header .view-line').first();
      await eventually('the words stand in the box', async () => (await search.innerText()).replace(/\s+/g, ' ').endsWith(words)); // biome-ignore format: short
      return async (): Promise<string> =>
        (await editor.page.locator('.settings-editor .setting-item-title').allInnerTexts()).join('; ');
    };
    const ofPerson = 'workbench.action.openSettings';
    const ofMachine = 'workbench.action.openRemoteSettings'; // where the window is a remote one, as this is
    for (const [words, setting, command = ofPerson] of [
      ['auto-approve', 'Approvals: Preset'],
      ['permission', 'Approvals: Preset'],
      ['allow', 'Approvals: Rules'],
      ['reasoning', 'Thinking Budget'],
      ['steps', 'Max Turns'],
      ['iterations', 'Max Turns'],
      ['budget', 'Limits: Run'],
      ['api key', 'Providers'],
      ['base url', 'Providers'],
      ['context window', 'Local: Context Size', ofMachine],
      ['retries', 'Retries'],
      ['rate limit', 'Rate Limit: Requests Per Minute'],
      ['gpu', 'Local: Gpu', ofMachine],
      ['mcp', 'Mcp: Servers'],
      ['terminal', 'Shell: Terminal'],
    ] as const) {
      const titles = await found(words, command);
      await eventually(`“${words}” finds ${setting}`, async () => (await titles()).includes(setting)).catch(
        async (cause) => {
          throw new Error(`${cause.message}: ${await titles()}`, { cause });
        },
      );
    }
    await editor.screenshot('settings-found');
  });
});
