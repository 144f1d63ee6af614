import assert from 'node:assert/strict';
import type { ChatRequest } from '../../../src/llm/core/client.ts';
import type { JsonObject } from '../../../src/llm/core/json.ts';
import { toWireToolName } from '../../../src/llm/core/wireToolNames.ts';
import { toGoogleSchema } from '../../../src/llm/google/schema.ts';
import {
  type GooglePart,
  type GoogleRequestRestrictions,
  learnGoogleRequestRestriction,
  toGoogleFunctionName,
  toGoogleWire,
} from '../../../src/llm/google/wire.ts';
import type { AssistantMessage, Message } from '../../../src/protocol/content/messages.ts';
import { callPart, type GoogleBody, schemaProblem } from '../../support/google.ts';
import { assistant, call, results, user } from '../../support/messages.ts';

const own = (message: AssistantMessage, ...parts: GooglePart[]): AssistantMessage => ({
  ...message,
  native: { provider: 'google', content: { parts } },
});
const readPart = (path: string, more: object = {}) => callPart('fs_read', { path }, { ...more });

function wire(messages: Message[], more: Partial<ChatRequest> = {}, flags: GoogleRequestRestrictions = {}): GoogleBody {
  return toGoogleWire({ model: 'm', messages, ...more }, flags) as unknown as GoogleBody;
}

/** Contents as on the wire, a line each: `role part | part`. */
function told(messages: Message[], flags?: GoogleRequestRestrictions): string[] {
  return wire(messages, {}, flags).contents.map(({ role, parts }) => `${role} ${parts.map(inWords).join(' | ')}`);
}

function inWords({ text, functionCall, functionResponse, thought, thoughtSignature, ...other }: GooglePart): string {
  const signed = thoughtSignature === undefined ? '' : ` ~${thoughtSignature}`;
  if (typeof text === 'string') return `${thought ? '(' : ''}${text}${thought ? ')' : ''}${signed}`;
  const { id, name, args, response } = (functionCall ?? functionResponse ?? {}) as JsonObject;
  const of = id === undefined ? name : `${id}:${name}`;
  if (functionCall) return `→ ${of}${JSON.stringify(args)}${signed}`;
  return functionResponse ? `← ${of}${JSON.stringify(response)}` : JSON.stringify(other);
}

const beginning = 'user (The beginning of this conversation is left out.)';
const interrupted =
  '← fs_read{"ok":false,"error":{"code":"TOOL_INTERRUPTED","message":"Stopped before there was a result; it may or may not have run."}}';

