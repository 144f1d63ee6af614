// biome-ignore-all lint/suspicious/noTemplateCurlyInString: VS Code's own variables
import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import { type McpConfigSource, parseMcpConfig } from '../../../../src/tools/mcp/config/config.ts';
import { faultyServer } from '../../../support/mcp/servers.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../../support/workspace.ts';
import { closeAll, node, talk } from '../talk.ts';

let workspace: TemporaryWorkspace;
before(async () => {
  workspace = await temporaryWorkspace({
    '.env': 'API_TOKEN=sk-CANARYKEY1234567890\n# a comment\nPLAIN="two words"\n',
  });
});
after(() => workspace.cleanup());
afterEach(closeAll);

const read = (content: McpConfigSource['content']) =>
  parseMcpConfig({
    name: '.vscode/mcp.json',
    place: '/w/.vscode/mcp.json',
    content,
    folder: { path: workspace.root, all: [...workspace.roots, { name: 'other', path: '/other' }] },
  });

describe('MCP: the configuration', () => {
  it('is VS Code’s: comments, trailing commas, variables, an env file, unknown keys', async () => {
    const { definitions, problems } = await read(`{
      // servers of this folder
      "inputs": [{ "type": "promptString", "id": "token", "description": "Token", "password": true }],
      "servers": {
        "local": {
          "type": "stdio", "command": "npx", "args": ["-y", "\${workspaceFolder}/s.js", "\${env:HOME}", "\${workspaceFolder:other}"],
          "env": { "N": 1, "GONE": null, "T": "\${input:token}" }, "envFile": "\${workspaceFolder}/.env", "dev": { "watch": "x" },
        },
        "far": { "url": "https://example.com/mcp", "headers": { "Authorization": "Bearer \${input:token}" } },
        "old": { "type": "sse", "url": "http://127.0.0.1:1/\${userHome}" },
      },
    }`);
    assert.deepEqual(problems, []);
    const [local, far, old] = definitions!.map(({ hash, source, place, ...rest }) => {
      assert.match(hash, /^[0-9a-f]{64}$/);
      assert.deepEqual([source, place], ['.vscode/mcp.json', '/w/.vscode/mcp.json']);
      return rest;
    });
    const token = { type: 'promptString', id: 'token', description: 'Token', password: true };
    assert.deepEqual(local, {
      name: 'local',
      type: 'stdio',
      command: 'npx',
      args: ['-y', `${workspace.root}/s.js`, '${env:HOME}', '/other'],
      cwd: workspace.root,
      env: { API_TOKEN: 'sk-CANARYKEY1234567890', PLAIN: 'two words', N: '1', GONE: null, T: '${input:token}' },
      inputs: [token],
    });
    assert.deepEqual(far, {
      name: 'far',
      type: 'http',
      url: 'https://example.com/mcp',
      headers: { Authorization: 'Bearer ${input:token}' },
      inputs: [token],
    });
    assert.deepEqual(old, {
      name: 'old',
      type: 'sse',
      url: `http://127.0.0.1:1/${homedir()}`,
      headers: {},
      inputs: [],
    });
  });

  const wrong: [what: string, content: string, problem: string][] = [
    ['no JSON', '{\n "servers": {\n', 'line 3: this is not JSON (CloseBraceExpected).'],
    ['a list of servers', '{"servers": []}', 'servers: expected record, received array'],
    ['no command', '{"servers": {"a": {}}}', 'servers.a.command: expected string, received undefined'],
    ['a text for arguments', '{"servers": {"a": {"command": "x", "args": "y"}}}', 'servers.a.args: expected array, received string'],
    ['a number for an argument', '{"servers": {"a": {"command": "x", "args": ["y", 1]}}}', 'servers.a.args[1]: expected string, received number'],
    ['no address', '{"servers": {"a": {"url": "example.com"}}}', 'servers.a.url: an address starts with https:// or http://.'],
    ['another protocol', '{"servers": {"a": {"url": "file:///etc/passwd"}}}', 'servers.a.url: an address starts with https:// or http://.'],
    ['an unknown type', '{"servers": {"a": {"type": "ws", "url": "https://x"}}}', 'servers.a.type: Invalid option: expected one of "http"|"sse"'],
    ['an unknown variable', '{"servers": {"a": {"command": "${command:x}"}}}', 'servers.a.command: ${command:x} has no meaning here.'],
    ['an unknown folder', '{"servers": {"a": {"command": "${workspaceFolder:x}"}}}', 'servers.a.command: ${workspaceFolder:x} has no meaning here.'],
    ['an unknown input', '{"servers": {"a": {"command": "${input:x}"}}}', 'servers.a: there is no input "x" in inputs.'],
    ['an input we cannot ask for', '{"inputs": [{"type": "command", "id": "x"}]}', 'inputs[0].type: Towpath supports promptString and pickString.'],
    ['an env file that never ends', '{"servers": {"a": {"command": "x", "envFile": "/dev/zero"}}}', 'servers.a.envFile: it cannot be read (not a regular file).'],
    ['no env file', '{"servers": {"a": {"command": "x", "envFile": "none"}}}', 'servers.a.envFile: it cannot be read (ENOENT).'],
  ]; // biome-ignore format: a table
  for (const [what, content, problem] of wrong)
    it(`${what}: the file and the key are named`, async () => {
      const { definitions = [], problems } = await read(content);
      assert.deepEqual([problems, definitions], [[`.vscode/mcp.json: ${problem}`], []]);
    });

  it('one wrong server leaves the others alone', async () => {
    const { definitions, problems } = await read('{"servers": {"bad": {}, "good": {"command": "x"}}}');
    assert.deepEqual([definitions?.map(({ name }) => name), problems.length], [['good'], 1]);
  });

  it('a file that makes no sense while it is being written takes nothing away', async () => {
    const t = await talk({ servers: { odd: node(faultyServer) } });
    await t.prepare();
    t.configure('{ "servers": { "odd": ');
    await t.servers.reload();
    assert.equal(t.server('odd').state.phase, 'running');
    assert.equal(t.servers.problems.length, 1);
    t.configure('{}');
    await t.servers.reload();
    assert.deepEqual([t.servers.servers, t.servers.problems], [[], []]);
  });
});

