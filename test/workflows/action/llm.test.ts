import assert from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { type ProviderReply, reply } from '../../support/provider.ts';
import { unsaid } from '../../support/unsaid.ts';
import { Stage } from '../stage.ts';

const usage = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };

describe('the llm actions of a workflow', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  /** The result of one node, which is this. */
  const result = async (node: string, ...replies: ProviderReply[]) => {
    const indented = node.trim().replace(/^/gm, '    ');
    stage = await Stage.of(`nodes:\n  - name: ask\n${indented}\n    output: result\n`, replies);
    const { error } = await stage.start();
    return error ?? (await stage.state()).result;
  };
  const messages = 'messages: [{role: user, content: "What is {{ 6 * 7 }}?"}]';
  const quick = { limits: { retries: 3, baseDelayMs: 1, idleMs: 200 } };
  const failing = (status: number, headers: Record<string, string> = {}) =>
    Object.entries(headers).reduce(
      (made, [name, value]) => made.header(name, value),
      reply.status(status, { error: { message: 'Not now.' } }),
    );

  it('llm.call answers with its content and usage, as it always did', async () => {
    const given = await result(`uses: llm.call\nwith: {${messages}, model: gpt-4}`, reply.text('42'));
    assert.deepEqual(given, { content: '42', usage });
    const { model, temperature, messages: said, tools } = stage.provider.requests[0]!.body;
    assert.deepEqual(
      { model, temperature, said, tools },
      { model: 'gpt-4', temperature: 0.7, said: [{ role: 'user', content: 'What is 42?' }], tools: undefined },
    );
  });

  const contents: [written: string, said: string][] = [
    ['"{{ state.n }}"', '{"a":1}'],
    ['"{{ state.none }}"', 'Continue.'], // nothing is said: providers refuse an empty message
    ['"Is {{ state.none }}it?"', 'Is it?'],
  ];
  for (const [written, said] of contents)
    it(`a message of ${written} says ${JSON.stringify(said)}`, async () => {
      const node = `{name: ask, uses: llm.call, with: {messages: [{role: user, content: ${written}}]}}`;
      stage = await Stage.of(`initial_state: {n: {a: 1}}\nnodes: [${node}]`, [reply.text('42')]);
      await stage.start();
      assert.deepEqual(stage.provider.requests[0]!.body.messages, [{ role: 'user', content: said }]);
    });

  it('llm.call that fails ends its node, and the run says so', async () => {
    const given = (await result(`uses: llm.call\nwith: {${messages}}`, failing(400))) as {
      code: string;
      message: string;
    };
    assert.equal(given.code, 'LLM_HTTP_ERROR');
    assert.match(given.message, /^Node ask: .*Not now\./);
    assert.deepEqual(stage.steps, ['start ask', 'failed ask']);
  });

  it('llm.stream shows each chunk with its node', async () => {
    await result(`uses: llm.stream\nwith: {${messages}}`, reply.text('forty-two'));
    const chunks = stage.events.filter((event) => event.type === 'chunk');
    assert.deepEqual(
      chunks.map(({ type, content, node }) => ({ type, content, node })),
      ['fort', 'y-tw', 'o'].map((content) => ({ type: 'chunk', content, node: 'ask' })),
    );
    assert.ok(
      stage.events.findIndex(({ type }) => type === 'chunk') <
        stage.events.findIndex((event) => event.type === 'node' && event.status === 'end'),
    );
  });

  it('llm.stream gives the whole answer at the end', async () => {
    const given = await result(`uses: llm.stream\nwith: {${messages}}`, reply.text('forty-two'));
    assert.deepEqual(given, { content: 'forty-two', usage, streamed: true, chunk_count: 3 });
  });

  it('llm.stream that breaks ends its node; what was shown is kept, as a part', async () => {
    const node = `{name: ask, uses: llm.stream, with: {${messages}}, output: result}`;
    stage = await Stage.of(`nodes: [${node}]`, [reply.text('forty').cut(), reply.text('forty-two')], quick);
    assert.equal((await stage.start()).error?.code, 'LLM_INCOMPLETE');
    assert.deepEqual(stage.steps, ['start ask', 'failed ask']);
    const { status, output } = (await stage.kept()).graph!.nodes.ask!;
    assert.deepEqual([status, output, await stage.state()], ['failed', 'forty', {}]);
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.equal((await stage.kept()).graph!.nodes.ask!.output, 'forty-two');
  });

  it('llm.stream that is stopped keeps what was shown, too', async () => {
    stage = await Stage.of(`nodes: [{name: ask, uses: llm.stream, with: {${messages}}}]`, [reply.text('forty').hang()]);
    const running = stage.start();
    await eventually('it is shown', () => stage.engine.live(stage.runId)?.graph?.nodes.ask?.live === 'forty');
    await stage.engine.stop(stage.runId);
    await running;
    assert.equal((await stage.kept()).graph!.nodes.ask!.output, 'forty');
  });

  it('llm.stream asks again after thinking that nobody saw', async () => {
    const node = `{name: ask, uses: llm.stream, with: {${messages}}, output: result}`;
    const broken = reply.thinking('Six times seven').cut();
    stage = await Stage.of(`nodes: [${node}]`, [broken, reply.text('forty-two')], quick);
    assert.equal((await stage.start()).phase, 'Completed');
    assert.deepEqual((await stage.state()).result, { content: 'forty-two', usage, streamed: true, chunk_count: 3 });
  });

  it('a stream that breaks in a branch leaves the state and the other branch as they are', async () => {
    const ask = (name: string) =>
      `{name: ${name}, uses: llm.stream, with: {messages: [{role: user, content: ${name}}]}, output: said}`;
    stage = await Stage.of(
      `nodes: [{name: begin}, ${ask('a')}, ${ask('b')}, {name: join}]\nedges: [{from: begin, to: [a, b], parallel: true, fan_in: join}]`,
      (request) => (request.messages[0]!.content === 'a' ? reply.text('fort').cut() : reply.text('fine')),
    );
    assert.equal((await stage.start()).error?.code, 'LLM_INCOMPLETE');
    const { a, b } = (await stage.kept()).graph!.branches;
    const content = ({ state }: NonNullable<typeof a>) => (state.said as { content: string } | undefined)?.content;
    assert.deepEqual([content(a!), content(b!)], [undefined, 'fine']);
  });

  it('llm.retry succeeds at the first try', async () => {
    const given = await result(`uses: llm.retry\nwith: {${messages}}`, reply.text('42'));
    assert.deepEqual(given, { content: '42', usage, attempts: 1, total_delay: 0 });
  });

  it('llm.retry succeeds after failures, with waits that double', async () => {
    const quick = 'base_delay: 0.01, max_delay: 0.015, jitter: false';
    const given = await result(
      `uses: llm.retry\nwith: {${messages}, ${quick}}`,
      failing(500),
      failing(503),
      reply.text('42'),
    );
    assert.deepEqual(given, { content: '42', usage, attempts: 3, total_delay: 0.025 });
  });

  it('llm.retry gives up after max_retries, as a value', async () => {
    const given = await result(
      `uses: llm.retry\nwith: {${messages}, max_retries: 1, base_delay: 0.01, jitter: false}`,
      failing(500),
      failing(500),
      reply.text('never'),
    );
    const { error, ...rest } = given as { error: string };
    assert.match(error, /Not now\./);
    assert.deepEqual(rest, { success: false, attempts: 2, total_delay: 0.01 });
    assert.equal((await stage.kept()).phase, 'Completed');
  });

  const waits: [header: string, value: string, seconds: number][] = [
    ['retry-after-ms', '20', 0.02],
    ['Retry-After', '1', 1],
  ];
  for (const [header, value, seconds] of waits)
    it(`llm.retry waits as long as ${header} says`, async () => {
      const given = await result(
        `uses: llm.retry\nwith: {${messages}, base_delay: 30}`,
        failing(429, { [header]: value }),
        reply.text('42'),
      );
      assert.deepEqual(given, { content: '42', usage, attempts: 2, total_delay: seconds });
    });

  const caps: [what: string, more: string, capMs: number, attempts: number][] = [
    ['more than the setting, where the file allows it', ', max_delay: 0.05', 10, 2],
    ['no longer than the file allows', ', max_delay: 0.01', 60_000, 1],
    ['no longer than the setting, where the file says nothing', '', 10, 1],
  ];
  for (const [what, more, retryAfterCapMs, attempts] of caps)
    it(`llm.retry waits for a provider ${what}`, async () => {
      const node = `{name: ask, uses: llm.retry, with: {${messages}${more}}, output: result}`;
      const script = [failing(429, { 'retry-after-ms': '20' }), reply.text('42')];
      stage = await Stage.of(`nodes: [${node}]`, script, { limits: { retryAfterCapMs } });
      await stage.start();
      assert.equal(((await stage.state()).result as { attempts: number }).attempts, attempts);
    });

  const broken: [what: string, first: ProviderReply][] = [
    ['a connection that is reset', reply.cut('reset')],
    ['an answer that does not come in time', reply.hang()],
    ['a server that has too much to do', failing(503)],
  ];
  for (const [what, first] of broken)
    it(`llm.retry tries again after ${what}`, async () => {
      const node = `{name: ask, uses: llm.retry, with: {${messages}, base_delay: 0.01, jitter: false}, output: result}`;
      stage = await Stage.of(`nodes: [${node}]`, [first, reply.text('42')], { limits: { firstTokenMs: 500 } });
      assert.equal((await stage.start()).phase, 'Completed');
      assert.deepEqual((await stage.state()).result, { content: '42', usage, attempts: 2, total_delay: 0.01 });
    });

  const error = { error: { message: 'The upstream is gone.', code: 502 } };
  const breaks: [what: string, first: ProviderReply][] = [
    ['is cut', reply.text('forty').cut()],
    ['is reset', reply.text('forty').cut('reset')],
    ['ends without its end', reply.text('forty').finish(null)],
    ['falls silent', reply.text('forty').hang()],
    ['says in its middle that it failed', reply.text('forty').event(error).finish(null)],
    ['breaks while it thinks', reply.thinking('Six times seven').cut()],
    ['is cut in a call', reply.text('forty').call('fs_read', '{"pa').cut()],
  ];
  for (const [what, first] of breaks)
    for (const action of ['llm.call', 'llm.retry', 'llm.tools'])
      it(`${action} asks again when the answer ${what}: nobody saw any of it`, async () => {
        const retry = action === 'llm.retry' ? ', base_delay: 0.01, jitter: false' : '';
        const tools = action === 'llm.tools' ? ', tools: []' : '';
        const node = `{name: ask, uses: ${action}, with: {${messages}${retry}${tools}}, output: result}`;
        stage = await Stage.of(`nodes: [${node}]`, [first, reply.text('42')], quick);
        assert.equal((await stage.start()).phase, 'Completed');
        const { content, attempts, total_delay } = (await stage.state()).result as Record<string, unknown>;
        assert.deepEqual([content, stage.provider.requests.length], ['42', 2]);
        if (action === 'llm.retry') assert.deepEqual([attempts, total_delay], [2, 0.01]);
        assert.equal(
          stage.provider.requests[0]!.body.messages.length,
          stage.provider.requests[1]!.body.messages.length,
        );
      });

  it('llm.retry comes through where every second answer is cut', async () => {
    const nodes = Array.from({ length: 4 }, (_, at) => {
      const given = `{${messages}, base_delay: 0.01, jitter: false}`;
      return `{name: n${at}, uses: llm.retry, with: ${given}, output: n${at}}`;
    });
    const script = (_: unknown, count: number) =>
      count % 2 === 0 ? reply.text('The answer is forty').cut() : reply.text('42');
    stage = await Stage.of(`nodes: [${nodes}]`, script, quick);
    assert.equal((await stage.start()).phase, 'Completed');
    const answered = { content: '42', usage, attempts: 2, total_delay: 0.01 };
    assert.deepEqual(await stage.state(), { n0: answered, n1: answered, n2: answered, n3: answered });
    assert.equal(stage.provider.requests.length, 8);
  });

  it("an answer that its server cannot read is the model's slip: llm.retry asks once more, and no third time", async () => {
    const message = 'The model produced output that does not match the expected peg-native format';
    const slip = reply.status(500, { error: { code: 500, message, type: 'server_error' } });
    const node = `{name: ask, uses: llm.retry, with: {${messages}, base_delay: 0.01}, output: result}`;
    stage = await Stage.of(`nodes: [${node}]`, [slip, slip, reply.text('never')]);
    await stage.start();
    const { error: said, attempts } = (await stage.state()).result as { error: string; attempts: number };
    assert.match(said, /could not read the output of its model: The model produced output/);
    assert.deepEqual([attempts, stage.provider.requests.length], [2, 2]);
  });

  for (const status of [400, 401, 404, 422])
    it(`llm.retry does not repeat a ${status}`, async () => {
      const given = await result(`uses: llm.retry\nwith: {${messages}}`, failing(status), reply.text('never'));
      const { error, ...rest } = given as { error: string };
      assert.ok(error.length > 0);
      assert.deepEqual(rest, { success: false, attempts: 1, total_delay: 0 });
    });

  it('llm.retry is stopped in its wait', async () => {
    const running = result(`uses: llm.retry\nwith: {${messages}, base_delay: 600, max_delay: 600}`, failing(500));
    while (!stage?.events.some((event) => event.type === 'progress')) await new Promise((go) => setTimeout(go, 2));
    await stage.engine.stop(stage.runId);
    assert.deepEqual(unsaid(await running), { code: 'ENGINE_ABORTED', message: 'Stopped.' });
  });

  it('an answer can be asked for as JSON of a schema, and is mended once where it is not', async () => {
    const schema = '{name: n, schema: {type: object, properties: {n: {type: integer}}, required: [n]}}';
    const given = await result(
      `uses: llm.call\nwith: {${messages}, response_format: {type: json_schema, json_schema: ${schema}}}`,
      reply.text('It is {"n": "42"}'),
      reply.text('{"n": 42}'),
    );
    assert.deepEqual((given as { content: string }).content, '{"n": 42}');
    const [first, second] = stage.provider.requests.map(({ body }) => body);
    assert.equal((first!.response_format as { type: string }).type, 'json_schema');
    assert.deepEqual(
      second!.messages.map(({ role }) => role),
      ['user', 'assistant', 'user'],
    );
  });

  const formats: [format: string, refuses: (format: { type: string } | undefined) => boolean][] = [
    ['{type: json_object}', (format) => format !== undefined],
    [
      '{type: json_schema, json_schema: {schema: {type: object, required: [n], properties: {n: {type: integer}}}}}',
      (format) => format?.type === 'json_schema',
    ],
  ];
  for (const [format, refuses] of formats)
    it(`an answer is checked where the provider does not know ${format}`, async () => {
      const unknown = { error: { message: 'This `response_format` is not supported.' } };
      const node = `{name: ask, uses: llm.call, with: {${messages}, response_format: ${format}}, output: result}`;
      stage = await Stage.of(`nodes: [${node}]`, (request) => {
        if (refuses(request.response_format as { type: string } | undefined)) return reply.status(400, unknown);
        const again = request.messages.at(-1)!.content!.startsWith('That is not what was asked for');
        return reply.text(again ? '{"n": 42}' : 'Sure: 42.');
      });
      assert.equal((await stage.start()).phase, 'Completed');
      assert.equal(((await stage.state()).result as { content: string }).content, '{"n": 42}');
    });

  it('an answer that is no JSON twice ends the node', async () => {
    const given = await result(
      `uses: llm.call\nwith: {${messages}, response_format: {type: json_object}}`,
      reply.text('No.'),
      reply.text('[1]'),
    );
    assert.deepEqual(unsaid(given), {
      code: 'LLM_BAD_RESPONSE',
      message: 'Node ask: The answer does not have the requested format: it is not a JSON object.',
    });
  });

  it('an equal call is answered from the cache when it may be', async () => {
    const one = (name: string) =>
      `  - {name: ${name}, uses: llm.call, with: {${messages}, cache: true}, output: ${name}}\n`;
    stage = await Stage.of(`nodes:\n${one('a')}${one('b')}`, [reply.text('42')]);
    await stage.start();
    assert.deepEqual(await stage.state(), { a: { content: '42', usage }, b: { content: '42', usage, cached: true } });
    assert.equal(stage.provider.requests.length, 1);
  });

  it('is asked as the settings of the file say, unless it says itself', async () => {
    const settings = 'settings: {llm: {model: small, temperature: 0.2, max_tokens: 50}}';
    const calls = [
      `{${messages}}`,
      `{${messages}, model: large, temperature: 1, max_tokens: 9}`,
      `{${messages}, tools: []}`,
    ];
    const actions = ['llm.call', 'llm.retry', 'llm.tools'];
    const nodes = calls.map((call, index) => `{name: n${index}, uses: ${actions[index]}, with: ${call}}`);
    stage = await Stage.of(`${settings}\nnodes: [${nodes}]`, () => reply.text('42'));
    await stage.start();
    assert.deepEqual(
      stage.provider.requests.map(({ body: { model, temperature, max_tokens } }) => [model, temperature, max_tokens]),
      [
        ['small', 0.2, 50],
        ['large', 1, 9],
        ['small', 0.2, 50],
      ],
    );
  });

  it('a node whose model fails goes on with another one, also where the file names it; the next way is as the file says', async () => {
    const asks = (name: string) =>
      `{name: ${name}, uses: llm.call, with: {${messages}, model: large}, output: ${name}}`;
    stage = await Stage.of(`nodes: [${asks('a')}, ${asks('b')}]`, ({ model }) =>
      model === 'large' ? failing(401) : reply.text(`From ${model}.`),
    );
    assert.equal((await stage.start()).error?.code, 'LLM_AUTH_FAILED');
    assert.equal((await stage.continue()).error?.code, 'LLM_AUTH_FAILED', 'nothing changes by itself');
    assert.equal((await stage.continue(undefined, 'other')).phase, 'Completed');
    const { a, b } = (await stage.state()) as Record<string, { content: string }>;
    assert.deepEqual([a!.content, b!.content], ['From other.', 'From other.']);
    assert.deepEqual(
      stage.provider.requests.map(({ body }) => body.model),
      ['large', 'large', 'other', 'other'],
    );
  });

  for (const name of ['llm_call', 'llm_stream', 'llm_retry', 'llm_tools'])
    it(`actions.${name} is the same action`, async () => {
      const tools = name === 'llm_tools' ? ', tools: []' : '';
      const given = await result(`uses: actions.${name}\nwith: {${messages}${tools}}`, reply.text('42'));
      assert.equal((given as { content: string }).content, '42');
    });
});

