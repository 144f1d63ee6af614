import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { overlappingCallIds } from '../../../src/engine/run/recordedCalls.ts';
import type { UndoConfirmationAnswer, UndoConfirmationRequest, UndoResult } from '../../../src/engine/run/undo.ts';
import { callsInStartOrder, type Run } from '../../../src/protocol/run/run.ts';
import { newestRedoableUndo } from '../../../src/protocol/run/runFiles.ts';
import { restorableRunBranchFiles } from '../../../src/runs/branchFiles.ts';
import { undoableCallIds } from '../../../src/runs/undoSteps.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { takeSnapshot } from '../../../src/tools/snapshot/takeSnapshot.ts';
import { loadWorkflow } from '../../../src/workflows/read/validate.ts';
import { graphWorkflow } from '../../../src/workflows/run/runGraph.ts';
import { eventually } from '../../support/eventually.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

describe('undo of commands between edits', () => {
  let talk: Conversation;
  let snapshots: string;
  let asked: UndoConfirmationRequest[];
  beforeEach(() => {
    snapshots = mkdtempSync(path.join(tmpdir(), 'towpath-snapshots-'));
    asked = [];
  });
  afterEach(async () => {
    await talk.end();
    rmSync(snapshots, { recursive: true, force: true });
  });

  const run = (command: string) => call('shell.run', { command });
  const write = (name: string, content: string) => call('fs.write', { path: name, content });
  const turn = (...calls: NonNullable<ScriptedReply['calls']>): ScriptedReply[] => [{ calls }, { text: 'Done.' }];
  const prepare = async (files: Record<string, string>, replies: ScriptedReply[], take = takeSnapshot) => {
    talk = new Conversation(await temporaryWorkspace(files), replies);
    talk.recordCommands(snapshots, { take: async (request) => take(request) });
  };
  const at = (name: string) => path.join(talk.workspace.roots[0]!.path, name);
  const files = (...names: string[]) => names.map((name) => talk.file(name));
  const undo = async (toolCallIds: readonly string[], answer: UndoConfirmationAnswer = 'all', runId = talk.runId) =>
    (await talk.engine.undo(runId, { toolCallIds }, talk.workspace, async (question) => {
      asked.push(question);
      return answer;
    })) as UndoResult;
  const redo = async () => {
    const undone = newestRedoableUndo(await talk.kept(), () => true);
    return (await talk.engine.undo(
      talk.runId,
      { undo: undone!.seq },
      talk.workspace,
      async () => 'none',
    )) as UndoResult;
  };
  const idsOf = (kept: Run) => callsInStartOrder(kept).map(([id]) => id);
  const seqOf = async (runId: string, words: string) =>
    (await talk.store.forkableMessages(runId)).find(({ message }) => message.content === words)!.seq;

  it('of one command in the middle leaves the edits, and names the file that was edited since', async () => {
    await prepare({ a: '1\n', b: 'B\n' }, turn(write('a', '2\n'), run('echo 3 > a; echo 3 > b'), write('a', '4\n')));
    await talk.start();
    const [, command] = idsOf(await talk.kept());
    await undo([command!], 'unchanged');
    assert.deepEqual(asked, [{ paths: ['a', 'b'], changedSince: ['a'] }]);
    assert.deepEqual(files('a', 'b'), ['4\n', 'B\n']);
    await redo();
    assert.deepEqual(files('a', 'b'), ['4\n', '3\n']);
    await undo([command!]);
    assert.deepEqual(files('a', 'b'), ['2\n', 'B\n']);
  });

  it('restores the permissions from before a command of a file that a tool moved', async () => {
    await prepare({ a: '1\n' }, turn(run('chmod 600 a'), call('fs.move', { from: 'a', to: 'b' })));
    await talk.start();
    const modes = () =>
      ['a', 'b'].map((name) => (files(name)[0] === undefined ? undefined : statSync(at(name)).mode & 0o777));
    await undo(idsOf(await talk.kept()));
    assert.deepEqual(modes(), [0o644, undefined]);
    await redo();
    assert.deepEqual(modes(), [undefined, 0o600]);
  });

  it('redoes a file in place of a folder with the permissions that the user gave it', async () => {
    await prepare({ 'd/x': '1\n' }, turn(run('rm -r d; echo 2 > d')));
    await talk.start();
    chmodSync(at('d'), 0o640);
    await undo(idsOf(await talk.kept()));
    assert.deepEqual(files('d/x'), ['1\n']);
    await redo();
    assert.deepEqual([files('d'), statSync(at('d')).mode & 0o777], [['2\n'], 0o640]);
  });

  it('restores the files at any message, and redoes it', async () => {
    await prepare({ a: '1\n' }, [
      ...turn(write('a', '2\n'), run('echo 3 >> a; echo 3 > b; chmod 755 b')),
      ...turn(run('rm b; mkdir d; mv a d/a')),
      ...turn(write('d/a', '5\n'), run('echo 6 >> d/a; rm -f x')),
    ]);
    await talk.start('one');
    await talk.continue('two');
    await talk.continue('three');
    const names = ['a', 'b', 'd/a'];
    assert.deepEqual(files(...names), [undefined, undefined, '5\n6\n']);
    const callsAfter = async (words: string) => talk.store.callsAfter(talk.runId, await seqOf(talk.runId, words));
    assert.deepEqual((await undo(await callsAfter('three'))).left, []);
    assert.deepEqual(files(...names), [undefined, undefined, '2\n3\n']);
    assert.deepEqual((await undo(await callsAfter('two'))).left, []);
    assert.deepEqual(files(...names), ['2\n3\n', '3\n', undefined]);
    assert.equal(statSync(at('b')).mode & 0o777, 0o755);
    assert.deepEqual((await redo()).left, []);
    assert.deepEqual((await redo()).left, []);
    assert.deepEqual(files(...names), [undefined, undefined, '5\n6\n']);
    assert.deepEqual((await undo(await callsAfter('one'))).left, []);
    assert.deepEqual(files(...names), ['1\n', undefined, undefined]);
    await redo();
    assert.deepEqual(files(...names), [undefined, undefined, '5\n6\n']);
  });

  it('restores what a branch left, also of commands', async () => {
    await prepare({ a: '1\n', b: 'B\n' }, [
      ...turn(run('echo 2 > a')),
      ...turn(run('echo 3 > a; rm b; printf "\\000" > bin; echo run > tool; chmod 755 tool')),
      ...turn(run('echo other > a; echo new > c')),
    ]);
    await talk.start('one');
    await talk.continue('two');
    const names = ['a', 'b', 'bin', 'c', 'tool'];
    const left = files(...names);
    const branch = await talk.store.fork(talk.runId, (await seqOf(talk.runId, 'two')) - 1);
    await talk.engine.continue({ runId: branch, userInput: 'two, otherwise' });
    const restore = async (one: string, kin: string) => {
      const states = restorableRunBranchFiles(await talk.store.read(one), [await talk.store.read(kin)]);
      const result = await talk.engine.undo(one, states, talk.workspace, async () => 'all');
      assert.deepEqual((result as UndoResult).left, []);
    };
    await restore(branch, talk.runId);
    assert.deepEqual(files(...names), ['other\n', 'B\n', undefined, 'new\n', undefined]);
    await restore(talk.runId, branch);
    assert.deepEqual(files(...names), left);
    assert.equal(statSync(at('tool')).mode & 0o777, 0o755);
  });

  const parallel = `
nodes:
  - {name: begin, uses: shell.run, with: {command: 'true'}}
  - name: one
    uses: shell.run
    with: {command: "echo 1 > one; echo 1 > both; touch at1; while [ ! -e at2 ]; do sleep 0.02; done"}
  - name: two
    uses: shell.run
    with: {command: "while [ ! -e at1 ]; do sleep 0.02; done; echo 2 > two; echo 2 >> both; touch at2"}
  - {name: end, uses: state.set, with: {done: 'yes'}}
edges:
  - {from: begin, to: one, parallel: true, fan_in: end}
  - {from: begin, to: two, parallel: true, fan_in: end}
`;

  it('of commands that ran at the same time names them, and asks about each file', async () => {
    await prepare({ one: 'O\n', two: 'T\n', both: 'B\n', own: 'own\n' }, []);
    const { value, problems } = loadWorkflow(parallel, {
      tools: builtinTools().map(({ definition }) => definition.name),
    });
    assert.deepEqual(problems, []);
    talk.workflow = graphWorkflow({ id: 'flow', file: value!, agents: new Map(), workflows: new Map(), now: Date.now });
    await talk.start();
    const names = ['one', 'two', 'both'];
    assert.deepEqual(files(...names), ['1\n', '2\n', '1\n2\n']);
    const kept = await talk.kept();
    const [first, second] = idsOf(kept).filter((id) => kept.calls[id]!.changes?.length);
    assert.deepEqual(overlappingCallIds(kept, first!), [second]);
    assert.deepEqual(overlappingCallIds(kept, second!), [first]);

    await undo(undoableCallIds(kept, 'run'), ['two']);
    assert.deepEqual(asked[0]!.changedSince, []);
    assert.deepEqual([...asked[0]!.sameTime!].sort(), ['at1', 'at2', 'both', 'one', 'two']);
    assert.deepEqual(files(...names), ['1\n', 'T\n', '1\n2\n'], 'only the file that was chosen');
    assert.deepEqual((await undo([first!, second!])).left, []);
    assert.deepEqual(files(...names), ['O\n', 'T\n', 'B\n']);
    assert.deepEqual(overlappingCallIds(await talk.kept(), first!), []);
    await redo();
    await redo();
    assert.deepEqual(files(...names), ['1\n', '2\n', '1\n2\n']);
  });

  it('does not start a command that is stopped while its files are recorded', async () => {
    let isTaking = false;
    const never = () => {
      isTaking = true;
      return new Promise<never>(() => {});
    };
    await prepare({ a: 'A\n' }, turn(run('echo 1 > a')), never as never);
    const done = talk.start();
    await eventually('the card says so', () => talk.events.some(({ type }) => type === 'progress'));
    assert.ok(isTaking);
    const reported = talk.events.find((event) => event.type === 'progress')!;
    assert.equal('text' in reported && reported.text, 'Recording files…');
    await talk.engine.stop(talk.runId); // the snapshot is never taken
    await done;
    assert.deepEqual(
      talk.events.filter(({ type }) => type === 'tool-start'),
      [],
    );
    assert.deepEqual(files('a'), ['A\n']);
  });
});
