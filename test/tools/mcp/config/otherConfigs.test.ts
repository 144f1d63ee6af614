import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findServersElsewhere } from '../../../../src/tools/mcp/config/otherConfigs.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../../support/workspace.ts';

const server = (command: string, more: object = {}) => ({ [command]: { command, ...more } });

describe('servers that the user has elsewhere', () => {
  let workspace: TemporaryWorkspace;
  afterEach(() => workspace?.cleanup());

  const found = async (files: Record<string, unknown>, more: object = {}) => {
    workspace = await temporaryWorkspace({});
    const home = workspace.root;
    for (const [file, content] of Object.entries(files)) {
      mkdirSync(path.join(home, path.dirname(file)), { recursive: true });
      writeFileSync(path.join(home, file), typeof content === 'string' ? content : JSON.stringify(content));
    }
    const system = {
      platform: 'linux' as const,
      env: {},
      home,
      editorName: 'Editor',
      editorFolder: path.join(home, 'User'),
      openUri: 'file:///w',
      ...more,
    };
    return (await findServersElsewhere(system)).map(({ program, name }) => `${program}: ${name}`);
  };

  it('are those of the editor, of Claude Desktop and of Cursor; switched off and unreadable ones are left out', async () =>
    assert.deepEqual(
      await found({
        'User/mcp.json': '{ // mine\n "servers": { "a": { "command": "a" }, }, }',
        '.config/Claude/claude_desktop_config.json': { mcpServers: server('b'), globalShortcut: '' },
        '.cursor/mcp.json': { mcpServers: { ...server('c'), ...server('d', { disabled: true }) } },
      }),
      ['Editor: a', 'Claude Desktop: b', 'Cursor: c'],
    ));

  it('are those of the workspace’s settings profile', async () => {
    const files = {
      'User/mcp.json': { servers: server('default') },
      'User/profiles/-1a2b/mcp.json': { servers: server('profile') },
    };
    const state = (id: string) => ({
      'User/globalStorage/storage.json': { profileAssociations: { workspaces: { 'file:///w': id } } },
    });
    assert.deepEqual(await found({ ...files, ...state('-1a2b') }), ['Editor: profile']);
    assert.deepEqual(await found({ ...files, ...state('__default__profile__') }), ['Editor: default']);
    assert.deepEqual(await found({ ...files, ...state('../../etc') }), ['Editor: default']);
    assert.deepEqual(await found({ ...files, ...state('-1a2b') }, { openUri: 'file:///other' }), ['Editor: default']);
  });

  it('are none where there is no such file, or no text of an object in it', async () => {
    assert.deepEqual(await found({}), []);
    assert.deepEqual(await found({ '.cursor/mcp.json': 'npx -y evil', 'User/mcp.json': '{ broken' }), []);
  });
});
