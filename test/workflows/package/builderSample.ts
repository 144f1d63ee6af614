/** What a step file of the builder begins with, and what it says. */
const step = (nodeId: string, type: string, text: string) =>
  `---\nschemaVersion: "1.1"\nnodeId: "${nodeId}"\ntype: "${type}"\n---\n\n${text}\n`;

const persona = (role: string) => ({
  role,
  identity: `Somebody who ${role.toLowerCase()}`,
  communication_style: 'Short',
  principles: ['Ask for what is missing'],
});

const nodes: [id: string, outputs: string[], agentId?: string][] = [
  ['step-01-choose', ['artifacts/release/target.md']],
  ['step-02-find', ['artifacts/release/inputs.md']],
  ['step-03-extract', ['artifacts/release/context.md']],
  ['step-04-write', ['artifacts/notes/<version>.md']],
  ['step-05-note', ['artifacts/release/update.md']],
  ['end-99', ['artifacts/release/summary.md'], 'summer'],
];

/**
 * A package as crewagent-builder exports it (version 1.1), six nodes in a row for two agents: names under `metadata`, outputs as lists,
 * step paths from the archive's root, an empty current node.
 */
export const builderFiles: Record<string, string> = {
  'bmad.json': JSON.stringify({
    schemaVersion: '1.1',
    name: 'Release notes, step by step',
    version: '0.1.0',
    createdAt: '2026-01-01T00:00:00.000Z',
    entry: {
      workflow: 'workflows/7/workflow.md',
      graph: 'workflows/7/workflow.graph.json',
      agents: 'agents.json',
      assetsDir: 'assets/',
    },
    workflows: [
      {
        id: '7',
        displayName: 'Write release notes',
        workflow: 'workflows/7/workflow.md',
        graph: 'workflows/7/workflow.graph.json',
        tags: [],
      },
    ],
  }),
  'agents.json': JSON.stringify({
    schemaVersion: '1.1',
    agents: [
      {
        id: 'rm',
        metadata: { name: 'Rita', title: 'Release manager', icon: '🧩' },
        persona: persona('Releases'),
        critical_actions: ['Read the state first'],
        prompts: [{ id: 'greet', content: 'Say hello.' }],
        menu: [
          { trigger: 'release', description: 'Write release notes', workflow: 'workflows/7/workflow.md' },
          { trigger: '*notes', description: 'The same by its id', exec: '{package-root}/workflows/7/workflow.md' },
          { trigger: 'greet', description: 'Say hello', action: '#greet', triggers: [{ type: 'alias', match: 'hi' }] },
          { description: 'Look over the last notes', exec: 'assets/look.md', data: '{project-root}/CHANGELOG.md' },
          { cmd: '*help', description: 'Show the menu', action: 'menu.show' },
          { trigger: 'web', description: 'Only there', action: 'Do it', 'web-only': true },
          { trigger: 'say', description: 'Say why' },
        ],
        tools: {
          fs: { enabled: true, maxReadBytes: 524_288, maxWriteBytes: 2000 },
          mcp: { enabled: false, allowedServers: [] },
        },
      },
      {
        id: 'summer',
        metadata: { name: 'Sam', title: 'Sums up', icon: '🧩', module: 'x' },
        persona: persona('Sums up'),
        systemPrompt: 'You are Sam and say what was made.',
        tools: { mcp: { enabled: true, allowedServers: ['notes'] } },
      },
    ],
  }),
  'workflows/7/workflow.graph.json': JSON.stringify({
    schemaVersion: '1.1',
    entryNodeId: 'step-01-choose',
    nodes: nodes.map(([id, outputs, agentId], index) => ({
      id,
      type: index === 5 ? 'end' : 'step',
      file: `workflows/7/steps/${id}.md`,
      title: `Step ${index + 1}`,
      outputs,
      ...(agentId && { agentId }),
    })),
    edges: nodes.slice(1).map(([to], index) => ({ id: `e${index}`, from: nodes[index]![0], to, label: 'next' })),
  }),
  'workflows/7/workflow.md':
    '---\nschemaVersion: "1.1"\nworkflowType: "workflow"\ncurrentNodeId: ""\nstepsCompleted: []\nvariables: {}\ndecisionLog: []\nartifacts: []\n---\n\n# Release notes\n',
  ...Object.fromEntries(
    nodes.map(([id], index) => [
      `workflows/7/steps/${id}.md`,
      step(id, index === 5 ? 'end' : 'step', `Do ${id} and write what you found to @project/artifacts.`),
    ]),
  ),
  'assets/look.md': 'Look.\n',
};
