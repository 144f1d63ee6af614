import assert from 'node:assert/strict';
import fc from 'fast-check';
import { stripPlaceholderNulls } from '../../../../src/llm/local/host/stripNulls.ts';
import { toGrammarSchema } from '../../../../src/llm/local/ipc/grammarSchema.ts';
import { createToolCallTextReporter } from '../../../../src/llm/local/worker/textCallTokens.ts';
import type { JsonSchema } from '../../../../src/protocol/content/tools.ts';
import { tools } from '../setup.ts';

const anything = {
  oneOf: [
    { type: ['string', 'number', 'boolean', 'null'] },
    { type: 'array' },
    { type: 'object', additionalProperties: true },
  ],
};

describe("a tool's schema for the call grammar", () => {
  /** Schema of the one, required argument `x` → what becomes of it. */
  const cases: [string, JsonSchema, JsonSchema][] = [
    ['plain', { type: 'string' }, { type: 'string' }],
    [
      'bounds go into the description',
      { type: 'integer', minimum: 1, maximum: 9, description: 'Lines' },
      { type: 'integer', description: 'Lines. Minimum: 1. Maximum: 9' },
    ],
    [
      'pattern, default and unknown format, too',
      { type: 'string', pattern: '^a', default: 'a', format: 'uri' },
      { type: 'string', description: 'Default: "a". Pattern: ^a. Format: uri' },
    ],
    ['a format that is understood', { type: 'string', format: 'date' }, { type: 'string', format: 'date' }],
    ['enum and const', { enum: ['a', 1, null, {}] }, { enum: ['a', 1, null] }],
    ['const', { const: 'a' }, { const: 'a' }],
    ['anyOf', { anyOf: [{ type: 'string' }, { type: 'null' }] }, { oneOf: [{ type: 'string' }, { type: 'null' }] }],
    ['several types', { type: ['string', 'null'] }, { type: ['string', 'null'] }],
    [
      'types that need more',
      { type: ['string', 'array'], items: { type: 'number' } },
      { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'number' } }] },
    ],
    [
      'an array with limits',
      { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 3 },
      { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 3 },
    ],
    ['anything at all', {}, anything],
    [
      'names that the grammar cannot hold: they are written with escapes, among other names',
      JSON.parse(
        '{"type":"object","properties":{"grö\\u00dfe":{"type":"null"},"a\\u0000":{},"\\ud800":{}},"required":["größe"]}',
      ),
      { type: 'object', properties: { größe: { type: 'null' } }, additionalProperties: anything },
    ],
    ['values that the grammar cannot hold', { enum: ['a\tb', 'a\u0007b', '\ud800'] }, { enum: ['a\tb'] }],
    ['such a value alone', { const: '\u0000' }, anything],
    ['an unknown type', { type: 'file' }, anything],
    [
      'an open map',
      { type: 'object', additionalProperties: { type: 'number' } },
      { type: 'object', additionalProperties: { type: 'number' } },
    ],
    ['OpenAPI’s nullable', { type: 'string', nullable: true }, { type: ['string', 'null'] }],
    [
      'names by pattern',
      { type: 'object', patternProperties: { '^x-': { type: 'string' } }, additionalProperties: false },
      { type: 'object', additionalProperties: { type: 'string' } },
    ],
    [
      'allOf',
      {
        allOf: [
          { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
          { properties: { b: { type: 'number' } } },
        ],
      },
      { type: 'object', properties: { a: { type: 'string' }, b: { type: ['number', 'null'] } } },
    ],
    ['an outside reference', { $ref: 'https://example.com/schema' }, anything],
  ];
  for (const [what, x, expected] of cases)
    it(what, () => {
      const schema = { type: 'object', properties: { x }, required: ['x'] };
      assert.deepEqual(toGrammarSchema(schema), { type: 'object', properties: { x: expected } });
    });

  it('makes what is optional nullable, whatever it is', () => {
    const properties = {
      text: { type: 'string', description: 'Words' },
      name: { type: 'string', minLength: 1 },
      kind: { enum: ['a', 'b'] },
      list: { type: 'array', items: { type: 'string' } },
      either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    };
    assert.deepEqual(toGrammarSchema({ type: 'object', properties })?.properties, {
      text: { type: ['string', 'null'], description: 'Words' },
      name: { oneOf: [{ type: 'string', minLength: 1 }, { type: 'null' }] },
      kind: { enum: ['a', 'b', null] },
      list: { oneOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }] },
      either: { oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'null' }] },
    });
  });

  it('keeps a tree a tree', () => {
    const schema = {
      type: 'object',
      properties: { root: { $ref: '#/$defs/node' } },
      required: ['root'],
      $defs: { node: { type: 'object', properties: { kids: { type: 'array', items: { $ref: '#/$defs/node' } } } } },
    };
    assert.deepEqual(toGrammarSchema(schema), {
      type: 'object',
      properties: { root: { $ref: '#/$defs/d0' } },
      $defs: {
        d0: {
          type: 'object',
          properties: {
            kids: {
              oneOf: [{ type: 'array', items: { $ref: '#/$defs/d0' } }, { type: 'null' }],
            },
          },
        },
      },
    });
  });

  it('is nothing for a tool without parameters', () => {
    assert.equal(toGrammarSchema({ type: 'object', properties: {} }), undefined);
    assert.equal(toGrammarSchema({}), undefined);
  });

  it('is there for each of the default tools', () => {
    for (const tool of tools)
      assert.deepEqual(
        Object.keys(toGrammarSchema(tool.parameters)!.properties!),
        Object.keys(tool.parameters.properties!),
      );
  });
});

