import assert from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { longText } from '../../support/longText.ts';
import { type ProviderReply, reply, type WireRequest } from '../../support/provider.ts';
import { Stage } from '../stage.ts';

const long = (name: string) => `${name}: ${longText('some words of a file ', 540)}`.slice(0, 11_000);
const files = { a: long('a'), b: long('b'), c: long('c') };
const reads = (...paths: string[]): ProviderReply =>
  paths.reduce((made, path) => made.call('fs_read', { path }, { id: `r-${path}` }), reply.text('I look.').usage(null));
const overflow = (words: string) => reply.status(400, { error: { message: words, code: 'context_length_exceeded' } });

const tools = `
nodes:
  - name: ask
    uses: llm.tools
    with: {messages: [{role: user, content: Compare the files.}], tools: [fs.read]}
    output: result
`;
const branches = `
nodes:
  - {name: begin}
  - {name: look, agent: {instructions: You read., tools: [fs.read]}, prompt: Compare the files., output: result}
  - {name: rest, uses: state.set, with: {x: 1}}
  - {name: sum, uses: state.set, with: {all: "{{ parallel_results[0].result.content }}"}}
edges:
  - {from: begin, to: look, parallel: true, fan_in: sum}
  - {from: begin, to: rest, parallel: true, fan_in: sum}
`;

/** Refuses what is longer than its window, as a server does that knows it. */
const withWindow =
  (characters: number, replies: readonly ProviderReply[], words: string) =>
  (request: WireRequest): ProviderReply => {
    if (JSON.stringify(request).length > characters) return overflow(words);
    if (!request.tools) return reply.text('They were read.');
    return replies[request.messages.filter(({ role }) => role === 'assistant').length] ?? reply.status(400);
  };

describe('room in conversations that nodes have of their own', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const begin = async (yaml: string, script: Parameters<typeof Stage.of>[1], contextWindow?: number) => {
    stage = await Stage.of(yaml, script, { files });
    stage.contextWindow = contextWindow;
  };
  const compactions = () => stage.events.filter(({ type }) => type === 'compaction');
  const asked = (index: number) => stage.provider.requests[index]!.body;
  const results = (index: number) => asked(index).messages.filter(({ role }) => role === 'tool');

  const answer = ({ all, result }: Record<string, unknown>) => all ?? (result as { content?: unknown }).content;

  for (const [name, yaml] of [
    ['llm.tools', tools],
    ['an agent in a parallel branch', branches],
  ] as const) {
    const script = [reads('a', 'b', 'c'), reply.text('All alike.')];

    it(`${name}: three results of 11 kB at a window of 8k are shortened, and it goes on`, async () => {
      await begin(yaml, withWindow(32_000, script, 'too long'), 8000);
      assert.equal((await stage.start()).error, undefined);
      assert.equal(answer(await stage.state()), 'All alike.');
      assert.equal(stage.provider.requests.length, 2);
      assert.deepEqual(
        results(1).map(({ content }) => [/characters left out/.test(content!), content!.length > 2000]),
        [
          [true, true],
          [true, true],
          [true, true],
        ],
      );
      const node = yaml === tools ? 'ask' : 'look';
      assert.match((await stage.kept()).graph!.nodes[node]!.warnings![0]!, /^The context window was full/);
    });

    it(`${name}: whose window is smaller than believed makes room once and goes on`, async () => {
      const words = "This model's maximum context length is 8192 tokens.";
      await begin(yaml, withWindow(32_000, script, words), 128_000);
      assert.equal((await stage.start()).error, undefined);
      assert.equal(answer(await stage.state()), 'All alike.');
      assert.equal(stage.provider.requests.length, 3);
    });

    it(`${name}: says so when there is no way to make room`, async () => {
      await begin(yaml, withWindow(100, script, 'too long'), 8000);
      const { error } = await stage.start();
      assert.equal(error?.code, 'LLM_CONTEXT_OVERFLOW');
      assert.deepEqual([compactions().length, stage.provider.requests.length], [0, 1]);
    });
  }

  it('what llm.tools gives is whole', async () => {
    await begin(tools, withWindow(32_000, [reads('a', 'b', 'c'), reply.text('Alike.')], ''), 8000);
    await stage.start();
    const { result } = (await stage.state()) as { result: { tool_results: { result: { text: string } }[] } };
    for (const one of result.tool_results) assert.ok(JSON.stringify(one.result).length > 11_000);
  });

  it('rounds of llm.tools that go on and on are summarised, and the task stays', async () => {
    const script = [reads('a'), reads('b'), reads('c'), reads('a'), reads('b'), reads('c'), reply.text('Alike.')];
    const rounds = ({ tools, messages }: WireRequest): ProviderReply => {
      if (!tools) return reply.text('The summary.');
      const count = stage.provider.requests.filter(({ body }) => body.tools).length - 1;
      assert.equal(messages[0]!.content!.split('\n')[0], 'Compare the files.');
      return script[count]!;
    };
    await begin(tools, rounds, 6000);
    assert.equal((await stage.start()).error, undefined);
    assert.ok(compactions().length >= 1);
  });

  it('a branch sends the same after a reload, and goes on where it was', async () => {
    const script = ({ messages, tools }: WireRequest): ProviderReply => {
      if (!tools) return reply.text('The summary.');
      const calls = messages.filter(({ role }) => role === 'tool').length;
      return calls < 3 ? reads('a', 'b', 'c') : reply.endless();
    };
    await begin(branches, script, 8000);
    const running = stage.start();
    await eventually('the third reply streams', () =>
      stage.events.some((event) => event.type === 'chunk' && event.content?.startsWith('and on ')),
    );
    const before = stage.provider.requests.at(-1)!.body.messages;
    await stage.crash(running);
    stage.provider.script = () => reply.text('All alike.');
    assert.equal((await stage.continue()).error, undefined);
    assert.deepEqual(stage.provider.requests.at(-1)!.body.messages, before);
    assert.equal((await stage.state()).all, 'All alike.');
  });

  it('an agent in the run’s conversation keeps what its node told it, word for word', async () => {
    const brief = `Compare the files. ${'Mind each word of this. '.repeat(20)}`.trim();
    const yaml = `nodes: [{name: look, agent: {instructions: You read., tools: [fs.read]}, prompt: ${JSON.stringify(brief)}}]`;
    const script = ({ tools }: WireRequest, count: number): ProviderReply => {
      if (!tools) return reply.text('A, b and c were read.');
      return count < 8 ? reads(['a', 'b', 'c'][count % 3]!) : reply.text('All alike.');
    };
    await begin(yaml, script, 7000);
    assert.equal((await stage.start()).error, undefined);
    assert.ok((await stage.kept()).compactions.some(({ summary }) => summary !== undefined));
    const last = JSON.stringify(stage.provider.requests.at(-1)!.body.messages);
    assert.equal(last.split(JSON.stringify(brief).slice(1, -1)).length, 2, 'once');
  });
});
