import assert from 'node:assert/strict';
import { loadMcpSdk } from '../../../src/tools/mcp/loadSdk.ts';
import { createMcpToolNamer, uniqueServerNames } from '../../../src/tools/mcp/names.ts';
import { redactor } from '../../../src/tools/mcp/redactSecrets.ts';
import {
  cleanDescription,
  cleanSchema,
  createArgumentsValidator,
  mcpSchemaLimitsInSearch,
} from '../../../src/tools/mcp/schema.ts';

describe('MCP: names', () => {
  it('are clean, short, and unique also on a wire', () => {
    const name = createMcpToolNamer();
    const long = 'x'.repeat(200);
    const names = [
      name('git', 'status'),
      name('my server!', 'do it/now'),
      name('a_b', 'c'),
      name('a', 'b_c'),
      name('search', 'tools'),
      name('git', 'status'),
      name('', ''),
      name(long, `${long}1`),
      name(long, `${long}2`),
    ];
    assert.deepEqual(names.slice(0, 7), [
      'mcp.git.status',
      'mcp.my_server_.do_it_now',
      'mcp.a_b.c',
      'mcp.a.b_c_2',
      'mcp.search.tools_2',
      'mcp.git.status_2',
      'mcp._._',
    ]);
    assert.ok(names.every((one) => one.length <= 64 && /^[\w.-]+$/.test(one)));
    assert.equal(new Set(names.map((one) => one.replaceAll('.', '_'))).size, names.length);
  });
});

describe('MCP: servers of one name', () => {
  const named: [servers: string[], names: string[]][] = [
    [
      ['git', 'git', 'Git', 'git_2'],
      ['git', 'git_2', 'Git_3', 'git_2_2'],
    ],
    [
      ['a.b', 'a_b', ''],
      ['a_b', 'a_b_2', '_'],
    ],
  ];
  for (const [servers, names] of named)
    it(`${servers.join(', ')}: none is taken for another`, () => assert.deepEqual(uniqueServerNames(servers), names));

  it('never share what was allowed to one of them', () => {
    const names = uniqueServerNames(['x'.repeat(30), 'x'.repeat(30), `${'x'.repeat(30)}y`]);
    assert.equal(new Set(names).size, 3);
    assert.ok(names.every((name) => name.length <= 24));
  });
});

describe('MCP: what strangers say', () => {
  it('hides nothing and has an end', () => {
    assert.equal(cleanDescription('a\u202eb\u200bc\u001b[31m'), 'a⟨U+202E⟩b⟨U+200B⟩c');
    assert.equal(cleanDescription(undefined), '');
    const long = cleanDescription(`Begins.${'x'.repeat(5000)}Ends.`);
    assert.equal(long.length, 2000);
    assert.match(long, /^Begins\.x+ … \(left out: \d+ characters; mcp\.search_tools .*\) … x+Ends\.$/);
    const [, left] = /left out: (\d+)/.exec(long)!;
    assert.equal(long.replace(/ … .* … /, '').length + Number(left), 5012);
    assert.equal(cleanDescription(`Begins.${'x'.repeat(5000)}Ends.`, mcpSchemaLimitsInSearch).length, 5012);
    assert.equal(cleanDescription('x'.repeat(90_000), mcpSchemaLimitsInSearch).length, 20_000);
  });

  const schemas: [what: string, given: unknown, expected: unknown][] = [
    ['nothing', undefined, { type: 'object', properties: {} }],
    ['no object', { type: 'string' }, { type: 'object', properties: {} }],
    ['odd properties', { properties: { a: true, b: false, c: null, d: [] }, required: ['a', 1] }, { type: 'object', properties: { a: {} }, required: ['a'] }],
    ['defaults', { properties: { a: { default: 1 }, b: {} }, required: ['a', 'b'] }, { type: 'object', properties: { a: { default: 1 }, b: {} }, required: ['b'] }],
    ['its own dialect', { $schema: 'x', type: 'object', properties: {}, 'x-y': 1 }, { type: 'object', properties: {}, 'x-y': 1 }],
    ['dangerous names', JSON.parse('{"properties":{"__proto__":{"type":"string"},"ok":{"type":"string"}}}'), { type: 'object', properties: { ok: { type: 'string' } } }],
  ]; // biome-ignore format: a table
  for (const [what, given, expected] of schemas)
    it(`a schema with ${what}`, () => assert.deepEqual(cleanSchema(given), expected));

  it('a schema that is too large or too deep is told by its argument names', () => {
    const big = {
      properties: { a: { type: 'string', enum: Array(190).fill('y'.repeat(290)) }, b: { type: 'number' } },
      required: ['b'],
    };
    assert.deepEqual(cleanSchema(big), {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'number' } },
      required: ['b'],
    });
    const deep = JSON.parse(`${'{"properties":{"a":'.repeat(200)}{}${'}}'.repeat(200)}`);
    assert.ok(JSON.stringify(cleanSchema(deep)).length < 400);
    const wide = {
      properties: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`${'k'.repeat(300)}${i}`, {}])),
    };
    assert.ok(JSON.stringify(cleanSchema(wide)).length < 6000);
  });

  it('secrets are taken out wherever they stand', () => {
    const redact = redactor(['sk-CANARYKEY1234567890', 'short']);
    const value = { 'a sk-CANARYKEY1234567890': ['xsk-CANARYKEY1234567890', { b: 'short', c: 1 }] };
    assert.deepEqual(redact(value), { 'a •••': ['x•••', { b: 'short', c: 1 }] });
  });
});

