import assert from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { type ProviderReply, type ProviderScript, reply, type WireRequest } from '../../support/provider.ts';
import { Stage } from '../stage.ts';

const translate = (more = '') => `
initial_state: {files: [a.md, b.md, c.md, d.md]}
nodes:
  - name: translate
    foreach: state.files
    item: file
    ${more}
    steps:
      - uses: llm.call
        with: {messages: [{role: user, content: "Translate {{ file }}"}]}
        output: {text: "{{ result.content }}"}
      - uses: shell.run
        with: {command: "echo {{ state.file }} {{ index }} >> log"}
        output: {code: "{{ result.exitCode }}"}
    output: texts
  - name: all
    uses: state.set
    with: {all: "{% for one in state.texts %}{{ one.file }}: {{ one.text }}. {% endfor %}"}
`;
const whole = 'a.md: A.MD. b.md: B.MD. c.md: C.MD. d.md: D.MD. ';
const fileIn = ({ messages }: WireRequest) => messages.at(-1)!.content!.slice('Translate '.length);
const answer = (request: WireRequest) => reply.text(fileIn(request).toUpperCase());
/** What is said of one file; the others are translated. */
const but =
  (file: string, said: ProviderReply) =>
  (request: WireRequest): ProviderReply =>
    fileIn(request) === file ? said : answer(request);