const histories: [says: string, messages: Message[], contents: string[], flags?: GoogleRequestRestrictions][] = [
  [
    'two calls are one content, their results one content in the order asked',
    [user('go'), assistant('Reading.', call('1'), call('2', 'b')), results('2', '1'), assistant('Done.')],
    [
      'user go',
      'model Reading. | → fs_read{"path":"a"} | → fs_read{"path":"b"}',
      'user ← fs_read{"ok":true,"data":"1"} | ← fs_read{"ok":true,"data":"2"}',
      'model Done.',
      'user Continue.',
    ],
  ],
  [
    'a call without a result gets one: it was interrupted',
    [user('go'), assistant('', call('1'), call('2')), results('1'), user('and now?')],
    [
      'user go',
      'model → fs_read{"path":"a"} | → fs_read{"path":"a"}',
      `user ← fs_read{"ok":true,"data":"1"} | ${interrupted}`,
      'user and now?',
    ],
  ],
  [
    'a result nobody asked for is left out, a second one too, a late one comes to its place',
    [user('go'), results('0'), assistant('', call('1')), user('hurry'), results('1', '1', '9'), assistant('Done.')],
    [
      'user go',
      'model → fs_read{"path":"a"}',
      'user ← fs_read{"ok":true,"data":"1"}',
      'user hurry',
      'model Done.',
      'user Continue.',
    ],
  ],
  [
    'messages of the person in a row are one content; what says nothing is left out, what broke off gone on with',
    [user('a'), user('b'), user(''), assistant(''), assistant('c'), assistant('d'), user('e')],
    ['user a | b', 'model c', 'user Continue.', 'model d', 'user e'],
  ],
  [
    'a malformed call goes back without its arguments',
    [user('go'), assistant('', { ...call('1'), arguments: {}, malformed: '{"pa' }), results('1')],
    ['user go', 'model → fs_read{}', 'user ← fs_read{"ok":true,"data":"1"}'],
  ],
  [
    'a result that is no object is put into one',
    [
      assistant('', call('1'), call('2')),
      {
        role: 'tool',
        content: '',
        toolResults: [
          { toolCallId: '1', content: 'text' },
          { toolCallId: '2', content: '[1]' },
        ],
      },
    ],
    [
      beginning,
      'model → fs_read{"path":"a"} | → fs_read{"path":"a"}',
      'user ← fs_read{"output":"text"} | ← fs_read{"output":"[1]"}',
    ],
  ],
  [
    'arguments that are sent cut are cut in what Google wrote, and the signature stays',
    [
      user('go'),
      own(
        assistant('', { ...call('x1'), arguments: { path: 'cut' }, cut: true }, call('x2', 'b')),
        { text: 'Hm.', thought: true },
        readPart('a long one', { id: 'x1', thoughtSignature: 's2' }),
        readPart('b'),
      ),
      results('x1', 'x2'),
    ],
    [
      'user go',
      'model (Hm.) | → x1:fs_read{"path":"cut"} ~s2 | → fs_read{"path":"b"}',
      'user ← x1:fs_read{"ok":true,"data":"x1"} | ← fs_read{"ok":true,"data":"x2"}',
    ],
  ],
  [
    'what Google wrote goes back verbatim: signatures, thinking, ids',
    [
      user('go'),
      own(
        { ...assistant('Both.', call('x1'), call('call_2', 'b')), thinking: 'Hm.' },
        { text: 'Hm.', thought: true },
        { text: 'Both.' },
        { text: '', thoughtSignature: 's1' },
        readPart('a', { id: 'x1', thoughtSignature: 's2' }),
        readPart('b'),
      ),
      results('call_2', 'x1'),
    ],
    [
      'user go',
      'model (Hm.) | Both. |  ~s1 | → x1:fs_read{"path":"a"} ~s2 | → fs_read{"path":"b"}',
      'user ← x1:fs_read{"ok":true,"data":"x1"} | ← fs_read{"ok":true,"data":"call_2"}',
    ],
  ],
  [
    'another provider’s native is dropped, and so is one that says something else than the message',
    [
      { ...assistant('a', call('1')), native: { provider: 'anthropic', content: { parts: [{ text: 'x' }] } } },
      own(assistant('b'), readPart('a', { thoughtSignature: 's' })),
      { ...assistant('c'), native: { provider: 'google', content: 'damaged' } },
      { ...assistant('d'), native: { provider: 'google', content: { parts: [7] } } },
      { ...assistant('e'), native: { provider: 'google', content: { parts: [] } } },
    ],
    [
      beginning,
      'model a | → fs_read{"path":"a"}',
      `user ${interrupted}`,
      ...['b', 'c', 'd', 'e'].flatMap((text) => [`model ${text}`, 'user Continue.']),
    ],
  ],
  [
    'an unknown name is still the same call',
    [own(assistant('', { ...call('1'), name: 'no.such' }), callPart('no.such', {}, { thoughtSignature: 's' }))],
    [beginning, 'model → no.such{} ~s', `user ${interrupted.replace('fs_read', 'no.such')}`],
  ],
  [
    'where signatures are asked for, unsigned calls are told as text and signed ones stay',
    [
      user('go'),
      assistant('Reading.', call('1'), call('2', 'b')),
      results('1', '2'),
      own(assistant('', call('3')), readPart('a', { thoughtSignature: 's' })),
      results('3'),
    ],
    [
      'user go',
      'model Reading.',
      'user The tool fs_read was called with {"path":"a"} and gave:\n{"ok":true,"data":"1"}\n\nThe tool fs_read was called with {"path":"b"} and gave:\n{"ok":true,"data":"2"}',
      'model → fs_read{"path":"a"} ~s',
      'user ← fs_read{"ok":true,"data":"3"}',
    ],
    { unsignedCallsAsText: true },
  ],
];

