import assert from 'node:assert/strict';
import path from 'node:path';
import { backends } from '../support/backends.ts';
import { isOldest } from '../support/editor/install.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { pixel } from '../support/images.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';
import { said } from '../support/scripted.ts';

/** What the other extension of the tests gives (test/support/editor/model-ext). */
interface Other {
  deeds: unknown[];
  asked: unknown[];
  calls: { name: string; input?: unknown; cancelled?: true }[];
  asks: {
    listed(): Promise<{ id: string; name: string; maxInputTokens: number }[]>;
    count(name: string, text: string): Promise<number>;
    begin(key: string, name: string, text: string, more?: object): void;
    cancel(key: string): void;
    state(key: string): { parts: unknown[]; end?: string };
  };
}

const applies = isOldest ? ' – does not apply: VS Code 1.100 takes no models of extensions (npm test -- newest)' : '';

describe(`for the whole editor: models for others, others' models and tools${applies}`, () => {
  let editor: Towpath;
  let provider: Provider;
  let local: Awaited<ReturnType<(typeof backends)['local']>>;

  before(async function () {
    if (isOldest) return this.skip();
    provider = await startProvider([]);
    local = await backends.local();
    const file = String(local.settings['towpath.model']).slice('local/'.length);
    editor = await openTowpath({
      settings: {
        ...local.settings,
        'towpath.local.folders': [path.dirname(file)],
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      },
      extensions: [path.join(import.meta.dirname, '../support/editor/model-ext')],
    });
    await editor.host.evaluate((vscode) => vscode.extensions.getExtension('test.models')!.activate());
  });
  after(async () => {
    await editor?.stop();
    await provider?.close();
    await local?.close();
  });

  /** In the extension host, with what the other extension gives. */
  const asks = <Method extends keyof Other['asks']>(method: Method, ...args: Parameters<Other['asks'][Method]>) =>
    editor.host.evaluate(
      (vscode, [name, given]) => {
        const { asks } = vscode.extensions.getExtension('test.models')!.exports as Other;
        return (asks[name] as (...all: unknown[]) => unknown)(...given);
      },
      [method, args] as const,
    ) as Promise<Awaited<ReturnType<Other['asks'][Method]>>>;
  const ended = async (key: string) => {
    let state: { parts: unknown[]; end?: string } = { parts: [] };
    await eventually(`${key} has ended`, async () => {
      state = await asks('state', key);
      return state.end !== undefined;
    });
    return state;
  };
  const set = (name: string, value: unknown) =>
    editor.host.evaluate(
      async (vscode, [key, given]) => {
        await vscode.workspace.getConfiguration('towpath').update(key, given, vscode.ConfigurationTarget.Global);
      },
      [name, value] as const,
    );
  const row = (text: string) => editor.page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first();
  const answerWith = (...script: ReturnType<typeof reply.text>[]) => {
    provider.requests.length = 0;
    provider.script = script;
  };
  const names = async () => (await asks('listed')).map(({ name }) => name).sort();
  const asked = () => editor.page.locator('.statusbar-item', { hasText: 'asked' });

  it('nothing is offered until the person chooses it, and what costs money is asked about', async () => {
    assert.deepEqual(await names(), []);
    await editor.command('Towpath: Share Models with the Editor…');
    await row('All models on this machine').click();
    await editor.page.keyboard.press('Enter');
    await eventually('the local model is offered', async () => String(await names()) === 'scripted');
    const [model] = await asks('listed');
    assert.equal(model!.id, 'local/scripted', 'it says nothing of folders');
    assert.equal(model!.maxInputTokens, 6144);
    await set('model', 'openai-compatible/remote');
    await editor.command('Towpath: Share Models with the Editor…');
    await row('remote').click();
    await editor.page.keyboard.press('Enter');
    const question = await editor.dialog.text();
    assert.match(
      question,
      /^Allow the editor’s chat and other extensions to use remote\?\n.*127\.0\.0\.1.*You pay for/s,
    );
    assert.equal(await editor.dialog.focused(), 'Not Now');
    await editor.dialog.click('Share');
    await eventually('both are offered', async () => String(await names()) === 'remote,scripted');
  });

  it('another extension is asked about once; a no is a refusal, a yes is an answer of the local model', async () => {
    await asks('begin', 'refused', 'scripted', 'Hello?');
    assert.match(await editor.dialog.text(), /^Allow Table \(test\.models\) to use the models that you share\?/);
    await editor.dialog.click('Not Now');
    assert.match((await ended('refused')).end!, /NoPermissions: You have not allowed .*test\.models/);
    await editor.command('Towpath: Share Models with the Editor…');
    await row('All models on this machine').waitFor();
    await editor.page.keyboard.press('Enter');
    await asks('begin', 'allowed', 'scripted', 'Hello?');
    await editor.dialog.text();
    await editor.dialog.click('Let It Ask');
    const { parts, end } = await ended('allowed');
    assert.deepEqual([parts.join(''), end], [said.hello, 'done']);
    assert.ok((await asks('count', 'scripted', 'Hello there, how are you?')) > 3);
  });

  it('tools, pictures and results go to the endpoint, and its calls to who asked', async () => {
    const tools = [{ name: 'fs_read', description: 'Not ours.', inputSchema: { type: 'object', properties: {} } }];
    answerWith(reply.text('Looking.').call('fs_read', { path: 'a' }), reply.text('Seen.'));
    await asks('begin', 'call', 'remote', 'What is it?', { tools, picture: pixel });
    const first = await ended('call');
    assert.equal(first.end, 'done');
    assert.deepEqual(first.parts.at(-1), { call: 'fs_read', input: { path: 'a' } });
    const body = provider.requests[0]!.body;
    assert.equal(body.tools!.length, 1);
    assert.ok(JSON.stringify(body.messages).includes(pixel));
    await asks('begin', 'result', 'remote', 'What is it?', {
      tools,
      result: { name: 'fs_read', input: {}, text: 'A dot.' },
    });
    assert.deepEqual((await ended('result')).parts.join(''), 'Seen.');
    assert.ok(JSON.stringify(provider.requests[1]!.body.messages).includes('A dot.'));
    assert.equal(await editor.panel.cards().count(), 0, 'Towpath runs nothing of it');
  });

  it('who asks is seen; Stop works from both sides, and what is taken back is refused', async () => {
    answerWith(reply.endless('tick '), reply.endless('tock '));
    await asks('begin', 'ours', 'remote', 'Tick.');
    await eventually('it is answered', async () => (await asks('state', 'ours')).parts.length > 0);
    await asked().filter({ hasText: '1 asked' }).click();
    await row('test.models').click();
    assert.match((await ended('ours')).end!, /Stopped by you/);
    await asks('begin', 'theirs', 'remote', 'Tock.');
    await eventually('it is answered', async () => (await asks('state', 'theirs')).parts.length > 0);
    await asks('cancel', 'theirs');
    await eventually('the server is left', async () => provider.requests.every(({ abandoned }) => abandoned));
    await asked().waitFor({ state: 'hidden' });
    await set('offeredModels', []);
    await eventually('nothing is offered', async () => (await names()).length === 0);
  });

  it('its own models are not among those of the editor; another extension’s works on a task, with the editor’s tools', async () => {
    await set('offeredModels', ['local']);
    await eventually('the local model is offered', async () => (await names()).length === 1);
    await editor.command('Towpath: Pick Model…');
    await row('A model of the editor…').click();
    await row('table/scripted').waitFor();
    assert.equal(await row('towpath/').count(), 0);
    await row('table/scripted').click();
    await editor.command('Towpath: Editor Tools…');
    await row('of the editor or one of its MCP servers').waitFor(); // it has some itself
    await editor.page.keyboard.type('table_');
    for (const tool of ['table_note', 'table_careful', 'table_never']) await row(tool).click();
    await editor.page.keyboard.press('Enter');
    const call = (name: string) => ({ parts: [{ call: `vscode_table_${name}`, args: { text: 'roses' } }] });
    await editor.host.evaluate(
      (vscode, deeds) => {
        Object.assign(vscode.extensions.getExtension('test.models')!.exports, { asked: [], deeds });
      },
      [
        call('note'),
        call('careful'),
        { parts: [{ text: 'You said no.' }] },
        call('never'),
        { parts: [{ text: 'Over.' }] },
      ],
    );

    await editor.panel.send('Take a note.');
    assert.match(
      await editor.dialog.text(),
      /^Use table_note of the editor\n.*"text": "roses".*The editor may ask you once more/s,
    );
    await editor.dialog.click('Allow');
    assert.match(await editor.dialog.text(), /^Use table_careful of the editor\n/);
    await editor.dialog.click('Allow');
    assert.match(await editor.dialog.text(), /Is this careful\?/, 'the editor asks by itself');
    await editor.dialog.escape();
    await editor.panel.shows('You said no.');
    const { calls, results } = await editor.host.evaluate((vscode) => {
      const other = vscode.extensions.getExtension('test.models')!.exports as Other;
      return { calls: other.calls, results: JSON.stringify(other.asked.at(-1)) };
    });
    assert.deepEqual(calls, [{ name: 'note', input: { text: 'roses' } }]);
    assert.match(results, /Noted: roses/);
    assert.match(results, /application\/pdf, 6 B, not shown/);
    assert.match(results, /TOOL_DENIED.*The person said no when the editor asked/);
    await editor.panel.waitForPhase('WaitingUser');

    await editor.panel.send('Never mind.');
    assert.match(await editor.dialog.text(), /^Use table_never of the editor\n/);
    await editor.dialog.click('Allow');
    const never = () =>
      editor.host.evaluate((vscode) =>
        (vscode.extensions.getExtension('test.models')!.exports as Other).calls.slice(1),
      );
    await eventually('it is called', async () => (await never()).length === 1);
    await editor.panel.stop();
    await editor.panel.waitForPhase('Failed');
    await eventually('it hears of the stop', async () => (await never()).some(({ cancelled }) => cancelled));
  });
});
