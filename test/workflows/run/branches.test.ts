import assert from 'node:assert/strict';
import type { RunEvent } from '../../../src/protocol/run/events.ts';
import { eventually } from '../../support/eventually.ts';
import { type ProviderReply, reply, type WireRequest } from '../../support/provider.ts';
import { transcript } from '../../support/transcript.ts';
import { Stage } from '../stage.ts';

const reviews = `
initial_state: {file: a.txt}
nodes:
  - name: begin
  - name: mistakes
    agent: reader
    prompt: Find mistakes in {{ state.file }}.
    output: review
  - name: style
    agent: {instructions: You care for style.}
    prompt: Judge the style of {{ state.file }}.
    output: review
  - name: sum
    uses: state.set
    with: {all: "{% for one in parallel_results %}[{{ one.review.content }}]{% endfor %}"}
edges:
  - {from: begin, to: mistakes, parallel: true, fan_in: sum}
  - {from: begin, to: style, parallel: true, fan_in: sum}
`;

/** What is asked of the agent that is told `prompt`, by how much it has said so far. */
const agents =
  (replies: Record<string, ProviderReply[]>) =>
  ({ messages }: WireRequest): ProviderReply => {
    const first = messages.find(({ role }) => role === 'user')?.content ?? '';
    const [, script = []] = Object.entries(replies).find(([start]) => first.startsWith(start)) ?? [];
    return script[messages.filter(({ role }) => role === 'assistant').length] ?? reply.status(400);
  };
const write = (path: string) => reply.call('fs_write', { path, content: 'x' }, { id: 'same' });

describe('agents in parallel branches', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const begin = async (replies: Record<string, ProviderReply[]>, yaml = reviews) => {
    stage = await Stage.of(yaml, agents(replies));
    stage.agent('reader', 'instructions: You read.\ntools: [fs.read, fs.write]\n');
  };
  const said = () => stage.events.filter((event) => event.type === 'message') as (RunEvent & { type: 'message' })[];

  it('each have a conversation of their own, and none of the run’s', async () => {
    await begin({ Find: [reply.text('None.')], Judge: [reply.text('Fine.')] });
    assert.equal((await stage.start()).phase, 'Completed');
    assert.equal((await stage.state()).all, '[None.][Fine.]');
    assert.equal(transcript(await stage.kept()), 'user       go\nCompleted');
    const asked = stage.provider.requests.map(({ body }) => body.messages);
    asked.sort(([, one], [, other]) => (one!.content! < other!.content! ? -1 : 1));
    assert.deepEqual(
      asked.map(([system, ...rest]) => [system!.content!.split('\n')[0], rest]),
      [
        ['You read.', [{ role: 'user', content: 'Find mistakes in a.txt.' }]],
        ['You care for style.', [{ role: 'user', content: 'Judge the style of a.txt.' }]],
      ],
    );
  });

  it('ask through the one gate, each for its own call, and what they made is known', async () => {
    await begin({ Find: [write('m.txt'), reply.text('Done.')], Judge: [write('s.txt'), reply.text('Done.')] });
    await stage.start();
    assert.deepEqual([...stage.questions].sort(), ['Create m.txt', 'Create s.txt']);
    assert.deepEqual([stage.workspace.read('m.txt'), stage.workspace.read('s.txt')], ['x', 'x']);
    assert.deepEqual((await stage.kept()).graph?.artifacts.sort(), ['m.txt', 's.txt']);
  });

  it('cannot call what their tools leave out', async () => {
    await begin({
      Find: [reply.call('fs_delete', { path: 'a.txt' }), reply.text('I see.')],
      Judge: [reply.text('Fine.')],
    });
    await stage.start();
    assert.deepEqual(stage.questions, []);
    assert.match(JSON.stringify(said()), /TOOL_NOT_AVAILABLE/);
  });

  it('work at most max_workers at once', async () => {
    await begin(
      { Find: [write('m.txt'), reply.text('Done.')], Judge: [write('s.txt'), reply.text('Done.')] },
      `settings: {parallel: {max_workers: 1}}\n${reviews}`,
    );
    await stage.start();
    const turns = said().filter(({ message }) => message.role === 'assistant');
    assert.deepEqual(
      turns.map(({ branch }) => branch),
      ['mistakes', 'mistakes', 'style', 'style'],
    );
  });

  it('go on after a crash where they were: what had ended is not run again, and what was written is not written again', async () => {
    await begin({ Find: [reply.text('None.')], Judge: [write('s.txt'), reply.endless()] });
    const running = stage.start();
    await eventually(
      'one has ended and the other has written',
      () =>
        ['end mistakes'].every((step) => stage.steps.includes(step)) &&
        said().some(({ message }) => message.role === 'tool') &&
        stage.events.some((event) => event.type === 'chunk' && event.content?.startsWith('and on ')),
    );
    await stage.crash(running);
    stage.provider.requests.length = 0;
    stage.provider.script = agents({ Judge: [write('never'), reply.text('Fine.')] });
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.equal((await stage.state()).all, '[None.][Fine.]');
    assert.deepEqual(stage.questions, ['Create s.txt']);
    const [one, ...others] = stage.provider.requests;
    assert.deepEqual(
      [others, one!.body.messages.map(({ role }) => role)],
      [[], ['system', 'user', 'assistant', 'tool']],
    );
  });

  it('are told that what was at work when the editor closed may have had its effect, and go on', async () => {
    const wait = reply.call('shell_run', { command: 'node -e "setTimeout(Object, 60000)"' }, { id: 'w' });
    await begin({ Find: [reply.text('None.')], Judge: [wait, reply.text('I look first.')] });
    const running = stage.start();
    await eventually(
      'the command runs',
      () => stage.steps.includes('end mistakes') && stage.events.some((event) => event.type === 'tool-start'),
    );
    await stage.crash(running);
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.equal(stage.questions.length, 1, 'it was not run again');
    const told = stage.provider.requests.at(-1)!.body.messages.at(-1)!;
    assert.match(told.content!, /TOOL_INTERRUPTED/);
  });

  it('put their questions to the person one at a time; the words are for the one that was told', async () => {
    await begin({
      Find: [reply.text('Which line?'), reply.text('Line 3 is wrong.')],
      Judge: [reply.text('How strict?'), reply.text('All is ugly.')],
    });
    assert.deepEqual(await stage.start(), {
      success: true,
      phase: 'WaitingUser',
      assistantText: 'mistakes: Which line?',
    });
    assert.equal((await stage.continue('the third')).assistantText, 'style: How strict?');
    stage.build();
    assert.equal((await stage.continue('very')).phase, 'Completed');
    assert.equal((await stage.state()).all, '[Line 3 is wrong.][All is ugly.]');
    const last = stage.provider.requests.at(-1)!.body.messages;
    assert.deepEqual(
      last.slice(1).map(({ content }) => content),
      ['Judge the style of a.txt.', 'How strict?', 'very'],
    );
    assert.equal(stage.provider.requests.length, 4);
  });

  it('end their node with the error of the model, and only that one is asked again', async () => {
    await begin({ Find: [reply.status(400)], Judge: [reply.text('Fine.')] });
    assert.equal((await stage.start()).error?.code, 'LLM_HTTP_ERROR');
    stage.provider.script = agents({ Find: [reply.text('None.')] });
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.equal((await stage.state()).all, '[None.][Fine.]');
  });
});

