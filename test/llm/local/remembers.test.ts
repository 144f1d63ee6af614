import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ChatRequest } from '../../../src/llm/core/client.ts';
import { writeScriptedModel } from '../../../src/llm/local/demo/scriptedModel.ts';
import {
  createLocalModelClient,
  type LocalModelClient,
  type LocalModelClientOptions,
} from '../../../src/llm/local/host/client.ts';
import type { AssistantMessage } from '../../../src/protocol/content/messages.ts';
import { type ToolDefinition, toToolResult } from '../../../src/protocol/content/tools.ts';
import { eventually } from '../../support/eventually.ts';
import { writeRandomModel } from '../../support/randomModel.ts';
import { testScript } from '../../support/scripted.ts';
import { buildWorker, Talk, tools } from './setup.ts';

const words = ['along', ' the', ' canal'];
const way = { type: 'string', enum: ['along', ' the', ' canal'] };
const pull: ToolDefinition = {
  name: 'boat.pull',
  description: 'along the canal',
  parameters: { type: 'object', properties: { way }, required: ['way'], additionalProperties: false },
};
const random = { tools: [pull], temperature: 0, maxTokens: 16, systemPrompt: 'along the canal '.repeat(30) };
const canary = 'xyzzy-canary-7391';

/** By how their memory is made. */
const models: Record<string, { write(file: string): void; request: Partial<ChatRequest>; fullCache?: false }> = {
  scripted: { write: (file) => writeScriptedModel(testScript(tools), file), request: {} },
  usual: { write: (file) => writeRandomModel(file, { layers: 2, words }), request: random },
  'sliding window': {
    write: (file) => writeRandomModel(file, { layers: 2, words, window: 64 }),
    request: random,
    fullCache: false,
  },
};

const letters = [...'abcdefghijklmnopqrstuvwxyz'];
/** One state stands for all that they have read: it cannot be cut back. */
const recurrent: typeof models = Object.fromEntries(
  (['recurrent', 'hybrid'] as const).map((memory) => [
    memory,
    {
      write: (file) => writeRandomModel(file, { layers: 2, words: letters, saysWords: true, memory, focus: 8 }),
      request: { tools: [], temperature: 0, maxTokens: 16, systemPrompt: 'along the canal '.repeat(40) },
    },
  ]),
);
const all = { ...models, ...recurrent };

