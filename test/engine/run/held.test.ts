import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Message, ToolCall } from '../../../src/protocol/content/messages.ts';
import { isRunHeldByDenial } from '../../../src/protocol/run/resumable.ts';
import type { ApprovalAnswer } from '../../../src/tools/core/tool.ts';
import { eventually } from '../../support/eventually.ts';
import { reply } from '../../support/provider.ts';
import { call } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Stage } from '../../workflows/stage.ts';
import { Conversation } from '../conversation.ts';

const edit = (file: string, id = file) =>
  call('fs.edit', { path: file, edits: [{ oldText: 'one', newText: 'two' }] }, id);
const hold: ApprovalAnswer = { decision: 'deny', holds: true };
const allow: ApprovalAnswer = { decision: 'allow' };

describe('a run that a denial holds', () => {
  let talk: Conversation;
  const later: Conversation[] = [];
  afterEach(async () => {
    for (const one of later.splice(0)) {
      await one.engine.close();
      rmSync(one.folder, { recursive: true, force: true });
    }
    await talk.end();
  });

  const begin = async (calls: ToolCall[], answers: Conversation['answers'], then = ['I see.']) => {
    const files = { a: 'one\n', b: 'one\n', c: 'one\n' };
    talk = new Conversation(await temporaryWorkspace(files), [{ calls }, ...then.map((text) => ({ text }))]);
    talk.answers = answers;
    return talk.start();
  };
  /** Puts each approval request to `answer`, by the call's id, in its own time. */
  const answered = () => {
    const settle = new Map<string, (answer: ApprovalAnswer) => void>();
    talk.approve = ({ call: { id } }, signal) =>
      new Promise((resolve) => {
        settle.set(id, resolve);
        signal.addEventListener('abort', () => resolve({ decision: 'deny' }));
      });
    return async (id: string, answer: ApprovalAnswer) => {
      await eventually(`${id} is asked about`, () => settle.has(id));
      settle.get(id)!(answer);
      await eventually(`${id} is answered`, () =>
        talk.events.some((event) => event.type === 'approval' && event.toolCallId === id),
      );
    };
  };
  const prepare = async (calls: ToolCall[], then = ['I see.']) => {
    const files = { a: 'one\n', b: 'one\n', c: 'one\n' };
    talk = new Conversation(await temporaryWorkspace(files), [{ calls }, ...then.map((text) => ({ text }))]);
    return answered();
  };
  const requests = ({ client } = talk) => client.requests.length;
  const sent = ({ client } = talk) =>
    client.requests
      .at(-1)!
      .messages.map((message: Message) =>
        message.role === 'tool'
          ? (JSON.parse(message.toolResults[0]!.content).error?.message ?? 'done')
          : `${message.role}: ${message.content}`,
      );
  const nextWindow = () => {
    const next = new Conversation(talk.workspace, [{ text: 'I see.' }]);
    cpSync(talk.folder, next.folder, { recursive: true });
    rmSync(path.join(next.folder, 'runs', talk.runId, 'lock'), { force: true });
    later.push(Object.assign(next, { runId: talk.runId }));
    return next;
  };
  const denied = 'The person did not allow this. Nothing was run.';

  it('sends nothing, and then the message of the user, which is the feedback on the call', async () => {
    const { phase, error } = await begin([edit('a')], [hold]);
    const run = await talk.kept();
    assert.deepEqual(
      [phase, error, requests(), isRunHeldByDenial(run), run.held],
      ['WaitingUser', undefined, 1, true, ['a']],
    );
    await talk.say('use pnpm');
    assert.deepEqual(sent(), ['user: hi', 'assistant: ', denied, 'user: use pnpm']);
    const { held, calls } = await talk.kept();
    assert.deepEqual([held, calls.a!.feedback, calls.a!.decision], [undefined, 'use pnpm', 'deny']);
  });

  it('continues without a message', async () => {
    await begin([edit('a')], [hold]);
    await talk.continue();
    assert.deepEqual(sent(), ['user: hi', 'assistant: ', denied]);
    const { held, calls } = await talk.kept();
    assert.deepEqual([held, calls.a!.feedback], [undefined, undefined]);
  });

  it('a picture alone is a message, too', async () => {
    await begin([edit('a')], [hold]);
    const image = { type: 'image' as const, mediaType: 'image/png', data: 'iVBORw0KGgo=' };
    await talk.engine.continue({ runId: talk.runId, userInput: '', attachments: [image] });
    const { held, calls } = await talk.kept();
    assert.deepEqual([requests(), held, calls.a!.feedback], [2, undefined, undefined]);
  });

  for (const [when, held] of [
    ['turn', false],
    ['done', true],
  ] as const)
    it(`a message queued for the ${when === 'turn' ? 'next step is feedback' : 'end is none'}`, async () => {
      const answer = await prepare([edit('a')], ['I see.', 'Done.']);
      const done = talk.start();
      await talk.seen('question');
      await talk.engine.say({ runId: talk.runId, userInput: 'use pnpm', when });
      await answer('a', hold);
      await done;
      const run = await talk.kept();
      assert.deepEqual([requests(), isRunHeldByDenial(run)], held ? [1, true] : [2, false]);
      assert.equal(run.calls.a!.feedback, held ? undefined : 'use pnpm');
    });

  for (const how of ['closed', 'killed'] as const)
    it(`is the same after a reload (${how}), and sends nothing before it is answered`, async () => {
      await begin([edit('a')], [hold]);
      if (how === 'closed') await talk.engine.close();
      const next = nextWindow();
      const run = await next.kept();
      assert.deepEqual([run.phase, run.error, isRunHeldByDenial(run)], ['WaitingUser', undefined, true]);
      await next.engine.continue({ runId: next.runId, onlyApprovals: true });
      assert.deepEqual([requests(next), isRunHeldByDenial(await next.kept())], [0, true]);
      await next.say('use pnpm');
      assert.deepEqual(sent(next).slice(-2), [denied, 'user: use pnpm']);
    });

  it('killed before the call had its result: it is held, and the result comes before the message', async () => {
    await prepare([edit('a')]);
    void talk.start();
    await talk.seen('question');
    const next = nextWindow();
    const log = await next.store.open(next.runId);
    const place = { runId: next.runId, seq: log.run.seq + 1, at: 1 };
    await log.append({
      type: 'approval',
      ...place,
      toolCallId: 'a',
      waitedMs: 1,
      ...(hold as { decision: 'deny'; holds: true }),
    });
    await log.close();
    assert.equal(isRunHeldByDenial(await next.kept()), true);
    await next.engine.continue({ runId: next.runId, onlyApprovals: true });
    assert.equal(requests(next), 0);
    await next.say('use pnpm');
    assert.deepEqual(sent(next).slice(-2), ['The person did not allow this. It did not run.', 'user: use pnpm']);
    assert.equal((await next.kept()).calls.a!.feedback, 'use pnpm');
  });

  it('other calls of the reply are asked about and run, before it rests', async () => {
    await begin([edit('a'), edit('b'), edit('c')], [hold, allow, hold]);
    const run = await talk.kept();
    assert.deepEqual([requests(), talk.questions], [1, ['Edit a', 'Edit b', 'Edit c']]);
    assert.deepEqual([talk.file('a'), talk.file('b'), run.held], ['one\n', 'two\n', ['a', 'c']]);
    await talk.say('only b');
    const { calls } = await talk.kept();
    assert.deepEqual([calls.a!.feedback, calls.b!.feedback, calls.c!.feedback], ['only b', undefined, 'only b']);
    assert.equal(requests(), 2, 'several denials are one hold');
  });

  it('an approval that a later window answers does not end it', async () => {
    const answer = await prepare([edit('a'), edit('b')]);
    const done = talk.start();
    await answer('a', hold);
    await talk.engine.close();
    await done;
    const next = nextWindow();
    await next.engine.continue({ runId: next.runId, onlyApprovals: true });
    const run = await next.kept();
    assert.deepEqual([requests(next), next.questions, next.file('b')], [0, ['Edit b'], 'two\n']);
    assert.deepEqual([isRunHeldByDenial(run), run.phase], [true, 'WaitingUser']);
    await next.continue();
    assert.deepEqual([requests(next), isRunHeldByDenial(await next.kept())], [1, false]);
  });

  it('ends while other calls still wait, and the run goes on with them', async () => {
    const answer = await prepare([edit('a'), edit('b')]);
    const done = talk.start();
    await answer('a', hold);
    assert.equal(await talk.engine.endHold(talk.runId), undefined);
    await answer('b', allow);
    assert.deepEqual([(await done).assistantText, talk.file('b'), requests()], ['I see.', 'two\n', 2]);
    assert.equal(await talk.engine.endHold(talk.runId), undefined);
    assert.equal((await talk.kept()).held, undefined);
  });

  it('ends while the run comes to rest: it goes on all the same', async () => {
    const answer = await prepare([edit('a')]);
    const { workflow } = talk;
    let ended = false;
    talk.workflow = {
      ...workflow,
      async advance(context) {
        const stop = await workflow.advance(context);
        if (!ended) await talk.engine.endHold(talk.runId);
        ended = true;
        return stop;
      },
    };
    const done = talk.start();
    await answer('a', hold);
    assert.deepEqual([(await done).assistantText, requests()], ['I see.', 2]);
  });

  it('a message while other calls still wait is the feedback', async () => {
    const answer = await prepare([edit('a'), edit('b')]);
    const done = talk.start();
    await answer('a', hold);
    await talk.say('use pnpm');
    assert.equal(isRunHeldByDenial(talk.engine.live(talk.runId)!), false);
    await answer('b', allow);
    await done;
    assert.deepEqual([requests(), sent().at(-1)], [2, 'user: use pnpm']);
    assert.equal((await talk.kept()).calls.a!.feedback, 'use pnpm');
  });

  it('a stop ends it', async () => {
    const answer = await prepare([edit('a'), edit('b')]);
    const done = talk.start();
    await answer('a', hold);
    await talk.engine.stop(talk.runId);
    await done;
    assert.deepEqual([requests(), (await talk.kept()).held], [1, undefined]);
    await talk.continue();
    assert.equal(requests(), 2);
  });

  for (const [name, answer] of [
    ['a host that holds nothing', { decision: 'deny' }],
    ['a denial that says why', { decision: 'deny', words: 'No.', holds: true }],
    ['an approval', { decision: 'allow', holds: true }],
  ] as const)
    it(`${name}: the run goes on`, async () => {
      await begin([edit('a')], [answer]);
      assert.deepEqual([requests(), (await talk.kept()).held], [2, undefined]);
    });

  it('a rule that denies: the run goes on', async () => {
    await prepare([edit('a')]);
    talk.rules = [{ effect: 'deny', tool: 'fs.edit', scope: 'user' }];
    await talk.start();
    assert.deepEqual([requests(), (await talk.kept()).held], [2, undefined]);
  });
});

describe('a denial in a workflow', () => {
  const toolsNode = `
name: tools
nodes:
  - name: ask
    uses: llm.tools
    with: { messages: [{ role: user, content: hi }], tools: [fs.write] }
    output: answer
`;
  const agentNode = `
name: agent
nodes:
  - name: work
    agent: { instructions: Work. }
    prompt: Write a
`;
  for (const [name, yaml, held] of [
    ['a node without a conversation of the user goes on', toolsNode, undefined],
    ['an agent in the conversation of the run is held', agentNode, ['a']],
  ] as const)
    it(name, async () => {
      const stage = await Stage.of(yaml, [
        reply.call('fs_write', { path: 'a', content: 'x' }, { id: 'a' }),
        reply.text('I see.'),
      ]);
      try {
        stage.answers = [hold];
        await stage.start();
        assert.deepEqual([(await stage.kept()).held, stage.provider.requests.length], [held, held ? 1 : 2]);
      } finally {
        await stage.end();
      }
    });
});
