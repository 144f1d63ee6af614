import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { RunError } from '../../../src/engine/core/errorInfo.ts';
import type { UndoConfirmationRequest } from '../../../src/engine/run/undo.ts';
import { undoableCallIds } from '../../../src/runs/undoSteps.ts';
import { packageRunId } from '../../../src/workflows/package/ids.ts';
import { PackageRegistry } from '../../../src/workflows/package/packageRegistry.ts';
import { readWorkflowPackage } from '../../../src/workflows/package/readPackage.ts';
import { createWorkflowOfPackageRun } from '../../../src/workflows/package/workflowOf.ts';
import { Conversation } from '../../engine/conversation.ts';
import { longText } from '../../support/longText.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { unsaid } from '../../support/unsaid.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { sampleFiles } from './sample.ts';

const place = '.towpath/packages/letters';
const inProject = Object.fromEntries(Object.entries(sampleFiles).map(([file, text]) => [`${place}/${file}`, text]));

const state = (frontmatter: Record<string, unknown>) =>
  call('fs.apply_patch', { path: '@state/workflow.md', frontmatter });
const toJudge = () => state({ currentNodeId: 'judge', stepsCompleted: ['ask'] });
const toDone = () => state({ currentNodeId: 'done', stepsCompleted: ['ask', 'judge'] });
const done = () => state({ stepsCompleted: ['ask', 'judge', 'done'] });

