import assert from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { reply } from '../../support/provider.ts';
import { transcript } from '../../support/transcript.ts';
import { unsaid } from '../../support/unsaid.ts';
import { Stage } from '../stage.ts';

// Holds workflows-only-choose.
describe('a workflow', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const set = (name: string, values: string, more = '') =>
    `  - {name: ${name}, uses: state.set, with: {${values}}${more}}\n`;

  it('goes from node to node as they stand, and completes at the end', async () => {
    stage = await Stage.of(`
initial_state: {count: 1}
variables: {step: 2}
nodes:
  - name: more
    run: {type: expression, value: "state.count + variables.step", output_key: count}
  - name: say
    uses: state.set
    with: {said: "There are {{ state.count }}.", asked: "{{ state.input }}"}
`);
    assert.deepEqual(await stage.start('how many?'), { success: true, phase: 'Completed', assistantText: null });
    assert.deepEqual(await stage.state(), { count: 3, said: 'There are 3.', asked: 'how many?' });
    assert.deepEqual(stage.steps, ['start more', 'end more', 'start say', 'end say']);
  });

  const routes: [string, string, number, string][] = [
    ['goto, the first that holds', 'goto: [{if: "state.n > 5", to: high}, {to: low}]', 9, 'high'],
    ['goto, else the last', 'goto: [{if: "state.n > 5", to: high}, {to: low}]', 2, 'low'],
    ['goto, when it is wrong to compare', 'goto: [{if: "state.none > 5", to: high}, {to: low}]', 9, 'low'],
    ['goto, plain', 'goto: high', 0, 'high'],
  ];
  for (const [what, goto, n, expected] of routes)
    it(`takes its way: ${what}`, async () => {
      stage = await Stage.of(`
initial_state: {n: ${n}}
nodes:
  - name: look
    ${goto}
  - {name: low, uses: state.set, with: {way: low}, goto: __end__}
  - {name: high, uses: state.set, with: {way: high}}
`);
      await stage.start();
      assert.equal((await stage.state()).way, expected);
    });

  it('says at the node which condition of a goto could not be worked out, and goes on as if it were false', async () => {
    stage = await Stage.of(`
initial_state: {r: {severity: "5"}}
nodes:
  - name: look
    goto: [{if: state.r.severity >= 4, to: block}, {if: state.r.Severity > 3, to: block}, {if: state.gone.text == "x", to: block}, {to: ship}]
  - {name: block, goto: __end__}
  - {name: ship}
`);
    assert.equal((await stage.start()).phase, 'Completed');
    assert.deepEqual(stage.steps.at(-1), 'end ship');
    assert.deepEqual((await stage.kept()).graph!.nodes.look!.warnings, [
      '`state.r.severity >= 4` cannot be evaluated: `>=` cannot be combined with a text ("5") and a whole number (4); it is false.',
      '`state.r.Severity > 3` cannot be evaluated: there is no `state.r.Severity`; it is false.',
      '`state.gone.text == "x"` cannot be evaluated: there is no `state.gone`, so no `text` of it; it is false.',
    ]);
  });

  it('names the server of a tool that is not there', async () => {
    stage = await Stage.of('nodes: [{name: a, uses: mcp.search.query, with: {}}]');
    assert.equal(
      (await stage.start()).error?.message,
      'Node a: There is no tool "mcp.search.query". No MCP server "search" is at work here: it is not set up, or did not start.',
    );
  });

  const failing: [what: string, yaml: string, message: string][] = [
    [
      'the `when` of an edge',
      'nodes: [{name: a}, {name: b}]\nedges: [{from: a, to: b, when: state.n > 3}, {from: a, to: __end__}]',
      'Node a: `state.n > 3` cannot be evaluated: there is no `state.n`.',
    ],
    [
      'the `condition` of a loop',
      'nodes: [{name: a, type: while_loop, condition: state.n < 3, max_iterations: 2, body: [{uses: state.set, with: {x: 1}}]}]',
      'Node a: `state.n < 3` cannot be evaluated: there is no `state.n`.',
    ],
    [
      'a prompt with a misspelled value',
      'initial_state: {source: {text: hi}}\nnodes: [{name: a, uses: llm.call, with: {messages: [{role: user, content: "Explain this: {{ state.sorce.text }}"}]}}]',
      'Node a: `Explain this: {{ state.sorce.text }}` cannot be filled in: there is no `state.sorce`, so no `text` of it.',
    ],
  ];
  for (const [what, yaml, message] of failing)
    it(`fails where ${what} cannot be evaluated`, async () => {
      stage = await Stage.of(yaml);
      const { phase, error } = await stage.start();
      assert.deepEqual([phase, error?.message], ['Failed', message]);
    });

  it('says at the node what is empty because there is no such key, also in a loop and where it fails', async () => {
    const empty = (key: string) => `\`state.r.${key}\` is empty: \`state.r\` has no \`${key}\`, only \`text\`.`;
    stage = await Stage.of(`
initial_state: {r: {text: hi}}
nodes:
  - {name: say, uses: state.set, with: {said: "{{ state.r.txt }}"}}
  - {name: round, type: while_loop, condition: true, max_iterations: 2, body: [{uses: state.set, with: {said: "{{ state.r.body }}"}}]}
  - {name: read, uses: fs.read, with: {path: "{{ state.r.path }}"}}
`);
    assert.equal((await stage.start()).phase, 'Failed');
    const { say, round, read } = (await stage.kept()).graph!.nodes;
    assert.deepEqual(
      [say, round, read].map((node) => node!.warnings),
      [[empty('txt')], [empty('body')], [empty('path')]],
    );
  });

  const edges: [string, string, number, string][] = [
    ['when', '{from: look, to: high, when: "state.n > 5"}, {from: look, to: low}', 9, 'high'],
    ['no when holds', '{from: look, to: high, when: "state.n > 5"}, {from: look, to: low}', 1, 'low'],
    ['negated', '{from: look, to: high, when: "!small"}, {from: look, to: low}', 1, 'high'],
    [
      'a condition and its value',
      '{from: look, to: low, condition: {type: expression, value: "state[\'n\'] == 9"}, when: false}, {from: look, to: high}',
      9,
      'high',
    ],
    ['the way in', '{from: __start__, to: high}', 0, 'high'],
  ];
  for (const [what, list, n, expected] of edges)
    it(`follows edges: ${what}`, async () => {
      stage = await Stage.of(`
initial_state: {n: ${n}}
nodes:
  - {name: look}
  - {name: low, uses: state.set, with: {way: low}}
  - {name: high, uses: state.set, with: {way: high}}
edges: [${list}, {from: low, to: __end__}, {from: high, to: __end__}]
`);
      await stage.start();
      assert.equal((await stage.state()).way, expected);
    });

  it('says when no way applies', async () => {
    stage = await Stage.of(`nodes:\n  - {name: a, goto: [{if: "false", to: b}]}\n${set('b', 'x: 1')}`);
    assert.deepEqual(unsaid((await stage.start()).error), {
      code: 'UNKNOWN',
      message: 'Node a: No `goto` of a applies. Add one without `if` at the end.',
    });
  });

  it('runs branches side by side and brings their states together', async () => {
    stage = await Stage.of(
      `
nodes:
  - name: prepare
    uses: state.set
    with: {text: Good work}
  - name: mood
    uses: llm.call
    with: {messages: [{role: user, content: "Mood of {{ state.text }}?"}]}
    output: answer
  - name: names
    uses: llm.call
    with: {messages: [{role: user, content: "Names in {{ state.text }}?"}]}
    output: answer
  - name: combine
    fan_in: true
    uses: state.set
    with: {all: "{% for one in parallel_results %}[{{ one.answer.content }}]{% endfor %}"}
edges:
  - {from: prepare, to: mood, type: parallel, fan_in: combine}
  - {from: prepare, to: names, parallel: true, fan_in: combine}
`,
      ({ messages }) => (messages[0]!.content!.startsWith('Mood') ? reply.text('glad') : reply.text('none')),
    );
    assert.equal((await stage.start()).phase, 'Completed');
    assert.equal((await stage.state()).all, '[glad][none]');
    assert.deepEqual(stage.steps.slice(0, 4), ['start prepare', 'end prepare', 'start mood', 'start names']);
    assert.deepEqual(stage.steps.slice(4, 6).sort(), ['end mood', 'end names']);
    assert.deepEqual(stage.steps.slice(6), ['start combine', 'end combine']);
  });

  it('a branch that waits to try again keeps no other from its end', async () => {
    stage = await Stage.of(
      `
nodes:
  - name: begin
  - name: slow
    uses: llm.retry
    with: {messages: [{role: user, content: slow}], base_delay: 600, max_delay: 600}
  - name: quick
    uses: llm.call
    with: {messages: [{role: user, content: quick}]}
  - name: join
edges:
  - {from: begin, to: slow, type: parallel, fan_in: join}
  - {from: begin, to: quick, type: parallel, fan_in: join}
`,
      ({ messages }) => (messages[0]!.content === 'slow' ? reply.status(503) : reply.text('done')),
    );
    const running = stage.start();
    await eventually('the quick branch has ended', () => stage.steps.includes('end quick'));
    assert.ok(!stage.steps.includes('failed slow'));
    await stage.engine.stop(stage.runId);
    assert.equal((await running).error?.code, 'ENGINE_ABORTED');
  });

  it('a branch that fails lets the others end, and is the only one to be run again', async () => {
    let broken = true;
    stage = await Stage.of(
      `
nodes:
  - name: begin
  - {name: a, uses: llm.call, with: {messages: [{role: user, content: a}]}, output: a}
  - {name: b, uses: llm.call, with: {messages: [{role: user, content: b}]}, output: b}
  - name: join
edges:
  - {from: begin, to: a, type: parallel, fan_in: join}
  - {from: begin, to: b, type: parallel, fan_in: join}
`,
      ({ messages }) => (messages[0]!.content === 'a' && broken ? reply.status(400) : reply.text('ok')),
    );
    assert.equal((await stage.start()).phase, 'Failed');
    broken = false;
    stage.events.length = 0;
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.deepEqual(stage.steps, ['start a', 'end a', 'start join', 'end join']);
  });

  it('loops while a condition holds', async () => {
    stage = await Stage.of(`
initial_state: {count: 0, sum: 0}
nodes:
  - name: add
    type: while_loop
    condition: state.count < 3
    max_iterations: 10
    body:
      - {run: {type: expression, value: state.count + 1, output_key: count}}
      - {run: {type: expression, value: state.sum + state.count, output_key: sum}}
`);
    await stage.start();
    assert.deepEqual(await stage.state(), { count: 3, sum: 6, iterations: 3, limit_reached: false });
  });

  it('loops at most max_iterations times', async () => {
    stage = await Stage.of(`
initial_state: {count: 0}
nodes:
  - name: add
    type: while_loop
    condition: true
    max_iterations: 4
    body: [{run: {type: expression, value: state.count + 1, output_key: count}}]
`);
    await stage.start();
    assert.deepEqual(await stage.state(), { count: 4, iterations: 4, limit_reached: true });
  });

  it('a way back ends when a node was reached often enough, and goes on when the person says so', async () => {
    stage = await Stage.of(`
settings: {max_visits: 3}
initial_state: {count: 0}
nodes:
  - name: again
    run: {type: expression, value: state.count + 1, output_key: count}
    goto: [{if: "state.count < 5", to: again}, {to: __end__}]
`);
    assert.deepEqual(unsaid((await stage.start()).error), {
      code: 'ENGINE_MAX_TURNS_EXCEEDED',
      message: 'The node again was reached 3 times. Continue to allow more.',
    });
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.deepEqual(await stage.state(), { count: 5 });
  });

  it('a way back by edges ends when a node was reached often enough, too', async () => {
    stage = await Stage.of(`
settings: {max_visits: 4}
initial_state: {count: 0}
nodes:
  - {name: more, run: {type: expression, value: state.count + 1, output_key: count}}
  - {name: look}
edges:
  - {from: __start__, to: more}
  - {from: more, to: look}
  - {from: look, to: more, when: "state.count < 100"}
  - {from: look, to: __end__}
`);
    assert.equal((await stage.start()).error?.code, 'ENGINE_MAX_TURNS_EXCEEDED');
    assert.deepEqual(await stage.state(), { count: 4 });
  });

  it('does the steps of a node one after the other', async () => {
    stage = await Stage.of(
      `
nodes:
  - name: copy
    steps:
      - {name: read, uses: fs.read, with: {path: a.txt}, output: file}
      - {name: write, uses: fs.write, with: {path: b.txt, content: "{{ state.file.text | upper }}"}, output: {done: true}}
`,
      [],
      { files: { 'a.txt': 'text' } },
    );
    await stage.start();
    assert.equal(stage.workspace.read('b.txt'), 'TEXT');
    assert.deepEqual(stage.questions, ['Create b.txt']);
    assert.deepEqual(stage.steps, ['start copy', 'step copy', 'step copy', 'end copy']);
    assert.deepEqual((await stage.kept()).graph?.artifacts, ['b.txt']);
  });

  it('says of what its steps do what that is about, and nothing of what they write', async () => {
    stage = await Stage.of(`
nodes:
  - {name: write, uses: fs.write, with: {path: a, content: x}}
  - {name: search, uses: fs.search, with: {pattern: x}}
`);
    assert.equal((await stage.start()).phase, 'Completed');
    assert.deepEqual(
      stage.events.flatMap((event) => (event.type === 'tool-start' ? [[event.name, event.about]] : [])),
      [
        ['fs.write', { path: 'a' }],
        ['fs.search', { pattern: 'x' }],
      ],
    );
  });

  it('a denied action ends its node', async () => {
    stage = await Stage.of(`nodes:\n  - {name: write, uses: fs.write, with: {path: a, content: x}}\n`);
    stage.answers = [{ decision: 'deny' }];
    assert.deepEqual(unsaid((await stage.start()).error), {
      code: 'TOOL_DENIED',
      message: 'Node write: The person did not allow this. Nothing was run.',
    });
    assert.equal(stage.workspace.exists('a'), false);
  });

  it('answers what was said meanwhile when it is through', async () => {
    stage = await Stage.of(
      `nodes:\n  - {name: ask, uses: llm.call, with: {messages: [{role: user, content: hi}]}, output: {n: 1}}\n`,
      [reply.text('Hello.').wait(100), reply.text('It went well.')],
    );
    const running = stage.start();
    await eventually('it is at work', () => stage.events.some((event) => event.type === 'node'));
    assert.equal(await stage.engine.say({ runId: stage.runId, userInput: 'How was it?' }), true);
    assert.deepEqual(await running, { success: true, phase: 'WaitingUser', assistantText: 'It went well.' });
  });

  it('fills in the templates of its tools, and never those that a model or a file writes', async () => {
    stage = await Stage.of(
      `
initial_state: {folder: src, secret: hidden}
tools:
  - name: look
    description: Reads one file
    action: fs.read
    with: {path: "{{ state.folder }}/a.txt"}
nodes:
  - name: work
    uses: llm.tools
    with: {messages: [{role: user, content: go}], tools: [look]}
    output: first
  - name: echo
    uses: state.set
    with: {copy: "{{ state.first.content }}", nested: "<{{ state.first.content }}>"}
`,
      [reply.call('look', {}), reply.text('{{ state.secret }}')],
      { files: { 'src/a.txt': 'text' } },
    );
    await stage.start();
    const { first, copy, nested } = (await stage.state()) as {
      first: { tool_results: { result: { text: string } }[] };
    } & Record<string, unknown>;
    assert.equal(first.tool_results[0]!.result.text, 'text');
    assert.deepEqual([copy, nested], ['{{ state.secret }}', '<{{ state.secret }}>']);
  });

  it('may only read in an untrusted workspace', async () => {
    stage = await Stage.of(`nodes:\n  - {name: write, uses: fs.write, with: {path: a, content: x}}\n`);
    stage.workspace.trusted = false;
    assert.equal((await stage.start()).error?.code, 'TOOL_NOT_AVAILABLE');
    assert.deepEqual(stage.questions, []);
  });

  it('tells what came out as an answer, which can be talked about', async () => {
    stage = await Stage.of(
      `nodes:\n  - {name: ask, uses: llm.stream, with: {messages: [{role: user, content: hi}]}}\n`,
      [reply.text('Hello.'), reply.text('You are welcome.')],
    );
    await stage.start();
    assert.deepEqual(await stage.continue('thanks'), {
      success: true,
      phase: 'WaitingUser',
      assistantText: 'You are welcome.',
    });
    assert.equal(
      transcript(await stage.kept()),
      'user       go\nassistant  Hello.\nuser       thanks\nassistant  You are welcome.\nWaitingUser',
    );
  });
});

