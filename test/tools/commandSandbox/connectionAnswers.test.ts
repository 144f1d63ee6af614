import assert from 'node:assert/strict';
import { createConnectionAnswers } from '../../../src/tools/commandSandbox/connectionAnswers.ts';

describe('the answers to the connections of a sandboxed command', () => {
  const target = { host: 'a.example', port: 443 };
  const idle = () => new AbortController().signal;

  function asking() {
    const questions: { answer(isAllowed: boolean): void; signal: AbortSignal }[] = [];
    const connections = createConnectionAnswers(
      (_, signal) => new Promise((answer) => void questions.push({ answer, signal })),
    );
    return { ...connections, questions };
  }

  it('are one for each target, also for connections at the same time and later', async () => {
    const { answer, questions, blocked } = asking();
    const both = [answer(target, idle()), answer(target, idle()), answer({ ...target, port: 80 }, idle())];
    questions[0]!.answer(true);
    questions[1]!.answer(false);
    assert.deepEqual(await Promise.all([...both, answer(target, idle())]), [true, true, false, true]);
    assert.deepEqual([questions.length, blocked()], [2, [{ host: 'a.example', port: 80 }]]);
  });

  it('stay open while any connection waits', async () => {
    const { answer, questions, blocked } = asking();
    const [first, second] = [new AbortController(), new AbortController()];
    const answers = [answer(target, first.signal), answer(target, second.signal)];
    first.abort();
    assert.equal(questions[0]!.signal.aborted, false);
    questions[0]!.answer(true);
    assert.deepEqual([(await answers[1]) === true, blocked()], [true, []]);
  });

  it('are not asked for any more when no connection waits; the next one asks again', async () => {
    const { answer, questions } = asking();
    const leaving = new AbortController();
    void answer(target, leaving.signal);
    leaving.abort();
    assert.equal(questions[0]!.signal.aborted, true);
    void answer(target, idle());
    assert.equal(questions.length, 2);
  });

  it('are no if the question fails', async () => {
    const { answer, blocked } = createConnectionAnswers(() => Promise.reject(new Error('closed')));
    assert.deepEqual([await answer(target, idle()), blocked()], [false, [target]]);
  });
});