describe('a node over a list', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const begin = async (yaml: string, script: ProviderScript = answer, files = {}) => {
    stage = await Stage.of(yaml, script, { files });
    return stage.start();
  };
  /** Lines in the order of the list, however they came. */
  const log = () => stage.workspace.read('log')!.trim().split('\n').sort();
  const ended = () => stage.steps.filter((step) => step.startsWith('end translate[')).sort();
  const logged = ['a.md 0', 'b.md 1', 'c.md 2', 'd.md 3'];

  it('does its steps for each item, and has what they set in the order of the list', async () => {
    assert.equal((await begin(translate())).phase, 'Completed');
    const { texts, all } = await stage.state();
    assert.equal(all, whole);
    assert.deepEqual((texts as unknown[])[2], { file: 'c.md', index: 2, text: 'C.MD', code: 0 });
    assert.deepEqual(log(), logged);
    assert.deepEqual(Object.keys((await stage.kept()).graph!.branches), [], 'its lines are over');
  });

  for (const [more, most] of [
    ['max_workers: 2', 2],
    ['', 8],
  ] as const)
    it(`has ${most} at work at once${more && ` with ${more}`}`, async () => {
      const list = 'files: [a, b, c, d, e, f, g, h, i, j]';
      stage = await Stage.of(translate(more).replace(/files: \[.*\]/, list), () => reply.hang());
      const running = stage.start();
      await eventually('they are asked for', () => stage.provider.requests.length === most);
      await stage.engine.stop(stage.runId);
      await running;
      assert.equal(stage.steps.filter((step) => step.startsWith('start translate[')).length, most);
    });

  it('leaves the others at work when one fails, and does only that one again', async () => {
    const { phase, error } = await begin(translate(), but('b.md', reply.status(400)));
    assert.equal(phase, 'Failed');
    assert.match(error!.message, /^Node translate: 1 of 4 failed\. Node translate\[1\]: /);
    assert.deepEqual(ended(), ['end translate[0]', 'end translate[2]', 'end translate[3]']);
    assert.equal((await stage.kept()).graph!.nodes.translate!.status, 'failed');
    stage.provider.requests.length = 0;
    stage.provider.script = answer;
    stage.build();
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.deepEqual(
      stage.provider.requests.map(({ body }) => fileIn(body)),
      ['b.md'],
    );
    assert.equal((await stage.state()).all, whole);
    assert.deepEqual(log(), logged);
  });

  it('goes on after a kill with what had not ended', async () => {
    stage = await Stage.of(translate(), but('c.md', reply.hang()));
    const running = stage.start();
    await eventually('three have ended', () => ended().length === 3);
    await stage.crash(running);
    stage.provider.requests.length = 0;
    stage.provider.script = answer;
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.deepEqual(
      stage.provider.requests.map(({ body }) => fileIn(body)),
      ['c.md'],
    );
    assert.equal((await stage.state()).all, whole);
    assert.deepEqual(log(), logged);
  });

  it('goes on after a stop with what had not ended', async () => {
    stage = await Stage.of(translate('max_workers: 1'), but('c.md', reply.hang()));
    const running = stage.start();
    await eventually('the third is asked for', () => stage.provider.requests.length === 3);
    await stage.engine.stop(stage.runId);
    assert.equal((await running).error?.code, 'ENGINE_ABORTED');
    stage.provider.requests.length = 0;
    stage.provider.script = answer;
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.deepEqual(
      stage.provider.requests.map(({ body }) => fileIn(body)),
      ['c.md', 'd.md'],
    );
    assert.equal((await stage.state()).all, whole);
    assert.deepEqual(log(), logged);
  });

  it('rests between two items', async () => {
    stage = await Stage.of(translate('max_workers: 1'), (request) => {
      stage.engine.pause(stage.runId);
      return answer(request);
    });
    assert.equal((await stage.start()).phase, 'WaitingUser');
    assert.equal(stage.provider.requests.length, 1);
    stage.provider.script = answer;
    stage.build();
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.equal((await stage.state()).all, whole);
    assert.deepEqual(log(), logged);
  });

  it('goes on with those that failed when on_error says so', async () => {
    await begin(translate('on_error: continue'), but('b.md', reply.status(400)));
    const [, failed, third] = (await stage.state()).texts as { error?: { node: string; code: string } }[];
    assert.deepEqual([failed!.error!.node, failed!.error!.code], ['translate[1]', 'LLM_HTTP_ERROR']);
    assert.equal(third!.error, null);
  });

  it('begins no other once one has failed, with fail_fast', async () => {
    await begin(translate('max_workers: 1\n    fail_fast: true'), but('b.md', reply.status(400)));
    assert.deepEqual(ended(), ['end translate[0]']);
    assert.equal((await stage.kept()).phase, 'Failed');
  });

  it('does what is in the list now: what another item had come to does not count', async () => {
    await begin(translate('max_workers: 1'), but('b.md', reply.status(400)));
    stage.provider.script = answer;
    stage.yaml = stage.yaml.replace('foreach: state.files', 'foreach: [x.md, b.md]');
    stage.build();
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.equal((await stage.state()).all, 'x.md: X.MD. b.md: B.MD. ');
  });

  const small: [what: string, foreach: string, result: unknown][] = [
    ['nothing in it', 'foreach: []', []],
    [
      'a list that is written there',
      'foreach: [1, "{{ 1 + 1 }}"]',
      [
        { item: 1, index: 0, n: 10 },
        { item: 2, index: 1, n: 20 },
      ],
    ],
    ['a template', "foreach: \"{{ [{'a': 3}] | map(attribute='a') | list }}\"", [{ item: 3, index: 0, n: 30 }]],
  ];
  for (const [what, foreach, result] of small)
    it(`takes ${what}`, async () => {
      await begin(
        `nodes:\n  - name: a\n    ${foreach}\n    run: {type: expression, value: item * 10, output_key: n}\n`,
      );
      assert.deepEqual(await stage.state(), { parallel_results: result });
    });

  const wrong: [what: string, list: string, message: string][] = [
    ['a text', '"a, b"', 'Node a: `foreach` needs a list, but this is a text.'],
    ['nothing', 'null', 'Node a: `foreach` needs a list, but this is nothing.'],
    [
      'more than a thousand',
      `[${'0,'.repeat(1001)}]`,
      'Node a: `foreach` takes at most 1000 items, but this list has 1001.',
    ],
  ];
  for (const [what, list, message] of wrong)
    it(`does not take ${what}`, async () => {
      const { error } = await begin(
        `initial_state: {l: ${list}}\nnodes: [{name: a, foreach: state.l, uses: state.set, with: {x: 1}}]`,
      );
      assert.equal(error!.message, message);
    });

  it('asks for each item by itself, and a no is for that one', async () => {
    const yaml =
      'nodes:\n  - {name: a, foreach: [x, y, z], uses: fs.write, with: {path: "{{ item }}", content: "."}, output: made}\n';
    stage = await Stage.of(yaml);
    stage.answers = [{ decision: 'allow' }, { decision: 'deny' }, { decision: 'allow' }];
    assert.equal((await stage.start()).error?.code, 'TOOL_DENIED');
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.deepEqual(stage.questions.sort(), ['Create x', 'Create y', 'Create y', 'Create z']);
    assert.equal(((await stage.state()).made as unknown[]).length, 3);
  });

  it('has an agent with a conversation of its own for each item; questions come one at a time', async () => {
    const yaml = `
nodes:
  - {name: judge, foreach: [one, two], agent: {instructions: You judge.}, prompt: "Judge {{ item }}.", output: judged}
  - {name: all, uses: state.set, with: {all: "{% for one in state.judged %}[{{ one.content }}]{% endfor %}"}}
`;
    const script = ({ messages }: WireRequest) =>
      reply.text(
        messages.length > 2 ? `${messages.at(-1)!.content}!` : `How strict for ${messages[1]!.content!.slice(6, 9)}?`,
      );
    assert.equal((await begin(yaml, script)).assistantText, 'judge[0]: How strict for one?');
    stage.build();
    assert.equal((await stage.continue('very')).assistantText, 'judge[1]: How strict for two?');
    assert.equal((await stage.continue('not at all')).phase, 'Completed');
    assert.equal((await stage.state()).all, '[very!][not at all!]');
  });

  for (const [rule, requests, failed] of [
    ['continue', 3, true],
    ['{retry: 1, wait: 0}', 4, false],
    ['{retry: 1, wait: 0, continue: true}', 4, false],
  ] as const)
    it(`has on_error: ${rule} for the agent of each item`, async () => {
      const yaml = `
nodes:
  - {name: judge, foreach: [one, two, three], agent: {instructions: You judge.}, prompt: "Judge {{ item }}", output: judged, on_error: ${rule}}
`;
      let asked = 0;
      const script = ({ messages }: WireRequest) => {
        const about = messages[1]!.content!.slice('Judge '.length);
        if (about === 'two' && ++asked === 1) return reply.status(400);
        return reply.text(`${about} is good.`);
      };
      assert.equal((await begin(yaml, script)).phase, 'Completed');
      const judged = (await stage.state()).judged as { content?: string; error: null | { code: string } }[];
      assert.deepEqual(
        judged.map(({ content, error }) => content ?? error?.code),
        ['one is good.', failed ? 'LLM_HTTP_ERROR' : 'two is good.', 'three is good.'],
      );
      assert.equal(stage.provider.requests.length, requests);
    });

  it('stays small in a loop, and in a branch sees the branch’s values', async () => {
    const yaml = `
initial_state: {list: [1, 2, 3], round: 0}
nodes:
  - {name: begin}
  - {name: left, uses: state.set, with: {factor: 2}}
  - {name: times, foreach: state.list, run: {type: expression, value: item * state.factor, output_key: n}, output: products, goto: join}
  - {name: right}
  - name: join
    uses: state.set
    with: {n: "{{ parallel_results[0].products[2].n }}", round: "{{ state.round + 1 }}"}
    goto: [{if: state.round < 12, to: begin}, {to: __end__}]
edges:
  - {from: begin, to: left, parallel: true, fan_in: join}
  - {from: begin, to: right, parallel: true, fan_in: join}
`;
    assert.equal((await begin(yaml)).phase, 'Completed');
    const state = await stage.state();
    assert.deepEqual([state.n, state.round], [6, 12]);
  });
});