describe('a parallel part in a branch of another', () => {
  let stage: Stage;
  afterEach(() => stage.end());
  const ask = (name: string) =>
    `  - {name: ${name}, uses: llm.call, with: {messages: [{role: user, content: "${name} of {{ state.text }}"}]}, output: said}\n`;
  const yaml = `
initial_state: {text: it}
nodes:
  - {name: begin}
${ask('summary')}  - {name: details, uses: state.set, with: {text: its details}}
${ask('names')}${ask('dates')}  - {name: both, uses: state.set, with: {said: {content: "{% for one in parallel_results %}<{{ one.said.content }}>{% endfor %}"}}}
  - {name: join, uses: state.set, with: {all: "{% for one in parallel_results %}[{{ one.said.content }}]{% endfor %}"}}
edges:
  - {from: begin, to: summary, parallel: true, fan_in: join}
  - {from: begin, to: details, parallel: true, fan_in: join}
  - {from: details, to: names, parallel: true, fan_in: both}
  - {from: details, to: dates, parallel: true, fan_in: both}
`;
  const answer = ({ messages }: WireRequest) => reply.text(messages[0]!.content!);

  it('brings its own branches together first', async () => {
    stage = await Stage.of(yaml, answer);
    assert.equal((await stage.start()).phase, 'Completed');
    assert.equal((await stage.state()).all, '[summary of it][<names of its details><dates of its details>]');
  });

  it('goes on after a crash in the branch that had not ended', async () => {
    stage = await Stage.of(yaml, (request) =>
      request.messages[0]!.content!.startsWith('dates') ? reply.hang() : answer(request),
    );
    const running = stage.start();
    await eventually('the others have ended', () =>
      ['end summary', 'end names', 'start dates'].every((step) => stage.steps.includes(step)),
    );
    await stage.crash(running);
    stage.events.length = 0;
    stage.provider.script = answer;
    assert.equal((await stage.continue()).phase, 'Completed');
    assert.equal((await stage.state()).all, '[summary of it][<names of its details><dates of its details>]');
    assert.deepEqual(stage.steps, ['end dates', 'start both', 'end both', 'start join', 'end join']);
  });
});
