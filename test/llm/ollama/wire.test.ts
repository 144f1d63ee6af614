import assert from 'node:assert/strict';
import type { ChatRequest } from '../../../src/llm/core/client.ts';
import {
  defaultOllamaModelCapabilities,
  learnOllamaModelCapability,
  ollamaContextSize,
  toOllamaModel,
} from '../../../src/llm/ollama/model.ts';
import { promptTruncationWarning } from '../../../src/llm/ollama/truncation.ts';
import { type OllamaConversionOptions, toOllamaWireRequest } from '../../../src/llm/ollama/wire.ts';
import type { Message } from '../../../src/protocol/content/messages.ts';
import { toEnglishText } from '../../../src/protocol/text/l10n.ts';
import { call, results, user } from '../../support/messages.ts';

const readTool = { name: 'fs.read', description: 'Reads.', parameters: { type: 'object' } };
const able = { tools: true, thinking: true, vision: true, thinkingLevels: false };

const wire = (request: Partial<ChatRequest>, options: Partial<OllamaConversionOptions> = {}) =>
  toOllamaWireRequest({ model: 'm', messages: [user('hi')], ...request }, { model: able, ...options });
const messages = (...list: Message[]) => wire({ messages: list }).body.messages;
const wireCall = (path: string) => ({ function: { name: 'fs_read', arguments: { path } } });

describe('a request to Ollama', () => {
  it('is as small as what was asked', () => {
    assert.deepEqual(wire({}).body, {
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
      stream: true,
      truncate: false,
      shift: false,
    });
  });

  it('has every setting in its place', () => {
    const request: Partial<ChatRequest> = {
      systemPrompt: 'Be brief.',
      tools: [readTool],
      temperature: 0,
      topP: 0.5,
      maxTokens: 100,
      stopSequences: ['END'],
      thinkingBudget: 1000,
      responseFormat: { type: 'json_schema', name: 'x', schema: { type: 'object' } },
    };
    assert.deepEqual(wire(request, { contextSize: 32_768, keepAlive: '10m' }), {
      body: {
        model: 'm',
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'hi' },
        ],
        tools: [
          { type: 'function', function: { name: 'fs_read', description: 'Reads.', parameters: { type: 'object' } } },
        ],
        think: true,
        format: { type: 'object' },
        options: { temperature: 0, top_p: 0.5, num_predict: 1100, stop: ['END'], num_ctx: 32_768 },
        keep_alive: '10m',
        stream: true,
        truncate: false,
        shift: false,
      },
      warnings: [],
      notes: [],
    });
    assert.equal(wire({ responseFormat: { type: 'json_object' } }).body.format, 'json');
  });

  it('says what the model cannot do, and leaves it out', () => {
    const image = { mediaType: 'image/png', data: 'AAAA' };
    const request = {
      tools: [readTool],
      thinkingBudget: 1000,
      messages: [{ role: 'user' as const, content: 'hi', attachments: [image] }],
    };
    const { body, warnings, notes } = wire(request, {
      model: { tools: false, thinking: false, vision: false, thinkingLevels: false },
    });
    assert.deepEqual(
      [body.tools, body.think, body.messages],
      [undefined, undefined, [{ role: 'user', content: 'hi' }]],
    );
    assert.deepEqual(warnings.map(toEnglishText), [
      'm cannot call tools in Ollama, so it answers without them. Pick a model that can.',
      'm does not accept images, so they are left out. Pick a model that does.',
    ]);
    assert.deepEqual(notes, ['m has no setting for a thinking budget here; it is ignored.']);
    const unknown = wire(request, { model: defaultOllamaModelCapabilities });
    assert.deepEqual([unknown.body.think, unknown.warnings], [true, []]);
    assert.deepEqual(unknown.body.messages, [{ role: 'user', content: 'hi', images: ['AAAA'] }]);
  });

  it('has a text file as part of what is said, and says which files are left out', () => {
    const text = { mediaType: 'text/plain', data: Buffer.from('größer').toString('base64'), name: 'notes.txt' };
    const paper = { mediaType: 'application/pdf', data: 'AAAA' };
    const { body, warnings } = wire({ messages: [{ role: 'user', content: 'see', attachments: [text, paper] }] });
    assert.deepEqual(body.messages, [{ role: 'user', content: 'notes.txt:\ngrößer\n\nsee' }]);
    assert.deepEqual(warnings.map(toEnglishText), [
      'Ollama accepts texts and images only. The other files were left out.',
    ]);
  });

  it('notes that nothing can make a model call a tool', () => {
    const { notes } = wire({ tools: [readTool], toolChoice: 'required' });
    assert.deepEqual(notes, ['Ollama cannot make m call a tool; it may answer without one.']);
  });

  it('has no tools when none must be called', () => {
    assert.equal(wire({ tools: [readTool], toolChoice: 'none' }).body.tools, undefined);
  });

  it('asks gpt-oss for a level', () => {
    const levels = [1000, 5000, 50_000, 0].map(
      (thinkingBudget) => wire({ thinkingBudget }, { model: { ...able, thinkingLevels: true } }).body.think,
    );
    assert.deepEqual(levels, ['low', 'medium', 'high', undefined]);
  });

  it('tells a conversation: results name their tool, what lacks is mended', () => {
    const told = messages(
      user('go'),
      { role: 'assistant', content: 'Reading.', toolCalls: [call('1'), call('2', 'b')] },
      results('2', '9'),
      user('and'),
      {
        role: 'user',
        content: 'this',
        attachments: [
          { mediaType: 'image/png', data: 'BBBB' },
          { mediaType: 'application/pdf', data: 'CCCC' },
        ],
      },
      { role: 'assistant', content: '' },
      { role: 'assistant', content: 'Done \ud83d' },
    );
    const lost = 'Stopped before there was a result; it may or may not have run.';
    assert.deepEqual(told, [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'Reading.', tool_calls: [wireCall('a'), wireCall('b')] },
      {
        role: 'tool',
        tool_name: 'fs_read',
        content: `{"ok":false,"error":{"code":"TOOL_INTERRUPTED","message":"${lost}"}}`,
      },
      { role: 'tool', tool_name: 'fs_read', content: '{"ok":true,"data":"2"}' },
      { role: 'user', content: 'and\n\nthis', images: ['BBBB'] },
      { role: 'assistant', content: 'Done \uFFFD' },
      { role: 'user', content: 'Continue.' },
    ]);
  });

  it('gives thinking back to Ollama only, and malformed calls without arguments', () => {
    const thought: Message = {
      role: 'assistant',
      content: 'a',
      thinking: 'hm',
      native: { provider: 'ollama', content: {} },
    };
    assert.deepEqual(messages(thought)[0], { role: 'assistant', content: 'a', thinking: 'hm' });
    const foreign: Message = { ...thought, native: { provider: 'google', content: {} } };
    assert.deepEqual(messages(foreign)[0], { role: 'assistant', content: 'a' });
    const damaged = { id: '1', name: 'fs.read', arguments: {}, malformed: '{"pa' };
    const [turn] = messages({ role: 'assistant', content: '', toolCalls: [damaged] });
    assert.deepEqual(turn, {
      role: 'assistant',
      content: '',
      tool_calls: [{ function: { name: 'fs_read', arguments: {} } }],
    });
  });
});

