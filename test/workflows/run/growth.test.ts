import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import path from 'node:path';
import { loadWorkflow } from '../../../src/workflows/read/validate.ts';
import { Stage } from '../stage.ts';

/** Three branches side by side, joined, and round again until there were `rounds` of them. */
const rounds = (count: number, more = '') => `
initial_state: {n: 0, v: 0}
nodes:
  - {name: begin, run: {type: expression, value: state.n + 1, output_key: n}}
${['a', 'b', 'c'].map((name) => `  - {name: ${name}, uses: state.set, with: {v: "${name} {{ state.n }}"}}`).join('\n')}
  - name: join
    uses: state.set
    with: {last: "{% for one in parallel_results %}{{ one.v }}, {% endfor %}"${more}}
    goto: [{if: "state.n < ${count}", to: begin}, {to: __end__}]
edges:
${['a', 'b', 'c'].map((name) => `  - {from: begin, to: ${name}, parallel: true, fan_in: join}`).join('\n')}
`;

describe('a list that grows in the state', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const collect = (count: number, value: string) => `
initial_state: {acc: [], report: {items: [], last: 0}, n: 0}
nodes:
  - name: collect
    type: while_loop
    condition: state.n < ${count}
    max_iterations: 1000
    body:
      - {run: {type: expression, value: state.n + 1, output_key: n}}
      - ${value}
`;
  const text = 'x'.repeat(100);
  const forms: [what: string, value: string, read: (state: Record<string, unknown>) => unknown[]][] = [
    [
      'alone',
      `{run: {type: expression, value: "state.acc + ['${text}' ~ state.n]", output_key: acc}}`,
      ({ acc }) => acc as unknown[],
    ],
    [
      'within a map',
      `{uses: state.set, with: {report: {items: "{{ state.report['items'] + ['${text}' ~ state.n] }}", last: "{{ state.n }}"}}}`,
      ({ report }) => (report as { items: unknown[] }).items,
    ],
  ];
  for (const [what, value, read] of forms)
    it(`is recorded once: ${what}`, async () => {
      const sizes: number[] = [];
      for (const count of [20, 80]) {
        stage = await Stage.of(collect(count, value));
        assert.equal((await stage.start()).phase, 'Completed');
        const kept = await stage.kept();
        assert.deepEqual(
          read(kept.graph!.main.state),
          Array.from({ length: count }, (_, at) => `${text}${at + 1}`),
        );
        sizes.push(statSync(path.join(stage.folder, 'runs', stage.runId, 'journal.jsonl')).size);
        if (count === 20) await stage.end();
      }
      assert.ok(sizes[1]! < sizes[0]! * 4.4, `${sizes}`);
    });

  it('is whole in memory as on disk, also after a reload in its middle', async () => {
    stage = await Stage.of(collect(10, forms[0]![1]).replace('state.n < 10', 'state.n < 5'));
    await stage.start();
    const live = stage.engine.live(stage.runId) ?? (await stage.kept());
    stage.build();
    assert.deepEqual((await stage.kept()).graph!.main.state, live.graph!.main.state);
  });
});

