import assert from 'node:assert/strict';
import { loadWorkflow } from '../../../src/workflows/read/validate.ts';
import { reply } from '../../support/provider.ts';
import { Stage, toolNames } from '../stage.ts';

const load = (text: string) => loadWorkflow(text, { tools: toolNames });
const told = (all: { line: number; column: number; message: string }[]) =>
  all.map(({ line, column, message }) => `${line}:${column}: ${message}`);
const leftOut = 'Towpath does not use this key of the dialect and leaves it out.';
const setUp = 'Models are set up in Towpath, not in a file. The model selected in the panel is used.';

describe('a file of the dialect’s other hosts', () => {
  let stage: Stage | undefined;
  afterEach(async () => {
    await stage?.end();
    stage = undefined;
  });
  const run = async (...given: Parameters<typeof Stage.of>) => {
    stage = await Stage.of(...given);
    const { phase, error } = await stage.start('go');
    assert.equal(phase, error ? 'Failed' : 'Completed');
    return error ?? stage.state();
  };

  it('runs with their words for the same things', async () => {
    const state = await run(
      `
name: greeter
version: "1.0"
metadata: {team: words}
imports: []
edges:
variables: {tone: warm}
config: {raise_exceptions: true, interrupt_before: []}
nodes:
  - name: greet
    action: llm.chat
    params:
      system: You are \${tone}.
      prompt: Greet {{ state.name }}.
    outputs: {greeting: "{{ action_result.content }}"}
  - name: note
    type: standard
    uses: template.render
    with: {template: "{{ state.greeting | upper }}!"}
    output_key: note
`.replace('edges:\n', 'initial_state: {name: Ann}\nedges:\n'),
      [reply.text('Hello Ann')],
    );
    assert.deepEqual(state, { name: 'Ann', greeting: 'Hello Ann', note: 'HELLO ANN!' });
    assert.deepEqual(stage!.provider.requests[0]!.body.messages, [
      { role: 'system', content: 'You are warm.' },
      { role: 'user', content: 'Greet Ann.' },
    ]);
  });

  it('goes to several nodes at once by one edge', async () => {
    const state = await run(`
nodes:
  - {name: begin}
  - {name: a, uses: state.set, with: {n: 1}}
  - {name: b, uses: state.set, with: {n: 2}}
  - {name: sum, fan_in: true, run: {type: expression, value: "parallel_results[0].n + parallel_results[1].n", output_key: n}}
edges:
  - {from: begin, to: [a, b], parallel: true, parallel_strategy: thread, fan_in: sum}
`);
    assert.equal((state as { n: number }).n, 3);
  });

  const overList = (more: string) => `
initial_state: {urls: [x, '[', z]}
nodes:
  - name: fetch
    type: dynamic_parallel
    items: "{{ state.urls }}"
    item_var: url
    index_var: i
    max_concurrency: 2
    fan_in: sum
    ${more}
  - {name: never, uses: state.set, with: {n: 1}}
  - {name: sum, fan_in: true, uses: state.set, with: {said: "{% for one in parallel_results %}{{ one.index }}:{{ one.state.set }}:{{ one.success }} {% endfor %}"}}
`;
  const bodies: [what: string, body: string][] = [
    ['an action', 'action: {uses: state.set, with: {value: "{{ url }}{{ i }}"}, output: {set: "{{ result.value }}"}}'],
    [
      'steps',
      'steps: [{uses: state.set, with: {a: "{{ url }}"}}, {uses: state.set, with: {set: "{{ state.a }}{{ i }}"}}]',
    ],
    [
      'a limit in its own place',
      'parallel_config: {max_concurrency: 1}\n    action: {uses: state.set, with: {set: "{{ url }}{{ i }}"}}',
    ],
  ];
  for (const [what, body] of bodies)
    it(`goes over a list by dynamic_parallel with ${what}`, async () => {
      const { said, n, parallel_results } = (await run(overList(body))) as Record<string, unknown>;
      assert.deepEqual([said, n], ['0:x0:true 1:[1:true 2:z2:true ', undefined]);
      const [{ state, ...first }] = parallel_results as [Record<string, unknown>];
      assert.deepEqual(first, { branch: 'fetch[0]', source_node: 'fetch', index: 0, success: true, error: null });
      assert.equal((state as { url: string }).url, 'x');
    });

  it('runs another workflow for each item of a dynamic_parallel', async () => {
    stage = await Stage.of(overList('subgraph: ./inner.yaml\n    input: {given: "{{ url }}"}'));
    stage.others = {
      inner: 'nodes: [{name: a, uses: state.set, with: {set: "<{{ state.given }}>"}}]\ninput_schema: {given: str}',
    };
    await stage.start();
    assert.equal((await stage.state()).said, '0:<x>:true 1:<[>:true 2:<z>:true ');
  });

  it('goes on from what failed in a dynamic_parallel, and says so in its result', async () => {
    const body = `action: {uses: llm.call, with: {messages: "{{ '[]' if url == '[' else url }}"}}`;
    const { parallel_results: got } = (await run(overList(body))) as {
      parallel_results: { success: boolean; error: string; state: object }[];
    };
    assert.deepEqual(
      got.map(({ success, state }) => [success, state]),
      ['x', '[', 'z'].map((url, i) => [false, { url, i }]),
    );
    assert.match(got[0]!.error, /messages/);
  });

  const wrong: [what: string, body: string, message: string][] = [
    [
      'two bodies',
      'action: {uses: state.set}\n    steps: [{uses: state.set}]',
      '12:5: A node over a list does one thing',
    ],
    [
      'a foreign key of its limits',
      'parallel_config: {timeout: 3}\n    steps: [{uses: state.set}]',
      '11:23: There is no key `timeout` here.',
    ],
    ['a node that is not there', 'goto: none\n    steps: [{uses: state.set}]', '11:11: There is no node `none`.'],
    ['a workflow of elsewhere', 'subgraph: s3://x/y.yaml', '11:15: Use the name of a file in `.towpath/workflows`'],
    ['code', 'steps: [{run: return 1}]', '11:14: Towpath does not run Python.'],
  ];
  for (const [what, body, message] of wrong)
    it(`is told about ${what} of a dynamic_parallel`, () => {
      const { problems } = load(overList(body));
      assert.equal(told(problems).filter((one) => one.startsWith(message)).length, 1, told(problems).join());
    });

  it('can write templates inside of an expression', async () => {
    const state = await run(`
variables: {least: 2}
initial_state: {found: [1, 2, 3]}
nodes:
  - name: enough
    run: {type: expression, value: "len(state.get('found', [])) >= {{ variables.least }}", output_key: enough}
    goto: [{if: "state.enough and {{ variables.least }} == 2", to: yes}, {to: no}]
  - {name: no, uses: state.set, with: {said: "no"}, goto: __end__}
  - {name: yes, uses: state.set, with: {said: yes it is}}
`);
    assert.deepEqual(state, { found: [1, 2, 3], enough: true, said: 'yes it is' });
  });

  const actions: [what: string, action: string, result: unknown][] = [
    ['file.read', 'file.read, with: {path: a.txt}', { content: 'one\ntwo', success: true }],
    [
      'file.read of what is not there',
      'file.read, with: {path: none.txt}',
      { success: false, error: '"none.txt" does not exist. Use fs.find to look for it.', error_type: 'not_found' },
    ],
    ['actions.file_write', 'actions.file_write, with: {path: b.txt, content: hi}', { path: 'b.txt', success: true }],
    ['json.parse', 'json.parse, with: {text: \'{"a": [1]}\'}', { data: { a: [1] }, success: true }],
    [
      'json.parse of what is none',
      'json.parse, with: {text: "[1,", strict: false, default: []}',
      { data: [], success: true },
    ],
    [
      'json.stringify',
      'json.stringify, with: {data: {b: 1, a: 2}, sort_keys: true}',
      { text: '{"a":2,"b":1}', success: true },
    ],
    [
      'data.merge',
      'data.merge, with: {sources: [{a: {x: 1}, b: 1}, {a: {y: 2}}]}',
      { result: { a: { x: 1, y: 2 }, b: 1 }, source_count: 2, success: true },
    ],
  ];
  for (const [what, action, result] of actions)
    it(`has ${what}`, async () => {
      const yaml = `nodes:\n  - {name: a, uses: ${action}, output: result}\n`;
      assert.deepEqual(await run(yaml, [], { files: { 'a.txt': 'one\ntwo' } }), { result });
    });

  it('reads a long file to its end', async () => {
    const long = Array.from({ length: 2500 }, (_, line) => `line ${line}`).join('\n');
    const state = await run('nodes: [{name: a, uses: file.read, with: {path: long.txt}, output: file}]', [], {
      files: { 'long.txt': long },
    });
    assert.deepEqual(state, { file: { content: long, success: true } });
  });

  it('asks before its actions change something, and a no ends the node', async () => {
    stage = await Stage.of('nodes: [{name: a, uses: file.write, with: {path: b, content: x}}]');
    stage.answers = [{ decision: 'deny' }];
    assert.equal((await stage.start()).error?.code, 'TOOL_DENIED');
    assert.equal(stage.workspace.exists('b'), false);
  });

  const models: [given: string, asked: string][] = [
    ['model: m', 'm'],
    ['provider: auto, model: m', 'm'],
    ['provider: openai, model: m', 'openai/m'],
    ['provider: ollama, model: "m:7b"', 'ollama/m:7b'],
    ['provider: litellm, model: gemini/m', 'google/m'],
    ['provider: shell, shell_provider: claude, model: claude', 'chosen'],
    ['provider: litellm, model: bedrock/m', 'chosen'],
  ];
  for (const [given, asked] of models)
    it(`asks ${asked} for ${given}`, async () => {
      await run(`nodes: [{name: a, uses: llm.call, with: {${given}, prompt: Hi.}, output: said}]`, [reply.text('Yo.')]);
      assert.equal(stage!.provider.requests[0]!.body.model, asked);
    });

  const warnings: [what: string, text: string, ...warnings: string[]][] = [
    ['nothing for what is empty or says nothing', 'version: 1\nimports: []\nconfig: {interrupt_after: []}\n'],
    [
      'an address, and settings of other parts',
      'endpoint: {path: /x}\nsettings:\n  auto_trace: true\n  ltm: {backend: duckdb}\n  parallel: {strategy: process, max_workers: 2}\n',
      '1:1: Towpath serves no addresses. The file runs from the Command Palette.',
      `3:3: ${leftOut}`,
      `4:3: ${leftOut}`,
      '5:14: Branches run beside each other in the editor.',
    ],
    [
      'where models are, never with the key',
      'settings:\n  llm:\n    backend: local\n    api_key: sk-CANARYKEY1234567890\n',
      `3:5: ${setUp}`,
      '4:5: Keys belong in the editor’s secret storage; this one is not used. Remove it from the file and run *Towpath: Set API Key*.',
    ],
    [
      'checkpoints',
      'config:\n  checkpoint_dir: ./c\n',
      '2:3: Runs are stored automatically. There are no checkpoint files.',
    ],
  ];
  for (const [what, text, ...expected] of warnings)
    it(`is told what is left out: ${what}`, () => {
      const loaded = load(`${text}nodes: [{name: a}]\n`);
      assert.deepEqual([told(loaded.problems), told(loaded.warnings)], [[], expected]);
      assert.doesNotMatch(JSON.stringify(loaded), /CANARY/);
    });

  const refused: [what: string, node: string, ...problems: string[]][] = [
    [
      'code of any language, once for a node',
      'language: lua, run: "return {}"',
      '1:35: Towpath does not run code of a workflow file. Use an action (`uses:`), or `shell.run` for a program.',
    ],
    [
      'an action that needs another system',
      'uses: memory.store',
      '1:26: There is no action `memory.store`. Use a tool of an MCP server (`mcp.<server>.<tool>`), or `shell.run` with a program.',
    ],
    ['a switch', 'uses: core.switch', '1:26: There is no action `core.switch`. Use `goto` with `if` and `to`.'],
    [
      'what only its tools send',
      'uses: http.post',
      '1:26: There is no action `http.post`. Towpath does not send the forms and headers of a file. Use `shell.run` with a program, or a tool of an MCP server.',
    ],
    ['headers', 'uses: http.get, with: {url: "https://a.b", headers: {}}', '1:63: http.get takes no `headers`.'],
    [
      'an interrupt',
      'interrupt: before',
      '1:20: Towpath does not interrupt at a node. Let an `agent` ask a question there, or use *Pause*.',
    ],
    [
      'retries of a node',
      'retry: {max_retries: 3}',
      '1:20: Use `on_error: {retry: 3}`, or `llm.retry` for a model call.',
    ],
    [
      'the same key in both spellings',
      'uses: llm.call, action: llm.call, with: {prompt: hi}',
      '1:36: There is no key `action` here.',
    ],
    [
      'a mistake in what was renamed, where it stands',
      'action: llm.call, params: {prompt: "{{ state.x "}',
      '1:55: This is not a Jinja template (Unexpected end of input).',
    ],
    [
      'a mistake in one of several branches',
      'goto: __end__}], edges: [{from: a, to: [a, nope], parallel: true, fan_in: a',
      '1:63: There is no node `nope`.',
    ],
  ];
  for (const [what, node, ...problems] of refused)
    it(`is told what to use instead of ${what}`, () =>
      assert.deepEqual(told(load(`{nodes: [{name: a, ${node}}]}`).problems), problems));
});

