import { onAbort } from '../../protocol/values/abort.ts';
import type { NetworkTarget, SandboxQuestions } from './commandSandbox.ts';

interface Question {
  answer: Promise<boolean>;
  /** Connections that wait for the answer. */
  waiting: number;
  over: AbortController;
}

/** Answers the connections of one command: each target is asked about once, until no connection waits for the answer any more. */
export function createConnectionAnswers(mayConnect: SandboxQuestions['mayConnect']) {
  const questions = new Map<string, Question>();
  const blocked = new Map<string, NetworkTarget>();
  return {
    /** Targets that were denied. */
    blocked: (): NetworkTarget[] => [...blocked.values()],
    async answer(target: NetworkTarget, signal: AbortSignal): Promise<boolean> {
      const key = `${target.host}:${target.port}`;
      const question = questions.get(key) ?? ask(target);
      questions.set(key, question);
      question.waiting += 1;
      const stopListening = onAbort(signal, () => {
        question.waiting -= 1;
        if (question.waiting > 0) return;
        questions.delete(key); // nobody waits for the answer
        question.over.abort();
      });
      const isAllowed = await question.answer.catch(() => false);
      stopListening();
      if (!isAllowed && !signal.aborted) blocked.set(key, target);
      return isAllowed;
    },
  };

  function ask(target: NetworkTarget): Question {
    const over = new AbortController();
    return { answer: mayConnect(target, over.signal), waiting: 0, over };
  }
}
