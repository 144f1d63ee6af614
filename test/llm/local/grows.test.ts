import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  createLocalModelClient,
  type LocalModelClient,
  type LocalModelClientOptions,
} from '../../../src/llm/local/host/client.ts';
import { eventually } from '../../support/eventually.ts';
import { type RandomModelOptions, writeRandomModel } from '../../support/randomModel.ts';
import { buildWorker, firstContextVariable, rejection, stopAt, Talk } from './setup.ts';

interface Kind extends Pick<LocalModelClientOptions, 'fullCache'> {
  model: RandomModelOptions;
  /** What is read again when the context has grown: nothing, or all of it. */
  again: 'nothing' | 'all';
}

const window = 64;
/** Tokens that a context has at first here. */
const first = 2048;
const models: Record<string, Kind> = {
  usual: { model: {}, again: 'nothing' },
  'sliding window': { model: { window }, fullCache: false, again: 'nothing' },
  'sliding window, of which all is kept': { model: { window }, again: 'nothing' },
  // What it has read in a small context would be believed in a large one, and mean something else.
  'positions that are scaled': { model: { scaledBeyond: first }, again: 'all' },
};

/** So many tokens of such a model, which is a letter each. */
const letters = (tokens: number, from: string): string => {
  let at = from.charCodeAt(0);
  const letter = () => {
    at = (at * 75 + 74) % 65_537;
    return String.fromCharCode(97 + (at % 26));
  };
  return Array.from({ length: tokens }, letter).join('');
};

const isGrowing = /^Extending the context for a longer conversation$/;
const request = { tools: [], temperature: 0, maxTokens: 8, systemPrompt: 'Along the canal.' };

