import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { UndoConfirmationAnswer, UndoConfirmationRequest } from '../../../src/engine/run/undo.ts';
import { forkPoints } from '../../../src/protocol/run/branches.ts';
import { restorableRunBranchFiles } from '../../../src/runs/branchFiles.ts';
import { RunStore } from '../../../src/runs/store.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { transcript } from '../../support/transcript.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

describe('branches of a run', () => {
  let talk: Conversation;
  afterEach(() => talk.end());

  const write = (name: string, content: string) => call('fs.write', { path: name, content });
  const turn = (name: string, content: string): ScriptedReply[] => [
    { calls: [write(name, content)] },
    { text: `${name} is ${content}.` },
  ];
  const begin = async (files: Record<string, string>, ...turns: ScriptedReply[][]) => {
    talk = new Conversation(await temporaryWorkspace(files), turns.flat());
    await talk.start('one');
  };
  const files = () => Object.fromEntries(['a', 'b', 'c'].map((name) => [name, talk.file(name)]));
  const go = (runId: string, userInput: string) => talk.engine.continue({ runId, userInput });
  const placeOf = async (runId: string, words: string) => {
    const found = (await talk.store.forkableMessages(runId)).find(({ message }) => message.content === words);
    return found!.seq;
  };
  /** Puts files back as they were before these words; then goes on with others. */
  const restore = async (runId: string, words: string) => {
    const toolCallIds = await talk.store.callsAfter(runId, await placeOf(runId, words));
    return talk.engine.undo(runId, { toolCallIds }, talk.workspace, async () => 'all');
  };
  const edit = async (runId: string, words: string, others: string) => {
    const branch = await talk.store.fork(runId, (await placeOf(runId, words)) - 1);
    await go(branch, others);
    return branch;
  };
  /** All that a run says, and every file of its changes, as one can be asked for now. */
  const told = async (store: RunStore, runId: string) => {
    const run = await store.read(runId);
    const contents: Record<string, string> = {};
    for (const { changes = [] } of Object.values(run.calls))
      for (const { path: name, before, after } of changes)
        for (const [side, id] of Object.entries({ before, after }))
          if (id) contents[`${name} ${side} ${id.slice(0, 8)}`] = await store.contents.read(runId, id);
    return { said: transcript(run), contents, calls: run.calls };
  };

  it('each keep what was said and every file of it, over restored files, a reload, a kill and what becomes of the others', async () => {
    await begin(
      { a: 'A' },
      turn('a', 'A1'),
      turn('b', 'B2'),
      turn('a', 'A3'),
      turn('b', 'B3 otherwise'),
      turn('c', 'C3 otherwise again'),
    );
    const first = talk.runId;
    await go(first, 'two');
    const atThree = files();
    await go(first, 'three');
    assert.deepEqual(await restore(first, 'three'), { undone: ['a'], left: [] });
    assert.deepEqual(files(), atThree);
    const second = await edit(first, 'three', 'three, but otherwise');
    assert.equal(files().b, 'B3 otherwise');
    await restore(second, 'three, but otherwise');
    assert.deepEqual(files(), atThree, 'what the branch has from the run before it is not taken back');
    const third = await edit(second, 'three, but otherwise', 'three, once more');
    assert.deepEqual(files(), { ...atThree, c: 'C3 otherwise again' });

    const branches = [first, second, third];
    const had = await Promise.all(branches.map((id) => told(talk.store, id)));
    assert.match(had[2]!.said, /one.*two.*three, once more.*C3 otherwise again/s);
    assert.doesNotMatch(had[2]!.said, /but otherwise|A3/);
    for (const [nth, id] of branches.entries())
      assert.deepEqual(
        forkPoints(id, await talk.store.list()).map((point) => [point.ways, point.nth]),
        [[branches, nth]],
      );

    await talk.engine.close();
    talk.build();
    const killed = mkdtempSync(path.join(tmpdir(), 'killed-'));
    try {
      cpSync(talk.folder, killed, { recursive: true });
      const store = new RunStore(killed);
      for (const [nth, id] of branches.entries()) assert.deepEqual(await told(store, id), had[nth]);
      await store.deleted.remove(await store.delete(first));
      for (const nth of [1, 2]) assert.deepEqual(await told(store, branches[nth]!), had[nth]);
      const atOne = await store.callsAfter(third, (await store.forkableMessages(third))[0]!.seq);
      assert.equal(atOne.length, 3);
    } finally {
      rmSync(killed, { recursive: true });
    }

    await restore(third, 'one');
    assert.deepEqual(files(), { a: 'A', b: undefined, c: undefined });
  });

  describe('have their files again', () => {
    let runs: string[];
    let had: Record<string, string | undefined>[];
    const questions: UndoConfirmationRequest[] = [];
    const now = () => ({ ...files(), d: talk.file('d') });
    beforeEach(async () => {
      questions.length = 0;
      await begin(
        { a: 'A', d: 'D' },
        turn('a', 'A1'),
        turn('b', 'B2'),
        turn('a', 'A2'),
        turn('c', 'C3'),
        [{ calls: [call('fs.delete', { path: 'd' })] }, { text: 'd is gone.' }],
        [{ text: 'Well.' }],
      );
      await go(talk.runId, 'two');
      runs = [talk.runId];
      had = [now()];
      const goesOn = async (words: string, others: string, more: string) => {
        runs.push(await edit(runs.at(-1)!, words, others));
        await go(runs.at(-1)!, more);
        had.push(now());
      };
      await goesOn('two', 'two, otherwise', 'and c');
      await goesOn('and c', 'no d', 'well?');
    });
    /** The files of a branch, as its record has them. */
    const has = (nth: number, answer: UndoConfirmationAnswer = 'all') =>
      Promise.all(runs.map((id) => talk.store.read(id))).then((all) =>
        talk.engine.undo(runs[nth]!, restorableRunBranchFiles(all[nth]!, all), talk.workspace, async (question) => {
          questions.push(question);
          return answer;
        }),
      );

    it('each as it left them, whatever the others made of those and made or deleted besides', async () => {
      assert.deepEqual(had, [
        { a: 'A1', b: 'B2', c: undefined, d: 'D' },
        { a: 'A2', b: 'B2', c: 'C3', d: 'D' }, // nothing was restored in between
        { a: 'A2', b: 'B2', c: 'C3', d: undefined },
      ]);
      const own = [
        had[0],
        { a: 'A2', b: undefined, c: 'C3', d: 'D' },
        { a: 'A2', b: undefined, c: undefined, d: undefined },
      ];
      for (const nth of [0, 2, 1, 0, 1, 2]) {
        await has(nth);
        assert.deepEqual(now(), own[nth], `branch ${nth}`);
        assert.deepEqual(await has(nth), { undone: [], left: [] });
      }
    });

    it('after a question that names what somebody else has made of them; a no changes nothing', async () => {
      talk.workspace.write('b', 'Mine.');
      const before = now();
      await has(0, 'none');
      assert.deepEqual(now(), before);
      assert.deepEqual(questions, [{ paths: ['a', 'b', 'c', 'd'], changedSince: ['b'] }]);
      await has(0, 'unchanged');
      assert.deepEqual(now(), { ...had[0], b: 'Mine.' });
      const { messages } = await talk.store.read(runs[0]!);
      assert.equal(
        messages.at(-1)!.content,
        'The person has put back, as they are in this conversation: a, c, d. Read again before you edit.',
      );
    });
  });

  it('go on beside each other, and what one is told the other never hears', async () => {
    await begin({}, [{ text: 'Hello.' }], [{ text: 'Here.' }], [{ text: 'There.' }]);
    const branch = await talk.store.fork(talk.runId, (await talk.kept()).seq);
    await go(branch, 'in the branch');
    await go(talk.runId, 'in the first');
    const sent = talk.client.requests.map(({ messages }) => messages.map(({ content }) => content));
    assert.deepEqual(sent, [['one'], ['one', 'Hello.', 'in the branch'], ['one', 'Hello.', 'in the first']]);
  });

  it('of a run that a kill left in the middle of a call do not run it again', async () => {
    await begin(
      { a: 'A' },
      turn('a', 'A1'),
      [{ calls: [write('b', 'B')] }, { text: 'So be it.' }],
      [{ text: 'Well.' }],
    );
    talk.answers = ['wait'];
    const working = go(talk.runId, 'two');
    await talk.seen('tool-start');
    while (talk.questions.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    const branch = await talk.store.fork(talk.runId, (await talk.kept()).seq);
    await go(branch, 'what now?');
    assert.equal(talk.file('b'), undefined);
    assert.match(transcript(await talk.store.read(branch)), /TOOL_DENIED.*\nuser {7}what now\?/);
    talk.allowWaiting();
    await working;
    assert.equal(talk.file('b'), 'B', 'the first is at work all the while');
    assert.deepEqual(readdirSync(path.join(talk.folder, 'runs', branch)).includes('lock'), false);
  });

  it('ask again what was allowed for the run that they come from', async () => {
    await begin({}, turn('a', 'A1'), turn('a', 'A2'));
    talk.answers = [];
    const branch = await talk.store.fork(talk.runId, (await talk.kept()).seq);
    const before = talk.questions.length;
    await go(branch, 'more');
    assert.equal(talk.questions.length, before + 1);
  });
});