describe('MCP: what a server is given', () => {
  const canary = 'sk-CANARYKEY1234567890';
  const config = {
    inputs: [{ type: 'promptString', id: 'token', password: true, default: canary }],
    servers: {
      odd: { ...node(faultyServer, 'environment'), env: { GIVEN: '${input:token}', PLAIN: 'plain', PATH: null } },
    },
  };

  it('its folder and its variables, nothing secret of the editor’s, and its inputs once', async () => {
    process.env.SOME_API_KEY = canary;
    try {
      const t = await talk(config);
      await t.prepare();
      const outcome = await t.call('mcp.odd.work', {});
      assert.ok(outcome.ok);
      const { env, cwd } = JSON.parse((outcome.data as { text: string }).text);
      assert.deepEqual([cwd, env.PLAIN, env.PATH, env.SOME_API_KEY], [t.workspace.root, 'plain', undefined, undefined]);
      assert.equal(env.GIVEN, '•••', 'it was given, and does not come back');
      assert.deepEqual(t.asked.inputs, ['token']);
      assert.ok(
        !JSON.stringify([t.logged, t.said, t.events, t.kept.value, t.asked.servers[0]!.definition.hash]).includes(
          canary,
        ),
      );
    } finally {
      delete process.env.SOME_API_KEY;
    }
  });

  it('without a value that it needs it is not started', async () => {
    const t = await talk(config);
    t.person.input = async () => undefined;
    await t.prepare();
    assert.deepEqual(t.server('odd').state, { phase: 'stopped' });
  });
});