describe('MCP: arguments against a server’s schema', () => {
  const object = (properties: object, more = {}) => ({ type: 'object', properties, ...more });
  /** Each level tries the next one twice. */
  const forEver = (levels: number) => {
    const twice = (next: number) => ({
      anyOf: [{ $ref: `#/$defs/d${next}` }, { $ref: `#/$defs/d${next}`, title: 'x' }],
    });
    const defs = Array.from({ length: levels }, (_, level) => [`d${level}`, twice(level + 1)]);
    const $defs = Object.fromEntries([...defs, [`d${levels}`, { type: 'string' }]]);
    return object({ a: { $ref: '#/$defs/d0' } }, { $defs });
  };
  const cases: [what: string, schema: unknown, args: object, problems: [string, string][]][] = [
    ['fit', object({ a: { type: 'string' } }), { a: 'x' }, []],
    ['a wrong type', object({ a: { type: 'string' } }), { a: 1 }, [['a', 'must be string']]],
    ['inside', object({ a: { type: 'array', items: { type: 'number' } } }), { a: [1, 'x'] }, [['a.1', 'must be number']]],
    ['too many', object({}, { additionalProperties: false }), { a: 1 }, [['', 'must NOT have additional properties (a)']]],
    ['unknown keywords', object({ a: { type: 'string', 'x-odd': 1 } }, { strange: true }), { a: 'x' }, []],
    ['2020-12', { $schema: 'https://json-schema.org/draft/2020-12/schema', ...object({ a: { prefixItems: [{ type: 'number' }] } }) }, { a: ['x'] }, [['a.0', 'must be number']]],
    ['draft 7', { $schema: 'http://json-schema.org/draft-07/schema#', ...object({ a: { items: [{ type: 'number' }] } }) }, { a: ['x'] }, [['a.0', 'must be number']]],
    ['an unknown dialect', { $schema: 'https://example.com/own', ...object({ a: { type: 'number' } }) }, { a: 'x' }, [['a', 'must be number']]],
    ['references', { ...object({ a: { $ref: '#/$defs/n' } }), $defs: { n: { type: 'number' } } }, { a: 'x' }, [['a', 'must be number']]],
    ['a reference to nowhere is left to the server', object({ a: { $ref: 'https://example.com/x' } }), { a: 1 }, []],
    ['a pattern is left to the server', object({ a: { type: 'string', pattern: '^(a+)+$' } }), { a: `${'a'.repeat(40)}!` }, []],
    ['an argument called pattern', object({ pattern: { type: 'string' } }), { pattern: 1 }, [['pattern', 'must be string']]],
    ['a format is left to the server', object({ a: { type: 'string', format: 'email' } }), { a: 'x' }, []],
    ['one that takes for ever is left to the server', forEver(40), { a: 1 }, []],
    ['one that never ends is left to the server', object({ a: { $ref: '#/$defs/n' } }, { $defs: { n: { allOf: [{ $ref: '#/$defs/n' }] } } }), { a: 1 }, []],
    ['a required argument that has a default may be left out', object({ scale: { enum: ['css', 'device'], default: 'css' }, a: {} }, { required: ['scale', 'a'] }), { a: 1 }, []],
    ['and is looked at when it is there', object({ scale: { enum: ['css', 'device'], default: 'css' } }, { required: ['scale'] }), { scale: 'x' }, [['scale', 'must be equal to one of the allowed values']]],
    ['one without a default may not', object({ a: { type: 'string' }, b: { default: 1 } }, { required: ['a', 'b'] }), {}, [['', "must have required property 'a'"]]],
    ['inside of another one, too', object({ o: object({ b: { default: null } }, { required: ['b'] }) }, { required: ['o'] }), { o: {} }, []],
    ['in a list, a choice, a definition', object({ l: { type: 'array', items: { anyOf: [{ $ref: '#/$defs/o' }] } } }, { $defs: { o: object({ b: { default: 1 } }, { required: ['b'] }) } }), { l: [{}] }, []],
    ['by what it refers to', object({ a: { $ref: '#/$defs/x~1y' } }, { required: ['a'], $defs: { 'x/y': { $ref: '#/$defs/z' }, z: { type: 'number', default: 1 } } }), {}, []],
    ['a reference in a circle is left to the server', object({ a: { $ref: '#/$defs/a' } }, { required: ['a'], $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }), {}, []],
    ['what only looks like a schema stays', object({ a: { const: { required: ['x'], properties: { x: { default: 1 } } } } }), { a: { required: [], properties: { x: { default: 1 } } } }, [['a', 'must be equal to constant']]],
    ['arguments called like keywords', object({ required: { type: 'array' }, properties: { type: 'string' }, default: { type: 'string' } }, { required: ['required', 'properties', 'default'] }), { required: [], properties: 'x' }, [['', "must have required property 'default'"]]],
    ['a schema that is none', { type: 'object', properties: { a: { type: 'nonsense' } } }, { a: 1 }, []],
  ]; // biome-ignore format: a table
  for (const [what, schema, args, problems] of cases)
    it(what, async () => {
      const { error } = createArgumentsValidator(schema, await loadMcpSdk()).safeParse(args);
      assert.deepEqual(
        (error?.issues ?? []).map(({ path, message }) => [path.join(''), message]),
        problems,
      );
    });
});