describe('a local model remembers', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'remembers-'));
  const states = path.join(folder, 'model-states');
  const runs = path.join(folder, 'runs');
  const counted: string[] = [];
  const made: LocalModelClient[] = [];
  let logged: string[] = [];
  const file = (name: string) => path.join(folder, `${name}.gguf`);
  before(async () => {
    await buildWorker();
    for (const [name, { write }] of Object.entries(all)) write(file(name));
    for (const run of ['run-1', 'run-2', 'run-3', 'run-4']) mkdirSync(path.join(runs, run), { recursive: true });
  });
  beforeEach(() => {
    rmSync(states, { recursive: true, force: true });
    logged = [];
  });
  afterEach(async () => {
    for (const one of made.splice(0)) await one.dispose();
  });
  after(() => {
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
      fullCache: all[name]!.fullCache,
      keep: () => ({ folder: states, folders: [], runs, bytes: 1e9, restMs: 10, share: 1e9 }),
      onLog: (line) => logged.push(line),
      ...more,
    });
    made.push(client);
    return client;
  };
  const read = ({ last: { usage } }: Talk) => usage!.promptTokens - (usage!.cachedTokens ?? 0);
  const kept = async (run = 'run-1') => {
    const isSaid = (line: string) => line.startsWith(`kept on disk what was read of ${run}:`);
    await eventually(`${run} is kept`, () => logged.some(isSaid));
  };
  /** The same conversation with another client, as after a reload. */
  const on = (client: LocalModelClient, { messages }: Talk, request: Partial<ChatRequest>): Talk => {
    const talk = new Talk(client, request);
    talk.messages.push(...messages);
    return talk;
  };
  const killed = async (client: LocalModelClient) => {
    process.kill(client.pid()!, 'SIGKILL');
    await eventually('the process is gone', () => client.pid() === undefined);
  };

  /** What may happen between two messages of a run; the client that the next one goes to. */
  const between: Record<string, (client: LocalModelClient, name: string) => Promise<LocalModelClient>> = {
    'a question': async (client) => {
      await kept(); // whoever is asked takes longer
      return client;
    },
    'a reload': async (client, name) => {
      await client.dispose();
      return begin(name);
    },
    'a kill of the model': async (client) => {
      await kept();
      await killed(client);
      return client;
    },
    'a kill of the editor': async (client, name) => {
      await kept();
      await killed(client);
      return begin(name);
    },
    'being unloaded': async (client) => {
      assert.equal(await client.unload(), true);
      return client;
    },
    'two runs in its place': async (client, name) => {
      for (const cacheKey of ['run-2', 'run-3'])
        await new Talk(client, {
          ...all[name]!.request,
          cacheKey,
          systemPrompt: `${cacheKey} ${'canal '.repeat(150)}`,
        }).ask('hi');
      return client;
    },
  };

  for (const [name, { request }] of Object.entries(models))
    it(`${name}: whatever happens between two messages, only what is new is read`, async function () {
      this.timeout(900_000); // seven processes load it, on however busy a machine
      let client = await begin(name);
      let talk = new Talk(client, { ...request, toolChoice: 'required', maxTokens: 64 });
      const tell = (what: string) =>
        counted.push(`${name}, ${what}: ${read(talk)} of ${talk.last.usage!.promptTokens}`);
      await talk.ask(`[[write]] ${canary}`);
      tell('the first message');
      assert.ok(talk.last.toolCalls.length > 0);
      for (const [what, happens] of Object.entries(between)) {
        const before = talk.last.usage!.promptTokens;
        client = await happens(client, name);
        const results = talk.last.toolCalls.map(() => ({ ok: true, data: {} }) as const);
        talk.answer(...results);
        talk = on(client, talk, request);
        logged = [];
        await talk.ask(results.length > 0 ? undefined : 'hi');
        tell(`after ${what}`);
        // What random weights wrote is no text, and is told otherwise than it was written.
        const own = name === 'scripted' ? 1 : 40;
        assert.ok(read(talk) <= talk.last.usage!.promptTokens - before + own, `after ${what}: ${read(talk)}`);
        assert.deepEqual(talk.last.warnings, []);
      }
      await client.unload();
      for (const name of readdirSync(states)) {
        assert.equal(statSync(path.join(states, name)).mode & 0o777, 0o600, name);
        assert.ok(!readFileSync(path.join(states, name), 'latin1').includes(canary), name);
      }
      talk = new Talk(client, { ...request, cacheKey: 'run-4' });
      await talk.ask('along');
      tell('a new run');
      // Of a memory that cannot be cut back the beginning is not to be had alone.
      if (name !== 'sliding window') assert.ok(read(talk) < 40, `${read(talk)}`);
    });

  for (const [name, { request }] of Object.entries(recurrent))
    for (const how of ['the same tokens', 'other tokens'])
      it(`${name}: a reply that comes back with ${how} costs no more than what is new`, async function () {
        this.timeout(900_000);
        let client = await begin(name);
        let talk = new Talk(client, request);
        const reader = await begin(name, { keep: undefined });
        await talk.ask('hello');
        for (const [what, happens] of Object.entries(between)) {
          const { promptTokens } = talk.last.usage!;
          client = await happens(client, name);
          talk = on(client, talk, request);
          if (how === 'other tokens') talk.messages.at(-1)!.content = 'Said otherwise.';
          const anew = on(reader, talk, { ...request, cacheKey: undefined });
          logged = [];
          const { content } = await talk.ask('and on');
          const { usage } = talk.last;
          counted.push(`${name}, ${how}, after ${what}: ${read(talk)} of ${usage!.promptTokens}`);
          const fromReply = usage!.promptTokens - promptTokens + 1;
          const most = how === 'the same tokens' ? fromReply - request.maxTokens! + 1 : fromReply;
          assert.ok(read(talk) <= most, `after ${what}: ${read(talk)} of at most ${most}`);
          assert.equal(content, (await anew.ask('and on')).content, `after ${what}`);
        }
      });

  it('recurrent: the thinking of an answer may be left out when the next message comes', async () => {
    const client = await begin('recurrent');
    const talk = new Talk(client, recurrent.recurrent!.request);
    await talk.ask('hello');
    const { promptTokens } = talk.last.usage!;
    (talk.messages.at(-1) as AssistantMessage).toolCalls = [
      { id: '1', name: 'boat.pull', arguments: { way: 'along' } },
    ];
    talk.messages.push({ role: 'tool', content: '', toolResults: [toToolResult('1', { ok: true, data: {} })] });
    await talk.ask();
    await kept();
    await killed(client);
    talk.messages.find(({ role }) => role === 'assistant')!.content = 'Said otherwise.';
    await talk.ask('and on');
    const { usage } = talk.last;
    counted.push(`recurrent, without its thinking, after a kill: ${read(talk)} of ${usage!.promptTokens}`);
    assert.ok(read(talk) <= usage!.promptTokens - promptTokens + 1, `${read(talk)}`);
  });

  it('fifty runs, one after the other, stay within their limit on disk', async () => {
    const bytes = 1e6;
    const client = await begin('usual', {
      keep: () => ({ folder: states, folders: [], runs, bytes, restMs: 60_000, share: 1e9 }),
    });
    const onDisk = () => {
      const files = readdirSync(states).filter((name) => name.endsWith('.state'));
      return {
        files: files.length,
        bytes: files.reduce((sum, name) => sum + statSync(path.join(states, name)).size, 0),
      };
    };
    for (let index = 0; index < 50; index++) {
      const cacheKey = `many-${index}`;
      mkdirSync(path.join(runs, cacheKey));
      await new Talk(client, { ...random, cacheKey, systemPrompt: `${index} ${'canal '.repeat(60)}`, tools: [] }).ask(
        'hi',
      );
      if (existsSync(states)) assert.ok(onDisk().bytes <= bytes, `${onDisk().bytes} bytes after run ${index}`);
    }
    await client.unload();
    const left = onDisk();
    assert.ok(left.files > 1 && left.files < 50 && left.bytes <= bytes, JSON.stringify(left));
    counted.push(`usual, on disk after 50 runs: ${left.bytes} bytes of ${bytes}, of ${left.files} runs`);
  });

  it('what it dies of is removed, and the message is answered by the next process', async () => {
    const worker = path.join(folder, 'dies.mjs');
    const [state, about] = ['state', 'json'].map((ending) => path.join(states, `run-1.1.${ending}`));
    mkdirSync(states, { recursive: true });
    for (const one of [state!, about!]) writeFileSync(one, '');
    writeFileSync(
      worker,
      `import { existsSync } from 'node:fs';
      const file = ${JSON.stringify(state)};
      const done = { type: 'done', finish: 'stop', spoken: ['Hello'], form: '', tokens: { prompt: 1, cached: 0, completion: 1, thinking: 0 } };
      process.on('message', ({ type, id }) => {
        if (type === 'load') process.send({ type: 'loaded', contextSize: 8192 });
        if (type !== 'generate') return;
        if (!existsSync(file)) return void process.send({ id, ...done });
        process.send({ type: 'restoring', id, file }, () => process.kill(process.pid, 'SIGSEGV'));
      });`,
    );
    const client = await begin('usual', { workerPath: worker });
    await new Talk(client).ask('hi');
    assert.deepEqual(readdirSync(states), []);
  });
});