describe('an agent at a node', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const yaml = `
initial_state: {file: a.txt}
nodes:
  - name: plan
    agent: planner
    prompt: Plan a change of {{ state.file }}.
    output: plan
  - name: note
    uses: state.set
    with: {note: "{{ state.plan.content }}"}
`;

  it('hands back with a question and goes on with the person’s words at the same node', async () => {
    stage = await Stage.of(yaml, [reply.text('Which line?'), reply.text('Line 3 then.')]);
    stage.agent('planner', 'instructions: You plan.\ntools: [fs.read]\n');
    assert.equal((await stage.start()).phase, 'WaitingUser');
    assert.equal((await stage.continue('the third')).phase, 'Completed');
    assert.equal((await stage.state()).note, 'Line 3 then.');
    assert.equal(
      transcript(await stage.kept()),
      [
        ...['user       go', 'system     Plan a change of a.txt.', 'assistant  Which line?'],
        ...['user       the third', 'assistant  Line 3 then.', 'Completed'],
      ].join('\n'),
    );
    const [first] = stage.provider.requests;
    assert.match(first!.body.messages[0]!.content!, /^You plan\./);
    assert.deepEqual(
      first!.body.tools!.map((tool) => tool.function.name),
      ['fs_read'],
    );
  });

  it('asks the model of its file', async () => {
    stage = await Stage.of(yaml, [reply.text('Done.')]);
    stage.agent('planner', 'instructions: You plan.\nmodel: thoughtful\n');
    await stage.start();
    assert.equal(stage.provider.requests[0]!.body.model, 'thoughtful');
  });

  const policies: [string, string[], string[]][] = [
    ['default', ['fs_read', 'fs_write', 'shell_run'], []],
    ['read_only', ['fs_read'], ['fs_write', 'shell_run']],
  ];
  for (const [approval, offered, kept] of policies)
    it(`with approval ${approval} is offered what that allows`, async () => {
      stage = await Stage.of(yaml, [reply.text('Done.')]);
      stage.agent('planner', `instructions: You plan.\napproval: ${approval}\n`);
      await stage.start();
      const names = stage.provider.requests[0]!.body.tools!.map((tool) => tool.function.name);
      assert.deepEqual(
        [...offered, ...kept].filter((name) => names.includes(name)),
        offered,
      );
    });

  it('with approval ask is asked again for what was allowed for the run', async () => {
    const write = (path: string) => reply.call('fs_write', { path, content: 'x' }, { id: path });
    stage = await Stage.of(yaml, [write('a'), write('b'), reply.text('Done.')]);
    stage.agent('planner', 'instructions: You plan.\napproval: ask\n');
    stage.answers = [{ decision: 'allow-run' }];
    await stage.start();
    assert.deepEqual(stage.questions, ['Create a', 'Create b']);
  });

  it('with approval ask is asked again for what the tools of the workflow do, too', async () => {
    const call = (name: string, path: string) => reply.call(name, { path, content: 'x' }, { id: path });
    const tools = `
tools:
  - name: put
    description: Writes a file
    parameters: {path: {type: string, required: true}, content: {type: string, required: true}}
    action: fs.write
  - {name: put_too, description: The same, parameters: {path: {}, content: {}}, action: file.write}
`;
    stage = await Stage.of(tools + yaml, [
      call('put', 'a'),
      call('put', 'b'),
      call('put_too', 'c'),
      reply.text('Done.'),
    ]);
    stage.agents.set('planner', { instructions: 'You plan.', tools: ['put', 'put_too'], approval: 'ask' });
    stage.answers = [{ decision: 'allow-run' }];
    await stage.start();
    assert.deepEqual(stage.questions, ['Create a', 'Create b', 'Create c']);
  });

  it('cannot call what its tools leave out', async () => {
    stage = await Stage.of(yaml, [reply.call('fs_write', { path: 'a', content: 'x' }), reply.text('I see.')]);
    stage.agent('planner', 'instructions: You plan.\ntools: ["fs.read"]\n');
    await stage.start();
    assert.deepEqual(stage.questions, []);
    assert.match(transcript(await stage.kept()), /TOOL_NOT_AVAILABLE/);
  });
});

