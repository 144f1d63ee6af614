import assert from 'node:assert/strict';
import { localize } from '../../../src/protocol/text/localized.ts';
import { toolNames } from '../../../src/tools/definitions/definitions.ts';
import { repositoryAgentAbilities } from '../../../src/workflows/agents/agentAbilities.ts';
import { agentFormatOf, agentNameOfFile } from '../../../src/workflows/agents/agentLocations.ts';
import { repositoryAgentTurnOptions } from '../../../src/workflows/agents/agentTurns.ts';
import {
  parseAgentMarkdown,
  type RepositoryAgent,
  type RepositoryAgentResult,
} from '../../../src/workflows/agents/parseAgentMarkdown.ts';
import { allowsTool } from '../../../src/workflows/package/packageAgents.ts';
import { publicAgents } from './publicAgents.ts';

const all = ['read', 'change', 'run', 'web', 'mcp'];
const parse = (text: string, path = '.claude/agents/looker.md') => parseAgentMarkdown(text, path, agentFormatOf(path)!);
const notesOf = ({ notes }: RepositoryAgent) => notes.map(localize);
const problemOf = (result: RepositoryAgentResult) => result.problem && localize(result.problem);

function agentOf(head: string, path?: string): RepositoryAgent {
  const result = parse(`---\n${head}\n---\nLook at it.\n`, path);
  if (result.problem !== undefined) assert.fail(localize(result.problem));
  return result.agent;
}

/** Tools of a run in which a read-only agent, too, may use what only reads. */
const run = { maxTurns: 20, reads: (tool: string) => /^(fs\.(read|list|find|search)|code\.)/.test(tool) };
const offered = [...toolNames(), 'mcp.search_tools', 'mcp.call_tool', 'mcp.read_resource', 'mcp.opik.get-prompts'];
function allowedOf(agent: RepositoryAgent): string[] {
  const { allows } = repositoryAgentTurnOptions('a', agent, run);
  return offered.filter((name) => allows!({ name, description: '', parameters: {} }));
}

