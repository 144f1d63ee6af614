import assert from 'node:assert/strict';
import path from 'node:path';
import type { McpServerDefinition, StdioServerConfig } from '../../../src/tools/mcp/config/config.ts';
import { serverCommandFiles } from '../../../src/tools/mcp/startedFiles.ts';
import { faultyServer } from '../../support/mcp/servers.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { closeAll, node, talk } from './talk.ts';

afterEach(closeAll);

describe('MCP: the files that a server is started from', () => {
  let workspace: TemporaryWorkspace;
  before(async () => {
    workspace = await temporaryWorkspace({
      'server.js': '',
      'bin/run.sh': '',
      'tools/index.js': '',
      'tools/app/main.py': '',
      'config.json': '',
      'pkg/serve.py': '',
    });
  });
  after(() => workspace.cleanup());

  const named: [command: Partial<StdioServerConfig> & Pick<StdioServerConfig, 'command'>, files: string[], free: string[]][] = [
    [{ command: 'node', args: ['server.js'] }, ['server.js'], ['config.json']],
    [{ command: './bin/run.sh' }, ['bin/run.sh'], ['server.js']],
    [{ command: 'node', args: ['tools'] }, ['tools/index.js', 'tools/package.json'], ['server.js']],
    [{ command: 'uv', args: ['--directory', 'tools/app', 'run', 'main.py'] }, ['tools/app/main.py'], ['server.js']],
    [{ command: 'x', args: ['--config=config.json'] }, ['config.json'], ['server.js']],
    [{ command: 'python3', args: ['-m', 'pkg.serve'] }, ['pkg/serve.py'], ['server.js']],
    [{ command: 'node', args: ['dist/later.js'] }, ['dist/later.js'], ['server.js']],
    [{ command: 'node', args: ['-e', '1'], env: { NODE_OPTIONS: '--require ./server.js' } }, ['server.js'], ['config.json']],
    [{ command: 'npx', args: ['-y', 'filesystem', '.'] }, [], ['server.js', 'tools/index.js']],
    [{ command: 'node', args: ['../outside.js', '/etc/passwd'] }, [], ['server.js']],
  ]; // biome-ignore format: a table
  for (const [local, files, free] of named)
    it([local.command, ...(local.args ?? []), ...Object.values(local.env ?? {})].join(' '), () => {
      const definition = {
        type: 'stdio',
        args: [],
        env: {},
        cwd: workspace.root,
        ...local,
      } as unknown as McpServerDefinition;
      const found = serverCommandFiles(definition, workspace.roots).map((file) => path.relative(workspace.root, file));
      assert.deepEqual(
        [files.filter((file) => !found.includes(file)), free.filter((file) => found.includes(file))],
        [[], []],
      );
      assert.equal(
        found.some((file) => file.startsWith('..')),
        false,
      );
    });
});

describe('MCP: what changed while a server was asked about', () => {
  const one = (...args: string[]) => ({ servers: { odd: node(faultyServer, ...args) } });

  it('is asked about as it is then: a file that its command names', async () => {
    const t = await talk(one('script.js'));
    t.workspace.write('script.js', 'one');
    let asked = 0;
    t.person.approveServer = async (question) => {
      t.asked.servers.push(question);
      asked += 1;
      if (asked === 1) t.workspace.write('script.js', 'two');
      return 'allow';
    };
    await t.prepare();
    assert.deepEqual(
      t.asked.servers.map(({ meanwhile }) => meanwhile),
      [undefined, true],
    );
    assert.equal(t.server('odd').state.phase, 'running');
    assert.deepEqual(t.servers.startedFiles().includes(path.join(t.workspace.root, 'script.js')), true);
  });

  it('is asked about as it is then: its command', async () => {
    const t = await talk(one());
    t.person.approveServer = async (question) => {
      t.asked.servers.push(question);
      if (t.asked.servers.length > 1) return 'deny';
      t.configure(one('greets'));
      return 'allow';
    };
    await t.prepare();
    assert.deepEqual(
      t.asked.servers.map(({ definition, meanwhile }) => [
        definition.type === 'stdio' && definition.args[1],
        meanwhile,
      ]),
      [
        [undefined, undefined],
        ['greets', true],
      ],
    );
    assert.deepEqual([t.server('odd').state, t.kept.value], [{ phase: 'stopped' }, undefined]);
  });

  it('starts nothing when the folders are not trusted any more', async () => {
    const t = await talk(one());
    t.person.approveServer = async () => {
      t.workspace.trusted = false;
      return 'allow';
    };
    await t.prepare();
    assert.deepEqual([t.servers.servers, t.kept.value], [[], undefined]);
  });

  it('starts nothing that is configured no more, and leaves none running', async () => {
    const t = await talk(one());
    await t.prepare();
    const server = t.server('odd');
    await server.stop();
    t.configure({ servers: {} });
    await t.servers.reload();
    await t.servers.start(server);
    assert.deepEqual(server.state, { phase: 'stopped' });
  });
});
