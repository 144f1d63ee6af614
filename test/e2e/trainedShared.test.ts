import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { findRealModels } from '../real/models.ts';
import { isOldest } from '../support/editor/install.ts';
import { temporaryFolder } from '../support/editor/sample.ts';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';

interface Asks {
  listed(): Promise<{ id: string; name: string; maxInputTokens: number }[]>;
  count(name: string, text: string): Promise<number>;
  begin(key: string, name: string, text: string, more?: object): void;
  cancel(key: string): void;
  state(key: string): { parts: unknown[]; end?: string };
}

const applies = isOldest ? ' – does not apply: VS Code 1.100 takes no models of extensions (npm test -- newest)' : '';

describe(`a trained model for the editor and other extensions${applies}`, () => {
  let editor: Towpath;
  let name: string;
  const gone = path.join(temporaryFolder(), 'gone.gguf');
  before(async function () {
    const file = isOldest ? undefined : (await findRealModels())[0]?.file;
    if (file === undefined) return this.skip();
    name = path.basename(file, '.gguf');
    symlinkSync(file, gone);
    editor = await openTowpath({
      settings: {
        'towpath.model': `local/${file}`,
        'towpath.offeredModels': [`local/${file}`, `local/${gone}`],
        'towpath.local.gpu': false,
        'towpath.local.threads': 1,
      },
      extensions: [path.join(import.meta.dirname, '../support/editor/model-ext')],
    });
    await editor.host.evaluate((vscode) => vscode.extensions.getExtension('test.models')!.activate());
  });
  after(() => editor?.stop());

  const asks = <Method extends keyof Asks>(method: Method, ...args: Parameters<Asks[Method]>) =>
    editor.host.evaluate(
      (vscode, [method, given]) => {
        const { asks } = vscode.extensions.getExtension('test.models')!.exports;
        return asks[method](...given);
      },
      [method, args] as const,
    ) as Promise<Awaited<ReturnType<Asks[Method]>>>;
  const ended = async (key: string) => {
    let state: { parts: unknown[]; end?: string } = { parts: [] };
    await eventually(`${key} has ended`, async () => {
      state = await asks('state', key);
      return state.end !== undefined;
    });
    return state;
  };
  /** Tokens from a cache in each answered request, by the log. */
  const cached = () =>
    logFiles(editor.userDataDir)
      .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/was answered by .* (\d+) from a cache/g)])
      .map(([, tokens]) => Number(tokens));
  const tools = [
    {
      name: 'look_up',
      description: 'Looks up the depth of a harbour.',
      inputSchema: { type: 'object', properties: { harbour: { type: 'string' } }, required: ['harbour'] },
    },
  ];
  const question = 'How deep is the harbour of Kiel?';

  it('is listed, its answer comes as a stream, and it is cancelled', async () => {
    await eventually('it is listed', async () => (await asks('listed')).some((one) => one.name === name));
    const ids = (await asks('listed')).map(({ id }) => id).sort();
    assert.deepEqual(ids, [`local/${name}`, 'local/gone'], 'they say nothing of folders');
    await asks('begin', 'story', name, 'Tell me a long story about a boat on a canal.');
    await editor.dialog.click('Let It Ask');
    await eventually('it has begun', async () => (await asks('state', 'story')).parts.length > 3);
    await editor.page.locator('.statusbar-item', { hasText: '1 asked' }).waitFor();
    await editor.screenshot('trained-shared');
    await asks('cancel', 'story');
    assert.match((await ended('story')).end!, /^Canceled/);
    await editor.page.locator('.statusbar-item', { hasText: 'asked' }).waitFor({ state: 'hidden' });
  });

  it('calls a tool that it must call, with arguments of its schema', async () => {
    await asks('begin', 'call', name, question, { tools, required: true });
    const { parts, end } = await ended('call');
    assert.equal(end, 'done');
    const { call, input } = parts.at(-1) as { call: string; input: object };
    assert.deepEqual([call, Object.keys(input)], ['look_up', ['harbour']]);
  });

  it('reads nothing again when a request begins like the one before', async () => {
    const result = { name: 'look_up', input: { harbour: 'Kiel' }, text: 'It is 12 metres deep.' };
    for (const key of ['first', 'second']) {
      await asks('begin', key, name, question, { tools, result });
      assert.equal((await ended(key)).end, 'done');
    }
    await eventually('both are in the log', async () => cached().length >= 3);
    const [first, second] = cached().slice(-2) as [number, number];
    assert.ok(second > first && first > 0, `${first} and ${second} tokens from a cache`);
  });

  it('is refused with a reason when its file is gone', async () => {
    await asks('count', 'gone', question); // the other extension keeps the model
    rmSync(gone);
    await asks('begin', 'gone', 'gone', question);
    assert.match((await ended('gone')).end!, /^NotFound: .*gone/);
    await eventually('it is not listed', async () => (await asks('listed')).every((one) => one.name !== 'gone'));
  });

  it('counts the tokens of a text as its engine does', async function () {
    if (process.env.TOWPATH_MODEL) return this.skip(); // counts of another vocabulary
    const texts = [
      'Hello there, how are you?',
      'const a = [1, 2, 3].map((x) => x * 2);\n',
      'Straßenbahnhaltestelle überqueren.',
    ];
    assert.deepEqual(await Promise.all(texts.map((text) => asks('count', name, text))), [7, 23, 14]);
  });
});

const logFiles = (folder: string): string[] =>
  readdirSync(path.join(folder, 'logs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => path.basename(file) === 'Towpath.log')
    .map((file) => path.join(folder, 'logs', file));