describe('Agents of a repository', () => {
  it(`are read from ${publicAgents.length} public files of different repositories`, () => {
    assert.ok(publicAgents.length >= 40);
    assert.equal(new Set(publicAgents.map(({ of }) => of)).size, publicAgents.length);
    for (const { of, file, head, can, models = [], unknown = [], ignored = 0, asks, not, loose } of publicAgents) {
      const agent = agentOf(head, file);
      const [, name] = /^name: (.*)$/m.exec(head) ?? [];
      const seen = {
        name: agent.name,
        hasDescription: agent.description !== '',
        can: repositoryAgentAbilities(agent),
        models: agent.models,
        unknown: agent.unknownTools,
        ignored: notesOf(agent).filter((note) => note.includes('cannot permit anything')).length,
        asks: agent.asks,
        not: notesOf(agent).find((note) => note.startsWith('Not used:')),
        loose: notesOf(agent).some((note) => note.includes('read line by line')),
      };
      assert.deepEqual(
        seen,
        {
          name: name ?? agentNameOfFile(file),
          hasDescription: true,
          can: can === 'all' ? all : can,
          models,
          unknown,
          ignored,
          asks: asks ?? false,
          not: not && `Not used: ${not}.`,
          loose: loose ?? false,
        },
        of,
      );
    }
  });

  it('never get a tool that their run does not offer, nor a grant', () => {
    let narrowed = 0;
    for (const { of, file, head, can } of publicAgents) {
      const agent = agentOf(head, file);
      const { allows, extraTools, agent: speaker } = repositoryAgentTurnOptions('a', agent, run);
      assert.equal(extraTools, undefined, of);
      assert.ok(speaker.approval === undefined || speaker.approval === 'ask', of);
      const allowed = allowedOf(agent);
      assert.ok(
        allowed.every((name) => offered.includes(name)),
        of,
      );
      if (can === 'all') assert.deepEqual(allowed, offered, of);
      else {
        narrowed++;
        assert.ok(allowed.length < offered.length, of);
        if (!can.includes('change'))
          for (const name of ['fs.write', 'fs.edit', 'fs.apply_patch', 'fs.move', 'fs.delete'])
            assert.ok(!allows!({ name, description: '', parameters: {} }), `${of} ${name}`);
        if (!can.includes('run')) assert.ok(!allowed.includes('shell.run'), of);
      }
    }
    assert.ok(narrowed >= 25, String(narrowed));
  });

  it('get the tools that a name stands for in the format of their folder', () => {
    const allow = (names: string, path: string) => agentOf(`description: x\ntools: [${names}]`, path).tools.allow;
    assert.deepEqual(allow('Edit', '.claude/agents/a.md'), ['fs.edit']);
    assert.deepEqual(allow('edit', '.github/agents/a.md'), ['fs.edit', 'fs.write', 'fs.apply_patch']);
    assert.deepEqual(allow('mcp__git__log, mcp__docs', '.claude/agents/a.md'), ['mcp.git.log', 'mcp.docs.*']);
    assert.deepEqual(allow('github/get_issue, search/usages', '.github/agents/a.md'), [
      'mcp.github.get_issue',
      'code.definition',
      'code.references',
      'code.symbols',
    ]);
    assert.deepEqual(allow('fs.*, web.fetch', '.claude/agents/a.md')?.includes('fs.read'), true);
  });

  it('have every tool of their run without a list, and none with an empty one', () => {
    assert.deepEqual(allowedOf(agentOf('description: x')), offered);
    for (const list of ['tools: []', 'tools:', 'tools: [vscode/extensions, ms-python.python/getEnvironment]'])
      assert.deepEqual(allowedOf(agentOf(`description: x\n${list}`, '.github/agents/a.md')), [], list);
  });

  it('lose what their file denies, and the way around it', () => {
    const left = (head: string, path?: string) => allowedOf(agentOf(`description: x\n${head}`, path));
    const without = (...tools: string[]) => offered.filter((name) => !tools.includes(name));
    const changes = ['fs.write', 'fs.apply_patch', 'fs.move', 'fs.delete', 'fs.edit'];
    assert.deepEqual(left('disallowedTools: Write, Edit, NotebookEdit'), without(...changes));
    assert.deepEqual(left('disallowedTools: [Bash, Task, WebSearch]'), without('shell.run', 'shell.stop'));
    const opencode = '.opencode/agent/a.md';
    assert.deepEqual(left('tools: {"opik_*": false}', opencode), without('mcp.opik.get-prompts', 'mcp.call_tool'));
    assert.deepEqual(left('permission: {edit: deny}', opencode), without(...changes));
    assert.deepEqual(left('permission: {"*": deny, read: allow}', opencode), ['fs.read', 'output.read']);
    assert.deepEqual(left('tools: {"*": false, grep: true}', opencode), ['fs.search']);
    assert.deepEqual(
      left(
        'permissions:\n  - {action: edit, resource: "*", effect: deny}\n  - {action: shell, resource: "*", effect: deny}',
        opencode,
      ),
      without(...changes, 'shell.run', 'shell.stop'),
    );
    assert.deepEqual(
      left('permissionMode: plan'),
      offered.filter((name) => run.reads(name) || name === 'ask.person'),
    );
  });

  it('are asked about on each call if their file asks or denies a part of a tool', () => {
    for (const head of ['permission: {bash: ask}', 'permission: {bash: {"rm *": deny}}', 'permission: ask'])
      assert.equal(agentOf(`description: x\n${head}`, '.opencode/agent/a.md').asks, true, head);
  });

  it('do not get a permission that their file requests, which is said', () => {
    for (const mode of ['bypassPermissions', 'acceptEdits', 'dontAsk', 'auto']) {
      const agent = agentOf(`description: x\npermissionMode: ${mode}`);
      assert.deepEqual(notesOf(agent), [
        `The file requests “permissionMode: ${mode}”. Files cannot permit anything, so this is ignored.`,
      ]);
      assert.deepEqual(allowedOf(agent), offered);
    }
    const hooks = agentOf(
      'description: x\nhooks: {PreToolUse: [{command: rm -rf .}]}\nmcpServers: [{x: {command: x}}]',
    );
    assert.deepEqual(notesOf(hooks), ['Not used: mcpServers, hooks.']);
  });

  it('are read with a byte order mark, with other line ends and without front matter', () => {
    const crlf = parse('\uFEFF---\r\nname: x\r\ntools:\r\n- Read\r\n---\r\n\r\nLook.\r\nAgain.\r\n');
    assert.equal(crlf.problem, undefined);
    assert.deepEqual(
      [crlf.agent!.name, crlf.agent!.tools.allow, crlf.agent!.instructions],
      ['x', ['fs.read', 'output.read'], 'Look.\nAgain.'],
    );
    const bare = parse('Look at the code.\n---\nThat is a line.\n');
    assert.deepEqual(
      [bare.agent?.name, bare.agent?.instructions, bare.agent && notesOf(bare.agent)],
      [
        'looker',
        'Look at the code.\n---\nThat is a line.',
        ['It has no front matter: its whole text is its instructions.'],
      ],
    );
  });

  it('are read line by line from invalid YAML, but not if what limits them is unclear', () => {
    const bad = 'description: Use it: always: now';
    for (const tools of ['tools: Read, Grep', 'tools: [Read, "Grep"]', "tools:\n  - Read\n  - 'Grep'"])
      assert.deepEqual(agentOf(`${bad}\n${tools}`).tools.allow, ['fs.read', 'output.read', 'fs.search'], tools);
    for (const tools of [
      'tools:\n  write: false',
      'tools: {write: false}',
      'permission:\n  edit: deny',
      'tools: |\n  Read',
      'tools: Read\ntools: Bash',
      'disallowedTools: *write',
    ]) {
      const problem = problemOf(parse(`---\n${bad}\n${tools}\n---\nLook.\n`));
      assert.match(problem ?? '', /is no valid YAML, and its key \w+ cannot be read\./, tools);
    }
  });

  it('of a file that cannot be used name the reason', () => {
    assert.equal(problemOf(parse('---\nname: x\n---\n')), 'It has no instructions below its front matter.');
    assert.equal(problemOf(parse('x'.repeat(300_000))), 'The file is larger than 256 KiB.');
    assert.equal(problemOf(parse('---\ndisable: true\n---\nLook.')), 'Its file disables it.');
  });

  it('survive what strangers write', () => {
    const deep = `---\ntools: ${'['.repeat(5000)}\n---\nLook.`;
    assert.match(problemOf(parse(deep)) ?? '', /cannot be read/);
    const bomb = `---\na: &a [x, x]\nb: &b [${'*a, '.repeat(60)}]\ntools: [${'*b, '.repeat(60)}]\n---\nLook.`;
    assert.match(problemOf(parse(bomb)) ?? '', /cannot be read/);
    const odd = agentOf(
      '__proto__: {tools: [Read]}\nconstructor: x\nname: [1]\ndescription: {a: 1}\nmodel: [1, {}]\ntools: [1, {}, null]',
    );
    assert.deepEqual([odd.name, odd.description, odd.models, odd.tools.allow], ['looker', '', [], []]);
    const hidden = agentOf('name: "re\\u202Eviewer\\nx"\ndescription: x');
    assert.ok(!/[\u202E\n]/.test(hidden.name), hidden.name);
    assert.equal(allowsTool(agentOf('tools: [Read]'), 'constructor'), false);
  });

  it('are only those of the folders of agents', () => {
    assert.equal(agentFormatOf('.github/agents/a.agent.md'), 'github');
    assert.equal(agentFormatOf('.opencode/agents/a.md'), 'opencode');
    for (const path of [
      '.github/agents/README.md',
      '.claude/agents/.md',
      '.claude/agents/x/a.md',
      'a.md',
      'x/.claude/agents/a.md',
    ])
      assert.equal(agentFormatOf(path), undefined, path);
  });
});