describe('a run of a package', () => {
  let folder: string;
  let workspace: TemporaryWorkspace;
  let conversation: Conversation;
  let shelf: PackageRegistry;
  beforeEach(async () => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'package-')));
    workspace = await temporaryWorkspace(inProject);
    shelf = new PackageRegistry({
      project: workspace,
      storage: path.join(folder, 'unpacked'),
      openedFile: path.join(folder, 'opened.json'),
      stateFolder: () => path.join(folder, 'state'),
      autopilot: () => false,
      now: () => new Date('2026-01-01T00:00:00Z'),
      read: readWorkflowPackage,
      follow: createWorkflowOfPackageRun,
    });
  });
  afterEach(async () => {
    await conversation.end();
    rmSync(folder, { recursive: true });
  });

  async function follows(which: { workflowId?: string; agentId?: string }, replies: ScriptedReply[]): Promise<void> {
    const [shelved] = await shelf.list();
    conversation = new Conversation(workspace, replies);
    conversation.workflow = (await shelf.workflow(packageRunId({ key: shelved!.key, ...which })))!;
    conversation.build();
  }
  const writes = (replies: ScriptedReply[]) => follows({ workflowId: 'write' }, replies);

  const stateText = () => readFileSync(path.join(folder, 'state', 'workflow.md'), 'utf8');
  const requests = () => conversation.client.requests;
  const nodes = () =>
    conversation.events.flatMap((event) =>
      event.type === 'node' ? [`${event.status} ${event.node}${event.next?.length ? ` → ${event.next}` : ''}`] : [],
    );
  /** The blocks of every brief with their first lines' facts. */
  const briefs = async () => {
    const { messages } = await conversation.kept();
    const said = messages.flatMap((message) => (message.role === 'system' ? [message.content] : []));
    const value = (text: string, key: string) => new RegExp(`^- ${key}: (.*)$`, 'm').exec(text)?.[1];
    return said.map((text) =>
      [
        value(text, 'intent'),
        value(text, 'nodeId'),
        value(text, 'effectiveAgentId'),
        ...(text.match(/^(AGENT_PERSONA|USER_INPUT)$/gm) ?? []),
      ].join(' '),
    );
  };

  it('goes from node to node, asks the person, and is complete at its end', async () => {
    await writes([
      { calls: [call('fs.read', { path: '@pkg/write/steps/ask.md' })] },
      { text: 'Whom is it for?' },
      { calls: [call('fs.write', { path: '@state/artifacts/letter.md', content: 'Dear Ada' }), toJudge()] },
      { calls: [call('fs.write', { path: '@project/letter.md', content: 'Dear Ada' })] },
      { calls: [toDone()] },
      { calls: [done()] },
      { text: 'The letter is written.' },
    ]);
    assert.deepEqual(await conversation.start('A letter, please.'), {
      success: true,
      phase: 'WaitingUser',
      assistantText: 'Whom is it for?',
    });
    const result = await conversation.continue('For Ada.');
    assert.deepEqual(result, { success: true, phase: 'Completed', assistantText: 'The letter is written.' });

    const outlines = conversation.events.filter(({ type }) => type === 'outline');
    assert.equal(outlines.length, 1, 'the same workflow is told once');
    assert.deepEqual(conversation.questions, ['Create letter.md']);
    assert.equal(workspace.read('letter.md'), 'Dear Ada');
    assert.equal(readFileSync(path.join(folder, 'state/artifacts/letter.md'), 'utf8'), 'Dear Ada');
    assert.deepEqual(nodes(), [
      'start ask',
      'end ask → judge',
      'start judge',
      'end judge → done',
      'start done',
      'end done',
    ]);
    assert.deepEqual(await briefs(), [
      'start ask writer AGENT_PERSONA USER_INPUT',
      'continue ask writer USER_INPUT',
      'continue judge judge AGENT_PERSONA',
      'continue done writer AGENT_PERSONA',
    ]);
    assert.match(stateText(), /^---\nvariables:\n {2}tone: warm\ncurrentNodeId: done\nstepsCompleted:\n/);
    const { graph } = await conversation.kept();
    assert.deepEqual(graph?.main, { at: [], steps: 0, state: { tone: 'warm' } });
  });

  it('keeps its prompt from request to request, and takes away only the tools that an agent may not use', async () => {
    await writes([{ calls: [toJudge()] }, { calls: [call('shell.run', { command: 'true' })] }, { text: 'So.' }]);
    await conversation.start();
    const asked = requests();
    for (const [index, request] of asked.entries()) {
      const before = asked[index - 1] ?? request;
      assert.equal(request.systemPrompt, before.systemPrompt);
      assert.deepEqual(request.messages.slice(0, before.messages.length), before.messages);
    }
    const names = asked.map((request) => request.tools!.map(({ name }) => name));
    assert.deepEqual(
      names[1],
      names[0]!.filter((name) => name !== 'shell.run' && name !== 'fs.delete'),
    );
    assert.ok(
      names[0]!.includes('fs.apply_patch'),
      'the state is updated by its frontmatter, which fs.edit cannot merge',
    );
    assert.deepEqual(asked[2]!.tools, asked[1]!.tools);
    const denied = asked[2]!.messages.at(-1)!;
    assert.equal(denied.role === 'tool' && denied.toolResults[0]!.error, 'TOOL_NOT_AVAILABLE');
    assert.deepEqual(conversation.questions, []);
  });

  it('tells the model what is allowed when it goes where no edge leads', async () => {
    await writes([{ calls: [state({ currentNodeId: 'done' })] }, { text: 'I see.' }]);
    await conversation.start();
    const before = stateText();
    const told = requests()[1]!.messages.at(-1)!;
    assert.ok(told.role === 'tool');
    const outcome = JSON.parse(told.toolResults[0]!.content);
    assert.deepEqual(outcome.error.details, {
      reason: 'NO_EDGE',
      currentNodeId: 'ask',
      allowedNext: [{ id: 'judge' }],
    });
    assert.match(before, /currentNodeId: ask/);
    assert.deepEqual(nodes(), ['start ask']);
    assert.equal((await briefs()).length, 1);
  });

  it('says no brief again while the model works at the same node', async () => {
    await writes([{ calls: [call('fs.list', {})] }, { calls: [state({ variables: { a: 1 } })] }, { text: 'Well?' }]);
    await conversation.start();
    assert.deepEqual(await briefs(), ['start ask writer AGENT_PERSONA USER_INPUT']);
  });

  it('says who and where the model is again when that went into a summary', async () => {
    const essay = `It goes on ${longText('and on ', 1000)}.`;
    const looks = () => ({ text: essay, calls: [call('fs.list', {})], usage: null });
    await writes([
      looks(),
      looks(),
      looks(),
      { text: 'They went on.' },
      { calls: [call('fs.list', {})] },
      { text: 'So.' },
    ]);
    conversation.contextWindow = 8000;
    conversation.onThisMachine = true; // so that it is asked for its summary in its turn
    await conversation.start('A letter, please.');
    const { compactions } = await conversation.kept();
    assert.deepEqual(
      compactions.map(({ summary }) => summary),
      ['They went on.'],
    );
    const last = requests()
      .at(-1)!
      .messages.map(({ role, content }) => `${role} ${content.slice(0, 40)}`);
    assert.deepEqual(last, [
      'user A letter, please.',
      'user (A summary stands here in place of the o',
      'assistant It goes on and on And on And on and on A',
      'tool ',
      'assistant ',
      'tool ',
      'system RUN_DIRECTIVE\n- intent: resume\n- workflo',
    ]);
    assert.deepEqual(await briefs(), ['start ask writer AGENT_PERSONA USER_INPUT', 'resume ask writer AGENT_PERSONA']);
  });

  it('stops when the model asks for the same refused step again and again', async () => {
    const tries = Array.from({ length: 5 }, () => ({ calls: [state({ currentNodeId: 'done' })] }));
    await writes(tries);
    const { phase, error } = await conversation.start();
    assert.deepEqual([phase, error?.code, requests().length], ['WaitingUser', 'ENGINE_LOOP_DETECTED', 3]);
  });

  it('answers a picture without words', async () => {
    await writes([{ text: 'Whom is it for?' }, { text: 'I see.' }]);
    await conversation.start();
    const picture = { mediaType: 'image/png', data: 'AA==' };
    await conversation.engine.continue({ runId: conversation.runId, userInput: '', attachments: [picture] });
    assert.deepEqual((await briefs()).slice(1), ['continue ask writer USER_INPUT']);
  });

  it('goes on from what the person has made of the state document meanwhile', async () => {
    await writes([
      { calls: [call('fs.write', { path: 'a.txt', content: 'x' })] },
      { calls: [toDone()] },
      { calls: [done()] },
      { text: 'Done.' },
    ]);
    conversation.answers = ['wait'];
    const running = conversation.start();
    await conversation.seen('question');
    const text = stateText().replace('currentNodeId: ask', 'currentNodeId: judge').replace('[]', '[ask]');
    writeFileSync(path.join(folder, 'state', 'workflow.md'), text);
    conversation.allowWaiting();
    assert.equal((await running).phase, 'Completed');
  });

  it('resumes at its node after a kill between the state document and what was told of it', async () => {
    await writes([{ text: 'Whom is it for?' }, { calls: [toDone()] }, { calls: [done()] }, { text: 'Done.' }]);
    await conversation.start();
    const text = stateText()
      .replace('currentNodeId: ask', 'currentNodeId: judge')
      .replace('stepsCompleted: []', 'stepsCompleted: [ask]');
    writeFileSync(path.join(folder, 'state', 'workflow.md'), text);
    conversation.build();
    assert.equal((await conversation.continue()).phase, 'Completed');
    assert.deepEqual(nodes(), [
      'start ask',
      'end ask → judge',
      'start judge',
      'end judge → done',
      'start done',
      'end done',
    ]);
    assert.deepEqual((await briefs()).slice(1), [
      'resume judge judge AGENT_PERSONA',
      'continue done writer AGENT_PERSONA',
    ]);
  });

  it('goes on after a stop, with what was said then', async () => {
    await writes([{ text: 'I think ', endless: true }, { text: 'All right.' }]);
    const running = conversation.start();
    await conversation.seen('chunk');
    await conversation.engine.stop(conversation.runId);
    assert.equal((await running).error?.code, 'ENGINE_ABORTED');
    assert.equal((await conversation.continue('Shorter.')).phase, 'WaitingUser');
    assert.deepEqual(await briefs(), ['start ask writer AGENT_PERSONA USER_INPUT', 'continue ask writer USER_INPUT']);
  });

  it('rests between two nodes when it is paused, and goes on at the second', async () => {
    await writes([{ calls: [toJudge()] }, { text: 'It is good.' }]);
    const running = conversation.start();
    conversation.engine.pause(conversation.runId);
    assert.deepEqual([(await running).phase, requests().length], ['WaitingUser', 1]);
    await conversation.continue();
    assert.deepEqual((await briefs()).slice(1), ['resume judge judge AGENT_PERSONA']);
  });

  it('gives words said meanwhile with the node they are for', async () => {
    await writes([{ calls: [call('fs.write', { path: 'a.txt', content: 'x' })] }, { text: 'For Ada, then.' }]);
    conversation.answers = ['wait'];
    const running = conversation.start();
    await conversation.seen('question');
    await conversation.engine.say({ runId: conversation.runId, userInput: 'For Ada.' });
    await conversation.engine.stop(conversation.runId);
    await running;
    assert.equal((await conversation.continue()).phase, 'WaitingUser');
    const [words, last] = requests().at(-1)!.messages.slice(-2);
    assert.deepEqual(words, { role: 'user', content: 'For Ada.' });
    assert.match(last!.content, /\nUSER_INPUT\n- forNodeId: ask\n- text: the person's message right before this one$/);
  });

  it('says the person’s words once, and in their own name', async () => {
    await writes([{ text: 'Whom is it for?' }, { text: 'I see.' }]);
    await conversation.start('A letter, please.');
    await conversation.continue('For Ada.');
    const { messages } = requests().at(-1)!;
    for (const words of ['A letter, please.', 'For Ada.'])
      assert.deepEqual(
        messages.filter(({ content }) => content.includes(words)),
        [{ role: 'user', content: words }],
      );
  });

  it('is complete at any node when its variables say so', async () => {
    await writes([{ calls: [state({ variables: { workflowStatus: 'complete' } })] }, { text: 'Enough.' }]);
    assert.equal((await conversation.start()).phase, 'Completed');
    assert.deepEqual(nodes(), ['start ask', 'end ask']);
  });

  it('has one limit of turns for all its nodes', async () => {
    const back = () => state({ currentNodeId: 'ask' });
    await writes([{ calls: [toJudge()] }, { calls: [back()] }, { calls: [toJudge()] }, { calls: [back()] }]);
    conversation.maxTurns = 3;
    const { error } = await conversation.start();
    assert.deepEqual(unsaid(error), {
      code: 'ENGINE_MAX_TURNS_EXCEEDED',
      message: 'Stopped at the limit of 3 steps. Continue to allow more.',
    });
    assert.equal(requests().length, 3);
  });

  it('does not go on with a state document that somebody else has damaged', async () => {
    await writes([{ text: 'Hm?' }]);
    await conversation.start();
    writeFileSync(path.join(folder, 'state', 'workflow.md'), 'gone');
    const { phase, error } = await conversation.continue('Go on.');
    assert.deepEqual([phase, error?.code], ['Failed', 'E_INVALID_FRONTMATTER']);
    assert.equal(requests().length, 1);
  });

  it('begun from an agent’s menu is theirs where no node says otherwise', async () => {
    await follows({ workflowId: 'write', agentId: 'judge' }, [{ text: 'Whom is it for?' }]);
    await conversation.start();
    assert.deepEqual(await briefs(), ['start ask judge AGENT_PERSONA USER_INPUT']);
    assert.equal((await conversation.kept()).agentId, 'judge');
  });

  it('shows values and files as they are at every moment', async () => {
    const artifacts = ['@project/letter.md'];
    await writes([
      { calls: [state({ variables: { to: 'Ada' }, artifacts })] },
      { calls: [state({ variables: { remove: ['to', 'tone'] } })] },
      { text: 'Hm?' },
    ]);
    await conversation.start();
    const shown = conversation.events.flatMap((event) =>
      event.type === 'node' ? [[event.status, event.state, event.artifacts]] : [],
    );
    assert.deepEqual(shown, [
      ['start', { tone: 'warm' }, []],
      ['step', { tone: 'warm', to: 'Ada' }, artifacts],
      ['step', {}, artifacts],
    ]);
    const { graph } = await conversation.kept();
    assert.deepEqual([graph?.main.state, graph?.artifacts], [{}, artifacts]);
  });

  describe('undone', () => {
    let asked: UndoConfirmationRequest[];
    beforeEach(() => {
      asked = [];
    });
    const undo = async (scope: 'turn' | 'run') => {
      const toolCallIds = undoableCallIds(await conversation.kept(), scope);
      return conversation.engine.undo(conversation.runId, { toolCallIds }, workspace, async (question) => {
        asked.push(question);
        return 'all';
      });
    };
    const document = '@state/workflow.md';
    const standing = async () => {
      const { graph, phase } = await conversation.kept();
      const nodes = Object.entries(graph!.nodes).map(([name, { status, visits }]) => `${name} ${status} ${visits}`);
      return [phase, graph!.main.at[0], ...nodes];
    };
    const frontmatterOf = () => /currentNodeId: (\w+)\nstepsCompleted:((?:\n {2}- \w+)*)/.exec(stateText())!;
    const where = () => [frontmatterOf()[1], ...(frontmatterOf()[2]!.match(/\w+/g) ?? [])];

    it('a turn goes back a node, whatever the graph says, and the model goes on from there', async () => {
      await writes([
        { calls: [toJudge()] },
        { calls: [call('fs.write', { path: '@project/letter.md', content: 'Dear Ada' }), toDone()] },
        { text: 'It is good.' },
        { text: 'I judge again.' },
      ]);
      await conversation.start();
      assert.deepEqual(where(), ['done', 'ask', 'judge']);
      assert.deepEqual(await undo('turn'), { undone: ['letter.md', document], left: [] });
      assert.deepEqual(asked, [{ paths: ['letter.md', document], changedSince: [] }]);
      assert.deepEqual([where(), workspace.exists('letter.md')], [['judge', 'ask'], false]);
      assert.deepEqual(await standing(), ['WaitingUser', 'judge', 'ask completed 1', 'judge running 1']);

      await conversation.continue();
      assert.equal((await briefs()).at(-1), 'resume judge judge AGENT_PERSONA');
      const told = requests()
        .at(-1)!
        .messages.map(({ content }) => content);
      assert.ok(
        told.includes(`The person has undone your changes of: letter.md, ${document}. Read again before you edit.`),
      );
      const { calls } = await conversation.kept();
      const [change] = Object.values(calls)[2]!.changes!;
      const kept = await Promise.all(
        [change!.before!, change!.after!].map((id) => conversation.store.contents.read(conversation.runId, id)),
      );
      assert.deepEqual(
        kept.map((text) => /currentNodeId: (.*)/.exec(text)![1]),
        ['judge', 'done'],
      );
    });

    it('a whole run is at its beginning again, and not complete any more', async () => {
      const letter = '@state/artifacts/letter.md';
      await writes([
        { calls: [call('fs.write', { path: letter, content: 'Dear Ada' }), toJudge()] },
        { calls: [toDone()] },
        { calls: [done()] },
        { text: 'Done.' },
      ]);
      assert.equal((await conversation.start()).phase, 'Completed');
      assert.deepEqual(await undo('run'), { undone: [letter, document], left: [] });
      assert.deepEqual(where(), ['ask']);
      assert.equal(existsSync(path.join(folder, 'state/artifacts/letter.md')), false);
      assert.deepEqual(await standing(), ['WaitingUser', 'ask', 'ask running 1']);
    });

    it('the end of a run is open again', async () => {
      const goes = [toJudge(), toDone(), done()].map((step) => ({ calls: [step] }));
      await writes([...goes, { text: 'Done.' }, { calls: [done()] }, { text: 'Now it is.' }]);
      await conversation.start();
      await undo('turn');
      assert.deepEqual(await standing(), [
        'WaitingUser',
        'done',
        'ask completed 1',
        'judge completed 1',
        'done running 1',
      ]);
      assert.equal((await conversation.continue()).phase, 'Completed');
    });

    it('a document of a graph that has changed since stays, and says why', async () => {
      await writes([{ calls: [toJudge()] }, { calls: [toDone()] }, { text: 'Well?' }]);
      await conversation.start();
      const graph = sampleFiles['write/workflow.graph.json']!.replaceAll('"judge"', '"weigh"');
      workspace.write(`${place}/write/workflow.graph.json`, graph.replace('"agentId":"weigh"', '"agentId":"judge"'));
      const before = stateText().replace('  - judge\n', '');
      writeFileSync(path.join(folder, 'state', 'workflow.md'), before);
      conversation.workflow = (await shelf.workflow(conversation.workflow.id))!;
      const result = await undo('turn');
      assert.ok('left' in result);
      assert.deepEqual([result.undone, result.left.map((one) => one.path)], [[], [document]]);
      assert.match(result.left[0]!.why, /^There is no node "judge"\./);
      assert.equal(stateText(), before);
    });

    it('nothing of the run’s own is, when its package is gone', async () => {
      await writes([{ calls: [call('fs.write', { path: 'a.txt', content: 'x' }), toJudge()] }, { text: 'Well?' }]);
      await conversation.start();
      const lost = 'The package of this run is not here any more. Open it again.';
      conversation.lost = new RunError('WORKFLOW_NOT_FOUND', lost);
      assert.deepEqual(await undo('run'), { undone: ['a.txt'], left: [{ path: document, why: lost }] });
      assert.deepEqual(where(), ['judge', 'ask']);
    });
  });

  it('is talk with an agent, which sees the package and has no state', async () => {
    await follows({ agentId: 'writer' }, [
      { calls: [call('fs.read', { path: '@pkg/write/state.md' }), call('fs.list', { path: '@state' })] },
      { text: 'Be kind.' },
    ]);
    assert.equal((await conversation.start('A tip?')).phase, 'WaitingUser');
    const [first, second] = requests();
    assert.match(first!.systemPrompt!, /^You are Wanda, Writer\.\nRole: Writes letters\n/);
    assert.match(first!.systemPrompt!, /\n1\. write: Write a letter\n2\. tip: Give a writing tip\n/);
    const results = second!.messages.flatMap((message) => (message.role === 'tool' ? message.toolResults : []));
    assert.deepEqual(
      results.map(({ error }) => error),
      [undefined, 'ENOENT'],
    );
  });
});
