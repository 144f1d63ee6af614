import assert from 'node:assert/strict';
import { OpenQuestions } from '../../../src/extension/ask/openQuestions.ts';
import type { RunEvent, RunEventBody } from '../../../src/protocol/run/events.ts';

const event = (body: RunEventBody, runId = 'one'): RunEvent => ({ runId, seq: 1, at: 0, ...body }) as RunEvent;
const answers = (content: string, runId?: string) =>
  event({ type: 'message', message: { role: 'assistant', content } }, runId);
const asks = (queued?: number) =>
  event({ type: 'message', message: { role: 'user', content: 'And now?' }, ...(queued !== undefined && { queued }) });
const rests = (runId?: string) => event({ type: 'phase', phase: 'WaitingUser' }, runId);

describe('the questions of threads in the editor', () => {
  it('are answered by the last text of their run, once', () => {
    const questions = new OpenQuestions<string>();
    questions.add('thread', 'one', false);
    for (const early of [asks(), answers('I look.'), answers('It is two.'), answers(''), answers('Other.', 'two')])
      assert.deepEqual(questions.receive(early), []);
    assert.deepEqual(questions.receive(rests('two')), []);
    assert.deepEqual(questions.receive(rests()), [{ thread: 'thread', text: 'It is two.', error: undefined }]);
    assert.deepEqual(questions.receive(rests()), []);
    assert.ok(!questions.hasThread('thread') && !questions.hasRun('one'));
  });

  it('are answered by the error of a run that failed', () => {
    const questions = new OpenQuestions<string>();
    questions.add('thread', 'one', false);
    const error = { code: 'LLM_AUTH', message: 'No key.' };
    const failed = event({ type: 'phase', phase: 'Failed', error });
    assert.deepEqual(questions.receive(failed), [{ thread: 'thread', text: '', error }]);
  });

  it('keep the answer of the first when the run receives the second', () => {
    const questions = new OpenQuestions<string>();
    questions.add('first', 'one', false);
    questions.add('second', 'one', true);
    questions.receive(answers('The first.'));
    assert.deepEqual(questions.receive(asks(7)), [{ thread: 'first', text: 'The first.' }]);
    questions.receive(answers('The second.'));
    assert.deepEqual(
      questions.receive(rests()).map(({ thread, text }) => [thread, text]),
      [['second', 'The second.']],
    );
  });

  it('wait in the queue while the run rests without them', () => {
    const questions = new OpenQuestions<string>();
    questions.add('queued', 'one', true);
    questions.receive(answers('To another message.'));
    assert.deepEqual(questions.receive(rests()), []);
    assert.ok(questions.hasThread('queued'));
  });

  it('are withdrawn once, and removed with their thread', () => {
    const questions = new OpenQuestions<string>();
    const withdraw = questions.add('thread', 'one', false);
    assert.deepEqual([withdraw(), withdraw()], [true, false]);
    questions.add('thread', 'one', false);
    questions.remove('thread');
    assert.deepEqual(questions.receive(rests()), []);
  });
});