describe('the context of a local model', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'grows-'));
  const states = path.join(folder, 'model-states');
  const runs = path.join(folder, 'runs');
  const counted: string[] = [];
  const made: LocalModelClient[] = [];
  let logged: string[] = [];
  const file = (name: string) => path.join(folder, `${name}.gguf`);
  before(async () => {
    await buildWorker();
    for (const [name, { model }] of Object.entries(models))
      writeRandomModel(file(name), { layers: 2, focus: 16, ...model });
    for (const run of ['one', 'two']) mkdirSync(path.join(runs, run), { recursive: true });
  });
  beforeEach(() => {
    process.env[firstContextVariable] = String(first);
    rmSync(states, { recursive: true, force: true });
    logged = [];
  });
  afterEach(async () => {
    for (const one of made.splice(0)) await one.dispose();
    const left = readdirSync(folder).includes('model-states') ? readdirSync(states) : [];
    assert.deepEqual(
      left.filter((name) => /^carried-/.test(name)),
      [],
    );
  });
  after(() => {
    delete process.env[firstContextVariable];
    rmSync(folder, { recursive: true });
    console.log(`\n    tokens read of a prompt\n${counted.map((line) => `      ${line}`).join('\n')}\n`);
  });

  const begin = async (name: string, more: Partial<LocalModelClientOptions> = {}): Promise<LocalModelClient> => {
    const client = createLocalModelClient({
      workerPath: await buildWorker(),
      modelPath: file(name),
      threads: 1,
      gpu: false,
      chatWrapper: 'qwen',
      fullCache: models[name]!.fullCache,
      onLog: (line) => logged.push(line),
      ...more,
    });
    made.push(client);
    return client;
  };
  const keep = () => ({ folder: states, folders: [], runs, bytes: 1e9, restMs: 10, share: 1e9 });
  const talkOf = (client: LocalModelClient, cacheKey: string) => new Talk(client, { ...request, cacheKey });
  const read = ({ last: { usage } }: Talk) => usage!.promptTokens - (usage!.cachedTokens ?? 0);
  const sizes = () => logged.flatMap((line) => /^context of .* has (\d+) now/.exec(line)?.[1] ?? []);
  /** What is said by whoever has read the whole of it at once, in a context of 4,096. */
  const fresh = async (name: string, { messages, last }: Talk): Promise<string> => {
    const client = await begin(name, { onLog: () => {} });
    const isLarge = last.usage!.promptTokens > first; // and makes it so itself
    if (!isLarge) await talkOf(client, 'another').ask(letters(2250, 'a'));
    const talk = talkOf(client, 'fresh');
    talk.messages.push(...messages.slice(0, -1));
    const { content } = await talk.ask();
    return content;
  };

  for (const [name, { again }] of Object.entries(models))
    it(`${name}: grows with what both runs have read, and says what it would have said`, async () => {
      const client = await begin(name);
      const [one, two] = [talkOf(client, 'one'), talkOf(client, 'two')];
      await one.ask(letters(1000, 'o'));
      await two.ask(letters(750, 't'));
      assert.deepEqual(sizes(), []);
      const tell = (what: string, talk: Talk) =>
        counted.push(`${name}, ${what}: ${read(talk)} of ${talk.last.usage!.promptTokens}`);
      for (const [what, talk, more] of [
        ['it grows for this run', one, 1250],
        ['the run beside it', two, 250],
      ] as const) {
        const before = talk.last.usage!.promptTokens;
        await talk.ask(letters(more, what));
        tell(what, talk);
        const added = talk.last.usage!.promptTokens - before;
        if (again === 'all') assert.equal(talk.last.usage!.cachedTokens, 0);
        else assert.ok(read(talk) <= added + 40, `${read(talk)} of ${added} new ones`);
        assert.equal(talk.last.content, await fresh(name, talk));
      }
      assert.deepEqual(sizes(), ['4096']);
    });

  it('begins as large as its first prompt needs it', async () => {
    const few = 'along the canal the boat is pulled '.repeat(125); // of a model of letters it is four times as many tokens
    await talkOf(await begin('usual'), 'one').ask(few.slice(0, 4250));
    assert.match(logged.join('\n'), /, context 4096 tokens × 2$/m);
  });

  it('begins as large as what is kept of the run needs it: after a reload nothing is read again', async () => {
    const client = await begin('usual', { keep });
    const talk = talkOf(client, 'one');
    await talk.ask(letters(1000, 'o'));
    await talk.ask(letters(1250, 'p'));
    await client.dispose();
    const next = talkOf(await begin('usual', { keep }), 'one');
    next.messages.push(...talk.messages.slice(0, 2));
    await next.ask(letters(100, 'q'));
    assert.ok(read(next) <= 200, `${read(next)}`);
    assert.equal(next.last.content, await fresh('usual', next));
  });

  it('has one run in it where the others are on disk: each goes on from what it had read', async () => {
    const client = await begin('usual', { keep });
    const [one, two] = [talkOf(client, 'one'), talkOf(client, 'two')];
    await one.ask(letters(1000, 'o'));
    await two.ask(letters(750, 't'));
    await one.ask(letters(1250, 'p'));
    for (const talk of [two, one]) {
      await talk.ask(letters(50, 'q'));
      assert.ok(read(talk) <= 100, `${read(talk)}`);
      assert.equal(talk.last.content, await fresh('usual', talk));
    }
    assert.deepEqual([logged.filter((line) => /tokens × 1$/.test(line)).length, sizes()], [1, ['4096']]);
  });

  it('never grows beyond what memory has: the prompt is refused, with what would help', async () => {
    const client = await begin('usual', { memory: 0 });
    const talk = talkOf(client, 'one');
    await talk.ask(letters(100, 'a'));
    for (let turn = 0; turn < 20; turn++)
      talk.messages.push({ role: 'user', content: 'Go on.' }, { role: 'assistant', content: letters(100, 'b') });
    assert.deepEqual(await client.listModels!(), [{ id: 'usual', contextWindow: 2048 }]);
    const { code, message } = await rejection(talk.ask('Go on.'));
    assert.equal(code, 'LLM_CONTEXT_OVERFLOW');
    assert.match(message, /space for 2,048.* Start a new run, or pick a model with a larger context window\.$/);
  });

  it('two that need more at once are both answered, and one that is at work is not disturbed', async () => {
    const client = await begin('usual');
    const [one, two, three] = ['one', 'two', 'three'].map((key) => talkOf(client, key)) as [Talk, Talk, Talk];
    three.request.maxTokens = 200;
    await one.ask('Go on.');
    await Promise.all([three.ask('Write.'), one.ask(letters(2250, 'o')), two.ask(letters(4250, 't'))]);
    assert.equal(sizes().at(-1), '8192');
    for (const talk of [one, two, three]) assert.notEqual(talk.last.content, '');
    assert.equal(one.last.content, await fresh('usual', one));
  });

  it('Stop while it grows: the next words are answered', async () => {
    const client = await begin('usual');
    const talk = talkOf(client, 'one');
    await talk.ask(letters(1000, 'o'));
    await stopAt(talk, letters(1250, 'p'), ({ progress }) => isGrowing.test(progress?.text ?? ''));
    await talk.ask();
    assert.equal(talk.last.content, await fresh('usual', talk));
  });

  /** Kills the process as soon as the context grows, so many times. */
  const killing = async (talk: Talk, client: LocalModelClient, times: number, text: string) => {
    talk.messages.push({ role: 'user', content: text });
    let killed = 0;
    let content = '';
    for await (const chunk of client.chatStream(talk.next())) {
      if (isGrowing.test(chunk.progress?.text ?? '') && killed < times) {
        killed++;
        process.kill(client.pid()!, 'SIGKILL');
      }
      content += chunk.content ?? '';
    }
    talk.messages.push({ role: 'assistant', content });
    return { killed, content };
  };

  it('killed at it again and again: the message is answered from a context that is as small as any', async () => {
    process.env[firstContextVariable] = '4096'; // of a smaller one, what is left out would be no room for a reply
    const client = await begin('usual');
    const talk = talkOf(client, 'one');
    await talk.ask('Go on.');
    talk.messages.push({ role: 'assistant', content: letters(2050, 'o') });
    talk.messages.push({ role: 'user', content: letters(2050, 'p') }, { role: 'assistant', content: 'And then?' });
    const { killed, content } = await killing(talk, client, 9, 'Go on.');
    assert.deepEqual([killed, content.length > 0, sizes()], [2, true, []]);
    assert.match(logged.join('\n'), /context 4096 tokens × \d$/m);
    await client.unload();
    await talk.ask('Go on.');
    assert.deepEqual(
      [sizes(), read(talk) > 4000],
      [['8192'], true],
      'it is tried again when the model is loaded again',
    );
  });

  it('killed while it grows: the message is answered by the next process, from what is on disk', async () => {
    const client = await begin('usual', { keep });
    const talk = talkOf(client, 'one');
    await talk.ask(letters(1000, 'o'));
    await eventually('it is kept', () => logged.some((line) => line.startsWith('kept on disk')));
    const { killed, content } = await killing(talk, client, 1, letters(1250, 'p'));
    assert.equal(killed, 1);
    assert.ok(
      logged.some((line) => /^took 10\d\d tokens of one from disk/.test(line)),
      logged.join('\n'),
    );
    assert.equal(content, await fresh('usual', talk));
  });
});
