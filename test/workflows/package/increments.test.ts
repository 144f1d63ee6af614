import assert from 'node:assert/strict';
import type { ToolCall } from '../../../src/protocol/content/messages.ts';
import { call } from '../../support/scriptedClient.ts';
import { builderFiles } from './builderSample.ts';
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

  /** What each turn of the run says: how it says its update is the host's own way here, and another's protocol there. */
  const steps: [node: string, variables: Record<string, string>, file: string][] = [
    [
      'step-01-choose',
      { version: '1.2', major: '1', minor: '2', title: 'Second', statusPath: '' },
      'artifacts/release/target.md',
    ],
    [
      'step-02-find',
      {
        logPath: 'log.md',
        planPath: 'plan.md',
        designPath: 'design.md',
        lookPath: 'look.md',
        contextPath: 'context.md',
      },
      'artifacts/release/inputs.md',
    ],
    ['step-03-extract', { summary: 'Faster, and in two languages.' }, 'artifacts/release/context.md'],
    ['step-04-write', { notesFile: 'artifacts/notes/1.2.md', language: 'en' }, 'artifacts/notes/1.2.md'],
    ['step-05-note', {}, 'artifacts/release/update.md'],
    ['end-99', { workflowStatus: 'complete' }, 'artifacts/release/summary.md'],
  ];
  const all = Object.assign({}, ...steps.map(([, variables]) => variables));
  const files = steps.map(([, , file]) => file);
  type Said = (value: unknown, key: 'set' | 'append') => unknown;
  const inItsWay: Said = (value, key) => ({ [key]: value });
  const ways: [what: string, said: Said, update: (values: Record<string, unknown>) => ToolCall][] = [
    ['in plain values', (value) => value, update],
    ['with what is to be done to each', inItsWay, update],
    [
      'to the letter as crewagent’s protocol has it',
      inItsWay,
      (update) => call('fs.apply_patch', { path: '@state/workflow.md', operation: 'updateFrontmatter', update }),
    ],
  ];

  for (const [what, said, update] of ways)
    it(`keeps 14 variables and 6 files of a package of the builder, said ${what}`, async () => {
      const updates = steps.map(([node, variables], index) => {
        const next = steps[index + 1]?.[0];
        return update({
          stepsCompleted: said([node], 'append'),
          ...(Object.keys(variables).length > 0 && { variables: said(variables, 'set') }),
          ...(next && { currentNodeId: said(next, 'set') === next ? next : { set: next } }),
          artifacts: said([files[index]], 'append'),
          updatedAt: '2026-01-02T00:00:00Z',
        });
      });
      const writes = files.map((path) => call('fs.write', { path: `@project/${path}`, content: `About ${path}` }));
      const turn = (index: number) => ({ calls: [writes[index]!, updates[index]!] });
      const look = (path: string) => call('fs.read', { path });
      stage = await playPackage(builderFiles, [
        {
          calls: [
            look('@state/workflow.md'),
            look('@pkg/workflows/7/steps/step-01-choose.md'),
            look('@project/artifacts/status.yaml'),
          ],
        },
        { text: 'There is no status.yaml. Which version is it?' },
        turn(0),
        { calls: [look('@pkg/workflows/7/steps/step-02-find.md'), ...turn(1).calls] },
        turn(2),
        { calls: [...turn(3).calls, call('fs.list', { path: '@project/artifacts/notes' })] },
        turn(4),
        { calls: [look('@state/workflow.md'), writes[5]!] },
        { calls: [updates[5]!] },
        { text: 'Done: artifacts/notes/1.2.md, and a summary.' },
      ]);
      assert.equal((await stage.conversation.start('release')).phase, 'WaitingUser');
      assert.equal((await stage.conversation.continue('1.2')).phase, 'Completed');

      assert.equal(Object.keys(all).length, 14);
      const { variables, artifacts, stepsCompleted } = stage.state();
      assert.deepEqual(variables, all);
      assert.deepEqual(artifacts, files);
      assert.deepEqual(
        stepsCompleted,
        steps.map(([node]) => node),
      );
      assert.deepEqual(
        files.map((file) => stage.conversation.file(file)),
        files.map((file) => `About ${file}`),
      );
      const { calls } = await stage.conversation.kept();
      const codes = Object.values(calls).flatMap(({ ok, code }) => (ok ? [] : [code]));
      assert.deepEqual(codes, ['ENOENT'], 'nothing but the missing file was refused');
      assert.equal(stage.conversation.client.requests.length, 10);
    });
});
