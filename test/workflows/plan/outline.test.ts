import assert from 'node:assert/strict';
import type { WorkflowDiagram } from '../../../src/protocol/content/outline.ts';
import {
  packageWorkflowDiagram as packageOutlineOf,
  packageWorkflowGraphSchema,
} from '../../../src/workflows/package/packageGraph.ts';
import { createWorkflowDiagram } from '../../../src/workflows/plan/outline.ts';
import { loadWorkflow } from '../../../src/workflows/read/validate.ts';
import { sampleFiles } from '../package/sample.ts';
import { toolNames } from '../stage.ts';

const cases: [what: string, yaml: string, outline: WorkflowDiagram][] = [
  [
    'nodes that follow each other, to the end',
    `
nodes:
  - {name: one, uses: state.set, with: {a: 1}}
  - {name: two, uses: state.set, with: {b: 1}}`,
    { nodes: [{ name: 'one' }, { name: 'two' }], edges: [{ from: 'one', to: 'two' }, { from: 'two' }] },
  ],
  [
    'a choice, with its conditions and what is left',
    `
nodes:
  - name: one
    uses: state.set
    with: {a: 1}
    goto:
      - {if: state.a > 1, to: one}
      - {to: __end__}`,
    {
      nodes: [{ name: 'one' }],
      edges: [
        { from: 'one', to: 'one', label: 'state.a > 1' },
        { from: 'one', label: 'otherwise' },
      ],
    },
  ],
  [
    'edges with `when`, and of the older kind',
    `
nodes:
  - {name: one, uses: state.set, with: {a: 1}}
  - {name: two, uses: state.set, with: {a: 1}}
  - {name: three, uses: state.set, with: {a: 1}}
edges:
  - {from: one, to: two, when: state.a}
  - {from: one, to: three, condition: {type: expression, value: state.b}, when: false}
  - {from: two, to: three}
  - {from: three, to: __end__}`,
    {
      nodes: [{ name: 'one' }, { name: 'two' }, { name: 'three' }],
      edges: [
        { from: 'one', to: 'two', label: 'state.a' },
        { from: 'one', to: 'three', label: '(state.b) is false' },
        { from: 'two', to: 'three' },
        { from: 'three' },
      ],
    },
  ],
  [
    'branches side by side, and a loop',
    `
nodes:
  - {name: split, uses: state.set, with: {a: 1}}
  - {name: left, uses: state.set, with: {a: 1}}
  - {name: left2, type: while_loop, condition: state.a, max_iterations: 4, body: [{uses: state.set, with: {a: 0}}]}
  - {name: right, uses: state.set, with: {a: 1}}
  - {name: join, fan_in: true, uses: state.set, with: {a: 1}}
edges:
  - {from: split, to: left, type: parallel, fan_in: join}
  - {from: split, to: right, type: parallel, fan_in: join}`,
    {
      nodes: [
        { name: 'split' },
        { name: 'left', branch: 'left' },
        { name: 'left2', loop: { steps: 1, most: 4 }, branch: 'left' },
        { name: 'right', branch: 'right' },
        { name: 'join' },
      ],
      edges: [
        { from: 'split', to: 'left' },
        { from: 'split', to: 'right' },
        { from: 'left', to: 'left2' },
        { from: 'left2', to: 'join' },
        { from: 'right', to: 'join' },
        { from: 'join' },
      ],
    },
  ],
];

describe('a workflow is drawn as', () => {
  for (const [what, yaml, outline] of cases)
    it(what, () => {
      const { value, problems } = loadWorkflow(yaml, { tools: toolNames });
      assert.deepEqual(problems, []);
      assert.deepEqual(createWorkflowDiagram(value!), outline);
    });

  it('the nodes and labels of a package, its beginning first', () => {
    const graph = packageWorkflowGraphSchema.parse(JSON.parse(sampleFiles['write/workflow.graph.json']!));
    graph.nodes.reverse();
    assert.deepEqual(packageOutlineOf(graph), {
      nodes: [
        { name: 'ask', title: 'Ask for the name' },
        { name: 'done', kind: 'end' },
        { name: 'judge', kind: 'decision' },
      ],
      edges: [
        { from: 'ask', to: 'judge' },
        { from: 'judge', to: 'ask', label: 'not good' },
        { from: 'judge', to: 'done', label: 'good' },
      ],
    });
  });
});
