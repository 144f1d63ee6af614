import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadPackage } from '../../../src/workflows/package/load.ts';
import { agentPersonaText, allowsTool } from '../../../src/workflows/package/packageAgents.ts';
import { packageNodePromptBlock } from '../../../src/workflows/package/packagePrompt.ts';
import { readWorkflowPackage } from '../../../src/workflows/package/readPackage.ts';
import { builderFiles } from './builderSample.ts';
import { zip } from './zip.ts';

const graphFile = 'workflows/7/workflow.graph.json';
// biome-ignore lint/suspicious/noExplicitAny: any part of a package may be changed
type Change = (value: any) => void;
const changed = (file: string, change: Change): Record<string, string> => {
  const value = JSON.parse(builderFiles[file]!);
  change(value);
  return { [file]: JSON.stringify(value) };
};
const inAgents = (change: Change) => changed('agents.json', change);
const inMenu = (item: object) => inAgents(({ agents }) => (agents[0].menu = [item]));
const inGraph = (change: Change) => changed(graphFile, change);
const inManifest = (change: Change) => changed('bmad.json', change);

const refused: [what: string, changes: Record<string, string | undefined>, message: string | RegExp][] = [
  [
    'another version',
    inManifest((value) => (value.schemaVersion = '1.2')),
    'bmad.json: schemaVersion: "1.2" is not supported; packages of version "1.1" are, and those without a version',
  ],
  [
    'agents of another version',
    inAgents((value) => (value.schemaVersion = '2.0')),
    'agents.json: schemaVersion: only version 1.1 is supported',
  ],
  [
    'a workflow as a node',
    inGraph(({ nodes }) => (nodes[1].type = 'subworkflow')),
    `${graphFile}: nodes[1].type: a node that is a workflow ("subworkflow") is not supported`,
  ],
  [
    'a step file that is not there',
    { 'workflows/7/steps/end-99.md': undefined },
    `${graphFile}: nodes[5].file: "workflows/7/steps/end-99.md" does not exist`,
  ],
  [
    'a step file outside',
    inGraph(({ nodes }) => (nodes[0].file = '../x.md')),
    `${graphFile}: nodes[0].file: "../x.md" is outside the package`,
  ],
  [
    'an output outside',
    inGraph(({ nodes }) => (nodes[0].outputs = ['artifacts/../../x.md'])),
    /nodes\[0\]\.outputs\.artifacts\/\.\.\/\.\.\/x\.md: expected a path below @state\/, @project\/ or relative$/,
  ],
  [
    'an agent that is not there',
    inGraph(({ nodes }) => (nodes[0].agentId = 'nobody')),
    `${graphFile}: nodes[0].agentId: there is no agent "nobody"`,
  ],
  [
    'a circle without an end',
    inGraph(({ edges }) => {
      edges.pop();
      edges.push({ from: 'step-05-note', to: 'step-01-choose', label: 'again' });
    }),
    /nodes\[0\]: nothing leads from "step-01-choose" to an end node/,
  ],
  [
    'a key that nobody knows',
    inAgents(({ agents }) => (agents[1].skills = [])),
    'agents.json: agents[1]: Unrecognized key: "skills"',
  ],
  [
    'a policy with a key that nobody knows',
    inAgents(({ agents }) => (agents[0].tools = { fs: { enabled: true, deny: ['x'] } })),
    'agents.json: agents[0].tools.fs: Unrecognized key: "deny"',
  ],
  [
    'a limit that is not kept',
    inAgents(({ agents }) => (agents[0].tools.fs.maxReadBytes = 1000)),
    /^agents\.json: agents\[0\]\.tools\.fs\.maxReadBytes: at least 65536/,
  ],
  [
    'an agent at a node that may not touch files',
    inAgents(({ agents }) => (agents[1].tools = { fs: { enabled: false } })),
    `${graphFile}: nodes[5]: the agent "summer" has no tool to update the state document with`,
  ],
  [
    'a classic workflow',
    inMenu({ trigger: 'x', description: 'X', workflow: '{project-root}/_bmad/x/workflow.yaml' }),
    'agents.json: agents[0].menu[0].workflow: "{project-root}/_bmad/x/workflow.yaml" is a classic workflow, which is not supported',
  ],
  [
    'a workflow that is not there',
    inMenu({ trigger: 'x', description: 'X', workflow: '8' }),
    'agents.json: agents[0].menu[0].workflow: there is no workflow "8"',
  ],
  [
    'a prompt that is not there',
    inMenu({ trigger: 'x', description: 'X', action: '#gone' }),
    'agents.json: agents[0].menu[0].action: there is no prompt "gone"',
  ],
  [
    'a script that is not there',
    inMenu({ trigger: 'x', description: 'X', exec: 'assets/gone.md' }),
    /^agents\.json: agents\[0\]\.menu\[0\]\.exec: "assets\/gone\.md" does not exist/,
  ],
  [
    'an item with two of them',
    inMenu({ description: 'X', triggers: [{ type: 'handler', match: 'y', exec: 'assets/look.md' }] }),
    /^agents\.json: agents\[0\]\.menu\[0\]\.triggers: only \{"type": "alias", "match": …\} is supported here/,
  ],
  [
    'data for a workflow',
    inMenu({ trigger: 'x', description: 'X', workflow: '7', data: 'assets/look.md' }),
    'agents.json: agents[0].menu[0].data: a workflow starts with a message, not with data',
  ],
];