describe('nulls that stand for "left out"', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      path: { type: 'string' },
      limit: { type: 'integer' },
      ifMatch: { type: ['string', 'null'] },
      edits: { type: 'array', items: { $ref: '#/$defs/edit' } },
      map: { type: 'object', additionalProperties: { type: 'object', properties: { a: { type: 'string' } } } },
      pair: { type: 'array', prefixItems: [{ type: 'object', properties: { a: { type: 'string' } } }] },
      note: { type: 'string', nullable: true },
      place: { anyOf: [{ type: 'string' }, { type: 'object', properties: { line: { type: 'integer' } } }] },
    },
    required: ['path'],
    $defs: {
      edit: { type: 'object', properties: { from: { type: 'string' }, to: { type: 'string' } }, required: ['from'] },
    },
  };
  const cases: [string, unknown, unknown][] = [
    ['go', { path: 'a', limit: null }, { path: 'a' }],
    ['stay where they are a value', { path: 'a', ifMatch: null }, { path: 'a', ifMatch: null }],
    ['stay where something is required, so that the tool can say so', { path: null }, { path: null }],
    ['go inside lists and behind references', { edits: [{ from: null, to: null }] }, { edits: [{ from: null }] }],
    ['go inside values under any name', { map: { x: { a: null } } }, { map: { x: {} } }],
    ['go inside tuples', { pair: [{ a: null }, null] }, { pair: [{}, null] }],
    ['stay where OpenAPI calls it nullable', { note: null }, { note: null }],
    ['go inside the alternative that fits', { place: { line: null } }, { place: {} }],
    ['stay under names nobody knows', { more: null }, { more: null }],
  ];
  for (const [what, value, expected] of cases)
    it(what, () => assert.deepEqual(stripPlaceholderNulls(value, schema), expected));
});

describe('any schema and any value', () => {
  const schemas = fc.letrec<{ schema: JsonSchema }>((tie) => ({
    schema: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom<JsonSchema>(
        {},
        { type: 'string' },
        { type: ['integer', 'null'] },
        { enum: ['a', {}, null] },
        { $ref: '#' },
        { $ref: '#/properties/a' },
        { $ref: '#/nowhere' },
        { type: 'strange' },
        { const: {} },
      ),
      fc.record({
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'constructor'), tie('schema')),
        required: fc.subarray(['a', 'b']),
      }),
      fc.record({ type: fc.constant('array'), items: tie('schema') }),
      fc.record({ allOf: fc.array(tie('schema'), { maxLength: 3 }) }),
      fc.record({ anyOf: fc.array(tie('schema'), { maxLength: 3 }) }),
      fc.record({ oneOf: fc.array(tie('schema'), { maxLength: 3 }), description: fc.string() }),
      fc.object().map((junk) => junk as JsonSchema),
    ),
  })).schema;

  it('is converted to keywords the grammar knows', () => {
    const known = new Set([
      'type',
      'properties',
      'additionalProperties',
      'items',
      'prefixItems',
      'minItems',
      'maxItems',
      'minLength',
      'maxLength',
      'format',
      'enum',
      'const',
      'oneOf',
      '$ref',
      '$defs',
      'description',
    ]);
    const check = (schema: unknown): void => {
      if (typeof schema === 'boolean') return;
      const node = schema as JsonSchema;
      for (const keyword of Object.keys(node)) assert.ok(known.has(keyword), keyword);
      for (const nested of [...Object.values(node.properties ?? {}), ...Object.values((node.$defs as object) ?? {})])
        check(nested);
      for (const nested of [node.items, node.additionalProperties, ...((node.oneOf as unknown[]) ?? [])])
        if (nested !== undefined) check(nested);
    };
    fc.assert(
      fc.property(schemas, (schema) => {
        const converted = toGrammarSchema(schema);
        if (converted) check(converted);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps all of a value but nulls', () => {
    const withoutNulls = (value: unknown): unknown =>
      JSON.parse(
        JSON.stringify(value, (_, item) =>
          item && typeof item === 'object' && !Array.isArray(item)
            ? Object.fromEntries(Object.entries(item).filter(([, one]) => one !== null))
            : item,
        ),
      );
    fc.assert(
      fc.property(schemas, fc.jsonValue(), (schema, value) => {
        assert.deepEqual(withoutNulls(stripPlaceholderNulls(value, schema)), withoutNulls(value));
      }),
      { numRuns: 500 },
    );
  });
});

describe('calls as they are written', () => {
  it('are told whole, unless they hold a number that is none', () => {
    const told: unknown[] = [];
    const calls = createToolCallTextReporter((event) => told.push(event));
    for (const [index, text] of ['{"n": 1}', '{"n": [1e999]}'].entries()) {
      calls.chunk({ callIndex: index, functionName: 'f', paramsChunk: text, done: false });
      calls.complete('f', JSON.parse(text), text);
    }
    assert.deepEqual(told, [
      { type: 'call-text', index: 0, name: 'f', text: '{"n": 1}' },
      { type: 'call', index: 0, name: 'f', params: { n: 1 }, raw: '{"n": 1}' },
      { type: 'call-text', index: 1, name: 'f', text: '{"n": [1e999]}' },
      { type: 'bad-call', index: 1, name: 'f', text: '{"n": [1e999]}' },
    ]);
  });
});
