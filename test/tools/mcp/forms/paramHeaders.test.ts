import assert from 'node:assert/strict';
import { headerFault, parameterHeaders } from '../../../../src/tools/mcp/forms/paramHeaders.ts';

const tool = (properties: object, more = {}) =>
  ({ inputSchema: { type: 'object' as const, properties, ...more } }) as never;
const marked = (header: unknown, type: unknown = 'string') => ({ type, 'x-mcp-header': header });

// Cases of the specification (2026-07-28, streamable HTTP) and of the conformance suite.
describe('MCP: arguments as headers', () => {
  const faults: [what: string, given: never, isFault: boolean][] = [
    ['none', tool({ a: { type: 'string' } }), false],
    ['one', tool({ a: marked('Region') }), false],
    ['one in an object', tool({ a: { type: 'object', properties: { b: marked('B') } } }), false],
    ['an empty name', tool({ a: marked('') }), true],
    ['no name', tool({ a: marked(7) }), true],
    ['a blank in the name', tool({ a: marked('My Region') }), true],
    ['a line end in the name', tool({ a: marked('A\r\nB: c') }), true],
    ['a number', tool({ a: marked('A', 'number') }), true],
    ['an object', tool({ a: marked('A', 'object') }), true],
    ['the same name twice', tool({ a: marked('A'), b: marked('a') }), true],
    ['one in a list', tool({ a: { type: 'array', items: marked('A') } }), true],
    ['one in a choice', tool({ a: { anyOf: [marked('A')] } }), true],
    ['one in a definition', tool({}, { $defs: { a: marked('A') } }), true],
    ['one at the top', tool({}, { 'x-mcp-header': 'A' }), true],
    ['one that is a value', tool({ a: { const: { 'x-mcp-header': '' } } }), false],
    ['an argument with that name', tool({ 'x-mcp-header': { type: 'string' } }), false],
  ];
  for (const [what, given, isFault] of faults)
    it(`${what} ${isFault ? 'makes the tool unusable' : 'is fine'}`, () =>
      assert.equal(headerFault(given) !== undefined, isFault));

  const values: [value: unknown, header: string | undefined][] = [
    ['us-west1', 'us-west1'],
    [42, '42'],
    [false, 'false'],
    ['us west 1', 'us west 1'],
    ['', '=?base64??='],
    [' padded ', '=?base64?IHBhZGRlZCA=?='],
    ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
    ['a\r\nInjected: b', '=?base64?YQ0KSW5qZWN0ZWQ6IGI=?='],
    ['=?base64?eA==?=', '=?base64?PT9iYXNlNjQ/ZUE9PT89?='],
    [null, undefined],
    [undefined, undefined],
    [{}, undefined],
    [2 ** 60, undefined],
  ];
  for (const [value, header] of values)
    it(`${JSON.stringify(value)} is sent as ${header}`, () => {
      const expected = header === undefined ? {} : { 'Mcp-Param-A': header };
      assert.deepEqual(
        parameterHeaders(tool({ o: { properties: { a: marked('A') } } }), { o: { a: value } }),
        expected,
      );
    });
});
