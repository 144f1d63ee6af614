import assert from 'node:assert/strict';
import { call } from '../../support/scriptedClient.ts';
import { playPackage, type Stage } from './stage.ts';

const update = (frontmatter: Record<string, unknown>) =>
  call('fs.apply_patch', { path: '@state/workflow.md', frontmatter });

/** `count` nodes in a row. */
function row(count: number): Record<string, string> {
  const ids = Array.from({ length: count }, (_, index) => `n${index + 1}`);
  const nodes = ids.map((id, index) => ({ id, type: index + 1 === count ? 'end' : 'step', file: `${id}.md` }));
  const edges = ids.slice(1).map((to, index) => ({ from: ids[index], to }));
  return {
    'bmad.json': JSON.stringify({ name: 'row', workflows: [{ id: 'row', graph: 'workflow.graph.json' }] }),
    'agents.json': JSON.stringify({ agents: [{ id: 'one', name: 'One', persona: 'You count.' }] }),
    'workflow.graph.json': JSON.stringify({ entryNodeId: ids[0], nodes, edges }),
    ...Object.fromEntries(ids.map((id) => [`${id}.md`, `Do ${id}.`])),
  };
}

describe('a run of a package whose model says only what is new', () => {
  let stage: Stage;
  afterEach(() => stage.end());

  it('ends after forty nodes with everything that it was told', async () => {
    const numbers = Array.from({ length: 40 }, (_, index) => index + 1);
    const replies = numbers.map((number) => {
      const step = {
        stepsCompleted: [`n${number}`],
        ...(number < 40 && { currentNodeId: `n${number + 1}` }),
        variables: { [`v${number}`]: number, last: number, seen: [`s${number}`], sums: { [`k${number}`]: number } },
        decisionLog: [{ from: `n${number}`, to: `n${number + 1}` }],
        artifacts: [`@state/artifacts/${number}.md`],
      };
      return { calls: [update(step)] };
    });
    stage = await playPackage(row(40), [...replies, { text: 'All forty.' }]);
    stage.conversation.maxTurns = 100;
    assert.equal((await stage.conversation.start()).phase, 'Completed');

    const { variables, decisionLog, artifacts, stepsCompleted, currentNodeId } = stage.state();
    assert.deepEqual(variables, {
      ...Object.fromEntries(numbers.map((number) => [`v${number}`, number])),
      last: 40,
      seen: numbers.map((number) => `s${number}`),
      sums: Object.fromEntries(numbers.map((number) => [`k${number}`, number])),
    });
    assert.deepEqual(
      decisionLog,
      numbers.map((number) => ({ from: `n${number}`, to: `n${number + 1}` })),
    );
    assert.deepEqual(
      artifacts,
      numbers.map((number) => `@state/artifacts/${number}.md`),
    );
    assert.deepEqual([stepsCompleted, currentNodeId], [numbers.map((number) => `n${number}`), 'n40']);
    const { graph } = await stage.conversation.kept();
    assert.deepEqual(graph?.main.state, variables, 'and the panel shows it');
  });
});
