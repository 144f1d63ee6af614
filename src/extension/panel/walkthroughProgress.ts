import type { RunEvent } from '../../protocol/run/events.ts';

export const walkthroughSteps = ['model', 'question', 'answer', 'undo', 'stop'] as const;
export type WalkthroughStep = (typeof walkthroughSteps)[number];

/** Returns the walkthrough step completed by an event; no event exists for the choice of a model. */
export function completedWalkthroughStep(event: RunEvent): WalkthroughStep | undefined {
  if (event.type === 'message' && event.message.role === 'user') return 'question';
  if (event.type === 'approval' && event.automatic === undefined) return 'answer';
  if (event.type === 'undo') return 'undo';
  return event.type === 'phase' && event.error?.code === 'ENGINE_ABORTED' ? 'stop' : undefined;
}
