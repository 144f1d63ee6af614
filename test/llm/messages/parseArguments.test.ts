import assert from 'node:assert/strict';
import { createToolNameMapping, toWireToolName } from '../../../src/llm/core/wireToolNames.ts';
import { parseToolArguments } from '../../../src/llm/messages/parseArguments.ts';

const good: [text: string, value: object][] = [
  ['', {}],
  [' \n', {}],
  ['{}', {}],
  ['{"path":"a","limit":2.5e3}', { path: 'a', limit: 2500 }],
  ['{"text":"{\\"path\\": 1, \\"path\\": 2}"}', { text: '{"path": 1, "path": 2}' }],
  ['{"a":{"x":1},"b":{"x":1}}', { a: { x: 1 }, b: { x: 1 } }],
  ['{"list":["x","x",{"x":"\\\\"}],"x" : -0}', { list: ['x', 'x', { x: '\\' }], x: -0 }],
];

const malformed: [why: string, text: string][] = [
  ['cut off', '{"path":"a'],
  ['two objects', '{"a":1}{"b":2}'],
  ['not an object', '["a"]'],
  ['text', '"a"'],
  ['null', 'null'],
  ['a comma too many', '{"a":1,}'],
  ['NaN', '{"a":NaN}'],
  ['a number without end', '{"a":1e400}'],
  ['the same, negative, inside', '{"a":[{"b":-1e999}]}'],
  ['a key twice', '{"path":"a","path":"../b"}'],
  ['a key twice, written differently', '{"path":"a","p\\u0061th":"../b"}'],
  ['a key twice, deep inside', '{"a":[{"b":{"c":1,"d":2,"c":3}}]}'],
  ['__proto__', '{"__proto__":{"auto":true}}'],
  ['__proto__ in disguise', '{"a":{"__pr\\u006fto__":{"auto":true}}}'],
  ['201 levels', `${'{"a":'.repeat(201)}1${'}'.repeat(201)}`],
  ['a million levels', `{"a":${'['.repeat(1_000_000)}`],
];

describe('the arguments of a call', () => {
  for (const [text, value] of good) {
    it(`${JSON.stringify(text)} is read`, () => assert.deepEqual(parseToolArguments(text), { arguments: value }));
  }
  for (const [why, text] of malformed) {
    it(`malformed, never mended: ${why}`, () => {
      assert.deepEqual(parseToolArguments(text), { arguments: {}, malformed: text });
      assert.equal(({} as { auto?: boolean }).auto, undefined);
    });
  }
  it('200 levels are read', () => {
    assert.equal(parseToolArguments(`${'{"a":'.repeat(200)}1${'}'.repeat(200)}`).malformed, undefined);
  });
});

describe('names of tools on the wire', () => {
  it('dots become underscores, and the way back knows the tools', () => {
    const fromWire = createToolNameMapping([
      { name: 'fs.read' },
      { name: 'fs.apply_patch' },
      { name: 'mcp.files/list' },
    ]);
    const there = ['fs.read', 'fs.apply_patch', 'mcp.files/list'].map(toWireToolName);
    assert.deepEqual(there, ['fs_read', 'fs_apply_patch', 'mcp_files_list']);
    assert.deepEqual(there.map(fromWire), ['fs.read', 'fs.apply_patch', 'mcp.files/list']);
  });
  it('long names have their beginning and a hash, each its own, and the way back knows them', () => {
    const tools = ['a', 'b'].map((end) => ({ name: `mcp.files.${'x'.repeat(60)}.${end}` }));
    const there = tools.map(({ name }) => toWireToolName(name));
    for (const name of there) assert.match(name, /^mcp_files_x{43}_[0-9a-f]{10}$/);
    assert.notEqual(there[0], there[1]);
    assert.deepEqual(there.map(toWireToolName), there);
    assert.deepEqual(
      there.map(createToolNameMapping(tools)),
      tools.map(({ name }) => name),
    );
  });
  it('unknown names stay as they are, those of objects included', () => {
    const fromWire = createToolNameMapping([{ name: 'fs.read' }]);
    assert.deepEqual(['fs.read', 'rm', 'constructor', '__proto__', 'toString'].map(fromWire), [
      'fs.read',
      'rm',
      'constructor',
      '__proto__',
      'toString',
    ]);
  });
});
