import assert from 'node:assert/strict';
import { applyEvent } from '../../../src/protocol/run/fold.ts';
import { newRun } from '../../../src/protocol/run/run.ts';
import { reply } from '../../support/provider.ts';
import { Stage } from '../stage.ts';

describe('a value of the state', () => {
  let stage: Stage;
  afterEach(() => stage.end());

  /** What the run in memory holds when it ends. */
  const inMemory = async (): Promise<Record<string, unknown>> => {
    const { phase, error } = await stage.start();
    assert.deepEqual([phase, error], ['Completed', undefined]);
    const run = newRun(stage.runId);
    for (const event of stage.events) applyEvent(run, event);
    const { input: _, ...state } = run.graph!.main.state;
    return state;
  };

  for (const reloaded of [false, true])
    it(`that a template clears is cleared for good${reloaded ? ', also after a reload' : ''}`, async () => {
      const ask = 'uses: llm.call, with: {messages: [{role: user, content: hi}]}, output: said';
      stage = await Stage.of(
        `
initial_state: {n: 5}
nodes:
  - {name: clear, uses: state.set, with: {n: "{{ none }}"}}
  - {name: ask, ${ask}}
  - {name: look, uses: state.set, with: {seen: "{{ state.n is none }} {{ state.n }}"}}
`,
        [reloaded ? reply.status(400) : reply.text('hi'), reply.text('hi')],
      );
      await stage.start();
      if (reloaded) {
        stage.build();
        await stage.continue();
      }
      const { n, seen } = await stage.state();
      assert.deepEqual([n, seen], [null, 'true ']);
    });

  const values: [what: string, yaml: string, expected: unknown][] = [
    ['nothing', '{{ none }}', null],
    ['a null of the state', '{{ state.nothing }}', null],
    ['a key that is not there', '{{ state.missing }}', null],
    ['nothing in a list', '{{ [1, none, 2] }}', [1, null, 2]],
    ['nothing in an object', "{{ {'a': none, 'b': [none]} }}", { a: null, b: [null] }],
    ['a whole number with a point', '{{ 1.0 }}', 1],
    ['less than nothing', '{{ 0 * -1 }}', 0],
    ['a number too long to be exact', '{{ 9007199254740993 }}', 9007199254740992],
    ['the largest number', '{{ 10 ** 300 }}', 10 ** 300],
    ['a date', '2026-11-23T00:00:00Z', '2026-11-23T00:00:00Z'],
    ['half a sign', '{{ "\\ud83d" }}', '\ud83d'],
    [
      'a name that means something to objects',
      "{{ {'constructor': 1, 'toString': none} }}",
      { constructor: 1, toString: null },
    ],
  ];
  for (const [what, template, expected] of values)
    it(`is on disk what it is in memory: ${what}`, async () => {
      const text = JSON.stringify(template);
      stage = await Stage.of(`
initial_state: {nothing: null, set: before, mapped: before}
nodes:
  - {name: one, uses: state.set, with: {set: ${text}, listed: [${text}]}}
  - {name: two, uses: state.set, with: {}, output: {mapped: ${text}}}
  - {name: three, steps: [{uses: state.set, with: {stepped: ${text}}}]}
`);
      const memory = await inMemory();
      assert.deepEqual(memory, await stage.state());
      const { nothing, ...set } = memory;
      assert.deepEqual(set, { set: expected, listed: [expected], mapped: expected, stepped: expected });
    });

  for (const [template, what] of [
    ['{{ 1 / 0 }}', 'a division by zero'],
    ['{{ 0 / 0 }}', 'zero by zero'],
    ['{{ [1, 10 ** 300 * 10 ** 300] }}', 'more than a number holds'],
  ] as const)
    it(`is never what is no number: ${what}`, async () => {
      stage = await Stage.of(`nodes:\n  - {name: set, uses: state.set, with: {v: "${template}"}}\n`);
      const { error } = await stage.start();
      assert.match(error!.message, /^Node set: .* cannot be filled in: The result is not a number: /);
    });

  it('that a file begins with is the same, whatever YAML makes of it', async () => {
    stage = await Stage.of('initial_state: {a: .nan, b: .inf, c: -0.0, d: 1e400, e: ~}\nnodes: [{name: only}]\n');
    const memory = await inMemory();
    assert.deepEqual(memory, { a: null, b: null, c: 0, d: null, e: null });
    assert.deepEqual(memory, await stage.state());
  });

  it('that a condition decides about is the one that is kept', async () => {
    stage = await Stage.of(`
nodes:
  - name: set
    uses: state.set
    with: {v: "{{ none }}"}
    goto: [{if: "state.v is none and v is none", to: yes}, {to: no}]
  - {name: no, uses: state.set, with: {way: "no"}, goto: __end__}
  - {name: yes, uses: state.set, with: {way: "yes"}}
`);
    await stage.start();
    assert.equal((await stage.state()).way, 'yes');
  });
});