describe('history for Gemini', () => {
  for (const [says, messages, contents, flags] of histories) {
    it(says, () => {
      const before = structuredClone(messages);
      assert.deepEqual(told(messages, flags), contents);
      assert.deepEqual(messages, before, 'the history itself is not changed');
    });
  }

  it('half an emoji is made whole, in every place', () => {
    const half = 'x\ud83d';
    const body = wire(
      [
        user(half),
        assistant(half, { id: '1', name: 'fs.read', arguments: { [half]: { deep: [half, '🙂', 1] } } }),
        {
          role: 'tool',
          content: '',
          toolResults: [{ toolCallId: '1', content: JSON.stringify({ ok: true, data: half }) }],
        },
      ],
      { systemPrompt: half, tools: [{ name: 'fs.read', description: half, parameters: {} }] },
    );
    const mended = 'x\ufffd';
    assert.deepEqual(body, {
      systemInstruction: { parts: [{ text: mended }] },
      contents: [
        { role: 'user', parts: [{ text: mended }] },
        { role: 'model', parts: [{ text: mended }, callPart('fs_read', { [mended]: { deep: [mended, '🙂', 1] } })] },
        { role: 'user', parts: [{ functionResponse: { name: 'fs_read', response: { ok: true, data: mended } } }] },
      ],
      tools: [{ functionDeclarations: [{ name: 'fs_read', description: mended }] }],
    });
  });

  it('a text that goes with a message is told with its name', () => {
    const file = { mediaType: 'text/plain', data: Buffer.from('größer').toString('base64'), name: 'notes.txt' };
    const message: Message = { role: 'user', content: 'What is this?', attachments: [file] };
    assert.deepEqual(wire([message]).contents, [
      { role: 'user', parts: [{ text: 'notes.txt:\ngrößer' }, { text: 'What is this?' }] },
    ]);
  });

  it('pictures come before the words about them', () => {
    const message: Message = {
      role: 'user',
      content: 'What is this?',
      attachments: [{ mediaType: 'image/png', data: 'iVBORw0KGgo=', name: 'screen.png' }],
    };
    assert.deepEqual(wire([message]).contents, [
      {
        role: 'user',
        parts: [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }, { text: 'What is this?' }],
      },
    ]);
  });
});

