// biome-ignore-all lint/suspicious/noTemplateCurlyInString: VS Code's own variables
import assert from 'node:assert/strict';
import { parseMcpConfig } from '../../../../src/tools/mcp/config/config.ts';
import {
  addServersToConfig,
  type ImportableMcpServer,
  removeServerFromConfig,
  toImportableServer,
} from '../../../../src/tools/mcp/config/foreignConfig.ts';
import { uniqueServerName } from '../../../../src/tools/mcp/config/proposedName.ts';
import { hasLineComments, parseServerInput } from '../../../../src/tools/mcp/config/serverInput.ts';
import { casesOf } from '../../../outside/cases.ts';

interface InputCase {
  input: string;
  windows?: boolean;
  servers: {
    name: string;
    server: object;
    inputs?: string[];
    values?: Record<string, string>;
    left?: string[];
  }[];
}

const entered = (input: string, isWindows = false): ImportableMcpServer[] =>
  parseServerInput(input, isWindows).map(
    ({ name, entry, inputs }) => toImportableServer(name, entry, inputs, isWindows)!,
  );

describe('the input of a new MCP server', () => {
  for (const { title, input: one } of casesOf<InputCase>('server-input'))
    it(`${title}: ${one.input.replace(/\s+/g, ' ').slice(0, 90)}`, async () => {
      const found = entered(one.input, one.windows);
      assert.deepEqual(
        found.map(({ name, server, inputs, values, left }) => ({
          name,
          server,
          ...(inputs.length > 0 && { inputs: inputs.map(({ id }) => id) }),
          ...(values.size > 0 && { values: Object.fromEntries(values) }),
          ...(left.length > 0 && { left }),
        })),
        one.servers,
      );
      const text = addServersToConfig(undefined, found)!;
      for (const { values } of found) for (const value of values.values()) assert.ok(!text.includes(value), text);
      const folder = { path: '/w', all: [] };
      const { problems } = await parseMcpConfig({ name: 'x', place: 'x', content: text, folder });
      assert.deepEqual(problems, []);
    });

  it('has line ends that an input box loses only if a comment needs them', () => {
    assert.ok(hasLineComments('{ // two "servers": {} }'));
    assert.ok(hasLineComments('// mcp.json { "servers": {} }'));
    assert.ok(!hasLineComments('{"servers":{"a":{"url":"https://a.example//mcp"}}}'));
    assert.ok(!hasLineComments('npx -y x //'));
  });

  it('never throws', () => {
    for (const text of [
      '['.repeat(100_000),
      '"'.repeat(1000),
      '{"a":'.repeat(60),
      '\\',
      '%',
      '$',
      '<',
      "'",
      'a=',
      '=a',
    ])
      assert.deepEqual(parseServerInput(text).length <= 1, true, text.slice(0, 20));
  });

  it('gets a name that no other server has', () => {
    assert.equal(uniqueServerName('memory', new Set()), 'memory');
    assert.equal(uniqueServerName('memory', new Set(['memory', 'memory-2'])), 'memory-3');
  });
});

describe('a file of servers', () => {
  const before = `{
  // ours
  "inputs": [
    // the tracker's
    { "type": "promptString", "id": "tracker-token" }
  ],
  "servers": {
    "tracker": { "url": "https://tracker.example/mcp", "headers": { "X": "\${input:tracker-token}" } } // here
  }
}
`;

  it('keeps its comments when a server is added, and is the same when that is removed', () => {
    const added = addServersToConfig(before, entered('API_KEY=CANARY npx -y tickets-mcp'))!;
    for (const comment of ['// ours', "// the tracker's", '// here']) assert.ok(added.includes(comment), added);
    assert.ok(added.includes('"id": "tickets-api-key"'), added);
    assert.ok(!added.includes('CANARY'));
    const removed = removeServerFromConfig(added, 'tickets')!;
    assert.doesNotMatch(removed, /tickets/);
    for (const comment of ['// ours', "// the tracker's", '// here']) assert.ok(removed.includes(comment), removed);
    assert.ok(removed.includes('tracker-token'));
  });

  it('loses the inputs of a removed server that no other server uses', () => {
    const two =
      '{"inputs":[{"id":"a"},{"id":"b"}],"mcpServers":{"x":{"env":{"A":"${input:a}","B":"${input:b}"}},"y":{"env":{"B":"${input:b}"}}}}';
    assert.deepEqual(JSON.parse(removeServerFromConfig(two, 'x')!), {
      inputs: [{ id: 'b' }],
      mcpServers: { y: { env: { B: '${input:b}' } } },
    });
    assert.equal(removeServerFromConfig(two, 'z'), two);
    assert.equal(removeServerFromConfig('{ broken', 'x'), undefined);
  });
});
