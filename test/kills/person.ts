import type { ExecutionEngine } from '../../src/engine/run/engine.ts';
import type { MessageDeliveryTiming, RunEvent } from '../../src/protocol/run/events.ts';
import type { Run } from '../../src/protocol/run/run.ts';
import { stepOf } from './script.ts';

type Engine = Pick<ExecutionEngine, 'live' | 'say' | 'changeWaiting' | 'takeBack'>;

const spoken = {
  turn: 'At the next turn.',
  end: 'At the end.',
  changed: 'At the very end.',
  never: 'Never mind.',
  now: 'Now!',
};

/**
 * A person who speaks while the run is at work: for the next turn, for the end, which they change, something that they take back, and
 * later something for now. After a kill they say what is not on record again, if it is not too late.
 */
export function person(engine: Engine): { hears(event: RunEvent): void; done(): Promise<void> } {
  let acts = Promise.resolve();
  const act = (work: () => Promise<unknown>) => {
    acts = acts.then(work).then(
      () => {},
      () => {}, // the disk fails, which the run says
    );
  };
  const said = (run: Run | undefined, text: string) =>
    !run ||
    [...run.messages, ...run.queued.map((one) => ({ content: one.text }))].some(({ content }) => content === text);
  const say = (runId: string, userInput: string, when: MessageDeliveryTiming) =>
    act(async () => !said(engine.live(runId), userInput) && (await engine.say({ runId, userInput, when })));
  const waiting = (runId: string, words: string) =>
    engine.live(runId)?.queued.find(({ text }) => text === words)?.queued;
  return {
    hears(event) {
      const { runId } = event;
      if (event.type === 'tool-start' && stepOf(event.toolCallId)?.name === 'new') {
        say(runId, spoken.turn, 'turn');
        if (!said(engine.live(runId), spoken.changed)) say(runId, spoken.end, 'done');
        say(runId, spoken.never, 'done');
        act(async () => {
          const end = waiting(runId, spoken.end);
          if (end !== undefined) await engine.changeWaiting(runId, end, { userInput: spoken.changed, when: 'done' });
          const never = waiting(runId, spoken.never);
          if (never !== undefined) await engine.takeBack(runId, never);
        });
      }
      if (event.type !== 'message' || event.message.role !== 'assistant') return;
      if (event.message.toolCalls?.some(({ id }) => stepOf(id)?.name === 'delete')) say(runId, spoken.now, 'now');
    },
    async done() {
      for (let last: unknown; last !== acts; ) {
        last = acts;
        await acts;
      }
    },
  };
}
