import assert from 'node:assert/strict';
import { undoneCallName } from '../../src/extension/dialogs/undoQuestion.ts';
import type { Message, ToolCall } from '../../src/protocol/content/messages.ts';
import { toToolResult } from '../../src/protocol/content/tools.ts';
import type { RunEvent, RunEventBody } from '../../src/protocol/run/events.ts';
import { applyEvent } from '../../src/protocol/run/fold.ts';
import { newRun, type Run } from '../../src/protocol/run/run.ts';
import { undoableCallIds } from '../../src/runs/undoSteps.ts';
import { countFilesChangedAfter } from '../../webview/composer/filesAfter.ts';

function fold(...bodies: RunEventBody[]): Run {
  const run = newRun('run-1');
  bodies.forEach((body, index) => {
    applyEvent(run, { runId: 'run-1', seq: index + 1, at: 1000 + index, ...body } as RunEvent);
  });
  return run;
}

const user = (content: string): RunEventBody => ({ type: 'message', message: { role: 'user', content } });
const calls = (...toolCalls: ToolCall[]): Message => ({ role: 'assistant', content: '', toolCalls });
const result = (id: string): RunEventBody => ({
  type: 'message',
  message: { role: 'tool', content: '', toolResults: [toToolResult(id, { ok: true, data: {} })] },
});
const edit = (id: string, path: string): RunEventBody[] => [
  { type: 'tool-start', toolCallId: id, name: 'fs.write' },
  { type: 'tool-end', toolCallId: id, name: 'fs.write', ok: true, ms: 1, changes: [{ path, before: null, after: 'a' }] },
]; // biome-ignore format: an event a line
const write = (id: string): ToolCall => ({ id, name: 'fs.write', arguments: {} });

/** A task that writes a file, given by the call `id`. */
const task = (id: string, path: string): RunEventBody[] => [
  { type: 'tool-start', toolCallId: id, name: 'task.run' },
  { type: 'task-start', task: id, title: 'Write', agent: 'work', name: 'Work', maxSteps: 20, mayChange: true },
  { type: 'task-message', task: id, message: calls(write('c1')) },
  ...edit(`${id}:c1`, path),
  { type: 'task-end', task: id, status: 'done' },
  { type: 'tool-end', toolCallId: id, name: 'task.run', ok: true, ms: 9 },
];
const give = (id: string): ToolCall => ({ id, name: 'task.run', arguments: { title: 'Write', prompt: 'Write it.' } });

describe('The changes of a task', () => {
  const run = fold(
    user('One'),
    { type: 'message', message: calls(write('own')) },
    ...edit('own', 'own.ts'),
    result('own'),
    user('Two'),
    { type: 'message', message: calls(give('t1'), give('t2')) },
    ...task('t1', 'first.ts'),
    ...task('t2', 'second.ts'),
    result('t1'),
    result('t2'),
    { type: 'message', message: { role: 'assistant', content: 'Done' } },
  );

  it('are undone with the reply that gave the task', () => {
    assert.deepEqual(undoableCallIds(run, 'turn'), ['t1:c1', 't2:c1']);
    assert.deepEqual(undoableCallIds(run, 'run'), ['own', 't1:c1', 't2:c1']);
  });

  it('count from the message before that reply on, and no later', () =>
    assert.deepEqual(
      run.messages.map((_, at) => countFilesChangedAfter(run, at)),
      [3, 3, 2, 2, 2, 0, 0, 0],
    ));

  it('have the name of their tool in a question', () => assert.equal(undoneCallName(run, 't2:c1'), 'fs.write'));
});