describe('what parallel branches gave', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const afterRounds = async (count: number) => {
    stage = await Stage.of(rounds(count));
    assert.equal((await stage.start()).phase, 'Completed');
    return stage.kept();
  };

  it('takes no more room after ten rounds than after one', async () => {
    const sizeOf = (value: unknown) => JSON.stringify(value).length;
    const [one] = [await afterRounds(1), await stage.end()];
    const ten = await afterRounds(10);
    assert.equal(ten.graph!.main.state.last, 'a 10, b 10, c 10, ');
    assert.ok(sizeOf(ten.graph) < sizeOf(one.graph) + 100, `${sizeOf(ten.graph)}, and ${sizeOf(one.graph)} after one`);
  });

  it('is not in the values that the next branches begin with', async () => {
    const { graph } = await afterRounds(3);
    const results = graph!.main.state.parallel_results as Record<string, unknown>[];
    assert.deepEqual(Object.keys(results[0]!).sort(), ['input', 'last', 'n', 'v']);
    assert.equal(
      Object.values(graph!.branches).some(({ state }) => 'parallel_results' in state),
      false,
    );
  });

  it('of a part within a branch is not collected again with the branch', async () => {
    stage = await Stage.of(`
nodes:
  - {name: begin}
  - {name: deep}
  - {name: x, uses: state.set, with: {v: x}}
  - {name: y, uses: state.set, with: {v: y}}
  - {name: both, uses: state.set, with: {v: "{{ parallel_results[0].v }}{{ parallel_results[1].v }}"}}
  - {name: flat, uses: state.set, with: {v: f}}
  - {name: join, uses: state.set, with: {all: "{% for one in parallel_results %}{{ one.v }}{% endfor %}"}}
edges:
  - {from: begin, to: deep, parallel: true, fan_in: join}
  - {from: begin, to: flat, parallel: true, fan_in: join}
  - {from: deep, to: x, parallel: true, fan_in: both}
  - {from: deep, to: y, parallel: true, fan_in: both}
`);
    await stage.start();
    const { all, parallel_results } = await stage.state();
    assert.deepEqual(
      [all, parallel_results],
      [
        'xyf',
        [
          { input: 'go', v: 'xy' },
          { input: 'go', v: 'f' },
        ],
      ],
    );
  });
});

describe('a value of more than 1 MB', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const warnings = () =>
    stage.events.flatMap((event) =>
      event.type === 'node' && event.warnings ? [[event.status, event.node, ...event.warnings]] : [],
    );
  const said = (key: string) =>
    `\`${key}\` contains more than 1 MB. It is recorded whenever it is set, and every parallel branch has a copy. Store long data in a file.`;
  const double = `run: {type: expression, value: "state.text ~ state.text", output_key: text}`;
  const long = 'x'.repeat(600_000);

  it('is said by the node that sets it, once', async () => {
    stage = await Stage.of(`
initial_state: {n: 0}
nodes:
  - {name: double, ${double}}
  - {name: again, uses: state.set, with: {text: "{{ state.text }}!", n: "{{ state.n + 1 }}"}, goto: [{if: "state.n < 3", to: again}, {to: __end__}]}
`);
    await stage.start('go', { text: long });
    assert.deepEqual(warnings(), [['end', 'double', said('text')]]);
    assert.deepEqual((await stage.kept()).graph!.nodes.double!.warnings, [said('text')]);
  });

  it('is said of steps, and of what branches gave together, where each is less', async () => {
    stage = await Stage.of(`
nodes:
  - {name: begin}
  - {name: a}
  - {name: b, steps: [{${double}}]}
  - {name: join}
edges:
  - {from: begin, to: a, parallel: true, fan_in: join}
  - {from: begin, to: b, parallel: true, fan_in: join}
`);
    await stage.start('go', { text: long });
    assert.deepEqual(warnings(), [
      ['step', 'b', said('text')],
      ['start', 'join', said('parallel_results')],
    ]);
  });
});

describe('a branch that asks for what branches gave', () => {
  it('is told that it does not see it', async () => {
    const { warnings } = loadWorkflow(rounds(2).replace('"b {{', '"{{ parallel_results }} {{'), { tools: [] });
    assert.deepEqual(
      warnings.map(({ line, message }) => [line, message]),
      [
        [
          6,
          'A parallel branch cannot read `parallel_results`, which belongs to the part before. Store what it needs under another key.',
        ],
      ],
    );
  });

  it('is told nothing where a part of its own gave it', () => {
    const inner = rounds(1).replace('- {name: begin,', '- {name: first}\n  - {name: other}\n  - {name: begin,');
    const file = inner
      .replace('    goto:', '    # goto:')
      .replace('- {name: begin, run', '- {name: end}\n  - {name: begin, run')
      .replace(
        'edges:',
        'edges:\n  - {from: first, to: begin, parallel: true, fan_in: end}\n  - {from: first, to: other, parallel: true, fan_in: end}',
      );
    const { problems, warnings } = loadWorkflow(file, { tools: [] });
    assert.deepEqual([problems, warnings], [[], []]);
  });
});