describe('llm.tools', () => {
  let stage: Stage;
  afterEach(() => stage.end());

  const look = `
nodes:
  - name: work
    uses: llm.tools
    with:
      messages:
        - {role: system, content: You count.}
        - {role: user, content: How long is the list?}
      tools:
        - name: look
          description: Reads a file
          parameters:
            path: {type: string, description: Which one, required: true}
          action: fs.read
        - fs.write
    output: result
`;

  it('dispatches a call to the action of its tool', async () => {
    stage = await Stage.of(look, [reply.call('look', { path: 'list.txt' }), reply.text('Two lines.')], {
      files: { 'list.txt': 'a\nb\n' },
    });
    await stage.start();
    const {
      tool_results: results,
      tool_calls: calls,
      ...rest
    } = (await stage.state()).result as Record<string, never[]>;
    assert.deepEqual(rest, { content: 'Two lines.', rounds: 1 });
    assert.deepEqual(calls, [{ id: 'call_0_look', name: 'look', arguments: { path: 'list.txt' } }]);
    const [one] = results as unknown as { tool_call_id: string; name: string; result: { text: string } }[];
    assert.deepEqual([one!.tool_call_id, one!.name, one!.result.text], ['call_0_look', 'look', 'a\nb']);
    const [first] = stage.provider.requests;
    assert.deepEqual(
      first!.body.tools!.map((tool) => tool.function),
      [
        {
          name: 'look',
          description: 'Reads a file',
          parameters: {
            type: 'object',
            properties: { path: { type: 'string', description: 'Which one' } },
            required: ['path'],
            additionalProperties: false,
          },
        },
        (first!.body.tools![1] as { function: object }).function,
      ],
    );
    assert.equal(first!.body.messages[0]!.content, 'You count.');
  });

  const schema = `
tools:
  - name: book
    description: Books a room
    action: state.set
    parameters:
      path: {type: string, pattern: "^[a-z]+$", minLength: 2}
      mail: {type: string, format: email}
      seats: {type: integer, minimum: 1, maximum: 8}
      slow: {type: string, pattern: "^(a+)+$"}
      where: {type: object, required: [room], properties: {room: {type: string}, floor: {type: integer}}}
nodes:
  - name: work
    uses: llm.tools
    with: {messages: [{role: user, content: Book.}], tools: [book]}
    output: result
`;
  const given: [args: Record<string, unknown>, told: RegExp][] = [
    [{ path: 'ab', mail: 'a@b.example', seats: 8, where: { room: 'A', floor: 1 } }, /"room":"A"/],
    [{ seats: '8', mail: null, where: '{"room": "B", "floor": "2"}' }, /"floor":2/],
    [{ input: { seats: '9' } }, /book takes \{.*seats\?: integer/],
    [{ path: 'A1' }, /path: /],
    [{ mail: 'nobody' }, /mail: /],
    [{ seats: 9 }, /seats: /],
    [{ where: { floor: 1 } }, /where\.room: /],
    [{ slow: `${'a'.repeat(60)}!` }, /took too long/],
  ];
  for (const [args, told] of given)
    it(`holds a tool of YAML to its schema: ${JSON.stringify(args).slice(0, 60)}`, async () => {
      stage = await Stage.of(schema, [reply.call('book', args), reply.text('Done.')]);
      await stage.start();
      const [first, second] = stage.provider.requests;
      const where =
        '"where":{"type":"object","properties":{"room":{"type":"string"},"floor":{"type":"integer"}},"required":["room"]}';
      assert.ok(JSON.stringify(first!.body.tools).includes(where), JSON.stringify(first!.body.tools));
      assert.match(second!.body.messages.at(-1)!.content!, told);
    });

  it('records what a tool of YAML understands otherwise than it was sent', async () => {
    stage = await Stage.of(schema, [reply.call('book', { seats: '8', mail: null }), reply.text('Done.')]);
    await stage.start();
    const { calls } = await stage.kept();
    assert.deepEqual(
      Object.values(calls).flatMap(({ understood }) => understood ?? []),
      [{ arguments: { seats: 8 }, leftOut: ['mail'] }],
    );
  });

  it('ends when the model goes in circles, with the call that it repeats', async () => {
    stage = await Stage.of(look, () => reply.call('look', { path: 'none.txt' }));
    const { phase, error } = await stage.start();
    assert.deepEqual([phase, error?.code, stage.provider.requests.length], ['Failed', 'ENGINE_LOOP_DETECTED', 3]);
    assert.match(error!.message, /^Node work: The same call failed 3 times.*: look \{"path":"none\.txt"\}\./);
  });

  it('goes on for several turns and puts what changes something to the person', async () => {
    stage = await Stage.of(
      look,
      [
        reply.call('look', { path: 'list.txt' }),
        reply.call('fs_write', { path: 'count.txt', content: '2' }),
        reply.text('Written.'),
      ],
      { files: { 'list.txt': 'a\nb\n' } },
    );
    await stage.start();
    assert.deepEqual(stage.questions, ['Create count.txt']);
    assert.equal(stage.workspace.read('count.txt'), '2');
    const given = (await stage.state()).result as { content: string; rounds: number; tool_calls: unknown[] };
    assert.deepEqual([given.content, given.rounds, given.tool_calls.length], ['Written.', 2, 2]);
  });

  it('a break in a later round repeats that round alone: calls before it ran once, and none of the broken answer', async () => {
    const write = (name: string) => reply.call('fs_write', { path: name, content: name });
    const broken = reply.text('I read ').call('look', { path: 'list.txt' }).call('fs_write', '{"path": "thr').cut();
    stage = await Stage.of(
      look,
      [
        write('one'),
        write('two'),
        broken,
        reply.text('I write.').call('fs_write', { path: 'three', content: '3' }),
        reply.text('Done.'),
      ],
      { files: { 'list.txt': 'a\n' }, limits: { retries: 1, baseDelayMs: 1 } },
    );
    assert.equal((await stage.start()).phase, 'Completed');
    assert.deepEqual(stage.questions, ['Create one', 'Create two', 'Create three']);
    const [, , third, again] = stage.provider.requests.map(({ body }) => JSON.stringify(body));
    assert.equal(again, third);
    const { calls } = await stage.kept();
    assert.equal(Object.keys(calls).length, 3);
    const { content, rounds } = (await stage.state()).result as { content: string; rounds: number };
    assert.deepEqual([content, rounds], ['Done.', 3]);
  });

  it('shows what it said round by round, when each is whole', async () => {
    const looks = reply.text('I look.').call('look', { path: 'list.txt' });
    stage = await Stage.of(look, [looks, reply.text('Two lines.')], { files: { 'list.txt': 'a\nb\n' } });
    await stage.start();
    const shown = stage.events.flatMap((event) => (event.type === 'chunk' ? [event.content] : []));
    assert.deepEqual(shown, ['I look.', 'Two lines.']);
  });

  it('tells the model of a denied call, and goes on', async () => {
    stage = await Stage.of(look, [reply.call('fs_write', { path: 'x', content: '2' }), reply.text('Then not.')]);
    stage.answers = [{ decision: 'deny', words: 'not there' }];
    await stage.start();
    const given = (await stage.state()).result as { content: string; tool_results: { code: string }[] };
    assert.deepEqual([given.content, given.tool_results[0]!.code], ['Then not.', 'TOOL_DENIED']);
    assert.equal(stage.workspace.exists('x'), false);
  });

  it('denied twice without a word has no answer, and ends its node', async () => {
    const write = (id: string) => reply.call('fs_write', { path: id, content: '2' }, { id });
    stage = await Stage.of(look, [write('x'), write('y'), reply.text('Never.')]);
    stage.answers = [{ decision: 'deny' }, { decision: 'deny' }];
    assert.deepEqual(unsaid((await stage.start()).error), {
      code: 'TOOL_DENIED',
      message: 'Node work: You did not allow the model’s call or its next one. Continue to ask it again.',
    });
    stage.provider.script = [...Array(2).fill(reply.status(400)), reply.text('Two.')];
    assert.equal((await stage.continue()).phase, 'Completed');
  });

  it('rests between two rounds when the run is paused, and goes on there', async () => {
    let letGo = () => {};
    const paused = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const looks = reply.text('I look.').after(paused).call('look', { path: 'list.txt' });
    const yaml = `${look}  - {name: note, uses: state.set, with: {note: "{{ state.result.content }}"}}\n`;
    stage = await Stage.of(yaml, [looks, reply.text('Two lines.')], { files: { 'list.txt': 'a\nb\n' } });
    const running = stage.start();
    await eventually('it is asked', () => stage.provider.requests.length === 1);
    stage.engine.pause(stage.runId);
    letGo();
    assert.equal((await running).phase, 'WaitingUser');
    assert.deepEqual([stage.steps, stage.provider.requests.length], [['start work'], 1]);
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.equal((await stage.state()).note, 'Two lines.');
    assert.equal(stage.provider.requests.length, 2);
  });

  it('tells the model what was wrong with a call: no such tool, wrong arguments, no such action', async () => {
    const yaml = look.replace(/tools:[\s\S]*output/, 'tools: "{{ state.tools }}"\n    output');
    const spec = { name: 'lost', description: 'Is gone', parameters: {}, action: 'no.such' };
    stage = await Stage.of(yaml, [
      reply.call('fs_delete', { path: 'x' }).call('lost', { extra: 1 }, { id: 'b' }).call('lost', {}, { id: 'c' }),
      reply.text('I see.'),
    ]);
    await stage.start('go', { tools: [spec, 'fs.read'] });
    const given = (await stage.state()).result as { tool_results: { code: string; error: string }[] };
    assert.deepEqual(
      given.tool_results.map(({ code }) => code),
      ['TOOL_NOT_AVAILABLE', 'TOOL_ARGS_INVALID', 'TOOL_NOT_AVAILABLE'],
    );
    assert.match(given.tool_results[2]!.error, /no tool "no\.such"/);
  });

  it('stops after its rounds and says so', async () => {
    const again = reply.call('look', { path: 'list.txt' });
    stage = await Stage.of(look.replace('    output', '      max_tool_rounds: 2\n    output'), [again, again, again], {
      files: { 'list.txt': 'a\n' },
    });
    await stage.start();
    const given = (await stage.state()).result as { rounds: number; warning: string };
    assert.deepEqual([given.rounds, given.warning], [2, 'The limit of 2 tool rounds is reached.']);
    assert.equal(stage.provider.requests.length, 2);
  });

  const choices: [string, unknown, string[], unknown][] = [
    ['auto', 'auto', ['look', 'fs_write'], 'auto'],
    ['none', 'none', ['look', 'fs_write'], 'none'],
    ['required', 'required', ['look', 'fs_write'], 'auto'],
    ['look', 'required', ['look'], 'auto'],
  ];
  for (const [choice, first, names, then] of choices)
    it(`tool_choice ${choice}: the model is asked so`, async () => {
      const yaml = look.replace('    output', `      tool_choice: ${choice}\n    output`);
      stage = await Stage.of(yaml, [reply.call('look', { path: 'list.txt' }), reply.text('Done.')], {
        files: { 'list.txt': '' },
      });
      await stage.start();
      const asked = stage.provider.requests.map(({ body }) => [
        body.tool_choice,
        body.tools!.map((tool) => tool.function.name),
      ]);
      assert.deepEqual(asked, [
        [first, names],
        [then, names],
      ]);
    });
});