describe('a preset for one run', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const write = (path: string) => reply.call('fs_write', { path, content: 'x' }, { id: path });
  const everywhere = `
nodes:
  - {name: step, uses: fs.write, with: {path: by-step, content: x}}
  - {name: agent, agent: planner, prompt: Plan.}
  - {name: careful, agent: careful, prompt: Plan.}
  - name: tools
    uses: llm.tools
    with: {messages: [{role: user, content: write}], tools: [fs.write]}
`;
  const begin = async (runs: number) => {
    const once = [
      ...[write('by-agent'), reply.text('Done.')],
      ...[write('by-careful'), reply.text('Done.')],
      ...[write('by-tools'), reply.text('Done.')],
    ];
    stage = await Stage.of(everywhere, Array(runs).fill(once).flat());
    stage.agent('planner', 'instructions: You plan.\n');
    stage.agent('careful', 'instructions: You plan.\napproval: ask\n');
  };

  it('holds for what the steps, agents and model calls of its workflow do, not for an agent that always asks', async () => {
    await begin(1);
    stage.presets.set(stage.runId, 'edits-free');
    assert.deepEqual((await stage.start()).error, undefined);
    assert.deepEqual(stage.questions, ['Create by-careful']);
  });

  it('does not hold for another run of the same workflow', async () => {
    await begin(1);
    stage.presets.set('run-other', 'autopilot');
    await stage.start();
    assert.deepEqual(stage.questions, ['Create by-step', 'Create by-agent', 'Create by-careful', 'Create by-tools']);
  });

  it('that asks for everything asks about reads of an agent, too, before it starts any early', async () => {
    stage = await Stage.of('nodes: [{name: agent, agent: planner, prompt: Look.}]', [
      reply.call('fs_list', { path: '.' }),
      reply.text('Done.'),
    ]);
    stage.agent('planner', 'instructions: You look.\n');
    stage.presets.set(stage.runId, 'ask-everything');
    await stage.start();
    assert.equal(stage.questions.length, 1, stage.questions.join());
  });
});

