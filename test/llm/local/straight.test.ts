import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ChatRequest } from '../../../src/llm/core/client.ts';
import { createLocalModelClient, type LocalModelClient } from '../../../src/llm/local/host/client.ts';
import { chatWrappers } from '../../../src/llm/local/ipc/chatWrappers.ts';
import { writeRandomModel } from '../../support/randomModel.ts';
import { tries } from '../../support/tries.ts';
import { buildWorker, Talk } from './setup.ts';

// Random weights say anything: what comes out right was made so.
const rounds = tries(1, 5);

const answer = {
  type: 'object',
  properties: {
    'größe 🚣': { enum: ['groß', 'klein'] },
    ready: { type: 'boolean' },
    left: { type: 'boolean' },
    list: { type: 'array', items: { type: 'boolean' }, maxItems: 2 },
  },
  required: ['größe 🚣', 'ready'],
};
const vote = {
  name: 'town.vote',
  description: 'Votes.',
  parameters: { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] },
};

describe('a model that says anything, held to a form', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'straight-'));
  const modelPath = path.join(folder, 'random.gguf');
  const logged: string[] = [];
  let client: LocalModelClient;
  before(async () => {
    writeRandomModel(modelPath, { words: ['along', ' the', ' canal'] });
    await buildWorker();
  });
  after(() => rmSync(folder, { recursive: true }));
  afterEach(() => client.dispose());

  const begin = async (chatWrapper: (typeof chatWrappers)[number] = 'auto') => {
    logged.length = 0;
    client = createLocalModelClient({
      workerPath: await buildWorker(),
      modelPath,
      contextSize: 4096,
      threads: 1,
      gpu: false,
      chatWrapper,
      onLog: (line) => logged.push(line),
    });
  };
  const talk = (more: Partial<ChatRequest>) => new Talk(client, { tools: [], maxTokens: 300, ...more });

  it('knows the names of the engine, but the one that needs a template', async () => {
    await begin();
    const { resolvableChatWrapperTypeNames: names } = await import('node-llama-cpp');
    assert.deepEqual([...chatWrappers, 'template'].sort(), [...names].sort());
  });

  for (const wrapper of chatWrappers)
    it(`answers as a schema has it, and calls when it must: ${wrapper}`, async () => {
      await begin(wrapper);
      const asked = talk({ responseFormat: { type: 'json_schema', name: 'size', schema: answer } });
      for (let round = 0; round < rounds; round++) {
        const { content, thinking } = await asked.ask('How large?');
        assert.equal(thinking, undefined);
        const value = JSON.parse(content) as Record<string, unknown>;
        assert.deepEqual(Object.keys(value).slice(0, 2), ['größe 🚣', 'ready'], content);
        assert.ok(!Object.values(value).includes(null), content);
        assert.equal(asked.last.finishReason, 'stop');
      }
      const must = talk({ tools: [vote], toolChoice: 'required' });
      const { content, toolCalls = [] } = await must.ask('Vote.');
      assert.deepEqual({ content, name: toolCalls[0]?.name }, { content: '', name: 'town.vote' });
      assert.equal(typeof toolCalls[0]?.arguments.yes, 'boolean');
      assert.ok(
        logged.some((line) => line.startsWith(`chat wrapper: ${wrapper} is `)),
        logged.join('\n'),
      );
    });

  it('answers with one JSON object when asked for JSON', async () => {
    await begin();
    const asked = talk({ responseFormat: { type: 'json_object' } });
    await asked.ask('How large?');
    assert.match(asked.last.content, /^\{/);
  });

  it('has no format beside tools, and says so once', async () => {
    await begin();
    const asked = talk({ tools: [vote], responseFormat: { type: 'json_object' } });
    const warning = 'The local model follows a format only without tools, so the format is left out.';
    await asked.ask('How large?');
    assert.deepEqual(asked.last.warnings, [warning]);
    await asked.ask('How large?');
    assert.deepEqual(asked.last.warnings, []);
  });

  it('sees no images, says so once, and is told that there was one', async () => {
    await begin();
    const asked = talk({});
    const attachments = [
      { mediaType: 'image/png', data: 'iVBORw0KGgo=', name: 'screen.png' },
      { mediaType: 'text/plain', data: Buffer.from('along').toString('base64'), name: 'notes.txt' },
    ];
    asked.messages.push({ role: 'user', content: 'Look.', attachments });
    await asked.ask();
    assert.deepEqual(asked.last.warnings, ['The local model does not accept images, so they are left out.']);
    await asked.ask('And now?');
    assert.deepEqual(asked.last.warnings, []);
  });
});