describe('a file in order is told what could go wrong', () => {
  const cases: [what: string, text: string, ...warnings: string[]][] = [
    [
      'a node that no way leads to',
      'nodes:\n  - {name: a, goto: __end__}\n  - {name: b}\n',
      '3:12: Nothing leads to `b`, so it never runs.',
    ],
    [
      'a choice without an else',
      'nodes:\n  - name: a\n    goto: [{if: state.input, to: b}]\n  - {name: b}\n',
      '3:5: The run fails here if none of these applies. Add one without `if` at the end.',
    ],
    [
      'edges without an else',
      'nodes: [{name: a}, {name: b}]\nedges:\n  - {from: a, to: b, when: state.input}\n  - {from: b, to: __end__}\n',
      '3:5: The run fails here if no edge of this node applies. Add one without `when` at the end.',
    ],
    [
      'none for a condition and its opposite',
      'nodes: [{name: a}, {name: b}]\nedges:\n  - {from: a, to: b, when: state.input}\n  - {from: a, to: __end__, when: "!state.input"}\n  - {from: b, to: __end__}\n',
    ],
    [
      'an edge after one that always applies',
      'nodes: [{name: a}, {name: b}]\nedges:\n  - {from: a, to: b}\n  - {from: a, to: __end__}\n  - {from: b, to: __end__}\n',
      '4:5: The edge to `b` before it always applies, so this one is never used.',
    ],
    [
      'edges of a node with a goto',
      'nodes: [{name: a, goto: b}, {name: b}]\nedges:\n  - {from: a, to: __end__}\n',
      '3:5: `a` has a `goto`, so its edges are not followed.',
    ],
  ];
  for (const [what, text, ...warnings] of cases)
    it(what, () => {
      const loaded = load(text);
      assert.deepEqual([told(loaded.problems), told(loaded.warnings)], [[], warnings]);
    });
});
