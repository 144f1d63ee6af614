import assert from 'node:assert/strict';
import { copyFileSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ChatStreamChunk } from '../../../../src/llm/core/client.ts';
import {
  createLocalModelClient,
  type LocalModelClient,
  type LocalModelClientOptions,
} from '../../../../src/llm/local/host/client.ts';
import type { ChatWrapperName } from '../../../../src/llm/local/ipc/chatWrappers.ts';
import { failedToolOutcome } from '../../../../src/protocol/content/tools.ts';
import { badArguments, said, testScript } from '../../../support/scripted.ts';
import { localModel, rejection, stopAt, Talk, tools } from '../setup.ts';

const fileRead = { ok: true, data: { text: 'export const a = 1;\n' } } as const;

describe('a local model', () => {
  let client: LocalModelClient;
  let options: LocalModelClientOptions;
  let close: () => Promise<void>;
  before(async () => {
    ({ client, options, close } = await localModel(testScript(tools)));
  });
  after(() => close());

  it('answers, and says what it cost', async () => {
    const talk = new Talk(client);
    assert.deepEqual(await talk.ask('hi'), { role: 'assistant', content: said.hello });
    assert.equal(talk.last.finishReason, 'stop');
    const { promptTokens, completionTokens, totalTokens } = talk.last.usage!;
    assert.ok(promptTokens > 500 && completionTokens > 1, JSON.stringify(talk.last.usage));
    assert.equal(totalTokens, promptTokens + completionTokens);
  });

  it('shows that it loads and reads before the first word', async () => {
    const fresh = createLocalModelClient({ ...options, label: 'Small' });
    try {
      const talk = new Talk(fresh);
      await talk.ask('hi');
      const shown = talk.chunks.map((chunk) => chunk.progress?.text.split(/[,:]/)[0] ?? (chunk.content ? 'text' : ''));
      assert.deepEqual(
        shown.filter((text, index) => text && text !== shown[index - 1]),
        ['Loading Small', 'Reading prompt', 'text'],
      );
      assert.ok(talk.chunks.some(({ progress }) => /^Reading prompt: \d+%/.test(progress?.text ?? '')));
    } finally {
      await fresh.dispose();
    }
  });

  it('keeps its thinking apart', async () => {
    const talk = new Talk(client);
    const { content, thinking } = await talk.ask('[[think]]');
    assert.deepEqual({ content, thinking: thinking?.trim() }, { content: said.answer, thinking: said.thought });
    assert.ok(talk.last.usage!.thinkingTokens! > 0);
  });

  it('thinks no longer than it may', async () => {
    const talk = new Talk(client, { thinkingBudget: 4 });
    const { content, thinking } = await talk.ask('[[think]]');
    assert.ok(said.thought.startsWith(thinking!.trim()) && thinking!.trim().length < said.thought.length, thinking);
    assert.ok(talk.last.usage!.thinkingTokens! <= 4);
    assert.ok(content.length > 0);
  });

  it('does not think when thinking is off', async () => {
    const talk = new Talk(client, { thinkingOff: true });
    const { content, thinking } = await talk.ask('[[think]]');
    assert.equal(thinking?.trim() || undefined, undefined);
    assert.ok(content.length > 0);
  });

  it('calls nothing when it must not', async () => {
    const talk = new Talk(client, { toolChoice: 'none' });
    assert.deepEqual((await talk.ask('[[edit]]')).toolCalls, undefined);
  });

  it('calls a tool and goes on with its result, reading only what is new', async () => {
    const talk = new Talk(client, { cacheKey: 'edits' });
    const { content, toolCalls } = await talk.ask('[[edit]]');
    assert.equal(content, said.read);
    assert.deepEqual(
      toolCalls?.map(({ id, ...call }) => ({ ...call, id: id.startsWith('call_') })),
      [{ id: true, name: 'fs.read', arguments: { path: 'src/greet.js' } }],
    );
    assert.equal(talk.last.finishReason, 'tool_calls');

    const before = talk.last.usage!.promptTokens;
    await talk.answer(fileRead).ask();
    assert.equal(talk.last.content, said.edit);
    assert.equal(talk.last.toolCalls[0]?.name, 'fs.edit');
    assert.ok(talk.last.usage!.cachedTokens! > before, 'what the model wrote itself is not read again');

    await talk.answer({ ok: true, data: { path: 'src/greet.js' } }).ask();
    assert.equal(talk.last.content, said.edited);

    const whole = talk.last.usage!;
    await talk.ask('hi');
    assert.equal(talk.last.content, said.hello);
    assert.ok(talk.last.usage!.cachedTokens! > whole.promptTokens, 'nor is the conversation, at the next message');
  });

  it('tells a call in fragments, and whole as soon as it is complete', async () => {
    const talk = new Talk(client);
    await talk.ask('[[parallel]]');
    const [one, two] = talk.last.toolCalls;
    assert.deepEqual(
      [one, two].map((call) => [call?.name, call?.arguments]),
      [
        ['fs.read', { path: 'README.md' }],
        ['fs.write', { path: 'notes/parallel.md', content: 'Written beside a read.\n' }],
      ],
    );
    const told = talk.chunks.flatMap(({ toolCall, toolCallDelta }): string[] => {
      if (toolCall) return [`whole ${toolCall.name}`];
      return toolCallDelta ? [`fragment ${toolCallDelta.index} ${toolCallDelta.name ?? ''}`.trim()] : [];
    });
    assert.deepEqual(
      told.filter((step, index) => step !== told[index - 1]),
      ['fragment 0 fs.read', 'whole fs.read', 'fragment 1 fs.write', 'whole fs.write'],
    );
    const fragments = talk.chunks.flatMap(({ toolCallDelta }) => (toolCallDelta?.index === 1 ? [toolCallDelta] : []));
    assert.equal(fragments[0]?.id, two?.id);
    assert.equal(JSON.parse(fragments.map((one) => one.argumentsText).join('')).path, 'notes/parallel.md');
  });

  it('goes on after two results, also when it is told them in one message', async () => {
    const talk = new Talk(client);
    await talk.ask('[[parallel]]');
    const [one, two] = talk.answer(fileRead, { ok: true, data: {} }).messages.splice(-2);
    assert.ok(one?.role === 'tool' && two?.role === 'tool');
    talk.messages.push({ role: 'tool', content: '', toolResults: [...one.toolResults, ...two.toolResults] });
    await talk.ask();
    assert.equal(talk.last.content, said.both);
    assert.ok(talk.last.usage!.cachedTokens! > 0);
  });

  it('hears a no', async () => {
    const talk = new Talk(client);
    await talk.ask('[[write]]');
    assert.equal(talk.last.content, '');
    await talk.answer(failedToolOutcome('TOOL_DENIED', 'The person said no.')).ask();
    assert.equal(talk.last.content, said.denied);
  });

  it('is not told of a call that was never answered as if it had been', async () => {
    const talk = new Talk(client);
    await talk.ask('[[write]]');
    await talk.ask();
    assert.equal(talk.last.content, said.failed);
  });

  it('hands over a call that is no value of the schema as it was written', async () => {
    const talk = new Talk(client);
    const { content, toolCalls } = await talk.ask('[[bad]]');
    assert.equal(content, said.read);
    assert.deepEqual(
      toolCalls?.map(({ id, ...call }) => call),
      [{ name: 'fs.read', arguments: {}, malformed: badArguments }],
    );
    assert.equal(talk.last.finishReason, 'tool_calls');
    await talk.answer(failedToolOutcome('TOOL_ARGS_INVALID_JSON', 'offset: not a number')).ask();
    assert.equal(talk.last.content, said.failed);
  });

  it('talks with two runs at once and mixes nothing up', async () => {
    const runs = ['a', 'b'].map((cacheKey) => new Talk(client, { cacheKey }));
    await Promise.all([runs[0]!.ask('[[edit]]'), runs[1]!.ask('[[shell]]')]);
    await Promise.all(runs.map((talk) => talk.answer(fileRead).ask()));
    assert.deepEqual(
      runs.map((talk) => talk.last.content),
      [said.edit, said.ran],
    );
    for (const talk of runs) assert.ok(talk.last.usage!.cachedTokens! > 500, 'each has kept its own tokens');
  });

  it('serves more runs than it keeps tokens of', async () => {
    const runs = ['c', 'd', 'e', 'f'].map((cacheKey) => new Talk(client, { cacheKey }));
    const replies = await Promise.all(runs.map((talk) => talk.ask('hi')));
    assert.deepEqual(
      replies.map((reply) => reply.content),
      runs.map(() => said.hello),
    );
  });

  it('stops at the limit of tokens', async () => {
    const talk = new Talk(client, { maxTokens: 10 });
    await talk.ask('[[long]]');
    assert.equal(talk.last.finishReason, 'length');
    assert.match(talk.last.content, /^tick tock tack tick1 /);
    assert.equal(talk.last.usage!.completionTokens, 10);
  });

  it('fills its window, and no further', async () => {
    const small = createLocalModelClient({ ...options, contextSize: 1024 });
    try {
      const talk = new Talk(small, { tools: [] });
      await talk.ask('[[long]]');
      assert.equal(talk.last.finishReason, 'length');
      assert.ok(talk.last.usage!.totalTokens <= 1024, JSON.stringify(talk.last.usage));
    } finally {
      await small.dispose();
    }
  });

  it('calls a model of another provider back to mind', async () => {
    const talk = new Talk(client);
    talk.messages.push(
      { role: 'user', content: '[[edit]]' },
      {
        role: 'assistant',
        content: 'Reading.',
        thinking: 'Hm.',
        toolCalls: [{ id: 'toolu_1', name: 'fs.read', arguments: { path: 'src/greet.js' } }],
        native: { provider: 'anthropic', content: [{ type: 'thinking', signature: 'x' }] },
      },
      { role: 'tool', content: '', toolResults: [{ toolCallId: 'toolu_1', content: '{"ok":true,"data":{}}' }] },
    );
    await talk.ask('and now?');
    assert.equal(talk.last.content, said.hello);
  });

  describe('Stop', () => {
    it('while it loads ends the process, and the next message starts it again', async () => {
      const fresh = createLocalModelClient(options);
      try {
        const talk = new Talk(fresh);
        await stopAt(talk, 'hi', (chunk) => chunk.progress?.text.startsWith('Loading') ?? false);
        assert.equal(fresh.pid(), undefined);
        await talk.ask();
        assert.equal(talk.last.content, said.hello);
      } finally {
        await fresh.dispose();
      }
    });

    it('of one run while it loads does not take the model from another', async () => {
      const fresh = createLocalModelClient(options);
      try {
        const other = new Talk(fresh, { cacheKey: 'other' });
        const asked = other.ask('hi');
        await stopAt(new Talk(fresh), 'hi', (chunk) => chunk.progress !== undefined);
        await asked;
        assert.equal(other.last.content, said.hello);
      } finally {
        await fresh.dispose();
      }
    });

    for (const [place, text, when] of [
      ['while it reads', `${'along the canal '.repeat(1200)}`, (chunk) => (chunk.progress?.fraction ?? 0) > 0],
      ['while it writes', '[[long]]', (chunk) => chunk.content !== undefined],
    ] satisfies [string, string, (chunk: ChatStreamChunk) => boolean][])
      it(`${place} is at once, and the conversation goes on`, async () => {
        const talk = new Talk(client, { cacheKey: place });
        await stopAt(talk, text, when);
        talk.messages.pop();
        await talk.ask('hi');
        assert.equal(talk.last.content, said.hello);
      });

    it('before anything', async () => {
      const stopped = AbortSignal.abort(new Error('no'));
      await assert.rejects(new Talk(client).ask('hi', stopped), { message: 'no' });
    });
  });

  it('reads a conversation that was begun in another form as if it had written it', async () => {
    const begun = new Talk(client, { cacheKey: 'begun' });
    await begun.ask('[[parallel]]');
    begun.answer({ ok: true, data: 1 }, { ok: true, data: 2 });
    const read = async (chatWrapper: ChatWrapperName, native: boolean) => {
      const other = createLocalModelClient({ ...options, chatWrapper });
      try {
        const talk = new Talk(other, { maxTokens: 1 });
        talk.messages.push(...begun.messages.map((message) => (native ? message : { ...message, native: undefined })));
        await talk.ask();
        return talk.last.usage!.promptTokens;
      } finally {
        await other.dispose();
      }
    };
    assert.ok(begun.messages.some((message) => 'native' in message));
    assert.equal(await read('llama3.1', true), await read('llama3.1', false));
  });

  describe('says what is wrong with a file:', () => {
    const damage: [string, (file: string) => void, RegExp][] = [
      ['none', () => {}, /^There is no model file at .*none\.gguf\. Select another \.gguf file/],
      ['empty', (file) => writeFileSync(file, ''), /empty\.gguf is not a GGUF model file\. Select a \.gguf file\./],
      ['text', (file) => writeFileSync(file, 'Once upon a time'), /text\.gguf is not a GGUF model file/],
      ['only-a-head', (file) => writeFileSync(file, 'GGUF and then nonsense'), /only-a-head\.gguf could not be loaded/],
      [
        'cut-off',
        (file) => {
          copyFileSync(options.modelPath, file);
          truncateSync(file, 400_000);
        },
        /cut-off\.gguf could not be loaded: the file is damaged, cut off/,
      ],
      [
        'split-00001-of-00003',
        (file) => {
          copyFileSync(options.modelPath, file);
          copyFileSync(options.modelPath, file.replace('00001', '00003'));
        },
        /split into 3 files\. Missing: split-00002-of-00003\.gguf\. Put them there/,
      ],
      [
        'later-00002-of-00003',
        (file) => copyFileSync(options.modelPath, file),
        /later-00002-of-00003\.gguf is a later file of a model in 3 files\. Select its first one, later-00001-of-00003\.gguf\.$/,
      ],
    ];
    for (const [name, make, expected] of damage)
      it(name, async () => {
        const file = path.join(path.dirname(options.modelPath), `${name}.gguf`);
        make(file);
        const broken = createLocalModelClient({ ...options, modelPath: file });
        try {
          const error = await rejection(new Talk(broken).ask('hi'));
          assert.match(error.message, expected);
          assert.deepEqual((error.details as { path: string }).path, file);
          assert.equal(broken.pid(), undefined);
        } finally {
          await broken.dispose();
        }
      });
  });
});