describe('a workflow that was interrupted', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const two = `
nodes:
  - name: first
    uses: state.set
    with: {a: 1}
  - name: second
    uses: llm.stream
    with: {messages: [{role: user, content: "a is {{ state.a }}"}]}
    output: answer
`;

  it('stops at once and goes on at the node that had not ended', async () => {
    stage = await Stage.of(two, [reply.endless(), reply.text('Right.')]);
    const running = stage.start();
    await eventually('it streams', () => stage.events.some((event) => event.type === 'chunk'));
    await stage.engine.stop(stage.runId);
    assert.deepEqual(unsaid((await running).error), { code: 'ENGINE_ABORTED', message: 'Stopped.' });
    const seen = stage.events.length;
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(stage.events.length, seen, 'nothing arrives after a stop');
    stage.build();
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.deepEqual(stage.steps, [
      'start first',
      'end first',
      'start second',
      'failed second',
      'start second',
      'end second',
    ]);
    assert.equal(((await stage.state()).answer as { content: string }).content, 'Right.');
  });

  it('goes on after the editor closed, in the same visit of the node', async () => {
    stage = await Stage.of(two, [reply.endless(), reply.text('Right.')]);
    const running = stage.start();
    await eventually('it streams', () => stage.events.some((event) => event.type === 'chunk'));
    await stage.engine.close();
    assert.equal((await running).phase, 'WaitingUser');
    stage.build();
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.deepEqual(stage.steps, ['start first', 'end first', 'start second', 'end second']);
  });

  it('goes on after the editor closed while a call waited to be tried again', async () => {
    const patient = two.replace('llm.stream', 'llm.retry').replace('content: "a is', 'content: "Still: a is');
    const yaml = patient.replace('"}]}', '"}], base_delay: 600, max_delay: 600}');
    stage = await Stage.of(yaml, [reply.status(503), reply.text('Right.')]);
    const running = stage.start();
    await eventually('it waits', () => stage.events.some((event) => event.type === 'progress'));
    await stage.crash(running);
    assert.equal((await stage.continue()).phase, 'Completed');
    const { content, attempts } = (await stage.state()).answer as { content: string; attempts: number };
    assert.deepEqual([content, attempts], ['Right.', 1]);
  });

  it('does not repeat by itself what had begun to change something', async () => {
    stage = await Stage.of(`
nodes:
  - name: run
    steps:
      - {uses: state.set, with: {a: 1}}
      - {uses: shell.run, with: {command: 'node -e "setTimeout(Object, 60000)"'}, output: done}
`);
    const running = stage.start();
    await eventually('the command runs', () => stage.events.some((event) => event.type === 'tool-start'));
    await stage.crash(running);
    const { error } = await stage.continue();
    assert.equal(error?.code, 'TOOL_INTERRUPTED');
    assert.equal(error!.message, '“run” was interrupted. It may have run.');
    assert.equal((await stage.continue()).error?.code, 'TOOL_INTERRUPTED');
    assert.equal(stage.questions.length, 1, 'it was not even asked again');
    stage.answers = [{ decision: 'deny' }];
    assert.equal((await stage.choose('again')).error?.code, 'TOOL_INTERRUPTED');
    assert.equal(stage.questions.length, 2, 'the person said: again');
    assert.equal((await stage.choose('after', 'done by hand')).phase, 'Completed');
    assert.equal((await stage.state()).done, 'done by hand');
    assert.deepEqual(stage.steps, ['start run', 'step run', 'step run', 'end run']);
  });

  it('asks again for what had not been answered', async () => {
    stage = await Stage.of(`nodes:\n  - {name: write, uses: fs.write, with: {path: a, content: x}}\n`);
    stage.answers = ['wait'];
    const running = stage.start();
    await eventually('it asks', () => stage.events.some((event) => event.type === 'question'));
    await stage.engine.close();
    await running;
    stage.build();
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.equal(stage.workspace.read('a'), 'x');
  });

  const ask = '{uses: llm.call, with: {messages: [{role: user, content: hi}]}, output: said}';
  const inSteps: [what: string, node: string][] = [
    ['the steps of a node', `steps: [${ask}, ${ask}, ${ask}]`],
    ['the rounds of a loop', `type: while_loop, condition: true, max_iterations: 3, body: [${ask}]`],
  ];
  for (const [what, node] of inSteps)
    it(`rests between ${what} when it is paused, and goes on there`, async () => {
      let letGo = () => {};
      const paused = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      const last = '{name: last, uses: state.set, with: {content: All done.}}';
      stage = await Stage.of(`nodes: [{name: work, ${node}}, ${last}]`, () => reply.text('ok').after(paused));
      const running = stage.start();
      await eventually('it is asked', () => stage.provider.requests.length === 1);
      stage.engine.pause(stage.runId);
      letGo();
      assert.equal((await running).phase, 'WaitingUser');
      assert.deepEqual(stage.steps, ['start work', 'step work']);
      stage.build();
      assert.equal((await stage.continue()).phase, 'Completed');
      assert.equal(stage.provider.requests.length, 3);
    });

  it('rests between nodes when it is paused', async () => {
    stage = await Stage.of(two, [reply.text('Right.')]);
    const running = stage.start();
    stage.engine.pause(stage.runId);
    assert.deepEqual(await running, { success: true, phase: 'WaitingUser', assistantText: null });
    assert.equal((await stage.continue()).phase, 'Completed');
  });
});
