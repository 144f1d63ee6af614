import assert from 'node:assert/strict';
import { parseJsonToDepth } from '../../../src/protocol/values/jsonText.ts';

describe('JSON with a limit of nesting', () => {
  const parse = (text: string) => parseJsonToDepth(text, 3, 'too deep');

  for (const text of ['[[[1]]]', '{"a":[{"b":"[[[["}]}', '"[[[[["', '[[],[],[],[]]', ' {"a\\"[[[[": 1} '])
    it(`reads ${text}`, () => assert.deepEqual(parse(text), JSON.parse(text)));

  for (const text of ['[[[[1]]]]', '{"a":{"b":{"c":{}}}}', '['.repeat(1_000_000)])
    it(`refuses ${text.slice(0, 30)}`, () => assert.throws(() => parse(text), new SyntaxError('too deep')));

  it('refuses what is no JSON as JSON.parse does', () => assert.throws(() => parse('{"a"'), SyntaxError));
});
