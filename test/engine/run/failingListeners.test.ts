import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { EngineResult } from '../../../src/engine/core/runResult.ts';
import type { RunEvent } from '../../../src/protocol/run/events.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLives, comparable, type FailingListener, type Life } from '../../support/failingListener.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { tries } from '../../support/tries.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

const replies = (): ScriptedReply[] => [
  {
    thinking: 'Hm.',
    text: 'I write.',
    calls: [
      call('fs.write', { path: 'a', content: 'one\n' }, 'write'),
      call('fs.read', { path: 'a' }, 'read'),
      call('shell.run', { command: 'echo said; echo made > b' }, 'run'),
    ],
  },
  { text: 'Written.' },
  { calls: [call('fs.delete', { path: 'a' }, 'denied')] },
  { text: 'Not deleted.' },
  { text: 'On and on.', endless: true },
  { calls: [call('fs.edit', { path: 'a', edits: [{ oldText: 'one', newText: 'two' }] }, 'edit')] },
  { error: new Error('the line broke') },
  { text: 'Edited.' },
  { text: 'Branched.' },
];

/** A run with all that can befall one: words while it works, a no, Stop, a failure, undo and redo, a branch, and its end. */
async function live(listener: FailingListener): Promise<Life> {
  const talk = new Conversation(await temporaryWorkspace({ c: 'c\n' }), replies());
  talk.answers = [{ decision: 'allow' }, { decision: 'allow-run' }, { decision: 'deny', words: 'Keep it.' }];
  let spoken: Promise<unknown> | undefined;
  talk.told = (event) => {
    if (event.type === 'tool-start' && event.toolCallId === 'write')
      spoken ??= talk.engine.say({ runId: talk.runId, userInput: 'And mind the gap.' });
    listener.tell(event);
  };
  const results: unknown[] = [];
  const add = ({ success, phase, error, assistantText }: EngineResult) =>
    results.push([success, phase, error?.code, assistantText]);
  const { engine, store, runId, workspace } = talk;
  try {
    add(await talk.start());
    results.push(await spoken);
    add(await talk.continue('Delete it.'));
    const endless = talk.continue('Talk.');
    await eventually('it talks', () => engine.live(runId)?.live?.content.includes('tick ') === true);
    await engine.stop(runId);
    const { success, phase, error } = await endless;
    results.push([success, phase, error?.code]);
    add(await talk.continue('Edit it.'));
    add(await talk.continue());

    const ask = async () => 'all' as const;
    for (const toolCallIds of [['edit'], ['write', 'edit']])
      results.push(await engine.undo(runId, { toolCallIds }, workspace, ask));
    const undo = (await store.read(runId)).undos!.at(-1)!;
    results.push(await engine.undo(runId, { undo: undo.seq }, workspace, ask));
    results.push(
      await engine.rename(runId, 'Named'),
      await engine.pin(runId, true),
      await engine.chooseAgent(runId, 'work'),
    );
    results.push(await engine.raiseLimit(runId, { of: 'run', more: 1, to: 2 }), await engine.compact(runId));
    await engine.note(runId, { type: 'title', title: 'Noted' });

    const before = await store.read(runId);
    const branch = await store.fork(runId, before.seq);
    add(await engine.continue({ runId: branch, userInput: 'Otherwise.' }));
    await store.delete(branch);
    results.push([await store.has(branch), engine.liveIds, engine.live(runId)]);
    await (await store.open(runId)).close();
    for (const id of [runId, branch]) assert.ok(!existsSync(path.join(talk.folder, 'runs', id, 'lock')));
    const { events } = await store.events(runId);
    const files = ['a', 'b', 'c'].map((name) => talk.file(name));
    return { results, told: [...talk.events], kept: comparable(events), files };
  } finally {
    await talk.end();
  }
}

// Holds listeners-are-isolated.
describe('a run with a listener that fails somewhere', () => {
  it('goes on, ends, is undone, branches and is deleted as without it', async function () {
    this.timeout(1_200_000); // every event, on a busy machine
    const { types } = await checkLives(live, tries(40, 1, 9), true);
    for (const type of ['approval', 'tool-end', 'queued', 'undo', 'redo', 'phase', 'usage', 'attempt'])
      assert.ok(types.includes(type as RunEvent['type']), `${type} is among ${types.join(', ')}`);
  });
});