describe('a model of Ollama', () => {
  it('is what show says', () => {
    const shown = {
      capabilities: ['completion', 'tools'],
      details: { family: 'gptoss', families: ['gptoss'] },
      model_info: { 'general.architecture': 'gptoss', 'gptoss.context_length': 131_072 },
      parameters: 'temperature                    1\nnum_ctx                        8192\nstop "x"',
    };
    const model = {
      tools: true,
      thinking: false,
      vision: false,
      thinkingLevels: true,
      maximumContext: 131_072,
      contextSize: 8192,
    };
    assert.deepEqual(toOllamaModel(shown), model);
    assert.deepEqual(
      [ollamaContextSize(model, undefined), ollamaContextSize(model, 16_384), ollamaContextSize(model, 1_000_000)],
      [8192, 16_384, 131_072],
    );
  });

  it('is unknown where show says nothing', () => {
    for (const shown of [null, [], {}, { error: 'x' }, { model_info: null, parameters: 3, details: 'x' }]) {
      assert.deepEqual(toOllamaModel(shown), { thinkingLevels: false });
    }
    assert.equal(ollamaContextSize(defaultOllamaModelCapabilities, undefined), undefined);
  });

  it('is learned from a refusal, once', () => {
    const learned = learnOllamaModelCapability(
      'registry.ollama.ai/library/gemma does not support tools',
      defaultOllamaModelCapabilities,
    );
    assert.deepEqual(learned, { thinkingLevels: false, tools: false });
    assert.equal(learnOllamaModelCapability('x does not support tools', learned!), undefined);
    assert.deepEqual(learnOllamaModelCapability('"x" does not support thinking', defaultOllamaModelCapabilities), {
      thinkingLevels: false,
      thinking: false,
    });
    assert.equal(learnOllamaModelCapability('invalid options', defaultOllamaModelCapabilities), undefined);
  });
});

describe('a prompt that Ollama cut', () => {
  const sent = (length: number) => [{ role: 'user' as const, content: 'x'.repeat(length) }];
  const cases: [says: string, length: number, tokens: number, window: number | undefined, told: RegExp | undefined][] =
    [
      ['fills the window', 40_000, 4090, 4096, /read 4,090 tokens, all that its window of 4,096 holds/],
      ['is much less than what was sent', 100_000, 3000, undefined, /only 3,000 tokens of 100,000 characters/],
      ['is a usual prompt otherwise', 12_000, 3000, 4096, undefined],
      ['is a usual prompt where the window is not known', 12_000, 3000, undefined, undefined],
      ['is not seen where the server does not count', 100_000, 0, undefined, undefined],
      ['is not a short one', 40, 1, undefined, undefined],
    ];
  for (const [says, length, tokens, window, told] of cases) {
    it(says, () => {
      const sentence = promptTruncationWarning(sent(length), tokens, window);
      if (told) assert.match(sentence ? toEnglishText(sentence) : '', told);
      else assert.equal(sentence, undefined);
    });
  }
});
