import assert from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { type ProviderReply, reply, type WireRequest } from '../../support/provider.ts';
import { Stage } from '../stage.ts';

const database = { question: 'Which database?', answers: [{ label: 'SQLite' }, { label: 'Postgres' }] };
const ask = (id = 'same') => reply.call('ask_person', { questions: [database] }, { id });

const action = `
nodes:
  - name: choose
    uses: ask.person
    with:
      questions:
        - question: "Which database for {{ state.input }}?"
          answers: [{label: SQLite, why: One file.}, {label: Postgres}]
    output: choice
  - name: note
    uses: state.set
    with: {database: "{{ state.choice.answers[0].chosen[0] }}"}
`;
const agent = `
nodes:
  - name: plan
    agent: {instructions: You plan., APPROVAL}
    prompt: Plan it.
    output: plan
`;
const branches = `
nodes:
  - name: begin
  - name: one
    agent: {instructions: You are one.}
    prompt: One.
    output: said
  - name: two
    agent: {instructions: You are two.}
    prompt: Two.
    output: said
  - name: sum
    uses: state.set
    with: {all: "{% for one in parallel_results %}[{{ one.said.content }}]{% endfor %}"}
edges:
  - {from: begin, to: one, parallel: true, fan_in: sum}
  - {from: begin, to: two, parallel: true, fan_in: sum}
`;

describe('a workflow that asks the person', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const asking = async (count = 1) => {
    const ids = () => stage.engine.live(stage.runId)?.asking ?? [];
    await eventually(`${count} wait`, () => ids().length === count);
    return ids();
  };
  const chooses = (toolCallId: string, place: number) => ({
    runId: stage.runId,
    userInput: '',
    chosen: { toolCallId, choices: [{ chosen: [place] }] },
  });

  it('by an action: what is chosen is its result', async () => {
    stage = await Stage.of(action);
    const done = stage.start('the shop');
    const [id] = await asking();
    assert.equal(stage.engine.live(stage.runId)!.calls[id!]!.asked![0]!.question, 'Which database for the shop?');
    await stage.engine.say(chooses(id!, 1));
    assert.equal((await done).phase, 'Completed');
    assert.equal((await stage.state()).database, 'Postgres');
  });

  it('by an action: words in place of a choice have the same form', async () => {
    stage = await Stage.of(action);
    const done = stage.start('the shop');
    await asking();
    await stage.engine.say({ runId: stage.runId, userInput: 'make it a file' });
    assert.equal((await done).phase, 'Completed');
    const { choice, database } = await stage.state();
    assert.deepEqual(choice, {
      answers: [{ question: 'Which database for the shop?', chosen: [], words: 'make it a file' }],
      said: 'make it a file',
    });
    assert.equal(database, null);
  });

  it('by an action, over a crash: it is answered once, and not asked again', async () => {
    stage = await Stage.of(action);
    const done = stage.start('the shop');
    const [id] = await asking();
    await stage.crash(done);
    assert.deepEqual((await stage.kept()).asking, [id]);
    assert.equal((await stage.engine.continue(chooses(id!, 1))).phase, 'Completed');
    assert.equal((await stage.state()).database, 'Postgres');
    assert.equal(stage.events.filter(({ type }) => type === 'ask').length, 1);
  });

  it('by an action that was stopped: it is asked anew when the run goes on', async () => {
    stage = await Stage.of(action);
    const done = stage.start('the shop');
    await asking();
    await stage.engine.stop(stage.runId);
    assert.equal((await done).error?.code, 'ENGINE_ABORTED');
    const again = stage.continue();
    const [id] = await asking();
    await stage.engine.say(chooses(id!, 0));
    assert.equal((await again).phase, 'Completed');
    assert.equal((await stage.state()).database, 'SQLite');
  });

  for (const approval of ['approval: ask', 'approval: read_only'])
    it(`by an agent with ${approval}`, async () => {
      stage = await Stage.of(agent.replace('APPROVAL', approval), [ask(), reply.text('Postgres.')]);
      const done = stage.start();
      const [id] = await asking();
      await stage.engine.say(chooses(id!, 1));
      assert.equal((await done).phase, 'Completed');
      assert.deepEqual(
        [stage.questions, ((await stage.state()).plan as { content: string }).content],
        [[], 'Postgres.'],
      );
    });

  it('by agents side by side: each gets its own answer, also after a crash', async () => {
    const said = ({ messages }: WireRequest): ProviderReply => {
      const tool = messages.find(({ role }) => role === 'tool');
      return tool ? reply.text(JSON.parse(tool.content!).data.answers[0].chosen[0]) : ask();
    };
    stage = await Stage.of(branches, said);
    const done = stage.start();
    const ids = await asking(2);
    const one = ids.find((id) => id.startsWith('one:'))!;
    const two = ids.find((id) => id.startsWith('two:'))!;
    await stage.engine.say(chooses(two, 1));
    await asking(1);
    await eventually('two is done', () => stage.steps.includes('end two'));
    await stage.crash(done);
    assert.deepEqual((await stage.kept()).asking, [one]);
    assert.equal((await stage.engine.continue(chooses(one, 0))).phase, 'Completed');
    assert.equal((await stage.state()).all, '[SQLite][Postgres]');
  });

  it('by the model of llm.tools', async () => {
    const yaml = `
nodes:
  - name: choose
    uses: llm.tools
    with: {messages: [{role: user, content: Choose.}], tools: [ask.person]}
    output: answer
`;
    stage = await Stage.of(yaml, [ask(), reply.text('SQLite.')]);
    const done = stage.start();
    const [id] = await asking();
    await stage.engine.say(chooses(id!, 0));
    assert.equal((await done).phase, 'Completed');
    assert.equal(((await stage.state()).answer as { content: string }).content, 'SQLite.');
  });
});
