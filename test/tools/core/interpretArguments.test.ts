import assert from 'node:assert/strict';
import { interpretArguments } from '../../../src/tools/core/interpretArguments.ts';

describe('readings of arguments', () => {
  const node = {
    anyOf: Array.from({ length: 12 }, (_, index) => ({
      type: 'object',
      properties: { [`k${index}`]: { type: 'integer' }, v: { $ref: '#/$defs/n' } },
      required: ['v'],
    })),
  };
  const nested = Array.from({ length: 20 }).reduce((inner) => ({ v: inner }), '5' as unknown) as Record<
    string,
    unknown
  >;
  const list = (items: object) => ({ type: 'object', properties: { v: { type: 'array', items } } });
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`p${index}`, { type: 'integer' }]));
  const names = Object.keys(many).map((name) => ({ required: [name] }));
  const same = Array.from({ length: 40 }, () => list({ type: 'string' }).properties.v);

  /** What would take hours if each alternative, value or text were looked at as often as it can be. */
  const cases: [what: string, given: Record<string, unknown>, schema: object][] = [
    ['alternatives within alternatives', nested, { ...node, $defs: { n: node } }],
    ['as many alternatives as properties', { p1: '5' }, { type: 'object', properties: many, anyOf: names }],
    ['a long enum and a long list', { v: Array(50_000).fill('7') }, list({ enum: Array.from({ length: 100_000 }, (_, at) => at) })],
    ['a long text and many alternatives', { v: `[${'1,'.repeat(1_000_000)}1]` }, { type: 'object', properties: { v: { anyOf: same } } }],
    ['references in a circle', { v: '5' }, { type: 'object', properties: { v: { $ref: '#/$defs/a' } }, $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } } }],
    ['brackets without an end', { v: '['.repeat(1_000_000) }, list({})],
  ]; // biome-ignore format: a table
  for (const [what, given, schema] of cases)
    it(`come to an end: ${what}`, () => {
      const [reading = given] = interpretArguments(given, schema);
      assert.deepEqual(Object.keys(reading), Object.keys(given));
    });

  it('never change what they are given', () => {
    const given = { v: ['1', { a: null }], input: null };
    const before = structuredClone(given);
    interpretArguments(given, list({ type: 'object', properties: { a: { type: 'integer' } } }));
    assert.deepEqual(given, before);
  });
});
