// biome-ignore-all lint/suspicious/noTemplateCurlyInString: as people write it in settings
import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { findImportableItems, importAgentItems } from '../../../src/tools/instructions/importing.ts';
import { workspaceInstructions } from '../../../src/tools/instructions/instructions.ts';
import { parseMcpConfig } from '../../../src/tools/mcp/config/config.ts';
import { addServersToConfig, parseImportableServers } from '../../../src/tools/mcp/config/foreignConfig.ts';
import { agentSchema } from '../../../src/workflows/plan/schema.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';

describe('what other agents have', () => {
  let workspace: TemporaryWorkspace;
  afterEach(() => workspace?.cleanup());
  const looking = () => ({ workspace, isExcluded: () => false });
  const begin = async (files: Record<string, string>, folders?: string[]) => {
    workspace = await temporaryWorkspace(files, { folders });
  };
  const found = async () =>
    (await findImportableItems(looking())).map(
      ({ from, to, becomes, not }) => `${from} → ${to}: ${not ? `(${not})` : becomes}`,
    );
  const all = async () => (await findImportableItems(looking())).filter(({ not }) => !not);

  it('is shown with what becomes of it, and nothing is written for that', async () => {
    await begin({
      '.cursor/rules/core.mdc': '---\nalwaysApply: true\n---\nCore.',
      '.cursor/rules/web/ui.mdc': '---\nglobs: **/*.{tsx,css}, *.html\nalwaysApply: false\n---\nUi.',
      '.cursor/rules/db.mdc': '---\ndescription: Migrations of the database\n---\nDb.',
      '.cursor/rules/by-hand.mdc': 'By hand.',
      '.cursor/rules/picture.png': 'x',
      '.cursorrules': 'Old.',
      '.clinerules/a.md': '---\npaths:\n  - "src/**"\n---\nSources.',
      '.roo/rules/01-style.md': 'Style.',
      '.continue/rules/b.md': '---\nname: B\n---\nB.',
      '.windsurf/rules/c.md': '---\ntrigger: model_decision\ndescription: When C\n---\nC.',
      '.windsurfrules': ' \n',
      'GEMINI.md': 'Gemini.',
    });
    assert.deepEqual(await found(), [
      '.cursor/rules/by-hand.mdc → .github/instructions/cursor-by-hand.instructions.md: only when mentioned with @',
      '.cursor/rules/core.mdc → .github/instructions/cursor-core.instructions.md: sent with every prompt',
      '.cursor/rules/db.mdc → .agents/skills/cursor-db/SKILL.md: a skill, read when mentioned',
      '.cursor/rules/web/ui.mdc → .github/instructions/cursor-web-ui.instructions.md: sent for **/*.{tsx,css},*.html',
      '.cursorrules → .github/instructions/cursor.instructions.md: sent with every prompt',
      '.clinerules/a.md → .github/instructions/cline-a.instructions.md: sent for src/**',
      '.roo/rules/01-style.md → .github/instructions/roo-01-style.instructions.md: sent with every prompt',
      '.continue/rules/b.md → .github/instructions/continue-b.instructions.md: sent with every prompt',
      '.windsurf/rules/c.md → .agents/skills/windsurf-c/SKILL.md: a skill, read when mentioned',
      'GEMINI.md → .github/instructions/gemini.instructions.md: sent with every prompt',
    ]);
    assert.deepEqual(workspace.effects, []);
  });

  it('is told to the model afterwards as it was meant, and stays as it was', async () => {
    await begin({
      '.cursor/rules/core.mdc': '---\nalwaysApply: true\n---\n# Core\n---\nNo header.',
      '.cursor/rules/ui.mdc': '---\nglobs: *.tsx\n---\nUi.',
      '.cursor/rules/db.mdc': '---\ndescription: "Migrations: of the database"\n---\nDb.',
      'src/a.tsx': '',
    });
    const { written, problems } = await importAgentItems(looking(), await all());
    assert.deepEqual([written.length, problems], [3, []]);
    const read = workspaceInstructions(looking());
    assert.deepEqual(
      (await read.everywhere()).map(({ text }) => text),
      ['# Core\n---\nNo header.', '- cursor-db (.agents/skills/cursor-db/SKILL.md): Migrations: of the database'],
    );
    assert.deepEqual(
      (await read.near(['src/a.tsx'])).map(({ text }) => text),
      ['Ui.'],
    );
    assert.equal(workspace.read('.cursor/rules/ui.mdc'), '---\nglobs: *.tsx\n---\nUi.');
    assert.deepEqual(await all(), [], 'what is there is not written again');
  });

  it('of Roo are modes, too: agents of who they are, without what they were allowed', async () => {
    await begin({
      '.roomodes':
        'customModes:\n  - slug: reviewer\n    name: 🔍 Reviewer\n    roleDefinition: You review.\n    customInstructions: Be kind.\n    groups: [read, [edit, {fileRegex: .*}], command]\n  - slug: ../../evil\n    roleDefinition: "a: b # c"\n  - nothing\n',
      '.roo/rules-reviewer/1.md': 'Look at tests.',
    });
    assert.deepEqual(await found(), [
      '.roomodes → .towpath/agents/reviewer.yaml: an agent, with 1 file of its rules; its auto-approved tools are not imported',
      '.roomodes → .towpath/agents/evil.yaml: an agent; its auto-approved tools are not imported',
    ]);
    await importAgentItems(looking(), await all());
    assert.deepEqual(agentSchema.parse(parse(workspace.read('.towpath/agents/reviewer.yaml'))), {
      name: '🔍 Reviewer',
      instructions: 'You review.\n\nBe kind.\n\nLook at tests.',
      approval: 'default',
    });
    assert.equal(agentSchema.parse(parse(workspace.read('.towpath/agents/evil.yaml'))).instructions, 'a: b # c');
  });

  const own = '{\n  // ours\n  "servers": {\n    "files": { "command": "files" }\n  }\n}\n';

  it('are servers, too: as they are started, without keys, and without what they were allowed', async () => {
    await begin({
      '.vscode/mcp.json': own,
      '.cursor/mcp.json': JSON.stringify({
        mcpServers: {
          files: { command: 'evil' },
          db: {
            command: 'npx',
            args: ['-y', 'db', 'sk-live-CANARY'],
            env: { API_KEY: 'CANARY', MODE: 'ro', HOST: '${DB_HOST}' },
            alwaysAllow: ['drop'],
            autoApprove: ['x'],
            disabled: false,
          },
          off: { command: 'off', disabled: true },
          web: { url: 'https://example.com/mcp', headers: { Authorization: 'Bearer ${env:TOKEN}' } },
        },
      }),
      '.mcp.json': '{ broken',
    });
    assert.deepEqual(await found(), [
      '.vscode/mcp.json → .vscode/mcp.json: (server files: Towpath reads it there itself)',
      '.cursor/mcp.json → .vscode/mcp.json: (.vscode/mcp.json already has a server files)',
      '.cursor/mcp.json → .vscode/mcp.json: server db, which needs approval to start; you are asked for 2 keys when it starts; not adopted: alwaysAllow, autoApprove',
      '.cursor/mcp.json → .vscode/mcp.json: server web, which needs approval to start',
    ]);
    await importAgentItems(looking(), await all());
    const text = workspace.read('.vscode/mcp.json');
    assert.ok(text.startsWith('{\n  // ours\n'));
    assert.doesNotMatch(text, /CANARY|alwaysAllow|autoApprove|evil/);
    const { definitions, problems } = await parseMcpConfig({
      name: 'x',
      place: 'x',
      content: text,
      folder: { path: workspace.root, all: [] },
    });
    assert.deepEqual(problems, []);
    assert.deepEqual(
      definitions!.map(({ name, inputs, ...one }) => [name, inputs.length, 'env' in one ? one.env : one.headers]),
      [
        ['files', 0, {}],
        ['db', 2, { API_KEY: '${input:db-api-key}', MODE: 'ro', HOST: '${env:DB_HOST}' }],
        ['web', 0, { Authorization: 'Bearer ${env:TOKEN}' }],
      ],
    );
  });

  it('are put into no file that cannot be read, and such a one is left as it is', async () => {
    await begin({ '.vscode/mcp.json': '{ "servers": [', '.mcp.json': '{"mcpServers":{"a":{"command":"a"}}}' });
    assert.deepEqual(await found(), ['.mcp.json → .vscode/mcp.json: (.vscode/mcp.json cannot be read. Fix it first)']);
    assert.equal(
      addServersToConfig('{ "servers": [', parseImportableServers('{"mcpServers":{"a":{"command":"a"}}}')),
      undefined,
    );
    assert.deepEqual(parseImportableServers('['.repeat(100_000)), []);
  });

  it('goes into each folder of its own, and through no link that leads out', async () => {
    await begin({ 'one/.cursorrules': 'One.', 'two/.cursorrules': 'Two.', '../outside/x': '' }, ['one', 'two']);
    symlinkSync('../../outside', path.join(workspace.root, 'two', '.github'));
    const { written, problems } = await importAgentItems(looking(), await findImportableItems(looking()));
    assert.deepEqual(written, ['one/.github/instructions/cursor.instructions.md']);
    assert.match(problems.join(), /leaves the workspace/);
  });

  it('is nothing where the workspace is not trusted', async () => {
    await begin({ '.cursorrules': 'Old.', '.mcp.json': '{"mcpServers":{"a":{"command":"a"}}}' });
    workspace.trusted = false;
    assert.deepEqual(await findImportableItems(looking()), []);
  });
});