describe('a package of crewagent-builder 1.1', () => {
  let outer: string;
  beforeEach(() => {
    outer = realpathSync(mkdtempSync(path.join(tmpdir(), 'builder-')));
  });
  afterEach(() => rmSync(outer, { recursive: true }));

  function write(changes: Record<string, string | undefined> = {}): string {
    for (const [file, text] of Object.entries({ ...builderFiles, ...changes })) {
      if (text === undefined) continue;
      mkdirSync(path.dirname(path.join(outer, 'package', file)), { recursive: true });
      writeFileSync(path.join(outer, 'package', file), text);
    }
    return path.join(outer, 'package');
  }

  it('loads: its workflow, its agents and their menus', async () => {
    const { title, workflows, agents } = await loadPackage(write());
    assert.equal(title, 'Release notes, step by step');
    const { graph, template, ...workflow } = workflows[0]!;
    assert.deepEqual(workflow, {
      id: '7',
      title: 'Write release notes',
      description: '',
      graphFile,
      agentId: 'rm',
      artifacts: '@project/artifacts',
    });
    assert.equal(template, builderFiles['workflows/7/workflow.md']);
    assert.equal(graph.entryNodeId, 'step-01-choose');
    assert.equal(
      `\n${packageNodePromptBlock(workflows[0]!, 'step-01-choose')}`,
      `
NODE_BRIEF
- nodeId: step-01-choose
- type: step
- title: Step 1
- stepFile: @pkg/workflows/7/steps/step-01-choose.md
- outputs: {"artifacts/release/target.md":"artifacts/release/target.md"}
- allowedNext: step-02-find (next)`,
    );
    assert.equal(
      agentPersonaText(agents[0]!),
      'You are Rita, Release manager.\nRole: Releases\nIdentity: Somebody who releases\nStyle: Short\nPrinciples:\n- Ask for what is missing\nAlways:\n- Read the state first',
    );
    assert.equal(agentPersonaText(agents[1]!), 'You are Sam, Sums up.\nYou are Sam and say what was made.');
    assert.deepEqual(agents[0]!.menu, [
      { trigger: 'release', title: 'Write release notes', workflow: '7' },
      { trigger: '*notes', title: 'The same by its id', workflow: '7' },
      { trigger: 'greet', title: 'Say hello', prompt: 'Say hello.', aliases: ['hi'] },
      {
        trigger: 'look-over-the-last-notes',
        title: 'Look over the last notes',
        prompt: 'Read @pkg/assets/look.md and do what it says.\nRead CHANGELOG.md first: it is what this is about.',
      },
      { trigger: 'say', title: 'Say why', prompt: 'Say why' },
    ]);
  });

  it('gives its agents what its own host has, and no more', async () => {
    const { agents } = await loadPackage(write());
    const all = ['fs.read', 'fs.apply_patch', 'ask.person', 'shell.run', 'web.fetch', 'mcp.notes.add', 'mcp.other.add'];
    const left = agents.map((agent) => all.filter((tool) => allowsTool(agent, tool)));
    assert.deepEqual(left, [
      ['fs.read', 'fs.apply_patch', 'ask.person'],
      ['fs.read', 'fs.apply_patch', 'ask.person', 'mcp.notes.add'],
    ]);
  });

  it('loads out of its archive', async () => {
    const file = path.join(outer, 'release.bmad');
    writeFileSync(file, zip(Object.entries(builderFiles).map(([name, content]) => ({ name, content }))));
    const read = await readWorkflowPackage(file, path.join(outer, 'storage'));
    assert.ok('source' in read, JSON.stringify(read));
    assert.equal(read.source.workflows.length, 1);
  });

  it('of one node, without an end and without a list of workflows, ends there', async () => {
    const manifest = inManifest((value) => delete value.workflows);
    const one = inGraph((value) => {
      value.nodes.length = 1;
      value.edges = [];
    });
    const { workflows } = await loadPackage(write({ ...manifest, ...one }));
    assert.deepEqual(
      workflows.map(({ id, title, graph }) => [id, title, graph.nodes.map((node) => `${node.id} ${node.type}`)]),
      [['7', 'Release notes, step by step', ['step-01-choose end']]],
    );
  });

  it('says when which way is to be taken, and one way to a node once', async () => {
    const branches = inGraph(({ edges }) => {
      Object.assign(edges[0], { label: 'new', conditionText: "variables.kind == 'new'" });
      edges.push({ from: 'step-01-choose', to: 'step-03-extract', label: 'old', isDefault: true });
      edges.push({ from: 'step-01-choose', to: 'step-03-extract', label: 'older' });
    });
    const { workflows } = await loadPackage(write(branches));
    assert.match(
      packageNodePromptBlock(workflows[0]!, 'step-01-choose'),
      /\n- allowedNext: step-02-find \(new: variables\.kind == 'new'\), step-03-extract \(old \/ older: the default\)$/,
    );
  });

  it('may have nodes that no way leads to, as there', async () => {
    const island = inGraph(({ nodes }) => nodes.push({ ...nodes[0], id: 'island' }));
    assert.equal((await loadPackage(write(island))).workflows.length, 1);
  });

  for (const [what, changes, message] of refused)
    it(`is refused by name for ${what}`, async () =>
      assert.rejects(loadPackage(write(changes)), { name: 'PackageError', message }));
});