describe('a request to Gemini', () => {
  const tool = {
    name: 'fs.read',
    description: 'Reads.',
    parameters: { type: 'object', properties: { path: { type: 'string' } } },
  };

  it('with everything', () => {
    const body = wire([{ role: 'system', content: 'Be kind.' }, user('hi')], {
      model: 'gemini-2.5-pro',
      systemPrompt: 'Be brief.',
      tools: [tool, { name: '3d.render', description: 'Renders.', parameters: { type: 'object', properties: {} } }],
      toolChoice: 'required',
      temperature: 0,
      topP: 0.5,
      maxTokens: 100,
      stopSequences: ['END'],
      thinkingBudget: 1024,
    });
    assert.deepEqual(body, {
      systemInstruction: { parts: [{ text: 'Be brief.\n\nBe kind.' }] },
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      tools: [
        {
          functionDeclarations: [
            {
              name: 'fs_read',
              description: 'Reads.',
              parameters: { type: 'OBJECT', properties: { path: { type: 'STRING' } } },
            },
            { name: '_3d_render', description: 'Renders.' },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
      generationConfig: {
        temperature: 0,
        topP: 0.5,
        maxOutputTokens: 1124, // thinking counts
        stopSequences: ['END'],
        thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 },
      },
    });
  });

  it('with nothing', () =>
    assert.deepEqual(wire([user('hi')]), { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }));

  const thinking: [
    model: string,
    budget: number | undefined,
    config: object | undefined,
    flags?: GoogleRequestRestrictions,
  ][] = [
    ['gemini-2.5-flash', undefined, { includeThoughts: true }],
    ['gemini-3-pro-preview', 0, { includeThoughts: true }],
    ['gemini-2.0-flash', 0, undefined],
    ['gemma-3-27b-it', undefined, undefined],
    ['tunedModels/mine', 512, { includeThoughts: true, thinkingBudget: 512 }],
    ['gemini-2.5-flash', 512, undefined, { omitThinking: true }],
    ['gemini-2.5-flash', 50_000, { includeThoughts: true, thinkingBudget: 24_576 }],
    ['gemini-2.5-flash', 100, { includeThoughts: true, thinkingBudget: 100 }],
    ['gemini-2.5-flash-lite', 100, { includeThoughts: true, thinkingBudget: 512 }],
    ['models/gemini-2.5-pro-preview', 100, { includeThoughts: true, thinkingBudget: 128 }],
    ['gemini-2.5-pro', 200_000, { includeThoughts: true, thinkingBudget: 32_768 }],
    ['gemini-2.5-pro', 2048, { includeThoughts: true }, { omitBudget: true }],
    ['gemini-3-pro-preview', 1024, { includeThoughts: true, thinkingLevel: 'low' }],
    ['gemini-3.1-flash', 8192, { includeThoughts: true, thinkingLevel: 'high' }],
    ['gemini-3.1-flash', 8192, { includeThoughts: true }, { omitBudget: true }],
  ];
  for (const [model, thinkingBudget, config, flags] of thinking) {
    it(`${model} with ${thinkingBudget ?? 'no'} tokens to think${flags ? ', which it cannot' : ''}`, () => {
      const { generationConfig } = wire([user('hi')], { model, thinkingBudget }, flags);
      assert.deepEqual(generationConfig?.thinkingConfig, config);
    });
  }

  it('for JSON, of a schema, but not beside tools', () => {
    const json = (more: Partial<ChatRequest>) => wire([user('hi')], more).generationConfig;
    const schema = { type: 'object', properties: { a: { const: 1 } }, additionalProperties: false };
    const format = { type: 'json_schema', name: 'answer', schema } as const;
    assert.deepEqual(json({ responseFormat: { type: 'json_object' } }), { responseMimeType: 'application/json' });
    assert.deepEqual(json({ responseFormat: format }), {
      responseMimeType: 'application/json',
      responseSchema: { type: 'OBJECT', properties: { a: { type: 'INTEGER', description: 'One of: 1.' } } },
    });
    assert.equal(json({ responseFormat: format, tools: [tool] }), undefined);
  });

  it('where there is no system instruction, it opens the conversation', () => {
    const body = wire([user('hi')], { systemPrompt: 'Be brief.' }, { systemAsUser: true });
    assert.deepEqual(body, { contents: [{ role: 'user', parts: [{ text: 'Be brief.' }, { text: 'hi' }] }] });
  });

  it('function names', () => {
    const long = `mcp.${'x'.repeat(100)}`;
    const names = ['fs.read', 'constructor', '-a', 'ä', '', long].map(toGoogleFunctionName);
    assert.deepEqual(names, ['fs_read', 'constructor', '_-a', '_', '_', toWireToolName(long)]);
  });
});

describe('what a 400 of Gemini teaches', () => {
  const lessons: [words: string, flags: GoogleRequestRestrictions, learned: GoogleRequestRestrictions | undefined][] = [
    ['Thinking is not enabled for models/gemini-2.0-flash', {}, { omitThinking: true }],
    ['Thinking_config.include_thoughts is only enabled when thinking is enabled.', {}, { omitThinking: true }],
    ['This model does not support thinking.', { systemAsUser: true }, { systemAsUser: true, omitThinking: true }],
    ['Unknown name "thinkingConfig" at \'generation_config\': Cannot find field.', {}, { omitThinking: true }],
    ['Thinking is not enabled for models/x', { omitThinking: true }, undefined],
    ['The thinking budget 5 is invalid. Please choose a value between 128 and 32768.', {}, { omitBudget: true }],
    ['The thinking budget (52428) is invalid.', {}, { omitBudget: true }],
    ['Thinking level LOW is not supported for this model.', {}, { omitBudget: true }],
    ['Developer instruction is not enabled for models/gemma-3-27b-it', {}, { systemAsUser: true }],
    ['Function call is missing a thought_signature in functionCall parts.', {}, { unsignedCallsAsText: true }],
    [
      'Unable to submit request because `function_response.parts` is not supported for this model.',
      {},
      { imagesApart: true },
    ],
    ['Corrupted thought signature.', {}, undefined],
    ['Request contains an invalid argument.', {}, undefined],
  ];
  for (const [words, flags, learned] of lessons) {
    it(`${words} ${JSON.stringify(flags)}`, () =>
      assert.deepEqual(learnGoogleRequestRestriction(words, flags), learned));
  }
});

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const schemas: [says: string, schema: unknown, google: object][] = [
  [
    'only what Google knows goes through',
    object(
      { a: { type: 'string', minLength: 1, pattern: '^a', default: 'a', examples: ['a'], title: 'A', format: 'uri' } },
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $id: 'x',
        additionalProperties: false,
        required: ['a'],
      },
    ),
    { type: 'OBJECT', properties: { a: { type: 'STRING', minLength: 1 } }, required: ['a'] },
  ],
  [
    'properties may have the names of keywords',
    object({ $ref: { type: 'string' }, const: { type: 'integer' }, anyOf: { type: 'boolean' }, constructor: {} }),
    {
      type: 'OBJECT',
      properties: {
        $ref: { type: 'STRING' },
        const: { type: 'INTEGER' },
        anyOf: { type: 'BOOLEAN' },
        constructor: { type: 'STRING' },
      },
    },
  ],
  [
    'references are put in their place, with the words beside them',
    {
      ...object({ a: { $ref: '#/$defs/file', description: 'The one.' }, b: { $ref: '#/definitions/x~1y' } }),
      $defs: { file: object({ path: { $ref: '#/$defs/path' } }), path: { type: 'string' } },
      definitions: { 'x/y': { type: 'integer', minimum: 0, exclusiveMaximum: 5 } },
    },
    {
      type: 'OBJECT',
      properties: {
        a: { type: 'OBJECT', description: 'The one.', properties: { path: { type: 'STRING' } } },
        b: { type: 'INTEGER', minimum: 0 },
      },
    },
  ],
  [
    'a reference to itself, to nothing or elsewhere is any object',
    {
      ...object({
        tree: { $ref: '#/$defs/tree' },
        all: { $ref: '#' },
        none: { $ref: '#/$defs/none' },
        far: { $ref: 'x' },
      }),
      $defs: { tree: object({ left: { $ref: '#/$defs/tree', description: 'Left.' } }) },
    },
    {
      type: 'OBJECT',
      properties: {
        tree: { type: 'OBJECT', properties: { left: { type: 'OBJECT', description: 'Left.' } } },
        all: {
          type: 'OBJECT',
          properties: {
            tree: { type: 'OBJECT', properties: { left: { type: 'OBJECT', description: 'Left.' } } },
            all: { type: 'OBJECT' },
            none: { type: 'OBJECT' },
            far: { type: 'OBJECT' },
          },
        },
        none: { type: 'OBJECT' },
        far: { type: 'OBJECT' },
      },
    },
  ],
  [
    'const and enum: of strings a list, of anything else words',
    object({
      a: { const: 'x', description: 'A.' },
      b: { type: 'string', enum: ['x', '', 'x', 'y', null] },
      c: { enum: [1, 2], description: 'C.' },
      d: { const: true },
      e: { enum: [1.5, 2] },
      f: { enum: ['x', 1] },
      g: { type: 'string', enum: [] },
    }),
    {
      type: 'OBJECT',
      properties: {
        a: { type: 'STRING', description: 'A.', enum: ['x'] },
        b: { type: 'STRING', nullable: true, enum: ['x', 'y'] },
        c: { type: 'INTEGER', description: 'C. One of: 1, 2.' },
        d: { type: 'BOOLEAN', description: 'One of: true.' },
        e: { type: 'NUMBER', description: 'One of: 1.5, 2.' },
        f: { type: 'STRING', enum: ['x', '1'] },
        g: { type: 'STRING' },
      },
    },
  ],
  [
    'unions with null are nullable',
    object({
      a: { type: ['string', 'null'], description: 'A.' },
      b: { anyOf: [{ type: 'integer', description: 'inner' }, { type: 'null' }], description: 'B.' },
      c: { oneOf: [{ const: null }, { type: 'array', items: { type: 'string' } }] },
      d: { type: ['object', 'null'], properties: { x: { type: 'string' } } },
      e: { type: 'null' },
      f: { anyOf: [{ type: 'null' }] },
      g: { type: 'number', nullable: true },
    }),
    {
      type: 'OBJECT',
      properties: {
        a: { type: 'STRING', description: 'A.', nullable: true },
        b: { type: 'INTEGER', description: 'B.', nullable: true },
        c: { type: 'ARRAY', items: { type: 'STRING' }, nullable: true },
        d: { type: 'OBJECT', properties: { x: { type: 'STRING' } }, nullable: true },
        e: { type: 'STRING' },
        f: { type: 'STRING', nullable: true },
        g: { type: 'NUMBER', nullable: true },
      },
    },
  ],
  [
    'other unions stay choices; of constants they are one list',
    object({
      a: {
        oneOf: [{ type: 'string' }, { type: 'object', properties: { x: {} } }, { type: 'null' }],
        description: 'A.',
      },
      b: { anyOf: [{ const: 'x' }, { const: 'y', description: 'Y.' }, { enum: ['y', 'z'] }], description: 'B.' },
      c: { type: ['string', 'integer'] },
    }),
    {
      type: 'OBJECT',
      properties: {
        a: {
          anyOf: [{ type: 'STRING' }, { type: 'OBJECT', properties: { x: { type: 'STRING' } } }],
          description: 'A.',
          nullable: true,
        },
        b: { type: 'STRING', description: 'B.', enum: ['x', 'y', 'z'] },
        c: { anyOf: [{ type: 'STRING' }, { type: 'INTEGER' }] },
      },
    },
  ],
  [
    '"one of these must be given" leaves the object as it is',
    object({ a: { type: 'string' }, b: { type: 'string' } }, { anyOf: [{ required: ['a'] }, { required: ['b'] }] }),
    { type: 'OBJECT', properties: { a: { type: 'STRING' }, b: { type: 'STRING' } } },
  ],
  [
    'allOf is one schema',
    {
      allOf: [object({ a: { type: 'string' } }, { required: ['a'] }), object({ b: {} }, { required: ['b', 'a'] })],
      description: 'Both.',
    },
    {
      type: 'OBJECT',
      description: 'Both.',
      properties: { a: { type: 'STRING' }, b: { type: 'STRING' } },
      required: ['a', 'b'],
    },
  ],
  [
    'keywords of other types are left out, required names only what is there',
    object(
      {
        a: { type: 'string', properties: { x: {} }, required: ['x'], items: {} },
        b: { type: 'array', required: ['x'], minItems: 1 },
        c: { type: 'object', required: ['x'] },
        d: { type: 'object', additionalProperties: { type: 'string' } },
        e: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] },
        f: { items: { type: 'string' } },
        g: { minimum: 1 },
        h: true,
        i: { type: 'string', format: 'date-time' },
      },
      { required: ['a', 'nothing', 7] },
    ),
    {
      type: 'OBJECT',
      properties: {
        a: { type: 'STRING' },
        b: { type: 'ARRAY', items: { type: 'STRING' }, minItems: 1 },
        c: { type: 'OBJECT' },
        d: { type: 'OBJECT' },
        e: { type: 'ARRAY', items: { anyOf: [{ type: 'STRING' }, { type: 'INTEGER' }] } },
        f: { type: 'ARRAY', items: { type: 'STRING' } },
        g: { type: 'NUMBER', minimum: 1 },
        h: { type: 'STRING' },
        i: { type: 'STRING', format: 'date-time' },
      },
      required: ['a'],
    },
  ],
];

describe('schemas for Gemini', () => {
  for (const [says, schema, google] of schemas) {
    it(says, () => {
      const converted = toGoogleSchema(schema);
      assert.deepEqual(converted, google);
      assert.equal(schemaProblem(converted as JsonObject), undefined);
    });
  }

  it('references that double with every level come to an end', () => {
    const $defs: Record<string, object> = { d30: { type: 'string' } };
    for (let at = 0; at < 30; at++) {
      const next = { $ref: `#/$defs/d${at + 1}` };
      $defs[`d${at}`] = object({ a: next, b: next });
    }
    const converted = toGoogleSchema({ $ref: '#/$defs/d0', $defs });
    assert.ok(JSON.stringify(converted).length < 200_000);
    assert.equal(schemaProblem(converted as JsonObject), undefined);
  });
});
