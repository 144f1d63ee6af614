import type { RunEvent } from '../../protocol/run/events.ts';

/** Of the walkthrough, in its order. */
export const firstSteps = ['model', 'question', 'answer', 'undo', 'stop'] as const;
export type FirstStep = (typeof firstSteps)[number];

/** The step that this shows to be done; that a model was chosen no event says. */
export function stepDone(event: RunEvent): FirstStep | undefined {
  if (event.type === 'message' && event.message.role === 'user') return 'question';
  if (event.type === 'approval' && event.automatic === undefined) return 'answer';
  if (event.type === 'undo') return 'undo';
  return event.type === 'phase' && event.error?.code === 'ENGINE_ABORTED' ? 'stop' : undefined;
}
